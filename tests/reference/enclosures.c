/*
 * Rows of two runs of one thing, at other precisions or of a stream that was moved, against what
 * their radii say.  A ratio is |difference of a row| / (its radius, of both runs), in the 2-norm of
 * a bank.
 */
#include "enclosures.h"

#include "../../reference/compare/propagation.h"
#include "../../reference/radius/internal.h"
#include "../../reference/run/run.h"
#include "../drawn_numbers.h"
#include "../recorded.h"
#include "radii.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>

double log2_of(mpfr_srcptr x)
{
    long exponent;
    if (mpfr_zero_p(x)) {
        return -INFINITY;
    }
    double m = mpfr_get_d_2exp(&exponent, x, MPFR_RNDN);
    return log2(fabs(m)) + (double)exponent;
}

mpfr_srcptr radius_entry(const RefRun *run, RadiusOf of, size_t row, size_t column)
{
    return of == RADIUS_DIFFERENCE  ? ref_run_difference(run, row, column)
           : of == RADIUS_INHERITED ? ref_run_inherited(run, row, column)
                                    : ref_run_entry(run, row, column);
}

void evaluations_of(Evaluated all[PAIR_EVALUATIONS], const Pair *pair, double omega)
{
    const double *x = pair->converted_x, *content = pair->bias_row_content;
    all[PAIR_ORIGINAL] = (Evaluated){&pair->original, pair->original_x, NULL, INFINITY, false};
    all[PAIR_ALONE] = (Evaluated){&pair->converted, x, content, omega, false};
    all[PAIR_BESIDE] = (Evaluated){&pair->converted, x, content, omega, true};
}

RefRun *evaluated_open(const Evaluated *e, const double *x, mpfr_prec_t bits)
{
    return with_radii(
        e->difference ? ref_difference_open(&(Start){e->model, x, e->content, e->omega}, bits, NULL)
                      : ref_run_open(&(Start){e->model, x, e->content, e->omega}, bits));
}

const Tally tally_none = {0, 0, -INFINITY, 0, ""};

void tally_holds(const char *what, const Tally *tally)
{
    print_message("%s: %zu rows, %zu unknown, worst ratio 2^%.1f (%s)\n", what, tally->rows,
                  tally->unknown, tally->log2_ratio, tally->where);
    assert_true(tally->rows > 0);
    assert_true(tally->log2_ratio <= 0);
}

void tally_report(const char *what, const Tally *tally)
{
    tally_holds(what, tally);
    assert_recorded(what, tally->radii);
}

void tally_row(Tally *tally, mpfr_srcptr error, mpfr_srcptr radius, const char *what)
{
    tally->rows++;
    if (!mpfr_number_p(radius)) {
        tally->unknown++;
        return;
    }
    tally->radii += mpfr_zero_p(radius) ? 0 : log2_of(radius);
    double ratio = mpfr_number_p(error) ? log2_of(error) - log2_of(radius) : INFINITY;
    if (!mpfr_zero_p(error) && !(ratio <= tally->log2_ratio)) {
        tally->log2_ratio = ratio;
        snprintf(tally->where, PLACE, "%s", what);
    }
}

/* norm = that of the difference of two runs' rows. */
static void row_distance(mpfr_ptr norm, const RefRun *a, const RefRun *b, RadiusOf of, size_t row,
                         Columns columns)
{
    mpfr_t d;
    mpfr_init2(d, 4096);
    mpfr_set_zero(norm, 1);
    for (size_t c = columns.first; c < columns.first + columns.count; c++) {
        mpfr_sub(d, radius_entry(a, of, row, c), radius_entry(b, of, row, c), MPFR_RNDN);
        mpfr_hypot(norm, norm, d, MPFR_RNDN);
    }
    mpfr_clear(d);
}

void tally_one(Tally *tally, const RefRun *a, const RefRun *b, RadiusOf of, size_t row,
               const char *what)
{
    const Layout *layout = &a->model->layout;
    const Columns banks[] = {{0, layout->d}, {layout->d, layout->hidden}};
    mpfr_t norm, radius, other;
    mpfr_inits2(REF_CELL_BITS, norm, radius, other, (mpfr_ptr)0);
    for (size_t k = 0; k < 2 && banks[k].count > 0; k++) {
        row_distance(norm, a, b, of, row, banks[k]);
        ref_run_radius(a, of, (RefBlock){row, 1, banks[k]}, (RefRadii){radius, NULL});
        ref_run_radius(b, of, (RefBlock){row, 1, banks[k]}, (RefRadii){other, NULL});
        mpfr_add(radius, radius, other, MPFR_RNDU);
        tally_row(tally, norm, radius, what);
    }
    mpfr_clears(norm, radius, other, (mpfr_ptr)0);
}

void tally_rows(Tally *tally, const RefRun *a, const RefRun *b, RadiusOf of, const char *what)
{
    for (size_t row = 0; row < layout_rows(&a->model->layout); row++) {
        tally_one(tally, a, b, of, row, what);
    }
}

void tally_layers(Tally *tally, RefRun *a, RefRun *b, const char *what)
{
    for (size_t l = 0; l < a->model->depth; l++) {
        ref_run_layer(a);
        ref_run_layer(b);
        tally_rows(tally, a, b, RADIUS_SUM, what);
        if (a->e != NULL) {
            tally_rows(tally, a, b, RADIUS_DIFFERENCE, what);
        }
    }
    ref_run_clear(a);
    ref_run_clear(b);
}

void tally_precisions(Tally *tally, const Evaluated *e, mpfr_prec_t bits, const char *what)
{
    tally_layers(tally, evaluated_open(e, e->x, bits), evaluated_open(e, e->x, 2 * bits + 64),
                 what);
}

Banks moved_row(double *by, const Layout *layout, const double *x, size_t i, int moved)
{
    Banks off = {{0}};
    size_t columns = layout_content(layout);
    for (size_t c = 0; c < columns; c++) {
        double entry = x[i * columns + c];
        double there = entry + ldexp(drawn_uniform(), -moved) * (entry != 0);
        by[c] = there - entry;
        off.bank[c < layout->d ? BANK_CONTENT : BANK_HIDDEN] += by[c] * by[c];
    }
    for (int k = 0; k < BANKS; k++) {
        off.bank[k] = ldexp(sqrt(off.bank[k]) * (1 + 0x1p-40), MOVED_BITS);
    }
    return off;
}

void tally_moved(Tally *tally, const Evaluated *e, int moved, const char *what)
{
    double y[MOVED_MOST] = {0}, by[MOVED_MOST];
    const Layout *layout = &e->model->layout;
    size_t columns = layout_content(layout);
    assert_true(layout->n * columns <= MOVED_MOST);
    RefRun *a = evaluated_open(e, e->x, MOVED_BITS);
    for (size_t i = 0; i < layout->n; i++) {
        a->radius->rho[layout_token_row(layout, i)] = moved_row(by, layout, e->x, i, moved);
        for (size_t c = 0; c < columns; c++) {
            y[i * columns + c] = e->x[i * columns + c] + by[c];
        }
    }
    tally_layers(tally, a, evaluated_open(e, y, MOVED_BITS), what);
}
