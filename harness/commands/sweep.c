/*
 * The command `sweep`: every point's rows into a file, in grid order, whatever interrupts.
 */
#include "../../memory/need.h"
#include "../base/memory.h"
#include "../base/message.h"
#include "../base/progress.h"
#include "../base/shown.h"
#include "../base/streams.h"
#include "../base/team.h"
#include "../base/text_stream.h"
#include "../base/ticker.h"
#include "../evaluate/dispatch.h"
#include "../evaluate/predict.h"
#include "../evaluate/rows.h"
#include "../evaluate/schedule.h"
#include "../table/live.h"
#include "../table/sink.h"
#include "../table/summary.h"
#include "../table/table.h"
#include "commands.h"
#include "kept.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Failing points whose reproducing command is printed; the rest is counted. */
enum { FAILURES_SHOWN = 10 };

/* rows, done, summaries [record.count]: of the points that are there.  taken: points before it are
 * all there, and were written, where no journal has them, and reported. */
typedef struct {
    const Grid *grid;
    const RunOptions *options;
    Sink sink;
    Dispatch *dispatch; /* NULL: no other ranks */
    RunRecord run;
    SweepRecord record;
    PointRows *rows;
    bool *done;
    PointSummary *summaries;
    size_t taken, failures, bounds; /* bounds: cells */
    Live live;                      /* a terminal's table */
    Kept kept;
} Sweep;

/* The point at a position of those that are evaluated. */
static const Point *point_at(const Sweep *sweep, size_t position)
{
    return &sweep->grid->points[sweep->record.points[position]];
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

static int compare_indices(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The position of a point of the grid; record.count: it is not evaluated. */
static size_t position_of(const Sweep *sweep, size_t index)
{
    const SweepRecord *record = &sweep->record;
    const size_t *found =
        bsearch(&index, record->points, record->count, sizeof index, compare_indices);
    return found != NULL ? (size_t)(found - record->points) : record->count;
}

static bool write_rows(Sweep *sweep, const Point *point, const PointRows *rows)
{
    FILE *file = sweep->sink.lines;
    if (sweep->sink.text) {
        live_take(&sweep->live, point, rows->outcome.summary.sizes);
    }
    if (sweep->options->expand) {
        expanded_write(file, sweep->grid, point, rows->text, rows->length);
    } else {
        (void)fwrite(rows->text, 1, rows->length, file); /* the file tells */
    }
    return !ferror(file) && (!sweep->sink.text || sink_commit(&sweep->sink) == 0);
}

/* All points before it were taken. */
static bool take_next(Sweep *sweep)
{
    size_t position = sweep->taken, index = sweep->record.points[position];
    const Point *point = &sweep->grid->points[index];
    PointRows *rows = &sweep->rows[position];
    const PointOutcome *outcome = &rows->outcome;
    bool verbose = sweep->options->verbose && rows->seconds >= 0;
    if (verbose || sweep->sink.text || outcome->failed_layer != 0) {
        progress_clear(&sweep->kept.progress);
    }
    if (sweep->sink.lines != NULL && !write_rows(sweep, point, rows)) {
        return false;
    }
    sweep->taken++;
    sweep->summaries[position] = outcome->summary;
    sweep->record.passed[index] = outcome->failed_layer == 0;
    sweep->record.seconds[index] = rows->seconds;
    if (sweep->options->seconds != NULL) {
        sweep->options->seconds[index] = rows->seconds;
    }
    sweep->bounds += outcome->bounds;
    if (!sweep->record.passed[index]) {
        report_failure(sweep, point, outcome);
    }
    if (verbose) {
        fprintf(stderr, "headproof: %.3f s: ", rows->seconds);
        point_print_command(stderr, point);
        fputc('\n', stderr);
    }
    rows_clear(rows);
    return true;
}

/* A point is there, whose rows are the sweep's from here on: what it means for the table, the
 * verdict and the summary, as soon as all before it are there.  rows->text may be NULL where a
 * journal has them; rows->seconds is negative where they were not measured.  more: another follows
 * at once.  False (errno): what is written failed. */
static bool take_point(Sweep *sweep, size_t position, PointRows *rows, bool more)
{
    bool written = true;
    sweep->rows[position] = *rows;
    sweep->done[position] = true;
    while (written && sweep->taken < sweep->record.count && sweep->done[sweep->taken]) {
        written = take_next(sweep);
    }
    return written && (sweep->sink.lines == NULL || more || sink_commit(&sweep->sink) == 0);
}

/* ---- What an interrupted or a complete sweep left ------------------------------------------- */

void sweep_write_header(FILE *file, const RunOptions *run)
{
    table_write_header(file, run->propagation);
}

/* The line before the rows; free it. */
static char *header_text(const Sweep *sweep)
{
    size_t size;
    char *header;
    FILE *text = text_stream(&header, &size);
    sweep_write_header(text, sweep->options);
    return text_close(text, &header);
}

/* The file is there already, of a run like this. */
static int take_complete(Sweep *sweep, const char *text, size_t size)
{
    char *header = header_text(sweep);
    size_t used = strlen(header);
    bool same = used <= size && memcmp(text, header, used) == 0;
    free(header);
    used = same ? used : 0;
    for (size_t i = 0; i < sweep->record.count && same; i++) {
        PointRows rows = {.seconds = -1};
        size_t length = rows_read(&rows.outcome, text + used, size - used, point_at(sweep, i));
        same = length > 0 && take_point(sweep, i, &rows, true);
        used += length;
    }
    if (!same || used < size) {
        return sink_refuse(&sweep->sink, text + used, JOURNAL_UNEXPECTED);
    }
    if (!sweep->options->quiet) {
        fprintf(stderr, "headproof: %s is complete\n", shown(sweep->options->output).text);
    }
    return 0;
}

/* Takes in the points that are in the journal, or in the complete file: *complete.  0; 2 after a
 * message when they are not this sweep's; 99 after one. */
static int take_kept(Sweep *sweep, bool *complete)
{
    const Journal *journal = sweep->sink.journal;
    size_t size;
    const char *text = journal != NULL ? journal_complete(journal, &size) : NULL;
    *complete = text != NULL;
    if (text != NULL) {
        return take_complete(sweep, text, size);
    }
    int status = kept_open(&sweep->kept);
    for (size_t i = 0; i < sweep->kept.count && status == 0; i++) {
        const JournalPoint *point = &sweep->kept.points[i];
        PointRows rows = {.seconds = -1};
        size_t position = position_of(sweep, point->index);
        if (position == sweep->record.count || sweep->done[position] ||
            rows_read(&rows.outcome, point->rows, point->length, point_at(sweep, position)) !=
                point->length) {
            return kept_refuse(&sweep->kept, point);
        }
        (void)take_point(sweep, position, &rows, true); /* nothing is written */
    }
    return status;
}

/* ---- What this one adds -------------------------------------------------------------------- */

static bool commit_point(void *context, size_t index, PointRows *rows, bool more)
{
    Sweep *sweep = context;
    Kept *kept = &sweep->kept;
    const JournalPoint point = {index, rows->length, rows->text, rows->seconds};
    pthread_mutex_lock(&kept->lock);
    bool written = kept_add(kept, &point, more ? INFINITY : 0);
    if (sweep->sink.journal != NULL) { /* the rows are the journal's then */
        free(rows->text);
        rows->text = NULL;
    }
    errno = 0;
    if (written && take_point(sweep, position_of(sweep, index), rows, more)) {
        progress_add(&kept->progress, 1, point_cost(&sweep->grid->points[index]));
    } else if (written) {
        kept->error = errno != 0 ? errno : EIO;
    }
    pthread_mutex_unlock(&kept->lock);
    return kept->error == 0;
}

static int run_points(Sweep *sweep)
{
    size_t *points = need_zeros(sweep->record.count + 1, sizeof *points);
    Work work = {
        .grid = sweep->grid, .points = points, .memory = memory_room(sweep->options->memory)};
    double cost = 0;
    for (size_t i = 0; i < sweep->record.count; i++) {
        if (!sweep->done[i]) {
            points[work.count++] = sweep->record.points[i];
            cost += point_cost(point_at(sweep, i));
        }
    }
    Progress *progress = &sweep->kept.progress;
    progress_open(progress, progress_stderr(sweep->options->quiet), cost);
    progress_phase(progress, "", "points", work.count, cost);
    Ticker *ticker = ticker_open(&sweep->kept.lock, progress);
    bool ok = sweep->dispatch != NULL
                  ? dispatch_run(sweep->dispatch, &work, commit_point, sweep)
                  : schedule_run(&work, run_threads(sweep->options), commit_point, sweep);
    ticker_close(ticker);
    progress_clear(progress);
    free(points);
    int fault = sources_fault(&sweep->grid->sources);
    if (fault != 0) {
        return fault;
    }
    if (!ok) {
        fprintf(stderr, "headproof: memory is short after %zu of %zu points\n", sweep->kept.there,
                sweep->record.count);
        return 99;
    }
    return kept_fault(&sweep->kept);
}

/* Where there is a file, or stdout was asked to be the table.  false: it cannot be written. */
static bool print_summary(const Sweep *sweep)
{
    const RunOptions *options = sweep->options;
    const char *path = options->output != NULL ? options->output : "stdout";
    FILE *file = output_report(options);
    if (options->output == NULL && !options->on_stdout) {
        if (sweep->live.hidden > 0) {
            fprintf(file, "%zu more rows, of layers between; -o FILE.csv writes all\n",
                    sweep->live.hidden);
        }
        return true;
    }
    summary_table_print(file, sweep->grid, sweep->record.points, sweep->record.count,
                        sweep->summaries);
    fprintf(file, "%zu point%s in %s", sweep->record.count, sweep->record.count == 1 ? "" : "s",
            shown(path).text);
    if (options->certify) {
        print_certified(file, sweep->bounds);
    }
    putc('\n', file);
    return fflush(file) == 0 && !ferror(file);
}

/* Writes what is not there yet; then all rows are there, and the file gets its name. */
static int write_file(Sweep *sweep)
{
    Sink *sink = &sweep->sink;
    Journal *journal = sink->journal;
    char *header = header_text(sweep);
    int status = kept_begin(&sweep->kept);
    if (journal == NULL) {
        if (sweep->options->expand) {
            expanded_write(sink->lines, sweep->grid, NULL, header, strlen(header));
        } else {
            fputs(header, sink->lines);
        }
        status = ferror(sink->lines) ? sink_failed(sink) : 0;
    }
    status = status != 0 ? status : run_points(sweep);
    if (status == 0) {
        pthread_mutex_lock(&sweep->kept.lock);
        sweep->record.complete = true;
        status = journal != NULL ? journal_finish(journal, header, &sweep->run) : sink_finish(sink);
        pthread_mutex_unlock(&sweep->kept.lock);
    }
    free(header);
    return status;
}

static const SinkKind sweep_sink = {
    .bare = BARE_TEXT, .kept = true, .write_header = sweep_write_header};

static int prepare(Sweep *sweep)
{
    SweepRecord *record = &sweep->record;
    int status = sweep_record_open(record, sweep->grid, sweep->options);
    sweep->summaries = need_zeros(sweep->grid->count + 1, sizeof *sweep->summaries);
    sweep->rows = need_zeros(sweep->grid->count + 1, sizeof *sweep->rows);
    sweep->done = need_zeros(sweep->grid->count + 1, sizeof *sweep->done);
    if (status != 0) {
        return status;
    }
    shard_points(record->points, &record->count, sweep->grid, record->shard, record->shards);
    sweep->kept.of = record->count;
    sweep->run.seconds = record->seconds;
    sweep->run.sweep = record;
    return 0;
}

/* The whole run of rank 0, or of a process that is alone. */
static int lead(Sweep *sweep)
{
    const RunOptions *run = sweep->options;
    int status = 0;
    if (run->team) {
        status = dispatch_meet(&sweep->dispatch, &sweep->record.ranks, &sweep->run);
    }
    status = status != 0 ? status : sink_open(&sweep->sink, &sweep_sink, run, &sweep->run);
    if (status != 0) {
        return status;
    }
    if (sweep->sink.text) { /* the columns of a terminal's table */
        const SweepRecord *record = &sweep->record;
        live_open(&sweep->live, sweep->grid, record->points, record->count, terminal_width(stdout));
        sweep->live.colors = terminal_has_colors(stdout, run->color);
        sink_format(&sweep->sink, (FormatTable){.format = &format_live, .state = &sweep->live});
    }
    bool complete;
    status = take_kept(sweep, &complete);
    status = status != 0 || complete ? status : write_file(sweep);
    kept_close(&sweep->kept, status);
    if (status != 0) {
        return status;
    }
    if (sweep->failures > FAILURES_SHOWN && !run->file_only) {
        fprintf(stderr, "headproof: and %zu more points fail\n", sweep->failures - FAILURES_SHOWN);
    }
    if (!run->quiet && !run->file_only && !print_summary(sweep)) {
        return streams_stdout_failed();
    }
    return sweep->failures > 0 ? 1 : 0;
}

int command_sweep(const Grid *grid, const RunOptions *run)
{
    Sweep sweep = {
        .grid = grid, .options = run, .run = {.argc = run->argc, .argv = run->argv, .grid = grid}};
    bool helper = run->team && team_rank() > 0;
    kept_init(&sweep.kept, &sweep.sink, "point");
    int status = 0;
    if (run->team && !helper && run->threads > 1) {
        status = complain((Origin){.flag = "threads"}, NULL,
                          "expected 1 or none: the ranks of an MPI job have one thread each");
    }
    status = status != 0 || helper ? status : grid_predict(grid, run->memory, NULL);
    status = status != 0 ? status : prepare(&sweep);
    status = run->team ? team_largest(status) : status;
    if (status == 0 && helper) {
        dispatch_serve(&sweep.run, memory_room(run->memory));
    } else if (status == 0) {
        status = lead(&sweep);
    }
    sink_clear(&sweep.sink);
    sweep_record_clear(&sweep.record);
    for (size_t i = 0; sweep.rows != NULL && i < grid->count; i++) {
        rows_clear(&sweep.rows[i]);
    }
    free(sweep.summaries);
    free(sweep.rows);
    free(sweep.done);
    dispatch_dismiss(sweep.dispatch, status);
    ref_thread_clear();
    return status;
}
