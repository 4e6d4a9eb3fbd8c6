/*
 * Memory that is needed: what is asked for is there, or the process ends.
 *
 * A caller need not look for a failure, hand it up, or undo its work: where memory is short the
 * process says so, does what was registered for such an end (a temporary file is removed, a table
 * that goes on says how), and ends with 99.  Code that can do with less memory, or without, calls
 * malloc itself.
 */
#ifndef HEADPROOF_MEMORY_NEED_H
#define HEADPROOF_MEMORY_NEED_H

#include <stddef.h>

/* Room for count objects of size bytes, all zero; never NULL, as none of these is.  Free it. */
void *need_zeros(size_t count, size_t size)
    __attribute__((malloc, returns_nonnull, warn_unused_result));

/* The same with any bytes in it. */
void *need_room(size_t count, size_t size)
    __attribute__((malloc, returns_nonnull, warn_unused_result));

/* old (NULL is fine), which moves, with so much room; what was in it is. */
void *need_more(void *old, size_t count, size_t size)
    __attribute__((returns_nonnull, warn_unused_result));

/* old, a list of count objects that grows one by one, with room for one more. */
void *need_next(void *old, size_t count, size_t size)
    __attribute__((returns_nonnull, warn_unused_result));

/* A copy of a string. */
char *need_copy(const char *text) __attribute__((malloc, returns_nonnull, warn_unused_result));

/* Its first bytes, which may be fewer. */
char *need_copy_of(const char *text, size_t length)
    __attribute__((malloc, returns_nonnull, warn_unused_result));

/* What is done last, before the process ends so: once, in any thread, while any lock may be held.
 * The newest is done first. */
typedef struct NeedLast {
    void (*act)(void *context);
    void *context;
    struct NeedLast *before; /* need's own */
} NeedLast;

/* It stays where it is until it is taken back. */
void need_add_last(NeedLast *last);
/* One that was not added is fine. */
void need_take_last(const NeedLast *last);

/* What need_zeros and the others do where memory is short. */
_Noreturn void need_is_short(void);

/* The same end with another message, a line. */
_Noreturn void need_end(const char *message);

#endif
