/*
 * Points searched together: what evaluations at several Omegas share, and the worst error over
 * all points.
 */
#include "ensemble.h"

#include "../../memory/need.h"
#include "shared.h"
#include "threads.h"

#include <math.h>
#include <stdlib.h>

/* Where the master curve is sampled for a first guess. */
#define SAMPLE_OMEGA 12.0

/* Relative width to which the ends of the interval are known, and digits of every Omega. */
#define TOLERANCE_BRACKET 1e-6
enum { TOLERANCE_DIGITS = 8 };

/* Evaluations wanted inside the interval.  A machine's error is jagged and needs many, by steps
 * more; the error of a reference alone is smooth, and dear to evaluate. */
enum { INSIDE_STEPS = 128, INSIDE_MACHINE = 96, INSIDE_REFERENCE = 24 };

/* Digits of a format whose numbers are so few that the steps of the error are looked at. */
enum { STEP_DIGITS = 16 };

void ensemble_init(Ensemble *ensemble, size_t capacity, int threads)
{
    *ensemble = (Ensemble){.threads = threads};
    ensemble->points = need_zeros(capacity, sizeof *ensemble->points);
    ensemble->shared = need_zeros(capacity, sizeof *ensemble->shared);
    ensemble->errors = need_zeros(capacity, sizeof *ensemble->errors);
}

void ensemble_add(Ensemble *ensemble, const Point *point)
{
    ref_cell_init(&ensemble->errors[ensemble->count], REF_DIGITS);
    ensemble->shared[ensemble->count] = NULL;
    ensemble->points[ensemble->count++] = point;
}

void ensemble_close(Ensemble *ensemble)
{
    for (size_t i = 0; i < ensemble->count; i++) {
        shared_clear(ensemble->shared[i]);
        ensemble->shared[i] = NULL;
    }
    ensemble->kept = 0;
}

void ensemble_clear(Ensemble *ensemble)
{
    ensemble_close(ensemble);
    for (size_t i = 0; i < ensemble->count; i++) {
        ref_cell_clear(&ensemble->errors[i]);
    }
    free(ensemble->points);
    free(ensemble->shared);
    free(ensemble->errors);
}

/* Where e^(-2 Omega) is the tolerance times e^(-80): a construction error of C e^(-2 Omega) is then
 * within the tolerance for every C up to e^80. */
double omega_ahead(double tolerance)
{
    double omega = 40 - log(tolerance) / 2;
    return omega > SAMPLE_OMEGA ? omega : SAMPLE_OMEGA;
}

/* What evaluations of member i share; of a search for tau, at one tau alone. */
static bool make_member(Shared **shared, const Ensemble *ensemble, size_t i, double tau)
{
    Point point = *ensemble->points[i];
    const Point *list = &point;
    *(point.over_tau ? &point.spec.tau : &point.omega) =
        point.over_tau ? tau : ensemble->bits_omega;
    *shared = ensemble->family != NULL
                  ? shared_make_member(ensemble->family, &point, ensemble->tape_room)
                  : shared_make(&list, 1, ensemble->tape_room);
    return *shared != NULL;
}

static void note_done(Ensemble *ensemble)
{
    if (ensemble->progress != NULL) {
        pthread_mutex_lock(ensemble->progress_lock);
        progress_add(ensemble->progress, 1, ensemble->unit_cost);
        pthread_mutex_unlock(ensemble->progress_lock);
    }
}

bool ensemble_size(Ensemble *ensemble, double omega, double room)
{
    ensemble->bits_omega = omega;
    ensemble->kept = 0;
    double each = room / (double)(ensemble->count + (size_t)ensemble->threads);
    ensemble->tape_room = ensemble->tapeless ? 0 : each;
    if (ensemble->points[0]->over_tau) {
        ensemble->tape_room = 0; /* no two evaluations share anything */
        return true;
    }
    if (!make_member(&ensemble->shared[0], ensemble, 0, 0)) {
        return false;
    }
    double members = room / (shared_bytes(ensemble->shared[0]) + ensemble->member_bytes);
    if (members >= (double)ensemble->count) {
        ensemble->kept = ensemble->count;
    } else if (members > ensemble->threads) {
        ensemble->kept = (size_t)members - (size_t)ensemble->threads;
    }
    if (ensemble->kept == 0) {
        shared_clear(ensemble->shared[0]);
        ensemble->shared[0] = NULL;
    }
    return true;
}

/* The question to every member at one Omega. */
typedef struct {
    Ensemble *ensemble;
    double omega;
    MemberWork *work; /* NULL: only what the member's evaluations share is made, and kept */
    void *context;
    Layers *layers; /* where there are fewer slots than members at once; or NULL */
} Question;

static bool answer(const Question *question, size_t i)
{
    Ensemble *ensemble = question->ensemble;
    Point point = *ensemble->points[i];
    Shared *own = NULL;
    if (question->work == NULL) {
        return ensemble->shared[i] != NULL || make_member(&ensemble->shared[i], ensemble, i, 0);
    }
    if (ensemble->done != NULL && ensemble->done[i]) {
        return true;
    }
    *(point.over_tau ? &point.spec.tau : &point.omega) = question->omega;
    bool ok = (i < ensemble->kept || make_member(&own, ensemble, i, question->omega)) &&
              question->work(question->context, i, i < ensemble->kept ? ensemble->shared[i] : own,
                             &point);
    shared_clear(own);
    return ok;
}

static bool ask_member(void *context, size_t i)
{
    const Question *question = context;
    bool ok = answer(question, i);
    note_done(question->ensemble);
    if (question->layers != NULL) {
        layers_release(question->layers);
    }
    return ok;
}

/* Asks each of the first members. */
static bool each_member(size_t members, Question question)
{
    const Ensemble *ensemble = question.ensemble;
    Layers *layers = ensemble->family != NULL ? ensemble->family->layers : NULL;
    int most = layers != NULL && ensemble->together > ensemble->threads ? ensemble->together
                                                                        : ensemble->threads;
    int outer = threads_over(members, most);
    if (outer <= ensemble->threads) {
        return threads_each(members, outer, ensemble->threads / outer, ask_member, &question);
    }
    question.layers = layers;
    layers_slots(layers, (size_t)ensemble->threads);
    bool ok = threads_each(members, outer, 1, ask_member, &question);
    layers_slots(layers, 0);
    return ok;
}

bool ensemble_open(Ensemble *ensemble)
{
    return each_member(ensemble->kept, (Question){.ensemble = ensemble});
}

bool ensemble_each(Ensemble *ensemble, double omega, MemberWork *work, void *context)
{
    return each_member(ensemble->count, (Question){ensemble, omega, work, context, NULL});
}

static bool member_error(void *context, size_t i, const Shared *shared, const Point *point)
{
    const Ensemble *ensemble = context;
    Point judged = *point;
    judged.judge = ensemble->kind;
    judged.norm = ensemble->norm;
    return point_worst_cell(&ensemble->errors[i], shared, &judged);
}

bool ensemble_worst(Ensemble *ensemble, RefCell *worst, double omega, ErrorKind kind, Norm norm)
{
    mpfr_exp_t off = mpfr_get_emin_min();
    ensemble->kind = kind;
    ensemble->norm = norm;
    if (!ensemble_each(ensemble, omega, member_error, ensemble)) {
        return false;
    }
    worst->state = CELL_ZERO;
    mpfr_set_zero(worst->value, 1);
    for (size_t i = 0; i < ensemble->count; i++) {
        const RefCell *error = &ensemble->errors[i];
        off = error->error > off ? error->error : off;
        if (cell_is_worse(error, worst)) {
            worst->state = error->state;
            mpfr_set(worst->value, error->value, MPFR_RNDN);
        }
    }
    worst->state = mpfr_zero_p(worst->value) ? CELL_ZERO : worst->state;
    worst->error = off;
    return true;
}

/* What is judged, or where native the original's own error. */
static bool judged_error(Ensemble *ensemble, RefCell *error, double omega, bool native)
{
    const Point *point = ensemble->points[0];
    return ensemble->judged != NULL
               ? ensemble->judged(ensemble, error, omega, native)
               : ensemble_worst(ensemble, error, omega, native ? ERROR_NATIVE : point->judge,
                                point->norm);
}

bool ensemble_judged_error(void *context, RefCell *error, double omega)
{
    return judged_error(context, error, omega, false);
}

/* Where the master curve through a sample of the construction error meets the tolerance. */
static bool first_guess(Ensemble *ensemble, double *guess)
{
    const Point *point = ensemble->points[0];
    RefCell error;
    ref_cell_init(&error, REF_DIGITS);
    bool ok = ensemble_worst(ensemble, &error, SAMPLE_OMEGA, ERROR_CONSTRUCTION, point->norm);
    *guess = 1;
    if (ok && mpfr_regular_p(error.value)) {
        *guess = fmax(omega_meets(SAMPLE_OMEGA, &error, point->tolerance), 0.25);
    }
    ref_cell_clear(&error);
    return ok;
}

void found_init(Found *found)
{
    *found = (Found){0};
    ref_cell_init(&found->floor, REF_DIGITS);
}

void found_clear(Found *found)
{
    omega_search_clear(&found->search);
    ref_cell_clear(&found->floor);
}

bool judge_needs_arithmetic(ErrorKind judge)
{
    return judge != ERROR_CONSTRUCTION && judge != ERROR_APPROXIMATION;
}

double ensemble_search_evaluations(const Point *point)
{
    return point->over_tau ? 30 : judge_needs_arithmetic(point->judge) ? 120 : 50;
}

/* The member's largest |content score|, or NaN where there are none. */
static bool member_score(void *context, size_t i, const Shared *shared, const Point *point)
{
    Ensemble *ensemble = context;
    mpfr_srcptr score = ref_base_score_max(shared->base);
    (void)point;
    if (score != NULL) {
        mpfr_set(ensemble->errors[i].value, score, MPFR_RNDN);
    } else {
        mpfr_set_nan(ensemble->errors[i].value);
    }
    return true;
}

static bool largest_score(Found *found, Ensemble *ensemble)
{
    if (!ensemble_each(ensemble, SAMPLE_OMEGA, member_score, ensemble)) {
        return false;
    }
    for (size_t i = 0; i < ensemble->count; i++) {
        double score = mpfr_get_d(ensemble->errors[i].value, MPFR_RNDN);
        found->has_scores = found->has_scores || !isnan(score);
        found->seed_scores = fmax(found->seed_scores, score);
    }
    return true;
}

void ensemble_range(OmegaOptions *options, const Ensemble *ensemble)
{
    Point one = *ensemble->points[0];
    one.omega = 1;
    double factor = point_omega(&one);
    const FormatInfo *operand =
        options->rises ? format_info(arithmetic_info(one.arithmetic)->formats.operand) : NULL;
    options->format = operand != NULL && operand->digits <= STEP_DIGITS ? operand : NULL;
    options->factor = factor;
    if (one.over_tau) { /* whose inverse, and multiples, are scales */
        options->powers = options->rises = true;
        options->curve = false;
        options->format = NULL;
        options->least = TAU_LEAST;
        options->most = TAU_MOST;
        return;
    }
    options->least = factor < 1 ? fmin(OMEGA_LEAST / factor, OMEGA_MOST) : OMEGA_LEAST;
    options->most = factor > 1 ? OMEGA_MOST / factor : OMEGA_MOST;
}

bool ensemble_search(Ensemble *ensemble, Found *found)
{
    const Point *point = ensemble->points[0];
    bool machine = judge_needs_arithmetic(point->judge);
    OmegaOptions options = {.tolerance = point->tolerance,
                            .digits = TOLERANCE_DIGITS,
                            .bracket = TOLERANCE_BRACKET,
                            .inside = machine ? INSIDE_MACHINE : INSIDE_REFERENCE,
                            .evaluations = OMEGA_EVALUATIONS,
                            .rises = machine,
                            .curve = ensemble->judged == NULL};
    ensemble_range(&options, ensemble);
    options.inside = options.format != NULL ? INSIDE_STEPS : options.inside;
    found->seed_rule = log((double)point->spec.n / point->tolerance);
    if (point->over_tau) {
        options.guess = point->spec.tau; /* the default */
    } else if (!largest_score(found, ensemble) || !first_guess(ensemble, &options.guess)) {
        return false;
    }
    options.evaluations -= !point->over_tau;
    if (point->arithmetic != ARITHMETIC_NONE) {
        double at = point->over_tau ? point->spec.tau : SAMPLE_OMEGA;
        if (!judged_error(ensemble, &found->floor, at, true)) {
            return false;
        }
        options.evaluations--;
    }
    bool ok = omega_search(&found->search, ensemble_judged_error, ensemble, &options);
    found->evaluations = found->search.evaluations + OMEGA_EVALUATIONS - options.evaluations;
    return ok;
}
