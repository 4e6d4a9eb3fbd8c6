/*
 * What limits a model that `headproof verify` fails (private to it).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_LIMIT_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_LIMIT_H

#include "verify.h"

/* The binary logarithm of a cell: infinite where it is not finite, or zero, or absent. */
double verify_log2(const RefCell *cell);

/* After verify_evaluate: verify->limit becomes that of the Omega at hand, if it is worse. */
void verify_limit_take(Verify *verify);

/* Takes over the outcome of a search for the tolerance. */
void verify_limit_search(VerifyLimit *limit, const OmegaSearch *search);

/* limit becomes other, if that is known and worse. */
void verify_limit_worsen(VerifyLimit *limit, const VerifyLimit *other);

/* ": the construction leaves 1.00e-03; try an omega from 12 to 8e6, as above"; which Omega, where
 * there are several. */
void verify_limit_print(FILE *file, const VerifyLimit *limit, bool several);

#endif
