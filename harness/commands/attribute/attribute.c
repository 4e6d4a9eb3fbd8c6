/*
 * The command `attribute`: a trained model's logits as exact sums over heads and source tokens.
 */
#include "attribute.h"

#include "../../../memory/need.h"
#include "../../base/memory.h"
#include "../../base/message.h"
#include "../../base/progress.h"
#include "../../base/shown.h"
#include "../../evaluate/predict.h"
#include "../commands.h"
#include "../outcome.h"

#include <stdlib.h>
#include <string.h>

static bool is_by(const Attribution *a, const char *name)
{
    const char *by = a->options->by;
    return strcmp(by != NULL ? by : "sublayer", name) == 0;
}

static bool same_group(const RefPath *x, const RefPath *y)
{
    return x->kind == y->kind && x->layer == y->layer && x->sublayer == y->sublayer &&
           x->head == y->head;
}

/* The groups of terms that paths' lines are summed in, by what --by asks.  Paths of one group are
 * near each other, but for those of a whole kind, which are few groups. */
static void make_groups(Attribution *a)
{
    enum { NEAR = 4 };
    size_t count = ref_paths_count(a->paths);
    a->groups = need_zeros(count, sizeof *a->groups);
    a->group_of = need_zeros(count, sizeof *a->group_of);
    for (size_t p = 0; p < count; p++) {
        const RefPath *path = ref_path(a->paths, p);
        bool layer = !is_by(a, "kind");
        bool head =
            is_by(a, "head") && (path->kind == PATH_EXTERNAL || path->kind == PATH_INTERNAL);
        RefPath group = {.kind = path->kind,
                         .layer = layer ? path->layer : 0,
                         .sublayer = layer ? path->sublayer : 0,
                         .head = head ? path->head + 1 : 0,
                         .single = path->single && path->kind == PATH_DIRECT};
        size_t first = a->group_count > NEAR ? a->group_count - NEAR : 0, found = a->group_count;
        for (size_t g = first; g < a->group_count; g++) {
            found = same_group(&a->groups[g], &group) ? g : found;
        }
        a->groups[found] = group;
        a->group_of[p] = found;
        a->group_count += found == a->group_count;
    }
}

static int make_pair(Attribution *a)
{
    CaseSpec spec = a->point->spec;
    const char *reason;
    spec.n = a->inputs.n;
    GivenWeights given = a->point->source->given;
    given.x = a->inputs.x;
    spec.given = &given;
    if (case_build(&a->pair, &reason, &spec) != CASE_OK) {
        fprintf(stderr, "headproof: %s: %s\n", shown(a->point->source->path).text, reason);
        return 2;
    }
    const RefUnembedding unembedding = {a->model->W_U,     a->model->b_U,      a->model->d,
                                        a->model->classes, a->pair.final_norm, a->model->tied};
    a->paths = ref_paths_make(&a->pair.converted, &unembedding);
    a->inputs_said = need_zeros(a->inputs.count, sizeof *a->inputs_said);
    make_groups(a);
    return 0;
}

/* Of all logits once; refuses what does not fit, and lowers threads until as many fit. */
static int make_readout(Attribution *a)
{
    const double gib = 1024.0 * 1024 * 1024;
    bool all = a->options->logits != NULL && strcmp(a->options->logits, "all") == 0;
    double room = memory_room(a->options->memory);
    mpfr_prec_t bits = attribute_bits(a) + 128; /* some inputs take more */
    double shared = all ? ref_readout_bytes(a->paths, a->model->classes, bits) : 0;
    double each = ref_writes_bytes(a->paths, bits) + ref_readout_bytes(a->paths, 1, bits);
    if (shared + each > room) {
        fprintf(stderr,
                "headproof: attribute needs %.3g GiB, %.3g GiB may be used: choose a smaller model"
                "%s\n",
                (shared + each) / gib, room / gib, all ? " or --logits predicted" : "");
        return 2;
    }
    while (a->threads > 1 && shared + each * a->threads > room) {
        a->threads--;
    }
    if (!all) {
        return 0;
    }
    size_t *logits = need_zeros(a->model->classes, sizeof *logits);
    for (size_t v = 0; v < a->model->classes; v++) {
        logits[v] = v;
    }
    a->all = ref_readout_make(a->paths, logits, a->model->classes, bits);
    free(logits);
    return 0;
}

static void take_input(Attribution *a, const char *text)
{
    if (a->status != 0) {
        return;
    }
    if (text != NULL) {
        progress_clear(&a->progress);
        a->status = sink_put(a->sink, text);
    }
    progress_add(&a->progress, 1, 1);
}

/* Every input, on all threads; their lines in order. */
static void evaluate_inputs(Attribution *a)
{
    size_t count = a->inputs.count;
    bool stop = false;
#pragma omp parallel for ordered schedule(static, 1) num_threads(a->threads) shared(stop)
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;
        bool skip;
        ref_thread_setup();
#pragma omp atomic read
        skip = stop;
        if (!skip) {
            attribute_input(a, i, a->sink->lines != NULL ? &text : NULL);
        }
#pragma omp ordered
        {
            take_input(a, text);
#pragma omp atomic write
            stop = a->status != 0;
        }
        free(text);
    }
}

/* Inputs whose terms do not sum to the logit, which is said. */
static size_t count_failures(const Attribution *a)
{
    size_t outside = 0, first = 0;
    for (size_t i = a->inputs.count; i > 0; i--) {
        if (!a->inputs_said[i - 1].within) {
            outside++;
            first = i;
        }
    }
    if (outside > 0) {
        fprintf(stderr,
                "headproof: the terms of %zu of %zu inputs do not sum to the logit within the "
                "bound, the first of input %zu\n",
                outside, a->inputs.count, first);
        (void)failure_say("terms do not sum to a logit", a->options->argc, a->options->argv);
    }
    return outside;
}

static int run_attribution(Attribution *a)
{
    int status = inputs_make(&a->inputs, a->model, a->point->source->path, a->options->tokens,
                             a->point->spec.seed);
    status = status != 0 ? status : make_pair(a);
    status = status != 0 ? status : make_readout(a);
    if (status != 0) {
        return status;
    }
    if (!a->options->quiet) {
        attribute_print_model(a);
        fflush(output_report(a->options));
    }
    progress_open(&a->progress, progress_stderr(a->options->quiet), (double)a->inputs.count);
    progress_phase(&a->progress, "", "inputs", a->inputs.count, (double)a->inputs.count);
    evaluate_inputs(a);
    progress_clear(&a->progress);
    if (a->status == 0 && !a->options->quiet) {
        attribute_print_summary(a);
    }
    return a->status;
}

static int check_request(const Grid *grid)
{
    const Point *point = &grid->points[0];
    if (grid->count != 1) {
        return complain((Origin){0}, "attribute", "expected one omega and one form");
    }
    if (point->source->file->W_U == NULL) {
        return complain_of(point->source->path, NULL, NULL,
                           "expected unembed.W_U: attribution is of logits");
    }
    if (point->spec.norm != NORMALIZATION_NONE && point->spec.norm_place == NORM_POST) {
        return complain_of(
            point->source->path, NULL, NULL,
            "expected norms before sublayers: behind one, the stream is no longer the sum "
            "of what each wrote");
    }
    return 0;
}

static const OutcomeKind attribute_outcome = {.table = {.bare = BARE_SENTENCES,
                                                        .write_header = attribute_write_header,
                                                        .write_row = attribute_write_rows}};

int command_attribute(const Grid *grid, const RunOptions *run)
{
    int threads = run_threads(run);
    double start = clock_seconds(), seconds;
    int status = check_request(grid);
    status = status != 0 ? status : grid_predict(grid, run->memory, &threads);
    if (status != 0) {
        return status;
    }
    Outcome outcome;
    Attribution attribution = {.options = run,
                               .point = &grid->points[0],
                               .model = grid->points[0].source->file,
                               .sink = &outcome.sink,
                               .threads = threads};
    status = outcome_open(&outcome, &attribute_outcome, grid, run, NULL);
    if (status == 0) {
        status = run_attribution(&attribution);
    }
    outcome.failed = status == 0 ? count_failures(&attribution) : 0;
    seconds = clock_seconds() - start;
    outcome.record.seconds = &seconds;
    ref_readout_clear(attribution.all);
    ref_paths_clear(attribution.paths);
    case_clear(&attribution.pair);
    inputs_clear(&attribution.inputs);
    free(attribution.groups);
    free(attribution.group_of);
    free(attribution.inputs_said);
    status = outcome_end(&outcome, status);
    ref_thread_clear();
    return status;
}
