/*
 * Planted faults, for the mutation score (docs/testing.md).  FAULT(name, wrong, right) is right.
 * Compiled with HEADPROOF_FAULTS, which `make mutants` alone does, it is wrong if the environment
 * variable HEADPROOF_FAULT is the name.  A name is a string literal on the line of its FAULT;
 * tests/mutants gathers them from the sources.
 */
#ifndef HEADPROOF_CASES_FAULT_H
#define HEADPROOF_CASES_FAULT_H

#ifdef HEADPROOF_FAULTS

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool fault_planted(const char *name)
{
    const char *planted = getenv("HEADPROOF_FAULT");
    return planted != NULL && strcmp(planted, name) == 0;
}

#define FAULT(name, wrong, right) (fault_planted(name) ? (wrong) : (right))

#else

#define FAULT(name, wrong, right) (right)

#endif

#endif
