/*
 * How far slopes of imitated activations are from 1/2, by branch and bound: no more than is said
 * (docs/proof.md, (G3)), and about as far.
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
 * |f(m)| + |f'(m)| h + M h^2/2; it is divided until none can exceed what is said.  Beyond |u| = FAR
 * in every term (x F)' differs from the sum of the values, or from 0, by at most sum of |value|
 * (FAR + 1 + |shift|) e^-FAR.
 */
#include "../../cases/activation.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>
#include <string.h>

#define FAR 64.0
/* The largest error of an evaluation in doubles: 20 roundings a term, of numbers up to FAR. */
#define ROUNDED 0x1p-40

enum { COARSE = 4096, DEPTH = 40 };

typedef struct {
    const Terms *terms;
    double lipschitz, curvature, best;
} Search;

/* |f| at x, and *slope: |f'|, from above. */
static double height(double *slope, const Search *search, double x)
{
    double sum = 0, slopes = 0, sizes = 1, shifts = 1;
    for (size_t t = 0; t < search->terms->count; t++) {
        const Term term = search->terms->term[t];
        double gx = term.gate * x, s = 1 / (1 + exp(-gx - term.shift)),
               opposite = 1 / (1 + exp(gx + term.shift));
        sum += term.value * (s + gx * s * opposite);
        slopes += term.value * term.gate * s * opposite * (2 + gx * (opposite - s));
        sizes += fabs(term.value);
        shifts = fmax(shifts, 1 + fabs(term.shift));
    }
    *slope = fabs(slopes) + ROUNDED * search->lipschitz;
    return fabs(sum - 0.5) + ROUNDED * sizes * shifts;
}

/* Is nothing over [a, b] above what is said?  best: the largest height seen. */
static bool stays_below(Search *search, double a, double b, int depth)
{
    double middle = a + (b - a) / 2, half = (b - a) * 0.5000001, slope,
           at = height(&slope, search, middle),
           rise = fmin(search->lipschitz * half, (slope + search->curvature * half / 2) * half);
    search->best = fmax(search->best, at);
    return at + rise <= search->terms->swing ||
           (at <= search->terms->swing && depth > 0 && stays_below(search, a, middle, depth - 1) &&
            stays_below(search, middle, b, depth - 1));
}

static void expect_swing(const Terms *terms)
{
    Search search = {.terms = terms};
    double reach = 0, tail = 0;
    for (size_t t = 0; t < terms->count; t++) {
        const Term term = terms->term[t];
        double shift = fabs(term.shift), own = fabs(term.value);
        search.lipschitz += own * term.gate * (0.7241 + 0.0963 * shift);
        search.curvature += own * term.gate * term.gate * (0.5131 + 0.1251 * shift);
        reach = fmax(reach, (FAR + shift) / term.gate);
        tail += own * (FAR + 1 + shift) * 0x1p-92; /* e^-64 < 2^-92 */
    }
    double step = 2 * reach * 1.0000001 / COARSE;
    assert_true(terms->swing >= 0.5 + tail);
    for (int i = 0; i < COARSE; i++) {
        double from = (i - COARSE / 2.0) * step;
        assert_true(stays_below(&search, from, from + step, DEPTH));
    }
    assert_true(search.best >= terms->swing - 1e-7);
}

/* Of every activation and form; sup |SiLU' - 1/2| = 0.5998393..., at a scale of any gate; of GELU's
 * two terms 0.6286 (docs). */
static void swings_are_bounds(void **state)
{
    CaseSpec spec = {.activation = ACTIVATION_RELU};
    (void)state;
    for (spec.slope = 0x1p-30; spec.slope <= 0x1p30; spec.slope *= 0x1p30) {
        Terms terms = activation_terms(&spec);
        expect_swing(&terms);
        assert_true(terms.swing >= 0.59983932380602);
    }
    for (spec.activation = 0; spec.activation < ACTIVATION_COUNT; spec.activation++) {
        for (size_t form = 0; form < GELU_COUNT && spec.activation != ACTIVATION_RELU; form++) {
            spec.gelu = (GeluForm)form;
            Terms terms = activation_terms(&spec);
            if (spec.gelu != GELU_TWO || spec.activation == ACTIVATION_GELU) {
                expect_swing(&terms);
            }
        }
    }
    spec = (CaseSpec){.activation = ACTIVATION_GELU, .gelu = GELU_TWO};
    double two = activation_terms(&spec).swing;
    assert_true(two >= 0.6285 && two <= 0.6287);
}

SUBJECT(swings)
{
    const struct CMUnitTest swings[] = {cmocka_unit_test(swings_are_bounds)};
    return cmocka_run_group_tests(swings, NULL, NULL);
}
