/*
 * The command `verify`: a trained model over all its inputs, with a verdict.
 */
#include "verify.h"
#include "cases.h"
#include "every_input.h"
#include "fit.h"
#include "inputs.h"
#include "limit.h"
#include "print.h"
#include "run.h"

#include "../commands.h"
#include "../../grid/point_axes.h"
#include "../../base/message.h"
#include "../../evaluate/predict.h"
#include "../../base/shown.h"
#include "../../base/terminal.h"
#include "../../base/text_stream.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static int verify_omega(Verify *verify, EveryInput *every, double omega)
{
    LogitErrors logits;
    double start = clock_seconds();
    if (!verify_evaluate(verify, omega, &logits)) {
        return memory_fault();
    }
    int status = verify_cases_add(verify->outcome, verify, omega, &logits, clock_seconds() - start);
    if (status != 0) {
        return status;
    }
    verify_limit_take(verify, omega);
    status = every_input_judge(every, verify, omega);
    if (status != 0) {
        return status;
    }
    verify->keeping = logits.changed == logits.lost ? omega : verify->keeping;
    if (verify->output != NULL &&
        (verify_write_rows(verify, omega, &logits) != 0 || output_commit(verify->output) != 0)) {
        progress_clear(&verify->progress);
        return output_failed(verify->options->output);
    }
    if (!verify->options->quiet) {
        progress_clear(&verify->progress);
        verify_print_omega(verify, omega, &logits);
        fflush(output_report(verify->options));
    }
    return 0;
}

static bool search_tolerance(Verify *verify)
{
    Found found;
    found_init(&found);
    bool ok = verify_search(verify, &found);
    progress_clear(&verify->progress);
    if (ok) {
        verify_print_found(verify, &found);
        verify_limit_search(&verify->limit, &found.search);
        fflush(output_report(verify->options));
    }
    found_clear(&found);
    return ok;
}

static bool search_predictions(Verify *verify)
{
    OmegaSearch found;
    omega_search_init(&found);
    bool ok = verify_search_predictions(verify, &found);
    progress_clear(&verify->progress);
    if (ok) {
        verify_print_keeping(verify, &found);
    }
    omega_search_clear(&found);
    return ok;
}

/* Everything but Omega is the same. */
static bool same_template(const Point *a, const Point *b)
{
    Point c = *b;
    c.omega = a->omega;
    return point_compare(a, &c) == 0;
}

/* The template's Omegas, and the largest that the reference has to resolve. */
static bool collect_omegas(Verify *verify, const Grid *grid)
{
    const Point *template = verify->template;
    verify->omegas = calloc(grid->count, sizeof *verify->omegas);
    verify->most = template->judged ? omega_ahead(template->tolerance) : 0;
    for (size_t i = 0; verify->omegas != NULL && i < grid->count; i++) {
        if (same_template(template, &grid->points[i])) {
            double omega = grid->points[i].omega;
            verify->omegas[verify->omega_count++] = omega;
            verify->most = fmax(verify->most, omega);
        }
    }
    return verify->omegas != NULL;
}

/* The verdict at one Omega, for the points of the grid that are the template there. */
static void take_verdict(bool *passed, const Verify *verify, const Grid *grid, double omega)
{
    for (size_t i = 0; i < grid->count; i++) {
        if (same_template(verify->template, &grid->points[i]) && grid->points[i].omega == omega) {
            passed[i] = verify->passed;
        }
    }
}

/* Those of the layers at the last Omega. */
static void count_bounds(Verify *verify)
{
    for (size_t l = 0; l < verify->template->spec.depth; l++) {
        verify->bounds += verify_bounds(&verify->layers[l]);
    }
}

/* Every Omega that the grid has for the template, then the searches.  passed [grid->count]. */
static int run_template(bool *passed, Verify *verify, EveryInput *every, const Grid *grid,
                        int threads)
{
    bool quiet = verify->options->quiet;
    int status = verify_inputs_read(verify);
    if (status != 0) {
        return status;
    }
    verify->digest = inputs_digest(&verify->inputs);
    if (verify->options->shards > 0) {
        status = inputs_take_shard(&verify->inputs, verify->model->d, verify->options->shard,
                                   verify->options->shards);
        if (status != 0) {
            return status;
        }
    }
    status = every_input_open(every, verify);
    if (status != 0) {
        return status;
    }
    if (!verify_prepare(verify, threads) || !collect_omegas(verify, grid)) {
        return memory_fault();
    }
    if (!quiet) {
        verify_print_model(verify);
        fflush(output_report(verify->options));
    }
    status = verify_predict(verify);
    if (status != 0) {
        return status;
    }
    bool ok = verify_open_inputs(verify);
    for (size_t i = 0; ok && i < verify->omega_count && status == 0; i++) {
        status = verify_omega(verify, every, verify->omegas[i]);
        take_verdict(passed, verify, grid, verify->omegas[i]);
        count_bounds(verify);
    }
    bool searched = !quiet && verify->options->shards == 0;
    if (ok && status == 0 && searched) {
        ok = (!verify->template->judged || search_tolerance(verify)) &&
             (!verify->has_logits || search_predictions(verify));
    }
    progress_clear(&verify->progress);
    status = ok ? status : memory_fault();
    return status == 0 ? every_input_say(every, verify) : status;
}

static bool is_first_of_template(const Grid *grid, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (same_template(&grid->points[j], &grid->points[i])) {
            return false;
        }
    }
    return true;
}

/* What the whole command keeps of the grid's points, for the sidecar: points, passed and seconds
 * [grid->count]. */
typedef struct {
    size_t *points;
    bool *passed;
    double *seconds;
    SweepRecord record;
    uint64_t inputs; /* digest of the points and of what says which inputs there are */
} Record;

/* Shards agree in the grid, the weights and the inputs chosen. */
static int record_open(Record *record, const Grid *grid, const RunOptions *run)
{
    size_t room = grid->count + 1;
    *record = (Record){.points = calloc(room, sizeof *record->points),
                       .passed = calloc(room, sizeof *record->passed),
                       .seconds = calloc(room, sizeof *record->seconds)};
    if (record->points == NULL || record->passed == NULL || record->seconds == NULL) {
        return memory_fault();
    }
    for (size_t i = 0; i < grid->count; i++) {
        record->points[i] = i;
        record->seconds[i] = -1;
    }
    record->record = (SweepRecord){.points = record->points,
                                   .count = grid->count,
                                   .passed = record->passed,
                                   .shard = run->shards > 0 ? run->shard : 1,
                                   .shards = run->shards > 0 ? run->shards : 1,
                                   .complete = true};
    GridIdentity *identity = &record->record.identity;
    int status = grid_identify(identity, grid);
    const char *words[] = {run->tokens, run->positions};
    record->inputs = digest_bytes(DIGEST_START, identity->points, strlen(identity->points));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *word = words[i] != NULL ? words[i] : "";
        record->inputs = digest_bytes(record->inputs, word, strlen(word));
    }
    return status;
}

static void record_clear(Record *record)
{
    free(record->points);
    free(record->passed);
    free(record->seconds);
}

/* The sentence, said and given: *text is to be freed.  0, or 99 after a message. */
static int say_verdict(char **text, const Grid *grid, const RunOptions *run, bool passed,
                       const VerifyLimit *limit, const EveryInput *every, size_t bounds)
{
    FILE *report = output_report(run);
    size_t size;
    FILE *stream = text_stream(text, &size);
    if (stream == NULL) {
        return memory_fault();
    }
    Conclusion conclusion = verify_print_verdict(stream, grid, passed, limit, every, bounds);
    if (fclose(stream) != 0) {
        return memory_fault();
    }
    Color color = conclusion_color(conclusion);
    terminal_write(report, terminal_has_colors(report, run->color) ? color : COLOR_NONE, *text);
    fputc('\n', report);
    return 0;
}

/* record: whether points passed, and the inputs of all templates, are added to it.  *said: the
 * verdict, to be freed. */
static int run_templates(Record *record, char **said, const Grid *grid, const RunOptions *run,
                         Verify base, int threads)
{
    bool *passed = record->passed;
    VerifyLimit limit = {0};
    EveryInput every = {.run = run};
    size_t bounds = 0;
    int status = 0;
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        if (!is_first_of_template(grid, i)) {
            continue;
        }
        const Point *template = &grid->points[i];
        Verify verify = base;
        verify.template = template;
        verify.model = template->source->file;
        verify.lists_positions = run->positions != NULL || run->text != NULL;
        verify.all_positions =
            run->positions != NULL ? strcmp(run->positions, "all") == 0 : run->text != NULL;
        pthread_mutex_init(&verify.telling, NULL);
        pthread_mutex_init(&verify.lock, NULL);
        status = run_template(passed, &verify, &every, grid, threads);
        pthread_mutex_destroy(&verify.telling);
        pthread_mutex_destroy(&verify.lock);
        verify_limit_worsen(&limit, &verify.limit);
        bounds += verify.bounds;
        record->inputs = verify.digest != 0
                             ? digest_bytes(record->inputs, &verify.digest, sizeof verify.digest)
                             : record->inputs;
        verify_clear(&verify);
    }
    bool all = true;
    for (size_t i = 0; i < grid->count; i++) {
        all = all && passed[i];
    }
    if (status == 0 && !run->quiet && run->shards > 0) {
        fputs("the searches for omega are over all inputs: a shard leaves them out\n",
              output_report(run));
    }
    status = status != 0 ? status : say_verdict(said, grid, run, all, &limit, &every, bounds);
    every_input_clear(&every);
    return status != 0 ? status : !all;
}

/* A verdict is about a machine. */
static int check_arithmetic(const Grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        if (grid->points[i].arithmetic == ARITHMETIC_NONE) {
            complain((Origin){.flag = "arithmetic"}, "none",
                     "expected another: verify judges a machine's arithmetic");
            return 2;
        }
    }
    return 0;
}

static int open_output(Output **output, const RunOptions *run)
{
    bool asked = run->output != NULL || run->on_stdout;
    int status = asked ? output_open_run(output, run) : 0;
    if (status == 0 && *output != NULL && verify_write_header(output_file(*output)) != 0) {
        status = output_failed(run->output);
    }
    return status;
}

static int open_outcome(Outcome *outcome, const Grid *grid, const RunOptions *run)
{
    int status = outcome_open(outcome, &verify_outcome, run, grid_first_judged(grid) != NULL);
    if (status == 0 && outcome->file != NULL) {
        verify_cases_header(outcome->file);
    }
    return status;
}

int command_verify(const Grid *grid, const RunOptions *run)
{
    int threads = run->threads > 0 ? run->threads : omp_get_num_procs();
    Output *output = NULL;
    Record record = {0};
    Outcome outcome = {0};
    char *said = NULL;
    ref_thread_setup();
    int status = check_arithmetic(grid);
    status = status == 0 ? verify_inputs_check(run) : status;
    status = status == 0 ? every_input_check(grid, run) : status;
    status = status != 0 ? status : record_open(&record, grid, run);
    status = status != 0 ? status : grid_predict(grid, run->memory, &threads);
    status = status != 0 ? status : open_output(&output, run);
    status = status != 0 ? status : open_outcome(&outcome, grid, run);
    if (status == 0) {
        const Verify base = {.options = run,
                             .passed = true,
                             .output = output,
                             .outcome = &outcome,
                             .colors = terminal_has_colors(output_report(run), run->color)};
        status = run_templates(&record, &said, grid, run, base, threads);
    }
    digest_print(record.record.identity.points, record.inputs);
    if (status <= 1 && output != NULL) {
        const RunRecord all = {.argc = run->argc,
                               .argv = run->argv,
                               .grid = grid,
                               .seconds = record.seconds,
                               .sweep = &record.record};
        int finished = output_finish(output, &all);
        status = finished != 0 ? finished : status;
    }
    if (status <= 1) {
        int reported = outcome_finish(&outcome, status == 0, said);
        status = reported != 0 ? reported : status;
    }
    free(said);
    outcome_clear(&outcome);
    output_clear(output);
    record_clear(&record);
    ref_thread_clear();
    return status;
}
