#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "clock.h"
#include "commands.h"
#include "decimal.h"
#include "evaluate.h"
#include "omega_search.h"
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

/* Where the master curve is sampled for a first guess. */
#define SAMPLE_OMEGA 12.0

/* One search: the points that differ in their seed alone, worst case over them. */
typedef struct {
    const Point **points;
    Shared **shared;
    mpfr_t *errors; /* [count], scratch of one evaluation */
    size_t count;
    int threads;
} Seeds;

static bool seeds_init(Seeds *seeds, size_t capacity, int threads)
{
    *seeds = (Seeds){.threads = threads};
    seeds->points = calloc(capacity, sizeof *seeds->points);
    seeds->shared = calloc(capacity, sizeof *seeds->shared);
    seeds->errors = calloc(capacity, sizeof *seeds->errors);
    if (seeds->points == NULL || seeds->shared == NULL || seeds->errors == NULL) {
        return false;
    }
    return true;
}

static void seeds_release(Seeds *seeds)
{
    for (size_t i = 0; i < seeds->count; i++) {
        shared_clear(seeds->shared[i]);
        mpfr_clear(seeds->errors[i]);
    }
    seeds->count = 0;
}

static void seeds_clear(Seeds *seeds)
{
    if (seeds->errors != NULL) {
        seeds_release(seeds);
    }
    free(seeds->points);
    free(seeds->shared);
    free(seeds->errors);
}

/* Same search: everything but the seed. */
static bool same_search(const Point *a, const Point *b)
{
    Point c = *b;
    c.spec.seed = a->spec.seed;
    return points_share_base(a, &c) && a->arithmetic == b->arithmetic && a->kernel == b->kernel &&
           a->reference == b->reference && a->precision == b->precision &&
           a->max_bits == b->max_bits && a->tolerance == b->tolerance && a->judge == b->judge &&
           a->norm == b->norm;
}

/* The largest Omega the search for a falling error can want: e^80 tolerances below one. */
static double omega_ahead(double tolerance)
{
    double omega = 40 - log(tolerance) / 2;
    return omega > SAMPLE_OMEGA ? omega : SAMPLE_OMEGA;
}

static bool seeds_open(Seeds *seeds)
{
    bool ok = true;
#pragma omp parallel for schedule(dynamic) num_threads(seeds->threads) reduction(&& : ok)
    for (size_t i = 0; i < seeds->count; i++) {
        Point point = *seeds->points[i];
        const Point *list = &point;
        ref_thread_setup();
        point.omega = omega_ahead(point.tolerance);
        ok = shared_make(&seeds->shared[i], &list, 1) == EVALUATE_OK && ok;
    }
    return ok;
}

/* The worst error of one kind and norm over the seeds. */
static bool worst_error(Seeds *seeds, mpfr_ptr worst, double omega, ErrorKind kind, Norm norm)
{
    bool ok = true;
#pragma omp parallel for schedule(dynamic) num_threads(seeds->threads) reduction(&& : ok)
    for (size_t i = 0; i < seeds->count; i++) {
        Point point = *seeds->points[i];
        ref_thread_setup();
        point.omega = omega;
        point.judge = kind;
        point.norm = norm;
        ok = point_worst_error(seeds->errors[i], seeds->shared[i], &point) == EVALUATE_OK && ok;
    }
    mpfr_set_zero(worst, 1);
    for (size_t i = 0; i < seeds->count; i++) {
        if (mpfr_nan_p(seeds->errors[i])) {
            mpfr_set_nan(worst);
            break;
        }
        mpfr_max(worst, worst, seeds->errors[i], MPFR_RNDN);
    }
    return ok;
}

static bool judged_error(void *context, mpfr_ptr error, double omega)
{
    Seeds *seeds = context;
    return worst_error(seeds, error, omega, seeds->points[0]->judge, seeds->points[0]->norm);
}

/* Where the master curve through a sample of the construction error meets the tolerance. */
static bool first_guess(Seeds *seeds, double *guess)
{
    const Point *point = seeds->points[0];
    mpfr_t error;
    long exponent;
    mpfr_init2(error, REF_CELL_BITS);
    bool ok = worst_error(seeds, error, SAMPLE_OMEGA, ERROR_CONSTRUCTION, point->norm);
    *guess = 1;
    if (ok && mpfr_regular_p(error)) {
        double mantissa = mpfr_get_d_2exp(&exponent, error, MPFR_RNDN);
        double log_error = log(mantissa) + (double)exponent * log(2);
        double omega = SAMPLE_OMEGA + (log_error - log(point->tolerance)) / 2;
        *guess = omega > 0.25 ? omega : 0.25;
    }
    mpfr_clear(error);
    return ok;
}

/* What one search found. */
typedef struct {
    OmegaSearch search;
    RefCell floor;    /* largest native error, where there is an arithmetic */
    double seed_rule; /* ln(N / tolerance) */
    double seconds;
} Found;

static bool judge_needs_arithmetic(ErrorKind judge)
{
    return judge != ERROR_CONSTRUCTION && judge != ERROR_APPROXIMATION;
}

static bool search_seeds(Seeds *seeds, Found *found)
{
    const Point *point = seeds->points[0];
    double guess;
    found->seed_rule = log((double)point->spec.n / point->tolerance);
    found->floor.state = CELL_ABSENT;
    if (!seeds_open(seeds) || !first_guess(seeds, &guess)) {
        return false;
    }
    if (point->arithmetic != ARITHMETIC_NONE) {
        found->floor.state = CELL_VALUE;
        if (!worst_error(seeds, found->floor.value, SAMPLE_OMEGA, ERROR_NATIVE, point->norm)) {
            return false;
        }
    }
    return omega_search(&found->search, judged_error, seeds, point->tolerance, guess,
                        judge_needs_arithmetic(point->judge));
}

/* "1:20", "3", "1,5,7" */
static char *seeds_text(const Seeds *seeds)
{
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    for (size_t i = 0; file != NULL && i < seeds->count;) {
        uint64_t first = seeds->points[i]->spec.seed;
        size_t run = 1;
        while (i + run < seeds->count && seeds->points[i + run]->spec.seed == first + run) {
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
                                  "omega_max,omega_best,best_error,floor,seed_rule,status\n";

static int write_row(FILE *file, const Seeds *seeds, const Found *found)
{
    const OmegaSearch *s = &found->search;
    const Point *point = seeds->points[0];
    bool machine = judge_needs_arithmetic(point->judge), unbounded = s->found && !s->has_max;
    char *text = seeds_text(seeds);
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
    return fprintf(file, ",%s\n", s->found ? "ok" : "none") < 0 ? -1 : status;
}

/* The same in two sentences, for a terminal. */
static void print_sentences(FILE *file, const Seeds *seeds, const Found *found)
{
    const OmegaSearch *s = &found->search;
    const Point *point = seeds->points[0];
    const char *name = construction_info(point->spec.construction)->name;
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
        fprintf(file, " (the seeds' rule ln(N/tolerance) says %.4g).", found->seed_rule);
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
    size_t missing; /* searches that found nothing */
} Searches;

/* Gathers the seeds of the search that starts at point first, in grid order. */
static void gather(Searches *command, Seeds *seeds, size_t first)
{
    const Grid *grid = command->grid;
    for (size_t i = first; i < grid->count; i++) {
        if (!command->taken[i] && same_search(&grid->points[first], &grid->points[i])) {
            mpfr_init2(seeds->errors[seeds->count], REF_CELL_BITS);
            seeds->shared[seeds->count] = NULL;
            seeds->points[seeds->count++] = &grid->points[i];
            command->taken[i] = true;
        }
    }
}

static int run_search(Searches *command, Seeds *seeds, size_t first)
{
    FILE *file = output_file(command->output);
    Found found;
    double start = clock_seconds();
    int status = 0;
    omega_search_init(&found.search);
    mpfr_init2(found.floor.value, REF_CELL_BITS);
    gather(command, seeds, first);
    if (!search_seeds(seeds, &found)) {
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
    seeds_release(seeds);
    mpfr_clear(found.floor.value);
    omega_search_clear(&found.search);
    return status;
}

static int run_searches(Searches *command, int threads)
{
    Seeds seeds;
    int status = 0;
    if (!seeds_init(&seeds, command->grid->count, threads)) {
        seeds_clear(&seeds);
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
    seeds_clear(&seeds);
    return status;
}

int command_min_omega(const Grid *grid, const RunOptions *run, int argc, char **argv)
{
    int threads = run->threads > 0 ? run->threads : omp_get_num_procs();
    Searches command = {.grid = grid, .path = run->output};
    ref_thread_setup();
    command.terminal = run->output == NULL && isatty(STDOUT_FILENO);
    command.seconds = calloc(grid->count, sizeof *command.seconds);
    command.taken = calloc(grid->count, sizeof *command.taken);
    int status = grid_predict(grid, &threads);
    if (status == 0) {
        status = output_open(&command.output, run->output);
    }
    if (status == 0) {
        bool ok = command.seconds != NULL && command.taken != NULL;
        status = ok ? run_searches(&command, threads) : 99;
    }
    if (status == 0) {
        status = output_finish(command.output, argc, argv, grid, command.seconds);
    }
    output_clear(command.output);
    free(command.seconds);
    free(command.taken);
    ref_thread_clear();
    return status != 0 ? status : command.missing > 0;
}
