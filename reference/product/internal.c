/*
 * Broken promises and memory, for all backends.
 */
#define _DEFAULT_SOURCE /* madvise */

#include "internal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define SMALL ((size_t)16 << 10)

void product_bug(const char *file, int line, const char *condition)
{
    fprintf(stderr, "headproof: %s:%d: bug: not so: %s\n", file, line, condition);
    abort();
}

/* Residues and digits are written once and read a few times: fresh pages of 4 KB would cost as much
 * as the arithmetic, and so would, in the smallest products, alignment. */
void *array_alloc(size_t count, size_t size)
{
    void *p = NULL;
    if (count > (PTRDIFF_MAX - HUGE_PAGE) / size) {
        return NULL;
    }
    bool large = count * size >= HUGE_PAGE / 2;
    if (count * size < SMALL) {
        return malloc(count * size + 1);
    }
    if (posix_memalign(&p, large ? HUGE_PAGE : 64, count * size + 1) != 0) {
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    if (large) {
        (void)madvise(p, count * size, MADV_HUGEPAGE); /* a wish */
    }
#endif
    return p;
}
