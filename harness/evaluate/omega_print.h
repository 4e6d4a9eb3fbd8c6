/*
 * A search for Omega in a sentence, which claims no more than was evaluated.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_OMEGA_PRINT_H
#define HEADPROOF_HARNESS_EVALUATE_OMEGA_PRINT_H

#include "../base/decimal.h"
#include "omega_search.h"
#include "../point/point.h"

#include <stdio.h>

/* The constant in a sentence or a cell of one: 12.1, or of powers of two 2^-17. */
const char *omega_text(char text[DECIMAL_TEXT], double omega, bool powers);

/* "omega from 12.1 to 8e6 WHAT at all 64 omegas evaluated in this range (12 and 9e6 do not)", or
 * "none of 50 omegas evaluated, from 8 to 4096, WHAT", or of tau the same; what evaluations did not
 * suffice for comes behind. */
void omega_print(FILE *file, const OmegaSearch *search, const char *what);

/* The warning behind the intervals, once. */
#define OMEGA_BETWEEN                                                                              \
    "an omega between two that were evaluated may fail: evaluate the one that you use"

/* Where they do: "from 12.1 to 8e6"; "from 12.1 up", "up to 8e6" or "of any size", where the ends
 * are only those of what was tried. */
void omega_print_range(FILE *file, const OmegaSearch *search);

/* The end of "meets the tolerance": " of logits", " of the KL divergence", or nothing. */
const char *omega_judged(JudgeOf of);

/* The same in a cell of a table: "min;max;inside", those that are open; "" where all is known. */
void omega_print_open(FILE *file, const OmegaSearch *search);

#endif
