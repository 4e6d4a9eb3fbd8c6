/*
 * The reference's work: layers evaluated and the most bits of one, counted where the linker has
 * calls of ref_run_layer come here.
 */
#ifndef HEADPROOF_TESTS_PROGRAM_EFFORT_H
#define HEADPROOF_TESTS_PROGRAM_EFFORT_H

#include <stddef.h>

typedef struct {
    size_t layers;
    long most;
} Effort;

/* Of one thread, since the last call. */
Effort effort_taken(void);

#endif
