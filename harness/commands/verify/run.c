/*
 * The evaluations of `verify`: all inputs at one Omega, and searches over Omega; how long it takes.
 */
#include "verify.h"

#include "../../../memory/need.h"
#include "../../base/decimal.h"
#include "../../base/message.h"
#include "../../base/ticker.h"
#include "../../evaluate/worst.h"

#include <math.h>
#include <stdlib.h>

/* A prediction that keeps counts as an error below this, one that changes as a larger one. */
#define KEPT 0.5

bool verify_has_logits(const ModelFile *model)
{
    bool linear = model->kind == MODEL_FILE_LINEAR;
    return model->W_U != NULL && !(linear && (model->banked || model->other != model->d));
}

/* Everything that does not depend on Omega but the reference. */
void verify_prepare(Verify *verify, int threads)
{
    size_t count = verify->inputs.count, depth = verify->model->depth;
    size_t stream = verify->inputs.n * verify->model->d;
    verify->given = need_zeros(count, sizeof *verify->given);
    verify->points = need_zeros(count, sizeof *verify->points);
    verify->layers = need_zeros(depth, sizeof *verify->layers);
    /* Either all of them can be cleared or there are none. */
    for (size_t l = 0; l < depth; l++) {
        for (int kind = 0; kind < ERROR_KINDS; kind++) {
            ref_cell_init(&verify->layers[l].worst[kind], REF_DIGITS);
            ref_cell_init(&verify->layers[l].judged[kind], REF_DIGITS);
        }
    }
    verify->has_logits = verify_has_logits(verify->model);
    ensemble_init(&verify->ensemble, count, threads);
    if (verify->has_logits) {
        logits_init(&verify->logits, &verify->inputs, verify->model, &verify->positions);
        verify->logits.judged = verify->template->judge_of;
        verify->ensemble.member_bytes = logits_kept_bytes(&verify->logits);
    }
    for (size_t i = 0; i < count; i++) {
        verify->given[i] = verify->template->source->given;
        verify->given[i].x = verify->inputs.x + i * stream;
        verify->points[i] = *verify->template;
        verify->points[i].spec.n = verify->inputs.n;
        verify->points[i].spec.given = &verify->given[i];
        verify->points[i].tolerance = verify->aim; /* the template's, if it has one */
        ensemble_add(&verify->ensemble, &verify->points[i]);
    }
}

void verify_clear(Verify *verify)
{
    ensemble_clear(&verify->ensemble);
    family_clear(verify->family);
    if (verify->has_logits) {
        logits_clear(&verify->logits);
    }
    for (size_t l = 0; verify->layers != NULL && l < verify->model->depth; l++) {
        for (int kind = 0; kind < ERROR_KINDS; kind++) {
            ref_cell_clear(&verify->layers[l].worst[kind]);
            ref_cell_clear(&verify->layers[l].judged[kind]);
        }
    }
    free(verify->omegas);
    free(verify->given);
    free(verify->points);
    free(verify->layers);
    found_clear(&verify->found);
    inputs_clear(&verify->inputs);
    positions_clear(&verify->positions);
}

/* One input's rows on their way into the layers' worst. */
typedef struct {
    Verify *verify;
    size_t input;
} InputRows;

static void worsen(RefCell *worst, const RefCell *cell)
{
    if (cell->state != CELL_ABSENT && (worst->state == CELL_ABSENT || cell_is_worse(cell, worst))) {
        ref_cell_set(worst, cell);
    }
}

static void take_row(void *context, const Point *point, const Row *row)
{
    InputRows *rows = context;
    LayerWorst *layer = &rows->verify->layers[row->layer - 1];
    const RefCell *judged = &row->errors.error[point->judge][point->norm];
    pthread_mutex_lock(&rows->verify->lock);
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        worsen(&layer->worst[kind], &row->errors.error[kind][NORM_MAX]);
        worsen(&layer->judged[kind], &row->errors.error[kind][point->norm]);
    }
    if (row->errors.scalar[SCALAR_SCORE].state == CELL_VALUE) {
        layer->score =
            fmax(layer->score, mpfr_get_d(row->errors.scalar[SCALAR_SCORE].value, MPFR_RNDN));
    }
    double log2_judged = verify_log2(judged);
    bool first = log2_judged == layer->log2_worst && rows->input < layer->worst_input;
    bool bound = judged->state == CELL_BOUND;
    if (log2_judged >= layer->log2_worst) { /* of equals a bound, as with worst */
        layer->judged_bound = bound || (layer->judged_bound && log2_judged == layer->log2_worst);
    }
    if (log2_judged > layer->log2_worst || first) {
        layer->log2_worst = log2_judged;
        layer->worst_input = rows->input;
    }
    layer->status = row->status < layer->status ? row->status : layer->status;
    pthread_mutex_unlock(&rows->verify->lock);
}

static void layers_reset(Verify *verify)
{
    for (size_t l = 0; l < verify->model->depth; l++) {
        for (int kind = 0; kind < ERROR_KINDS; kind++) {
            verify->layers[l].worst[kind].state = CELL_ABSENT;
            verify->layers[l].judged[kind].state = CELL_ABSENT;
        }
        verify->layers[l].log2_worst = -INFINITY;
        verify->layers[l].judged_bound = false;
        verify->layers[l].worst_input = 0;
        verify->layers[l].score = 0;
        verify->layers[l].status = STATUS_OK;
    }
}

static void take_final(void *context, const FinalStreams *final)
{
    InputRows *rows = context;
    logits_take(&rows->verify->logits, rows->input, final);
}

static bool evaluate_input(void *context, size_t i, const Shared *shared, const Point *point)
{
    Verify *verify = context;
    InputRows rows = {verify, i};
    const PointSink sink = {take_row, verify->has_logits ? take_final : NULL, &rows};
    bool passed = false;
    bool ok = point_evaluate(&passed, shared, point, &sink) == EVALUATE_OK;
    pthread_mutex_lock(&verify->lock);
    verify->passed = verify->passed && passed;
    pthread_mutex_unlock(&verify->lock);
    return ok;
}

bool verify_open_inputs(Verify *verify)
{
    verify_phase(verify, PHASE_ORIGINAL, "original");
    Ticker *ticker = ticker_open(&verify->progress_lock, &verify->progress);
    bool ok = ensemble_open(&verify->ensemble);
    if (verify->has_logits) {
        logits_keep(&verify->logits, verify->ensemble.kept);
    }
    ticker_close(ticker);
    return ok;
}

int verify_fault(const Verify *verify)
{
    int fault = model_source_fault(verify->template->source);
    return fault != 0 ? fault : memory_fault();
}

bool verify_logits_pass(const Verify *verify, const LogitErrors *errors)
{
    const Point *point = verify->template;
    mpfr_t worst;
    mpfr_init2(worst, REF_CELL_BITS);
    logit_errors_judged(worst, errors, point->judge_of);
    bool pass = mpfr_number_p(worst) && mpfr_cmp_d(worst, point->tolerance) <= 0;
    mpfr_clear(worst);
    return !point->judged || point->judge_of == JUDGE_STREAMS || pass;
}

/* The last layer has the status that its logits give it. */
static void take_logits(Verify *verify)
{
    LogitErrors *logits = &verify->errors;
    Status *status = &verify->layers[verify->model->depth - 1].status, own = STATUS_OK;
    logits_sum(&verify->logits);
    *logits = verify->logits.errors;
    if (!isfinite(logits->error)) { /* logits that no number of the machine's format is */
        own = STATUS_OVERFLOW;
    } else if (!verify_logits_pass(verify, logits)) {
        own = STATUS_FAIL;
    }
    *status = own < *status ? own : *status;
    verify->passed = verify->passed && own == STATUS_OK;
}

bool verify_evaluate(Verify *verify, double omega)
{
    char label[PROGRESS_LABEL];
    double start = clock_seconds();
    verify->omega = omega;
    decimal_print(verify->omega_text, omega);
    snprintf(label, sizeof label, "omega %.30s", verify->omega_text);
    verify->errors = (LogitErrors){0};
    layers_reset(verify);
    verify->passed = true;
    verify_phase(verify, PHASE_OMEGA, label);
    Ticker *ticker = ticker_open(&verify->progress_lock, &verify->progress);
    bool ok = ensemble_each(&verify->ensemble, omega, evaluate_input, verify);
    ticker_close(ticker);
    if (!ok) {
        return false;
    }
    if (verify->has_logits) {
        take_logits(verify);
    }
    verify->seconds = clock_seconds() - start;
    return true;
}

bool verify_search(Verify *verify)
{
    verify_phase(verify, PHASE_SEARCH, "search");
    if (verify->template->judge_of != JUDGE_STREAMS) {
        logits_judge(&verify->logits, &verify->ensemble);
    }
    Ticker *ticker = ticker_open(&verify->progress_lock, &verify->progress);
    verify->sought = ensemble_search(&verify->ensemble, &verify->found);
    ticker_close(ticker);
    return verify->sought;
}

/* The predictions changed at one Omega, but for those that the imitation of an activation changes,
 * whatever Omega is; where there are none, the largest logit error over the smallest margin, but
 * never so much as one changed. */
static bool prediction_error(void *context, mpfr_ptr error, double omega)
{
    Verify *verify = context;
    LogitErrors there;
    if (!logits_compare_all(&there, &verify->logits, &verify->ensemble, omega, false)) {
        return false;
    }
    double share = there.error / verify->logits.margin;
    double unchanged = share < KEPT ? share : KEPT;
    size_t changed = there.changed - there.lost;
    mpfr_set_d(error, changed > 0 ? (double)changed : unchanged, MPFR_RNDN);
    return true;
}

bool verify_search_predictions(Verify *verify, OmegaSearch *found)
{
    OmegaOptions options = {.tolerance = KEPT,
                            .guess = verify->keeping > 0 ? verify->keeping : 1,
                            .digits = 4,
                            .bracket = 1e-3,
                            .inside = 48,
                            .evaluations = OMEGA_EVALUATIONS,
                            .rises = true};
    ensemble_range(&options, &verify->ensemble);
    verify->logits.judged = JUDGE_LOGITS; /* no KL is worked out */
    verify_phase(verify, PHASE_PREDICTIONS, "search for predictions");
    Ticker *ticker = ticker_open(&verify->progress_lock, &verify->progress);
    bool ok = omega_search(found, prediction_error, verify, &options);
    ticker_close(ticker);
    return ok;
}
