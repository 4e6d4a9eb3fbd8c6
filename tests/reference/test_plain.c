/*
 * The attention-only model as plain matrices, evaluated: the same stream as the converted
 * model's, in arbitrary precision and in double.
 */
#include "../../cases/activation.h"
#include "../../kernels/kernel.h"
#include "../../reference/reference.h"
#include "../fixture.h"
#include "../plain_whole.h"
#include "radii.h"
#include "../random_model.h"
#include "../textbook.h"
#include "../unit.h"

#include <float.h>
#include <math.h>

#define SEED 7
enum { DEPTH = 3, BITS = 512, OMEGAS = 4 };

static const double omegas[OMEGAS] = {3, 20, 50.7, 1000};

/* Every kind of case; the bits of `variant` turn the options on. */
static CaseSpec spec_of(Construction construction, unsigned variant)
{
    static const Activation activations[] = {ACTIVATION_SILU, ACTIVATION_RELU, ACTIVATION_GELU,
                                             ACTIVATION_GELU};
    bool shifted = variant % 8 == 7;
    return (CaseSpec){.construction = construction,
                      .n = 4,
                      .d = 3,
                      .d_ff = 5,
                      .heads = 2,
                      .d_head = variant & 2 ? 2 : 0,
                      .depth = DEPTH,
                      .seed = SEED + variant,
                      .bias = variant & 8 ? BIAS_NONE : BIAS_RANDOM,
                      .mask = variant & 1 ? MASK_CAUSAL : MASK_NONE,
                      .linear = (Linear)(variant % LINEAR_COUNT),
                      .bias_row_content = variant & 4 ? CONTENT_RANDOM : CONTENT_NONE,
                      .activation = shifted ? ACTIVATION_GELU_NEW : activations[variant % 4],
                      .slope = 5.3,
                      .gelu = shifted            ? gelu_of_terms(3)
                              : variant % 4 == 2 ? GELU_MINIMAX
                                                 : GELU_TWO};
}

static PlainModel make_plain(const Pair *pair, double omega)
{
    const Start start = pair_start(pair, omega);
    return plain_whole(&start);
}

/* |converted - plain| over content and hidden columns of every row; the one-hot block, which a
 * plain model has as columns like others, is checked to be what it was, exactly. */
static void largest_difference(mpfr_ptr worst, const RefRun *converted, const RefRun *plain,
                               const PlainModel *p)
{
    size_t content = layout_content(&p->layout);
    mpfr_t d;
    mpfr_init2(d, 64);
    mpfr_set_zero(worst, 1);
    for (size_t i = 0; i < p->rows; i++) {
        for (size_t c = 0; c < content; c++) {
            mpfr_sub(d, ref_run_entry(converted, i, c), ref_run_entry(plain, i, c), MPFR_RNDA);
            assert_true(mpfr_number_p(d));
            mpfr_abs(d, d, MPFR_RNDN);
            mpfr_max(worst, worst, d, MPFR_RNDU);
        }
        for (size_t c = content; c < p->width; c++) {
            assert_int_equal(mpfr_cmp_ui(ref_run_entry(plain, i, c), c == content + i), 0);
        }
    }
    mpfr_clear(d);
}

/* Calls check with the largest difference after each layer.  The plain model's scores hold Omega
 * itself, and so its evaluation keeps more bits. */
static void follow(const Pair *pair, const PlainModel *p, void (*layer)(RefRun *),
                   void (*check)(mpfr_srcptr, mpfr_exp_t, double *), double *figure)
{
    const Start start = pair_start(pair, p->omega);
    RefRun *converted = with_radii(ref_run_open(&start, BITS));
    const Model model = plain_as_model(p);
    RefRun *plain = ref_run_open(&(Start){&model, p->x, NULL, p->omega}, BITS + 128);
    mpfr_t worst;
    assert_int_equal(p->depth, pair->converted.depth);
    mpfr_init2(worst, 64);
    for (size_t l = 1; l <= p->depth; l++) {
        ref_run_layer(converted);
        layer(plain);
        largest_difference(worst, converted, plain, p);
        check(worst, radius_exponent(converted, RADIUS_STREAM), figure);
    }
    mpfr_clear(worst);
    ref_run_clear(converted);
    ref_run_clear(plain);
}

/* *figure: the fewest bits to spare under the radius. */
static void within_precision(mpfr_srcptr worst, mpfr_exp_t error, double *figure)
{
    assert_true(mpfr_zero_p(worst) || mpfr_get_exp(worst) <= error);
    if (!mpfr_zero_p(worst)) {
        *figure = fmin(*figure, (double)(error - mpfr_get_exp(worst)));
    }
}

/* Every second Omega, beginning with that of `first`; all at night. */
static void check_exact(const Pair *pair, unsigned first, double *spare)
{
    bool all = fixture_nightly();
    for (size_t k = all ? 0 : first % 2; k < OMEGAS; k += all ? 1 : 2) {
        PlainModel plain = make_plain(pair, omegas[k]);
        assert_null(plain.inexact);
        follow(pair, &plain, ref_run_layer, within_precision, spare);
        follow(pair, &plain, textbook_layer, within_precision, spare);
        plain_clear(&plain);
    }
}

/* One size for all, and nothing in the heads that were added. */
static void uniform_models_are_padded_with_zeros(void **state)
{
    CaseSpec spec = spec_of(CONSTRUCTION_TRANSFORMER3, 2);
    Pair pair = pair_make(&spec);
    PlainModel same = make_plain(&pair, 20);
    for (size_t s = 0; s < same.sublayer_count; s++) {
        const PlainSublayer *p = &same.sublayers[s];
        assert_int_equal(p->heads, spec.d_ff);
        assert_int_equal(p->rank, spec.n + 2);
        for (size_t e = plain_own_heads(&same, s) * p->rank * same.width;
             e < p->heads * p->rank * same.width; e++) {
            assert_true(p->w_q[e] == 0 && p->w_k[e] == 0 && p->w_v[e] == 0 && p->w_o[e] == 0);
        }
    }
    plain_clear(&same);
    case_clear(&pair);
}

static void constructions_are_the_same(void **state)
{
    double spare = INFINITY;
    for (int c = 0; c < CONSTRUCTION_MASKED; c++) {
        for (unsigned variant = 0; variant < 12; variant++) {
            CaseSpec spec = spec_of((Construction)c, variant);
            Pair pair = pair_make(&spec);
            check_exact(&pair, variant + (unsigned)c, &spare);
            case_clear(&pair);
        }
    }
    print_message("at least %.0f bits to spare of %d; seed %d\n", spare, BITS, SEED);
    assert_true(spare < 64);
}

/* A layer with every tensor and bias a file can have. */
static GivenLayer given_layer(RandomModel *random, const CaseSpec *spec)
{
    size_t d = spec->d, inner = spec->heads * spec->d_head;
    return (GivenLayer){.w_q = random_numbers(random, d * inner),
                        .w_k = random_numbers(random, d * inner),
                        .w_v = random_numbers(random, d * inner),
                        .w_o = random_numbers(random, d * inner),
                        .b_q = random_numbers(random, inner),
                        .b_k = random_numbers(random, inner),
                        .b_v = random_numbers(random, inner),
                        .b_o = random_numbers(random, d),
                        .w_in = random_numbers(random, d * spec->d_ff),
                        .b_in = random_numbers(random, spec->d_ff),
                        .w_out = random_numbers(random, d * spec->d_ff),
                        .b_out = random_numbers(random, d)};
}

/* Given weights with the scale 1/sqrt(d_head). */
static Pair make_given(RandomModel *random, GivenLayer *layers, CaseSpec spec, size_t d_head)
{
    GivenWeights given = {.layers = layers, .scale = {1, 1, (long)d_head}};
    random_start(random, SEED);
    spec.d_head = d_head;
    spec.given = &given;
    for (size_t l = 0; l < spec.depth; l++) {
        layers[l] = given_layer(random, &spec);
    }
    return pair_make(&spec);
}

static const Construction with_attention[] = {CONSTRUCTION_ATTENTION, CONSTRUCTION_TRANSFORMER,
                                              CONSTRUCTION_TRANSFORMER3};

static void biases_ride_on_the_positions(void **state)
{
    static RandomModel random;
    GivenLayer layers[DEPTH];
    double spare = INFINITY;
    for (size_t c = 0; c < 3; c++) {
        for (unsigned variant = 0; variant < 8; variant++) {
            Pair pair = make_given(&random, layers, spec_of(with_attention[c], variant), 4);
            check_exact(&pair, variant + (unsigned)c, &spare);
            case_clear(&pair);
        }
    }
    print_message("all biases: at least %.0f bits to spare of %d; seed %d\n", spare, BITS, SEED);
    assert_true(spare < 64);
}

/* *figure: the largest difference. */
static void note_difference(mpfr_srcptr worst, mpfr_exp_t error, double *figure)
{
    (void)error;
    *figure = fmax(*figure, mpfr_get_d(worst, MPFR_RNDU));
}

/* 1/sqrt(3) is no double: the plain model says so, and is off by what doubles lose. */
static void irrational_scales_are_said_to_be_rounded(void **state)
{
    static RandomModel random;
    GivenLayer layers[DEPTH];
    double worst = 0;
    for (size_t c = 0; c < 3; c++) {
        Pair pair = make_given(&random, layers, spec_of(with_attention[c], 0), 3);
        PlainModel plain = make_plain(&pair, 50.7);
        assert_non_null(plain.inexact);
        assert_int_equal(plain_own_rank(&plain, 0), 3 + 1);
        follow(&pair, &plain, ref_run_layer, note_difference, &worst);
        follow(&pair, &plain, textbook_layer, note_difference, &worst);
        plain_clear(&plain);
        case_clear(&pair);
    }
    print_message("1/sqrt(3) rounded: largest difference %.3g; seed %d\n", worst, SEED);
    assert_true(worst > 0 && worst < 1e-13);
}

/* One depth of one case in double: ratio of the difference to
 *     l u (2 Omega + S) B,
 * l layers of scores of which the largest is 2 Omega + S, a stream of entries up to B. */
static double machine_ratio(const Pair *pair, const PlainModel *p, double score)
{
    const Start start = pair_start(pair, p->omega);
    Kernel *converted = kernel_open(&start, KERNEL_DENSE, 1);
    const Model model = plain_as_model(p);
    Kernel *plain = kernel_open(&(Start){&model, p->x, NULL, p->omega}, KERNEL_DENSE, 1);
    double ratio = 0;
    for (size_t l = 1; l <= p->depth; l++) {
        KernelStream a = kernel_layer(converted), b = kernel_layer(plain);
        double difference = 0, largest = 1;
        for (size_t i = 0; i < p->rows; i++) {
            for (size_t c = 0; c < p->width; c++) {
                double x = a.data[i * a.ld + c], y = b.data[i * b.ld + c];
                difference = fmax(difference, fabs(x - y));
                largest = fmax(largest, fabs(x));
            }
        }
        double unit = (double)l * DBL_EPSILON / 2 * (2 * p->omega + score) * largest;
        ratio = fmax(ratio, difference / unit);
    }
    kernel_clear(converted);
    kernel_clear(plain);
    return ratio;
}

static double largest_score(const Pair *pair)
{
    const Start start = pair_start(pair, 20);
    RefRun *run = ref_run_open(&start, 128);
    double score = 0;
    for (size_t l = 0; l < pair->converted.depth; l++) {
        ref_run_layer(run);
        score = fmax(score, mpfr_get_d(ref_run_score_max(run), MPFR_RNDU));
    }
    ref_run_clear(run);
    return score;
}

static void doubles_agree(void **state)
{
    const double limit = 2;
    double worst = 0;
    for (int c = 0; c < CONSTRUCTION_MASKED; c++) {
        for (unsigned variant = 0; variant < 12; variant++) {
            CaseSpec spec = spec_of((Construction)c, variant);
            Pair pair = pair_make(&spec);
            double score = largest_score(&pair);
            for (size_t k = 0; k < OMEGAS; k++) {
                PlainModel plain = make_plain(&pair, omegas[k]);
                worst = fmax(worst, machine_ratio(&pair, &plain, score));
                plain_clear(&plain);
            }
            case_clear(&pair);
        }
    }
    print_message("in double: worst difference / (l u (2 Omega + S) B) %.3g; seed %d\n", worst,
                  SEED);
    assert_true(worst <= limit);
}

SUBJECT(plain)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(uniform_models_are_padded_with_zeros),
        cmocka_unit_test(constructions_are_the_same),
        cmocka_unit_test(biases_ride_on_the_positions),
        cmocka_unit_test(irrational_scales_are_said_to_be_rounded),
        cmocka_unit_test(doubles_agree),
    };
    return cmocka_run_group_tests(plain, reference_set_up, reference_tear_down);
}
