/*
 * How the rewrite's weights may be stored: in heads of limited rank, or as rounded products
 * (docs/mathematics.md, sections 1 and 3).
 */
#include "../../cases/case.h"
#include "../../reference/reference.h"
#include "../fixture.h"
#include "../real.h"
#include "../unit.h"

#include <math.h>
#include <stdlib.h>

/* ---- Rank ------------------------------------------------------------------------------------ */

/* Entry (a, b) of the sum of a sublayer's V, W and diagonal apart, and how many heads have part in
 * each row; a == d + hidden: of the token position rows. */
static void add_up(const Sublayer *sublayer, size_t width, double *w, int *diagonal, int *owners)
{
    for (size_t k = 0; k < sublayer->bundle_count; k++) {
        const Value *v = &sublayer->bundles[k].value;
        assert_int_equal(sublayer->bundles[k].heads, 1);
        for (size_t b = 0; v->bias != NULL && b < v->write.count; b++) {
            w[width * width + v->write.first + b] += v->bias[b];
            owners[width * width + v->write.first + b]++;
        }
        for (size_t a = 0; v->d_head == 0 && v->v.data != NULL && a < v->read.count; a++) {
            size_t row = v->read.first + a;
            diagonal[row] += v->diagonal;
            for (size_t b = 0; b < v->write.count; b++) {
                w[row * width + v->write.first + b] += v->v.data[a * v->v.ld + b];
                owners[row * width + v->write.first + b]++;
            }
        }
    }
}

/* The rank a head's V can have: its rows that are not zero, or its columns. */
static size_t rank_most(const Value *v)
{
    size_t rows = (v->d_head == 0 && v->v.data != NULL ? v->read.count : 0) + (v->bias != NULL);
    size_t columns = v->diagonal != 0 ? SIZE_MAX : v->write.count;
    return rows < columns ? rows : columns;
}

/* W and b of the map. */
static void expect_map(const double *w, size_t width, const Direct *map)
{
    for (size_t a = 0; a <= map->read.count; a++) {
        bool bias = a == map->read.count;
        const double *row = bias ? map->b1 : map->w1 + a * map->write.count;
        const double *sum = w + (bias ? width : map->read.first + a) * width + map->write.first;
        for (size_t b = 0; b < map->write.count; b++) {
            assert_true(sum[b] == (row != NULL ? row[b] : 0));
        }
    }
}

/* Every entry in one head, so that they add up exactly; and Q the same in all.  Ranks divide the
 * widths, and do not; maps are in place, from wide to narrow and back. */
static void limited_heads_add_up(void **state)
{
    enum { WIDTH = 4 + 7, ENTRIES = (WIDTH + 1) * WIDTH };
    for (size_t variant = 0; variant < 3 * 2 * 12; variant++) {
        CaseSpec spec = {.construction = CONSTRUCTION_LINEAR,
                         .n = 6,
                         .d = 4,
                         .d_ff = 7,
                         .depth = 2,
                         .seed = 1,
                         .linear = (Linear)(variant % 3),
                         .bias = (Bias)(variant / 3 % 2)};
        Pair whole = pair_make(&spec);
        spec.head_rank = 1 + variant / 6;
        Pair split = pair_make(&spec);
        size_t width = layout_content(&whole.converted.layout);
        for (size_t s = 0; s < 2; s++) {
            double w[2][ENTRIES] = {{0}};
            int diagonal[2][WIDTH] = {{0}}, owners[2][ENTRIES] = {{0}};
            add_up(&whole.converted.sublayers[s], width, w[0], diagonal[0], owners[0]);
            add_up(&split.converted.sublayers[s], width, w[1], diagonal[1], owners[1]);
            expect_map(w[0], width, &whole.original.sublayers[s].direct);
            assert_memory_equal(w[0], w[1], sizeof w[0]);
            assert_memory_equal(diagonal[0], diagonal[1], sizeof diagonal[0]);
            assert_memory_equal(owners[0], owners[1], sizeof owners[0]);
            for (size_t k = 0; k < split.converted.sublayers[s].bundle_count; k++) {
                const Bundle *head = &split.converted.sublayers[s].bundles[k];
                assert_true(rank_most(&head->value) <= spec.head_rank);
                assert_memory_equal(&head->score, &whole.converted.sublayers[s].bundles[0].score,
                                    sizeof head->score);
            }
        }
        case_clear(&split);
        case_clear(&whole);
    }
}

/* GPT-3's layer (docs/mathematics.md, section 1), from shapes alone. */
static void gpt3_needs_as_many_heads_as_said(void **state)
{
    for (int biased = 0; biased < 2; biased++) {
        CaseSpec spec = {.construction = CONSTRUCTION_TRANSFORMER3,
                         .n = 2048,
                         .d = 12288,
                         .d_ff = 49152,
                         .heads = 96,
                         .d_head = 128,
                         .depth = 1,
                         .head_rank = 128,
                         .bias = biased ? BIAS_RANDOM : BIAS_NONE};
        Pair pair;
        const char *reason;
        assert_int_equal(case_outline(&pair, &reason, &spec), CASE_OK);
        const Sublayer *s = pair.converted.sublayers;
        assert_int_equal(layout_width(&pair.converted.layout), 63489);
        assert_int_equal(s[0].bundles[0].heads, 96);
        assert_int_equal(s[1].bundle_count, 96 + biased);
        assert_int_equal(s[2].bundles[0].heads, 49152);
        assert_int_equal(s[3].bundle_count, 384 + biased); /* the clear has rank d_ff */
        case_clear(&pair);
        spec.construction = CONSTRUCTION_LINEAR; /* without the clear, D of rank is enough */
        spec.linear = LINEAR_BLOCK;
        spec.depth = 2;
        assert_int_equal(case_outline(&pair, &reason, &spec), CASE_OK);
        assert_int_equal(pair.converted.sublayers[0].bundle_count, 96 + biased);
        assert_int_equal(pair.converted.sublayers[1].bundle_count, 96);
        case_clear(&pair);
    }
}

/* ---- V as a rounded product ------------------------------------------------------------------ */

enum { TOKENS = 20, WIDTH = 30, UNITS = 120 };

/* The variance of what storing the products of unit k's weights does to an entry: of the row x,
 * and of the column that w2 leads to. */
static double unit_error(const double *x, const Direct *ffn, size_t k, double w2)
{
    double z = 0, squares = 0;
    for (size_t a = 0; a < WIDTH; a++) {
        double term = x[a] * ffn->w1[a * UNITS + k];
        z += term;
        squares += term * term;
    }
    double sigma = 1 / (1 + exp(-z)), unit = 0.4247 * 0x1p-53;
    return unit * unit * sigma * sigma * w2 * w2 * squares;
}

/* fl(W1[a, k] W2[k, d]), a matrix a unit; free it. */
static double *stored_products(const Direct *ffn)
{
    double *product = calloc((size_t)UNITS * WIDTH * WIDTH, sizeof *product);
    assert_non_null(product);
    for (size_t e = 0; e < (size_t)UNITS * WIDTH * WIDTH; e++) {
        size_t k = e / (WIDTH * WIDTH), a = e / WIDTH % WIDTH, d = e % WIDTH;
        product[e] = ffn->w1[a * UNITS + k] * ffn->w2[k * WIDTH + d];
    }
    return product;
}

/* Sums of squares of the error that storing fl(W1[a, k] W2[k, d]) makes, and of the formula's. */
static void product_error(double *measured, double *formula, uint64_t seed)
{
    CaseSpec spec = {.construction = CONSTRUCTION_FUSED,
                     .n = TOKENS,
                     .d = WIDTH,
                     .d_ff = UNITS,
                     .depth = 1,
                     .seed = seed};
    Pair pair = pair_make(&spec);
    const Direct *ffn = &pair.original.sublayers[0].direct;
    double *product = stored_products(ffn);
    Bundle stored = pair.converted.sublayers[0].bundles[0];
    Sublayer sublayer = {.bundles = &stored, .bundle_count = 1};
    Model model = pair.converted;
    stored.value.d_head = 0;
    stored.value.scale = 1;
    stored.value.o = (HeadWeight){0};
    stored.value.v = (HeadWeight){product, WIDTH, (size_t)WIDTH * WIDTH};
    model.sublayers = &sublayer;
    RefRun *rounded = run_layers(&model, pair.converted_x, NULL, INFINITY, 512, 1);
    RefRun *factored = run_layers(&pair.converted, pair.converted_x, NULL, INFINITY, 512, 1);
    for (size_t e = 0; e < (size_t)TOKENS * WIDTH; e++) {
        const double *x = pair.converted_x + e / WIDTH * WIDTH;
        size_t row = layout_token_row(&model.layout, e / WIDTH), d = e % WIDTH;
        double error = real_double(
            real_difference(ref_run_entry(rounded, row, d), ref_run_entry(factored, row, d)));
        *measured += error * error;
        for (size_t k = 0; k < UNITS; k++) {
            *formula += unit_error(x, ffn, k, ffn->w2[k * WIDTH + d]);
        }
    }
    ref_run_clear(rounded);
    ref_run_clear(factored);
    free(product);
    case_clear(&pair);
}

static void a_stored_product_costs_its_rounding(void **state)
{
    double measured = 0, formula = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        product_error(&measured, &formula, seed);
    }
    double ratio = sqrt(measured / formula);
    print_message("V as a rounded product: rms %.3g, the formula's times %.4g\n",
                  sqrt(measured / 3000), ratio);
    assert_true(fabs(ratio - 1) < 0.05); /* 3000 entries: 4 standard deviations */
}

SUBJECT(stored)
{
    const struct CMUnitTest stored[] = {
        cmocka_unit_test(limited_heads_add_up),
        cmocka_unit_test(gpt3_needs_as_many_heads_as_said),
        cmocka_unit_test(a_stored_product_costs_its_rounding),
    };
    return cmocka_run_group_tests(stored, reference_set_up, reference_tear_down);
}
