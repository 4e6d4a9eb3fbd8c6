#include "ensemble.h"

#include "shared.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* Where the master curve is sampled for a first guess. */
#define SAMPLE_OMEGA 12.0

bool ensemble_init(Ensemble *ensemble, size_t capacity, int threads)
{
    *ensemble = (Ensemble){.threads = threads};
    ensemble->points = calloc(capacity, sizeof *ensemble->points);
    ensemble->shared = calloc(capacity, sizeof *ensemble->shared);
    ensemble->errors = calloc(capacity, sizeof *ensemble->errors);
    return ensemble->points != NULL && ensemble->shared != NULL && ensemble->errors != NULL;
}

void ensemble_add(Ensemble *ensemble, const Point *point)
{
    mpfr_init2(ensemble->errors[ensemble->count], REF_CELL_BITS);
    ensemble->shared[ensemble->count] = NULL;
    ensemble->points[ensemble->count++] = point;
}

void ensemble_release(Ensemble *ensemble)
{
    for (size_t i = 0; i < ensemble->count; i++) {
        shared_clear(ensemble->shared[i]);
        mpfr_clear(ensemble->errors[i]);
    }
    ensemble->count = 0;
}

void ensemble_clear(Ensemble *ensemble)
{
    if (ensemble->errors != NULL) {
        ensemble_release(ensemble);
    }
    free(ensemble->points);
    free(ensemble->shared);
    free(ensemble->errors);
}

/* e^80 tolerances below an error constant of one. */
double omega_ahead(double tolerance)
{
    double omega = 40 - log(tolerance) / 2;
    return omega > SAMPLE_OMEGA ? omega : SAMPLE_OMEGA;
}

bool ensemble_open(Ensemble *ensemble, double omega)
{
    bool ok = true;
#pragma omp parallel for schedule(dynamic) num_threads(ensemble->threads) reduction(&& : ok)
    for (size_t i = 0; i < ensemble->count; i++) {
        Point point = *ensemble->points[i];
        const Point *list = &point;
        ref_thread_setup();
        point.omega = omega;
        ok = shared_make(&ensemble->shared[i], &list, 1) == EVALUATE_OK && ok;
    }
    return ok;
}

bool ensemble_worst(Ensemble *ensemble, mpfr_ptr worst, double omega, ErrorKind kind, Norm norm)
{
    bool ok = true;
#pragma omp parallel for schedule(dynamic) num_threads(ensemble->threads) reduction(&& : ok)
    for (size_t i = 0; i < ensemble->count; i++) {
        Point point = *ensemble->points[i];
        ref_thread_setup();
        point.omega = omega;
        point.judge = kind;
        point.norm = norm;
        ok = point_worst_error(ensemble->errors[i], ensemble->shared[i], &point) == EVALUATE_OK &&
             ok;
    }
    mpfr_set_zero(worst, 1);
    for (size_t i = 0; i < ensemble->count; i++) {
        if (mpfr_nan_p(ensemble->errors[i])) {
            mpfr_set_nan(worst);
            break;
        }
        mpfr_max(worst, worst, ensemble->errors[i], MPFR_RNDN);
    }
    return ok;
}

static bool judged_error(void *context, mpfr_ptr error, double omega)
{
    Ensemble *ensemble = context;
    return ensemble_worst(ensemble, error, omega, ensemble->points[0]->judge,
                          ensemble->points[0]->norm);
}

/* Where the master curve through a sample of the construction error meets the tolerance. */
static bool first_guess(Ensemble *ensemble, double *guess)
{
    const Point *point = ensemble->points[0];
    mpfr_t error;
    long exponent;
    mpfr_init2(error, REF_CELL_BITS);
    bool ok = ensemble_worst(ensemble, error, SAMPLE_OMEGA, ERROR_CONSTRUCTION, point->norm);
    *guess = 1;
    if (ok && mpfr_regular_p(error)) {
        double mantissa = mpfr_get_d_2exp(&exponent, error, MPFR_RNDN);
        double log_error = log(mantissa) + (double)exponent * log(2);
        double omega = SAMPLE_OMEGA + (log_error - log(point->tolerance)) / 2;
        *guess = omega > 0.25 ? omega : 0.25;
    }
    mpfr_clear(error);
    return ok;
}

void found_init(Found *found)
{
    *found = (Found){0};
    omega_search_init(&found->search);
    mpfr_init2(found->floor.value, REF_CELL_BITS);
}

void found_clear(Found *found)
{
    omega_search_clear(&found->search);
    mpfr_clear(found->floor.value);
}

bool judge_needs_arithmetic(ErrorKind judge)
{
    return judge != ERROR_CONSTRUCTION && judge != ERROR_APPROXIMATION;
}

static void largest_score(Found *found, const Ensemble *ensemble)
{
    found->has_scores = false;
    found->seed_scores = 0;
    for (size_t i = 0; i < ensemble->count; i++) {
        mpfr_srcptr score = ref_base_score_max(ensemble->shared[i]->base);
        if (score != NULL) {
            found->has_scores = true;
            found->seed_scores = fmax(found->seed_scores, mpfr_get_d(score, MPFR_RNDN));
        }
    }
}

bool ensemble_search(Ensemble *ensemble, Found *found)
{
    const Point *point = ensemble->points[0];
    double guess;
    found->seed_rule = log((double)point->spec.n / point->tolerance);
    found->floor.state = CELL_ABSENT;
    largest_score(found, ensemble);
    if (!first_guess(ensemble, &guess)) {
        return false;
    }
    if (point->arithmetic != ARITHMETIC_NONE) {
        found->floor.state = CELL_VALUE;
        if (!ensemble_worst(ensemble, found->floor.value, SAMPLE_OMEGA, ERROR_NATIVE,
                            point->norm)) {
            return false;
        }
    }
    return omega_search(&found->search, judged_error, ensemble, point->tolerance, guess,
                        judge_needs_arithmetic(point->judge));
}
