/*
 * The command `min-omega`: the Omegas that meet a tolerance, for every point, searched side by
 * side.
 */
#include "matrix.h"
#include "print.h"
#include "row.h"

#include "../../base/atomic_file.h"
#include "../../base/memory.h"
#include "../../base/message.h"
#include "../../base/streams.h"
#include "../../base/terminal.h"
#include "../../base/ticker.h"
#include "../../evaluate/predict.h"
#include "../../table/output.h"
#include "../check/outcome.h"
#include "../commands.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The searches of a grid, in the order of their first points.  Any thread takes the next; what is
 * over is written when all before it are. */
typedef struct {
    const Grid *grid;
    Output *output;
    const char *path;
    bool terminal;     /* all are kept, for a text at the end */
    double memory;     /* bytes that a search may use */
    Search **searches; /* [count] */
    bool *over;        /* [count] */
    double *seconds;   /* [grid->count], at a search's first point */
    size_t count, begun, written, missing;
    int status;
    Outcome outcome; /* what reports are made of */
    const RunOptions *run;
    const char *color; /* --color, or NULL */
    Progress progress;
    pthread_mutex_t telling; /* of the progress; within the other where both are held */
    pthread_mutex_t lock;    /* of what changes, but for the progress */
} Searches;

static void write_search(Searches *all, const Search *search)
{
    all->missing += !search->found.search.found;
    all->seconds[search->first] = search->seconds;
    if (all->outcome.file != NULL && all->status == 0) {
        /* What cannot be written the stream remembers. */
        (void)row_write_case(all->outcome.file, search);
        all->status = outcome_case(&all->outcome, search->seconds, row_command(search, all->run));
    }
    if (all->terminal || all->status != 0) {
        return;
    }
    pthread_mutex_lock(&all->telling);
    progress_clear(&all->progress);
    if (row_write(output_file(all->output), search) != 0 || output_commit(all->output) != 0) {
        all->status = output_failed(all->path);
    }
    pthread_mutex_unlock(&all->telling);
}

/* Writes what has its turn. */
static void end(Searches *all, size_t i, bool ok)
{
    if (!ok && all->status == 0) {
        all->status = memory_fault();
    }
    all->over[i] = true;
    while (all->written < all->count && all->over[all->written]) {
        Search **first = &all->searches[all->written++];
        write_search(all, *first);
        if (!all->terminal) {
            search_free(*first);
            *first = NULL;
        }
    }
}

static void worker(Searches *all)
{
    ref_thread_setup();
    pthread_mutex_lock(&all->lock);
    while (all->status == 0 && all->begun < all->count) {
        size_t i = all->begun++;
        pthread_mutex_unlock(&all->lock);
        bool ok = search_run(all->searches[i], all->memory, &all->progress, &all->telling);
        pthread_mutex_lock(&all->lock);
        end(all, i, ok);
    }
    pthread_mutex_unlock(&all->lock);
    ref_thread_clear();
}

/* Threads over searches, and within each where there are few. */
static void run_all(Searches *all, int threads)
{
    int outer = all->count < (size_t)threads ? (int)all->count : threads;
    for (size_t i = 0; i < all->count; i++) {
        all->searches[i]->seeds.threads = threads / outer;
    }
    all->memory /= outer;
    if (outer == 1) { /* without a team, so that those within keep their threads */
        worker(all);
        return;
    }
#pragma omp parallel num_threads(outer)
    worker(all);
}

/* false: memory is short. */
static bool make_searches(Searches *all, bool all_positions)
{
    size_t points = all->grid->count;
    bool *taken = calloc(points, sizeof *taken);
    all->searches = calloc(points, sizeof(Search *));
    all->over = calloc(points, sizeof *all->over);
    all->seconds = calloc(points, sizeof *all->seconds);
    bool ok = taken != NULL && all->searches != NULL && all->over != NULL && all->seconds != NULL;
    for (size_t i = 0; ok && i < points; i++) {
        if (!taken[i]) {
            Search *search = search_make(all->grid, taken, i);
            ok = search != NULL;
            all->searches[all->count] = search;
            all->count += ok;
            if (ok) {
                search->all_positions = all_positions;
            }
        }
    }
    free(taken);
    return ok;
}

/* "verdict: PASS: every search found an omega" */
static int print_verdict(FILE *file, const Searches *all)
{
    char text[128] = "verdict: PASS: every search found an omega";
    if (all->missing > 0) {
        snprintf(text, sizeof text, "verdict: FAIL: %zu of %zu search%s found no omega",
                 all->missing, all->count, all->count == 1 ? "" : "es");
    }
    Color color = conclusion_color(all->missing > 0 ? CONCLUSION_FAIL : CONCLUSION_PASS);
    terminal_write(file, terminal_has_colors(file, all->color) ? color : COLOR_NONE, text);
    return fputc('\n', file) == EOF ? output_failed(all->path) : 0;
}

static int print_all(Searches *all)
{
    FILE *file = output_file(all->output);
    if (all->written == 1) {
        print_sentences(file, all->searches[0]);
    } else if (matrix_print(file, all->searches, all->written) != 0) {
        return output_failed(all->path);
    }
    return print_verdict(file, all);
}

static int run_searches(Searches *all, int threads)
{
    if (!all->terminal && row_write_header(output_file(all->output)) != 0) {
        return output_failed(all->path);
    }
    progress_phase(&all->progress, "", "evaluations", 0, all->progress.cost_total);
    Ticker *ticker = ticker_open(&all->telling, &all->progress);
    run_all(all, threads);
    ticker_close(ticker);
    progress_clear(&all->progress);
    return all->status == 0 && all->terminal ? print_all(all) : all->status;
}

static void clear(Searches *all)
{
    for (size_t i = 0; i < all->count; i++) {
        search_free(all->searches[i]);
    }
    free(all->searches);
    free(all->over);
    free(all->seconds);
    outcome_clear(&all->outcome);
    output_clear(all->output);
    pthread_mutex_destroy(&all->telling);
    pthread_mutex_destroy(&all->lock);
}

static const OutcomeKind min_omega_outcome = {
    .command = "min-omega", .reason = "no omega was found", .column = "omega_min"};

static int open_files(Searches *all, const RunOptions *run)
{
    int status = output_open_run(&all->output, run);
    status = status != 0 ? status : outcome_open(&all->outcome, &min_omega_outcome, run, true);
    if (status == 0 && all->outcome.file != NULL) {
        (void)row_write_case_header(all->outcome.file); /* the stream remembers */
    }
    return status;
}

int command_min_omega(const Grid *grid, const RunOptions *run)
{
    int threads = run->threads > 0 ? run->threads : omp_get_num_procs();
    Searches all = {
        .grid = grid, .run = run, .path = run->output, .memory = memory_room(run->memory)};
    pthread_mutex_init(&all.telling, NULL);
    pthread_mutex_init(&all.lock, NULL);
    all.terminal = run->output == NULL && !run->on_stdout && isatty(STDOUT_FILENO);
    int status = grid_predict(grid, run->memory, &threads);
    bool all_positions = run->positions != NULL && strcmp(run->positions, "all") == 0;
    if (status == 0 && !make_searches(&all, all_positions)) {
        status = memory_fault();
    }
    if (status == 0 && run->every_input) {
        status = search_prove_all(all.searches, all.count, run);
    }
    if (status == 0) {
        all.color = run->color;
        status = open_files(&all, run);
    }
    if (status == 0) {
        progress_open(&all.progress, progress_stderr(run->quiet), search_all_cost(grid));
        status = run_searches(&all, threads);
    }
    status = status != 0 ? status
                         : output_finish(all.output, &(RunRecord){.argc = run->argc,
                                                                  .argv = run->argv,
                                                                  .grid = grid,
                                                                  .seconds = all.seconds});
    status = status != 0 ? status : outcome_finish(&all.outcome, all.missing == 0, NULL);
    clear(&all);
    return status != 0 ? status : all.missing > 0;
}
