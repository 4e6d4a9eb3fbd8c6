/*
 * A search in sentences.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "print.h"

#include "../../base/decimal.h"
#include "../../evaluate/omega_print.h"

#include <math.h>

void print_sentences(FILE *file, const Search *search)
{
    const Ensemble *ensemble = &search->seeds;
    const Found *found = &search->found;
    const OmegaSearch *s = &found->search;
    const Point *point = ensemble->points[0];
    char text[DECIMAL_TEXT], what[DECIMAL_TEXT + 48];
    decimal_print(text, point->tolerance);
    snprintf(what, sizeof what, "meets %s%s", text, omega_judged(point->judge_of));
    fprintf(file, "%s, N=%zu: ", construction_names[point->spec.construction], point->spec.n);
    omega_print(file, s, what);
    if (s->found) {
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
        fprintf(file, " Of every input %s is proven to meet it, but for rounding and imitation.",
                none ? "no omega" : text);
    }
    if (judge_needs_arithmetic(point->judge) && s->best.omega > 0) {
        RefCell cell;
        ref_cell_init(&cell, REF_DIGITS);
        ensemble_cell(&cell, ensemble, s->best.omega, point->judge, s->best.error);
        decimal_print(text, s->best.omega);
        mpfr_fprintf(file, " The best evaluated is %s, with error ", text);
        mpfr_fprintf(file, cell.state == CELL_BOUND ? "<%.2RUe" : "%.2Re", cell.value);
        ensemble_cell(&cell, ensemble, 0, ERROR_NATIVE, found->floor.value);
        mpfr_fprintf(file,
                     cell.state == CELL_BOUND ? "; the original itself loses <%.2RUe."
                                              : "; the original itself loses %.2Re.",
                     cell.value);
        ref_cell_clear(&cell);
    }
    fputc('\n', file);
}
