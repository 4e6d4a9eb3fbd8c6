/*
 * Logits and predictions of original and rewrite over all inputs.
 */
#include "logits.h"

#include <math.h>
#include <stdlib.h>

enum { LOGIT_BITS = 192, LOGIT_BYTES = LOGIT_BITS / 8 };

/* value[k] = sum_c r(T)[last token, c] W_U[c, k] + b_U[k] */
static void reference_logits(mpfr_t *value, const Logits *logits, const Shared *shared)
{
    mpfr_t t;
    mpfr_init2(t, LOGIT_BITS);
    for (size_t k = 0; k < logits->classes; k++) {
        mpfr_set_d(value[k], logits->b_u != NULL ? logits->b_u[k] : 0, MPFR_RNDN);
        for (size_t c = 0; c < logits->d; c++) {
            mpfr_mul_d(t, shared_final_original(shared, c), logits->w_u[c * logits->classes + k],
                       MPFR_RNDN);
            mpfr_add(value[k], value[k], t, MPFR_RNDN);
        }
    }
    mpfr_clear(t);
}

/* Index of the largest of value [count], the first of equals; lead (or NULL): over the second. */
static size_t largest(mpfr_t *value, size_t count, mpfr_ptr lead)
{
    size_t best = 0;
    for (size_t k = 1; k < count; k++) {
        best = mpfr_greater_p(value[k], value[best]) ? k : best;
    }
    mpfr_set_inf(lead, 1);
    for (size_t k = 0; k < count; k++) {
        if (k != best) {
            mpfr_t d;
            mpfr_init2(d, LOGIT_BITS);
            mpfr_sub(d, value[best], value[k], MPFR_RNDN);
            mpfr_min(lead, lead, d, MPFR_RNDN);
            mpfr_clear(d);
        }
    }
    return best;
}

double logits_bytes(size_t inputs, size_t classes)
{
    double number = sizeof(mpfr_t) + LOGIT_BYTES + 2 * sizeof(size_t); /* and malloc's own */
    return (double)inputs * ((double)classes * number + sizeof(LogitErrors) + 2 * sizeof(double));
}

void logits_clear(Logits *logits)
{
    for (size_t i = 0; logits->value != NULL && i < logits->inputs * logits->classes; i++) {
        mpfr_clear(logits->value[i]);
    }
    free(logits->value);
    free(logits->predicted);
    free(logits->lead);
    free(logits->own);
    *logits = (Logits){0};
}

/* What r(T) predicts of input i, and by how much. */
static bool predict_input(void *context, size_t i, const Shared *shared, const Point *point)
{
    Logits *logits = context;
    mpfr_t lead, *value = logits->value + i * logits->classes;
    (void)point;
    mpfr_init2(lead, LOGIT_BITS);
    reference_logits(value, logits, shared);
    logits->predicted[i] = largest(value, logits->classes, lead);
    logits->lead[i] = mpfr_get_d(lead, MPFR_RNDD);
    mpfr_clear(lead);
    return true;
}

bool logits_make(Logits *logits, Ensemble *ensemble, const ModelFile *model)
{
    size_t count = ensemble->count * model->classes;
    *logits = (Logits){.inputs = ensemble->count,
                       .classes = model->classes,
                       .d = model->d,
                       .w_u = model->W_U,
                       .b_u = model->b_U};
    logits->predicted = calloc(ensemble->count, sizeof *logits->predicted);
    logits->lead = calloc(ensemble->count, sizeof *logits->lead);
    logits->own = calloc(ensemble->count, sizeof *logits->own);
    logits->value = calloc(count, sizeof *logits->value);
    if (logits->predicted == NULL || logits->lead == NULL || logits->own == NULL ||
        logits->value == NULL) {
        free(logits->value);
        logits->value = NULL;
        logits_clear(logits);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        mpfr_init2(logits->value[i], LOGIT_BITS);
    }
    if (!ensemble_each(ensemble, 0, predict_input, logits)) {
        logits_clear(logits);
        return false;
    }
    logits->margin = INFINITY;
    for (size_t i = 0; i < ensemble->count; i++) {
        double lead = logits->lead[i];
        logits->margin = fmin(logits->margin, lead);
    }
    return true;
}

/* The machine's logits of one input from its last row x [d], against r(T)'s. */
static void compare_row(LogitErrors *errors, const Logits *logits, const double *x, size_t input)
{
    mpfr_t d;
    size_t best = 0;
    double top = -INFINITY;
    mpfr_init2(d, LOGIT_BITS);
    for (size_t k = 0; k < logits->classes; k++) {
        double logit = 0;
        for (size_t c = 0; c < logits->d; c++) {
            logit += x[c] * logits->w_u[c * logits->classes + k];
        }
        logit += logits->b_u != NULL ? logits->b_u[k] : 0;
        mpfr_d_sub(d, logit, logits->value[input * logits->classes + k], MPFR_RNDN);
        double error = fabs(mpfr_get_d(d, MPFR_RNDA));
        errors->error = error > errors->error || isnan(error) ? error : errors->error;
        if (logit > top) {
            top = logit;
            best = k;
        }
    }
    errors->changed += best != logits->predicted[input] || !isfinite(top);
    mpfr_clear(d);
}

static bool compare_input(void *context, size_t i, const Shared *shared, const Point *point)
{
    Logits *logits = context;
    double *x = calloc(logits->d, sizeof *x);
    bool ok = x != NULL && point_final_row(x, shared, point) == EVALUATE_OK;
    logits->own[i] = (LogitErrors){0};
    if (ok) {
        compare_row(&logits->own[i], logits, x, i);
    }
    free(x);
    return ok;
}

bool logits_compare(LogitErrors *errors, Logits *logits, Ensemble *ensemble, double omega)
{
    *errors = (LogitErrors){0};
    if (!ensemble_each(ensemble, omega, compare_input, logits)) {
        return false;
    }
    for (size_t i = 0; i < logits->inputs; i++) {
        double error = logits->own[i].error;
        errors->changed += logits->own[i].changed;
        errors->error = error > errors->error || isnan(error) ? error : errors->error;
    }
    return true;
}
