/*
 * The row of a search: its key, the interval and the errors at its ends, the best, the floor.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "row.h"

#include "../../base/decimal.h"
#include "../../base/text_stream.h"
#include "../../evaluate/omega_print.h"
#include "../../table/bounds.h"
#include "../../table/table.h"

#include <inttypes.h>
#include <stdlib.h>

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
    "omega_max,omega_above,predicted_min,predicted_max,omega_best,best_error,floor,seed_rule,"
    "seed_scores,evaluations,evaluations_inside,unfinished," BOUNDS_COLUMN ",status\n";

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

/* The columns of a report's case, behind the key. */
int row_write_case_header(FILE *file)
{
    return table_write_key_header(file, false) != 0 ||
                   fputs(",tolerance,omega_min,omega_max,error_min,omega_best,best_"
                         "error," BOUNDS_COLUMN ",status\n",
                         file) == EOF
               ? -1
               : 0;
}

int row_write_case(FILE *file, const Search *search)
{
    const OmegaSearch *s = &search->found.search;
    const Point *point = search->seeds.points[0];
    bool best = judge_needs_arithmetic(point->judge) && s->best.omega > 0;
    char *text = seeds_text(&search->seeds);
    int status = text == NULL ? -1 : write_key(file, &search->seeds, text);
    free(text);
    status |= write_omega(file, true, point->tolerance);
    status |= write_omega(file, s->found, s->min.omega);
    status |= write_omega(file, s->found, s->max.omega);
    status |= write_error(file, s->found, s->min.error);
    status |= write_omega(file, best, s->best.omega);
    status |= write_error(file, best, s->best.error);
    write_bounds(file, &search->seeds, &search->found);
    fprintf(file, ",%s\n", s->found ? "ok" : "none");
    return ferror(file) ? -1 : status;
}

char *row_command(const Search *search, const char *positions)
{
    char *text = NULL, *seeds = seeds_text(&search->seeds);
    size_t size;
    FILE *file = seeds == NULL ? NULL : text_stream(&text, &size);
    if (file != NULL) {
        for (char *c = seeds; *c != '\0'; c++) {
            *c = *c == ';' ? ',' : *c; /* as the flag takes them */
        }
        fputs("headproof min-omega", file);
        point_print_flags(file, search->seeds.points[0], NULL, seeds);
        if (positions != NULL) {
            fprintf(file, " --positions %s", positions);
        }
    }
    free(seeds);
    if (file != NULL && fclose(file) != 0) {
        free(text);
        text = NULL;
    }
    return text;
}

int row_write_header(FILE *file)
{
    return table_write_key_header(file, false) != 0 || fputs(header_tail, file) == EOF ? -1 : 0;
}

int row_write(FILE *file, const Search *search)
{
    const Ensemble *ensemble = &search->seeds;
    const Found *found = &search->found;
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
    status |= write_omega(file, search->predicted.known, search->predicted.min);
    status |= write_omega(file, search->predicted.known, search->predicted.max);
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
