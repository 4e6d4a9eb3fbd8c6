#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "axes.h"
#include "clock.h"
#include "commands.h"
#include "decimal.h"
#include "ensemble.h"
#include "output.h"
#include "predict.h"
#include "schedule.h"
#include "table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Same search: everything but the seed. */
static bool same_search(const Point *a, const Point *b)
{
    Point c = *b;
    c.spec.seed = a->spec.seed;
    return point_compare(a, &c) == 0;
}

/* "1:20", "3", "1,5,7" */
static char *seeds_text(const Ensemble *ensemble)
{
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    for (size_t i = 0; file != NULL && i < ensemble->count;) {
        uint64_t first = ensemble->points[i]->spec.seed;
        size_t run = 1;
        while (i + run < ensemble->count && ensemble->points[i + run]->spec.seed == first + run) {
            run++;
        }
        fprintf(file, "%s%" PRIu64, i > 0 ? ";" : "", first);
        if (run > 1) {
            fprintf(file, ":%" PRIu64, first + run - 1);
        }
        i += run;
    }
    if (file == NULL || fclose(file) != 0) {
        free(text);
        return NULL;
    }
    return text;
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
    return mpfr_fprintf(file, ",%.16Re", error) < 0 ? -1 : 0;
}

static const char header_tail[] = ",tolerance,omega_below,omega_min,error_below,error_min,"
                                  "omega_max,omega_best,best_error,floor,seed_rule,seed_scores,"
                                  "status\n";

static int write_row(FILE *file, const Ensemble *ensemble, const Found *found)
{
    const OmegaSearch *s = &found->search;
    const Point *point = ensemble->points[0];
    bool machine = judge_needs_arithmetic(point->judge), unbounded = s->found && !s->has_max;
    char *text = seeds_text(ensemble);
    int status = text == NULL ? -1 : table_write_key(file, point, false, text);
    free(text);
    status |= write_omega(file, true, point->tolerance);
    status |= write_omega(file, s->has_below, s->below.omega);
    status |= write_omega(file, s->found, s->min.omega);
    status |= write_error(file, s->has_below, s->below.error);
    status |= write_error(file, s->found, s->min.error);
    status |= write_omega(file, s->found, unbounded ? INFINITY : s->max.omega);
    status |= write_omega(file, machine && s->best.omega > 0, s->best.omega);
    status |= write_error(file, machine && s->best.omega > 0, s->best.error);
    status |= write_error(file, found->floor.state != CELL_ABSENT, found->floor.value);
    status |= write_omega(file, true, found->seed_rule);
    status |= write_omega(file, found->has_scores, found->seed_scores);
    return fprintf(file, ",%s\n", s->found ? "ok" : "none") < 0 ? -1 : status;
}

/* The same in two sentences, for a terminal. */
static void print_sentences(FILE *file, const Ensemble *ensemble, const Found *found)
{
    const OmegaSearch *s = &found->search;
    const Point *point = ensemble->points[0];
    const char *name = construction_names[point->spec.construction];
    bool machine = judge_needs_arithmetic(point->judge);
    if (!s->found) {
        fprintf(file, "%s, N=%zu: no omega meets %.3g.", name, point->spec.n, point->tolerance);
    } else {
        fprintf(file, "%s, N=%zu: omega from %.7g ", name, point->spec.n, s->min.omega);
        if (s->has_max) {
            fprintf(file, "to %.7g meets %.3g", s->max.omega, point->tolerance);
        } else {
            fprintf(file, "up meets %.3g", point->tolerance);
        }
        fprintf(file, " (the posts ask for ln(N/tolerance) = %.4g or more", found->seed_rule);
        if (found->has_scores) {
            fprintf(file, ", and more than the largest score, %.4g", found->seed_scores);
        }
        fputs(").", file);
    }
    if (machine && s->best.omega > 0) {
        mpfr_fprintf(file, " The best is %.4g, with error %.2Re", s->best.omega, s->best.error);
        mpfr_fprintf(file, "; the original itself loses %.2Re.", found->floor.value);
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
    for (size_t i = first; i < grid->count; i++) {
        if (!command->taken[i] && same_search(&grid->points[first], &grid->points[i])) {
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
        fprintf(stderr, "headproof: %s: cannot write: %s\n",
                command->path != NULL ? command->path : "stdout", strerror(errno));
        status = 99;
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
        return 99;
    }
    FILE *file = output_file(command->output);
    if (!command->terminal &&
        (table_write_key_header(file, false) != 0 || fputs(header_tail, file) == EOF)) {
        status = 99;
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
    command.terminal = run->output == NULL && isatty(STDOUT_FILENO);
    command.seconds = calloc(grid->count, sizeof *command.seconds);
    command.taken = calloc(grid->count, sizeof *command.taken);
    int status = grid_predict(grid, run->memory, &threads);
    if (status == 0) {
        status = output_open(&command.output, run->output);
    }
    if (status == 0) {
        progress_open(&command.progress, progress_stderr(run->quiet), all_cost(grid));
        bool ok = command.seconds != NULL && command.taken != NULL;
        status = ok ? run_searches(&command, threads) : 99;
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
