/*
 * What `headproof verify` says, and the rows of its CSV.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_PRINT_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_PRINT_H

#include "columns.h"
#include "every_input.h"
#include "positions.h"

/* How many of the layer's errors, and of their logarithms, are only bounds. */
size_t verify_bounds(const LayerWorst *layer);

int verify_write_rows(const Verify *verify, double omega, const LogitErrors *logits);

void verify_print_model(const Verify *verify);
void verify_print_omega(const Verify *verify, double omega, const LogitErrors *logits);
void verify_print_found(const Verify *verify, const Found *found);
void verify_print_keeping(const Verify *verify, const OmegaSearch *found);

/* A line without its end.  every: what is proven of every input; bounds: cells that are only
 * bounds, of points that are certified. */
Conclusion verify_print_verdict(FILE *file, const Grid *grid, bool passed, const VerifyLimit *limit,
                                const EveryInput *every, size_t bounds);

#endif
