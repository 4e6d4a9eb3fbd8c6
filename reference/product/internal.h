/*
 * Broken promises and memory, for every file of reference/product/.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_INTERNAL_H
#define HEADPROOF_REFERENCE_PRODUCT_INTERNAL_H

#include <stddef.h>

/* A bug: aborts with file, line and the condition. */
#define PRODUCT_CHECK(condition)                                                                   \
    ((condition) ? (void)0 : product_bug(__FILE__, __LINE__, #condition))
void product_bug(const char *file, int line, const char *condition) __attribute__((noreturn));

/* count * size bytes, at least one, uninitialised, and 64-byte aligned if they are many: never
 * NULL, as need_room. */
void *array_alloc(size_t count, size_t size)
    __attribute__((malloc, returns_nonnull, warn_unused_result));

/* Lets it go, or keeps a large one for the next; free does for one that is seldom made. */
void array_free(void *array);

#endif
