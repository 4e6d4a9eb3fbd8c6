#include "logits.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum { LOGIT_BITS = 192 };

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

bool logits_make(Logits *logits, const Ensemble *ensemble, const ModelFile *model)
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
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        mpfr_init2(logits->value[i], LOGIT_BITS);
    }
#pragma omp parallel for schedule(dynamic) num_threads(ensemble->threads)
    for (size_t i = 0; i < ensemble->count; i++) {
        mpfr_t lead;
        ref_thread_setup();
        mpfr_init2(lead, LOGIT_BITS);
        mpfr_t *value = logits->value + i * logits->classes;
        reference_logits(value, logits, ensemble->shared[i]);
        logits->predicted[i] = largest(value, logits->classes, lead);
        logits->lead[i] = mpfr_get_d(lead, MPFR_RNDD);
        mpfr_clear(lead);
    }
    logits->margin = INFINITY;
    for (size_t i = 0; i < ensemble->count; i++) {
        logits->margin = fmin(logits->margin, logits->lead[i]);
    }
    return true;
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

bool logits_compare(LogitErrors *errors, Logits *logits, const Ensemble *ensemble, double omega)
{
    bool ok = true;
    *errors = (LogitErrors){0};
#pragma omp parallel for schedule(dynamic) num_threads(ensemble->threads) reduction(&& : ok)
    for (size_t i = 0; i < logits->inputs; i++) {
        Point point = *ensemble->points[i];
        double *x = calloc(logits->d, sizeof *x);
        ref_thread_setup();
        point.omega = omega;
        logits->own[i] = (LogitErrors){0};
        ok = ok && x != NULL && point_final_row(x, ensemble->shared[i], &point) == EVALUATE_OK;
        if (ok) {
            compare_row(&logits->own[i], logits, x, i);
        }
        free(x);
    }
    for (size_t i = 0; i < logits->inputs; i++) {
        double error = logits->own[i].error;
        errors->changed += logits->own[i].changed;
        errors->error = error > errors->error || isnan(error) ? error : errors->error;
    }
    return ok;
}
