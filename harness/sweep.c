#include "clock.h"
#include "commands.h"
#include "evaluate.h"
#include "output.h"
#include "predict.h"
#include "schedule.h"
#include "summary.h"
#include "table.h"

#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Failing points whose reproducing command is printed; the rest is counted. */
enum { FAILURES_SHOWN = 10 };

/* To the start of a terminal's line, and clear it. */
#define CLEAR_LINE "\r\033[K"

/* What a point leaves until it is committed. */
typedef struct {
    char *text; /* its rows */
    size_t length;
    bool done, passed;
    size_t failed_layer; /* the first, or 0 */
    Status failed_status;
} PointResult;

typedef struct {
    const Grid *grid;
    const RunOptions *options;
    Output *output;
    PointResult *results;
    PointSummary *summaries;
    double *seconds;
    size_t committed, failures;
    bool terminal; /* stdout is one: a table instead of CSV */
    bool progress;
    int write_error;
} Sweep;

/* One point's rows on their way into its text. */
typedef struct {
    Sweep *sweep;
    size_t index;
    FILE *text;
} PointRows;

/* Of a deep stack a terminal shows the first layers and every eighth. */
static bool shown_on_terminal(const Point *point, size_t layer)
{
    return point->spec.depth <= 24 || layer <= 4 || layer % 8 == 0 || layer == point->spec.depth;
}

static bool take_row(void *context, const Point *point, const Row *row)
{
    PointRows *rows = context;
    PointResult *result = &rows->sweep->results[rows->index];
    summary_add(&rows->sweep->summaries[rows->index], point, row);
    if (result->failed_layer == 0 && !row_passes(point, row)) {
        result->failed_layer = row->layer;
        result->failed_status = row->status;
    }
    if (!rows->sweep->terminal) {
        return table_write_row(rows->text, point, row) == 0;
    }
    if (shown_on_terminal(point, row->layer)) {
        table_print_row(rows->text, point, row);
    }
    return true;
}

static EvaluateStatus evaluate_point(void *context, const Shared *shared, size_t index)
{
    Sweep *sweep = context;
    PointResult *result = &sweep->results[index];
    PointRows rows = {.sweep = sweep, .index = index};
    double start = clock_seconds();
    rows.text = open_memstream(&result->text, &result->length);
    if (rows.text == NULL) {
        return EVALUATE_NO_MEMORY;
    }
    summary_init(&sweep->summaries[index]);
    EvaluateStatus status =
        point_evaluate(&result->passed, shared, &sweep->grid->points[index], take_row, &rows);
    if (fclose(rows.text) != 0) {
        status = EVALUATE_NO_MEMORY;
    }
    sweep->seconds[index] = clock_seconds() - start;
    return status;
}

static void report_failure(Sweep *sweep, size_t index)
{
    const PointResult *result = &sweep->results[index];
    sweep->failures++;
    if (sweep->failures <= FAILURES_SHOWN && !sweep->options->file_only) {
        fprintf(stderr,
                "headproof: %s at layer %zu; reproduce: ", status_name(result->failed_status),
                result->failed_layer);
        point_print_command(stderr, &sweep->grid->points[index]);
        fputc('\n', stderr);
    }
}

static void print_progress(const Sweep *sweep)
{
    if (sweep->progress) {
        fprintf(stderr, CLEAR_LINE "%zu of %zu points%s", sweep->committed, sweep->grid->count,
                sweep->committed == sweep->grid->count ? CLEAR_LINE : "");
        fflush(stderr);
    }
}

/* Commits, in grid order, every point that is done. */
static bool commit_done(void *context, size_t index)
{
    Sweep *sweep = context;
    FILE *file = output_file(sweep->output);
    sweep->results[index].done = true;
    while (sweep->committed < sweep->grid->count && sweep->results[sweep->committed].done) {
        PointResult *result = &sweep->results[sweep->committed];
        if (fwrite(result->text, 1, result->length, file) != result->length ||
            output_commit(sweep->output) != 0) {
            sweep->write_error = errno;
            return false;
        }
        free(result->text);
        result->text = NULL;
        if (!result->passed) {
            report_failure(sweep, sweep->committed);
        }
        if (sweep->options->verbose) {
            fprintf(stderr, "%sheadproof: %.3f s: ", sweep->progress ? CLEAR_LINE : "",
                    sweep->seconds[sweep->committed]);
            point_print_command(stderr, &sweep->grid->points[sweep->committed]);
            fputc('\n', stderr);
        }
        sweep->committed++;
        print_progress(sweep);
    }
    return true;
}

static int run_points(Sweep *sweep, int threads)
{
    FILE *file = output_file(sweep->output);
    if (sweep->terminal) {
        table_print_header(file);
    } else if (table_write_header(file) != 0) {
        sweep->write_error = errno;
    }
    EvaluateStatus status = EVALUATE_OK;
    if (sweep->write_error == 0) {
        status = schedule_run(sweep->grid, threads, evaluate_point, commit_done, sweep);
    }
    if (status == EVALUATE_NO_MEMORY) {
        fprintf(stderr, "headproof: memory is short after %zu of %zu points\n", sweep->committed,
                sweep->grid->count);
        return 99;
    }
    if (sweep->write_error != 0) {
        const char *path = sweep->options->output;
        fprintf(stderr, "headproof: %s: cannot write: %s\n", path != NULL ? path : "stdout",
                strerror(sweep->write_error));
        return 99;
    }
    return 0;
}

/* The end of a sweep that ran: the file, the short table, the verdict. */
static int conclude(Sweep *sweep, int argc, char **argv)
{
    const RunOptions *options = sweep->options;
    int status = output_finish(sweep->output, argc, argv, sweep->grid, sweep->seconds);
    if (status != 0) {
        return status;
    }
    if (sweep->failures > FAILURES_SHOWN && !options->file_only) {
        fprintf(stderr, "headproof: and %zu more points fail\n", sweep->failures - FAILURES_SHOWN);
    }
    if (options->output != NULL && !options->quiet && !options->file_only) {
        if (summary_print(stdout, sweep->grid, sweep->summaries) != 0 ||
            printf("%zu points in %s\n", sweep->grid->count, options->output) < 0 ||
            fflush(stdout) != 0) {
            fprintf(stderr, "headproof: stdout: cannot write: %s\n", strerror(errno));
            return 99;
        }
    }
    return sweep->failures > 0 ? 1 : 0;
}

int command_sweep(const Grid *grid, const RunOptions *run, int argc, char **argv)
{
    int threads = run->threads > 0 ? run->threads : omp_get_num_procs();
    Sweep sweep = {.grid = grid, .options = run};
    ref_thread_setup();
    int status = grid_predict(grid, &threads);
    if (status == 0) {
        status = output_open(&sweep.output, run->output);
    }
    sweep.terminal = run->output == NULL && isatty(STDOUT_FILENO);
    sweep.progress = !run->quiet && !sweep.terminal && isatty(STDERR_FILENO);
    if (status == 0) {
        sweep.results = calloc(grid->count, sizeof *sweep.results);
        sweep.summaries = calloc(grid->count, sizeof *sweep.summaries);
        sweep.seconds = calloc(grid->count, sizeof *sweep.seconds);
        bool ok = sweep.results != NULL && sweep.summaries != NULL && sweep.seconds != NULL;
        if (!ok) {
            fprintf(stderr, "headproof: memory is short for %zu points\n", grid->count);
        }
        status = ok ? run_points(&sweep, threads) : 99;
    }
    if (status == 0) {
        status = conclude(&sweep, argc, argv);
    }
    for (size_t i = 0; sweep.results != NULL && i < grid->count; i++) {
        free(sweep.results[i].text);
    }
    free(sweep.results);
    free(sweep.summaries);
    free(sweep.seconds);
    output_clear(sweep.output);
    ref_thread_clear();
    return status;
}
