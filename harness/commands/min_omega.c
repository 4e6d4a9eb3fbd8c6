/*
 * The command `min-omega`: the Omegas that meet a tolerance, for every point.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "../base/memory.h"
#include "../base/atomic_file.h"
#include "../grid/point_axes.h"
#include "../table/bounds.h"
#include "../base/progress.h"
#include "commands.h"
#include "../base/decimal.h"
#include "../evaluate/ensemble.h"
#include "../base/message.h"
#include "../evaluate/omega_print.h"
#include "../table/output.h"
#include "../evaluate/predict.h"
#include "../evaluate/schedule.h"
#include "../base/shown.h"
#include "../base/streams.h"
#include "../table/table.h"
#include "../base/text_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The same but for the input, and for the seed where that is folded. */
static bool same_but_input(const Point *a, const Point *b, bool any_seed)
{
    Point c = *b;
    c.input = a->input;
    c.spec.seed = any_seed ? a->spec.seed : c.spec.seed;
    return point_compare(a, &c) == 0;
}

/* Same search: everything but the seed, and but the input where the grid has all inputs of the
 * weights file; those that were chosen have a search each. */
static bool same_search(const Point *a, const Point *b, bool all_inputs)
{
    return (all_inputs || a->input == b->input) && same_but_input(a, b, true);
}

static bool has_all_inputs(const Grid *grid, const Point *point)
{
    size_t inputs = 0;
    for (size_t i = 0; point->input > 0 && i < grid->count; i++) {
        inputs += same_but_input(point, &grid->points[i], false);
    }
    return inputs > 1 && inputs == model_source_inputs(point->source);
}

/* "1:20", "3", "1;5;7": no comma, so that it is one cell. */
static char *seeds_text(const Ensemble *ensemble)
{
    char *text = NULL;
    size_t length;
    FILE *file = text_stream(&text, &length);
    for (size_t i = 0; file != NULL && i < ensemble->count;) {
        uint64_t first = ensemble->points[i]->spec.seed, last = first;
        const char *separator = i > 0 ? ";" : "";
        /* A seed comes once for every input. */
        for (; i < ensemble->count && ensemble->points[i]->spec.seed - last <= 1; i++) {
            last = ensemble->points[i]->spec.seed;
        }
        fprintf(file, "%s%" PRIu64, separator, first);
        if (last > first) {
            fprintf(file, ":%" PRIu64, last);
        }
    }
    if (file == NULL || fclose(file) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* The key of what is searched together: of all inputs it has none. */
static int write_key(FILE *file, const Ensemble *ensemble, const char *seeds)
{
    Point key = *ensemble->points[0];
    key.input = ensemble->points[ensemble->count - 1]->input == key.input ? key.input : 0;
    return table_write_key(file, &key, false, seeds);
}

static int write_omega(FILE *file, bool present, double omega)
{
    char text[DECIMAL_TEXT] = "";
    if (present) {
        decimal_print(text, omega);
    }
    return fprintf(file, ",%s", text) < 0 ? -1 : 0;
}

static int write_error(FILE *file, bool present, mpfr_srcptr error)
{
    if (!present) {
        return fputc(',', file) == EOF ? -1 : 0;
    }
    return mpfr_fprintf(file, ",%.*Re", REF_DIGITS - 1, error) < 0 ? -1 : 0;
}

/* omega_below and omega_above are blank where none was found: the end is as low, or as high, as was
 * tried. */
static const char header_tail[] =
    ",tolerance,omega_below,omega_min,error_below,error_min,"
    "omega_max,omega_above,omega_best,best_error,floor,seed_rule,"
    "seed_scores,evaluations,evaluations_inside,unfinished," BOUNDS_COLUMN ",status\n";

int min_omega_write_header(FILE *file)
{
    return table_write_key_header(file, false) != 0 || fputs(header_tail, file) == EOF ? -1 : 0;
}

/* Which of the errors printed are only upper bounds. */
static void write_bounds(FILE *file, const Ensemble *ensemble, const Found *found)
{
    const OmegaSearch *s = &found->search;
    ErrorKind judge = ensemble->points[0]->judge;
    const struct {
        const char *name;
        bool bound;
    } errors[] = {
        {"error_below", s->has_below && ensemble_is_bound(ensemble, s->below.omega, judge)},
        {"error_min", s->found && ensemble_is_bound(ensemble, s->min.omega, judge)},
        {"best_error", judge_needs_arithmetic(judge) && s->best.omega > 0 &&
                           ensemble_is_bound(ensemble, s->best.omega, judge)},
        {"floor", ensemble_is_bound(ensemble, 0, ERROR_NATIVE)}};
    bool first = true;
    fputc(',', file);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].bound) {
            bounds_add(file, &first, errors[i].name);
        }
    }
}

static int write_row(FILE *file, const Ensemble *ensemble, const Found *found)
{
    const OmegaSearch *s = &found->search;
    const Point *point = ensemble->points[0];
    bool machine = judge_needs_arithmetic(point->judge);
    char *text = seeds_text(ensemble);
    int status = text == NULL ? -1 : write_key(file, ensemble, text);
    free(text);
    status |= write_omega(file, true, point->tolerance);
    status |= write_omega(file, s->has_below, s->below.omega);
    status |= write_omega(file, s->found, s->min.omega);
    status |= write_error(file, s->has_below, s->below.error);
    status |= write_error(file, s->found, s->min.error);
    status |= write_omega(file, s->found, s->max.omega);
    status |= write_omega(file, s->has_above, s->above.omega);
    status |= write_omega(file, machine && s->best.omega > 0, s->best.omega);
    status |= write_error(file, machine && s->best.omega > 0, s->best.error);
    status |= write_error(file, found->floor.state != CELL_ABSENT, found->floor.value);
    status |= write_omega(file, true, found->seed_rule);
    status |= write_omega(file, found->has_scores, found->seed_scores);
    fprintf(file, ",%zu,%zu,", found->evaluations, s->inside);
    omega_print_open(file, s);
    write_bounds(file, ensemble, found);
    fprintf(file, ",%s\n", s->found ? "ok" : "none");
    return ferror(file) ? -1 : status;
}

/* The same in sentences, for a terminal. */
static void print_sentences(FILE *file, const Ensemble *ensemble, const Found *found)
{
    const OmegaSearch *s = &found->search;
    const Point *point = ensemble->points[0];
    char text[DECIMAL_TEXT], what[DECIMAL_TEXT + 16];
    decimal_print(text, point->tolerance);
    snprintf(what, sizeof what, "meets %s", text);
    fprintf(file, "%s, N=%zu: ", construction_names[point->spec.construction], point->spec.n);
    omega_print(file, s, what);
    if (s->found) {
        fprintf(file, ". The posts ask for ln(N/tolerance) = %.4g or more", found->seed_rule);
        if (found->has_scores) {
            fprintf(file, ", and more than the largest score, %.4g", found->seed_scores);
        }
    }
    fputc('.', file);
    if (judge_needs_arithmetic(point->judge) && s->best.omega > 0) {
        bool bound = ensemble_is_bound(ensemble, s->best.omega, point->judge);
        decimal_print(text, s->best.omega);
        mpfr_fprintf(file, " The best evaluated is %s, with error %s%.2Re", text, bound ? "<" : "",
                     s->best.error);
        bound = ensemble_is_bound(ensemble, 0, ERROR_NATIVE);
        mpfr_fprintf(file, "; the original itself loses %s%.2Re.", bound ? "<" : "",
                     found->floor.value);
    }
    fputc('\n', file);
}

typedef struct {
    const Grid *grid;
    Output *output;
    const char *path;
    double *seconds;
    bool *taken;
    bool terminal;
    Progress progress;
    size_t searches, missing; /* begun; that found nothing */
    double memory;            /* bytes that may be used */
} Searches;

/* Gathers the seeds of the search that starts at point first, in grid order. */
static void gather(Searches *command, Ensemble *seeds, size_t first)
{
    const Grid *grid = command->grid;
    bool all_inputs = has_all_inputs(grid, &grid->points[first]);
    for (size_t i = first; i < grid->count; i++) {
        if (!command->taken[i] && same_search(&grid->points[first], &grid->points[i], all_inputs)) {
            ensemble_add(seeds, &grid->points[i]);
            command->taken[i] = true;
        }
    }
}

/* What one seed of a search costs, and one evaluation's share of it. */
static double search_cost(const Point *point, double *evaluation)
{
    Point ahead = *point;
    ahead.omega = omega_ahead(point->tolerance);
    PointCost cost = point_cost_parts(&ahead);
    *evaluation = cost.machine + (judge_needs_arithmetic(point->judge) ? 0 : cost.reference);
    return cost.base + ensemble_search_evaluations(point->judge) * *evaluation;
}

static double all_cost(const Grid *grid)
{
    double sum = 0, evaluation;
    for (size_t i = 0; i < grid->count; i++) {
        sum += search_cost(&grid->points[i], &evaluation);
    }
    return sum;
}

/* Makes the seeds' bases and searches. */
static bool search(Searches *command, Ensemble *seeds, Found *found)
{
    double evaluation, count = (double)seeds->count;
    double cost = search_cost(seeds->points[0], &evaluation);
    char label[PROGRESS_LABEL];
    snprintf(label, sizeof label, "search %zu", ++command->searches);
    progress_phase(&command->progress, label, "evaluations", 0, count * cost);
    seeds->progress = &command->progress;
    seeds->unit_cost = 0;
    if (!ensemble_size(seeds, omega_ahead(seeds->points[0]->tolerance), command->memory) ||
        !ensemble_open(seeds)) {
        return false;
    }
    progress_add(&command->progress, 0,
                 count *
                     (cost - ensemble_search_evaluations(seeds->points[0]->judge) * evaluation));
    seeds->unit_cost = evaluation;
    return ensemble_search(seeds, found);
}

static int run_search(Searches *command, Ensemble *seeds, size_t first)
{
    FILE *file = output_file(command->output);
    Found found;
    double start = clock_seconds();
    int status = 0;
    found_init(&found);
    gather(command, seeds, first);
    bool ok = search(command, seeds, &found);
    progress_clear(&command->progress);
    if (!ok) {
        fprintf(stderr, "headproof: memory is short\n");
        status = 99;
    } else if (command->terminal) {
        print_sentences(file, seeds, &found);
    } else if (write_row(file, seeds, &found) != 0 || output_commit(command->output) != 0) {
        status = output_failed(command->path);
    }
    command->missing += !found.search.found;
    command->seconds[first] = clock_seconds() - start;
    ensemble_release(seeds);
    found_clear(&found);
    return status;
}

static int run_searches(Searches *command, int threads)
{
    Ensemble seeds;
    int status = 0;
    if (!ensemble_init(&seeds, command->grid->count, threads)) {
        ensemble_clear(&seeds);
        return memory_fault();
    }
    FILE *file = output_file(command->output);
    if (!command->terminal && min_omega_write_header(file) != 0) {
        status = output_failed(command->path);
    }
    for (size_t i = 0; i < command->grid->count && status == 0; i++) {
        if (!command->taken[i]) {
            status = run_search(command, &seeds, i);
        }
    }
    ensemble_clear(&seeds);
    return status;
}

int command_min_omega(const Grid *grid, const RunOptions *run, int argc, char **argv)
{
    int threads = run->threads > 0 ? run->threads : omp_get_num_procs();
    Searches command = {.grid = grid, .path = run->output, .memory = memory_room(run->memory)};
    ref_thread_setup();
    command.terminal = run->output == NULL && !run->on_stdout && isatty(STDOUT_FILENO);
    command.seconds = calloc(grid->count, sizeof *command.seconds);
    command.taken = calloc(grid->count, sizeof *command.taken);
    int status = grid_predict(grid, run->memory, &threads);
    if (status == 0) {
        status = output_open_run(&command.output, run);
    }
    if (status == 0) {
        progress_open(&command.progress, progress_stderr(run->quiet), all_cost(grid));
        bool ok = command.seconds != NULL && command.taken != NULL;
        status = ok ? run_searches(&command, threads) : memory_fault();
    }
    if (status == 0) {
        status = output_finish(
            command.output,
            &(RunRecord){.argc = argc, .argv = argv, .grid = grid, .seconds = command.seconds});
    }
    output_clear(command.output);
    free(command.seconds);
    free(command.taken);
    ref_thread_clear();
    return status != 0 ? status : command.missing > 0;
}
