/*
 * Damage that a training run may do to the rewrite's weights: lost and shrunken entries of Omega,
 * noise (docs/findings.md, docs/mathematics.md, sections 2 and 3).
 */
#include "../../cases/case.h"
#include "../../cases/draw.h"
#include "../../reference/reference.h"
#include "../fixture.h"
#include "../program.h"
#include "../real.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 1, N = 6, D = 4, BITS = 512 };

static CaseSpec spec_of(Construction construction)
{
    return (CaseSpec){.construction = construction,
                      .n = N,
                      .d = D,
                      .d_ff = 8,
                      .heads = 2,
                      .depth = 1,
                      .seed = SEED};
}

static RefRun *run_one(const Model *model, const double *x, double omega)
{
    return run_layers(model, x, NULL, omega, BITS, 1);
}

/* ---- One entry lost -------------------------------------------------------------------------- */

/* The token, from 1, whose entry number k is, from 1, counted by head, row and key; 0: the bias
 * row's.  A head has one for the bias row and `each` a token. */
static size_t token_of(size_t k, size_t n, size_t each, bool bias_first)
{
    size_t place = (k - 1) % (each * n + 1);
    if (bias_first) {
        return (place + each - 1) / each;
    }
    return place < each * n ? place / each + 1 : 0;
}

/* --drop-entry and --row: of the rows of tokens, that of the entry fails, and no other does; where
 * the bias row has lost its own none fails, and the bias row is what is wrong.  The machine loses
 * what the reference does. */
static void a_lost_entry_is_flagged_in_its_row_alone(void **state)
{
    enum { TOKENS = 4 };
    static const struct {
        const char *construction;
        size_t heads, each;
        bool causal;
        const char *kernel;
    } cases[] = {{"silu", 3, 2, false, "structured"}, {"linear", 1, 1, false, "structured"},
                 {"attention", 2, 1, false, "dense"}, {"fused", 3, 2, false, "structured"},
                 {"silu", 3, 2, true, "dense"},       {"attention", 2, 1, true, "structured"},
                 {"fused", 3, 2, true, "structured"}, {"attention", 2, 1, false, "structured"},
                 {"fused", 3, 2, false, "dense"},     {"linear", 1, 1, false, "dense"}};
    char status[16];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t entries = cases[c].heads * (cases[c].each * TOKENS + 1), line = 0;
        Output output = expect_run(
            1,
            "sweep --construction %s --n 4 --d 3 --d-ff 3 --omega 20 --kernel %s --mask %s "
            "--drop-entry 1:%zu --row 1:4 --tolerance 1e-13 --precision 256 --quiet 2>/dev/null",
            cases[c].construction, cases[c].kernel, cases[c].causal ? "causal" : "none", entries);
        assert_int_equal(lines(&output), 1 + entries * TOKENS);
        for (size_t k = 1; k <= entries; k++) {
            size_t hit = token_of(k, TOKENS, cases[c].each, cases[c].causal);
            for (size_t token = 1; token <= TOKENS; token++) {
                cell(status, sizeof status, &output, ++line, "status");
                /* a causal first token is right at any Omega, and its error 0, without a proof */
                bool exact = cases[c].causal && token == 1 && token != hit;
                assert_true(strcmp(status, token == hit ? "fail" : "ok") == 0 ||
                            (exact && strcmp(status, "unresolved") == 0));
                double error = number(&output, line, "approximation_max");
                assert_true(token == hit ? error > 1e-6 : error < 1e-40);
                assert_true(number(&output, line, "rounding_max") < 1e-12);
                if (!cases[c].causal) { /* a causal bias row has no other key to turn to */
                    assert_true((number(&output, line, "bias_row_max") > 1e-3) == (hit == 0));
                }
            }
        }
    }
}

/* A pseudo-mask's entries are named as others are: token i of a head has i toward tokens, which it
 * misses, and one toward the bias row, which is last and has its own: those leave Omega to what is
 * allowed. */
static void a_pseudo_mask_has_entries(void **state)
{
    enum { TOKENS = 3, HEADS = 2, EACH = 1 + 2 + 3 + TOKENS + 1 };
    static const size_t row[EACH] = {1, 0, 2, 2, 0, 3, 3, 3, 0, 0};
    static const char request[] =
        "sweep --construction attention --mask pseudo-causal --n 3 --d 2 --heads 2 --omega 20 "
        "--arithmetic none --drop-entry 1:%d --row 1:3 --quiet 2>/dev/null";
    Output output = expect_run(0, request, HEADS * EACH);
    assert_int_equal(lines(&output), 1 + HEADS * EACH * TOKENS);
    for (size_t k = 0, line = 1; k < HEADS * EACH; k++) {
        for (size_t token = 1; token <= TOKENS; token++, line++) {
            bool hit = number(&output, line, "approximation_max") > 1e-6;
            assert_int_equal(hit, token == row[k % EACH]);
        }
    }
    expect_run(2, request, HEADS * EACH + 1);
}

/* ---- Dropout --------------------------------------------------------------------------------- */

static size_t count_lost(const Model *model, size_t *entries)
{
    size_t lost = 0;
    *entries = 0;
    for (size_t s = 0; s < model->sublayer_count; s++) {
        for (size_t b = 0; b < model->sublayers[s].bundle_count; b++) {
            const Bundle *bundle = &model->sublayers[s].bundles[b];
            size_t rows = layout_rows(&model->layout);
            for (size_t e = 0; e < bundle->heads * rows * rows; e++) {
                size_t h = e / (rows * rows), i = e / rows % rows, j = e % rows;
                const Score *score = &bundle->score;
                int whole = layout_position_score(&model->layout, &score->position, i, j);
                int left = score_position(&model->layout, score, h, i, j);
                assert_true(left == whole || left == 0);
                *entries += whole != 0;
                lost += whole != left;
            }
        }
    }
    return lost;
}

/* Heads of the bundle that have lost just what head 0 has. */
static size_t heads_alike(const Layout *layout, const Bundle *bundle)
{
    size_t rows = layout_rows(layout), alike = 0;
    for (size_t h = 1; h < bundle->heads; h++) {
        bool same = true;
        for (size_t e = 0; e < rows * rows; e++) {
            same = same && score_position(layout, &bundle->score, h, e / rows, e % rows) ==
                               score_position(layout, &bundle->score, 0, e / rows, e % rows);
        }
        alike += same;
    }
    return alike;
}

/* As many as the probability says, to 6 standard deviations; T keeps everything. */
static void dropout_loses_its_share(void **state)
{
    static const double shares[] = {0.01, 0.25, 1};
    for (size_t k = 0; k < 3; k++) {
        CaseSpec spec = spec_of(CONSTRUCTION_TRANSFORMER);
        spec.n = 20;
        spec.depth = 3;
        spec.dropout = shares[k];
        Pair pair = pair_make(&spec);
        size_t entries, lost = count_lost(&pair.converted, &entries);
        double expected = shares[k] * (double)entries;
        print_message("dropout %g: %zu of %zu entries\n", shares[k], lost, entries);
        /* 41 of a fused head, 21 of a patched one, 3 layers. */
        assert_int_equal(entries, 3 * (8 * 41 + 2 * 21));
        assert_true(fabs((double)lost - expected) <= 6 * sqrt(expected * (1 - shares[k])));
        assert_false(pair.limit_is_original);
        assert_null(pair.original.sublayers[0].bundles[0].score.extra);
        const Bundle *fused = pair.converted.sublayers[1].bundles;
        size_t alike = heads_alike(&pair.converted.layout, fused);
        assert_true(shares[k] != 1 || alike == fused->heads - 1);
        assert_true(shares[k] != 0.25 || alike == 0);
        case_clear(&pair);
    }
}

/* All lost: silu's scores are -x_ik toward all N tokens and 0 toward the bias row, so that column k
 * becomes x - e^-x S/(N e^-x + 1), S the column's sum, at any Omega. */
static void without_omega_silu_averages(void **state)
{
    CaseSpec spec = spec_of(CONSTRUCTION_SILU);
    spec.dropout = 1;
    Pair pair = pair_make(&spec);
    const double *x = pair.converted_x;
    for (int k = 0; k < 2; k++) {
        RefRun *run = run_one(&pair.converted, x, k == 0 ? 20 : INFINITY);
        for (size_t e = 0; e < (size_t)N * D; e++) {
            Real sum = real_of(0), weight = real_exp(real_neg(real_of(x[e])));
            for (size_t j = 0; j < N; j++) {
                sum = real_add(sum, real_of(x[j * D + e % D]));
            }
            Real total = real_add(real_mul(real_of(N), weight), real_of(1));
            Real expected = real_sub(real_of(x[e]), real_div(real_mul(weight, sum), total));
            Real error = real_sub(real_of_mpfr(ref_run_entry(run, e / D, e % D)), expected);
            assert_true(fabs(real_double(error)) < 0x1p-300);
        }
        ref_run_clear(run);
    }
    case_clear(&pair);
}

/* ---- Noise ----------------------------------------------------------------------------------- */

typedef struct {
    double sum, squares;
    size_t count;
} Moments;

/* (damaged/whole - 1)/noise of count weights. */
static void add_noise(Moments *moments, const double *damaged, const double *whole, size_t count,
                      double noise)
{
    for (size_t e = 0; e < count; e++) {
        double relative = (damaged[e] / whole[e] - 1) / noise;
        moments->sum += relative;
        moments->squares += relative * relative;
        moments->count++;
    }
}

/* W1 is in Q and in V of a network's heads b, with noise of its own in each. */
static void expect_copies_apart(const Bundle *b, const Bundle *whole, double noise)
{
    for (size_t h = 0; h < 120; h++) {
        for (size_t c = 0; c < 30; c++) {
            double gate = b->score.gate.data[h * b->score.gate.head_stride + c * b->score.gate.ld];
            double first = b->value.v.data[h * b->value.v.head_stride + c * b->value.v.ld];
            double w = whole->value.v.data[h * whole->value.v.head_stride + c * whole->value.v.ld];
            assert_true(gate != first);
            assert_true(fabs(gate / w - 1) < 8 * noise && fabs(first / w - 1) < 8 * noise);
        }
    }
}

/* Of mean 0 and variance 1, to 6 standard deviations; and no two copies of a weight alike. */
static void noise_is_relative_and_normal(void **state)
{
    const double noise = 0x1p-10;
    Moments moments = {0};
    CaseSpec spec = spec_of(CONSTRUCTION_TRANSFORMER);
    spec.d = 30;
    spec.d_ff = 120;
    spec.bias = BIAS_RANDOM;
    Pair whole = pair_make(&spec);
    spec.weight_noise = noise;
    Pair damaged = pair_make(&spec);
    const Bundle *a = whole.converted.sublayers[0].bundles;
    const Bundle *b = damaged.converted.sublayers[0].bundles;
    add_noise(&moments, b->score.q.data, a->score.q.data, 2 * 900, noise);
    add_noise(&moments, b->value.v.data, a->value.v.data, 2 * 900, noise);
    a = whole.converted.sublayers[1].bundles;
    b = damaged.converted.sublayers[1].bundles;
    add_noise(&moments, b->value.o.data, a->value.o.data, 3600, noise);
    add_noise(&moments, b->score.gate_bias, a->score.gate_bias, 120, noise);
    add_noise(&moments, b->value.inner_bias, a->value.inner_bias, 120, noise);
    add_noise(&moments, b[1].value.bias, a[1].value.bias, 30, noise);
    double count = (double)moments.count;
    print_message("noise: mean %.3g, variance %.4g of %zu\n", moments.sum / count,
                  moments.squares / count, moments.count);
    assert_true(fabs(moments.sum) < 6 * sqrt(count));
    assert_true(fabs(moments.squares - count) < 6 * sqrt(2 * count));
    expect_copies_apart(b, a, noise);
    assert_memory_equal(whole.original.sublayers[1].direct.w1,
                        damaged.original.sublayers[1].direct.w1, 3600 * sizeof(double));
    case_clear(&damaged);
    case_clear(&whole);
}

/* (damaged/whole - 1)/noise of the first `count` weights of a tensor. */
static void take_draws(double *draws, const double *damaged, const double *whole, size_t count,
                       double noise)
{
    assert_true(damaged != NULL && whole != NULL);
    for (size_t e = 0; e < count; e++) {
        draws[e] = (damaged[e] / whole[e] - 1) / noise;
    }
}

enum { COUNT = 12, TENSORS = 8 }; /* of a tensor of a head, and of a head */

/* draws [TENSORS]: what disturbed each tensor of the heads. */
static void take_tensors(double draws[][COUNT], const Bundle *heads, const GivenLayer *given,
                         double noise)
{
    take_draws(draws[0], heads->score.q.data, given->w_q, COUNT, noise);
    take_draws(draws[1], heads->score.k.data, given->w_k, COUNT, noise);
    take_draws(draws[2], heads->value.v.data, given->w_v, COUNT, noise);
    take_draws(draws[3], heads->value.o.data, given->w_o, COUNT, noise);
    take_draws(draws[4], heads->score.q_bias, given->b_q, COUNT, noise);
    take_draws(draws[5], heads->score.k_bias, given->b_k, COUNT, noise);
    take_draws(draws[6], heads->value.inner_bias, given->b_v, COUNT, noise);
    take_draws(draws[7], heads->value.bias, given->b_o, COUNT, noise);
}

/* A draw is known to 2^-53 / noise; two of their own are nearer than this once in 10^8. */
static void expect_no_draw_twice(double draws[][COUNT], size_t tensors)
{
    for (size_t i = 0; i < tensors; i++) {
        for (size_t j = 0; j < i; j++) {
            for (size_t e = 0; e < COUNT; e++) {
                if (fabs(draws[i][e] - draws[j][e]) < 1e-8) {
                    fail_msg("tensors %zu and %zu share draw %zu, %g", j, i, e, draws[i][e]);
                }
            }
        }
    }
}

/* Every tensor of a head, of each sublayer, is disturbed by draws of its own: no two tensors share
 * one, entry by entry. */
static void tensors_have_noise_of_their_own(void **state)
{
    const double noise = 0x1p-20;
    double draws[2 * TENSORS][COUNT];
    double b_q[COUNT], b_k[COUNT], b_v[COUNT], b_o[COUNT];
    CaseSpec spec = spec_of(CONSTRUCTION_ATTENTION);
    spec.heads = 1;
    spec.depth = 2;
    spec.d = COUNT;
    spec.d_head = COUNT;
    Pair drawn = pair_make(&spec);
    for (size_t e = 0; e < COUNT; e++) {
        b_q[e] = b_k[e] = b_v[e] = b_o[e] = 1 + (double)e / COUNT;
    }
    GivenLayer layers[2];
    for (size_t l = 0; l < 2; l++) {
        const Bundle *heads = drawn.original.sublayers[l].bundles;
        layers[l] = (GivenLayer){.w_q = heads->score.q.data,
                                 .w_k = heads->score.k.data,
                                 .w_v = heads->value.v.data,
                                 .w_o = heads->value.o.data,
                                 .b_q = b_q,
                                 .b_k = b_k,
                                 .b_v = b_v,
                                 .b_o = b_o};
    }
    GivenWeights given = {.layers = layers, .scale = {1, 1, 1}, .x = drawn.original_x};
    spec.given = &given;
    spec.weight_noise = noise;
    Pair pair = pair_make(&spec);
    for (size_t l = 0; l < 2; l++) {
        take_tensors(draws + l * TENSORS, pair.converted.sublayers[l].bundles, &layers[l], noise);
    }
    expect_no_draw_twice(draws, 2 * TENSORS);
    case_clear(&pair);
    case_clear(&drawn);
}

/* The noise on a unit vector is drawn as that on a gate that is given: head h's for row h of the
 * [heads, rows, 1] matrix. */
static void unit_vectors_have_the_noise_of_matrices(void **state)
{
    const double noise = 0x1p-10;
    CaseSpec spec = spec_of(CONSTRUCTION_SILU);
    spec.weight_noise = noise;
    Pair pair = pair_make(&spec);
    const Bundle *heads = &pair.converted.sublayers[0].bundles[0];
    const Score *score = &heads->score;
    assert_true(heads->heads > 1 && score->gate.data != NULL);
    for (size_t h = 0; h < heads->heads; h++) {
        double drawn = draw_normal(spec.seed, draw_hash("sublayers.0.0.gate"), h, h, 0);
        double entry = score->gate.data[h * score->gate.head_stride + h * score->gate.ld];
        assert_true(entry == score->gate_unit * (1 + noise * drawn));
    }
    case_clear(&pair);
}

/* What is stored in place is W - I: its noise is in proportion to that. */
static void noise_is_that_of_w_less_identity(void **state)
{
    enum { WIDE = 200 };
    const double noise = 0x1p-10;
    double squares = 0;
    CaseSpec spec = spec_of(CONSTRUCTION_LINEAR);
    spec.n = 1;
    spec.d = WIDE;
    spec.weight_noise = noise;
    Pair pair = pair_make(&spec);
    const double *w = pair.original.sublayers[0].direct.w1;
    const Value *value = &pair.converted.sublayers[0].bundles[0].value;
    for (size_t c = 0; c < WIDE; c++) {
        double damaged = value->v.data[c * value->v.ld + c], whole = w[c * WIDE + c];
        double relative = (damaged - whole) / ((whole - 1) * noise);
        squares += relative * relative;
    }
    assert_int_equal(value->diagonal, -1);
    assert_true(fabs(squares - WIDE) < 6 * sqrt(2 * WIDE));
    case_clear(&pair);
}

/* Largest |r(T_infinity) - r(T)|. */
static double approximation(const CaseSpec *spec)
{
    Pair pair = pair_make(spec);
    RefRun *limit = run_one(&pair.converted, pair.converted_x, INFINITY);
    RefRun *original = run_one(&pair.original, pair.original_x, INFINITY);
    double worst = 0;
    for (size_t e = 0; e < spec->n * spec->d; e++) {
        size_t row = layout_token_row(&pair.converted.layout, e / spec->d);
        mpfr_srcptr a = ref_run_entry(limit, row, e % spec->d);
        mpfr_srcptr b = ref_run_entry(original, e / spec->d, e % spec->d);
        worst = fmax(worst, fabs(real_double(real_difference(a, b))));
    }
    ref_run_clear(limit);
    ref_run_clear(original);
    case_clear(&pair);
    return worst;
}

/* In every construction, units and W - I included, the error is as large as the noise: it halves
 * with it, and Omega has no part in it. */
static void error_is_in_proportion_to_noise(void **state)
{
    for (int c = 0; c < CONSTRUCTION_COUNT; c++) {
        CaseSpec spec = spec_of((Construction)c);
        spec.bias = BIAS_RANDOM;
        spec.weight_noise = 0x1p-16;
        double one = approximation(&spec);
        spec.weight_noise = 0x1p-17;
        double half = approximation(&spec);
        print_message("%s: noise 2^-16 costs %.3g\n", construction_names[c], one);
        assert_true(one > 0x1p-18 && one < 0x1p-10);
        assert_true(fabs(one / half - 2) < 0.001);
    }
}

/* ---- Shrunken Omega -------------------------------------------------------------------------- */

/* 0.375 of 64 is 24: T' with that Omega, digit for digit, and T as it was. */
static void shrunken_omega_is_a_smaller_one(void **state)
{
    static const char *const columns[] = {"approximation_max", "construction_max", "rounding_max",
                                          "native_max",        "total_rms",        "bias_row_max"};
    char x[64], y[64];
    Output shrunk = run("sweep --construction all --n 4 --d 3 --omega 64 --shrink 0.375 --quiet");
    Output smaller = run("sweep --construction all --n 4 --d 3 --omega 24 --quiet");
    assert_int_equal(shrunk.code, 0);
    assert_int_equal(lines(&shrunk), lines(&smaller));
    for (size_t line = 1; line < lines(&shrunk); line++) {
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
            cell(x, sizeof x, &shrunk, line, columns[c]);
            cell(y, sizeof y, &smaller, line, columns[c]);
            assert_string_equal(x, y);
        }
    }
}

/* The seeds' two conditions beside what is true: the worst over the seeds, blank without heads in
 * T.  One token whose score is -50.3 (seed 2) needs an Omega above half of that. */
static void min_omega_says_the_seeds_conditions(void **state)
{
    static const char fixed[] = "--n 1 --score-scale 100 --seed 1:3 --quiet";
    char text[64];
    double largest = 0;
    Output scores =
        expect_run(0, "sweep --construction attention --omega 20 --digits 17 %s", fixed);
    for (size_t line = 1; line < lines(&scores); line++) {
        largest = fmax(largest, number(&scores, line, "score_max"));
    }
    Output found =
        expect_run(0, "min-omega --construction attention,silu --tolerance 1e-9 %s", fixed);
    assert_true(largest > 50 && number(&found, 1, "seed_scores") == largest);
    assert_true(fabs(number(&found, 1, "seed_rule") - log(1e9)) < 1e-12);
    double least = number(&found, 1, "omega_min");
    assert_true(least > number(&found, 1, "seed_rule") && least < largest);
    cell(text, sizeof text, &found, 2, "seed_scores");
    assert_string_equal(text, "");
}

SUBJECT(damage)
{
    const struct CMUnitTest damage[] = {
        cmocka_unit_test(a_lost_entry_is_flagged_in_its_row_alone),
        cmocka_unit_test(a_pseudo_mask_has_entries),
        cmocka_unit_test(dropout_loses_its_share),
        cmocka_unit_test(without_omega_silu_averages),
        cmocka_unit_test(noise_is_relative_and_normal),
        cmocka_unit_test(tensors_have_noise_of_their_own),
        cmocka_unit_test(unit_vectors_have_the_noise_of_matrices),
        cmocka_unit_test(noise_is_that_of_w_less_identity),
        cmocka_unit_test(error_is_in_proportion_to_noise),
        cmocka_unit_test(shrunken_omega_is_a_smaller_one),
        cmocka_unit_test(min_omega_says_the_seeds_conditions),
    };
    return cmocka_run_group_tests(damage, reference_set_up, reference_tear_down);
}
