/*
 * Numbers in parts that come and go: a part is filled when the first thread enters it, and let go
 * when the last one leaves it.  Its addresses stay, and cannot be read meanwhile: code that forgets
 * to enter a part ends the program, and never reads old numbers.
 */
#ifndef HEADPROOF_HARNESS_BASE_PAGED_H
#define HEADPROOF_HARNESS_BASE_PAGED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Paged Paged;

/* Writes the numbers of a part, which are zeros: those that paged_take gives, in the same order
 * every time.  false: they cannot be had. */
typedef bool PagedFill(void *context, size_t part);

/* So many parts, empty.  Of those that are filled first so many bytes stay for good. */
Paged *paged_make(size_t parts, double kept, PagedFill *fill, void *context)
    __attribute__((warn_unused_result));

/* NULL is fine. */
void paged_clear(Paged *paged);

/* While a part is made, before anybody enters it: room for so many numbers more.  While it is
 * filled: the same room once more. */
double *paged_take(Paged *paged, size_t part, size_t count) __attribute__((warn_unused_result));

/* Is this number one of the part's? */
bool paged_has(const Paged *paged, size_t part, const double *number);

/* From several threads at once, and more than once.  false: the part cannot be filled. */
bool paged_enter(Paged *paged, size_t part) __attribute__((warn_unused_result));
void paged_leave(Paged *paged, size_t part);

/* Bytes of all parts. */
double paged_bytes(const Paged *paged);

#endif
