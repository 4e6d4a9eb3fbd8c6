/*
 * Layer norms in the reference: T_infinity is T, the two forms agree, and what the bias row's leak
 * becomes.
 */
#include "../cases/case.h"
#include "../reference/reference.h"
#include "fixture.h"
#include "norm_cases.h"
#include "real.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

enum { MAX_BITS = 1 << 16 };

/* ---- T_infinity is T ------------------------------------------------------------------------- */

/* Runs at one precision, layer by layer. */
typedef struct {
    Pair pair;
    RefRun *limit, *original, *dense_limit, *dense_original;
    double worst;
    size_t cases;
    char where[NORM_PLACE];
} Limit;

/* The largest |a - b| over token rows and compared columns, in units of 2^-bits times the largest
 * entry. */
static double gap(const Pair *pair, size_t layer, const RefRun *a, bool a_converted,
                  const RefRun *b, bool b_converted, mpfr_prec_t bits)
{
    const Layout *from[2] = {&pair->original.layout, &pair->converted.layout};
    Columns columns = pair->compared[layer - 1];
    Real worst = real_of(0), size = real_of(0);
    for (size_t e = 0; e < pair->original.layout.n * columns.count; e++) {
        size_t i = e / columns.count, c = columns.first + e % columns.count;
        mpfr_srcptr x = ref_run_entry(a, layout_token_row(from[a_converted], i), c);
        mpfr_srcptr y = ref_run_entry(b, layout_token_row(from[b_converted], i), c);
        worst = real_max(worst, real_abs(real_difference(x, y)));
        size = real_max(size, real_abs(real_of_mpfr(x)));
    }
    assert_true(real_compare(size, real_of(0)) > 0);
    return real_double(real_div(worst, real_mul(size, real_power(-bits))));
}

static void note(Limit *limit, const CaseSpec *spec, double ratio)
{
    limit->cases++;
    if (!(ratio <= limit->worst)) {
        limit->worst = ratio;
        norm_describe(limit->where, spec);
    }
}

static void check_limit(const CaseSpec *spec, void *context)
{
    enum { BITS = 192 };
    Limit *all = context;
    Pair pair = pair_make(spec);
    RefRun *runs[4];
    assert_true(pair.limit_is_original);
    for (int r = 0; r < 4; r++) {
        const Model *model = r % 2 == 0 ? &pair.original : &pair.converted;
        runs[r] = run_layers(model, r % 2 == 0 ? pair.original_x : pair.converted_x, NULL, INFINITY,
                             BITS, r < 2 ? REF_STRUCTURED : REF_DENSE, 0);
    }
    for (size_t l = 1; l <= spec->depth; l++) {
        for (int r = 0; r < 4; r++) {
            ref_run_layer(runs[r]);
        }
        note(all, spec, gap(&pair, l, runs[0], false, runs[1], true, BITS));
        note(all, spec, gap(&pair, l, runs[0], false, runs[2], false, BITS));
        note(all, spec, gap(&pair, l, runs[0], false, runs[3], true, BITS));
    }
    for (int r = 0; r < 4; r++) {
        ref_run_clear(runs[r]);
    }
    case_clear(&pair);
}

static void limit_is_the_original(void **state)
{
    Limit all = {.cases = 0};
    (void)state;
    norm_each_case(3, check_limit, &all);
    print_message("%zu comparisons, worst %.3g units (%s)\n", all.cases, all.worst, all.where);
    assert_true(all.cases > 500);
    assert_true(all.worst < 0x1p20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limit_is_the_original),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
