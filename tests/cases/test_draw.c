/*
 * Draws: published test vectors, the normal quantile against MPFR's erfc, and the bits pinned.
 */
#include "../../cases/case.h"
#include "../../cases/draw.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

/* Known answers of philox4x64-10 from the authors' Random123 distribution. */
static void philox_known_answers(void **state)
{
    static const struct {
        uint64_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0},
         {0, 0},
         {0x16554d9eca36314cU, 0xdb20fe9d672d0fdcU, 0xd7e772cee186176bU, 0x7e68b68aec7ba23bU}},
        {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
         {UINT64_MAX, UINT64_MAX},
         {0x87b092c3013fe90bU, 0x438c3c67be8d0224U, 0x9cc7d7c69cd777b6U, 0xa09caebf594f0ba0U}},
        {{0x243f6a8885a308d3U, 0x13198a2e03707344U, 0xa4093822299f31d0U, 0x082efa98ec4e6c89U},
         {0x452821e638d01377U, 0xbe5466cf34e90c6cU},
         {0xa528f45403e61d95U, 0x38c72dbd566e9788U, 0xa5a1610e72fd18b5U, 0x57bd43b5e52b7fe6U}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t out[4];
        draw_philox(out, known[i].counter, known[i].key);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

/* FNV-1a's own published vectors. */
static void hash_known_answers(void **state)
{
    assert_int_equal(draw_hash(""), 0xcbf29ce484222325U);
    assert_int_equal(draw_hash("a"), 0xaf63dc4c8601ec8cU);
    assert_int_equal(draw_hash("foobar"), 0x85944171f73967e8U);
}

/* Relative error of x as the normal quantile of p: (Phi(x) - p) / (phi(x) |x|), by MPFR. */
static double quantile_error(double p, double x)
{
    mpfr_t phi, density, t;
    mpfr_inits2(300, phi, density, t, (mpfr_ptr)0);
    mpfr_set_d(t, x, MPFR_RNDN);
    mpfr_sqr(density, t, MPFR_RNDN);
    mpfr_div_si(density, density, -2, MPFR_RNDN);
    mpfr_exp(density, density, MPFR_RNDN);
    mpfr_const_pi(phi, MPFR_RNDN);
    mpfr_mul_ui(phi, phi, 2, MPFR_RNDN);
    mpfr_rec_sqrt(phi, phi, MPFR_RNDN);
    mpfr_mul(density, density, phi, MPFR_RNDN);
    mpfr_set_ui(phi, 2, MPFR_RNDN);
    mpfr_rec_sqrt(phi, phi, MPFR_RNDN);
    mpfr_mul(t, t, phi, MPFR_RNDN);
    mpfr_neg(t, t, MPFR_RNDN);
    mpfr_erfc(phi, t, MPFR_RNDN);
    mpfr_div_ui(phi, phi, 2, MPFR_RNDN);
    mpfr_sub_d(phi, phi, p, MPFR_RNDN);
    mpfr_mul_d(density, density, fabs(x), MPFR_RNDN);
    mpfr_div(phi, phi, density, MPFR_RNDN);
    double error = fabs(mpfr_get_d(phi, MPFR_RNDN));
    mpfr_clears(phi, density, t, (mpfr_ptr)0);
    return error;
}

/* AS 241 claims about 1 part in 10^16; its own double arithmetic adds a few roundings.  Where
 * p - 1/2 is small the quantile's relative error is that of a polynomial of degree 7. */
static void quantile_is_the_quantile(void **state)
{
    double worst = 0, at = 0;
    for (int i = 1; i < 4000; i++) {
        double p = i % 2 != 0 ? i / 4000.0 : ldexp(1 + i / 4000.0, -(i % 52) - 1);
        double error = quantile_error(p, draw_quantile(p));
        if (error > worst) {
            worst = error;
            at = p;
        }
    }
    print_message("quantile: worst error %.3g at p = %.17g\n", worst, at);
    assert_true(worst < 16 * 0x1p-53);
    assert_true(draw_quantile(0.5) == 0);
}

static void uniform_is_an_odd_multiple(void **state)
{
    for (size_t i = 0; i < 1000; i++) {
        double u = ldexp(draw_uniform(7, draw_hash("X"), 0, i, i / 3), 53);
        assert_true(u > 0 && u < 0x1p53 && fmod(u, 2) == 1);
    }
}

/* Mean 0, variance 1, no correlation between neighbours: 5 standard errors at 10^5 draws. */
static void normal_is_standard(void **state)
{
    const size_t count = 100000;
    double sum = 0, squares = 0, products = 0, last = 0, tail = 0;
    uint64_t name = draw_hash("blocks.0.mlp.W_in");
    for (size_t i = 0; i < count; i++) {
        double x = draw_normal(1, name, 0, i / 100, i % 100);
        sum += x;
        squares += x * x;
        products += x * last;
        tail += fabs(x) > 2;
        last = x;
    }
    double n = (double)count, error = 5 / sqrt(n);
    assert_true(fabs(sum / n) < error);
    assert_true(fabs(squares / n - 1) < error * sqrt(2));
    assert_true(fabs(products / n) < error);
    assert_true(fabs(tail / n - 0.0455002638963584) < error * sqrt(0.0455));
}

static uint64_t hash_doubles(const double *data, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &data[i], sizeof bits);
        for (int b = 0; b < 64; b += 8) {
            hash = (hash ^ (bits >> b & 0xff)) * 0x100000001b3U;
        }
    }
    return hash;
}

/* The bits of the draws are a promise: every committed table rests on them. */
static void draws_are_pinned(void **state)
{
    double draws[4096];
    for (size_t i = 0; i < 4096; i++) {
        draws[i] = draw_normal(1, draw_hash("X"), i % 3, i / 64, i % 64);
    }
    assert_int_equal(hash_doubles(draws, 4096), 0x63c11a804a396e01U);
}

/* A row that is drawn at once has every draw's bits: of rows shorter and longer than what is drawn
 * at a time, of counters and keys with every bit in use. */
static void rows_are_their_draws(void **state)
{
    static const size_t counts[] = {0, 1, 2, 255, 256, 257, 700, 20000};
    static const DrawRow rows[] = {{1, 0, 0, 0},
                                   {7, 0x63c11a804a396e01U, 3, 12287},
                                   {UINT64_MAX, UINT64_MAX, SIZE_MAX, SIZE_MAX},
                                   {0x0123456789abcdefU, 0xfedcba9876543210U, SIZE_MAX / 3, 5}};
    double *drawn = calloc(20001, sizeof *drawn);
    assert_non_null(drawn);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            const DrawRow *row = &rows[r];
            drawn[counts[i]] = 77;
            draw_normals(drawn, row, counts[i]);
            assert_true(drawn[counts[i]] == 77);
            for (size_t c = 0; c < counts[i]; c++) {
                double one = draw_normal(row->seed, row->name_hash, row->head, row->row, c);
                assert_memory_equal(&drawn[c], &one, sizeof one);
            }
        }
    }
    free(drawn);
}

static CaseSpec base_spec(void)
{
    return (CaseSpec){.construction = CONSTRUCTION_TRANSFORMER,
                      .n = 5,
                      .d = 4,
                      .d_ff = 6,
                      .heads = 2,
                      .depth = 2,
                      .seed = 3,
                      .weights = WEIGHTS_NORMAL};
}

/* A larger case holds the smaller one's X and W1 as blocks; seeds and names differ. */
static void larger_tensors_keep_the_smaller(void **state)
{
    CaseSpec spec = base_spec();
    Pair small = pair_make(&spec);
    spec.n = 9;
    spec.d = 7;
    spec.d_ff = 11;
    spec.depth = 5;
    Pair large = pair_make(&spec);
    spec.seed = 4;
    Pair other = pair_make(&spec);
    for (size_t i = 0; i < 5; i++) {
        for (size_t c = 0; c < 4; c++) {
            assert_true(small.converted_x[i * 4 + c] == large.converted_x[i * 7 + c]);
            assert_true(other.converted_x[i * 7 + c] != large.converted_x[i * 7 + c]);
        }
    }
    const double *w_small = small.original.sublayers[3].direct.w1;
    const double *w_large = large.original.sublayers[3].direct.w1;
    for (size_t r = 0; r < 4; r++) {
        for (size_t c = 0; c < 6; c++) {
            assert_true(w_small[r * 6 + c] == w_large[r * 11 + c]);
        }
    }
    case_clear(&small);
    case_clear(&large);
    case_clear(&other);
}

/* `stable` variances: sample variances of large tensors within 10%, at the scales of
 * docs/mathematics.md, section 5. */
static double sample_variance(const double *data, size_t count)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        squares += data[i] * data[i];
    }
    return squares / (double)count;
}

static void check_variance(const double *data, size_t count, double expected)
{
    double ratio = sample_variance(data, count) / expected;
    assert_true(ratio > 0.9 && ratio < 1.1);
}

static void stable_has_its_variances(void **state)
{
    CaseSpec spec = base_spec();
    spec.weights = WEIGHTS_STABLE;
    spec.bias = BIAS_RANDOM;
    spec.d = 40;
    spec.d_ff = 1600;
    spec.heads = 3;
    spec.depth = 4;
    for (size_t d_head = 0; d_head <= 20; d_head += 20) {
        spec.d_head = d_head;
        Pair pair = pair_make(&spec);
        const Bundle *heads = pair.original.sublayers[0].bundles;
        const Direct *ffn = &pair.original.sublayers[1].direct;
        if (d_head == 0) {
            check_variance(heads->score.q.data, 3 * 1600, 1 / 1600.0);
            check_variance(heads->value.v.data, 3 * 1600, 1 / (40 * 3 * 8.0));
        } else {
            double product = 20 * sample_variance(heads->score.q.data, 3 * 800) *
                             sample_variance(heads->score.k.data, 3 * 800) * 1600;
            assert_true(product > 0.85 && product < 1.15);
            product = 20 * sample_variance(heads->value.v.data, 3 * 800) *
                      sample_variance(heads->value.o.data, 3 * 800) * (40 * 3 * 8.0);
            assert_true(product > 0.85 && product < 1.15);
        }
        check_variance(ffn->w1, 64000, 1 / 40.0);
        check_variance(ffn->w2, 64000, 1 / (1600 * 8.0));
        check_variance(ffn->b1, 1600, 1 / 16.0);
        case_clear(&pair);
    }
}

static size_t rows_drawn;

static void each_from_the_last(size_t count, CaseWork *work, const void *context)
{
    for (size_t i = count; i > 0; i--) {
        work(context, i - 1);
    }
    rows_drawn += count;
}

/* Rows of large tensors may be drawn in any order: whoever asks for a case says in which. */
static void rows_are_drawn_in_any_order(void **state)
{
    CaseSpec spec = base_spec();
    spec.d = 64;
    spec.d_ff = 2048;
    Pair pair = pair_make(&spec);
    spec.each = each_from_the_last;
    rows_drawn = 0;
    Pair other = pair_make(&spec);
    assert_true(rows_drawn >= 64 + 2048); /* of W1 and W2, layer by layer */
    for (size_t s = 0; s < pair.original.sublayer_count; s++) {
        const Sublayer *a = &pair.original.sublayers[s], *b = &other.original.sublayers[s];
        if (a->bundle_count == 0) {
            assert_memory_equal(a->direct.w1, b->direct.w1, 64 * 2048 * sizeof(double));
            assert_memory_equal(a->direct.w2, b->direct.w2, 64 * 2048 * sizeof(double));
        }
    }
    assert_memory_equal(pair.original_x, other.original_x, spec.n * 64 * sizeof(double));
    case_clear(&pair);
    case_clear(&other);
}

SUBJECT(draw)
{
    const struct CMUnitTest draws[] = {
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(hash_known_answers),
        cmocka_unit_test(quantile_is_the_quantile),
        cmocka_unit_test(uniform_is_an_odd_multiple),
        cmocka_unit_test(normal_is_standard),
        cmocka_unit_test(draws_are_pinned),
        cmocka_unit_test(rows_are_their_draws),
        cmocka_unit_test(larger_tensors_keep_the_smaller),
        cmocka_unit_test(stable_has_its_variances),
        cmocka_unit_test(rows_are_drawn_in_any_order),
    };
    return cmocka_run_group_tests(draws, NULL, NULL);
}
