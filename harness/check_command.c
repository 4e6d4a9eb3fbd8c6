/*
 * headproof check: evaluates the grid into FILE.obtained, judges it, says so.
 */
#include <stdio.h>

#include "commands.h"

#include "atomic_file.h"
#include "check_columns.h"
#include "check_report.h"
#include "info.h"
#include "message.h"
#include "sidecar.h"

#include "../cases/fault.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int WriteReport(FILE *file, const Check *check);

enum { REPORTS = 3 };

/* directory: made for the tables, where no baseline says where they go; or NULL. */
typedef struct {
    Check check;
    const RunOptions *run;
    char *directory, *obtained, *sidecar;
    AtomicFile reports[REPORTS];
    bool missing; /* the baseline */
} Checking;

static char *join(const char *a, const char *b)
{
    size_t size = strlen(a) + strlen(b) + 1;
    char *joined = malloc(size);
    if (joined != NULL) {
        snprintf(joined, size, "%s%s", a, b);
    }
    return joined;
}

/* ---- Before any work ------------------------------------------------------------------------ */

static int check_options(const Grid *grid, const CheckOptions *options)
{
    if (options->save != NULL && options->baseline != NULL) {
        complain((Origin){.flag = "save-baseline"}, options->save,
                 "expected --baseline or --save-baseline");
        return 2;
    }
    if (options->force && options->save == NULL) {
        complain((Origin){.flag = "force"}, "force", "expected --save-baseline with it");
        return 2;
    }
    if (options->save != NULL && !options->force && access(options->save, F_OK) == 0) {
        complain((Origin){.flag = "save-baseline"}, options->save,
                 "expected no such file yet (--force replaces it)");
        return 2;
    }
    for (size_t i = 0; options->save == NULL && options->baseline == NULL && i < grid->count; i++) {
        if (!grid->points[i].judged) {
            fputs("headproof: check: expected --baseline FILE, or a tolerance for every point; "
                  "without one: ",
                  stderr);
            point_print_command(stderr, &grid->points[i]);
            putc('\n', stderr);
            return 2;
        }
    }
    return 0;
}

/* Where the obtained table goes: beside the baseline, or a directory of its own. */
static int choose_paths(Checking *command)
{
    const CheckOptions *options = &command->run->check;
    const char *beside = options->save != NULL ? options->save : options->baseline;
    if (beside == NULL && command->run->resume) {
        complain((Origin){.flag = "resume"}, "check",
                 "expected --baseline FILE: what is interrupted is left beside it");
        return 2;
    }
    if (beside == NULL) {
        const char *temporary = getenv("TMPDIR");
        bool given = temporary != NULL && *temporary != '\0';
        command->directory = join(given ? temporary : "/tmp", "/headproof-check.XXXXXX");
        if (command->directory == NULL) {
            return memory_fault();
        }
        if (mkdtemp(command->directory) == NULL) {
            int failed = atomic_file_failed(command->directory);
            free(command->directory);
            command->directory = NULL;
            return failed;
        }
    }
    command->obtained =
        beside == NULL ? join(command->directory, "/obtained.csv") : join(beside, ".obtained");
    command->sidecar = command->obtained == NULL ? NULL : join(command->obtained, ".json");
    return command->sidecar == NULL ? memory_fault() : 0;
}

static int open_reports(Checking *command)
{
    const CheckOptions *options = &command->run->check;
    const struct {
        const char *flag, *path;
    } given[REPORTS] = {{"junit-xml", options->junit_xml},
                        {"markdown", options->markdown},
                        {"json", options->json}};
    int status = 0;
    for (size_t i = 0; i < REPORTS && status == 0; i++) {
        command->reports[i].flag = given[i].flag;
        status = given[i].path == NULL ? 0 : atomic_file_open(&command->reports[i], given[i].path);
    }
    return status;
}

/* ---- The machine of the baseline ------------------------------------------------------------ */

static int mention_fact(Check *check, const json_t *sidecar, const Fact *fact)
{
    const char *then = json_string_value(json_object_get(sidecar, fact->name));
    if (then != NULL && strcmp(then, fact->text) == 0) {
        return 0;
    }
    check->other_machine = true;
    return check_mention(check,
                         "the baseline's %s is %s, this one's %s: machine errors are "
                         "compared by factor all the same, `identical` is not",
                         fact->name, then != NULL ? then : "unknown", fact->text);
}

static int mention_machine(Check *check)
{
    Fact facts[FACTS_MOST];
    size_t count = facts_read(facts);
    if (count == 0) {
        return facts_fault();
    }
    char *path = join(check->options->baseline, ".json");
    if (path == NULL) {
        return memory_fault();
    }
    json_t *sidecar = sidecar_load(path);
    int reason = sidecar == NULL ? errno : 0, status = 0;
    if (file_fault(reason) == 99) {
        status = csv_unreadable(path, reason);
    } else if (sidecar == NULL) {
        check->other_machine = true;
        status = check_mention(check,
                               "no sidecar %s says which machine the baseline is from: "
                               "`identical` is not compared",
                               path);
    }
    for (size_t i = 0; i < count && sidecar != NULL && status == 0; i++) {
        if (strcmp(facts[i].name, "cpu") == 0 || strcmp(facts[i].name, "openblas_core") == 0) {
            status = mention_fact(check, sidecar, &facts[i]);
        }
    }
    json_decref(sidecar);
    free(path);
    return status;
}

/* ---- After it ------------------------------------------------------------------------------- */

static int write_reports(Checking *command)
{
    static WriteReport *const writers[REPORTS] = {report_xml, report_markdown, report_json};
    for (size_t i = 0; i < REPORTS; i++) {
        AtomicFile *file = &command->reports[i];
        if (file->file != NULL &&
            (writers[i](file->file, &command->check) != 0 || atomic_file_sync(file) != 0 ||
             atomic_file_publish(file) != 0 || atomic_file_close(file) != 0)) {
            return atomic_file_failed(file->path);
        }
    }
    return 0;
}

static int keep_baseline(const Checking *command)
{
    const char *path = command->run->check.save;
    char *sidecar = join(path, ".json");
    if (sidecar == NULL) {
        return memory_fault();
    }
    bool renamed = rename(command->obtained, path) == 0 && rename(command->sidecar, sidecar) == 0;
    free(sidecar);
    return renamed ? 0 : atomic_file_failed(path);
}

/* The obtained table is left where it is evidence. */
static void remove_obtained(const Checking *command)
{
    (void)unlink(command->obtained);
    (void)unlink(command->sidecar);
    if (command->directory != NULL) {
        (void)rmdir(command->directory);
    }
}

/* A new baseline is compared with itself: what could never pass is not saved. */
static int read_tables(Checking *command)
{
    Check *check = &command->check;
    int status = csv_read(&check->obtained, command->obtained);
    if (status == 0) {
        status = check_cells(&check->obtained);
    }
    if (status == 0 && command->run->check.save != NULL) {
        check->has_baseline = true;
        status = csv_read(&check->baseline, command->obtained);
    }
    return status == 2 ? 99 : status; /* the program wrote it */
}

static int judge(Checking *command, int swept)
{
    Check *check = &command->check;
    const CheckOptions *options = &command->run->check;
    int status = read_tables(command);
    if (status == 0 && check->has_baseline && options->save == NULL) {
        status = mention_machine(check);
    }
    if (status == 0) {
        status = check_judge(check);
    }
    if (status == 0 && (command->missing || (swept != 0 && check_passes(check)))) {
        Finding finding = {.reason = command->missing ? "no baseline of that name"
                                                      : "the sweep failed, and no row says why",
                           .row = NO_ROW,
                           .obtained = command->missing ? options->baseline : NULL};
        status = check_find(check, &finding);
    }
    return status != 0 ? status : write_reports(command);
}

static int conclude(Checking *command)
{
    const CheckOptions *options = &command->run->check;
    bool passes = check_passes(&command->check);
    int status = passes && options->save != NULL ? keep_baseline(command) : 0;
    if (status != 0) {
        return status;
    }
    report_print(stdout, &command->check, command->run->quiet);
    if (passes && options->save != NULL && !command->run->quiet) {
        printf("saved: %s\n", options->save);
    }
    if (!passes && command->directory == NULL && !command->run->quiet) {
        printf("obtained: %s\n", command->obtained);
    }
    if (passes) {
        remove_obtained(command);
    }
    return passes ? 0 : FAULT("exit-code-counts", (int)command->check.failed, 1);
}

static int evaluate(Checking *command, const Grid *grid, int argc, char **argv)
{
    RunOptions run = *command->run;
    run.output = command->obtained;
    run.output_flag = run.check.save != NULL ? "save-baseline" : "baseline";
    run.file_only = true;
    int swept = command_sweep(grid, &run, argc, argv);
    if (swept != 0 && swept != 1) {
        return swept;
    }
    int status = judge(command, swept);
    return status != 0 ? status : conclude(command);
}

int command_check(const Grid *grid, const RunOptions *run, int argc, char **argv)
{
    Checking command = {
        .run = run, .check = {.grid = grid, .options = &run->check, .argc = argc, .argv = argv}};
    int status = check_options(grid, &run->check);
    if (status == 0) {
        status = check_open(&command.check, &command.missing);
    }
    if (status == 0) {
        status = open_reports(&command);
    }
    if (status == 0) {
        status = choose_paths(&command);
    }
    if (status == 0) {
        status = evaluate(&command, grid, argc, argv);
    }
    if (command.directory != NULL) {
        remove_obtained(&command);
    }
    for (size_t i = 0; i < REPORTS; i++) {
        atomic_file_clear(&command.reports[i]);
    }
    free(command.directory);
    free(command.obtained);
    free(command.sidecar);
    check_clear(&command.check);
    return status;
}
