/*
 * Logits of a model of heads as exact sums: what each head writes to the stream at the last token,
 * split by the token that it comes from (docs/models.md).
 *
 * Umbrella header: what others use of attribution.c and attribution_writes.c.
 *
 * With its attention patterns as they are, a head adds to the last token's row
 *     sum over rows j of  p(last, j) (x_j V + biases),
 * and a logit is linear in that row: x w_v + b_v, w_v a column of the unembedding.  So
 *     logit_v = x_last(at first) w_v + sum over heads, rows j of p(last, j) (x_j V + ..) w_v + b_v.
 * A path is one summand of that but for j: the direct path, a head, a bias.  Heads that read
 * norm(x) have that for x_j.
 *
 * Of a gated network's hidden unit k that is p(last, j) a_jk b_k W_d[k, :], a_jk its gate head's
 * value and b_k what it multiplies in the last row; read-out heads have what they write less the
 * sum of those over the units.
 *
 * Behind a final norm a logit is linear in the row but for its scale: with s = var + eps of the
 * last token's row at the end, frozen,
 *     logit_v = x_last u_v / sqrt(s) + beta w_v + b_v,    u_v = gamma w_v - mean(gamma w_v)
 * (an RMSNorm: without the mean), and x_last is the same sum.  1 / sqrt(s) is in what paths write,
 * gamma and the mean in what is read of it.
 *
 * Order of use: ref_paths_make, once for a model; ref_writes_make for an input; ref_readout_make
 * for some logits, for one input or for all; ref_term.
 */
#ifndef HEADPROOF_REFERENCE_ATTRIBUTION_ATTRIBUTION_H
#define HEADPROOF_REFERENCE_ATTRIBUTION_ATTRIBUTION_H

#include "../reference.h"

/* EXTERNAL: heads whose scores are bilinear in the stream, as the original's attention.
 * INTERNAL: all others.  BIAS: what a head writes whatever it attends to, and b_U. */
typedef enum { PATH_DIRECT, PATH_EXTERNAL, PATH_INTERNAL, PATH_BIAS, PATH_KINDS } PathKind;

/* layer, and sublayer within it, from 1, or 0: before all layers, or after (b_U).  head: among the
 * sublayer's heads of its kind, from 0.  single: of the last token's row alone. */
typedef struct {
    PathKind kind;
    size_t layer, sublayer, head;
    bool single;
} RefPath;

typedef struct RefPaths RefPaths;
typedef struct RefWrites RefWrites;
typedef struct RefReadout RefReadout;

/* Of a model of heads alone (norms inside of it are read through: no DIRECT_NORM), which must
 * outlive them; its d is the unembedding's. */
RefPaths *ref_paths_make(const Model *model, const RefUnembedding *unembedding)
    __attribute__((warn_unused_result));
void ref_paths_clear(RefPaths *paths);
size_t ref_paths_count(const RefPaths *paths);
const RefPath *ref_path(const RefPaths *paths, size_t path);

/* The vector that every path writes for an input of the model, at a finite omega: the streams to
 * bits, patterns and values from them with 64 bits more. */
RefWrites *ref_writes_make(const RefPaths *paths, const Start *start, mpfr_prec_t bits)
    __attribute__((warn_unused_result));
void ref_writes_clear(RefWrites *writes);

/* logit = x w_v + b_v, x the last token's row of the stream after the last layer, or its norm. */
void ref_writes_logit(mpfr_ptr logit, const RefWrites *writes, size_t v);

/* The first of the largest logits. */
size_t ref_writes_predicted(const RefWrites *writes);

/* The weights by which logits[k], k < count, and the mean of all logits read every path. */
RefReadout *ref_readout_make(const RefPaths *paths, const size_t *logits, size_t count,
                             mpfr_prec_t bits) __attribute__((warn_unused_result));
void ref_readout_clear(RefReadout *readout);

/* Bytes of the readout and of one input's writes, as doubles. */
double ref_readout_bytes(const RefPaths *paths, size_t count, mpfr_prec_t bits);
double ref_writes_bytes(const RefPaths *paths, mpfr_prec_t bits);

/* The term of the path in logits[k] from row j of the stream, and in that logit less the mean of
 * all. */
void ref_term(mpfr_ptr term, mpfr_ptr centred, const RefWrites *writes, const RefReadout *readout,
              size_t path, size_t j, size_t k);

/* How far, at most, the sum of all terms of logits[k] is from the logit of the stream, and either
 * from r(T')'s: |u_k|_1 times the last token's radii, of every sublayer once for what it rounds,
 * and of the last once more; and what the terms' own sums round, (widths + 16) 2^-bits times the
 * sum of their absolute products.  With a final norm the first is that times (1 + sqrt(d)) /
 * sqrt(s), sqrt(s) less the radii. */
void ref_attribution_bound(mpfr_ptr bound, const RefWrites *writes, const RefReadout *readout,
                           size_t k);

/* By how many bits the last token's row, or its norm, is known to fewer than its own; infinite
 * where nothing is known. */
double ref_writes_lost(const RefWrites *writes);
mpfr_prec_t ref_writes_bits(const RefWrites *writes);

#endif
