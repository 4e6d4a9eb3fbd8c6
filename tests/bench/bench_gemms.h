/*
 * The time of a kernel's dgemms alone: the benchmark is linked so that its calls of cblas_dgemm
 * pass through here, are noted, and can be made again.
 */
#ifndef HEADPROOF_TESTS_BENCH_BENCH_GEMMS_H
#define HEADPROOF_TESTS_BENCH_BENCH_GEMMS_H

#include <stddef.h>

typedef struct {
    size_t calls;
    double flops;   /* 2 m n k each */
    double seconds; /* of the same calls, one after the other */
} Gemms;

/* Forgets what was noted and notes calls from now on, of one thread alone. */
void gemms_note(void);

/* Stops noting and makes the calls again; what they point to must still be there. */
Gemms gemms_again(void);

#endif
