/*
 * Bounds of an imitated activation, by branch and bound.
 *
 * With u = gate x + shift, (x F)' = sum of value (sigma(u) + (u - shift) sigma'(u)), and f is that
 * less 1/2.  Then f' = sum of value gate (2 sigma'(u) + (u - shift) sigma''(u)), and with
 * sigma' <= 1/4, |u sigma''(u)| and |u sigma'''(u)| <= |u| sigma'(u) < 0.224, |sigma''| <=
 * 1/(6 sqrt 3) < 0.0963, |sigma'''| <= 1/8:
 *
 *     |f'|  <= L = sum of |value| gate (1/2 + 0.224 + 0.0963 |shift|)
 *     |f''| <= M = sum of |value| gate^2 (3 * 0.0963 + 0.224 + |shift|/8)
 *
 * A cell from m - h to m + h is at most |f(m)| + L h high, and at most
 * |f(m)| + |f'(m)| h + M h^2/2; it is divided until none can exceed the largest value seen by more
 * than SLACK.  Beyond |u| = FAR in every term (x F)' differs from the sum of the values, or from 0,
 * by at most sum of |value| (FAR + 1 + |shift|) e^-FAR.
 */
#include <stdio.h> /* before mpfr.h */

#include "imitation.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

#define FAR 64.0
#define SLACK 0x1p-25
/* The largest error of an evaluation in doubles: 20 roundings a term, of numbers up to FAR. */
#define ROUNDED 0x1p-40

enum { COARSE = 4096, CELLS_MOST = 4000000 };

typedef struct {
    const Imitation *imitation;
    double lipschitz, curvature, values, best;
    long cells;
    mpfr_t scratch;
} Search;

double imitation_values(const Imitation *imitation)
{
    double sum = 0;
    for (size_t t = 0; t < imitation->count; t++) {
        sum += fabs(imitation->term[t].value);
    }
    return imitation->count == 1 ? sum : sum * (1 + 0x1p-48);
}

double imitation_gate(const Imitation *imitation)
{
    double most = 0;
    for (size_t t = 0; t < imitation->count; t++) {
        most = fmax(most, imitation->term[t].gate);
    }
    return most;
}

bool imitation_is(const Imitation *a, const Imitation *b)
{
    return a->count == b->count && memcmp(a->term, b->term, a->count * sizeof *a->term) == 0;
}

bool imitation_is_whole(const Imitation *imitation)
{
    mpfr_t sum;
    mpfr_init2(sum, 4096); /* doubles between 2^-1000 and 2^1000 add up exactly */
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    bool whole = true;
    for (size_t t = 0; t < imitation->count; t++) {
        whole = mpfr_add_d(sum, sum, imitation->term[t].value, MPFR_RNDN) == 0 && whole;
    }
    whole = whole && mpfr_cmp_ui(sum, 1) == 0;
    mpfr_clear(sum);
    return whole;
}

/* sigma(u) and sigma(-u), to two roundings. */
static void logistics(Search *search, double u, double *at, double *opposite)
{
    mpfr_set_d(search->scratch, -fabs(u), MPFR_RNDN);
    mpfr_exp(search->scratch, search->scratch, MPFR_RNDN);
    double e = mpfr_get_d(search->scratch, MPFR_RNDN);
    double near = 1 / (1 + e), far = e / (1 + e);
    *at = u >= 0 ? near : far;
    *opposite = u > 0 ? far : near;
}

/* |f| at x, and *slope: |f'|, from above. */
static double height(double *slope, Search *search, double x)
{
    double sum = 0, slopes = 0, shifts = 0;
    for (size_t t = 0; t < search->imitation->count; t++) {
        GateTerm term = search->imitation->term[t];
        double gx = term.gate * x, s, opposite;
        logistics(search, gx + term.shift, &s, &opposite);
        sum += term.value * (s + gx * s * opposite);
        slopes += term.value * term.gate * s * opposite * (2 + gx * (opposite - s));
        shifts = fmax(shifts, fabs(term.shift));
    }
    *slope = fabs(slopes) + ROUNDED * search->lipschitz;
    return fabs(sum - 0.5) + ROUNDED * (search->values + 1) * (1 + shifts);
}

/* The largest possible height over [a, b], if it is above best + SLACK. */
static void divide(Search *search, double a, double b)
{
    double middle = a + (b - a) / 2, half = (b - a) * 0.5000001, slope,
           at = height(&slope, search, middle),
           rise = fmin(search->lipschitz * half, (slope + search->curvature * half / 2) * half);
    search->best = fmax(search->best, at);
    search->cells++;
    if (at + rise > search->best + SLACK && search->cells < CELLS_MOST) {
        divide(search, a, middle);
        divide(search, middle, b);
    }
}

double imitation_swing(const Imitation *imitation)
{
    Search search = {.imitation = imitation, .values = imitation_values(imitation)};
    double reach = 0, tail = 0, whole = 0, slope;
    for (size_t t = 0; t < imitation->count; t++) {
        GateTerm term = imitation->term[t];
        double shift = fabs(term.shift), own = fabs(term.value);
        search.lipschitz += own * term.gate * (0.7241 + 0.0963 * shift);
        search.curvature += own * term.gate * term.gate * (0.5131 + 0.1251 * shift);
        reach = fmax(reach, (FAR + shift) / term.gate);
        tail += own * (FAR + 1 + shift) * 0x1p-92; /* e^-64 < 2^-92 */
        whole += term.value;
    }
    search.best = fmax(fabs(whole - 0.5) + 0x1p-48 * search.values, 0.5);
    double start = search.best + tail, step = 2 * reach * 1.0000001 / COARSE;
    if (!(step > 0) || !(step < INFINITY) || !(search.lipschitz < INFINITY)) {
        return INFINITY;
    }
    mpfr_init2(search.scratch, 53);
    for (int i = 0; i < COARSE; i++) {
        search.best = fmax(search.best, height(&slope, &search, (i - COARSE / 2.0) * step));
    }
    for (int i = 0; i < COARSE; i++) {
        divide(&search, (i - COARSE / 2.0) * step, (i + 1 - COARSE / 2.0) * step);
    }
    mpfr_clear(search.scratch);
    return search.cells < CELLS_MOST ? fmax(start, search.best + SLACK) : INFINITY;
}
