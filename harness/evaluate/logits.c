/*
 * Logits and predictions of original and rewrite over all inputs.
 */
#include "logits.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { LOGIT_BITS = 192, LOGIT_BYTES = LOGIT_BITS / 8 };

/* What no class is. */
#define UNKNOWN SIZE_MAX

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
    return (double)inputs * ((double)classes * number + sizeof(size_t));
}

static bool values_init(mpfr_t **value, size_t count)
{
    *value = calloc(count + 1, sizeof **value);
    for (size_t i = 0; *value != NULL && i < count; i++) {
        mpfr_init2((*value)[i], LOGIT_BITS);
    }
    return *value != NULL;
}

static void values_clear(mpfr_t *value, size_t count)
{
    for (size_t i = 0; value != NULL && i < count; i++) {
        mpfr_clear(value[i]);
    }
    free(value);
}

bool logits_init(Logits *logits, size_t kept, const ModelFile *model)
{
    *logits = (Logits){.kept = kept,
                       .classes = model->classes,
                       .d = model->d,
                       .w_u = model->W_U,
                       .b_u = model->b_U,
                       .margin = INFINITY};
    pthread_mutex_init(&logits->lock, NULL);
    logits->predicted = calloc(kept + 1, sizeof *logits->predicted);
    for (size_t i = 0; logits->predicted != NULL && i < kept; i++) {
        logits->predicted[i] = UNKNOWN;
    }
    return values_init(&logits->value, kept * logits->classes) && logits->predicted != NULL;
}

void logits_clear(Logits *logits)
{
    values_clear(logits->value, logits->kept * logits->classes);
    free(logits->predicted);
    pthread_mutex_destroy(&logits->lock);
    *logits = (Logits){0};
}

/* The logits of r(T) of an input, and what they predict. */
static bool predict(mpfr_t *value, size_t *predicted, Logits *logits, const Shared *shared)
{
    mpfr_t lead;
    if (!ref_base_readout(value[0], shared->base, logits->w_u, logits->b_u, logits->classes)) {
        return false;
    }
    mpfr_init2(lead, LOGIT_BITS);
    *predicted = largest(value, logits->classes, lead);
    double least = mpfr_get_d(lead, MPFR_RNDD);
    pthread_mutex_lock(&logits->lock);
    logits->margin = fmin(logits->margin, least);
    pthread_mutex_unlock(&logits->lock);
    mpfr_clear(lead);
    return true;
}

/* The machine's logits of one input from its last row x [d], against r(T)'s. */
static LogitErrors compare_row(const Logits *logits, const double *x, mpfr_t *value,
                               size_t predicted)
{
    LogitErrors errors = {0};
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
        mpfr_d_sub(d, logit, value[k], MPFR_RNDN);
        double error = fabs(mpfr_get_d(d, MPFR_RNDA));
        errors.error = error > errors.error || isnan(error) ? error : errors.error;
        if (logit > top) {
            top = logit;
            best = k;
        }
    }
    errors.changed = best != predicted || !isfinite(top);
    mpfr_clear(d);
    return errors;
}

/* A sum and a maximum, in which NaN stays: in any order the same. */
static void take_errors(Logits *logits, LogitErrors own)
{
    pthread_mutex_lock(&logits->lock);
    LogitErrors *all = &logits->errors;
    all->changed += own.changed;
    all->error = own.error > all->error || isnan(own.error) ? own.error : all->error;
    pthread_mutex_unlock(&logits->lock);
}

bool logits_compare(Logits *logits, size_t i, const Shared *shared, const Point *point)
{
    bool kept = i < logits->kept;
    mpfr_t *own = NULL, *value = logits->value + i * logits->classes;
    size_t predicted = kept ? logits->predicted[i] : UNKNOWN;
    double *x = calloc(logits->d, sizeof *x);
    bool ok = x != NULL && (kept || values_init(&own, logits->classes));
    value = kept ? value : own;
    if (ok && predicted == UNKNOWN) {
        ok = predict(value, &predicted, logits, shared);
    }
    if (ok && kept) {
        logits->predicted[i] = predicted;
    }
    ok = ok && point_final_row(x, shared, point) == EVALUATE_OK;
    if (ok) {
        take_errors(logits, compare_row(logits, x, value, predicted));
    }
    values_clear(own, logits->classes);
    free(x);
    return ok;
}

static bool compare_member(void *context, size_t i, const Shared *shared, const Point *point)
{
    return logits_compare(context, i, shared, point);
}

bool logits_compare_all(LogitErrors *errors, Logits *logits, Ensemble *ensemble, double omega)
{
    logits->errors = (LogitErrors){0};
    bool ok = ensemble_each(ensemble, omega, compare_member, logits);
    *errors = logits->errors;
    return ok;
}
