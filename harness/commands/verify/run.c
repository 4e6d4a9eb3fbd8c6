/*
 * The evaluations of `verify`: all inputs at one Omega, and searches over Omega; how long it takes.
 */
#include "verify.h"

#include "../../../memory/need.h"
#include "../../base/decimal.h"
#include "../../base/message.h"
#include "../../base/ticker.h"
#include "../../evaluate/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    verify->done = need_zeros(count, sizeof *verify->done);
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
    shared_clear(verify->family);
    if (verify->has_logits) {
        logits_clear(&verify->logits);
    }
    free(verify->omegas);
    free(verify->members);
    free(verify->given);
    free(verify->points);
    free(verify->layers);
    free(verify->done);
    found_clear(&verify->found);
}

static void take_final(void *context, const Point *point, const RefLayer *last)
{
    Verify *verify = context;
    size_t input = (size_t)(point->spec.given - verify->given); /* a point's is its input's own */
    logits_take(&verify->logits, input, point, last);
}

static bool evaluate_input(void *context, size_t i, const Shared *shared, const Point *point)
{
    Verify *verify = context;
    double start = clock_seconds();
    Row *rows = point_evaluate(shared, point, verify->has_logits ? take_final : NULL, verify);
    bool ok = rows != NULL && input_rows_add(verify, i, point, rows, start);
    point_rows_free(rows, point);
    return ok;
}

bool verify_open_inputs(Verify *verify)
{
    Ticker *ticker = verify_phase(verify, PHASE_ORIGINAL, "original");
    bool ok = ensemble_open(&verify->ensemble);
    if (verify->has_logits) {
        logits_keep(&verify->logits, verify->ensemble.kept);
    }
    ticker_close(ticker);
    return ok;
}

int verify_fault(const Verify *verify)
{
    int fault = kept_fault(verify->kept);
    fault = fault != 0 ? fault : model_source_fault(verify->template->source);
    return fault != 0 ? fault : memory_fault();
}

/* The last layer has the status that its logits give it. */
static void take_logits(Verify *verify)
{
    LogitErrors *logits = &verify->errors;
    VerifyRow *last = &verify->layers[verify->model->depth - 1];
    Status own = STATUS_OK;
    logits_sum(&verify->logits);
    *logits = verify->logits.errors;
    if (!isfinite(logits->error)) { /* logits that no number of the machine's format is */
        own = STATUS_OVERFLOW;
    } else if (!verify_logits_pass(verify, logits)) {
        own = STATUS_FAIL;
    }
    if (own < verify_status(last)) {
        strcpy(last->cells[VERIFY_STATUS].text, status_name(own));
    }
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
    memset(verify->layers, 0, verify->model->depth * sizeof *verify->layers);
    memset(verify->done, 0, verify->inputs.count * sizeof *verify->done);
    if (!input_rows_restore(verify)) {
        return false;
    }
    Ticker *ticker = verify_phase(verify, PHASE_OMEGA, label);
    verify->ensemble.done = verify->done;
    bool ok = ensemble_each(&verify->ensemble, omega, evaluate_input, verify);
    verify->ensemble.done = NULL;
    ticker_close(ticker);
    if (!ok) {
        return false;
    }
    verify->passed = true;
    for (size_t l = 0; l < verify->model->depth; l++) {
        verify->passed = verify->passed && verify_count(&verify->layers[l], VERIFY_PASSED) == 1;
    }
    if (verify->has_logits) {
        take_logits(verify);
    }
    verify->seconds = clock_seconds() - start;
    return true;
}

bool verify_search(Verify *verify)
{
    if (verify->template->judge_of != JUDGE_STREAMS) {
        logits_judge(&verify->logits, &verify->ensemble);
    }
    Ticker *ticker = verify_phase(verify, PHASE_SEARCH, "search");
    verify->sought = ensemble_search(&verify->ensemble, &verify->found);
    ticker_close(ticker);
    return verify->sought;
}

/* The predictions changed at one Omega, but for those that the imitation of an activation changes,
 * whatever Omega is; where there are none, the largest logit error over the smallest margin, but
 * never so much as one changed. */
static bool prediction_error(void *context, RefCell *error, double omega)
{
    Verify *verify = context;
    if (!logits_compare_all(&verify->logits, &verify->ensemble, omega, false)) {
        return false;
    }
    const LogitErrors *there = &verify->logits.errors;
    double share = there->error / verify->logits.margin;
    double unchanged = share < KEPT ? share : KEPT;
    size_t changed = there->changed - there->lost;
    mpfr_set_d(error->value, changed > 0 ? (double)changed : unchanged, MPFR_RNDN);
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
    Ticker *ticker = verify_phase(verify, PHASE_PREDICTIONS, "search for predictions");
    bool ok = omega_search(found, prediction_error, verify, &options);
    ticker_close(ticker);
    return ok;
}
