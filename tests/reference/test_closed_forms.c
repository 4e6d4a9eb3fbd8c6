/*
 * The reference against what it must say: the closed forms of docs/mathematics.md, section 2, and
 * bounds that are attained.
 *
 * A closed form's ratio is |measured - closed| / (2^-200 max(|closed|, 2^-30 row)), row the largest
 * |closed| of its row: every entry's own 200 bits, unless it is a billionth of its neighbours.
 * Figures that are not numbers end the test where they arise (see real.h).
 */
#include "../../cases/case.h"
#include "../../reference/reference.h"
#include "closed_forms.h"
#include "../fixture.h"
#include "../real.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEED = 1, MAX_ENTRIES = 21 * 80, PLACE = 160 };
enum { MATCH_BITS = 200, SMALL_BITS = 30 };

static const double omegas[] = {3, 20, 100, 400, 1e6};
enum { OMEGAS = sizeof omegas / sizeof *omegas };

typedef struct {
    size_t n, d, d_ff;
} Shape;

static const Shape shapes[] = {{1, 1, 1}, {2, 1, 3}, {7, 5, 11}, {20, 17, 23}};
enum { SHAPES = sizeof shapes / sizeof *shapes, MEDIUM = 7, LARGE = 20 };

/* The largest ratio, and where it was. */
typedef struct {
    double ratio;
    char where[PLACE];
    size_t checked;
} Worst;

static void note(Worst *worst, double ratio, const CaseSpec *s, double omega, size_t row,
                 size_t column)
{
    worst->checked++;
    if (worst->where[0] == '\0' || !(ratio <= worst->ratio)) {
        worst->ratio = ratio;
        snprintf(
            worst->where, PLACE,
            "%s n %zu d %zu d_ff %zu heads %zu d_head %zu linear %d weights %d bias %d mask %d "
            "content %d omega %g row %zu column %zu",
            construction_names[s->construction], s->n, s->d, s->d_ff, s->heads, s->d_head,
            (int)s->linear, (int)s->weights, (int)s->bias, (int)s->mask, (int)s->bias_row_content,
            omega, row, column);
    }
}

/* One construction's ratios. */
typedef struct {
    Worst tokens, bias_row;
} Tally;

static void report(const char *what, const Worst *worst)
{
    print_message("%s: %zu entries, worst ratio %.3g (%s)\n", what, worst->checked, worst->ratio,
                  worst->where);
    assert_true(worst->checked > 0);
    assert_true(worst->ratio < 1);
}

static void report_tally(const char *name, const Tally *tally)
{
    print_message("%s\n", name);
    report("  tokens", &tally->tokens);
    report("  bias row", &tally->bias_row);
}

static Pair make(const CaseSpec *spec)
{
    Pair pair = pair_make(spec);
    assert_true(layout_rows(&pair.converted.layout) * layout_content(&pair.converted.layout) <=
                MAX_ENTRIES);
    return pair;
}

/* Row i of the closed forms, tokens and then the bias row, in the layout. */
static size_t layout_row(const Layout *layout, size_t i)
{
    return i < layout->n ? layout_token_row(layout, i) : layout_bias_row(layout);
}

/* measured against one row of a closed form, which is not all zeros. */
static void check_row(Worst *worst, const Real *measured, const Real *closed, size_t width,
                      const CaseSpec *spec, double omega, size_t row)
{
    Real largest = real_of(0);
    for (size_t c = 0; c < width; c++) {
        largest = real_max(largest, real_abs(closed[c]));
    }
    Real floor = real_mul(largest, real_power(-SMALL_BITS));
    for (size_t c = 0; c < width; c++) {
        Real error = real_abs(real_sub(measured[c], closed[c]));
        Real scale = real_mul(real_max(real_abs(closed[c]), floor), real_power(-MATCH_BITS));
        note(worst, real_double(real_div(error, scale)), spec, omega, row, c);
    }
}

static bool all_zero(const Real *entries, size_t count)
{
    for (size_t e = 0; e < count; e++) {
        if (real_compare(entries[e], real_of(0)) != 0) {
            return false;
        }
    }
    return true;
}

/* e of every row and column against the closed form at one Omega, at 256 bits whatever that is; its
 * zeros are exact. */
static void check_difference(Tally *tally, const CaseSpec *spec, const Pair *pair, double omega)
{
    static Real closed[MAX_ENTRIES], measured[MAX_ENTRIES];
    const Layout *layout = &pair->converted.layout;
    size_t width = layout_content(layout);
    RefRun *run = difference_layers(pair, omega, 256, 1);
    closed_construction(closed, spec, pair, omega);
    for (size_t i = 0; i <= layout->n; i++) {
        const Real *expected = closed + i * width;
        size_t row = layout_row(layout, i);
        for (size_t c = 0; c < width; c++) {
            measured[c] = real_of_mpfr(ref_run_difference(run, row, c));
        }
        if (all_zero(expected, width)) {
            assert_true(all_zero(measured, width));
        } else {
            check_row(i < layout->n ? &tally->tokens : &tally->bias_row, measured, expected, width,
                      spec, omega, i);
        }
    }
    ref_run_clear(run);
}

/* Of the two larger shapes, whose numbers take most of the time, every fifth and every seventh
 * variant, so that each kind comes with some of the others, and not the same ones; all of them at
 * night, but none of the largest shape in the debug build. */
static bool is_taken(const CaseSpec *spec, int variant)
{
    if (spec->n < MEDIUM || (SMALL_GRIDS && spec->n == LARGE)) {
        return spec->n < MEDIUM;
    }
    return fixture_nightly() || variant % (spec->n == LARGE ? 7 : 5) == 1;
}

/* Weights, biases, content of the bias row, masks and Omegas of one construction and shape. */
static void check_variants(Tally *tally, CaseSpec spec)
{
    const ConstructionInfo *info = construction_info(spec.construction);
    bool biased = info->linear || info->d_ff, weighted = !info->on_x;
    bool attention = spec.construction == CONSTRUCTION_ATTENTION;
    int masks = attention ? MASK_COUNT : MASK_CAUSAL + 1;
    for (int variant = 0; variant < 8 * masks; variant++) {
        spec.mask = (Mask)(variant / 8);
        spec.bias_row_content = (BiasRowContent)(variant & 1);
        spec.bias = (Bias)(variant >> 1 & 1);
        spec.weights = (Weights)(variant >> 2 & 1);
        if (!is_taken(&spec, variant) || (!biased && spec.bias != BIAS_NONE) ||
            (!weighted && spec.weights != WEIGHTS_STABLE)) {
            continue;
        }
        Pair pair = make(&spec);
        for (size_t k = 0; k < OMEGAS; k++) {
            check_difference(tally, &spec, &pair, omegas[k]);
        }
        case_clear(&pair);
    }
}

static CaseSpec shaped(Construction construction, const Shape *shape)
{
    return (CaseSpec){.construction = construction,
                      .n = shape->n,
                      .d = shape->d,
                      .d_ff = shape->d_ff,
                      .heads = 1,
                      .depth = 1,
                      .band = 3,
                      .seed = SEED};
}

static void check_shapes(const char *name, Construction construction, Linear linear)
{
    Tally tally = {0};
    for (size_t s = 0; s < SHAPES; s++) {
        CaseSpec spec = shaped(construction, &shapes[s]);
        spec.linear = linear;
        check_variants(&tally, spec);
    }
    report_tally(name, &tally);
}

static void silu_is_its_closed_form(void **state)
{
    check_shapes("silu", CONSTRUCTION_SILU, LINEAR_IN_PLACE);
}

static void linear_is_its_closed_form(void **state)
{
    check_shapes("linear in place", CONSTRUCTION_LINEAR, LINEAR_IN_PLACE);
    check_shapes("linear block", CONSTRUCTION_LINEAR, LINEAR_BLOCK);
    check_shapes("linear clear", CONSTRUCTION_LINEAR, LINEAR_CLEAR);
}

static void fused_is_its_closed_form(void **state)
{
    check_shapes("fused", CONSTRUCTION_FUSED, LINEAR_IN_PLACE);
}

/* Heads 1 and 3, each with dense and with factored Q and V; the largest shape with half of them. */
static void attention_is_its_closed_form(void **state)
{
    static const size_t heads[] = {1, 3, 1, 3}, d_heads[] = {0, 4, 4, 0};
    Tally tally = {0};
    for (size_t s = 0; s < SHAPES; s++) {
        for (size_t k = 0; k < (shapes[s].n < LARGE && fixture_nightly() ? 4U : 2U); k++) {
            CaseSpec spec = shaped(CONSTRUCTION_ATTENTION, &shapes[s]);
            spec.heads = heads[k];
            spec.d_head = d_heads[k];
            check_variants(&tally, spec);
        }
    }
    report_tally("attention", &tally);
}

/* What content of the bias row does to the limit model. */
static void approximation_is_its_closed_form(void **state)
{
    static const Construction constructions[] = {CONSTRUCTION_SILU, CONSTRUCTION_FUSED};
    static Real closed[MAX_ENTRIES], measured[MAX_ENTRIES];
    for (size_t k = 0; k < 2; k++) {
        Worst worst = {0};
        for (int mask = 0; mask < MASK_COUNT; mask++) {
            CaseSpec spec = shaped(constructions[k], &shapes[2]);
            spec.mask = (Mask)mask;
            spec.bias = BIAS_RANDOM;
            spec.bias_row_content = CONTENT_RANDOM;
            Pair pair = make(&spec);
            RefRun *limit = run_layers(&pair.converted, pair.converted_x, pair.bias_row_content,
                                       INFINITY, 256, 1);
            RefRun *original = run_layers(&pair.original, pair.original_x, NULL, INFINITY, 256, 1);
            closed_approximation(closed, &spec, &pair);
            for (size_t i = 0; i < spec.n; i++) {
                for (size_t c = 0; c < spec.d; c++) {
                    size_t row = layout_token_row(&pair.converted.layout, i);
                    measured[c] = real_difference(ref_run_entry(limit, row, c),
                                                  ref_run_entry(original, i, c));
                }
                check_row(&worst, measured, closed + i * spec.d, spec.d, &spec, INFINITY, i);
            }
            ref_run_clear(original);
            ref_run_clear(limit);
            case_clear(&pair);
        }
        report(construction_names[constructions[k]], &worst);
    }
}

/* |r(T') - r(T_infinity)| over the bound, at most 1; unbiased, unmasked, bias row empty. */
static double bound_ratio(const CaseSpec *spec, const Pair *pair, double omega)
{
    static Real bound[MAX_ENTRIES];
    RefRun *run = difference_layers(pair, omega, 256, 1);
    size_t width = layout_content(&pair->converted.layout);
    double worst = 0;
    closed_bound(bound, spec, pair, omega);
    for (size_t i = 0; i < spec->n; i++) {
        for (size_t c = 0; c < width; c++) {
            size_t row = layout_token_row(&pair->converted.layout, i);
            Real error = real_abs(real_of_mpfr(ref_run_difference(run, row, c)));
            if (real_compare(error, bound[c]) != 0) { /* both may be 0 */
                worst = fmax(worst, real_double(real_div(error, bound[c])));
            }
        }
    }
    ref_run_clear(run);
    return worst;
}

static void bounds_are_never_exceeded(void **state)
{
    static const Construction bounded[] = {CONSTRUCTION_SILU, CONSTRUCTION_FUSED,
                                           CONSTRUCTION_LINEAR};
    for (size_t k = 0; k < 3; k++) {
        double worst = 0;
        for (uint64_t trial = 0; trial < 60; trial++) {
            CaseSpec spec = shaped(bounded[k], &shapes[trial % 3]);
            spec.seed = SEED + trial;
            spec.weights = (Weights)(trial / 3 % 2);
            spec.linear = (Linear)(trial / 6 % 3);
            Pair pair = make(&spec);
            worst = fmax(worst, bound_ratio(&spec, &pair, trial % 2 == 0 ? 3 : 20));
            case_clear(&pair);
        }
        print_message("%s: at most %.3g of its bound\n", construction_names[bounded[k]], worst);
        assert_true(worst > 0.01 && worst <= 1);
    }
}

/* One x at -B, all others at +B: the worst that a SiLU head can meet. */
static void silu_bound_is_attained(void **state)
{
    enum { N = 20 };
    const double b = 3, omega = 5;
    CaseSpec spec = shaped(CONSTRUCTION_SILU, &(Shape){N, 1, 1});
    Pair pair = make(&spec);
    double x[N];
    for (size_t i = 0; i < N; i++) {
        x[i] = i == 7 ? -b : b;
    }
    pair.original_x = x;
    pair.converted_x = x;
    double ratio = bound_ratio(&spec, &pair, omega);
    print_message("adversarial silu: %.6f of its bound\n", ratio);
    assert_true(ratio >= 0.999 && ratio <= 1);
    case_clear(&pair);
}

SUBJECT(closed_forms)
{
    const struct CMUnitTest closed_forms[] = {
        cmocka_unit_test(silu_is_its_closed_form),
        cmocka_unit_test(linear_is_its_closed_form),
        cmocka_unit_test(attention_is_its_closed_form),
        cmocka_unit_test(fused_is_its_closed_form),
        cmocka_unit_test(approximation_is_its_closed_form),
        cmocka_unit_test(bounds_are_never_exceeded),
        cmocka_unit_test(silu_bound_is_attained),
    };
    return cmocka_run_group_tests(closed_forms, reference_set_up, reference_tear_down);
}
