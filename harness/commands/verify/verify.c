/*
 * The command `verify`: a trained model over all its inputs, with a verdict.
 */
#include "verify.h"
#include "every_input.h"
#include "print.h"
#include "run.h"

#include "../commands.h"
#include "../../grid/point.h"
#include "../../base/memory.h"
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
    double start = clock_seconds();
    if (!verify_evaluate(verify, omega)) {
        return verify_fault(verify);
    }
    const Cases layers = {verify_cases_layers, verify, verify->template->spec.depth,
                          clock_seconds() - start};
    int status = outcome_add(verify->outcome, layers);
    if (status != 0) {
        return status;
    }
    verify_limit_take(verify);
    status = every_input_judge(every, verify);
    if (status != 0) {
        return status;
    }
    verify->keeping = verify->errors.changed == verify->errors.lost ? omega : verify->keeping;
    progress_clear(&verify->progress);
    status = sink_put(&verify->outcome->sink, verify);
    if (status == 0 && !verify->options->quiet) {
        Wrapped said;
        verify_print_omega(wrapped_open(&said, output_report(verify->options)), verify);
        status = wrapped_close(&said);
    }
    return status;
}

static int search_tolerance(Verify *verify)
{
    Wrapped said;
    bool ok = verify->sought || verify_search(verify, &verify->found);
    progress_clear(&verify->progress);
    if (!ok) {
        return verify_fault(verify);
    }
    verify_limit_search(&verify->limit, &verify->found.search);
    verify_print_found(wrapped_open(&said, output_report(verify->options)), verify, &verify->found);
    return wrapped_close(&said);
}

static int search_predictions(Verify *verify)
{
    Wrapped said;
    OmegaSearch found;
    omega_search_init(&found);
    int status = verify_search_predictions(verify, &found) ? 0 : verify_fault(verify);
    progress_clear(&verify->progress);
    if (status == 0) {
        verify_print_keeping(wrapped_open(&said, output_report(verify->options)), verify, &found);
        status = wrapped_close(&said);
    }
    omega_search_clear(&found);
    return status;
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
    verify->most = fmax(verify->most, template->judged ? omega_ahead(template->tolerance) : 0);
    for (size_t i = 0; verify->omegas != NULL && i < grid->count; i++) {
        if (same_template(template, &grid->points[i])) {
            double omega = grid->points[i].omega;
            verify->omegas[verify->omega_count++] = omega;
            verify->most = verify->chosen == OMEGA_GIVEN ? fmax(verify->most, omega) : verify->most;
        }
    }
    return verify->omegas != NULL;
}

/* The grid has the Omega that was chosen, as if it had been given. */
static void note_omega(const Verify *verify, Grid *grid)
{
    const Point template = *verify->template;
    for (size_t i = 0; i < grid->count && verify->chosen != OMEGA_GIVEN; i++) {
        if (same_template(&template, &grid->points[i])) {
            grid->points[i].omega = verify->omegas[0];
        }
    }
}

/* The verdict at the Omega at hand, for the points of the grid that are the template there. */
static void take_verdict(bool *passed, const Verify *verify, const Grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        if (same_template(verify->template, &grid->points[i]) &&
            grid->points[i].omega == verify->omega) {
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

/* Of the template, or of one shard of them. */
static int read_inputs(Verify *verify)
{
    const RunOptions *run = verify->options;
    int status = verify_inputs_read(verify);
    if (status != 0) {
        return status;
    }
    verify->digest = inputs_digest(&verify->inputs);
    return run->shards > 0
               ? inputs_take_shard(&verify->inputs, verify->model->d, run->shard, run->shards)
               : 0;
}

static int search(Verify *verify)
{
    const RunOptions *run = verify->options;
    bool judged = verify->template->judged, searched = judged || verify->has_logits;
    if (run->quiet || run->shards > 0 || !searched) {
        return 0;
    }
    int status = judged ? search_tolerance(verify) : 0;
    status = status != 0 || !verify->has_logits ? status : search_predictions(verify);
    if (status == 0) {
        Wrapped said;
        fprintf(wrapped_open(&said, output_report(run)), "%s\n", OMEGA_BETWEEN);
        status = wrapped_close(&said);
    }
    return status;
}

/* An input fits, and as many as there are threads. */
static int check_fits(const Verify *verify, int *threads)
{
    Point point = *verify->template;
    point.spec.n = verify->inputs.n;
    return point_fits(&point, memory_room(verify->options->memory), threads);
}

/* The inputs, what is proven, and which Omegas there are, as far as that is known before anything
 * is evaluated. */
static int begin_template(Verify *verify, EveryInput *every, const Grid *grid, int threads)
{
    int status = read_inputs(verify);
    verify_choose_begin(verify);
    status = status != 0 ? status : check_fits(verify, &threads);
    status = status != 0 ? status : every_input_open(every, verify);
    if (status == 0 && (!verify_prepare(verify, threads) || !collect_omegas(verify, grid))) {
        status = memory_fault();
    }
    return status != 0 ? status : verify_choose_proven(verify, every);
}

/* The model, unless that is said already, and the Omega that came from there. */
static int say_before(const Verify *verify, const EveryInput *every, OmegaSource from)
{
    Wrapped said;
    if (verify->options->quiet) {
        return 0;
    }
    FILE *file = wrapped_open(&said, output_report(verify->options));
    if (from == OMEGA_PROVEN) {
        verify_print_model(file, verify);
    }
    verify_choose_say(file, verify, every, from);
    return wrapped_close(&said);
}

/* The Omega that is chosen, if one is, and everything that Omegas share. */
static int open_template(Verify *verify, const EveryInput *every)
{
    int status = say_before(verify, every, OMEGA_PROVEN);
    status = status != 0 ? status : verify_predict(verify);
    if (status != 0) {
        return status;
    }
    bool ok = verify_open_inputs(verify) &&
              (verify->chosen != OMEGA_FOUND || verify_choose_found(verify));
    progress_clear(&verify->progress);
    return ok ? say_before(verify, every, OMEGA_FOUND) : verify_fault(verify);
}

static int say_every_input(EveryInput *every, const Verify *verify)
{
    Wrapped said;
    int status =
        every_input_say(wrapped_open(&said, output_report(verify->options)), every, verify);
    int closed = wrapped_close(&said);
    return status != 0 ? status : closed;
}

/* Every Omega that the grid has for the template, then the searches. */
static int run_template(Verdict *verdict, Verify *verify, Grid *grid, int threads)
{
    EveryInput *every = &verdict->every;
    int status = begin_template(verify, every, grid, threads);
    if (status == 0 && verify->options->dry_run) {
        verify_foretell(verify);
        return 0;
    }
    status = status != 0 ? status : open_template(verify, every);
    if (status != 0) {
        return status;
    }
    note_omega(verify, grid);
    for (size_t i = 0; i < verify->omega_count && status == 0; i++) {
        status = verify_omega(verify, every, verify->omegas[i]);
        take_verdict(verdict->record.passed, verify, grid);
        count_bounds(verify);
    }
    status = status != 0 ? status : search(verify);
    progress_clear(&verify->progress);
    return status != 0 ? status : say_every_input(every, verify);
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

/* The digest of the points and of the words that say which inputs there are. */
static uint64_t digest_words(const GridIdentity *identity, const RunOptions *run)
{
    const char *words[] = {identity->points, run->tokens, run->positions};
    uint64_t digest = DIGEST_START;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *word = words[i] != NULL ? words[i] : "";
        digest = digest_bytes(digest, word, strlen(word));
    }
    return digest;
}

/* The sentence, said and kept for the reports.  0, or 99 after a message. */
static int say_verdict(Verdict *verdict, const Grid *grid)
{
    const RunOptions *run = verdict->outcome.run;
    FILE *report = output_report(run);
    size_t size;
    FILE *stream = text_stream(&verdict->outcome.said, &size);
    Conclusion conclusion = CONCLUSION_FAIL;
    if (stream != NULL) {
        conclusion = verify_print_verdict(stream, grid, verdict);
    }
    const char *said = text_close(stream, &verdict->outcome.said, 0);
    if (said == NULL) {
        return memory_fault();
    }
    Color color = conclusion_color(conclusion);
    Wrapped lines;
    FILE *file = wrapped_open(&lines, report);
    terminal_write(file, terminal_has_colors(report, run->color) ? color : COLOR_NONE, said);
    fputc('\n', file);
    int status = wrapped_close(&lines);
    if (status == 0 && conclusion == CONCLUSION_FAIL) {
        (void)failure_say(report == stderr ? "the verdict is FAIL" : said, run->argc, run->argv);
    }
    return status;
}

/* One template, and what it adds to the verdict. */
static int judge_template(Verdict *verdict, Grid *grid, const Point *template, int threads)
{
    const RunOptions *run = verdict->outcome.run;
    Verify verify = {.options = run,
                     .template = template,
                     .model = template->source->file,
                     .lists_positions = run->positions != NULL || run->text != NULL,
                     .passed = true,
                     .outcome = &verdict->outcome,
                     .colors = terminal_has_colors(output_report(run), run->color)};
    found_init(&verify.found);
    pthread_mutex_init(&verify.telling, NULL);
    pthread_mutex_init(&verify.lock, NULL);
    int status = run_template(verdict, &verify, grid, threads);
    pthread_mutex_destroy(&verify.telling);
    pthread_mutex_destroy(&verify.lock);
    verify_limit_worsen(&verdict->limit, &verify.limit);
    verdict->bounds += verify.bounds;
    verdict->chosen = verdict->chosen || verify.chosen == OMEGA_FOUND;
    if (*verify.inputs.of != '\0') {
        verdict->sampled = verify.inputs.count;
        strcpy(verdict->of, verify.inputs.of);
    }
    if (verify.digest != 0) {
        verdict->digest = digest_bytes(verdict->digest, &verify.digest, sizeof verify.digest);
    }
    verify_clear(&verify);
    return status;
}

static int judge_templates(Verdict *verdict, Grid *grid, int threads)
{
    const RunOptions *run = verdict->outcome.run;
    for (size_t i = 0; i < grid->count; i++) {
        bool first = is_first_of_template(grid, i);
        int status = first ? judge_template(verdict, grid, &grid->points[i], threads) : 0;
        if (status != 0) {
            return status;
        }
    }
    if (run->dry_run) {
        return 0;
    }
    for (size_t i = 0; i < grid->count; i++) {
        verdict->outcome.failed += !verdict->record.passed[i];
    }
    if (!run->quiet && run->shards > 0) {
        fputs("the searches for omega are over all inputs: a shard leaves them out\n",
              output_report(run));
    }
    return say_verdict(verdict, grid);
}

/* A verdict is about a machine. */
static int check_arithmetic(const Grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        if (grid->points[i].arithmetic == ARITHMETIC_NONE) {
            return complain((Origin){.flag = "arithmetic"}, "none",
                            "expected another: verify judges a machine's arithmetic");
        }
    }
    return 0;
}

static const OutcomeKind verify_outcome = {.table = {.bare = BARE_SENTENCES,
                                                     .write_header = verify_write_header,
                                                     .write_row = verify_write_rows},
                                           .command = "verify",
                                           .reason = "above its tolerance",
                                           .column = "error",
                                           .limit = "tolerance",
                                           .bounds = "bound",
                                           .write_header = verify_cases_header,
                                           .print_command = verify_print_command};

/* Points of one token, before anything is opened: those of the inputs' follow (check_fits). */
static int check_points(const Grid *grid, const RunOptions *run)
{
    int status = 0;
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        Point point = grid->points[i];
        point.spec.n = 1;
        status = point_fits(&point, memory_room(run->memory), NULL);
    }
    return status;
}

/* Shards agree in the grid, the weights and the inputs chosen. */
static int judge_grid(Verdict *verdict, Grid *grid, const RunOptions *run)
{
    int threads = run->threads > 0 ? run->threads : omp_get_num_procs();
    int status = sweep_record_open(&verdict->record, grid, run);
    status = status != 0 ? status : check_points(grid, run);
    if (status != 0) {
        return status;
    }
    verdict->record.complete = true;
    verdict->digest = digest_words(&verdict->record.identity, run);
    if (run->dry_run) {
        verdict->outcome = (Outcome){.run = run};
        return judge_templates(verdict, grid, threads);
    }
    status = outcome_open(&verdict->outcome, &verify_outcome, grid, run);
    verdict->outcome.record.seconds = verdict->record.seconds;
    verdict->outcome.record.sweep = &verdict->record;
    status = status != 0 ? status : judge_templates(verdict, grid, threads);
    digest_print(verdict->record.identity.points, verdict->digest);
    return outcome_end(&verdict->outcome, status);
}

int command_verify(const Grid *grid, const RunOptions *run)
{
    Verdict verdict = {.every = {.run = run}};
    Grid own = *grid; /* whose points get the Omegas that are chosen */
    int status = check_arithmetic(grid);
    status = status != 0 ? status : verify_inputs_check(run);
    status = status != 0 ? status : every_input_check(grid, run);
    if (status != 0) {
        return status;
    }
    own.points = calloc(grid->count + 1, sizeof *own.points);
    if (own.points == NULL) {
        return memory_fault();
    }
    memcpy(own.points, grid->points, grid->count * sizeof *own.points);
    ref_thread_setup();
    status = judge_grid(&verdict, &own, run);
    every_input_clear(&verdict.every);
    sweep_record_clear(&verdict.record);
    ref_thread_clear();
    free(own.points);
    return status;
}
