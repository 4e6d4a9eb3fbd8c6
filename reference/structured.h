/*
 * The parts of the structured form (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_STRUCTURED_H
#define HEADPROOF_REFERENCE_STRUCTURED_H

#include "run.h"

/* Heads first, ..., first + count - 1 of a bundle, side by side in the scratch. */
typedef struct {
    const Score *score;
    size_t first, count;
} Heads;

/* Coordinates of a value before its second factor, of a query or key. */
size_t structured_value_width(const Value *value);
size_t structured_query_width(const Score *score);

/* How many of a bundle's heads are evaluated at once: run_block_columns columns of values, queries or
 * gates, or one head. */
size_t structured_block(const Bundle *bundle, size_t rows, mpfr_prec_t bits);

/* out[., b width + c] = x[., columns] w[:, c] of head heads.first + b, c < width. */
void structured_product(RefRun *run, ApMat *out, const ApMat *x, Columns columns,
                        const HeadWeight *w, const Heads *heads, size_t width);

/* out[., first + c] = x[., columns.first + c] */
void structured_columns(ApMat *out, size_t first, const ApMat *x, Columns columns);

/* u[., c] += bias[c] on the token rows. */
void structured_token_bias(RefRun *run, ApMat *u, const double *bias, size_t count);

/* The groups of keys with one score each that a row sees without bilinear scores. */
enum { SELF, OTHER, BIAS, GROUPS };

/* How many keys each has, which coefficient of Omega, whether their content score is the row's
 * gate (else it is 0); best: the largest coefficient of those that have keys. */
typedef struct {
    unsigned long count[GROUPS];
    int coefficient[GROUPS];
    bool gated[GROUPS];
    int best;
} RowGroups;

RowGroups groups_of_row(const RefRun *run, const Score *score, size_t h, size_t row);

/* Have all heads of the score one pattern? */
bool groups_share_pattern(const Score *score);

/* out[., b] = x g of head heads.first + b. */
void groups_gate_product(RefRun *run, const Heads *heads, const ApMat *x, ApMat *product);

/* a of gate = a x g + ..., gate_scale left out. */
long groups_gate_factor(const Score *score);

/* The heads' patterns, into scratch.group; scratch.product is left holding x g, scratch.score the
 * gate and scratch.gate exp(-|gate|). */
void groups_softmax(RefRun *run, const Heads *heads);

/* weight[GROUPS] = a row's softmax where score, the gate, is of any size: over A alone, or at the run's
 * Omega over all. */
void groups_far_weights(RefRun *run, RunThread *thread, const RowGroups *groups, mpfr_srcptr score,
                        bool limit, mpfr_ptr weight);

/* scratch.mixed = those patterns applied to scratch.value [rows, heads.count * width]. */
void groups_mix(RefRun *run, const Heads *heads, size_t width);

/* What the heads mix, in columns head by head; others, changed: are the values of other tokens
 * than a row's own, and their changes, wanted as sums. */
typedef struct {
    const Heads *heads;
    size_t width;
    bool others, changed;
} Mix;

/* Have other tokens than its own weight in some row, in the limit or (leaks) at any Omega? */
bool groups_see_others(const RefRun *run, const Heads *heads, bool leaks);

/* Calls work for i = 0, ... on columns groups_columns(mix, i) of scratch.mixed: few enough that a
 * pass over all rows reads memory in order. */
void groups_each_columns(RefRun *run, const Mix *mix, RunWork *work);
Columns groups_columns(const Mix *mix, size_t i);

/* Blocks of rows of a pattern, so that keys no row of a block sees are left alone. */
enum { PATTERN_ROWS = 128 };

/* Rows first, ..., first + count - 1 and the leading keys that one of them may see. */
typedef struct {
    size_t first, count, keys;
} RowBlock;

RowBlock bilinear_block(const RefRun *run, const Score *score, size_t first);

/* x Q and x, or x W_Q and x W_K, of the heads, the scale in the query; biased: with their biases. */
void bilinear_products(RefRun *run, const Heads *heads, const ApMat *x, bool biased, ApMat *query,
                       ApMat *key);

/* The pattern of head heads.first + b, into scratch.pattern; columns b of scratch.score and
 * scratch.gate are left holding each row's shift, and its sum of exponentials relative to that and
 * to its largest power of e^Omega. */
void bilinear_softmax(RefRun *run, const Heads *heads, size_t b);

/* scratch.mixed = that pattern applied to scratch.value, both in columns b width, ... */
void bilinear_mix(RefRun *run, const Score *score, size_t b, size_t width);

#endif
