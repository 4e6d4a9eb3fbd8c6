/*
 * The search for Omega of min-omega: smallest, largest and best.
 *
 * The total error falls with Omega (construction, e^(-2 Omega)), is flat, and rises (rounding,
 * ulp(2 Omega)); each side may be missing.  The search scans first, then brackets the two ends
 * of the feasible run by bisection.  The master curve, err e^(2 Omega) = constant, says where to
 * begin; only evaluation decides.
 */
#ifndef HEADPROOF_HARNESS_OMEGA_SEARCH_H
#define HEADPROOF_HARNESS_OMEGA_SEARCH_H

#include <mpfr.h>
#include <stdbool.h>

/* One evaluated Omega. */
typedef struct {
    double omega;
    mpfr_t error;
} Trial;

/* error = the judged error at omega; false stops the search (memory). */
typedef bool OmegaError(void *context, mpfr_ptr error, double omega);

typedef struct {
    bool found;                  /* some Omega meets the tolerance */
    bool has_below;              /* an Omega too small was evaluated */
    bool has_max;                /* an Omega too large was evaluated; else none is */
    Trial below, min, max, best; /* best: over everything evaluated */
} OmegaSearch;

void omega_search_init(OmegaSearch *search);
void omega_search_clear(OmegaSearch *search);

/* Searches from a first guess > 0.  rises: rounding enters, so that the error may rise again
 * and the whole range is scanned; else it only falls.  false: the evaluation stopped. */
bool omega_search(OmegaSearch *search, OmegaError *error, void *context, double tolerance,
                  double guess, bool rises) __attribute__((warn_unused_result));

#endif
