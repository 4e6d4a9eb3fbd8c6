/*
 * Radii (docs/certify.md) of streams that are moved: an evaluation knows how far one may be whose
 * change is off by so much, and where a slope or a norm is known it says no more than that.
 */
#include "../../reference/radius/internal.h"
#include "../../reference/run/run.h"
#include "../drawn_numbers.h"
#include "enclosures.h"
#include "../fixture.h"
#include "norm_cases.h"
#include "../unit.h"

#include <math.h>

static const double omegas[] = {1, 8, 40, 1000};
enum { OMEGAS = sizeof omegas / sizeof *omegas };

/* Of one token, one column and one unit what is proven is near what there is, of T and of T', where
 * a product is read out: of either factor alone, as the other has no weight. */
static void gated_units_are_sharp(void **state)
{
    static const Activation acts[] = {ACTIVATION_SILU, ACTIVATION_NONE, ACTIVATION_SIGMOID};
    const double one = 1, none_of_it = 0, two = 2, x = 0.25;
    drawn_numbers = SEED;
    for (size_t trial = 0; trial < 12; trial++) {
        bool gate = trial % 2 == 0;
        const double *w_gate = gate ? &one : &none_of_it, *w_in = gate ? &none_of_it : &one;
        const GivenLayer layer = {
            .w_gate = w_gate, .b_gate = &one, .w_in = w_in, .b_in = &two, .w_out = &two};
        const GivenWeights given = {.layers = &layer, .scale = {1, 1, 1}, .x = &x};
        CaseSpec spec = difference_case(CONSTRUCTION_FUSED, 1);
        spec.n = spec.d = spec.d_ff = 1;
        spec.ffn = FFN_GATED;
        spec.activation = acts[trial / 2 % 3];
        spec.tau = trial < 6 ? 0x1p-10 : 0.5;
        spec.given = &given;
        Pair pair = pair_make(&spec);
        Tally tally = tally_none;
        tally_moved(&tally, &(Evaluated){&pair.original, pair.original_x, NULL, INFINITY, false},
                    20, "original");
        tally_holds("one gated unit", &tally);
        assert_true(tally.log2_ratio > -1);
        tally = tally_none;
        tally_moved(&tally, &(Evaluated){&pair.converted, pair.converted_x, NULL, INFINITY, false},
                    40, "limit");
        tally_holds("read out", &tally);
        assert_true(tally.log2_ratio > -0.5);
        case_clear(&pair);
    }
}

/* e of b's tokens is off before the first layer, and eta of a is what that makes. */
static void move_difference(RefRun *a, RefRun *b, const double *x, int moved)
{
    const Layout *layout = &a->model->layout;
    double by[MOVED_MOST];
    for (size_t i = 0; i < layout->n; i++) {
        size_t row = layout_token_row(layout, i);
        a->radius->eta[row] = moved_row(by, layout, x, i, moved);
        for (size_t c = 0; c < layout_content(layout); c++) {
            mpfr_set_d(ap_at(&b->e->stream, row, c), by[c], MPFR_RNDN);
        }
    }
}

/* What e was moved by goes through T', whether e is near 0 or not. */
static void enclosures_hold_of_moved_differences(void **state)
{
    Tally tally = tally_none;
    drawn_numbers = SEED;
    for (int c = 0; c < CONSTRUCTION_MASKED; c++) {
        for (int v = 0; v < VARIANTS; v += fixture_nightly() ? 1 : 3) {
            CaseSpec spec = difference_variant((Construction)c, 2, (v + c) % VARIANTS);
            Pair pair = pair_make(&spec);
            Evaluated all[PAIR_EVALUATIONS];
            evaluations_of(all, &pair, omegas[v % (int)OMEGAS]);
            const Evaluated *e = &all[PAIR_BESIDE];
            for (int moved = 4; moved <= 44; moved += 20) {
                RefRun *a = evaluated_open(e, e->x, MOVED_BITS);
                RefRun *b = evaluated_open(e, e->x, MOVED_BITS);
                move_difference(a, b, e->x, moved);
                tally_layers(&tally, a, b, construction_names[c]);
            }
            case_clear(&pair);
        }
    }
    tally_report("moved differences", &tally);
    assert_true(tally.log2_ratio > -1);
}

/* ---- What is known --------------------------------------------------------------------------- */

/* One token, one column, x <- x W: what goes out is what came in times |W|, no more and no less. */
static void propagation_is_sharp(void **state)
{
    Tally tally = tally_none;
    drawn_numbers = SEED;
    CaseSpec spec = difference_case(CONSTRUCTION_LINEAR, 3);
    spec.n = spec.d = 1;
    Pair pair = pair_make(&spec);
    Evaluated limit = {&pair.converted, pair.converted_x, NULL, INFINITY, false};
    tally_moved(&tally, &limit, 20, "one entry");
    tally_report("one entry", &tally);
    assert_true(tally.log2_ratio > -0.01);
    case_clear(&pair);
}

/* One token, one column, one unit, moved far: its slope on the way is not that at x. */
static void slopes_change_on_the_way(void **state)
{
    Tally tally = tally_none;
    drawn_numbers = SEED;
    for (int trial = 0; trial < 60; trial++) {
        CaseSpec spec = {.construction = CONSTRUCTION_FUSED,
                         .n = 1,
                         .d = 1,
                         .d_ff = 1,
                         .depth = 1,
                         .seed = (uint64_t)trial,
                         .weights = WEIGHTS_NORMAL,
                         .slope = 1000};
        Pair pair = pair_make(&spec);
        Evaluated limit = {&pair.converted, pair.converted_x, NULL, INFINITY, false};
        Evaluated original = {&pair.original, pair.original_x, NULL, INFINITY, false};
        tally_moved(&tally, &limit, trial % 4, "limit");
        tally_moved(&tally, &original, trial % 4, "original");
        case_clear(&pair);
    }
    tally_report("one unit", &tally);
    assert_true(tally.log2_ratio > -0.1);
}

/* A sublayer alone on one token x [d]: the largest ratio, as a logarithm to base 2. */
static double moved_alone(const Sublayer *sublayer, size_t d, const double *x, int moved)
{
    const size_t end = 1;
    const Model model = {{1, d, 0, BIAS_ROW_NONE}, sublayer, 1, &end, 1, NULL};
    Tally tally = tally_none;
    drawn_numbers = SEED;
    tally_moved(&tally, &(Evaluated){&model, x, NULL, INFINITY, false}, moved, "alone");
    tally_holds("one sublayer", &tally);
    return tally.log2_ratio;
}

static Sublayer norm_alone(LayerNorm norm)
{
    return (Sublayer){.norm = norm,
                      .direct = {.kind = DIRECT_NORM, .read = norm.columns, .write = norm.columns}};
}

/* An activation alone, of one number where it is steepest: what is proven of it is the slope, and
 * no less than it does. */
static void slopes_are_the_steepest(void **state)
{
    static const struct {
        Activation activation;
        double x;
    } steep[] = {{ACTIVATION_SILU, 2.39936},
                 {ACTIVATION_GELU, 1.41421},
                 {ACTIVATION_GELU_NEW, 1.418},
                 {ACTIVATION_RELU, 1},
                 {ACTIVATION_SILU, -2.39936}};
    for (size_t i = 0; i < sizeof steep / sizeof *steep; i++) {
        const Sublayer sublayer = {.direct = {.kind = DIRECT_ACTIVATION,
                                              .activation = steep[i].activation,
                                              .read = {0, 1},
                                              .write = {0, 1}}};
        assert_true(moved_alone(&sublayer, 1, &steep[i].x, 20) > -0.01);
    }
}

/* A norm alone, of one number near 0 and of a row whose change is at right angles to what it has
 * beside its mean: what is proven of it is gamma / sqrt(s), and no less than it does. */
static void norms_are_the_steepest(void **state)
{
    static const double gamma[] = {-3, 0}, beta[] = {0.5, 0}, small[] = {0x1p-40},
                        across[] = {1, 0x1p-60};
    const LayerNorm norms[] = {
        {NORMALIZATION_RMSNORM, {0, 1}, gamma, NULL, 1e-5, false},
        {NORMALIZATION_RMSNORM, {0, 1}, gamma, NULL, 4, false},
        {NORMALIZATION_RMSNORM, {0, 2}, (const double[]){2, 2}, NULL, 1e-3, false},
        {NORMALIZATION_LAYERNORM, {0, 1}, gamma, beta, 1, false},
    };
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        const Sublayer sublayer = norm_alone(norms[i]);
        size_t d = norms[i].columns.count;
        double ratio = moved_alone(&sublayer, d, d == 1 ? small : across, 90);
        assert_true(ratio > -0.01 || norms[i].kind == NORMALIZATION_LAYERNORM);
    }
}

/* A norm of two columns of three, which makes them small: the third is off by what it was. */
static void norms_of_part_of_a_bank(void **state)
{
    static const double gamma[] = {0x1p-30, 0x1p-30}, x[] = {1, 2, 5};
    const Sublayer sublayer =
        norm_alone((LayerNorm){NORMALIZATION_RMSNORM, {0, 2}, gamma, NULL, 1, false});
    assert_true(moved_alone(&sublayer, 3, x, 20) > -2);
}

SUBJECT(radius_moved)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gated_units_are_sharp),
        cmocka_unit_test(enclosures_hold_of_moved_differences),
        cmocka_unit_test(propagation_is_sharp),
        cmocka_unit_test(slopes_change_on_the_way),
        cmocka_unit_test(slopes_are_the_steepest),
        cmocka_unit_test(norms_are_the_steepest),
        cmocka_unit_test(norms_of_part_of_a_bank),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
