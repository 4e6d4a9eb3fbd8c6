/*
 * The command `verify`: a trained model over all its inputs, with a verdict.
 */
#include "verify.h"

#include "../../../memory/need.h"
#include "../../base/interrupt.h"
#include "../../base/memory.h"
#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../base/terminal.h"
#include "../../base/text_stream.h"
#include "../../evaluate/predict.h"
#include "../../table/check_columns.h"
#include "../commands.h"

#include <stdlib.h>
#include <string.h>

/* ---- Inputs ---------------------------------------------------------------------------------- */

/* There is one way to say what they are, and no flag that would change nothing.  0; 2 after a
 * message. */
static int inputs_check(const Grid *grid, const RunOptions *run)
{
    const bool embedded = grid->sources.items[0]->file->W_E != NULL;
    const struct {
        bool wrong;
        const char *flag, *expected;
    } faults[] = {
        {run->tokens_file != NULL && run->tokens != NULL, "--tokens-file",
         "it or --tokens, not both"},
        {run->window > 0 && run->tokens_file == NULL, "--window", "--tokens-file with it"},
        {run->stride > 0 && run->tokens_file == NULL, "--stride", "--tokens-file with it"},
        {run->input_norm > 0 && embedded && !run->every_input, "--input-norm",
         "none with an embedding: rows of X are the model's tokens"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (faults[i].wrong) {
            return complain((Origin){0}, faults[i].flag, "expected %s", faults[i].expected);
        }
    }
    return 0;
}

/* Those that are asked for, else the last of each input. */
static int read_positions(Chosen *chosen, const ModelFile *model, const RunOptions *run)
{
    char of[256] = "an input";
    if (run->positions != NULL && !verify_has_logits(model)) {
        return complain((Origin){.flag = "positions"}, run->positions,
                        "expected a model with an unembedding: without logits there are no "
                        "predictions to look at");
    }
    if (run->tokens_file != NULL) {
        snprintf(of, sizeof of, "a window of %s", run->tokens_file);
    }
    return positions_make(&chosen->positions, run->positions != NULL ? run->positions : "last",
                          chosen->inputs.n, of);
}

static void chosen_clear(Chosen *chosen)
{
    inputs_clear(&chosen->inputs);
    positions_clear(&chosen->positions);
    *chosen = (Chosen){0};
}

/* Those that the flags name, or the model has, or one shard of them, unless they are there.  0; 2
 * or 99 after a message. */
static int chosen_read(Chosen *chosen, const Point *template, const RunOptions *run)
{
    const ModelFile *model = template->source->file;
    const char *path = template->source->path;
    if (chosen->there && (run->tokens_file != NULL || chosen->seed == template->spec.seed)) {
        return 0;
    }
    chosen_clear(chosen);
    chosen->there = true;
    chosen->seed = template->spec.seed;
    int status;
    if (run->tokens_file == NULL) {
        status = inputs_make(&chosen->inputs, model, path, run->tokens, template->spec.seed);
    } else {
        const WindowsAsked asked = {.ids = run->tokens_file,
                                    .window = run->window,
                                    .stride = run->stride,
                                    .room = memory_room(run->memory)};
        status = windows_read(&chosen->inputs, model, path, &asked);
    }
    if (status != 0) {
        return status;
    }
    status = read_positions(chosen, model, run);
    if (status != 0) {
        return status;
    }
    chosen->digest = inputs_digest(&chosen->inputs);
    return run->shards > 0 ? inputs_take_shard(&chosen->inputs, model->d, run->shard, run->shards)
                           : 0;
}

/* ---- The verdict ----------------------------------------------------------------------------- */

/* The digest of the points and of the words that say which inputs there are. */
static uint64_t digest_words(const Verdict *verdict, const RunOptions *run)
{
    const GridIdentity *identity = &verdict->record.identity;
    const uint64_t windows = verdict->chosen_inputs.digest;
    const char *words[] = {identity->points, run->tokens, run->positions};
    uint64_t digest = DIGEST_START;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *word = words[i] != NULL ? words[i] : "";
        digest = digest_bytes(digest, word, strlen(word));
    }
    return windows != 0 ? digest_bytes(digest, &windows, sizeof windows) : digest;
}

/* The sentence, said and kept for the reports. */
static void say_verdict(Verdict *verdict, const Grid *grid)
{
    const RunOptions *run = verdict->outcome.run;
    FILE *report = output_report(run);
    size_t size;
    FILE *stream = text_stream(&verdict->outcome.said, &size);
    Conclusion conclusion = verify_print_verdict(stream, grid, verdict);
    const char *said = text_close(stream, &verdict->outcome.said);
    Color color = conclusions[conclusion].color;
    Wrapped lines;
    FILE *file = wrapped_open(&lines, report);
    terminal_write(file, terminal_has_colors(report, run->color) ? color : COLOR_NONE, said);
    fputc('\n', file);
    wrapped_close(&lines);
    if (conclusion == CONCLUSION_FAIL) {
        (void)failure_say(report == stderr ? "the verdict is FAIL" : said, run->argc, run->argv);
    }
}

/* One template, and what it adds to the verdict. */
static int judge_template(Verdict *verdict, Grid *grid, const Point *template, int threads)
{
    const RunOptions *run = verdict->outcome.run;
    int status = chosen_read(&verdict->chosen_inputs, template, run);
    if (status != 0) {
        return status;
    }
    Verify verify = {.options = run,
                     .inputs = verdict->chosen_inputs.inputs,
                     .positions = verdict->chosen_inputs.positions,
                     .template = template,
                     .model = template->source->file,
                     .passed = true,
                     .outcome = &verdict->outcome,
                     .kept = &verdict->kept,
                     .colors = terminal_has_colors(output_report(run), run->color)};
    found_init(&verify.found);
    status = verify_template(verdict, &verify, grid, threads);
    verify_limit_worsen(&verdict->limit, &verify.limit);
    verdict->bounds += verify.bounds;
    verdict->chosen = verdict->chosen || verify.chosen == OMEGA_FOUND;
    verify_clear(&verify);
    return status;
}

static int judge_templates(Verdict *verdict, Grid *grid, int threads)
{
    const RunOptions *run = verdict->outcome.run;
    for (size_t i = 0; i < grid->count; i++) {
        bool first = true; /* of its template */
        for (size_t j = 0; j < i && first; j++) {
            first = !verify_same_template(&grid->points[j], &grid->points[i]);
        }
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
    say_verdict(verdict, grid);
    return 0;
}

static const OutcomeKind verify_outcome = {.table = {.bare = BARE_SENTENCES,
                                                     .kept = true,
                                                     .write_header = verify_write_header,
                                                     .write_row = verify_write_rows},
                                           .command = "verify",
                                           .reason = "above its tolerance",
                                           .column = "error",
                                           .limit = "tolerance",
                                           .bounds = "bound",
                                           .write_header = verify_cases_header,
                                           .print_command = verify_print_command};

/* FILE is there already, of a run like this: its verdict is the sidecar's, unless a row fails. */
static int conclude_complete(Outcome *outcome, const char *text)
{
    const RunOptions *run = outcome->run;
    const Point *judged = grid_first_judged(outcome->record.grid);
    if (reports_wanted(&run->check)) {
        return complain((Origin){.flag = "resume"}, run->output,
                        "expected no reports: it is complete, and they were written with it");
    }
    bool failed = !journal_passed(outcome->sink.journal);
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n"), last = length;
        while (last > 0 && line[last - 1] != ',') {
            last--;
        }
        failed = failed || status_find(line + last, length - last) <= STATUS_FAIL;
    }
    Conclusion conclusion = failed           ? CONCLUSION_FAIL
                            : judged != NULL ? CONCLUSION_PASS
                                             : CONCLUSION_EVALUATED;
    if (!run->quiet) {
        fprintf(stderr, "headproof: %s is complete\n", shown(run->output).text);
    }
    fprintf(output_report(run), "verdict: %s\n", conclusions[conclusion].words);
    outcome->failed = failed;
    return 0;
}

/* The journal's points are the inputs; those of a complete table are not looked for. */
static int judge_rest(Verdict *verdict, Grid *grid, int threads)
{
    Outcome *outcome = &verdict->outcome;
    size_t size;
    const char *text =
        outcome->sink.journal != NULL ? journal_complete(outcome->sink.journal, &size) : NULL;
    if (text != NULL) {
        return conclude_complete(outcome, text);
    }
    int status = kept_open(&verdict->kept);
    status = status != 0 ? status : kept_begin(&verdict->kept);
    status = status != 0 ? status : judge_templates(verdict, grid, threads);
    verdict->record.complete = status == 0;
    return status;
}

/* Shards, and a run that goes on, agree in the grid, the weights and the inputs chosen. */
static int judge_grid(Verdict *verdict, Grid *grid, const RunOptions *run)
{
    int status = sweep_record_open(&verdict->record, grid, run);
    if (status != 0) {
        return status;
    }
    /* Points of one token, before anything is opened: those of the inputs' follow (check_fits). */
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        Point point = grid->points[i];
        point.spec.n = 1;
        status = point_fits(&point, memory_room(run->memory), NULL);
    }
    if (status != 0) {
        return status;
    }
    status = chosen_read(&verdict->chosen_inputs, &grid->points[0], run);
    if (status != 0) {
        return status;
    }
    if (run->dry_run) {
        verdict->outcome = (Outcome){.run = run};
        return judge_templates(verdict, grid, run_threads(run));
    }
    digest_print(verdict->record.identity.points, digest_words(verdict, run));
    status = outcome_open(&verdict->outcome, &verify_outcome, grid, run, &verdict->record);
    status = status != 0 ? status : judge_rest(verdict, grid, run_threads(run));
    kept_close(&verdict->kept, status);
    return outcome_end(&verdict->outcome, status);
}

int command_verify(const Grid *grid, const RunOptions *run)
{
    Verdict verdict = {.every = {.run = run}};
    Grid own = *grid; /* whose points get the Omegas that are chosen */
    for (size_t i = 0; i < grid->count; i++) {
        if (grid->points[i].arithmetic == ARITHMETIC_NONE) { /* a verdict is about a machine */
            return complain((Origin){.flag = "arithmetic"}, "none",
                            "expected another: verify judges a machine's arithmetic");
        }
    }
    int status = inputs_check(grid, run);
    if (status != 0) {
        return status;
    }
    status = every_input_check(grid, run);
    if (status != 0) {
        return status;
    }
    kept_init(&verdict.kept, &verdict.outcome.sink, "input");
    own.points = need_zeros(grid->count + 1, sizeof *own.points);
    memcpy(own.points, grid->points, grid->count * sizeof *own.points);
    status = judge_grid(&verdict, &own, run);
    every_input_clear(&verdict.every);
    sweep_record_clear(&verdict.record);
    chosen_clear(&verdict.chosen_inputs);
    ref_thread_clear();
    free(own.points);
    return status;
}
