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
#include "../../evaluate/predict.h"
#include "../../table/output.h"
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
    Progress progress;
    pthread_mutex_t lock; /* of what changes, but for the progress */
} Searches;

static void write_search(Searches *all, const Search *search)
{
    all->missing += !search->found.search.found;
    all->seconds[search->first] = search->seconds;
    if (all->terminal || all->status != 0) {
        return;
    }
#pragma omp critical
    progress_clear(&all->progress);
    if (row_write(output_file(all->output), search) != 0 || output_commit(all->output) != 0) {
        all->status = output_failed(all->path);
    }
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
        bool ok = search_run(all->searches[i], all->memory, &all->progress);
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

static int print_all(Searches *all)
{
    FILE *file = output_file(all->output);
    if (all->written == 1) {
        print_sentences(file, all->searches[0]);
    } else if (matrix_print(file, all->searches, all->written) != 0) {
        return output_failed(all->path);
    }
    return 0;
}

static int run_searches(Searches *all, int threads)
{
    if (!all->terminal && row_write_header(output_file(all->output)) != 0) {
        return output_failed(all->path);
    }
    progress_phase(&all->progress, "", "evaluations", 0, all->progress.cost_total);
    run_all(all, threads);
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
    output_clear(all->output);
    pthread_mutex_destroy(&all->lock);
}

int command_min_omega(const Grid *grid, const RunOptions *run, int argc, char **argv)
{
    int threads = run->threads > 0 ? run->threads : omp_get_num_procs();
    Searches all = {.grid = grid, .path = run->output, .memory = memory_room(run->memory)};
    pthread_mutex_init(&all.lock, NULL);
    all.terminal = run->output == NULL && !run->on_stdout && isatty(STDOUT_FILENO);
    int status = grid_predict(grid, run->memory, &threads);
    bool all_positions = run->positions != NULL && strcmp(run->positions, "all") == 0;
    if (status == 0 && !make_searches(&all, all_positions)) {
        status = memory_fault();
    }
    if (status == 0) {
        status = output_open_run(&all.output, run);
    }
    if (status == 0) {
        progress_open(&all.progress, progress_stderr(run->quiet), search_all_cost(grid));
        status = run_searches(&all, threads);
    }
    if (status == 0) {
        status = output_finish(
            all.output,
            &(RunRecord){.argc = argc, .argv = argv, .grid = grid, .seconds = all.seconds});
    }
    clear(&all);
    return status != 0 ? status : all.missing > 0;
}
