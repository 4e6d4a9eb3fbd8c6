/*
 * The plan of the difference e: its a-priori errors cover what more bits change, and its bits are
 * those of docs/mathematics.md, section 4.
 */
#include "difference_cases.h"
#include "fixture.h"
#include "real.h"
#include "unit.h"

#include <math.h>

/* An evaluation of the difference, and the same at more than twice the bits. */
typedef struct {
    Pair pair;
    RefPlan *plan;
    RefBits bits;
    RefRun *few, *many;
} Twice;

/* bits 0: those planned. */
static void twice_open(Twice *t, const CaseSpec *spec, double omega, mpfr_prec_t bits)
{
    t->pair = pair_make(spec);
    const Model *model = &t->pair.converted;
    const double *x = t->pair.converted_x, *content = t->pair.bias_row_content;
    t->plan = difference_plan(&t->pair, omega);
    t->bits =
        bits > 0 ? (RefBits){bits, bits} : ref_plan_both_bits(t->plan, REF_DIGITS, omega, MAX_BITS);
    t->few = ref_difference_open_at(model, x, content, omega, t->bits, NULL);
    t->many = ref_difference_open(model, x, content, omega, 2 * t->bits.x + 128, NULL);
    assert_true(t->few != NULL && t->many != NULL);
}

static void twice_layer(const Twice *t)
{
    ref_run_layer(t->few);
    ref_run_layer(t->many);
}

static void twice_clear(Twice *t)
{
    ref_run_clear(t->few);
    ref_run_clear(t->many);
    ref_plan_clear(t->plan);
    case_clear(&t->pair);
}

/* An entry of a run: e, or the limit's stream. */
typedef mpfr_srcptr Entry(const RefRun *run, size_t row, size_t column);

/* Bits that rounding has cost, relative to the largest entry of some rows and columns; -INFINITY
 * where nothing was rounded. */
static double bits_lost(const Twice *t, Entry *entry, size_t first, size_t rows, Columns columns)
{
    Real largest = real_of(0), error = real_of(0);
    for (size_t k = 0; k < rows * columns.count; k++) {
        size_t row = first + k / columns.count, column = columns.first + k % columns.count;
        mpfr_srcptr exact = entry(t->many, row, column);
        error = real_max(error, real_abs(real_difference(entry(t->few, row, column), exact)));
        largest = real_max(largest, real_abs(real_of_mpfr(exact)));
    }
    if (real_compare(error, real_of(0)) == 0) {
        return -INFINITY;
    }
    mpfr_prec_t bits = entry == ref_run_difference ? t->bits.e : t->bits.x;
    return real_double(real_log(real_div(error, largest))) / log(2) + (double)bits;
}

/* Of e in a block, after layer (from 1). */
static double block_lost(const Twice *t, RefBlock b, size_t layer)
{
    const Pair *pair = &t->pair;
    const Layout *layout = &pair->converted.layout;
    Columns columns = b == BLOCK_COMPARED  ? pair->compared[layer - 1]
                      : b == BLOCK_CLEARED ? pair->cleared[layer - 1]
                                           : (Columns){0, layout_content(layout)};
    bool bias = b == BLOCK_BIAS_ROW;
    return bits_lost(t, ref_run_difference,
                     bias ? layout_bias_row(layout) : layout_token_row(layout, 0),
                     bias ? 1 : layout->n, columns);
}

/* The a-priori error of each block at p bits covers what 2p + 128 bits change; returns the bits to
 * spare, at least. */
static double spare_bits(const CaseSpec *spec, double omega)
{
    Twice t;
    double spare = INFINITY;
    twice_open(&t, spec, omega, 0);
    for (size_t l = 1; l <= spec->depth; l++) {
        twice_layer(&t);
        for (int b = 0; b < BLOCK_COUNT; b++) {
            mpfr_exp_t claimed;
            if (ref_plan_difference_error(&claimed, t.plan, l, (RefBlock)b, t.bits.e)) {
                double covered = (double)(claimed + t.bits.e);
                spare = fmin(spare, covered - block_lost(&t, (RefBlock)b, l));
            }
        }
    }
    twice_clear(&t);
    return spare;
}

static void a_priori_errors_hold(void **state)
{
    static const double omegas[] = {3, 1e6, 0.25, 8, 50};
    const size_t count = SMALL_GRIDS ? 2 : sizeof omegas / sizeof *omegas;
    bool all = fixture_nightly();
    for (int c = 0; c < WITH_OMEGA; c++) {
        double spare = INFINITY;
        for (int variant = 0; variant < VARIANTS; variant++) {
            CaseSpec spec = difference_variant((Construction)c, variant % 5 == 0 ? 12 : 2, variant);
            /* Every other Omega, and of the next variant the others; all of them at night. */
            for (size_t k = all ? 0 : (size_t)variant % 2; k < count; k += all ? 1 : 2) {
                spare = fmin(spare, spare_bits(&spec, omegas[k]));
            }
        }
        print_message("%s: at least %.1f bits to spare\n", construction_names[c], spare);
        assert_true(spare > 0 && spare < 64);
    }
}

/* growth + 17 log2 10 + 28, rounded up to 64. */
static double bits_for(double growth)
{
    return 64 * ceil((fmax(growth, 0) + 57 + 28) / 64);
}

/* log2 of the largest entry of e in a block, or (b == BLOCK_COUNT) of r(T'). */
static double size_log2(const Twice *t, int b, size_t layer)
{
    const Pair *pair = &t->pair;
    const Layout *layout = &pair->converted.layout;
    Columns content = {0, layout_content(layout)};
    Columns columns = b == BLOCK_COMPARED  ? pair->compared[layer - 1]
                      : b == BLOCK_CLEARED ? pair->cleared[layer - 1]
                                           : content;
    size_t first = b == BLOCK_BIAS_ROW ? layout_bias_row(layout) : layout_token_row(layout, 0);
    size_t rows = b == BLOCK_BIAS_ROW ? first != SIZE_MAX : layout->n;
    Entry *entry = b == BLOCK_COUNT ? ref_run_entry : ref_run_difference;
    Real largest = real_of(0);
    for (size_t k = 0; k < rows * columns.count; k++) {
        mpfr_srcptr e =
            entry(t->many, first + k / columns.count, columns.first + k % columns.count);
        largest = real_max(largest, real_abs(real_of_mpfr(e)));
    }
    return real_compare(largest, real_of(0)) == 0 ? -INFINITY
                                                  : real_double(real_log(largest)) / log(2);
}

/* The planned bits of each layer are those for the growth that evaluations at GROWTH_BITS show:
 * the plan's, from fewer bits, is in whole exponents and has luck of its own, and it counts too
 * what terms of e cancel, which may be as large as the stream.  exact: the layers where that
 * leaves one number of bits; most: the largest. */
static void check_bits(const CaseSpec *spec, double omega, size_t *exact, double *most)
{
    enum { GROWTH_BITS = 1280, LESS = 4, MORE = 8 };
    Twice t;
    double growth = 0, cancelled = 0;
    twice_open(&t, spec, omega, GROWTH_BITS);
    for (size_t l = 1; l <= spec->depth; l++) {
        twice_layer(&t);
        for (int b = 0; b < BLOCK_COUNT; b++) {
            double own = block_lost(&t, (RefBlock)b, l);
            double below = size_log2(&t, BLOCK_COUNT, l) - size_log2(&t, b, l);
            growth = fmax(growth, fmax(own, 53 - below + fmax(own, 0)));
            cancelled = fmax(cancelled, b == BLOCK_CLEARED && below < INFINITY ? below + MORE : 0);
        }
        double planned = ref_plan_difference_bits(t.plan, REF_DIGITS_MOST, omega, l);
        double low = bits_for(growth - LESS);
        double high = bits_for(fmax(growth + MORE, cancelled));
        if (planned < low || planned > high) {
            char what[PLACE];
            difference_describe(what, spec, omega);
            fail_msg("layer %zu of %s: growth %.1f, planned %.0f bits", l, what, growth, planned);
        }
        *exact += low == high;
        *most = fmax(*most, planned);
    }
    twice_clear(&t);
}

/* SiLU: what is evaluated is r(T) too.  N(0, 1) weights: scores of hundreds, bits by the
 * hundred. */
static void bits_are_those_of_the_growth(void **state)
{
    size_t exact = 0;
    double most = 0;
    for (int c = 0; c < WITH_OMEGA; c++) {
        for (int k = 0; k < 16; k++) {
            CaseSpec spec = difference_variant((Construction)c, 8, k % 8);
            spec.weights = k < 8 ? WEIGHTS_STABLE : WEIGHTS_NORMAL;
            spec.seed = 1 + (uint64_t)k;
            check_bits(&spec, k % 8 < 4 ? 20 : 300, &exact, &most);
        }
    }
    print_message("%zu layers, at most %.0f bits\n", exact, most);
    assert_true(exact > 100 && most > 400);
}

/* Bits do not grow with Omega, and a far plan does not serve where e is not linear. */
static void plans_know_where_they_serve(void **state)
{
    CaseSpec spec = difference_case(CONSTRUCTION_TRANSFORMER, 12);
    Pair pair = pair_make(&spec);
    RefPlan *plan = ref_plan_make(&pair);
    assert_non_null(plan);
    assert_int_equal(ref_plan_both_bits(plan, REF_DIGITS_MOST, 1e6, MAX_BITS).e, 128);
    assert_int_equal(ref_plan_both_bits(plan, REF_DIGITS_MOST, 1e6, MAX_BITS).x, 192);
    assert_true(ref_plan_serves(plan, 1e6));
    assert_true(ref_plan_serves(plan, 1e17));
    assert_true(ref_plan_serves(plan, 12));
    assert_false(ref_plan_serves(plan, 1));
    ref_plan_clear(plan);
    plan = ref_plan_make_at(&pair, 1);
    assert_non_null(plan);
    assert_true(ref_plan_serves(plan, 1));
    ref_plan_clear(plan);
    case_clear(&pair);
}

/* A pseudo-mask has the gaps Omega and 2 Omega.  Where two such leaks meet no plan serves another
 * Omega; what is evaluated for all, r(T), is yet asked for no more than the largest leak needs. */
static void several_gaps_ask_for_no_more(void **state)
{
    for (int k = 0; k < 2; k++) {
        CaseSpec spec = {.construction = CONSTRUCTION_TRANSFORMER,
                         .mask = k == 0 ? MASK_PSEUDO_CAUSAL : MASK_PSEUDO_BAND,
                         .band = 2,
                         .activation = k == 0 ? ACTIVATION_SILU : ACTIVATION_GELU,
                         .n = 5,
                         .d = 3,
                         .d_ff = 6,
                         .heads = 2,
                         .depth = 2,
                         .seed = 1};
        Pair pair = pair_make(&spec);
        RefPlan *plan = ref_plan_make(&pair);
        assert_non_null(plan);
        assert_false(ref_plan_serves(plan, 20));
        assert_true(ref_plan_both_bits(plan, REF_DIGITS, 20, MAX_BITS).x <= 256);
        ref_plan_clear(plan);
        case_clear(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_priori_errors_hold),
        cmocka_unit_test(bits_are_those_of_the_growth),
        cmocka_unit_test(plans_know_where_they_serve),
        cmocka_unit_test(several_gaps_ask_for_no_more),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
