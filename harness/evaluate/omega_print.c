/*
 * The answer of a search for Omega, for a terminal and for a table's cell.  Omegas are printed with
 * all digits that they have.
 */
#include "omega_print.h"

#include <math.h>

const char *omega_judged(JudgeOf of)
{
    static const char *const suffixes[] = {
        [JUDGE_STREAMS] = "", [JUDGE_LOGITS] = " of logits", [JUDGE_KL] = " of the KL divergence"};
    return suffixes[of];
}

const char *omega_text(char text[DECIMAL_TEXT], double omega, bool powers)
{
    if (powers) {
        snprintf(text, DECIMAL_TEXT, "2^%d", ilogb(omega));
    } else {
        decimal_print(text, omega);
    }
    return text;
}

void omega_print_range(FILE *file, const OmegaSearch *s)
{
    char low[DECIMAL_TEXT], high[DECIMAL_TEXT];
    omega_text(low, s->min->omega, s->powers);
    omega_text(high, s->max->omega, s->powers);
    if (s->below != NULL && s->above != NULL) {
        fprintf(file, "from %s to %s", low, high);
    } else if (s->below != NULL || s->above != NULL) {
        fprintf(file, s->below != NULL ? "from %s up" : "up to %s", s->below != NULL ? low : high);
    } else {
        fputs("of any size", file);
    }
}

static void print_open(FILE *file, const OmegaSearch *s)
{
    if (!s->open_min && !s->open_max && !s->open_inside) {
        return;
    }
    fputs("; the evaluations of a search are used up:", file);
    if (s->open_min) {
        fprintf(file, " %s",
                s->below != NULL ? "the lower end is known no better" : "lower ones are not known");
    }
    if (s->open_max) {
        fprintf(file, "%s %s", s->open_min ? "," : "",
                s->above != NULL ? "the upper end is known no better"
                                 : "higher ones are not known");
    }
    if (s->open_inside) {
        fprintf(file, "%s fewer than wanted are inside", s->open_min || s->open_max ? "," : "");
    }
}

void omega_print(FILE *file, const OmegaSearch *search, const char *what)
{
    char low[DECIMAL_TEXT], high[DECIMAL_TEXT];
    const char *constant = search->powers ? "tau" : "omega";
    if (search->min == NULL) {
        fprintf(file, "none of %zu %ss evaluated, from %s to %s, %s", search->evaluations, constant,
                omega_text(low, search->trial[0].omega, search->powers),
                omega_text(high, search->trial[search->evaluations - 1].omega, search->powers),
                what);
        return;
    }
    fprintf(file, "%s ", constant);
    omega_print_range(file, search);
    fprintf(file, " %s at all %zu %ss evaluated in this range", what, search->inside, constant);
    if (search->format != NULL) {
        fprintf(file, ", for %zu of the %.0f values that 2 omega has there in %s", search->stepped,
                search->steps, search->format->called);
    }
    const Trial *below = search->below, *above = search->above; /* the neighbours that failed */
    if (below != NULL && above != NULL) {
        fprintf(file, " (%s and %s do not)", omega_text(low, below->omega, search->powers),
                omega_text(high, above->omega, search->powers));
    } else if (below != NULL || above != NULL) {
        double failed = below != NULL ? below->omega : above->omega;
        fprintf(file, " (%s does not)", omega_text(low, failed, search->powers));
    }
    print_open(file, search);
}

void omega_print_open(FILE *file, const OmegaSearch *search)
{
    const bool open[] = {search->open_min, search->open_max, search->open_inside};
    static const char *const names[] = {"min", "max", "inside"};
    const char *before = "";
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        if (open[i]) {
            fprintf(file, "%s%s", before, names[i]);
            before = ";";
        }
    }
}
