/*
 * Layer norms of a stream's rows (private to reference/; docs/mathematics.md, section 1):
 *     c = x - mean(x), or for an RMSNorm x,    s = mean(c^2) + eps,    y = gamma c / sqrt(s) + beta
 * over the norm's columns, y = x in the others.
 *
 * gamma, beta and eps enter as the doubles that they are.  c and s are a record, which a difference
 * may read afterwards; nothing here knows of differences.
 */
#ifndef HEADPROOF_REFERENCE_EVALUATOR_LAYER_NORM_H
#define HEADPROOF_REFERENCE_EVALUATOR_LAYER_NORM_H

#include "evaluator.h"

#include "../../cases/model.h"

/* Bits beyond those of what is kept that sums over a row have, so that c and s are rounded about
 * once. */
enum { NORM_GUARD = 32 };

/* Columns of a record, in a row s and then c; 0: there is no norm. */
static inline size_t norm_record_columns(const LayerNorm *norm)
{
    return norm->kind != NORMALIZATION_NONE ? 1 + norm->columns.count : 0;
}

/* The extents that the norms of a model take: columns of a stream that is normalised beside the one
 * that stays (0: no sublayer has one), columns of the widest record. */
typedef struct {
    size_t copy, record;
} NormExtent;

NormExtent norm_extent(const Model *model);

/* Does the norm act on a row? */
static inline bool norm_acts(const Layout *layout, const LayerNorm *norm, size_t row)
{
    return norm->kind != NORMALIZATION_NONE &&
           !(norm->tokens_only && row == layout_bias_row(layout));
}

/* The mean of x [norm->columns.count], of mean's precision; 0 for an RMSNorm. */
void norm_mean(mpfr_ptr mean, const LayerNorm *norm, mpfr_srcptr x);

/* c [columns], which may be x, and s of one row's columns x [columns]. */
void norm_centre(mpfr_ptr c, mpfr_ptr s, const LayerNorm *norm, mpfr_srcptr x);

/* y [columns] from c and s, y may be c; beta on token rows. */
void norm_apply(mpfr_ptr y, const LayerNorm *norm, mpfr_srcptr c, mpfr_srcptr s, bool token);

/* A norm of a stream, what computes with it, and its record. */
typedef struct {
    Evaluator *ev;
    const Layout *layout;
    const LayerNorm *norm;
    const ApMat *record;
} StreamNorm;

/* Makes the record of norm(x), of every row that it acts on; then y = norm(x), of every row and
 * column, y may be x. */
void norm_record_stream(const StreamNorm *at, const ApMat *x);
void norm_write_stream(const StreamNorm *at, const ApMat *x, ApMat *y);

#endif
