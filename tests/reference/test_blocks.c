/*
 * Sizes at which the structured form works block by block, and on several threads: the bits do not
 * depend on the number of threads, T_infinity has T's trajectory (a theorem; up to tau where a
 * product is read out), and e is what a subtraction of two evaluations gives.
 */
#include "../fixture.h"

#include "../../cases/case.h"
#include "../../reference/reference.h"
#include "../unit.h"

#include <math.h>
#include <omp.h>

enum { BITS = 256, EXACT = 200, MIXED = 105, DEPTH = 2 }; /* e is 0 before the first layer */
#define OMEGA 10.0

/* The runs of one pair after its layers; those that others contain may be left out. */
typedef struct {
    RefRun *original, *difference, *limit, *converted;
} Runs;

static RefRun *evaluated(RefRun *run)
{
    assert_non_null(run);
    for (size_t l = 0; l < DEPTH; l++) {
        ref_run_layer(run);
    }
    return run;
}

static Runs run_all(const Pair *pair, int threads, bool every)
{
    const double *x = pair->converted_x, *content = pair->bias_row_content;
    const Model *model = &pair->converted;
    Runs runs = {0};
    omp_set_num_threads(threads);
    runs.original =
        evaluated(ref_run_open(&(Start){&pair->original, pair->original_x, NULL, INFINITY}, BITS));
    runs.difference =
        evaluated(ref_difference_open(&(Start){model, x, content, OMEGA}, BITS, NULL));
    if (every) {
        runs.limit = evaluated(ref_run_open(&(Start){model, x, content, INFINITY}, BITS));
        runs.converted = evaluated(ref_run_open(&(Start){model, x, content, OMEGA}, BITS));
    }
    return runs;
}

static void clear_all(const Runs *runs)
{
    ref_run_clear(runs->original);
    ref_run_clear(runs->limit);
    ref_run_clear(runs->converted);
    ref_run_clear(runs->difference);
}

/* |a - b| <= 2^-bits size */
static void assert_near(mpfr_srcptr a, mpfr_srcptr b, double size, long bits)
{
    mpfr_t d;
    mpfr_init2(d, BITS);
    mpfr_sub(d, a, b, MPFR_RNDA);
    mpfr_abs(d, d, MPFR_RNDA);
    mpfr_mul_2si(d, d, bits, MPFR_RNDA);
    assert_true(mpfr_cmp_d(d, size) <= 0);
    mpfr_clear(d);
}

static void check_entry(const Pair *pair, const Runs *one, const Runs *more, size_t i, size_t c,
                        long exact)
{
    size_t row = layout_token_row(&pair->converted.layout, i);
    mpfr_srcptr limit = ref_run_entry(one->limit, row, c);
    mpfr_t subtracted;
    mpfr_init2(subtracted, BITS);
    mpfr_sub(subtracted, ref_run_entry(one->converted, row, c), limit, MPFR_RNDN);
    assert_near(limit, ref_run_entry(one->original, i, c), 1, exact);
    assert_near(ref_run_difference(one->difference, row, c), subtracted, 1, exact);
    mpfr_clear(subtracted);
    assert_true(
        mpfr_equal_p(ref_run_entry(one->original, i, c), ref_run_entry(more->original, i, c)));
    assert_true(mpfr_equal_p(ref_run_entry(one->difference, row, c),
                             ref_run_entry(more->difference, row, c)));
    assert_true(mpfr_equal_p(ref_run_difference(one->difference, row, c),
                             ref_run_difference(more->difference, row, c)));
}

/* exact: the bits to which the theorem holds, and subtraction agrees. */
static void check_pair(const CaseSpec *spec, const Pair *pair, long exact)
{
    Runs one = run_all(pair, 1, true), more = run_all(pair, 3, false);
    for (size_t i = 0; i < spec->n; i++) {
        for (size_t c = 0; c < spec->d; c++) {
            check_entry(pair, &one, &more, i, c, exact);
        }
    }
    clear_all(&one);
    clear_all(&more);
}

static void check(const CaseSpec *spec)
{
    Pair pair = pair_make(spec);
    check_pair(spec, &pair, EXACT);
    case_clear(&pair);
}

/* Two blocks of hidden units, of the heads and of the original's FFN: one has 1024 columns at
 * most.  Of three sublayers the heads have a column each. */
static void blocks_of_gates(void **state)
{
    CaseSpec spec = {.construction = CONSTRUCTION_FUSED, .n = 64, .d = 4, .d_ff = 1100};
    spec.depth = DEPTH;
    spec.seed = 1;
    spec.weights = WEIGHTS_STABLE;
    spec.bias = BIAS_RANDOM;
    check(&spec);
    spec.construction = CONSTRUCTION_FFN3;
    spec.n = 2;
    check(&spec);
}

/* Two blocks of heads, two blocks of a pattern's rows. */
static void blocks_of_bilinear_heads(void **state)
{
    CaseSpec spec = {.construction = CONSTRUCTION_ATTENTION, .n = 140, .d = 4};
    spec.depth = DEPTH;
    spec.seed = 1;
    spec.weights = WEIGHTS_STABLE;
    spec.heads = 15;
    spec.d_head = 70;
    spec.mask = MASK_CAUSAL;
    check(&spec);
}

/* Output 0 of the networks, and what the first of the heads that read it out mixes, are 0.
 * Returns how many weights that were columns of. */
static int forget_first_output(const Pair *pair, size_t hidden)
{
    int found = 0;
    for (size_t s = 0; s < pair->original.sublayer_count; s++) {
        const Direct *direct = &pair->original.sublayers[s].direct;
        double *w2 = (double *)direct->w2;
        for (size_t k = 0; w2 != NULL && k < hidden; k++) {
            w2[k * direct->write.count] = 0;
        }
        found += w2 != NULL;
    }
    for (size_t s = 0; s < pair->converted.sublayer_count; s++) {
        const Score *score = &pair->converted.sublayers[s].bundles->score;
        double *mix = score_is_mixed(score) ? (double *)score->mix.data : NULL;
        for (size_t k = 0; mix != NULL && k < hidden; k++) {
            mix[k * score->mix.ld] = 0;
        }
        found += mix != NULL;
    }
    return found;
}

/* Two blocks of heads that read a product out; then the first one's query is 0. */
static void blocks_of_mixed_heads(void **state)
{
    CaseSpec spec = {.construction = CONSTRUCTION_FUSED, .n = 3, .d = 1100, .d_ff = 12};
    spec.depth = DEPTH;
    spec.seed = 1;
    spec.weights = WEIGHTS_STABLE;
    spec.bias = BIAS_RANDOM;
    spec.ffn = FFN_GATED;
    spec.readout = READOUT_MOST;
    spec.tau = 0x1p-30;
    Pair pair = pair_make(&spec);
    check_pair(&spec, &pair, MIXED); /* tau^2 times the rounding of coefficients to doubles */
    assert_int_equal(forget_first_output(&pair, spec.d_ff), 2 * DEPTH);
    check_pair(&spec, &pair, MIXED);
    case_clear(&pair);
}

SUBJECT(blocks)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_gates),
        cmocka_unit_test(blocks_of_bilinear_heads),
        cmocka_unit_test(blocks_of_mixed_heads),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
