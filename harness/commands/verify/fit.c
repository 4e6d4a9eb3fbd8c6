/*
 * The memory that `verify` takes: what does not fit is refused, and as many inputs' originals are
 * kept as there is room for.  The prices of its phases, for --dry-run and for the time to go.
 */

#include "verify.h"

#include "../../base/memory.h"
#include "../../base/message.h"
#include "../../base/progress.h"
#include "../../base/ticker.h"
#include "../../evaluate/logits.h"
#include "../../evaluate/predict.h"

#include <math.h>
#include <stdlib.h>

/* So many inputs at most go through a layer together. */
enum { TOGETHER_MOST = 16 };

/* Of the memory that may be used, what the model's weights may take besides themselves, packed; how
 * many times themselves they take, about: a weight's size as a float and two digits of 8 bytes. */
#define WEIGHTS_SHARE 16
#define PACKED_TIMES 2.5

/* In less than this nobody is told that memory makes it longer. */
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

/* Is there such a search, over all inputs? */
static bool wants(const Verify *verify, Phase search)
{
    bool told = !verify->options->quiet && verify->options->shards == 0;
    return search == PHASE_SEARCH
               ? verify->chosen == OMEGA_FOUND || (told && verify->template->judged)
               : told && verify->has_logits;
}

/* Are bases kept, as they are used more than once? */
static bool keeps(const Verify *verify)
{
    return wants(verify, PHASE_SEARCH) || wants(verify, PHASE_PREDICTIONS) ||
           verify->omega_count > 1;
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

/* What every evaluation of r(T') and every pass of the machine do once a weight, however few rows
 * there are, as shares of what is done for the base: fitted to models of 50,000 weights and 3 to 40
 * rows. */
#define ROWS_SHARE (1.0 / 6)
#define PASS_SHARE (1.0 / 60)

/* The seconds of a thread for one input in each phase, from the table of prices.  What is done once
 * a weight is shared by the inputs that go through a layer together, or by all, as most of what is
 * made of the weights is kept where they are. */
static void price_inputs(Verify *verify)
{
    Point point = verify->points[0];
    point.omega = verify->most;
    const PointCost cost = point_cost_parts(&point);
    bool fetched = layers_come_and_go(&point.spec, point.source);
    double sharing = (double)(fetched ? inputs_at_once(verify) : verify->inputs.count);
    double take = verify->has_logits ? logits_seconds(&verify->logits, false) : 0;
    double compare = verify->has_logits ? logits_seconds(&verify->logits, true) : 0;
    double last = cost.machine + PASS_SHARE * cost.weights + compare;
    double rows = cost.reference + ROWS_SHARE * cost.weights + cost.machine + take;
    double judged = judge_needs_arithmetic(point.judge) ? last : rows;
    double *seconds = verify->seconds_of;
    seconds[PHASE_ORIGINAL] = cost.base - cost.weights * (1 - 1 / sharing);
    seconds[PHASE_OMEGA] = rows;
    /* and once for the first guess */
    seconds[PHASE_SEARCH] = judged + rows / ensemble_search_evaluations(&point);
    seconds[PHASE_PREDICTIONS] = last;
}

/* How often a phase evaluates every input, about. */
static double uses_of(const Verify *verify, Phase phase)
{
    return phase == PHASE_SEARCH        ? ensemble_search_evaluations(verify->template)
           : phase == PHASE_PREDICTIONS ? VERIFY_KEEPING_EVALUATIONS
                                        : 1;
}

/* Seconds of a thread for a phase of all inputs, with the bases that are made anew. */
static double phase_seconds(const Verify *verify, Phase phase)
{
    double count = (double)verify->ensemble.count, kept = (double)verify->ensemble.kept;
    double base = verify->seconds_of[PHASE_ORIGINAL];
    if (phase == PHASE_ORIGINAL) {
        return kept * base;
    }
    return uses_of(verify, phase) * (count * verify->seconds_of[phase] + (count - kept) * base);
}

Ticker *verify_phase(Verify *verify, Phase phase, const char *label)
{
    Ensemble *ensemble = &verify->ensemble;
    double cost = phase_seconds(verify, phase), uses = uses_of(verify, phase);
    size_t units = phase == PHASE_ORIGINAL ? ensemble->kept : ensemble->count;
    ensemble->unit_cost = cost / (uses * (double)(units > 0 ? units : 1));
    progress_phase(&verify->kept->progress, label, uses > 1 ? "evaluations" : "inputs",
                   uses > 1 ? 0 : units, cost);
    return ticker_open(&verify->kept->lock, &verify->kept->progress);
}

/* Of all phases, in seconds of a thread. */
static double total_seconds(const Verify *verify)
{
    double total = phase_seconds(verify, PHASE_ORIGINAL) +
                   (double)verify->omega_count * phase_seconds(verify, PHASE_OMEGA);
    for (Phase search = PHASE_SEARCH; search <= PHASE_PREDICTIONS; search++) {
        total += wants(verify, search) ? phase_seconds(verify, search) : 0;
    }
    return total;
}

/* Makes the family that the inputs share, and finds how many bases are kept in so many bytes. */
static bool open_family(Verify *verify, double room)
{
    Ensemble *ensemble = &verify->ensemble;
    const double packed = room / WEIGHTS_SHARE;
    verify->family = shared_make_family(ensemble->points[0], packed);
    if (verify->family == NULL) {
        return false;
    }
    /* r(T_infinity)'s record takes a hundred times the memory of r(T), and pays where more than the
     * rows asked for and the search's one sample are evaluated from it. */
    ErrorKind judge = verify->template->judge;
    bool evaluates = judge == ERROR_CONSTRUCTION || judge == ERROR_ROUNDING;
    bool tape = verify->omega_count > 2 || (evaluates && wants(verify, PHASE_SEARCH));
    ensemble->family = verify->family;
    ensemble->tapeless = !tape;
    ensemble->together = (int)inputs_at_once(verify);
    room -= shared_bytes(verify->family) + packed;
    if (ensemble->together > ensemble->threads) { /* ensemble_size leaves room for the threads' */
        room -= (ensemble->together - ensemble->threads) * verify_input_bytes(ensemble->points[0]);
    }
    return ensemble_size(ensemble, verify->most, keeps(verify) ? fmax(0, room) : 0);
}

void verify_dry_run(Verify *verify)
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
    price_inputs(verify);
    verify->ensemble.kept = count;
    double total = total_seconds(verify);
    if (!verify->options->quiet) {
        /* At most, of the model, its packed weights and the inputs that are evaluated at once. */
        const Point *point = &verify->points[0];
        double fixed = fixed_bytes(verify), model = verify_shared_bytes(point, threads);
        double packed = (memory_room(verify->options->memory) - fixed) / WEIGHTS_SHARE;
        double most = model + fmin(PACKED_TIMES * model, packed) + fixed +
                      (double)inputs_at_once(verify) * verify_input_bytes(point);
        fprintf(stderr,
                "headproof: %zu input%s: %s with %d thread%s, up to %s in all; an "
                "input: %s of one thread\n",
                count, count == 1 ? "" : "s", duration_about(all, total / threads), threads,
                threads == 1 ? "" : "s", memory_print(bytes, most),
                duration_about(one, total / (double)count));
    }
}

int verify_make_room(Verify *verify)
{
    double room = memory_room(verify->options->memory), fixed = fixed_bytes(verify);
    if (fixed > room) {
        fprintf(stderr, "headproof: %s: %zu input%s %.3g GiB, %.3g GiB may be used: %s\n",
                verify->template->source->path, verify->inputs.count,
                verify->inputs.count == 1 ? " needs" : "s need", fixed / GIB, room / GIB,
                verify->options->tokens_file != NULL
                    ? "choose fewer, or a longer --window or --stride"
                    : "choose fewer with --tokens");
        return 2;
    }
    price_inputs(verify);
    verify->ensemble.kept = verify->ensemble.count; /* for the price; then as many as fit */
    progress_open(&verify->kept->progress, progress_stderr(verify->options->quiet),
                  total_seconds(verify));
    progress_phase(&verify->kept->progress, "plan", "inputs", 0, 0);
    Ticker *ticker = ticker_open(&verify->kept->lock, &verify->kept->progress);
    bool ok = open_family(verify, room - fixed);
    ticker_close(ticker);
    progress_clear(&verify->kept->progress);
    if (!ok) {
        return verify_fault(verify);
    }
    double total = verify->kept->progress.cost_total = total_seconds(verify);
    const Ensemble *ensemble = &verify->ensemble;
    bool said = !verify->options->quiet && total / ensemble->threads >= SAID_SECONDS;
    if (said && keeps(verify) && ensemble->kept < ensemble->count) {
        fprintf(stderr,
                "headproof: memory holds the original's results for %zu inputs; for the other "
                "inputs the original is evaluated anew at every omega\n",
                ensemble->kept);
    }
    verify->ensemble.progress = &verify->kept->progress;
    verify->ensemble.progress_lock = &verify->kept->lock;
    return 0;
}
