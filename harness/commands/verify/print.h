/*
 * The text of `headproof verify`, and the rows of its CSV.
 *
 * Umbrella header: for template.c, too, which makes the verdict of one template.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_PRINT_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_PRINT_H

#include "columns.h"
#include "every_input.h"
#include "positions.h"

/* How many of the layer's errors, and of their logarithms, are only bounds. */
size_t verify_bounds(const LayerWorst *layer);

/* The rows of the Omega at hand; row: a Verify (outcome.h). */
void verify_write_rows(FILE *file, const void *row);

void verify_print_model(FILE *file, const Verify *verify);
void verify_print_omega(FILE *file, const Verify *verify);
void verify_print_found(FILE *file, const Verify *verify, const Found *found);
void verify_print_keeping(FILE *file, const Verify *verify, const OmegaSearch *found);

/* Counts and digests over all templates so far.  every: the proof for every input; digest: of the
 * flags that name the inputs, and of the inputs; bounds: cells that are only bounds. */
typedef struct {
    Outcome outcome;
    SweepRecord record;
    EveryInput every;
    VerifyLimit limit;
    uint64_t digest;
    size_t bounds;
    bool chosen;    /* some Omega was, by the inputs that it is judged on */
    size_t sampled; /* inputs of a sample, of `of` (see Inputs); 0: they are none */
    char of[sizeof((Inputs *)0)->of];
} Verdict;

/* Of template.c.  Everything but Omega is the same; every Omega that the grid has for the template,
 * then the searches: 0, or an exit code after a message. */
bool verify_same_template(const Point *a, const Point *b);
int verify_template(Verdict *verdict, Verify *verify, Grid *grid, int threads)
    __attribute__((warn_unused_result));

/* A line without its end. */
Conclusion verify_print_verdict(FILE *file, const Grid *grid, const Verdict *verdict);

#endif
