/*
 * The row of a search: its key, the interval and the errors at its ends, the best, the floor.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "search.h"

#include "../guarantee/bound.h"

#include "../../base/decimal.h"
#include "../../evaluate/omega_print.h"
#include "../../table/columns.h"
#include "../../table/table.h"

#include <math.h>

/* The key of what is searched together: of all inputs it has none. */
static void write_key(FILE *file, const Search *search)
{
    const Ensemble *ensemble = &search->seeds;
    Point key = *ensemble->points[0];
    key.input = ensemble->points[ensemble->count - 1]->input == key.input ? key.input : 0;
    table_write_key(file, &key, key.over_tau, search->seeds_cell);
}

static void write_number(FILE *file, bool present, double number)
{
    char text[DECIMAL_TEXT] = "";
    if (present) {
        decimal_print(text, number);
    }
    fprintf(file, ",%s", text);
}

static void write_omega(FILE *file, const Trial *trial)
{
    write_number(file, trial != NULL, trial != NULL ? trial->omega : 0);
}

/* The best Omega, where the error may rise with it. */
static const Trial *best_of(const Search *search)
{
    bool rises = judge_needs_arithmetic(search->seeds.points[0]->judge);
    return rises ? search->found.search.best : NULL;
}

/* Of which tokens the logits are judged; blank: streams are, of all.  A list has ; between two. */
static void write_positions(FILE *file, const Search *search)
{
    putc(',', file);
    for (const char *c = search->looked_at; c != NULL && *c != '\0'; c++) {
        putc(*c == ',' ? ';' : *c, file);
    }
}

/* The Omega that is proven for every input; blank: it was not asked for. */
static void write_proven(FILE *file, const Search *search)
{
    if (search->seeds.points[0]->over_tau) {
        return;
    }
    if (search->proven == INFINITY) {
        fputs(",none", file);
    } else {
        write_number(file, search->proven > 0, search->proven);
    }
}

/* The errors of a search; absent where there is none. */
typedef enum { FOUND_BELOW, FOUND_MIN, FOUND_BEST, FOUND_FLOOR, FOUND_COUNT } FoundError;

static void list_errors(const RefCell *errors[FOUND_COUNT], const Search *search)
{
    static const RefCell absent = {.state = CELL_ABSENT};
    const OmegaSearch *s = &search->found.search;
    const Trial *trials[] = {
        [FOUND_BELOW] = s->below, [FOUND_MIN] = s->min, [FOUND_BEST] = best_of(search)};
    for (size_t i = 0; i < FOUND_FLOOR; i++) {
        errors[i] = trials[i] != NULL ? &trials[i]->error : &absent;
    }
    errors[FOUND_FLOOR] = &search->found.floor;
}

static void write_cell(FILE *file, const RefCell *cell)
{
    fputc(',', file);
    table_write_cell(file, cell);
}

/* omega_below and omega_above are blank where none was found: the end is as low, or as high, as was
 * tried.  Of tau nothing is proven here, and the posts say nothing. */
#define HEADER_TAIL(constant, proven, seeds)                                                       \
    ",tolerance,positions," constant "_below," constant "_min,error_below,error_min," constant     \
    "_max," constant "_above" proven "," constant "_best,best_error,floor" seeds                   \
    ",evaluations,evaluations_inside,unfinished," BOUNDS_COLUMN ",status\n"

/* Which of the errors are only upper bounds. */
static void write_bounds(FILE *file, const RefCell *const errors[FOUND_COUNT])
{
    static const char *const names[FOUND_COUNT] = {"error_below", "error_min", "best_error",
                                                   "floor"};
    BoundsList list = {file, false};
    fputc(',', file);
    for (size_t i = 0; i < FOUND_COUNT; i++) {
        bounds_take(&list, names[i], errors[i]->state);
    }
}

/* The columns of a report's case, behind the key. */
void row_write_case_header(FILE *file, const RunOptions *run)
{
    table_write_key_header(file, run_is_over_tau(run));
    const char *of = run_is_over_tau(run) ? "tau" : "omega";
    fprintf(file,
            ",tolerance,%s_min,%s_max,error_min%s,%s_best,best_error," BOUNDS_COLUMN ",status\n",
            of, of, *of == 'o' ? ",omega_proven" : "", of);
}

void row_write_case(FILE *file, const void *row)
{
    const Search *search = row;
    const OmegaSearch *s = &search->found.search;
    const RefCell *errors[FOUND_COUNT];
    list_errors(errors, search);
    write_key(file, search);
    write_number(file, true, search->seeds.points[0]->tolerance);
    write_omega(file, s->min);
    write_omega(file, s->max);
    write_cell(file, errors[FOUND_MIN]);
    write_proven(file, search);
    write_omega(file, best_of(search));
    write_cell(file, errors[FOUND_BEST]);
    write_bounds(file, errors);
    fprintf(file, ",%s\n", s->min != NULL ? "ok" : "none");
}

void row_print_command(FILE *file, const void *row, const RunOptions *run)
{
    const Search *search = row;
    fputs("headproof min-omega", file);
    point_print_flags(file, search->seeds.points[0], NULL, search->seeds_flag);
    if (run->positions != NULL) {
        fprintf(file, " --positions %s", run->positions);
    }
    fputs(run->every_input ? " --every-input" : "", file);
    bound_print_input_norm(file, run);
}

void row_write_header(FILE *file, const RunOptions *run)
{
    bool over_tau = run_is_over_tau(run);
    table_write_key_header(file, over_tau);
    fputs(over_tau ? HEADER_TAIL("tau", "", "")
                   : HEADER_TAIL("omega", ",omega_proven", ",seed_rule,seed_scores"),
          file);
}

void row_write(FILE *file, const void *row)
{
    const Search *search = row;
    const Found *found = &search->found;
    const OmegaSearch *s = &found->search;
    const Point *point = search->seeds.points[0];
    const RefCell *errors[FOUND_COUNT];
    list_errors(errors, search);
    write_key(file, search);
    write_number(file, true, point->tolerance);
    write_positions(file, search);
    write_omega(file, s->below);
    write_omega(file, s->min);
    write_cell(file, errors[FOUND_BELOW]);
    write_cell(file, errors[FOUND_MIN]);
    write_omega(file, s->max);
    write_omega(file, s->above);
    write_proven(file, search);
    write_omega(file, best_of(search));
    write_cell(file, errors[FOUND_BEST]);
    write_cell(file, errors[FOUND_FLOOR]);
    if (!point->over_tau) {
        write_number(file, true, found->seed_rule);
        write_number(file, found->has_scores, found->seed_scores);
    }
    fprintf(file, ",%zu,%zu,", found->evaluations, s->inside);
    omega_print_open(file, s);
    write_bounds(file, errors);
    fprintf(file, ",%s\n", s->min != NULL ? "ok" : "none");
}
