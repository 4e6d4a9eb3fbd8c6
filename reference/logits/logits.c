/*
 * Logits of the reference: streams after the last layer, times the unembedding.
 */
#include "logits.h"

#include "../../memory/need.h"
#include "../difference/difference.h"
#include "../evaluator/layer_norm.h"
#include "../numbers/ap.h"
#include "../product/product.h"
#include "../run/run.h"
#include "../trajectory/base.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct RefLogits {
    ApMat number;
};

/* Bits beyond those of the streams, in which r(T') - r(T) is subtracted. */
enum { SUBTRACTED_MORE = 64 };

RefLogits *ref_logits_make(size_t rows, size_t classes)
{
    RefLogits *made = need_zeros(1, sizeof *made);
    ap_init(&made->number, rows, classes, REF_LOGIT_BITS);
    return made;
}

void ref_logits_clear(RefLogits *logits)
{
    if (logits != NULL) {
        ap_clear(&logits->number);
        free(logits);
    }
}

double ref_logits_bytes(double rows, double classes)
{
    return ap_bytes(rows, classes, REF_LOGIT_BITS) + (double)sizeof(RefLogits);
}

mpfr_srcptr ref_logits_row(const RefLogits *logits, size_t row)
{
    return ap_at(&logits->number, row, 0);
}

void ref_norm_row(mpfr_ptr y, mpfr_ptr change, const LayerNorm *norm, mpfr_srcptr x, mpfr_srcptr e)
{
    size_t count = norm->columns.count;
    ApMat c;
    mpfr_t s;
    ap_init(&c, 1, count, mpfr_get_prec(y) + NORM_GUARD);
    mpfr_init2(s, mpfr_get_prec(y) + NORM_GUARD);
    norm_centre(c.entry, s, norm, x);
    norm_apply(y, norm, c.entry, s, true);
    if (change != NULL) {
        difference_norm_row(change, norm, c.entry, s, e);
    }
    mpfr_clear(s);
    ap_clear(&c);
}

/* Token p's row of r(T) after the last layer. */
static mpfr_srcptr token_row(const RefBase *base, size_t p)
{
    return ap_at(&base->original[base->depth - 1], p, 0);
}

/* y [rows.count, d] = r(T) as the unembedding reads it: the tokens' rows after the last layer,
 * through the final norm. */
static void read_original(ApMat *y, const RefBase *base, RefRows rows, const LayerNorm *norm)
{
    for (size_t i = 0; i < rows.count; i++) {
        mpfr_srcptr x = token_row(base, rows.first + i);
        if (norm->kind != NORMALIZATION_NONE) {
            ref_norm_row(ap_at(y, i, 0), NULL, norm, x, NULL);
        }
        for (size_t c = 0; norm->kind == NORMALIZATION_NONE && c < y->columns; c++) {
            mpfr_set(ap_at(y, i, c), x + c, MPFR_RNDN);
        }
    }
}

/* e [d] = how a token's row differs from r(T) to r(T'): the difference that the run carries, where
 * T_infinity is T; else the two are subtracted. */
static void row_difference(mpfr_ptr e, size_t d, const RefLayer *at, size_t p)
{
    const RefRun *run = at->run;
    size_t first = at->pair->compared[at->base->depth - 1].first;
    size_t row = layout_token_row(&run->model->layout, p);
    for (size_t c = 0; c < d; c++) {
        if (run->e != NULL && at->pair->limit_is_original) {
            mpfr_set(e + c, ref_run_difference(run, row, first + c), MPFR_RNDN);
        } else {
            mpfr_sub(e + c, ref_run_entry(run, row, first + c), token_row(at->base, p) + c,
                     MPFR_RNDN);
        }
    }
}

/* y [rows.count, d] = the change of that from r(T) to r(T'). */
static void read_change(ApMat *y, const RefLayer *at, RefRows rows, const LayerNorm *norm)
{
    ApMat scratch;
    ap_init(&scratch, 2, y->columns, y->bits);
    for (size_t i = 0; i < rows.count; i++) {
        size_t p = rows.first + i;
        if (norm->kind == NORMALIZATION_NONE) {
            row_difference(ap_at(y, i, 0), y->columns, at, p);
        } else {
            row_difference(ap_at(&scratch, 1, 0), y->columns, at, p);
            ref_norm_row(ap_at(&scratch, 0, 0), ap_at(y, i, 0), norm, token_row(at->base, p),
                         ap_at(&scratch, 1, 0));
        }
    }
    ap_clear(&scratch);
}

/* Classes whose columns of W are packed at once. */
enum { CLASSES_AT_ONCE = 4096 };

/* The first rows of logits = y W. */
static void unembed_rows(RefLogits *logits, const ApMat *y, const RefBase *base,
                         const RefUnembedding *unembedding)
{
    const size_t d = unembedding->d, classes = unembedding->classes;
    const bool by_class = unembedding->by_class;
    ProductOptions options = {.guard = EVALUATOR_GUARD,
                              .weights = base->weights != NULL ? base->weights->packed : NULL};
    for (size_t first = 0, count; first < classes; first += count) {
        count = classes - first < CLASSES_AT_ONCE ? classes - first : CLASSES_AT_ONCE;
        const double *w = ref_unembedding_at(unembedding, 0, first);
        product_mul(product_block(&logits->number, 0, first, y->rows, count), product_view(y),
                    by_class ? product_transposed(product_doubles(w, count, d, d))
                             : product_doubles(w, d, count, classes),
                    &options, NULL);
    }
}

void ref_logits_original(RefLogits *logits, const RefBase *base, RefRows rows,
                         const RefUnembedding *unembedding)
{
    ApMat y;
    ap_init(&y, rows.count, unembedding->d, base->bits);
    read_original(&y, base, rows, &unembedding->norm);
    unembed_rows(logits, &y, base, unembedding);
    for (size_t i = 0; unembedding->b_u != NULL && i < rows.count; i++) {
        for (size_t k = 0; k < unembedding->classes; k++) {
            mpfr_ptr logit = ap_at(&logits->number, i, k);
            mpfr_add_d(logit, logit, unembedding->b_u[k], MPFR_RNDN);
        }
    }
    ap_clear(&y);
}

/* Bits that the change is read in. */
static mpfr_prec_t change_bits(const RefLayer *at)
{
    mpfr_prec_t run = at->run->ev.bits, base = at->base->bits;
    return (run > base ? run : base) + SUBTRACTED_MORE;
}

void ref_logits_change(RefLogits *change, const RefLayer *at, RefRows rows,
                       const RefUnembedding *unembedding)
{
    ApMat y;
    ap_init(&y, rows.count, unembedding->d, change_bits(at));
    read_change(&y, at, rows, &unembedding->norm);
    unembed_rows(change, &y, at->base, unembedding);
    ap_clear(&y);
}

void ref_logits_subtract(RefLogits *change, size_t row, const double *machine, mpfr_srcptr original)
{
    for (size_t k = 0; k < change->number.columns; k++) {
        mpfr_d_sub(ap_at(&change->number, row, k), machine[k], original + k, MPFR_RNDN);
    }
}

size_t ref_logits_top(double *margin, mpfr_srcptr logits, size_t classes)
{
    size_t top = 0;
    mpfr_t lead;
    mpfr_init2(lead, REF_LOGIT_BITS);
    for (size_t k = 1; k < classes; k++) {
        top = mpfr_greater_p(logits + k, logits + top) ? k : top;
    }
    *margin = INFINITY;
    for (size_t k = 0; k < classes; k++) {
        if (k != top) {
            mpfr_sub(lead, logits + top, logits + k, MPFR_RNDD);
            *margin = fmin(*margin, mpfr_zero_p(lead) ? 0 : mpfr_get_d(lead, MPFR_RNDD));
        }
    }
    mpfr_clear(lead);
    return top;
}

/* The 2-norm of count entries, each off by at most off, from above. */
static void off_of_row(mpfr_ptr size, mpfr_srcptr off, size_t count)
{
    mpfr_sqrt_ui(size, count, MPFR_RNDU);
    mpfr_mul(size, size, off, MPFR_RNDU);
}

void ref_logits_off(mpfr_ptr off, const RefLogitsToken *token)
{
    const RefUnembedding *unembedding = token->unembedding;
    mpfr_t size;
    mpfr_init2(size, REF_CELL_BITS);
    mpfr_set(off, token->x_off, MPFR_RNDU);
    if (unembedding->norm.kind != NORMALIZATION_NONE) {
        off_of_row(size, token->x_off, unembedding->d);
        ref_norm_row_radius(off, &unembedding->norm, token_row(token->base, token->p), size,
                            token->base->bits);
    }
    mpfr_mul_d(off, off, token->gain, MPFR_RNDU);
    mpfr_clear(size);
}

void ref_logits_change_off(mpfr_ptr off, const RefLogitsToken *token, const RefLayer *at,
                           mpfr_srcptr e_off)
{
    const RefUnembedding *unembedding = token->unembedding;
    mpfr_set(off, e_off, MPFR_RNDU);
    if (unembedding->norm.kind != NORMALIZATION_NONE) {
        ApMat e;
        mpfr_t x_size, e_size;
        ap_init(&e, 1, unembedding->d, change_bits(at));
        mpfr_inits2(REF_CELL_BITS, x_size, e_size, (mpfr_ptr)0);
        row_difference(ap_at(&e, 0, 0), unembedding->d, at, token->p);
        off_of_row(x_size, token->x_off, unembedding->d);
        off_of_row(e_size, e_off, unembedding->d);
        const RefNormInput input = {token_row(token->base, token->p), x_size, ap_at(&e, 0, 0),
                                    e_size};
        ref_norm_change_radius(off, &unembedding->norm, &input, at->base->bits);
        mpfr_clears(x_size, e_size, (mpfr_ptr)0);
        ap_clear(&e);
    }
    mpfr_mul_d(off, off, token->gain, MPFR_RNDU);
}

/* Columns side by side. */
double ref_logits_gain(const RefUnembedding *unembedding)
{
    enum { BESIDE = 64 };
    const size_t classes = unembedding->classes;
    double most = 0, rounded = 1 + 2 * (double)unembedding->d * DBL_EPSILON;
    for (size_t first = 0; first < classes; first += BESIDE) {
        double sum[BESIDE] = {0};
        size_t count = classes - first < BESIDE ? classes - first : BESIDE;
        for (size_t c = 0; c < unembedding->d; c++) {
            for (size_t k = 0; k < count; k++) {
                sum[k] += fabs(*ref_unembedding_at(unembedding, c, first + k));
            }
        }
        for (size_t k = 0; k < count; k++) {
            most = fmax(most, sum[k]);
        }
    }
    return most * rounded;
}
