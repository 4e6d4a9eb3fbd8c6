/*
 * The inputs that memory holds, and how long they will take, before `verify` begins.
 */

#include "run.h"

#include "../../base/memory.h"
#include "../../base/message.h"
#include "../../base/progress.h"
#include "../../base/ticker.h"
#include "../../evaluate/logits.h"
#include "../../evaluate/predict.h"
#include "../../evaluate/worst.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <time.h>

/* One input in TRIAL_SHARE is timed, or fewer: no more are begun after TRIAL_SECONDS, but one a
 * thread.  Fewer inputs than TRIAL_WORTH are not worth evaluating twice. */
enum { TRIAL_SHARE = 64, TRIAL_WORTH = 32 };
#define TRIAL_SECONDS 0.5

/* So many inputs at most go through a layer together. */
enum { TOGETHER_MOST = 16 };

/* Of the memory that may be used, what the model's weights may take besides themselves. */
#define WEIGHTS_SHARE 16

/* Less than this is not announced. */
#define SAID_SECONDS 5.0

#define GIB 0x1p30

/* Bytes that are kept of every input, whatever does not fit. */
static double fixed_bytes(const Verify *verify)
{
    double count = (double)verify->inputs.count, n = (double)verify->inputs.n, logits = 0;
    if (verify->has_logits) {
        logits = count * logits_input_bytes(&verify->logits) +
                 verify->ensemble.threads * logits_work_bytes(&verify->logits);
    }
    return logits + count * n * ((double)verify->model->d * sizeof(double) + sizeof(int64_t)) +
           count * (sizeof(GivenWeights) + sizeof(Point) + sizeof(mpfr_t) + 64);
}

/* Is anything searched for, over all inputs? */
static bool searches(const Verify *verify)
{
    return verify->chosen == OMEGA_FOUND ||
           (!verify->options->quiet && verify->options->shards == 0 &&
            (verify->template->judged || verify->has_logits));
}

/* For the tolerance? */
static bool searches_tolerance(const Verify *verify)
{
    return searches(verify) && (verify->template->judged || verify->chosen == OMEGA_FOUND);
}

/* Are bases kept, as they are used more than once? */
static bool keeps(const Verify *verify)
{
    return searches(verify) || verify->omega_count > 1;
}

/* r(T_infinity)'s record takes a hundred times the memory of r(T), and pays where more than the
 * rows asked for and the search's one sample are evaluated from it. */
static bool takes_tape(const Verify *verify)
{
    bool judged = searches_tolerance(verify);
    ErrorKind judge = verify->template->judge;
    return verify->omega_count > 2 ||
           (judged && (judge == ERROR_CONSTRUCTION || judge == ERROR_ROUNDING));
}

/* Of the thread's own work: what else the machine does falls on any part of it. */
static double thread_seconds(void)
{
    struct timespec worked;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &worked);
    return (double)worked.tv_sec + 1e-9 * (double)worked.tv_nsec;
}

/* Seconds since *start, which becomes now. */
static double lap(double *start)
{
    double before = *start;
    *start = thread_seconds();
    return *start - before;
}

/* Times the two evaluations of an input that a search repeats. */
static bool time_search(InputCost *cost, Verify *verify, size_t i, const Shared *shared,
                        const Point *point)
{
    double start = thread_seconds();
    bool ok = true;
    if (point_judges_rows(point)) {
        mpfr_t worst;
        mpfr_init2(worst, REF_CELL_BITS);
        ok = point_worst_error(worst, shared, point) == EVALUATE_OK;
        mpfr_clear(worst);
        cost->judged = lap(&start);
    }
    if (ok && verify->has_logits) {
        ok = logits_compare(&verify->logits, i, shared, point);
        cost->last = lap(&start);
        cost->judged = point_judges_rows(point) ? cost->judged : cost->last;
    }
    return ok;
}

/* One input through all of it. */
static bool time_input(InputCost *cost, Verify *verify, size_t i)
{
    Point point = verify->points[i];
    Shared *shared;
    bool passed, ok;
    double start = thread_seconds();
    point.omega = verify->most;
    ok = shared_make_member(&shared, verify->family, &point, verify->ensemble.tape_room) ==
         EVALUATE_OK;
    cost->base = lap(&start);
    for (size_t o = 0; ok && o < verify->omega_count; o++) {
        point.omega = verify->omegas[o];
        ok = verify_input(&passed, verify, i, shared, &point);
    }
    cost->rows = lap(&start);
    ok = ok && time_search(cost, verify, i, shared, &point);
    shared_clear(shared);
    return ok;
}

double verify_input_bytes(const Point *point)
{
    PointBytes bytes;
    const char *reason;
    if (point_predict(&bytes, &reason, point) != CASE_OK) {
        return INFINITY;
    }
    return bytes.base + bytes.kernel + bytes.run - point_model_bytes(point);
}

double verify_shared_bytes(const Point *point, int threads)
{
    bool fetched = layers_come_and_go(&point->spec, point->source) && point->spec.depth > 1;
    return point_model_bytes(point) + (fetched ? threads * case_layer_bytes(&point->spec) : 0);
}

/* How many inputs are evaluated at once: as many as there are threads; more, in half of the memory
 * that is left beside the model, where layers are fetched, each for all of them. */
static size_t inputs_at_once(const Verify *verify)
{
    const Point *point = &verify->points[0];
    double count = (double)verify->inputs.count, most = verify->ensemble.threads;
    if (layers_come_and_go(&point->spec, point->source)) {
        double room = memory_room(verify->options->memory) - fixed_bytes(verify);
        double shared = verify_shared_bytes(point, verify->ensemble.threads);
        double fit = (room - shared) / 2 / verify_input_bytes(point);
        most = fmax(most, floor(fmin(fit, TOGETHER_MOST)));
    }
    return (size_t)fmin(count, most);
}

/* How many inputs share what is done once a weight: those that go through a layer together; or all,
 * as most of what is made of the weights is kept where they are. */
static double inputs_sharing(const Verify *verify)
{
    const Point *point = &verify->points[0];
    return (double)(layers_come_and_go(&point->spec, point->source) ? inputs_at_once(verify)
                                                                    : verify->inputs.count);
}

/* The model of the work, for too few inputs to time. */
static void guess_inputs(Verify *verify)
{
    Point point = verify->points[0];
    point.omega = verify->most;
    PointCost guess = point_cost_parts(&point);
    double rows = guess.reference + guess.machine;
    bool machine = judge_needs_arithmetic(point.judge);
    double take = verify->has_logits ? logits_seconds(&verify->logits, false) : 0;
    double compare = verify->has_logits ? logits_seconds(&verify->logits, true) : 0;
    double shared = guess.weights * (1 - 1 / inputs_sharing(verify));
    rows += take;
    verify->cost = (InputCost){guess.base - shared, (double)verify->omega_count * rows,
                               machine ? guess.machine + compare : rows, guess.machine + compare};
}

/* Times inputs from `from` on, `most` of them or as many as begin within TRIAL_SECONDS, on all
 * threads at once, as the run has them: threads that share a core, its caches or the memory are
 * slower together.  So the parts only share out what all of it took, *elapsed. */
static bool time_some(double *elapsed, Verify *verify, size_t from, size_t most)
{
    const int threads = verify->ensemble.threads;
    const size_t left = verify->inputs.count - from, least = (size_t)threads;
    double base = 0, rows = 0, judged = 0, last = 0, timed = 0, start = clock_seconds();
    bool ok = true;
#pragma omp parallel for schedule(dynamic) num_threads(threads)                                    \
    reduction(+ : base, rows, judged, last, timed) reduction(&& : ok)
    for (size_t i = 0; i < (most < left ? most : left); i++) {
        InputCost cost = {0};
        if (i >= least && clock_seconds() - start > TRIAL_SECONDS) {
            continue;
        }
        ref_thread_setup();
        omp_set_num_threads(1);
        ok = ok && time_input(&cost, verify, from + i);
        base += cost.base;
        rows += cost.rows;
        judged += cost.judged;
        last += cost.last;
        timed++;
    }
    *elapsed = clock_seconds() - start;
    double scale = *elapsed * threads / (timed * (base + rows + judged + last));
    verify->cost = (InputCost){base * scale, rows * scale, judged * scale, last * scale};
    return ok;
}

/* What the first input of a thread takes counts only where that is long: it makes of the weights,
 * and of the machine, what all others find. */
static bool time_inputs(Verify *verify)
{
    const size_t count = verify->inputs.count, least = (size_t)verify->ensemble.threads;
    const size_t share = count / TRIAL_SHARE;
    double elapsed;
    bool ok = time_some(&elapsed, verify, 0, least);
    if (ok && elapsed < TRIAL_SECONDS && count > least) {
        ok = time_some(&elapsed, verify, least, share > least ? share : least);
    }
    return ok;
}

static double search_seconds(const Verify *verify)
{
    double first = verify->cost.rows / (double)verify->omega_count;
    return verify->cost.judged + first / ensemble_search_evaluations(verify->template->judge);
}

/* For all of it, in seconds of a thread among all that work. */
static double total_seconds(const Verify *verify)
{
    const InputCost *cost = &verify->cost;
    double omegas = (double)verify->omega_count;
    double total = verify_phase_seconds(verify, 0, 0) +
                   verify_phase_seconds(verify, omegas, verify_rows_seconds(verify));
    if (!searches(verify)) {
        return total;
    }
    if (searches_tolerance(verify)) {
        double uses = ensemble_search_evaluations(verify->template->judge);
        total += verify_phase_seconds(verify, uses, search_seconds(verify));
    }
    if (verify->has_logits) {
        total += verify_phase_seconds(verify, VERIFY_KEEPING_EVALUATIONS, cost->last);
    }
    return total;
}

/* How to have less of it. */
static const char *fewer(const Verify *verify)
{
    return verify->options->text != NULL ? "choose less text, or a longer --window or --stride"
           : verify->options->tokens_file != NULL ? "choose fewer lines"
                                                  : "choose fewer with --tokens";
}

static void say_logits(const Verify *verify)
{
    const Logits *logits = &verify->logits;
    if (verify->has_logits && logits->rows > 1) {
        double bytes = verify->ensemble.threads * logits_work_bytes(logits) +
                       (double)verify->ensemble.kept * logits_kept_bytes(logits);
        fprintf(stderr, "headproof: up to %zu positions an input, of %zu logits each: %.2g GiB\n",
                logits->rows, logits->unembedding.classes, bytes / GIB);
    }
}

/* At most, of the model and of the inputs that are evaluated at once. */
static double bytes_at_once(const Verify *verify)
{
    const Point *point = &verify->points[0];
    return verify_shared_bytes(point, verify->ensemble.threads) + fixed_bytes(verify) +
           (double)inputs_at_once(verify) * verify_input_bytes(point);
}

static void say_ahead(const Verify *verify, double total)
{
    const Ensemble *ensemble = &verify->ensemble;
    const Inputs *inputs = &verify->inputs;
    double seconds = total / ensemble->threads;
    char text[DURATION_TEXT];
    if (verify->options->quiet || seconds < SAID_SECONDS) {
        return;
    }
    fprintf(stderr,
            "headproof: %zu input%s will take about %s with %d thread%s, and %.2g GiB "
            "in all%s\n",
            inputs->count, inputs->count == 1 ? "" : "s", duration_print(text, seconds),
            ensemble->threads, ensemble->threads == 1 ? "" : "s", bytes_at_once(verify) / GIB,
            *inputs->of != '\0' ? ": a sample; --tokens LIST/LIST/... chooses others" : "");
    say_logits(verify);
}

/* Says how many bases do not fit, once it is known. */
static void say_kept(const Verify *verify, double total)
{
    const Ensemble *ensemble = &verify->ensemble;
    bool said = !verify->options->quiet && total / ensemble->threads >= SAID_SECONDS;
    if (said && keeps(verify) && ensemble->kept < ensemble->count) {
        fprintf(stderr,
                "headproof: memory holds the original of %zu of them; the others' is evaluated "
                "anew for every omega\n",
                ensemble->kept);
    }
}

/* Makes the family that the inputs share, and finds how many bases are kept in so many bytes. */
static bool open_family(Verify *verify, double room)
{
    Ensemble *ensemble = &verify->ensemble;
    verify->family = family_make(ensemble->points[0], room / WEIGHTS_SHARE);
    if (verify->family == NULL) {
        return false;
    }
    ensemble->family = verify->family;
    ensemble->tapeless = !takes_tape(verify);
    ensemble->together = (int)inputs_at_once(verify);
    room -= family_bytes(verify->family);
    if (ensemble->together > ensemble->threads) { /* ensemble_size leaves room for the threads' */
        room -= (ensemble->together - ensemble->threads) * verify_input_bytes(ensemble->points[0]);
    }
    return ensemble_size(ensemble, verify->most, keeps(verify) ? fmax(0, room) : 0);
}

/* Makes the family, and times an input unless there are few; progress is told, as this takes an
 * input's time. */
static bool measure(Verify *verify, double room, bool few)
{
    progress_open(&verify->progress, progress_stderr(verify->options->quiet), 0);
    progress_phase(&verify->progress, "plan", "inputs", 0, 0);
    Ticker *ticker = ticker_open(&verify->telling, &verify->progress);
    bool ok = open_family(verify, room) && (few || time_inputs(verify));
    ticker_close(ticker);
    progress_clear(&verify->progress);
    return ok;
}

void verify_foretell(Verify *verify)
{
    char all[DURATION_TEXT], one[DURATION_TEXT], bytes[MEMORY_TEXT];
    size_t count = verify->inputs.count;
    int threads = verify->ensemble.threads;
    bool known = verify->chosen != OMEGA_FOUND;
    for (size_t i = 0; i < verify->omega_count; i++) {
        verify->omega = known ? verify->omegas[i] : 0;
        verify_print_command(stdout, verify, verify->options);
        putchar('\n');
    }
    guess_inputs(verify);
    verify->ensemble.kept = count;
    double total = total_seconds(verify);
    if (!verify->options->quiet) {
        fprintf(stderr,
                "headproof: %zu input%s: %s with %d thread%s, up to %s in all; an "
                "input: %s of one thread\n",
                count, count == 1 ? "" : "s", duration_about(all, total / threads), threads,
                threads == 1 ? "" : "s", memory_print(bytes, bytes_at_once(verify)),
                duration_about(one, total / (double)count));
    }
}

int verify_predict(Verify *verify)
{
    double room = memory_room(verify->options->memory), fixed = fixed_bytes(verify);
    if (fixed > room) {
        fprintf(stderr, "headproof: %s: %zu input%s %.3g GiB, %.3g GiB may be used: %s\n",
                verify->template->source->path, verify->inputs.count,
                verify->inputs.count == 1 ? " needs" : "s need", fixed / GIB, room / GIB,
                fewer(verify));
        return 2;
    }
    bool few = verify->inputs.count < TRIAL_WORTH;
    if (few) { /* said before the first of them is evaluated, as if all were kept */
        guess_inputs(verify);
        verify->ensemble.kept = verify->ensemble.count;
        say_ahead(verify, total_seconds(verify));
    }
    if (!measure(verify, room - fixed, few)) {
        return verify_fault(verify);
    }
    double total = total_seconds(verify);
    if (!few) {
        say_ahead(verify, total);
    }
    say_kept(verify, total);
    progress_open(&verify->progress, progress_stderr(verify->options->quiet), total);
    verify->ensemble.progress = &verify->progress;
    verify->ensemble.progress_lock = &verify->telling;
    return 0;
}
