/*
 * Scratch for norms (private to reference/guarantee/).
 *
 * It is GMP's to allocate, as MPFR's numbers are: where memory is short the process ends as it does
 * for those (harness/base/exhausted.h), and no bound is looser than on another machine.
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_SCRATCH_H
#define HEADPROOF_REFERENCE_GUARANTEE_SCRATCH_H

#include <gmp.h>
#include <stddef.h>

/* count numbers, at least one. */
static inline double *scratch_take(size_t count)
{
    void *(*take)(size_t);
    mp_get_memory_functions(&take, NULL, NULL);
    return take(count * sizeof(double));
}

static inline void scratch_free(double *scratch, size_t count)
{
    void (*release)(void *, size_t);
    mp_get_memory_functions(NULL, NULL, &release);
    release(scratch, count * sizeof(double));
}

#endif
