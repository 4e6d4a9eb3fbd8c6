/*
 * The insides of `headproof attribute` (private to it): logits of the attention-only model as sums
 * over heads and the tokens they read (docs/models.md).
 *
 *   attribute.c   the command
 *   input.c       one input
 *   terms.c       the CSV, and what is said of all inputs
 *
 * Umbrella header: for all of these.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_ATTRIBUTE_ATTRIBUTE_H
#define HEADPROOF_HARNESS_COMMANDS_ATTRIBUTE_ATTRIBUTE_H

#include "../../../reference/attribution/attribution.h"
#include "../../base/progress.h"
#include "../../models/inputs.h"
#include "../../table/sink.h"

/* One logit of one input. */
typedef struct {
    size_t v;
    mpfr_t logit, centred, residual, bound;
} LogitSum;

/* The summary of an input: by kind, the share of its predicted logit over the mean logit, and of
 * the sum of its absolute terms; the residual and bound of the logit nearest to its bound. */
typedef struct {
    double share[PATH_KINDS], absolute[PATH_KINDS];
    double residual, bound;
    bool within;
} InputSummary;

/* A group is of the terms that stand in one line of the table, a source each: what their paths have
 * in common, with heads from 1; what they have not is 0. */
typedef struct {
    const RunOptions *options;
    const Point *point;
    const ModelFile *model;
    Inputs inputs;
    Pair pair;
    RefPaths *paths;
    RefPath *groups;  /* [group_count] */
    size_t *group_of; /* [paths] */
    size_t group_count;
    RefReadout *all; /* of all logits, or NULL: the predicted one's is made for each input */
    InputSummary *inputs_said; /* [inputs.count] */
    Sink *sink;
    Progress progress;
    int status, threads; /* status: how it went so far: 0, or 99 after a message */
} Attribution;

/* Evaluates input i.  text: its lines of the table, or NULL where none are asked
 * for; to be freed. */
void attribute_input(Attribution *attribution, size_t i, char **text);

/* Bits that the streams of an input begin with. */
mpfr_prec_t attribute_bits(const Attribution *attribution);

/* The table's header, and rows that are text (a char) already. */
void attribute_write_header(FILE *file, const RunOptions *run);
void attribute_write_rows(FILE *file, const void *text);

/* The lines of one logit: sums [groups, rows], centred the same. */
void attribute_write_logit(FILE *file, const Attribution *attribution, size_t i,
                           const LogitSum *logit, mpfr_t *sums, mpfr_t *centred);
void attribute_print_model(const Attribution *attribution);
void attribute_print_summary(const Attribution *attribution);

#endif
