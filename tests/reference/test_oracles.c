/*
 * The reference against what knows nothing of it: the limit model is the original, and digits of
 * independent computations (tests/oracle_dense.py).
 */
#include "../../cases/case.h"
#include "../../reference/reference.h"
#include "../fixture.h"
#include "radii.h"
#include "../real.h"
#include "../textbook.h"
#include "../unit.h"

#include <math.h>

/* Three layers of two heads. */
static CaseSpec small(Construction construction, size_t n, size_t d, size_t d_ff)
{
    return (CaseSpec){.construction = construction,
                      .n = n,
                      .d = d,
                      .d_ff = d_ff,
                      .heads = 2,
                      .depth = 3,
                      .band = 3,
                      .seed = 1};
}

/* ---- The limit ------------------------------------------------------------------------------- */

/* The largest |r(T_infinity) - r(T)| over tokens, compared columns and layers, in units of what
 * the precision may have lost; *absolute the same without the unit.  textbook: T_infinity is
 * evaluated by its definition, with 64 bits more, which nothing is said to have lost of. */
static double limit_gap(const CaseSpec *spec, bool textbook, double *absolute)
{
    Pair pair = pair_make(spec);
    const mpfr_prec_t bits = 256;
    RefRun *limit = run_layers(&pair.converted, pair.converted_x, pair.bias_row_content, INFINITY,
                               textbook ? bits + 64 : bits, 0);
    RefRun *original =
        with_radii(run_layers(&pair.original, pair.original_x, NULL, INFINITY, bits, 0));
    double worst = 0;
    (void)(textbook ? limit : with_radii(limit));
    *absolute = 0;
    for (size_t l = 0; l < spec->depth; l++) {
        (textbook ? textbook_layer : ref_run_layer)(limit);
        ref_run_layer(original);
        const RefRun *first = textbook ? original : limit;
        Real unit = real_add(real_power(radius_exponent(first, RADIUS_STREAM)),
                             real_power(radius_exponent(original, RADIUS_STREAM)));
        for (size_t e = 0; e < spec->n * pair.compared[l].count; e++) {
            size_t i = e / pair.compared[l].count,
                   c = pair.compared[l].first + e % pair.compared[l].count;
            size_t row = layout_token_row(&pair.converted.layout, i);
            Real gap = real_abs(
                real_difference(ref_run_entry(limit, row, c), ref_run_entry(original, i, c)));
            worst = fmax(worst, real_double(real_div(gap, unit)));
            *absolute = fmax(*absolute, real_double(gap));
        }
    }
    ref_run_clear(limit);
    ref_run_clear(original);
    case_clear(&pair);
    return worst;
}

/* T_infinity = T: every construction, masked or not, with biases or not, three layers deep. */
static void limit_is_the_original(void **state)
{
    double absolute;
    for (int c = 0; c < CONSTRUCTION_COUNT; c++) {
        double worst = 0;
        for (int variant = 0; variant < 192; variant++) {
            bool tiny = (variant & 1) != 0;
            CaseSpec spec = small((Construction)c, tiny ? 1 : 4, tiny ? 1 : 3, tiny ? 1 : 5);
            bool textbook = (variant >> 1 & 1) != 0;
            spec.mask = (Mask)(variant >> 2 & 1);
            spec.bias = (Bias)(variant >> 3 & 1);
            spec.d_head = (variant >> 4 & 1) != 0 ? 2 : 0;
            spec.weights = (Weights)(variant >> 5 & 1);
            spec.linear = (Linear)(variant >> 6);
            worst = fmax(worst, limit_gap(&spec, textbook, &absolute));
        }
        print_message("%s: worst ratio %.3g\n", construction_names[c], worst);
        assert_true(worst < 1);
    }
}

/* A bias row that is not empty is seen by the heads that attend it, and by no others. */
static void content_moves_some_limits(void **state)
{
    static const bool moves[CONSTRUCTION_COUNT] = {
        [CONSTRUCTION_SILU] = true,         [CONSTRUCTION_FFN3] = true,
        [CONSTRUCTION_FUSED] = true,        [CONSTRUCTION_TRANSFORMER] = true,
        [CONSTRUCTION_TRANSFORMER3] = true, [CONSTRUCTION_MASKED] = true,
    };
    for (int variant = 0; variant < 4 * CONSTRUCTION_COUNT; variant++) {
        Construction construction = (Construction)(variant / 4);
        CaseSpec spec = small(construction, 4, 3, 5);
        bool textbook = (variant & 1) != 0;
        double absolute;
        spec.mask = (Mask)(variant >> 1 & 1);
        spec.bias_row_content = CONTENT_RANDOM;
        double ratio = limit_gap(&spec, textbook, &absolute);
        print_message("%s mask %d textbook %d: %.3g\n", construction_names[construction],
                      (int)spec.mask, (int)textbook, absolute);
        assert_true(moves[construction] ? absolute > 1e-6 : ratio < 1);
    }
}

/* ---- Digits ---------------------------------------------------------------------------------- */

/* By the heads' structure, and by their definition. */
static RefRun *(*const ways[])(const Model *, const double *, const double *, double, mpfr_prec_t,
                               size_t) = {run_layers, textbook_layers};

/* 40 digits are given. */
static void assert_digits(Real entry, const char *decimal)
{
    Real expected = real_of_text(decimal);
    Real error = real_abs(real_sub(entry, expected));
    Real allowed = real_mul(real_abs(expected), real_of(1e-38));
    if (real_compare(error, allowed) > 0) {
        print_error("%.17g is not %s\n", real_double(entry), decimal);
    }
    assert_true(real_compare(error, allowed) <= 0);
}

/* X = (1, -1) at Omega = 1000.  Row 0 has scores 2 Omega - 1 toward itself, -1 toward the other
 * token, 2 Omega toward the bias row, and values -1, 1, 0:
 *     1 + (-e^(2 Omega - 1) + e^-1)/(e^(2 Omega - 1) + e^-1 + e^(2 Omega)),
 * less SiLU(1) = 1/(1 + e^-1); row 1 likewise.  Both summed with 3500 bits. */
static void silu_of_two_tokens(void **state)
{
    static const char *const expected[] = {"8.792967407209848106161380496159960625987e-870",
                                           "-3.260619607103473048261818108539163769501e-869"};
    static const double x[] = {1, -1};
    CaseSpec spec = small(CONSTRUCTION_SILU, 2, 1, 1);
    Pair pair = pair_make(&spec);
    pair.original_x = x;
    pair.converted_x = x;
    for (size_t way = 0; way < 2; way++) {
        RefRun *run = ways[way](&pair.converted, x, NULL, 1000, 3500, 1);
        RefRun *original = ways[way](&pair.original, x, NULL, 1000, 3500, 1);
        for (size_t i = 0; i < 2; i++) {
            assert_digits(real_difference(ref_run_entry(run, i, 0), ref_run_entry(original, i, 0)),
                          expected[i]);
        }
        assert_true(mpfr_zero_p(ref_run_entry(run, 2, 0))); /* 1 and -1 alike */
        ref_run_clear(run);
        ref_run_clear(original);
    }
    case_clear(&pair);
}

/* Every row and column of T' after its last layer, Omega = 3, against tests/oracle_dense.py. */
static void assert_oracle(const CaseSpec *spec, const char *const *expected)
{
    Pair pair = pair_make(spec);
    const Layout *layout = &pair.converted.layout;
    size_t width = layout_content(layout);
    for (size_t way = 0; way < 2; way++) {
        RefRun *run = ways[way](&pair.converted, pair.converted_x, pair.bias_row_content, 3, 256,
                                spec->depth);
        for (size_t e = 0; e < layout_rows(layout) * width; e++) {
            assert_digits(real_of_mpfr(ref_run_entry(run, e / width, e % width)), expected[e]);
        }
        ref_run_clear(run);
    }
    case_clear(&pair);
}

static CaseSpec oracle_spec(Construction construction)
{
    return (CaseSpec){.construction = construction,
                      .n = 3,
                      .d = 2,
                      .d_ff = 3,
                      .heads = 2,
                      .d_head = 1,
                      .depth = 1,
                      .seed = 5,
                      .weights = WEIGHTS_NORMAL,
                      .bias = BIAS_RANDOM};
}

static void ffn3_is_what_the_oracle_says(void **state)
{
    static const char *const expected[] = {
        "0.4885423100595717145078052145026819555933",
        "0.8017472654268876192160441161899314729391",
        "-0.01449566239607860002060197579241897468311",
        "-0.01370843480521032802428754685440685459561",
        "-0.001316183947778615298726320245992572117465",
        "3.610922279500131120769325289326490991018",
        "0.5666873978248719450064506234618423927451",
        "-0.004035332449675938019987372487045673769043",
        "0.003605730090457418323937154945421218028979",
        "0.00636890811427755183773218018002979338966",
        "6.555648944177594280576623294277753273886",
        "3.717290744101433840096979367306402647115",
        "0.03047471674160654096471126763603537043334",
        "0.02335401901839129170536365567156431112973",
        "0.003021666082130108247649681544608930428483",
        "-0.004818889450394752624215554045337887582617",
        "0.002265426330595161107630607269826480141776",
        "-0.01194372189585200292412191935657072198118",
        "-0.0132513143036383820050132637625786745631",
        "-0.008074390248629044786655541478646151700677",
    };
    CaseSpec spec = oracle_spec(CONSTRUCTION_FFN3);
    assert_oracle(&spec, expected);
}

static void transformers_are_what_the_oracle_says(void **state)
{
    static const char *const causal[] = {
        "0.4240086369430297812280084736990486325386", "5.444662854321376987182131855582997911038",
        "9.256078774467718667103341342023293979738",  "-7.300407273254858690868345222098682572554",
        "17.69910233857328994408154042282183627235",  "-17.59285407922288724461686810923540603729",
        "22.29956836419095776796734429011412614599",  "-19.36145527170653606981197718953908987163",
    };
    static const char *const unmasked[] = {
        "8.753264018033019176055996799246640905571",  "-8.474962108340585682533869474262188195416",
        "18.18298558668703821150743324610386390537",  "-19.62009520191751985060343817406517826457",
        "21.63316876506423991655778125806342747439",  "-19.2856292395611362906562854539797314371",
        "-9.204743802754042645208402734328958020243", "6.84531687258894590777914093958184397744",
    };
    CaseSpec spec = oracle_spec(CONSTRUCTION_TRANSFORMER);
    spec.depth = 2;
    spec.bias_row_content = CONTENT_RANDOM;
    assert_oracle(&spec, unmasked);
    spec.mask = MASK_CAUSAL;
    assert_oracle(&spec, causal);
}

SUBJECT(oracles)
{
    const struct CMUnitTest oracles[] = {
        cmocka_unit_test(limit_is_the_original),
        cmocka_unit_test(content_moves_some_limits),
        cmocka_unit_test(silu_of_two_tokens),
        cmocka_unit_test(ffn3_is_what_the_oracle_says),
        cmocka_unit_test(transformers_are_what_the_oracle_says),
    };
    return cmocka_run_group_tests(oracles, reference_set_up, reference_tear_down);
}
