/*
 * The change of a layer norm, row by row, from the change of what is normalised.
 */
#include "difference.h"

/* delta and s' of a row, with c, and d in y. */
static void squares(mpfr_ptr delta, mpfr_ptr moved, const LayerNorm *norm, mpfr_srcptr c,
                    mpfr_srcptr d)
{
    size_t count = norm->columns.count;
    mpfr_t sum, t;
    mpfr_inits2(mpfr_get_prec(delta), sum, t, (mpfr_ptr)0);
    mpfr_set_zero(delta, 1);
    mpfr_set_zero(moved, 1);
    for (size_t i = 0; i < count; i++) {
        mpfr_add(sum, c + i, d + i, MPFR_RNDN);
        mpfr_sqr(t, sum, MPFR_RNDN);
        mpfr_add(moved, moved, t, MPFR_RNDN);
        mpfr_add(sum, sum, c + i, MPFR_RNDN);
        mpfr_mul(t, sum, d + i, MPFR_RNDN);
        mpfr_add(delta, delta, t, MPFR_RNDN);
    }
    mpfr_div_ui(delta, delta, count, MPFR_RNDN);
    mpfr_div_ui(moved, moved, count, MPFR_RNDN);
    mpfr_add_d(moved, moved, norm->eps, MPFR_RNDN);
    mpfr_clears(sum, t, (mpfr_ptr)0);
}

void difference_norm_row(mpfr_ptr y, const LayerNorm *norm, mpfr_srcptr c, mpfr_srcptr s,
                         mpfr_srcptr e)
{
    size_t count = norm->columns.count;
    mpfr_t delta, moved, root, t;
    mpfr_inits2(mpfr_get_prec(y) + NORM_GUARD, delta, moved, root, t, (mpfr_ptr)0);
    norm_mean(t, norm, e);
    for (size_t i = 0; i < count; i++) {
        mpfr_sub(y + i, e + i, t, MPFR_RNDN);
    }
    squares(delta, moved, norm, c, y);
    mpfr_sqrt(root, s, MPFR_RNDN);
    mpfr_sqrt(moved, moved, MPFR_RNDN);
    mpfr_add(t, root, moved, MPFR_RNDN);
    mpfr_mul(root, root, t, MPFR_RNDN);
    mpfr_div(delta, delta, root, MPFR_RNDN);
    for (size_t i = 0; i < count; i++) {
        mpfr_mul(t, c + i, delta, MPFR_RNDN);
        mpfr_sub(t, y + i, t, MPFR_RNDN);
        mpfr_div(t, t, moved, MPFR_RNDN);
        mpfr_mul_d(y + i, t, norm->gamma[i], MPFR_RNDN);
    }
    mpfr_clears(delta, moved, root, t, (mpfr_ptr)0);
}

/* Context of change_row. */
typedef struct {
    const StreamNorm *of;
    Difference *e;
    bool stream; /* x = norm(x): the stream's own change becomes the norm's */
} Change;

static void change_row(Worker *worker, const void *context, size_t row)
{
    const Change *change = context;
    const LayerNorm *norm = change->of->norm;
    const ApMat *record = change->of->record;
    Difference *e = change->e;
    ApMat *out = change->stream ? &e->stream : &e->normed;
    size_t first = norm->columns.first;
    (void)worker;
    for (size_t c = 0; !change->stream && c < out->columns; c++) {
        mpfr_set(ap_at(out, row, c), ap_at(&e->stream, row, c), MPFR_RNDN);
    }
    if (!norm_acts(change->of->layout, norm, row)) {
        return;
    }
    difference_norm_row(ap_at(out, row, first), norm, ap_at(record, row, 1), ap_at(record, row, 0),
                        ap_at(&e->stream, row, first));
}

static void each_row(const Change *change)
{
    const ApMat *stream = &change->e->stream;
    evaluator_each(change->of->ev, stream->rows, 16 * stream->rows * stream->columns, change_row,
                   change);
}

void difference_read_normed(const StreamNorm *norm, Difference *e)
{
    each_row(&(Change){norm, e, false});
    e->input = &e->normed;
}

void difference_normalise(const StreamNorm *norm, Difference *e)
{
    each_row(&(Change){norm, e, true});
}
