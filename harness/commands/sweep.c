/*
 * The command `sweep`: every point's rows into a file, in grid order, whatever interrupts.
 */
#include "../base/atomic_file.h"
#include "commands.h"
#include "../evaluate/dispatch.h"
#include "../base/interrupt.h"
#include "../table/journal.h"
#include "../base/message.h"
#include "../evaluate/predict.h"
#include "../base/progress.h"
#include "../evaluate/schedule.h"
#include "../grid/shard.h"
#include "../base/shown.h"
#include "../base/streams.h"
#include "../table/summary.h"
#include "../table/table.h"
#include "../base/team.h"
#include "../base/text_stream.h"

#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Failing points whose reproducing command is printed; the rest is counted. */
enum { FAILURES_SHOWN = 10 };

/* points [count]: what is evaluated.  summaries [count]; passed, seconds [grid->count].
 * writing: held while rows or files are written. */
typedef struct {
    const Grid *grid;
    const RunOptions *options;
    Journal *journal;
    Checkpoints *checkpoints;
    Dispatch *dispatch; /* NULL: no other ranks */
    RunRecord run;
    SweepRecord record;
    size_t *points, count;
    PointSummary *summaries;
    bool *passed;
    double *seconds;
    size_t committed, failures, bounds; /* bounds: cells */
    bool terminal;                      /* stdout is one: a table instead of CSV */
    Progress progress;
    int write_error;
    pthread_mutex_t writing;
} Sweep;

static const Point *point_at(const Sweep *sweep, size_t position)
{
    return &sweep->grid->points[sweep->points[position]];
}

static void report_failure(Sweep *sweep, const Point *point, const PointOutcome *outcome)
{
    sweep->failures++;
    if (sweep->failures <= FAILURES_SHOWN && !sweep->options->file_only) {
        fprintf(stderr,
                "headproof: %s at layer %zu; reproduce: ", status_name(outcome->failed_status),
                outcome->failed_layer);
        point_print_command(stderr, point);
        fputc('\n', stderr);
    }
}

/* What is still to do, of the points from `from` on. */
static double cost_left(const Sweep *sweep, size_t from)
{
    double sum = 0;
    for (size_t i = from; i < sweep->count; i++) {
        sum += point_cost(point_at(sweep, i));
    }
    return sum;
}

/* The next point is committed: what it means for the verdict and the summary. */
static void take_outcome(Sweep *sweep, const PointOutcome *outcome, double seconds)
{
    size_t position = sweep->committed++, index = sweep->points[position];
    sweep->summaries[position] = outcome->summary;
    sweep->passed[index] = outcome->failed_layer == 0;
    sweep->seconds[index] = seconds;
    sweep->bounds += outcome->bounds;
    if (!sweep->passed[index]) {
        report_failure(sweep, &sweep->grid->points[index], outcome);
    }
}

static bool write_rows(Sweep *sweep, const PointRows *rows, bool more)
{
    const char *text = sweep->terminal ? rows->text + rows->csv : rows->text;
    size_t length = sweep->terminal ? rows->shown : rows->csv;
    errno = 0;
    if (journal_append(sweep->journal, text, length) != 0 ||
        (!more && journal_sync(sweep->journal) != 0)) {
        sweep->write_error = errno != 0 ? errno : EIO;
    }
    return sweep->write_error == 0;
}

static bool commit_point(void *context, size_t index, const PointRows *rows, bool more)
{
    Sweep *sweep = context;
    const Point *point = &sweep->grid->points[index];
    PointOutcome outcome;
    if (rows_read(&outcome, rows->text, rows->csv, point) != rows->csv) {
        sweep->write_error = ENOMEM;
        return false;
    }
    pthread_mutex_lock(&sweep->writing);
    if (sweep->options->verbose || sweep->terminal || outcome.failed_layer != 0) {
        progress_clear(&sweep->progress);
    }
    bool written = write_rows(sweep, rows, more);
    if (written) {
        take_outcome(sweep, &outcome, rows->seconds);
        if (sweep->options->verbose) {
            fprintf(stderr, "headproof: %.3f s: ", rows->seconds);
            point_print_command(stderr, point);
            fputc('\n', stderr);
        }
        progress_add(&sweep->progress, 1, point_cost(point));
        checkpoints_commit(sweep->checkpoints, sweep->grid, index);
    }
    pthread_mutex_unlock(&sweep->writing);
    return written;
}

/* After what ends a run early: how to go on. */
static void say_how_to_resume(const Sweep *sweep)
{
    if (journal_survives(sweep->journal)) {
        fprintf(stderr, "headproof: %zu of %zu points are kept; go on with: ", sweep->committed,
                sweep->count);
        print_command_line(sweep->run.argc, sweep->run.argv,
                           sweep->options->resume ? NULL : "--resume");
    }
}

static void say_interrupted(void *context, bool locked)
{
    Sweep *sweep = context;
    if (locked) {
        progress_clear(&sweep->progress);
    }
    if (!journal_survives(sweep->journal)) {
        fputs("headproof: interrupted before the first point\n", stderr);
    }
    say_how_to_resume(sweep);
    if (locked) {
        journal_clear(sweep->journal);
    }
}

static int write_fault(const Sweep *sweep)
{
    const char *path = sweep->options->output;
    errno = sweep->write_error;
    if (path == NULL && sweep->options->stream == NULL) {
        return streams_stdout_failed();
    }
    return atomic_file_failed(path != NULL ? path : "memory");
}

static int run_points(Sweep *sweep, int threads)
{
    const Work work = {.grid = sweep->grid,
                       .points = sweep->points + sweep->committed,
                       .count = sweep->count - sweep->committed,
                       .memory = memory_room(sweep->options->memory),
                       .terminal = sweep->terminal,
                       .checkpoints = sweep->checkpoints};
    double cost = cost_left(sweep, sweep->committed);
    progress_open(&sweep->progress, progress_stderr(sweep->options->quiet), cost);
    progress_phase(&sweep->progress, "", "points", work.count, cost);
    EvaluateStatus status = sweep->dispatch != NULL
                                ? dispatch_run(sweep->dispatch, &work, commit_point, sweep)
                                : schedule_run(&work, threads, commit_point, sweep);
    progress_clear(&sweep->progress);
    if (status == EVALUATE_NO_MEMORY) {
        fprintf(stderr, "headproof: memory is short after %zu of %zu points\n", sweep->committed,
                sweep->count);
        return 99;
    }
    return sweep->write_error != 0 ? write_fault(sweep) : 0;
}

static size_t count_lines(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        count += text[i] == '\n';
    }
    return count;
}

static char *header_text(bool terminal)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = text_stream(&text, &size);
    if (stream == NULL) {
        return NULL;
    }
    int status = 0;
    if (terminal) {
        table_print_header(stream);
    } else {
        status = table_write_header(stream);
    }
    if (fclose(stream) != 0 || status != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static int refuse_rows(const Sweep *sweep, size_t line)
{
    fprintf(stderr,
            "headproof: %s%s:%zu: cannot be resumed: the row is not the one expected there\n",
            shown(sweep->options->output).text,
            journal_is_complete(sweep->journal) ? "" : ".partial", line);
    return 2;
}

/* The columns of the file are those that rows are read by. */
static int check_header(const Sweep *sweep)
{
    char *header = header_text(sweep->terminal);
    if (header == NULL) {
        return memory_fault();
    }
    bool same = journal_has_header(sweep->journal, header);
    free(header);
    return same ? 0 : refuse_rows(sweep, 1);
}

/* Takes in the points that are in the file; *kept: bytes of their rows.  Behind them there may be
 * the torn rows of one more point: what is more has another origin. */
static int take_kept(Sweep *sweep, size_t *kept)
{
    size_t size, length = 1;
    const char *rows = journal_rows(sweep->journal, &size);
    *kept = 0;
    while (sweep->committed < sweep->count && length > 0) {
        PointOutcome outcome;
        length = rows_read(&outcome, rows + *kept, size - *kept, point_at(sweep, sweep->committed));
        if (length == 0 && errno == ENOMEM) {
            return memory_fault();
        }
        *kept += length;
        if (length > 0) {
            take_outcome(sweep, &outcome, -1);
        }
    }
    size_t torn = count_lines(rows + *kept, size - *kept);
    bool whole = sweep->committed == sweep->count;
    if ((whole ? torn > 0 : torn > point_at(sweep, sweep->committed)->spec.depth) ||
        (journal_is_complete(sweep->journal) && (!whole || *kept < size))) {
        return refuse_rows(sweep, count_lines(rows, *kept) + 2);
    }
    if (!sweep->options->quiet && journal_is_complete(sweep->journal)) {
        fprintf(stderr, "headproof: %s is complete\n", shown(sweep->options->output).text);
    } else if (!sweep->options->quiet && sweep->committed > 0) {
        fprintf(stderr, "headproof: %zu of %zu points are there already\n", sweep->committed,
                sweep->count);
    }
    return 0;
}

/* The end of a sweep that ran: the short table, the verdict. */
static int conclude(const Sweep *sweep)
{
    const RunOptions *options = sweep->options;
    if (sweep->failures > FAILURES_SHOWN && !options->file_only) {
        fprintf(stderr, "headproof: and %zu more points fail\n", sweep->failures - FAILURES_SHOWN);
    }
    if (options->output != NULL && !options->quiet && !options->file_only) {
        if (summary_print(stdout, sweep->grid, sweep->points, sweep->count, sweep->summaries) !=
                0 ||
            printf("%zu points in %s", sweep->count, shown(options->output).text) < 0 ||
            (options->certify && print_certified(stdout, sweep->bounds) < 0) ||
            putchar('\n') == EOF || fflush(stdout) != 0) {
            return streams_stdout_failed();
        }
    }
    return sweep->failures > 0 ? 1 : 0;
}

/* Writes what is not there yet. */
static int write_file(Sweep *sweep, size_t kept, int threads)
{
    char *header = header_text(sweep->terminal);
    if (header == NULL) {
        return memory_fault();
    }
    int status = journal_begin(sweep->journal, kept, header, &sweep->run);
    free(header);
    if (status == 0) {
        status = run_points(sweep, threads);
    }
    if (status == 0) {
        pthread_mutex_lock(&sweep->writing);
        sweep->record.complete = true;
        /* Before the file has its name: after that nobody would look for more. */
        if (journal_sync(sweep->journal) == 0) {
            checkpoints_drop(sweep->checkpoints);
        }
        status = journal_finish(sweep->journal, &sweep->run);
        pthread_mutex_unlock(&sweep->writing);
    }
    if (status != 0) {
        say_how_to_resume(sweep);
    }
    return status;
}

/* Evaluates what is not there yet, so that a signal leaves what is. */
static int run_journal(Sweep *sweep, int threads)
{
    size_t kept;
    int status = check_header(sweep);
    if (status == 0) {
        status = take_kept(sweep, &kept);
    }
    if (status == 0 && journal_is_complete(sweep->journal)) {
        checkpoints_drop(sweep->checkpoints);
    }
    if (status != 0 || journal_is_complete(sweep->journal)) {
        return status;
    }
    if (sweep->options->output == NULL) {
        return write_file(sweep, kept, threads);
    }
    Interrupt *interrupt = interrupt_open(&sweep->writing, say_interrupted, sweep);
    if (interrupt == NULL) {
        return memory_fault();
    }
    status = write_file(sweep, kept, threads);
    interrupt_close(interrupt);
    return status;
}

static int prepare(Sweep *sweep)
{
    const Grid *grid = sweep->grid;
    size_t room = grid->count + 1;
    sweep->points = calloc(room, sizeof *sweep->points);
    sweep->summaries = calloc(room, sizeof *sweep->summaries);
    sweep->passed = calloc(room, sizeof *sweep->passed);
    sweep->seconds = calloc(room, sizeof *sweep->seconds);
    if (sweep->points == NULL || sweep->summaries == NULL || sweep->passed == NULL ||
        sweep->seconds == NULL) {
        fprintf(stderr, "headproof: memory is short for %zu points\n", grid->count);
        return 99;
    }
    if (!shard_points(sweep->points, &sweep->count, grid, sweep->record.shard,
                      sweep->record.shards)) {
        return memory_fault();
    }
    sweep->record.points = sweep->points;
    sweep->record.count = sweep->count;
    sweep->record.passed = sweep->passed;
    sweep->run.seconds = sweep->seconds;
    sweep->run.sweep = &sweep->record;
    return grid_identify(&sweep->record.identity, grid);
}

static void clear(Sweep *sweep)
{
    journal_clear(sweep->journal);
    checkpoints_clear(sweep->checkpoints);
    json_decref(sweep->record.ranks);
    free(sweep->points);
    free(sweep->summaries);
    free(sweep->passed);
    free(sweep->seconds);
}

static int check_threads(const RunOptions *run)
{
    if (run->team && run->threads > 1) {
        complain((Origin){.flag = "threads"}, "",
                 "expected 1 or none: the ranks of an MPI job "
                 "have one thread each");
        return 2;
    }
    return 0;
}

/* The whole run of rank 0, or of a process that is alone. */
static int lead(Sweep *sweep)
{
    const RunOptions *run = sweep->options;
    int threads = run->threads > 0 ? run->threads : omp_get_num_procs(), status = 0;
    if (run->team) {
        status = dispatch_meet(&sweep->dispatch, &sweep->record.ranks, &sweep->run);
    }
    if (status == 0) {
        status = checkpoints_claim(sweep->checkpoints);
    }
    if (status == 0) {
        status = run->stream != NULL ? journal_open_stream(&sweep->journal, run->stream)
                                     : journal_open(&sweep->journal, run->output_flag, run->output,
                                                    run->resume, &sweep->run);
    }
    if (status == 0 && !run->resume) {
        checkpoints_drop(sweep->checkpoints);
    }
    if (status == 0) {
        status = run_journal(sweep, threads);
    }
    if (status == 0) {
        status = conclude(sweep);
    }
    return status;
}

int command_sweep(const Grid *grid, const RunOptions *run, int argc, char **argv)
{
    Sweep sweep = {.grid = grid,
                   .options = run,
                   .run = {.argc = argc, .argv = argv, .grid = grid},
                   .record = {.shard = run->shards > 0 ? run->shard : 1,
                              .shards = run->shards > 0 ? run->shards : 1},
                   .writing = PTHREAD_MUTEX_INITIALIZER};
    bool helper = run->team && team_rank() > 0;
    sweep.terminal = run->output == NULL && run->stream == NULL && isatty(STDOUT_FILENO);
    ref_thread_setup();
    int status = helper ? 0 : check_threads(run);
    if (status == 0 && !helper) {
        status = grid_predict(grid, run->memory, NULL);
    }
    if (status == 0) {
        status = prepare(&sweep);
    }
    if (status == 0) {
        status = checkpoints_open(&sweep.checkpoints, run, &sweep.record.identity);
    }
    if (run->team) {
        status = team_largest(status);
    }
    if (status == 0) {
        status = helper ? dispatch_serve(&sweep.run, memory_room(sweep.options->memory),
                                         sweep.checkpoints)
                        : lead(&sweep);
    }
    clear(&sweep);
    dispatch_dismiss(sweep.dispatch, status);
    ref_thread_clear();
    return status;
}
