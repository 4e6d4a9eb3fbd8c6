/*
 * The change of a layer norm, row by row, from the change of what is normalised.
 */
#include "difference.h"

#include <math.h>

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

static void note_exponent(mpfr_exp_t *most, mpfr_srcptr x)
{
    if (mpfr_regular_p(x) && mpfr_get_exp(x) > *most) {
        *most = mpfr_get_exp(x);
    }
}

NormTerms difference_norm_row(mpfr_ptr y, const LayerNorm *norm, mpfr_srcptr c, mpfr_srcptr s,
                              mpfr_srcptr e)
{
    size_t count = norm->columns.count;
    NormTerms terms = {mpfr_get_emin(), 0};
    mpfr_t delta, moved, root, t;
    mpfr_inits2(mpfr_get_prec(y) + NORM_GUARD, delta, moved, root, t, (mpfr_ptr)0);
    norm_mean(t, norm, e);
    for (size_t i = 0; i < count; i++) {
        if (count > 1 || norm->kind == NORMALIZATION_RMSNORM) { /* else it is its own mean */
            note_exponent(&terms.largest, e + i);
        }
        mpfr_sub(y + i, e + i, t, MPFR_RNDN);
    }
    squares(delta, moved, norm, c, y);
    mpfr_sqrt(root, s, MPFR_RNDN);
    mpfr_sqrt(moved, moved, MPFR_RNDN);
    mpfr_add(t, root, moved, MPFR_RNDN);
    mpfr_mul(root, root, t, MPFR_RNDN);
    mpfr_div(delta, delta, root, MPFR_RNDN);
    terms.scale = mpfr_regular_p(moved) ? 1 - mpfr_get_exp(moved) : 0;
    for (size_t i = 0; i < count; i++) {
        mpfr_mul(t, c + i, delta, MPFR_RNDN);
        note_exponent(&terms.largest, t);
        mpfr_sub(t, y + i, t, MPFR_RNDN);
        mpfr_div(t, t, moved, MPFR_RNDN);
        mpfr_mul_d(y + i, t, norm->gamma[i], MPFR_RNDN);
    }
    mpfr_clears(delta, moved, root, t, (mpfr_ptr)0);
    return terms;
}

/* Context of change_row. */
typedef struct {
    const Layout *layout;
    const LayerNorm *norm;
    const NormRecord *record;
    Difference *e;
    bool stream; /* x = norm(x): the stream's own change becomes the norm's */
} Change;

/* The largest exponent of a term that went into a row of e before its norm. */
static mpfr_exp_t largest_term(const Change *change, size_t row)
{
    const Difference *e = change->e;
    Columns columns = change->norm->columns;
    mpfr_exp_t most = mpfr_get_emin();
    for (size_t c = columns.first; c < columns.first + columns.count; c++) {
        mpfr_exp_t term = e->term[row * e->stream.columns + c];
        most = term > most ? term : most;
    }
    return most;
}

/* It goes into every entry of what the norm makes of the row. */
static void set_terms(const Change *change, size_t row, mpfr_exp_t most, mpfr_exp_t scale)
{
    const LayerNorm *norm = change->norm;
    mpfr_exp_t none = mpfr_get_emin();
    for (size_t c = 0; c < norm->columns.count; c++) {
        mpfr_exp_t *term =
            change->e->term + row * change->e->stream.columns + norm->columns.first + c;
        int gamma = 0;
        frexp(norm->gamma[c], &gamma);
        *term = most > none && norm->gamma[c] != 0 ? most + scale + gamma : none;
    }
}

static void change_row(Evaluator *ev, Worker *worker, const void *context, size_t row)
{
    const Change *change = context;
    const LayerNorm *norm = change->norm;
    Difference *e = change->e;
    ApMat *out = change->stream ? &e->stream : &e->normed;
    size_t first = norm->columns.first;
    (void)ev;
    for (size_t c = 0; !change->stream && c < out->columns; c++) {
        mpfr_set(ap_at(out, row, c), ap_at(&e->stream, row, c), MPFR_RNDN);
    }
    if (!norm_acts(change->layout, norm, row)) {
        return;
    }
    mpfr_exp_t before = largest_term(change, row);
    NormTerms terms =
        difference_norm_row(ap_at(out, row, first), norm, ap_at(&change->record->centred, row, 0),
                            ap_at(&change->record->square, row, 0), ap_at(&e->stream, row, first));
    worker_note_part(worker, terms.largest, terms.scale);
    worker_note_fall(worker, terms.largest, terms.scale);
    if (change->stream) {
        set_terms(change, row, before > terms.largest ? before : terms.largest, terms.scale);
    }
}

static void each_row(Evaluator *ev, const Change *change)
{
    const ApMat *stream = &change->e->stream;
    evaluator_each(ev, stream->rows, 16 * stream->rows * stream->columns, change_row, change);
}

void difference_read_normed(Evaluator *ev, const Layout *layout, const LayerNorm *norm,
                            const NormRecord *record, Difference *e)
{
    const Change change = {layout, norm, record, e, false};
    each_row(ev, &change);
    e->input = &e->normed;
}

void difference_normalise(Evaluator *ev, const Layout *layout, const LayerNorm *norm,
                          const NormRecord *record, Difference *e)
{
    const Change change = {layout, norm, record, e, true};
    each_row(ev, &change);
}
