/*
 * Layer norms as a case has them: which sublayers read through one, how gamma and beta are drawn
 * or given, and what rounding, noise and other damage do to them.
 */
#include "../../cases/case.h"
#include "../../kernels/arithmetic.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CaseSpec spec_of(Construction construction, Normalization norm, NormPlace place)
{
    return (CaseSpec){.construction = construction,
                      .n = 3,
                      .d = 40,
                      .d_ff = 6,
                      .heads = 2,
                      .depth = 2,
                      .seed = 1,
                      .norm = norm,
                      .norm_place = place,
                      .norm_eps = 1e-5};
}

/* "n" a sublayer behind a norm, "." another, "N" a norm by itself. */
static void shape_of(char *shape, const Model *model)
{
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        bool alone = sublayer->bundle_count == 0 && sublayer->direct.kind == DIRECT_NORM;
        shape[s] = alone ? 'N' : sublayer->norm.kind != NORMALIZATION_NONE ? 'n' : '.';
    }
    shape[model->sublayer_count] = '\0';
}

static const struct {
    Construction construction;
    const char *pre, *pre_converted, *post, *post_converted;
} normed[] = {
    {CONSTRUCTION_LINEAR, "n", "n", ".N", ".N"},
    {CONSTRUCTION_ATTENTION, "n", "n", ".N", ".N"},
    {CONSTRUCTION_FFN3, "n", "n..", ".N", "...N"},
    {CONSTRUCTION_FUSED, "n", "n", ".N", ".N"},
    {CONSTRUCTION_MASKED, "n", "n", ".N", ".N"},
    {CONSTRUCTION_TRANSFORMER3, "nn", "nn..", ".N.N", ".N...N"},
    {CONSTRUCTION_TRANSFORMER, "nn", "nn", ".N.N", ".N.N"},
    {CONSTRUCTION_SILU, NULL, NULL, ".N", ".N"},
};

/* Of a layer: T, and T'. */
static void parts_have_their_norm(void **state)
{
    for (size_t i = 0; i < 2 * sizeof normed / sizeof *normed; i++) {
        NormPlace place = (NormPlace)(i % 2);
        CaseSpec spec = spec_of(normed[i / 2].construction, NORMALIZATION_RMSNORM, place);
        const char *of_t = place == NORM_PRE ? normed[i / 2].pre : normed[i / 2].post;
        const char *of_converted =
            place == NORM_PRE ? normed[i / 2].pre_converted : normed[i / 2].post_converted;
        char shape[16], twice[16];
        if (of_t == NULL) {
            continue;
        }
        Pair pair = pair_make(&spec);
        snprintf(twice, sizeof twice, "%s%s", of_t, of_t);
        shape_of(shape, &pair.original);
        assert_string_equal(shape, twice);
        snprintf(twice, sizeof twice, "%s%s", of_converted, of_converted);
        shape_of(shape, &pair.converted);
        assert_string_equal(shape, twice);
        shape_of(shape, &pair.negative);
        assert_string_equal(shape, twice);
        assert_true(pair.limit_is_original);
        assert_int_equal(pair.final_norm.kind,
                         place == NORM_PRE ? NORMALIZATION_RMSNORM : NORMALIZATION_NONE);
        case_clear(&pair);
    }
}

/* gamma 1 + N(0, 1/16), beta N(0, 1/16), a norm's own; RMSNorm has no beta. */
static void weights_are_drawn(void **state)
{
    CaseSpec spec = spec_of(CONSTRUCTION_TRANSFORMER, NORMALIZATION_LAYERNORM, NORM_PRE);
    spec.d = 1000;
    spec.d_head = 1;
    spec.score_scale = 8; /* is not on the norms */
    Pair pair = pair_make(&spec);
    LayerNorm norms[5] = {pair.final_norm};
    for (size_t s = 0; s < 4; s++) {
        norms[1 + s] = pair.original.sublayers[s].norm;
        assert_ptr_equal(norms[1 + s].gamma, pair.converted.sublayers[s].norm.gamma);
        assert_ptr_equal(norms[1 + s].beta, pair.converted.sublayers[s].norm.beta);
    }
    for (size_t i = 0; i < 5; i++) {
        double sum[2] = {0}, square[2] = {0};
        for (size_t c = 0; c < 1000; c++) {
            double draws[] = {(norms[i].gamma[c] - 1) * 4, norms[i].beta[c] * 4};
            for (int k = 0; k < 2; k++) {
                sum[k] += draws[k] / 1000;
                square[k] += draws[k] * draws[k] / 1000;
            }
        }
        for (int k = 0; k < 2; k++) {
            assert_true(fabs(sum[k]) < 0.15 && fabs(square[k] - 1) < 0.2);
        }
        for (size_t j = 0; j < i; j++) {
            assert_true(norms[i].gamma[0] != norms[j].gamma[0]);
        }
    }
    double drawn = norms[0].gamma[7];
    case_clear(&pair);
    spec.norm = NORMALIZATION_RMSNORM;
    pair = pair_make(&spec);
    assert_null(pair.original.sublayers[0].norm.beta);
    assert_true(pair.final_norm.gamma[7] == drawn);
    case_clear(&pair);
}

/* (damaged - w)/w of every w, over the noise: normal draws. */
static void expect_noise(const double *damaged, const double *w, size_t count, double noise)
{
    double square = 0;
    for (size_t c = 0; c < count; c++) {
        double draw = (damaged[c] / w[c] - 1) / noise;
        assert_true(draw != 0 && fabs(draw) < 6);
        square += draw * draw / (double)count;
    }
    assert_true(square > 0.2 && square < 3);
}

/* Every weight of T' has noise, a norm's too; T and what the unembedding reads have none. */
static void norms_of_the_rewrite_are_noisy(void **state)
{
    const double noise = 0x1p-20;
    for (int place = 0; place < NORM_PLACE_COUNT; place++) {
        CaseSpec spec =
            spec_of(CONSTRUCTION_TRANSFORMER, NORMALIZATION_LAYERNORM, (NormPlace)place);
        Pair clean = pair_make(&spec);
        spec.weight_noise = noise;
        Pair noisy = pair_make(&spec);
        assert_false(noisy.limit_is_original);
        for (size_t s = 0; s < clean.original.sublayer_count; s++) {
            const LayerNorm *own = &clean.original.sublayers[s].norm;
            const LayerNorm *damaged = &noisy.converted.sublayers[s].norm;
            const LayerNorm *negative = &noisy.negative.sublayers[s].norm;
            if (own->kind == NORMALIZATION_NONE) {
                continue;
            }
            assert_memory_equal(noisy.original.sublayers[s].norm.gamma, own->gamma,
                                spec.d * sizeof(double));
            expect_noise(damaged->gamma, own->gamma, spec.d, noise);
            expect_noise(damaged->beta, own->beta, spec.d, noise);
            assert_ptr_equal(damaged->gamma, negative->gamma);
        }
        if (place == NORM_PRE) {
            assert_memory_equal(noisy.final_norm.gamma, clean.final_norm.gamma,
                                spec.d * sizeof(double));
        }
        case_clear(&noisy);
        case_clear(&clean);
    }
}

/* What is lost of Omega is not lost of the norms. */
static void dropout_spares_norms(void **state)
{
    CaseSpec spec = spec_of(CONSTRUCTION_FFN3, NORMALIZATION_LAYERNORM, NORM_POST);
    spec.dropout = 1;
    Pair pair = pair_make(&spec);
    assert_ptr_equal(pair.original.sublayers[1].norm.gamma, pair.converted.sublayers[3].norm.gamma);
    assert_int_equal(pair.converted.sublayers[3].direct.kind, DIRECT_NORM);
    case_clear(&pair);
}

/* --weights-rounded: gamma = 1 + N(0, 1/16) is drawn as a double and then rounded, once; eps is
 * not. */
static void norms_are_rounded_once(void **state)
{
    CaseSpec spec = spec_of(CONSTRUCTION_FUSED, NORMALIZATION_LAYERNORM, NORM_PRE);
    const FormatInfo *bf16 = format_info(FORMAT_BF16);
    Pair doubles = pair_make(&spec);
    spec.stored_digits = bf16->digits;
    spec.stored_least_exponent = bf16->least_exponent;
    Pair rounded = pair_make(&spec);
    for (size_t s = 0; s < 3; s++) {
        bool last = s == 2;
        const LayerNorm *from = last ? &doubles.final_norm : &doubles.converted.sublayers[s].norm;
        const LayerNorm *to = last ? &rounded.final_norm : &rounded.converted.sublayers[s].norm;
        for (size_t c = 0; c < spec.d; c++) {
            assert_true(to->gamma[c] == format_nearest(FORMAT_BF16, from->gamma[c]));
            assert_true(to->beta[c] == format_nearest(FORMAT_BF16, from->beta[c]));
        }
        assert_true(to->eps == 1e-5);
    }
    case_clear(&rounded);
    case_clear(&doubles);
}

/* Given ones are taken as they are, attention's and the network's each its own. */
static void given_norms_are_taken(void **state)
{
    CaseSpec spec = spec_of(CONSTRUCTION_TRANSFORMER, NORMALIZATION_LAYERNORM, NORM_PRE);
    double numbers[6][40], weights[4][2 * 40 * 40] = {{0}};
    for (size_t i = 0; i < 6; i++) {
        for (size_t c = 0; c < 40; c++) {
            numbers[i][c] = (double)(100 * i + c);
        }
    }
    GivenLayer layers[2];
    layers[0] = layers[1] = (GivenLayer){.qk = weights[0],
                                         .ov = weights[1],
                                         .w_in = weights[2],
                                         .w_out = weights[3],
                                         .ln1_w = numbers[0],
                                         .ln1_b = numbers[1],
                                         .ln2_w = numbers[2],
                                         .ln2_b = numbers[3]};
    GivenWeights given = {
        .layers = layers, .scale = {1, 1, 1}, .ln_final_w = numbers[4], .ln_final_b = numbers[5]};
    spec.given = &given;
    for (int rounded = 0; rounded < 2; rounded++) {
        spec.stored_digits = rounded ? 24 : 0;
        spec.stored_least_exponent = rounded ? -125 : 0;
        Pair pair = pair_make(&spec);
        const LayerNorm norms[] = {pair.converted.sublayers[2].norm,
                                   pair.original.sublayers[3].norm, pair.final_norm};
        for (size_t i = 0; i < 3; i++) {
            assert_memory_equal(norms[i].gamma, numbers[2 * i], sizeof numbers[0]);
            assert_memory_equal(norms[i].beta, numbers[2 * i + 1], sizeof numbers[0]);
        }
        case_clear(&pair);
    }
    given.ln_final_w = NULL;
    Pair pair = pair_make(&spec);
    assert_int_equal(pair.final_norm.kind, NORMALIZATION_NONE);
    case_clear(&pair);
}

/* What a norm must be. */
static void faults_are_named(void **state)
{
    static const double ones[] = {1, 1, 1};
    static const size_t end[] = {1};
    const LayerNorm good = {NORMALIZATION_LAYERNORM, {0, 3}, ones, ones, 1, false};
    LayerNorm norms[] = {good, good, good, good, good, good, good};
    static const char *const faults[] = {
        NULL, "outside", "without gamma", "RMSNorm with beta", "eps", "eps", "eps"};
    norms[1].columns.count = 4;
    norms[2].gamma = NULL;
    norms[3].kind = NORMALIZATION_RMSNORM;
    norms[4].eps = 0;
    norms[5].eps = INFINITY;
    norms[6].eps = NAN;
    for (size_t i = 0; i < 9; i++) {
        Direct direct = {.kind = DIRECT_NORM, .read = {0, 3}, .write = {0, 3}};
        Sublayer sublayer = {.norm = norms[i % 7], .direct = direct};
        sublayer.direct.kind = i == 7 ? DIRECT_ACTIVATION : DIRECT_NORM;
        sublayer.norm.kind = i == 8 ? NORMALIZATION_NONE : sublayer.norm.kind;
        Model model = {.layout = {.n = 2, .d = 3, .bias_row = BIAS_ROW_NONE},
                       .sublayers = &sublayer,
                       .sublayer_count = 1,
                       .layer_end = end,
                       .depth = 1};
        const char *expected = i == 7   ? "reads no norm"
                               : i == 8 ? "a norm that is none"
                                        : faults[i];
        const char *fault = model_fault(&model);
        assert_true((fault == NULL) == (expected == NULL));
        assert_true(expected == NULL || strstr(fault, expected) != NULL);
    }
}

SUBJECT(norm_weights)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_have_their_norm),
        cmocka_unit_test(weights_are_drawn),
        cmocka_unit_test(norms_of_the_rewrite_are_noisy),
        cmocka_unit_test(dropout_spares_norms),
        cmocka_unit_test(norms_are_rounded_once),
        cmocka_unit_test(given_norms_are_taken),
        cmocka_unit_test(faults_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
