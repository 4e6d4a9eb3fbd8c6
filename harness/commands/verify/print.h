/*
 * What `headproof verify` says, and its CSV; merge reads and writes the same columns.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_PRINT_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_PRINT_H

#include "every_input.h"
#include "positions.h"

/* The columns of its rows, in order: up to VERIFY_INPUTS what decides a row; VERIFY_ERRORS + kind
 * is that of an error's largest entry, VERIFY_LOGS + kind of its logarithm. */
enum {
    VERIFY_MODEL,
    VERIFY_CONSTRUCTION,
    VERIFY_ARITHMETIC,
    VERIFY_KERNEL,
    VERIFY_OMEGA,
    VERIFY_OPTIONS,
    VERIFY_INPUTS,
    VERIFY_LAYER,
    VERIFY_INPUT, /* these three of positions alone */
    VERIFY_POSITION,
    VERIFY_TOKEN,
    VERIFY_ERRORS,
    VERIFY_LOGS = VERIFY_ERRORS + ERROR_KINDS,
    VERIFY_BOUNDS = VERIFY_LOGS + ERROR_KINDS,
    VERIFY_JUDGED_LOG2,
    VERIFY_WORST_INPUT,
    VERIFY_LOGIT_ERROR,
    VERIFY_MARGIN,
    VERIFY_SAFETY,
    VERIFY_CHANGED,
    VERIFY_PREDICTION, /* these two of positions alone */
    VERIFY_MACHINE_PREDICTION,
    VERIFY_LOSS, /* of r(T), r(T'), m(T'), m(T) */
    VERIFY_KL = VERIFY_LOSS + LOSSES,
    VERIFY_KL_MAX = VERIFY_KL + AGAINST_COUNT,
    VERIFY_STATUS = VERIFY_KL_MAX + AGAINST_COUNT,
    VERIFY_COLUMNS
};

/* The name of a column < VERIFY_COLUMNS. */
const char *verify_column(size_t column);

/* How many of the layer's errors, and of their logarithms, are only bounds. */
size_t verify_bounds(const LayerWorst *layer);

int verify_write_header(FILE *file);
int verify_write_rows(const Verify *verify, double omega, const LogitErrors *logits);

/* The first cells of a row, up to the options. */
int verify_write_key(FILE *file, const Verify *verify, const char *omega);

/* The cells from logit_error to predictions_changed, a comma before each; or blank ones. */
void verify_write_logits(FILE *file, double error, double margin, size_t changed);
void verify_write_no_logits(FILE *file);

void verify_print_model(const Verify *verify);
void verify_print_omega(const Verify *verify, double omega, const LogitErrors *logits);
void verify_print_found(const Verify *verify, const Found *found);
void verify_print_keeping(const Verify *verify, const OmegaSearch *found);

/* A line without its end.  every: what is proven of every input; bounds: cells that are only
 * bounds, of points that are certified. */
Conclusion verify_print_verdict(FILE *file, const Grid *grid, bool passed, const VerifyLimit *limit,
                                const EveryInput *every, size_t bounds);

#endif
