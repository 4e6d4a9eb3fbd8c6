/*
 * The command `sweep`: every point's rows into a file, in grid order, whatever interrupts.
 */
#include "sweep.h"

#include "resume.h"

#include "../../base/atomic_file.h"
#include "../../base/interrupt.h"
#include "../../base/memory.h"
#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../base/streams.h"
#include "../../base/team.h"
#include "../../base/text_stream.h"
#include "../../base/ticker.h"
#include "../../evaluate/predict.h"
#include "../../evaluate/schedule.h"
#include "../../table/expanded.h"
#include "../../table/output.h"
#include "../../table/summary_table.h"
#include "../../table/table.h"
#include "../commands.h"

#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Failing points whose reproducing command is printed; the rest is counted. */
enum { FAILURES_SHOWN = 10 };

const Point *sweep_point(const Sweep *sweep, size_t position)
{
    return &sweep->grid->points[sweep->points[position]];
}

static void report_failure(Sweep *sweep, const Point *point, const PointOutcome *outcome)
{
    sweep->failures++;
    if (sweep->failures <= FAILURES_SHOWN && !sweep->options->file_only) {
        bool lost = outcome->failed_status == STATUS_ERROR;
        fprintf(stderr,
                "headproof: %s at layer %zu%s%s; reproduce: ", status_name(outcome->failed_status),
                outcome->failed_layer, lost ? ": " : "", lost ? STATUS_ERROR_WHY : "");
        point_print_command(stderr, point);
        fputc('\n', stderr);
    }
}

/* The cost of the points from `from` on that are still to do. */
static double cost_left(const Sweep *sweep, size_t from)
{
    double sum = 0;
    for (size_t i = from; i < sweep->count; i++) {
        sum += point_cost(sweep_point(sweep, i));
    }
    return sum;
}

void sweep_take_outcome(Sweep *sweep, const PointOutcome *outcome, double seconds)
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

/* The rows as a terminal shows them, or with the columns of --expand; 0, or -1 (errno). */
static int write_other_rows(Sweep *sweep, const Point *point, const PointRows *rows)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = text_stream(&text, &size);
    if (stream == NULL) {
        return -1;
    }
    int status = 0;
    if (sweep->terminal) {
        live_print(stream, &sweep->live, point, rows->text + rows->csv, rows->shown);
    } else {
        status = expanded_write(stream, sweep->grid, point, rows->text, rows->csv);
    }
    status =
        fclose(stream) != 0 || status != 0 ? -1 : journal_append(sweep->journal, text, size, 0);
    free(text);
    return status;
}

static bool write_rows(Sweep *sweep, const Point *point, const PointRows *rows, bool more)
{
    errno = 0;
    int status = sweep->terminal || sweep->options->expand
                     ? write_other_rows(sweep, point, rows)
                     : journal_append(sweep->journal, rows->text, rows->csv, rows->seconds);
    if (status != 0 || (!more && journal_sync(sweep->journal) != 0)) {
        sweep->write_error = errno != 0 ? errno : EIO;
    }
    return sweep->write_error == 0;
}

static bool commit_point(void *context, size_t index, const PointRows *rows, bool more)
{
    Sweep *sweep = context;
    const Point *point = &sweep->grid->points[index];
    const PointOutcome *outcome = &rows->outcome;
    pthread_mutex_lock(&sweep->writing);
    if (sweep->options->verbose || sweep->terminal || outcome->failed_layer != 0) {
        progress_clear(&sweep->progress);
    }
    bool written = write_rows(sweep, point, rows, more);
    if (written) {
        sweep_take_outcome(sweep, outcome, rows->seconds);
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
    Ticker *ticker = ticker_open(&sweep->writing, &sweep->progress);
    EvaluateStatus status = sweep->dispatch != NULL
                                ? dispatch_run(sweep->dispatch, &work, commit_point, sweep)
                                : schedule_run(&work, threads, commit_point, sweep);
    ticker_close(ticker);
    progress_clear(&sweep->progress);
    if (status == EVALUATE_NO_MEMORY) {
        fprintf(stderr, "headproof: memory is short after %zu of %zu points\n", sweep->committed,
                sweep->count);
        return 99;
    }
    return sweep->write_error != 0 ? write_fault(sweep) : 0;
}

/* The header of a table, as --expand has it. */
static int write_expanded_header(FILE *file, const Sweep *sweep)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = text_stream(&text, &size);
    int status = stream == NULL ? -1 : table_write_header(stream, sweep->options->propagation);
    status = stream != NULL && fclose(stream) != 0 ? -1 : status;
    status = status == 0 ? expanded_write(file, sweep->grid, NULL, text, size) : status;
    free(text);
    return status;
}

char *sweep_header(const Sweep *sweep)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = text_stream(&text, &size);
    if (stream == NULL) {
        return NULL;
    }
    int status = 0;
    if (sweep->terminal) {
        status = 0; /* live_print has its own, with the first rows */
    } else if (sweep->options->expand) {
        status = write_expanded_header(stream, sweep);
    } else {
        status = table_write_header(stream, sweep->options->propagation);
    }
    if (fclose(stream) != 0 || status != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Where there is a file, or stdout was asked to be the table.  0, or -1. */
static int print_summary(const Sweep *sweep)
{
    const RunOptions *options = sweep->options;
    const char *path = options->output != NULL ? options->output : "stdout";
    FILE *file = output_report(options);
    if (options->output == NULL && !options->on_stdout) {
        return 0;
    }
    bool ok =
        summary_table_print(file, sweep->grid, sweep->points, sweep->count, sweep->summaries) == 0;
    ok = ok && fprintf(file, "%zu points in %s", sweep->count, shown(path).text) >= 0;
    ok = ok && (!options->certify || print_certified(file, sweep->bounds) >= 0);
    return ok && putc('\n', file) != EOF && fflush(file) == 0 ? 0 : -1;
}

/* The end of a sweep that ran: the short table, the verdict. */
static int conclude(const Sweep *sweep)
{
    const RunOptions *options = sweep->options;
    if (sweep->failures > FAILURES_SHOWN && !options->file_only) {
        fprintf(stderr, "headproof: and %zu more points fail\n", sweep->failures - FAILURES_SHOWN);
    }
    if (!options->quiet && !options->file_only && print_summary(sweep) != 0) {
        return streams_stdout_failed();
    }
    return sweep->failures > 0 ? 1 : 0;
}

/* Writes what is not there yet. */
static int write_file(Sweep *sweep, size_t kept, int threads)
{
    char *header = sweep_header(sweep);
    if (header == NULL) {
        return memory_fault();
    }
    int status = journal_begin(sweep->journal, kept, header, &sweep->run);
    free(header);
    status = status != 0 ? status : run_points(sweep, threads);
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

/* Is what an interrupted run leaves gone on with? */
static bool is_kept(const Sweep *sweep)
{
    return format_is_csv(format_find(sweep->options->format)) && !sweep->options->expand;
}

/* Evaluates what is not there yet, so that a signal leaves what is. */
static int run_journal(Sweep *sweep, int threads)
{
    size_t kept;
    int status = sweep_take_kept(sweep, &kept);
    if (status == 0 && journal_is_complete(sweep->journal)) {
        checkpoints_drop(sweep->checkpoints);
    }
    if (status != 0 || journal_is_complete(sweep->journal)) {
        return status;
    }
    if (sweep->options->output == NULL || !is_kept(sweep)) {
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
    if (sweep->terminal) {
        if (live_open(&sweep->live, grid, sweep->points, sweep->count, terminal_width(stdout)) !=
            0) {
            return memory_fault();
        }
        sweep->live.colors = terminal_has_colors(stdout, sweep->options->color);
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
        complain((Origin){.flag = "threads"}, NULL,
                 "expected 1 or none: the ranks of an MPI job "
                 "have one thread each");
        return 2;
    }
    return 0;
}

static int open_journal(Sweep *sweep)
{
    const RunOptions *run = sweep->options;
    if (run->stream != NULL) {
        return journal_open_stream(&sweep->journal, run->stream);
    }
    if (!is_kept(sweep)) {
        return journal_open_format(&sweep->journal, run->output, format_find(run->format));
    }
    return journal_open(&sweep->journal, run->output_flag, run->output, run->resume, &sweep->run);
}

/* The whole run of rank 0, or of a process that is alone. */
static int lead(Sweep *sweep)
{
    const RunOptions *run = sweep->options;
    int threads = run->threads > 0 ? run->threads : omp_get_num_procs(), status = 0;
    if (run->team) {
        status = dispatch_meet(&sweep->dispatch, &sweep->record.ranks, &sweep->run);
    }
    status = status != 0 ? status : checkpoints_claim(sweep->checkpoints);
    status = status != 0 ? status : open_journal(sweep);
    if (status == 0 && !run->resume) {
        checkpoints_drop(sweep->checkpoints);
    }
    status = status != 0 ? status : run_journal(sweep, threads);
    status = status != 0 ? status : conclude(sweep);
    return status;
}

int command_sweep(const Grid *grid, const RunOptions *run)
{
    Sweep sweep = {.grid = grid,
                   .options = run,
                   .run = {.argc = run->argc, .argv = run->argv, .grid = grid},
                   .record = {.shard = run->shards > 0 ? run->shard : 1,
                              .shards = run->shards > 0 ? run->shards : 1},
                   .writing = PTHREAD_MUTEX_INITIALIZER};
    bool helper = run->team && team_rank() > 0;
    sweep.terminal = run->output == NULL && run->stream == NULL && !run->on_stdout &&
                     !run->expand && isatty(STDOUT_FILENO);
    ref_thread_setup();
    int status = helper ? 0 : check_threads(run);
    if (status == 0 && !helper) {
        status = grid_predict(grid, run->memory, NULL);
    }
    status = status != 0 ? status : prepare(&sweep);
    if (status == 0 && is_kept(&sweep)) {
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
