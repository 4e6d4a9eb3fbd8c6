/*
 * The command `min-omega`: the Omegas that meet a tolerance, for every point, searched side by
 * side.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "search.h"

#include "../../../memory/need.h"
#include "../../base/decimal.h"
#include "../../base/memory.h"
#include "../../base/message.h"
#include "../../base/terminal.h"
#include "../../base/ticker.h"
#include "../../evaluate/omega_print.h"
#include "../../evaluate/predict.h"
#include "../../evaluate/threads.h"
#include "../commands.h"
#include "../outcome.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* ---- In sentences ---------------------------------------------------------------------------- */

static void print_sentences(FILE *file, const Search *search)
{
    const Found *found = &search->found;
    const OmegaSearch *s = &found->search;
    const Point *point = search->seeds.points[0];
    char text[DECIMAL_TEXT], what[DECIMAL_TEXT + 48];
    decimal_print(text, point->tolerance);
    snprintf(what, sizeof what, "meets %s%s", text, omega_judged(point->judge_of));
    fprintf(file, "%s, N=%zu", construction_names[point->spec.construction], point->spec.n);
    if (point->over_tau) {
        decimal_print(text, point->omega);
        fprintf(file, ", omega %s, readout %zu", text, point->spec.readout);
    }
    fputs(": ", file);
    omega_print(file, s, what);
    if (s->min != NULL && !point->over_tau) {
        fprintf(file, "; " OMEGA_BETWEEN ". The posts ask for ln(N/tolerance) = %.4g or more",
                found->seed_rule);
        if (found->has_scores) {
            fprintf(file, ", and more than the largest score, %.4g", found->seed_scores);
        }
    }
    fputc('.', file);
    if (search->proven > 0) {
        bool none = search->proven == INFINITY;
        decimal_print(text, search->proven);
        fprintf(
            file,
            " For every input %s is proven to meet the tolerance, rounding and imitation apart.",
            none ? "no omega" : text);
    }
    if (judge_needs_arithmetic(point->judge) && s->best != NULL) {
        const RefCell *best = &s->best->error, *floor = &found->floor;
        fprintf(file, " The best %s evaluated is %s, with error ", s->powers ? "tau" : "omega",
                omega_text(text, s->best->omega, s->powers));
        mpfr_fprintf(file, best->state == CELL_BOUND ? "<%.2RUe" : "%.2Re", best->value);
        mpfr_fprintf(file,
                     floor->state == CELL_BOUND ? "; the original itself loses <%.2RUe."
                                                : "; the original itself loses %.2Re.",
                     floor->value);
    }
    fputc('\n', file);
}

/* ---- The command ----------------------------------------------------------------------------- */

/* The searches of a grid, in the order of their first points.  Any thread takes the next; what is
 * over is written when all before it are.  For a text at the end all are kept. */
typedef struct {
    const Grid *grid;
    Outcome outcome;
    double memory;     /* bytes that a search may use */
    Search **searches; /* [count] */
    bool *over;        /* [count] */
    double *seconds;   /* [grid->count], at a search's first point */
    size_t count, written;
    int status;
    Progress progress;
    pthread_mutex_t lock; /* of what changes */
} Searches;

static int write_search(Searches *all, const Search *search)
{
    all->seconds[search->first] = search->seconds;
    outcome_add(&all->outcome, row_write_case, search, 1, search->seconds);
    progress_clear(&all->progress);
    if (search->found.search.min == NULL) {
        outcome_fail(&all->outcome, search);
    }
    return sink_put(&all->outcome.sink, search);
}

/* Writes what has its turn. */
static void end(Searches *all, size_t i, bool ok)
{
    if (!ok && all->status == 0) {
        int fault = sources_fault(&all->grid->sources);
        all->status = fault != 0 ? fault : memory_fault();
    }
    all->over[i] = true;
    while (all->written < all->count && all->over[all->written]) {
        Search **first = &all->searches[all->written++];
        if (all->status == 0) {
            all->status = write_search(all, *first);
        }
        if (!all->outcome.sink.text) {
            search_free(*first);
            *first = NULL;
        }
    }
}

static bool run_search(void *context, size_t i)
{
    Searches *all = context;
    bool ok = search_run(all->searches[i], all->memory, &all->progress, &all->lock);
    pthread_mutex_lock(&all->lock);
    end(all, i, ok);
    bool more = all->status == 0;
    pthread_mutex_unlock(&all->lock);
    return more;
}

/* Threads over searches, and within each where there are few. */
static void run_all(Searches *all, int threads)
{
    int outer = threads_over(all->count, threads);
    for (size_t i = 0; i < all->count; i++) {
        all->searches[i]->seeds.threads = threads / outer;
    }
    all->memory /= outer;
    (void)threads_each(all->count, outer, threads / outer, run_search, all); /* end says why */
}

/* 0, or 99 after a message. */
static int make_searches(Searches *all, const RunOptions *run)
{
    size_t points = all->grid->count;
    bool *taken = need_zeros(points, sizeof *taken);
    all->searches = need_zeros(points, sizeof(Search *));
    all->over = need_zeros(points, sizeof *all->over);
    all->seconds = need_zeros(points, sizeof *all->seconds);
    int status = 0;
    for (size_t i = 0; status == 0 && i < points; i++) {
        if (taken[i]) {
            continue;
        }
        Search *search = search_make(all->grid, taken, i);
        status = search_take_positions(search, run);
        all->searches[all->count++] = search;
    }
    free(taken);
    return status;
}

/* "verdict: PASS: every search found an omega", or a tau */
static int print_verdict(FILE *file, const Searches *all)
{
    const Outcome *outcome = &all->outcome;
    size_t missing = outcome->failed;
    const char *constant = run_is_over_tau(outcome->run) ? "tau" : "omega";
    char text[128];
    if (missing > 0) {
        snprintf(text, sizeof text, "verdict: FAIL: %zu of %zu search%s found no %s", missing,
                 all->count, all->count == 1 ? "" : "es", constant);
    } else {
        snprintf(text, sizeof text, "verdict: PASS: every search found a%s %s",
                 *constant == 'o' ? "n" : "", constant);
    }
    bool colors = terminal_has_colors(file, outcome->run->color);
    Color color = conclusions[missing > 0 ? CONCLUSION_FAIL : CONCLUSION_PASS].color;
    terminal_write(file, colors ? color : COLOR_NONE, text);
    return fputc('\n', file) == EOF ? -1 : 0;
}

static int run_searches(Searches *all, int threads)
{
    double cost = 0;
    for (size_t i = 0; i < all->grid->count; i++) {
        cost += search_seconds(&all->grid->points[i]);
    }
    progress_open(&all->progress, progress_stderr(all->outcome.run->quiet), cost);
    progress_phase(&all->progress, "", "evaluations", 0, cost);
    Ticker *ticker = ticker_open(&all->lock, &all->progress);
    run_all(all, threads);
    ticker_close(ticker);
    progress_clear(&all->progress);
    const Sink *sink = &all->outcome.sink;
    if (all->status != 0 || !sink->text) {
        return all->status;
    }
    int status = 0;
    if (all->written == 1) {
        Wrapped said;
        print_sentences(wrapped_open(&said, sink->lines), all->searches[0]);
        wrapped_close(&said);
    } else {
        status = matrix_print(sink->lines, all->searches, all->written);
    }
    return status != 0 || print_verdict(sink->lines, all) != 0 ? sink_failed(sink) : 0;
}

/* Of searches for Omega, and for tau. */
#define OUTCOME(constant)                                                                          \
    {                                                                                              \
        .table = {.bare = BARE_TEXT, .write_header = row_write_header, .write_row = row_write},    \
        .command = "min-omega", .reason = "no " constant " was found", .column = constant "_min",  \
        .write_header = row_write_case_header, .print_command = row_print_command                  \
    }
static const OutcomeKind min_omega_outcomes[] = {OUTCOME("omega"), OUTCOME("tau")};

/* The searches, made and proven as asked before any output is opened. */
static int run_grid(Searches *all, const RunOptions *run)
{
    int threads = run_threads(run);
    if (run->input_norm > 0 && !run->every_input) {
        return complain((Origin){.flag = "input-norm"}, NULL, "expected --every-input with it");
    }
    int status = grid_predict(all->grid, run->memory, &threads);
    if (status != 0) {
        return status;
    }
    status = make_searches(all, run);
    if (status == 0 && run->every_input) {
        status = search_prove_all(all->searches, all->count, run);
    }
    if (status != 0) {
        return status;
    }
    status = outcome_open(&all->outcome, &min_omega_outcomes[run_is_over_tau(run)], all->grid, run,
                          NULL);
    all->outcome.record.seconds = all->seconds;
    if (status == 0) {
        status = run_searches(all, threads);
    }
    return outcome_end(&all->outcome, status);
}

int command_min_omega(const Grid *grid, const RunOptions *run)
{
    Searches all = {.grid = grid, .memory = memory_room(run->memory)};
    pthread_mutex_init(&all.lock, NULL);
    int status = run_grid(&all, run);
    for (size_t i = 0; i < all.count; i++) {
        search_free(all.searches[i]);
    }
    free(all.searches);
    free(all.over);
    free(all.seconds);
    pthread_mutex_destroy(&all.lock);
    return status;
}
