/*
 * The identities that the seed texts rest on (docs/seeds.md), on the project's models and
 * patterns: in rational numbers, where equality is demanded, or to 300 bits where exponentials
 * enter.
 */

#include "../../cases/case.h"
#include "../../reference/reference.h"
#include "../fixture.h"
#include "../frozen.h"
#include "../real.h"
#include "../unit.h"

#include <math.h>
#include <stdlib.h>

#define BITS REAL_BITS

/* What BITS bits may lose in a few hundred operations on numbers of order one. */
#define LOST (-(BITS - 24))

static Pair make(CaseSpec spec)
{
    spec.seed = spec.seed == 0 ? 1 : spec.seed;
    return pair_make(&spec);
}

static CaseSpec attention_spec(size_t n, size_t heads, size_t d_head, size_t depth)
{
    return (CaseSpec){.construction = CONSTRUCTION_ATTENTION,
                      .n = n,
                      .d = 5,
                      .d_ff = 20,
                      .heads = heads,
                      .d_head = d_head,
                      .depth = depth,
                      .weights = WEIGHTS_NORMAL};
}

/* The entries of a model's stream after its layers, less those it started with. */
static void added(Real *delta, const Model *model, const double *x)
{
    size_t n = model->layout.n, d = model->layout.d;
    RefRun *run = run_layers(model, x, NULL, 0, BITS, model->depth);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < d; c++) {
            delta[i * d + c] =
                real_sub(real_of_mpfr(ref_run_entry(run, i, c)), real_of(x[i * d + c]));
        }
    }
    ref_run_clear(run);
}

static void expect_close(Real a, Real b)
{
    assert_true(real_compare(real_abs(real_sub(a, b)), real_power(LOST)) < 0);
}

static HeadWeight only(HeadWeight w, size_t head)
{
    w.data = w.data == NULL ? NULL : w.data + head * w.head_stride;
    return w;
}

/* A sublayer of several heads adds what its heads add, each in a model of its own. */
static void heads_are_independent(void **state)
{
    Pair pair = make(attention_spec(6, 3, 2, 1));
    const Model *model = &pair.original;
    const Bundle *all = &model->sublayers[0].bundles[0];
    Real together[30] = {{0}}, sum[30] = {{0}}, own[30] = {{0}};
    added(together, model, pair.original_x);
    for (size_t h = 0; h < all->heads; h++) {
        Bundle one = *all;
        one.heads = 1;
        one.score.q = only(all->score.q, h);
        one.score.k = only(all->score.k, h);
        one.value.v = only(all->value.v, h);
        one.value.o = only(all->value.o, h);
        Sublayer sublayer = {.bundles = &one, .bundle_count = 1};
        Model alone = *model;
        alone.sublayers = &sublayer;
        added(own, &alone, pair.original_x);
        for (size_t e = 0; e < 30; e++) {
            sum[e] = h == 0 ? own[e] : real_add(sum[e], own[e]);
        }
    }
    for (size_t e = 0; e < 30; e++) {
        expect_close(together[e], sum[e]);
    }
    case_clear(&pair);
}

/* [A_1 X W_V1, A_2 X W_V2, ...] W_O with W_O the heads' stacked: the sum of the heads. */
static void concatenation_is_a_sum(void **state)
{
    Pair pair = make(attention_spec(6, 3, 2, 1));
    const Value *value = &pair.original.sublayers[0].bundles[0].value;
    Frozen frozen = frozen_make(&pair.original, pair.original_x, 0);
    Rat x = frozen.start, side = rat_zero(6, 0), stack = rat_zero(0, 5);
    for (size_t h = 0; h < 3; h++) {
        Rat v = rat_of(value->v.data + h * value->v.head_stride, 5, 2, value->v.ld);
        Rat o = rat_of(value->o.data + h * value->o.head_stride, 2, 5, value->o.ld);
        side = rat_beside(side, rat_mul(frozen.sublayer[0].pattern[h], rat_mul(x, v)));
        stack = rat_above(stack, o);
    }
    assert_true(rat_equal(rat_add(x, rat_mul(side, stack)), frozen_apply(&frozen, x)));
    case_clear(&pair);
    rat_release_all();
}

enum { HEADS = 2, SIZE = 5, RANK = 2 };

/* Small integers w, their products qk and ov, which are doubles too, and a stream x. */
static void make_factors(double w[4][HEADS * SIZE * RANK], double *qk, double *ov, double *x)
{
    for (size_t t = 0; t < 4; t++) {
        for (size_t e = 0; e < HEADS * SIZE * RANK; e++) {
            w[t][e] = (double)((e * e + 3 * e * t + 5 * t) % 7) - 3;
        }
    }
    for (size_t e = 0; e < HEADS * SIZE * SIZE; e++) {
        size_t h = e / (SIZE * SIZE), r = e / SIZE % SIZE, c = e % SIZE;
        qk[e] = ov[e] = 0;
        for (size_t k = 0; k < RANK; k++) {
            qk[e] += w[0][(h * SIZE + r) * RANK + k] * w[1][(h * SIZE + c) * RANK + k];
            ov[e] += w[2][(h * SIZE + r) * RANK + k] * w[3][(h * RANK + k) * SIZE + c];
        }
    }
    for (size_t e = 0; e < 3 * SIZE; e++) {
        x[e] = ((double)(e * 7 % 11) - 5) / 8;
    }
}

/* A file may have factors or their product: patterns are the same bits, streams the same
 * numbers. */
static void factors_may_be_merged(void **state)
{
    double w[4][HEADS * SIZE * RANK], qk[HEADS * SIZE * SIZE], ov[HEADS * SIZE * SIZE];
    double x[3 * SIZE];
    make_factors(w, qk, ov, x);
    GivenLayer factors = {.w_q = w[0], .w_k = w[1], .w_v = w[2], .w_o = w[3]};
    GivenLayer merged = {.qk = qk, .ov = ov};
    GivenWeights a = {.layers = &factors, .scale = {1, 1, 1}, .x = x};
    GivenWeights b = {.layers = &merged, .scale = {1, 1, 1}, .x = x};
    CaseSpec spec = attention_spec(3, HEADS, RANK, 1);
    spec.given = &a;
    Pair factored = make(spec);
    spec.d_head = 0;
    spec.given = &b;
    Pair whole = make(spec);
    Frozen one = frozen_make(&factored.original, x, 0), two = frozen_make(&whole.original, x, 0);
    Real left[3 * SIZE] = {{0}}, right[3 * SIZE] = {{0}};
    for (size_t h = 0; h < HEADS; h++) {
        assert_true(rat_equal(one.sublayer[0].pattern[h], two.sublayer[0].pattern[h]));
        assert_true(rat_equal(one.sublayer[0].value[h], two.sublayer[0].value[h]));
    }
    added(left, &factored.original, x);
    added(right, &whole.original, x);
    for (size_t e = 0; e < 3 * SIZE; e++) {
        expect_close(left[e], right[e]);
    }
    case_clear(&factored);
    case_clear(&whole);
    rat_release_all();
}

/* A score scale that is a double may be folded into Q: 1/sqrt(4), by halving W_Q. */
static void the_scale_may_be_folded(void **state)
{
    enum { SIZE = 5, RANK = 4 };
    CaseSpec spec = attention_spec(4, 1, RANK, 1);
    Pair drawn = make(spec);
    const Bundle *head = &drawn.original.sublayers[0].bundles[0];
    double half[SIZE * RANK];
    for (size_t e = 0; e < SIZE * RANK; e++) {
        half[e] = head->score.q.data[e] / 2;
    }
    GivenLayer apart = {.w_q = head->score.q.data,
                        .w_k = head->score.k.data,
                        .w_v = head->value.v.data,
                        .w_o = head->value.o.data};
    GivenLayer folded = apart;
    folded.w_q = half;
    GivenWeights a = {.layers = &apart, .scale = {1, 1, RANK}, .x = drawn.original_x};
    GivenWeights b = {.layers = &folded, .scale = {1, 1, 1}, .x = drawn.original_x};
    Real left[20] = {{0}}, right[20] = {{0}}, unscaled[20] = {{0}};
    spec.given = &a;
    Pair one = make(spec);
    spec.given = &b;
    Pair two = make(spec);
    added(unscaled, &drawn.original, drawn.original_x);
    added(left, &one.original, drawn.original_x);
    added(right, &two.original, drawn.original_x);
    for (size_t e = 0; e < 20; e++) {
        expect_close(left[e], right[e]);
        assert_true(fabs(real_double(real_sub(left[e], unscaled[e]))) > 1e-9);
    }
    Frozen f = frozen_make(&one.original, drawn.original_x, 0);
    Frozen g = frozen_make(&two.original, drawn.original_x, 0);
    assert_true(rat_equal(f.sublayer[0].pattern[0], g.sublayer[0].pattern[0]));
    case_clear(&one);
    case_clear(&two);
    case_clear(&drawn);
    rat_release_all();
}

/* Patterns of linear and SiLU heads have rank N + 1, the bias row included. */
static void patterns_have_full_rank(void **state)
{
    for (size_t n = 1; n <= 7; n += 2) {
        CaseSpec spec = attention_spec(n, 1, 0, 1);
        spec.d = 3;
        spec.d_ff = 4;
        spec.weights = WEIGHTS_STABLE;
        spec.construction = CONSTRUCTION_FFN3;
        Pair pair = make(spec);
        Frozen frozen = frozen_make(&pair.converted, pair.converted_x, 20);
        for (size_t s = 0; s < frozen.sublayers; s++) {
            for (size_t h = 0; h < frozen.sublayer[s].heads; h++) {
                assert_int_equal(rat_rank(frozen.sublayer[s].pattern[h]), n + 1);
            }
        }
        case_clear(&pair);
        rat_release_all();
    }
}

/* A V of too high a rank is shared out over heads of one pattern, columns of W_V and rows of W_O at
 * a time: 5 = 2 + 2 + 1. */
static void a_value_may_be_split(void **state)
{
    CaseSpec spec = attention_spec(4, 1, 5, 1);
    Pair pair = make(spec);
    const Bundle *whole = &pair.original.sublayers[0].bundles[0];
    Bundle parts[3];
    Real left[20] = {{0}}, right[20] = {{0}};
    for (size_t p = 0; p < 3; p++) {
        parts[p] = *whole;
        parts[p].value.d_head = p < 2 ? 2 : 1;
        parts[p].value.v.data += 2 * p;
        parts[p].value.o.data += 2 * p * whole->value.o.ld;
    }
    Sublayer sublayer = {.bundles = parts, .bundle_count = 3};
    Model split = pair.original;
    split.sublayers = &sublayer;
    Frozen one = frozen_make(&pair.original, pair.original_x, 0);
    Frozen three = frozen_make(&split, pair.original_x, 0);
    assert_int_equal(rat_rank(one.sublayer[0].value[0]), 5);
    for (size_t p = 0; p < 3; p++) {
        assert_int_equal(rat_rank(three.sublayer[0].value[p]), p < 2 ? 2 : 1);
        assert_true(rat_equal(three.sublayer[0].pattern[p], one.sublayer[0].pattern[0]));
    }
    assert_true(rat_equal(frozen_apply(&one, one.start), frozen_apply(&three, one.start)));
    added(left, &pair.original, pair.original_x);
    added(right, &split, pair.original_x);
    for (size_t e = 0; e < 20; e++) {
        expect_close(left[e], right[e]);
    }
    case_clear(&pair);
    rat_release_all();
}

/* sum_j x_j Q y_j over doubles. */
static Real bilinear(const double *x, const double *q, const double *y, size_t d)
{
    Real sum = real_of(0);
    for (size_t a = 0; a < d; a++) {
        for (size_t b = 0; b < d; b++) {
            Real term = real_mul(real_of(x[a]), real_mul(real_of(q[a * d + b]), real_of(y[b])));
            sum = real_add(sum, term);
        }
    }
    return sum;
}

/* The perceptron that a context of count tokens makes: hidden unit j has incoming weights
 * Q x_j, outgoing weights x_j V and the activation exp(.)/C; at the input y. */
static void perceptron(Real *out, const double *y, const double *x, size_t count, Real c,
                       const double *q, const double *v, size_t d)
{
    for (size_t to = 0; to < d; to++) {
        out[to] = real_of(0);
        for (size_t j = 0; j < count; j++) {
            Real activation = real_div(real_exp(bilinear(y, q, x + j * d, d)), c);
            Real outgoing = real_of(0);
            for (size_t a = 0; a < d; a++) {
                outgoing =
                    real_add(outgoing, real_mul(real_of(x[j * d + a]), real_of(v[a * d + to])));
            }
            out[to] = real_add(out[to], real_mul(activation, outgoing));
        }
    }
}

static Real normaliser(const double *y, const double *x, size_t count, const double *q, size_t d)
{
    Real sum = real_of(0);
    for (size_t j = 0; j < count; j++) {
        sum = real_add(sum, real_exp(bilinear(y, q, x + j * d, d)));
    }
    return sum;
}

/* Attention at token i is a perceptron whose weights its context makes, at its own input. */
static void attention_is_a_contextual_mlp(void **state)
{
    enum { TOKENS = 6, SIZE = 5 };
    for (int mask = MASK_NONE; mask <= MASK_CAUSAL; mask++) {
        CaseSpec spec = attention_spec(TOKENS, 1, 0, 1);
        spec.mask = (Mask)mask;
        spec.weights = WEIGHTS_STABLE;
        Pair pair = make(spec);
        const Bundle *head = &pair.original.sublayers[0].bundles[0];
        const double *x = pair.original_x, *q = head->score.q.data, *v = head->value.v.data;
        Real attention[TOKENS * SIZE] = {{0}}, out[SIZE] = {{0}};
        added(attention, &pair.original, x);
        for (size_t i = 0; i < TOKENS; i++) {
            size_t units = mask == MASK_CAUSAL ? i + 1 : TOKENS;
            Real c = normaliser(x + i * SIZE, x, units, q, SIZE);
            perceptron(out, x + i * SIZE, x, units, c, q, v, SIZE);
            for (size_t k = 0; k < SIZE; k++) {
                expect_close(out[k], attention[i * SIZE + k]);
            }
        }
        case_clear(&pair);
    }
}

/* At another query y, and the same keys, the perceptron is off by the factor Z(y)/C. */
static void foreign_queries_are_off_by_a_factor(void **state)
{
    enum { TOKENS = 6, SIZE = 5 };
    CaseSpec spec = attention_spec(TOKENS, 1, 0, 1);
    spec.weights = WEIGHTS_STABLE;
    Pair pair = make(spec);
    const Bundle *head = &pair.original.sublayers[0].bundles[0];
    const double *x = pair.original_x, *q = head->score.q.data, *v = head->value.v.data;
    Real attention[TOKENS * SIZE] = {{0}}, out[SIZE] = {{0}};
    added(attention, &pair.original, x);
    for (size_t i = 0; i < TOKENS; i++) {
        Real c = normaliser(x + i * SIZE, x, TOKENS, q, SIZE);
        for (size_t m = 0; m < TOKENS; m++) {
            Real factor = real_div(normaliser(x + m * SIZE, x, TOKENS, q, SIZE), c);
            perceptron(out, x + m * SIZE, x, TOKENS, c, q, v, SIZE);
            for (size_t k = 0; k < SIZE; k++) {
                expect_close(out[k], real_mul(factor, attention[m * SIZE + k]));
            }
            double gap = fabs(real_double(real_sub(factor, real_of(1))));
            assert_true(m == i ? gap < 1e-80 : gap > 1e-6);
        }
    }
    case_clear(&pair);
}

SUBJECT(identities)
{
    const struct CMUnitTest identities[] = {
        cmocka_unit_test(heads_are_independent),
        cmocka_unit_test(concatenation_is_a_sum),
        cmocka_unit_test(factors_may_be_merged),
        cmocka_unit_test(a_value_may_be_split),
        cmocka_unit_test(the_scale_may_be_folded),
        cmocka_unit_test(patterns_have_full_rank),
        cmocka_unit_test(attention_is_a_contextual_mlp),
        cmocka_unit_test(foreign_queries_are_off_by_a_factor),
    };
    return cmocka_run_group_tests(identities, NULL, NULL);
}
