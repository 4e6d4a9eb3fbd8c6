/*
 * headproof check: evaluates the grid into FILE.obtained, or without a FILE into memory, judges it,
 * says so.
 */
#include <stdio.h>

#include "check.h"
#include "report.h"

#include "../../../memory/need.h"
#include "../../base/atomic_file.h"
#include "../../base/info.h"
#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../base/terminal.h"
#include "../../base/text_stream.h"
#include "../../grid/distinct.h"
#include "../../table/check_columns.h"
#include "../../table/sidecar.h"
#include "../commands.h"
#include "../guarantee/bound.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* beside: the baseline that the obtained table and its sidecar lie beside.  These three are NULL
 * where there is none; then text [length] is the table, until it is read. */
typedef struct {
    Check check;
    char *beside, *obtained, *sidecar;
    char *text;
    size_t length;
    double *seconds; /* [points] */
    Reports reports;
} Checking;

/* ---- Before any work ------------------------------------------------------------------------ */

static int check_options(const Grid *grid, const RunOptions *run)
{
    const CheckOptions *options = &run->check;
    const char *save = options->save, *baseline = options->baseline;
    const struct {
        bool wrong;
        const char *flag, *token, *expected;
    } faults[] = {
        {save != NULL && baseline != NULL, "save-baseline", save, "--baseline or --save-baseline"},
        {options->force && save == NULL, "force", "force", "--save-baseline with it"},
        {run->input_norm > 0 && !run->every_input, "input-norm", NULL, "--every-input with it"},
        {run->resume && run->every_input, "resume", NULL, "it without --every-input"},
        {options->update && baseline == NULL, "update", "update", "--baseline FILE with it"},
        {options->exact && baseline == NULL, "exact", "exact", "--baseline FILE with it"},
        {options->factor > 0 && baseline == NULL, "factor", NULL, "--baseline FILE with it"},
        {save != NULL && !options->force && access(save, F_OK) == 0, "save-baseline", save,
         "no such file yet (--force replaces it)"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (faults[i].wrong) {
            return complain((Origin){.flag = faults[i].flag}, faults[i].token, "expected %s",
                            faults[i].expected);
        }
    }
    for (size_t i = 0; save == NULL && baseline == NULL && i < grid->count; i++) {
        if (!grid->points[i].judged) {
            fputs("headproof: check: expected --baseline FILE, or a tolerance for every point; "
                  "without one: ",
                  stderr);
            if (run->every_input) {
                bound_print_command(stderr, &grid->points[i], run);
            } else {
                point_print_command(stderr, &grid->points[i]);
            }
            putc('\n', stderr);
            return 2;
        }
    }
    return 0;
}

/* A table obtained that is there is an earlier run's: its sidecar has its digest, or, where that
 * run was killed, FILE.obtained.partial is there, which the sweep looks at. */
static int claim_obtained(const Checking *command, const char *flag)
{
    bool there;
    uint64_t digest = DIGEST_START;
    char *partial = atomic_file_name(command->obtained, ".partial");
    const char *doubt = atomic_file_doubt(&there, command->obtained);
    bool ours = !there || access(partial, F_OK) == 0;
    if (doubt == NULL && !ours) {
        json_t *sidecar = sidecar_load(command->sidecar);
        int fd = open(command->obtained, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        ours =
            fd >= 0 && digest_descriptor(&digest, fd) == 0 && sidecar_has_digest(sidecar, digest);
        (void)(fd >= 0 && close(fd)); /* it was only read */
        json_decref(sidecar);
    }
    free(partial);
    return doubt == NULL && ours ? 0 : atomic_file_refuse(flag, command->obtained, doubt);
}

/* Nobody named the files beside the baseline: what is there must be the program's own. */
static int claim_paths(const Checking *command)
{
    const CheckOptions *options = &command->check.run->check;
    const char *flag = options->save != NULL ? "save-baseline" : "baseline";
    const NamedFile files[] = {{flag, command->obtained, true},
                               {"junit-xml", options->junit_xml, false},
                               {"markdown", options->markdown, false},
                               {"json", options->json, false}};
    int status = claim_obtained(command, flag);
    status = status != 0 ? status : distinct_check(files, sizeof files / sizeof *files, NULL, 0);
    if (status != 0 || options->save == NULL) {
        return status;
    }
    char *sidecar = atomic_file_name(command->beside, ".json");
    status = atomic_file_claim(flag, sidecar);
    free(sidecar);
    return status;
}

/* Where the obtained table goes: beside the baseline, or the file that a link to it leads to. */
static int choose_paths(Checking *command)
{
    const CheckOptions *options = &command->check.run->check;
    if (options->save == NULL && options->baseline == NULL) {
        if (command->check.run->resume) {
            return complain((Origin){.flag = "resume"}, "check",
                            "expected --baseline FILE: what is interrupted is left beside it");
        }
        return 0;
    }
    const char *written = options->update ? options->baseline : options->save;
    command->beside =
        written != NULL ? atomic_file_target(written) : atomic_file_name(options->baseline, "");
    if (command->beside == NULL) {
        return memory_fault();
    }
    command->obtained = atomic_file_name(command->beside, ".obtained");
    command->sidecar = atomic_file_name(command->obtained, ".json");
    return claim_paths(command);
}

/* ---- The machine of the baseline ------------------------------------------------------------ */

static int mention_machine(Check *check)
{
    static const char *const names[] = {"cpu", "openblas_core"};
    json_t *facts = facts_read();
    for (size_t i = 0; facts != NULL && i < sizeof names / sizeof *names; i++) {
        const char *name = names[i], *now = json_string_value(json_object_get(facts, name));
        const char *then = json_string_value(json_object_get(check->sidecar, name));
        if (then == NULL || strcmp(then, now) != 0) {
            check->other_machine = true;
            check_mention(check,
                          "the baseline's %s is %s, this one's %s: machine errors are "
                          "compared by factor all the same, `identical` is not",
                          name, then != NULL ? then : "unknown", now);
        }
    }
    json_decref(facts);
    return facts == NULL ? facts_fault() : 0;
}

/* ---- After it ------------------------------------------------------------------------------- */

static int keep_baseline(const Checking *command)
{
    const char *path = command->beside;
    char *sidecar = atomic_file_name(path, ".json");
    bool renamed = rename(command->obtained, path) == 0 && rename(command->sidecar, sidecar) == 0 &&
                   atomic_file_sync_directory(path) == 0;
    free(sidecar);
    return renamed ? 0 : atomic_file_failed(path);
}

/* A new baseline is compared with itself: what could never pass is not saved. */
static int read_tables(Checking *command)
{
    Check *check = &command->check;
    bool saves = command->check.run->check.save != NULL;
    char *text = command->text;
    command->text = NULL;
    int status = text != NULL ? csv_take(&check->obtained, "obtained", text, command->length)
                              : csv_read(&check->obtained, command->obtained);
    status = status != 0 ? status : check_cells(&check->obtained);
    status = status != 0 || !saves ? status : csv_read(&check->baseline, command->obtained);
    if (status != 0) {
        return status == 2 ? 99 : status; /* the program wrote it */
    }
    /* What no row knows: the seconds that a point took, which its rows share (an interrupted run's
     * took nothing now), and the digest of the weights. */
    size_t rows = check->obtained.rows, row = 0;
    json_t *sidecar = command->sidecar != NULL ? sidecar_load(command->sidecar) : NULL;
    check->seconds = need_zeros(rows > 0 ? rows : 1, sizeof *check->seconds);
    sidecar_weights(check->weights, sidecar);
    for (size_t p = 0; p < check->grid->count; p++) {
        size_t depth = check->grid->points[p].spec.depth;
        for (size_t l = 0; l < depth && row < rows; l++) {
            check->seconds[row++] = fmax(0, command->seconds[p]) / (double)depth;
        }
    }
    json_decref(sidecar);
    check->has_baseline = check->has_baseline || saves;
    return 0;
}

static int judge(Checking *command, int swept)
{
    Check *check = &command->check;
    bool other = command->check.run->check.baseline != NULL;
    int status = read_tables(command);
    status = status != 0 || !other ? status : mention_machine(check);
    if (status != 0) {
        return status;
    }
    check_judge(check);
    check_mention_conditions(check);
    if (swept != 0 && check_passes(check)) {
        check_find(check,
                   (Finding){.reason = "the sweep failed, and no row says why", .row = NO_ROW});
    }
    return reports_write(&command->reports, check);
}

/* Compares the obtained table with itself, as one that is saved for the first time; says so where
 * it can be no baseline. */
static bool can_be_baseline(const Checking *command)
{
    const Check *check = &command->check;
    RunOptions run = *check->run;
    run.check.baseline = NULL;
    run.check.save = command->beside;
    Check itself = {.command = check->command,
                    .grid = check->grid,
                    .run = &run,
                    .obtained = check->obtained,
                    .baseline = check->obtained,
                    .has_baseline = true};
    check_judge(&itself);
    bool passes = check_passes(&itself);
    if (!passes) {
        puts("as a baseline:");
        report_print(&itself);
    }
    itself.obtained = itself.baseline = (Csv){0}; /* they are the check's own */
    check_clear(&itself);
    return passes;
}

static int conclude(Checking *command)
{
    const Check *check = &command->check;
    const CheckOptions *options = &check->run->check;
    bool quiet = check->run->quiet, passes = check_passes(check);
    if (options->update) {
        /* The old baseline was compared with, so that what is new was seen; then it is replaced. */
        report_print(check);
        passes = can_be_baseline(command);
    }
    const char *kept = !passes ? NULL : options->update ? options->baseline : options->save;
    int status = kept != NULL ? keep_baseline(command) : 0;
    if (status != 0) {
        return status;
    }
    if (!options->update) {
        report_print(check);
    }
    if (kept != NULL && !quiet) {
        printf("%s: %s\n", options->update ? "updated" : "saved", shown(kept).text);
    }
    if (!passes && command->obtained != NULL && !quiet) { /* it is left where it is evidence */
        printf("obtained: %s\n", shown(command->obtained).text);
    }
    if (passes && command->obtained != NULL) { /* this run's */
        (void)unlink(command->obtained);
        (void)unlink(command->sidecar);
    }
    if (passes) {
        return 0;
    }
    char verdict[VERDICT_TEXT]; /* once more, for a reader of stderr alone */
    report_verdict(verdict, check);
    return failure_say(verdict, check->run->argc, check->run->argv);
}

/* Into a file that a run which is interrupted goes on with, or into memory. */
static int sweep(Checking *command, const Grid *grid)
{
    RunOptions run = *command->check.run;
    run.output = command->obtained;
    run.output_flag = run.check.save != NULL ? "save-baseline" : "baseline";
    run.file_only = true;
    run.stream = run.output == NULL ? text_stream(&command->text, &command->length) : NULL;
    run.seconds = command->seconds = need_zeros(grid->count + 1, sizeof *run.seconds);
    run.check = (CheckOptions){0}; /* reports are this command's */
    int swept = (command->check.run->every_input ? command_guarantee : command_sweep)(grid, &run);
    if (run.stream != NULL) {
        (void)text_close(run.stream, &command->text);
    }
    return swept;
}

int command_check(const Grid *grid, const RunOptions *run)
{
    Checking command = {.check = {.command = "check", .grid = grid, .run = run}};
    command.check.judged = run->check.baseline != NULL || grid_first_judged(grid) != NULL;
    int status = check_options(grid, run);
    status = status != 0 ? status : check_open(&command.check);
    status = status != 0 ? status : choose_paths(&command);
    status = status != 0 ? status : reports_open(&command.reports, &run->check);
    if (status == 0) {
        int swept = sweep(&command, grid);
        status = swept == 0 || swept == 1 ? judge(&command, swept) : swept;
        status = status != 0 ? status : conclude(&command);
    }
    reports_clear(&command.reports);
    free(command.beside);
    free(command.obtained);
    free(command.sidecar);
    free(command.text);
    free(command.seconds);
    check_clear(&command.check);
    return status;
}
