/*
 * Heads at a stream x (private to reference/; docs/mathematics.md, section 1):
 *     softmax_rows(X Q X^T) X V,
 * a block of a bundle's heads side by side.
 *
 * Patterns, then values, then their mixture go into a record (record.h), which a difference may
 * read afterwards; nothing here knows of differences.  What is linear in x takes x as an argument,
 * so that it can be done to a change of x too.  Omega enters as exact factors e^(-Omega gap), so
 * that no score ever holds it.
 *
 * Umbrella header: a block of heads is one thing, evaluated by small files that call each other.
 */
#ifndef HEADPROOF_REFERENCE_HEADS_HEADS_H
#define HEADPROOF_REFERENCE_HEADS_HEADS_H

#include "record.h"

#include "../../cases/model.h"
#include "../evaluator/evaluator.h"

/* Heads first, ..., first + count - 1 of a bundle, and what computes with them.  limit: Omega ->
 * infinity, each row attends the keys with its largest coefficient of Omega alone. */
typedef struct {
    Evaluator *ev;
    const Layout *layout;
    const Bundle *bundle;
    size_t first, count;
    bool limit;
    bool again; /* the block before was of a bundle like this one (bundles_alike): x g is there */
    bool more;  /* and so is the next one: what they write goes through the second factors once */
} Heads;

/* Those whose patterns are to be evaluated: the first alone where all have one. */
static inline Heads heads_patterns(const Heads *heads)
{
    Heads patterns = *heads;
    patterns.count = heads_share_pattern(&heads->bundle->score) ? 1 : heads->count;
    return patterns;
}

/* Those that a part is of: but for that of all heads, head 0 alone. */
static inline Heads heads_of_part(const Heads *heads, PartKind part)
{
    Heads some = *heads;
    some.count = part == HEADS_PART ? heads->count : 1;
    return some;
}

/* Does row i see row j, and with which coefficient of Omega in head h of the bundle? */
static inline bool heads_see(const Heads *heads, size_t i, size_t j)
{
    return score_sees(heads->layout, &heads->bundle->score, i, j);
}

static inline int heads_position(const Heads *heads, size_t h, size_t i, size_t j)
{
    return score_position(heads->layout, &heads->bundle->score, h, i, j);
}

/* gap[j], for each row j: how far key j's coefficient is below the row's best, or KEY_UNSEEN.
 * Returns the leading keys up to the last that row i sees. */
enum { KEY_UNSEEN = -1 };
size_t heads_gaps(const Heads *heads, size_t h, size_t i, int *gap);

/* The largest of row i's coefficients over the keys that it sees. */
int heads_best_position(const Heads *heads, size_t h, size_t i);

/* s[i] *= scale; t: scratch. */
void heads_apply_scale(mpfr_ptr s, size_t count, const Scale *scale, mpfr_ptr t);

/* Scratch of an evaluation of x, which nobody reads afterwards. */
typedef struct {
    ApMat product; /* [rows, gates] x g */
    ApMat scaled;  /* [rows, values] mixed, times a scale that is not 1 */
    ApMat mixed;   /* [rows, width of a query] of a mixed head */
} HeadsWork;

/* ---- The evaluation of a block, in this order: what it writes into the record. ---- */

/* score, gate and group, or with bilinear scores query and key, of mixed heads group too. */
void heads_scores(const Heads *heads, const ApMat *x, HeadsWork *work, Record *record);

/* With bilinear scores, head heads->first + b: pattern, and columns b of score and gate. */
void heads_pattern(const Heads *heads, size_t b, HeadsWork *work, Record *record);

/* value, of a part. */
void heads_values(const Heads *heads, const ApMat *x, const HeadsWork *work, PartKind part,
                  Record *record);

/* mixed, of a part: of all heads, or with bilinear scores of head heads->first + b alone. */
void heads_mix(const Heads *heads, PartKind part, size_t b, Record *record);

/* ---- What is linear (linear.c). ---- */

/* out[., b] = x g of head heads->first + b, 0 without content scores; of a row of these the gates
 * a (x g + c) + t, or, not biased, a x g. */
void heads_gate_product(const Heads *heads, const ApMat *x, ApMat *product);
void heads_gate_row(Worker *worker, const Heads *heads, mpfr_ptr gate, mpfr_srcptr product,
                    bool biased);

/* x Q and x, or x W_Q and x W_K, turned by their positions, the scale of the score in the query;
 * biased: with their biases. */
void heads_queries(const Heads *heads, const ApMat *x, bool biased, ApMat *query, ApMat *key);

/* u = x V of a part, up to the second factor, without biases; product: its x g. */
void heads_products(const Heads *heads, const ApMat *x, const ApMat *product, PartKind part,
                    ApMat *u);

/* delta += what a part writes, from its mixture; scaled: where mixtures times a scale that is not 1
 * are, and stay until the last of bundles that are alike has written. */
void heads_write(const Heads *heads, PartKind part, const ApMat *mixed, ApMat *scaled,
                 ApMat *delta);

/* u[., c] += bias[c] on the token rows. */
void heads_token_bias(const Heads *heads, ApMat *u, const double *bias, size_t count);

/* ---- Without bilinear scores a row sees groups of keys with one score each (groups.c). ---- */

enum { SELF, OTHER, BIAS, GROUPS };

/* How many keys each has, which coefficient of Omega, whether their content score is the row's
 * gate (else it is 0); best: the largest coefficient of those that have keys. */
typedef struct {
    unsigned long count[GROUPS];
    int coefficient[GROUPS];
    bool gated[GROUPS];
    int best;
} RowGroups;

/* Are there keys of a group in A, those with the best coefficient, or are they left out in the
 * limit? */
static inline bool groups_in_limit(const RowGroups *groups, int g)
{
    return groups->count[g] > 0 && groups->coefficient[g] == groups->best;
}

static inline bool groups_left_out(const RowGroups *groups, int g)
{
    return groups->count[g] > 0 && groups->coefficient[g] != groups->best;
}

RowGroups groups_of_row(const Heads *heads, size_t h, size_t row);

/* weight[g step], g < GROUPS: a row's softmax where score, the gate, is of any size: over A alone,
 * or at the evaluator's Omega over all. */
void groups_far_weights(Worker *worker, const RowGroups *groups, mpfr_srcptr score, bool limit,
                        mpfr_ptr weight, size_t step);

/* Some heads of a block, side by side, in a row where they see the same groups. */
typedef struct {
    const RowGroups *groups;
    size_t row, first, count;
} HeadRun;

/* Calls work for all heads of a row: for those that are near, as many together as a worker has
 * columns for, and for each that is not.  near: how many are, of `most` from the first on. */
typedef size_t GroupNear(const void *context, size_t row, size_t first, size_t most);
typedef void GroupWork(Worker *worker, const void *context, const HeadRun *at, bool near);
void groups_each_run(Worker *worker, const Heads *heads, size_t row, GroupNear *near,
                     GroupWork *work, const void *context);

/* Columns of mixtures whose rows have the same groups: from column `at`, the c-th that a worker
 * has, on.  Their pattern, or the first of theirs, one each; patterns: of the block. */
typedef struct {
    size_t c, at, count, pattern, patterns;
    bool each;
} GroupColumns;

/* The row's weights of group g in those columns. */
static inline Numbers groups_weights(const ApMat *group, size_t row, int g, const GroupColumns *at)
{
    mpfr_srcptr first = ap_at(group, row, (size_t)g * at->patterns + at->pattern);
    return at->each ? numbers_row(first) : numbers_same(first);
}

/* Have other tokens than its own weight in some row, in the limit or (leaks) at any Omega? */
bool groups_see_others(const Heads *heads, bool leaks);

/* Calls mix for each row and all columns of a part of the heads, some columns at a time, which a
 * thread has by itself: a pass over all rows reads memory in order.  worker->sum is of zeros at
 * first, to which add (NULL: nothing) has by then added each token that the row sees. */
typedef void GroupAdd(Worker *worker, const void *context, Columns columns, size_t row);
typedef void GroupMix(Worker *worker, const void *context, size_t row, const GroupColumns *at);
void groups_mix_rows(const Heads *heads, PartKind part, GroupAdd *add, GroupMix *mix,
                     const void *context);

/* scores and mixtures, as above. */
void groups_softmax(const Heads *heads, const ApMat *x, ApMat *product, Record *record);
void groups_mix(const Heads *heads, PartKind part, Record *record);

/* ---- Bilinear scores, key by key (bilinear.c). ---- */

/* Blocks of rows of a pattern, so that keys no row of a block sees are left alone. */
enum { PATTERN_ROWS = 128 };

/* Rows first, ..., first + count - 1 and the leading keys that one of them may see. */
typedef struct {
    size_t first, count, keys;
} RowBlock;

RowBlock bilinear_block(const Heads *heads, size_t first);

void bilinear_softmax(const Heads *heads, size_t b, HeadsWork *work, Record *record);
void bilinear_mix(const Heads *heads, PartKind part, size_t b, Record *record);

/* ---- Mixed heads: s_ij = (u_i w_h) . k_j, entry by entry, with u and k of all heads. ---- */

/* A row has two keys at most in the limit, itself and the bias row (unless entries of Omega are
 * lost): the scores of all heads toward these are a product each, and no others are formed. */
static inline bool heads_score_alone(const Heads *heads)
{
    return heads->limit && score_is_mixed(&heads->bundle->score);
}

/* What the other keys have less of Omega, at least; of lost entries nothing is known. */
static inline int heads_mixed_gap(const Score *score)
{
    return score->extra != NULL ? 0 : 2;
}

/* out[., b] and out[., heads->count + b] = the sum over `count` terms of (u_i w) . k_i and of
 * (u_i w) . k of the bias row, w of head heads->first + b; terms: [rows, width of a query]. */
typedef struct {
    const ApMat *u, *k;
} MixedTerms;

void heads_limit_scores(const Heads *heads, const MixedTerms *mixed, size_t count, ApMat *terms,
                        ApMat *out);

/* out[., first + c] = u[., c] w[c] of head heads->first + b, c < a query's width (linear.c). */
void heads_mixed_query(const Heads *heads, const ApMat *u, size_t b, ApMat *out, size_t first);

/* y = sum over c of u[c] k[c] w[c] of head h, on a thread of its own (linear.c). */
void heads_mixed_score(Worker *worker, mpfr_ptr y, const Score *score, size_t h, mpfr_srcptr u,
                       mpfr_srcptr k);

/* s = the score of row and key j of A of head heads->first + b, from a record of the limit. */
void heads_limit_score(Worker *worker, const Heads *heads, const Record *record, size_t b,
                       size_t row, size_t j, mpfr_ptr s);

#endif
