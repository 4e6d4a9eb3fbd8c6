/*
 * How the limit model changes into T' (private to reference/; docs/mathematics.md, section 4).
 *
 * Beside T_infinity evaluated at x, e = r(T') - r(T_infinity) goes from layer to layer.
 * What is linear acts on e as on x.  Of a head's row, A the keys with the largest coefficient of
 * Omega and p its softmax at x, ds the change of the scores, u' = u + du the values at x + e,
 *     E        = sum over A of p_j expm1(ds_j)
 *     dp_j     = p_j (expm1(ds_j) - E) / (1 + E)                   j in A, or, where E < -1/2,
 *              = p_j e^(ds_j) / (sum over A of p_j e^(ds_j)) - p_j
 *     y_A'     = y_A + sum over A of dp_j u'_j + p_j du_j
 *     r_j      = e^(s'_j) / (sum over all keys of e^(s'))          the others, e^(-Omega gap) in it
 *     change   = y_A' - y_A + sum over the others of r_j (u'_j - y_A').
 * Each term has a factor of e's own size: nothing of the size of x cancels, whatever Omega is.
 * (E < -1/2 is a change as large as the pattern itself.)  Of a norm y = gamma c / sqrt(s) + beta,
 * c = x - mean(x), d = e - mean(e),
 *     delta = (2 c.d + d.d) / D,     s' = mean((c + d)^2) + eps,
 *     dy    = gamma (d - c delta / (sqrt(s) (sqrt(s) + sqrt(s')))) / sqrt(s'),
 * which loses what the norm itself takes from e: its mean, and all but about eps / s of its part
 * along c.
 *
 * So what e loses to rounding is relative to e.
 *
 * Of x nothing is evaluated here: p, the scores, u and y_A are in records (heads/record.h), which
 * are only read.
 *
 * Umbrella header: the recursion is one thing, a file for each kind of score.
 */
#ifndef HEADPROOF_REFERENCE_DIFFERENCE_DIFFERENCE_H
#define HEADPROOF_REFERENCE_DIFFERENCE_DIFFERENCE_H

#include "../evaluator/layer_norm.h"
#include "../heads/heads.h"

/* e and, for a block of heads at a time, the changes of what its record holds. */
typedef struct {
    ApMat stream;         /* [rows, content] e */
    ApMat delta;          /* what the current sublayer adds to it */
    ApMat normed;         /* the change of norm(x), where a sublayer reads that */
    const ApMat *input;   /* what the sublayer's heads read: stream or normed */
    ApMat sum;            /* x + e: r(T') after the last layer */
    ApMat product, score; /* [rows, heads] e g, and the gate's change */
    ApMat gate, grown;    /* [rows, heads] expm1 and exp of that */
    ApMat value, mixed;   /* changes of a part's */
    ApMat moved;          /* value + its change */
    ApMat scaled;         /* mixed, times a scale that is not 1 */
    ApMat query, key;     /* changes of the record's */
    ApMat both_queries;   /* of one head: query + its change, and the change */
    ApMat both_keys;      /* of one head: the key's change, and the key */
    ApMat group;          /* [rows, 3 * heads] dp or r of one key of a group; of mixed heads the
                           * changes of the record's scores */
    ApMat pattern, leak;  /* [rows, rows] dp of the keys of A, 0 of others; r of the others */
    bool limit; /* of T_infinity at x + e: no key that the limit leaves out weighs anything */
} Difference;

/* e = 0, of so many bits, as x has.  shape: what holds every block of the model. */
typedef struct {
    size_t content; /* columns of the stream */
    size_t normed;  /* of normed */
    mpfr_prec_t bits;
} DifferenceSize;
void difference_init(Difference *e, const RecordShape *shape, const DifferenceSize *size);
void difference_clear(Difference *e);
double difference_bytes(const RecordShape *shape, const DifferenceSize *size);

/* After norm_stream of x, with its record: the heads read norm(x); and for x =
 * norm(x) itself, in place of both. */
void difference_read_normed(const StreamNorm *norm, Difference *e);
void difference_normalise(const StreamNorm *norm, Difference *e);

/* y [columns], which may be e, = norm(x + e) - norm(x) of one row, from x's c and s (layer_norm.h),
 * with NORM_GUARD bits more than y has. */
void difference_norm_row(mpfr_ptr y, const LayerNorm *norm, mpfr_srcptr c, mpfr_srcptr s,
                         mpfr_srcptr e);

/* Each after the step of heads.h of that name, whose outcome is in the record: the changes of
 * scores (and without bilinear scores of patterns), of a pattern and of mixtures. */
void difference_scores(const Heads *heads, const Record *record, Difference *e);
void difference_pattern(const Heads *heads, const Record *record, size_t b, Difference *e);
void difference_mix(const Heads *heads, const Record *record, PartKind part, size_t b,
                    Difference *e);

/* ---- By groups of keys (group_changes.c, group_mixtures.c), key by key (key_scores.c,
 * key_changes.c). ---- */

void difference_group_weights(const Heads *heads, const Record *record, Difference *e);
void difference_group_mix(const Heads *heads, const Record *record, PartKind part, Difference *e);
void difference_queries(const Heads *heads, const Record *record, Difference *e);

/* Head h of the bundle, its place b in the block, and what of the record its rows read: score
 * [rows, heads] shifts, gate [rows, heads] sums of exponentials, its pattern; width, mixed: of what
 * its rows mix. */
typedef struct {
    const Heads *heads;
    const Record *record;
    const ApMat *pattern, *mixed;
    Difference *e;
    size_t h, b, width;
} Head;

/* pattern = ds (key_scores.c). */
void difference_key_scores(const Head *head);
void difference_keys(const Heads *heads, const Record *record, size_t b, Difference *e);
void difference_key_mix(const Heads *heads, const Record *record, PartKind part, size_t b,
                        Difference *e);

#endif
