/*
 * OpenBLAS, set up so that its figures mean something.
 *
 * OpenBLAS picks its kernels from the CPU when it is loaded and may take a new CPU for an old
 * one (5x slower, and other bits).  blas_setup compares its choice with what the CPU can do
 * and, when it chose too low, sets OPENBLAS_CORETYPE and starts the program again, once.
 */
#ifndef HEADPROOF_KERNELS_BLAS_H
#define HEADPROOF_KERNELS_BLAS_H

#include <stdbool.h>
#include <stddef.h>

/* Call first in main, before any thread or BLAS call.  Corrects OpenBLAS's core (by one
 * re-exec of /proc/self/exe with argv) unless the user has set OPENBLAS_CORETYPE, and pins
 * OpenBLAS to one thread; where the process's addresses are limited (ulimit -v), from its start, by
 * one more.  Returns only in the process that goes on. */
void blas_setup(char **argv);

/* Bytes that OpenBLAS maps for each thread that calls it, whatever the product's size; at least. */
#define BLAS_THREAD_BYTES (132 << 20)

/* OpenBLAS tries for ever to map what its first call in a thread takes.  This takes it beforehand,
 * for so many threads at once.  Call after blas_setup, in one thread.  false: it cannot be had. */
bool blas_reserve(size_t threads) __attribute__((warn_unused_result));

/* The core whose kernels run, e.g. "SkylakeX"; OpenBLAS's own configuration string; and
 * how the core was chosen: "detected", "corrected" or "set by the user". */
const char *blas_core(void);
const char *blas_config(void);
const char *blas_core_origin(void);

/* The core this CPU should run as far as this program knows ("SKYLAKEX", "HASWELL"), or NULL
 * where it has no opinion. */
const char *blas_core_wanted(void);

#endif
