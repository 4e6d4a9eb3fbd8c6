/*
 * Layer norms of a stream's rows, each row by itself: mean, squares, quotient.
 */
#include "layer_norm.h"

NormExtent norm_extent(const Model *model)
{
    NormExtent extent = {0, 0};
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        size_t columns = norm_record_columns(&sublayer->norm);
        if (sublayer->norm.kind == NORMALIZATION_NONE) {
            continue;
        }
        extent.record = columns > extent.record ? columns : extent.record;
        if (sublayer->bundle_count > 0 || sublayer->direct.kind != DIRECT_NORM) {
            extent.copy = layout_content(&model->layout);
        }
    }
    return extent;
}

void norm_mean(mpfr_ptr mean, const LayerNorm *norm, mpfr_srcptr x)
{
    mpfr_set_zero(mean, 1);
    if (norm->kind == NORMALIZATION_RMSNORM) {
        return;
    }
    for (size_t i = 0; i < norm->columns.count; i++) {
        mpfr_add(mean, mean, x + i, MPFR_RNDN);
    }
    mpfr_div_ui(mean, mean, norm->columns.count, MPFR_RNDN);
}

void norm_centre(mpfr_ptr c, mpfr_ptr s, const LayerNorm *norm, mpfr_srcptr x)
{
    size_t count = norm->columns.count;
    mpfr_t sum, t;
    mpfr_inits2(mpfr_get_prec(s) + NORM_GUARD, sum, t, (mpfr_ptr)0);
    norm_mean(sum, norm, x);
    for (size_t i = 0; i < count; i++) {
        mpfr_sub(c + i, x + i, sum, MPFR_RNDN);
    }
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < count; i++) {
        mpfr_sqr(t, c + i, MPFR_RNDN);
        mpfr_add(sum, sum, t, MPFR_RNDN);
    }
    mpfr_div_ui(sum, sum, count, MPFR_RNDN);
    mpfr_add_d(s, sum, norm->eps, MPFR_RNDN);
    mpfr_clears(sum, t, (mpfr_ptr)0);
}

void norm_apply(mpfr_ptr y, const LayerNorm *norm, mpfr_srcptr c, mpfr_srcptr s, bool token)
{
    mpfr_t quotient, root;
    mpfr_inits2(mpfr_get_prec(s) + NORM_GUARD, quotient, root, (mpfr_ptr)0);
    mpfr_sqrt(root, s, MPFR_RNDN);
    for (size_t i = 0; i < norm->columns.count; i++) {
        mpfr_div(quotient, c + i, root, MPFR_RNDN);
        mpfr_mul_d(quotient, quotient, norm->gamma[i], MPFR_RNDN);
        if (token && norm->beta != NULL) {
            mpfr_add_d(quotient, quotient, norm->beta[i], MPFR_RNDN);
        }
        mpfr_set(y + i, quotient, MPFR_RNDN);
    }
    mpfr_clears(quotient, root, (mpfr_ptr)0);
}

/* Context of record_row and write_row. */
typedef struct {
    const StreamNorm *of;
    const ApMat *x;
    ApMat *y;
} Stream;

static void record_row(Worker *worker, const void *context, size_t row)
{
    const Stream *at = context;
    const ApMat *record = at->of->record;
    const LayerNorm *norm = at->of->norm;
    (void)worker;
    if (norm_acts(at->of->layout, norm, row)) {
        norm_centre(ap_at(record, row, 1), ap_at(record, row, 0), norm,
                    ap_at(at->x, row, norm->columns.first));
    }
}

static void write_row(Worker *worker, const void *context, size_t row)
{
    const Stream *at = context;
    const ApMat *record = at->of->record;
    const LayerNorm *norm = at->of->norm;
    (void)worker;
    for (size_t c = 0; at->y != at->x && c < at->x->columns; c++) {
        mpfr_set(ap_at(at->y, row, c), ap_at(at->x, row, c), MPFR_RNDN);
    }
    if (norm_acts(at->of->layout, norm, row)) {
        norm_apply(ap_at(at->y, row, norm->columns.first), norm, ap_at(record, row, 1),
                   ap_at(record, row, 0), row != layout_bias_row(at->of->layout));
    }
}

/* Operations on an entry, about. */
enum { NORM_OPERATIONS = 8 };

void norm_record_stream(const StreamNorm *at, const ApMat *x)
{
    const Stream stream = {at, x, NULL};
    evaluator_each(at->ev, x->rows, NORM_OPERATIONS * x->rows * x->columns, record_row, &stream);
}

void norm_write_stream(const StreamNorm *at, const ApMat *x, ApMat *y)
{
    const Stream stream = {at, x, y};
    evaluator_each(at->ev, x->rows, NORM_OPERATIONS * x->rows * x->columns, write_row, &stream);
}
