/*
 * Logits of the reference: streams after the last layer, times the unembedding.
 */
#include "logits.h"

#include "ap.h"
#include "base.h"
#include "product/product.h"
#include "run.h"

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
    RefLogits *made = calloc(1, sizeof *made);
    if (made != NULL && !ap_init(&made->number, rows, classes, REF_LOGIT_BITS)) {
        ref_logits_clear(made);
        made = NULL;
    }
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

/* What the unembedding reads of r(T): y [rows.count, d] = the tokens' rows after the last layer.  A
 * final norm would be here, and its difference in read_change. */
static void read_original(ApMat *y, const RefBase *base, RefRows rows)
{
    const ApMat *last = &base->original[base->depth - 1];
    for (size_t i = 0; i < rows.count; i++) {
        for (size_t c = 0; c < y->columns; c++) {
            mpfr_set(ap_at(y, i, c), ap_at(last, rows.first + i, c), MPFR_RNDN);
        }
    }
}

/* And what changes of it to r(T'), y [rows.count, d]: the difference that the run carries, where
 * T_infinity is T; else the two are subtracted. */
static void read_change(ApMat *y, const Pair *pair, const RefBase *base, const RefRun *run,
                        RefRows rows)
{
    const ApMat *last = &base->original[base->depth - 1];
    size_t first = pair->compared[base->depth - 1].first;
    for (size_t i = 0; i < rows.count; i++) {
        size_t row = layout_token_row(&run->model->layout, rows.first + i);
        for (size_t c = 0; c < y->columns; c++) {
            if (run->e != NULL && pair->limit_is_original) {
                mpfr_set(ap_at(y, i, c), ref_run_difference(run, row, first + c), MPFR_RNDN);
            } else {
                mpfr_sub(ap_at(y, i, c), ref_run_entry(run, row, first + c),
                         ap_at(last, rows.first + i, c), MPFR_RNDN);
            }
        }
    }
}

/* The first rows of logits = y W. */
static bool unembed_rows(RefLogits *logits, const ApMat *y, const RefBase *base,
                         const RefUnembed *unembed)
{
    ProductOptions options = {.guard = EVALUATOR_GUARD, .weights = base->weights};
    return product_mul(product_block(&logits->number, 0, 0, y->rows, unembed->classes),
                       product_view(y),
                       product_doubles(unembed->w, unembed->d, unembed->classes, unembed->classes),
                       &options, NULL);
}

bool ref_logits_original(RefLogits *logits, const RefBase *base, RefRows rows,
                         const RefUnembed *unembed)
{
    ApMat y = {0};
    if (!ap_init(&y, rows.count, unembed->d, base->bits)) {
        return false;
    }
    read_original(&y, base, rows);
    bool ok = unembed_rows(logits, &y, base, unembed);
    for (size_t i = 0; ok && unembed->b != NULL && i < rows.count; i++) {
        for (size_t k = 0; k < unembed->classes; k++) {
            mpfr_ptr logit = ap_at(&logits->number, i, k);
            mpfr_add_d(logit, logit, unembed->b[k], MPFR_RNDN);
        }
    }
    ap_clear(&y);
    return ok;
}

bool ref_logits_change(RefLogits *change, const Pair *pair, const RefBase *base, const RefRun *run,
                       RefRows rows, const RefUnembed *unembed)
{
    mpfr_prec_t bits = run->ev.bits > base->bits ? run->ev.bits : base->bits;
    ApMat y = {0};
    if (!ap_init(&y, rows.count, unembed->d, bits + SUBTRACTED_MORE)) {
        return false;
    }
    read_change(&y, pair, base, run, rows);
    bool ok = unembed_rows(change, &y, base, unembed);
    ap_clear(&y);
    return ok;
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
            *margin = fmin(*margin, mpfr_get_d(lead, MPFR_RNDD));
        }
    }
    mpfr_clear(lead);
    return top;
}

double ref_logits_gain(const RefUnembed *unembed)
{
    double most = 0, rounded = 1 + 2 * (double)unembed->d * DBL_EPSILON;
    double *sum = calloc(unembed->classes, sizeof *sum);
    for (size_t c = 0; c < unembed->d; c++) {
        for (size_t k = 0; sum != NULL && k < unembed->classes; k++) {
            sum[k] += fabs(unembed->w[c * unembed->classes + k]);
        }
    }
    for (size_t k = 0; sum != NULL && k < unembed->classes; k++) {
        most = fmax(most, sum[k]);
    }
    bool known = sum != NULL;
    free(sum);
    return known ? most * rounded : INFINITY;
}
