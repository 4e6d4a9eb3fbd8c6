/*
 * Radii row by row: rows are shared out among threads in blocks, and each has to be what it would
 * be by itself.
 */
#include "../../cases/draw.h"
#include "../../reference/radius/bilinear.h"
#include "../../reference/radius/bounds.h"
#include "../../reference/radius/gates.h"
#include "../../reference/radius/vectors.h"
#include "../../reference/run/run.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>
#include <string.h>

enum { BITS = 128, TOKENS = 310, WIDTH = 3, HIDDEN = 70 };

/* More tokens than two blocks of any kind have, and HIDDEN more heads than are summed at once. */
static CaseSpec network(Mask mask)
{
    return (CaseSpec){.construction = CONSTRUCTION_FUSED,
                      .n = TOKENS,
                      .d = WIDTH,
                      .d_ff = 5,
                      .depth = 1,
                      .seed = 1,
                      .slope = 1000,
                      .mask = mask};
}

static RefRun *open_at(const Model *model, const double *x, double omega)
{
    RefRun *run = ref_run_open(&(Start){model, x, NULL, omega}, BITS);
    ref_run_certify(run);
    return run;
}

/* What gates.h promises of the rows of heads, against sums of one row after the other. */
static double largest_off;
static size_t rows_seen;

static void take(double *most, double off)
{
    *most = off <= *most ? *most : isnan(off) ? INFINITY : off;
}

/* A number of head k for a token; the bias row has none. */
static double of_token(const double *numbers, size_t k, bool token)
{
    return numbers != NULL && token ? numbers[k] : 0;
}

static double inner(const double *x, const double *w, size_t stride)
{
    double sum = 0;
    for (size_t c = 0; c < WIDTH; c++) {
        sum += x[c] * w[c * stride];
    }
    return sum;
}

/* The sum of the sizes of what inner adds. */
static double size_of(const double *x, const double *w, size_t stride)
{
    double sum = 0x1p-900; /* of a row of zeros 0/0 is nothing */
    for (size_t c = 0; c < WIDTH; c++) {
        sum += fabs(x[c] * w[c * stride]);
    }
    return sum;
}

static void row_is_right(const Gates *gates, const Point *at, size_t i)
{
    const Radius *r = gates->r;
    const Score *score = &gates->bundle->score;
    size_t bias = layout_bias_row(r->layout), K = gates->heads;
    const double *x = at->x + i * r->columns, *inner_bias = gates->bundle->value.inner_bias;
    for (size_t k = 0; k < K; k++) {
        double z = score->gate_scale *
                       (inner(x, gates->g + k, K) + of_token(score->gate_bias, k, i != bias)) +
                   of_token(score->gate_shift, k, i != bias);
        double u = inner(x, gates->v + k, K) + of_token(inner_bias, k, i != bias);
        double size = fabs(score->gate_scale) * (size_of(x, gates->g + k, K) +
                                                 fabs(of_token(score->gate_bias, k, i != bias))) +
                      fabs(of_token(score->gate_shift, k, i != bias));
        take(&largest_off, fabs(z - gates->z[i * K + k]) / size);
        assert_true(gates->size[i * K + k] >= fabs(u) * (1 - 0x1p-40));
        assert_true(gates->most[k] >= gates->size[i * K + k]);
    }
}

/* A sum of so many tokens is rounded as often: what rounding at x^ may cost is at least that. */
static void sum_is_rounded(const Gates *gates, const Point *at, size_t i)
{
    const GateRow row = gate_row(gates, at, i, 0);
    double squares = 0, tokens = (double)row.groups.count[OTHER];
    for (size_t k = 0; k < gates->heads; k++) {
        const Gate gate = gate_of(gates, &row, k);
        double lost = tokens * tokens * gate.most[OTHER] * gate.size[OTHER];
        squares += lost * lost;
    }
    double least = gates->value_scale * gates->o_norm * sqrt(squares);
    double local = banks_in(gates->r, gates->r->local, gates->bundle->value.write, i);
    if (tokens > 100) {
        take(&largest_off, least / local);
        rows_seen++;
    }
}

static void check_rows(const CaseSpec *spec)
{
    Pair pair = pair_make(spec);
    RefRun *run = open_at(&pair.converted, pair.converted_x, 1);
    Radius *r = run->radius;
    Pass none = {.at = &r->at};
    Gates gates;
    radius_before(r);
    gates_open(&gates, r, pair.converted.sublayers[0].bundles);
    gates_set(&gates, &r->at);
    rows_seen = 0;
    largest_off = 0;
    for (size_t i = 0; i < r->rows; i++) {
        row_is_right(&gates, &r->at, i);
    }
    print_message("off by %g\n", largest_off);
    /* Two sums of WIDTH products, a bias and a scale. */
    assert_true(largest_off < 2 * (WIDTH + 4) * 0x1p-53);
    largest_off = 0;
    for (int gap = 1; gap <= OMEGA_MAX_GAP; gap++) {
        r->decay[gap] = exp(-gap); /* Omega is 1 */
    }
    gates_pass(&gates, &none, true);
    for (size_t i = 0; i < r->rows; i++) {
        sum_is_rounded(&gates, &r->at, i);
    }
    assert_true(rows_seen > TOKENS / 2 && largest_off <= 1);
    gates_clear(&gates);
    ref_run_clear(run);
    case_clear(&pair);
}

static void blocks_of_rows_are_rows(void **state)
{
    for (int mask = MASK_NONE; mask <= MASK_CAUSAL; mask++) {
        CaseSpec spec = network((Mask)mask);
        spec.d_ff = HIDDEN;
        check_rows(&spec);
        spec.bias = BIAS_RANDOM;
        spec.activation = ACTIVATION_GELU;
        spec.gelu = GELU_SHIFTED_2;
        check_rows(&spec);
    }
}

/* The radius after some layers of each of the first three tokens.  A network's radii are each row's
 * own: tokens come in turns of three, whose slopes differ; a block has 62, no multiple of three. */
static void network_radii(double rho[3], size_t depth, double second_map)
{
    double x[TOKENS * WIDTH], w_in[WIDTH * 5], w_out[5 * WIDTH];
    const GivenLayer layers[2] = {{.w_in = w_in, .w_out = w_out}, {.w_in = w_in, .w_out = w_out}};
    const GivenWeights given = {.layers = layers, .x = x};
    CaseSpec spec = network(MASK_NONE);
    for (size_t i = 0; i < TOKENS * WIDTH; i++) {
        x[i] = ldexp((double)(1 + i % WIDTH), -2 * (int)(i / WIDTH % 3));
    }
    for (size_t i = 0; i < WIDTH * 5; i++) {
        w_in[i] = ldexp((double)(i % 4), -3);
        w_out[i] = ldexp((double)(i % 3), -3) * second_map;
    }
    spec.given = &given;
    spec.depth = depth;
    Pair pair = pair_make(&spec);
    RefRun *run = open_at(&pair.original, x, INFINITY);
    for (size_t l = 0; l < depth; l++) {
        ref_run_layer(run);
    }
    for (size_t i = 0; i < TOKENS; i++) {
        double own = run->radius->rho[i].bank[BANK_CONTENT];
        rho[i % 3] = i < 3 ? own : rho[i % 3];
        assert_true(isfinite(own) && own > 0 && own == rho[i % 3]);
    }
    ref_run_clear(run);
    case_clear(&pair);
}

static void rows_of_a_network_are_their_own(void **state)
{
    double rho[3], larger[3];
    network_radii(rho, 1, 1);
    network_radii(larger, 1, 0x1p20);
    for (size_t i = 0; i < 3; i++) {
        assert_true(larger[i] > 0x1p18 * rho[i]);
    }
    network_radii(rho, 2, 1);
    assert_true(rho[0] > 1.5 * rho[1] && rho[1] > 1.5 * rho[2]);
}

/* Of attention too: tokens that are alike see the same keys.  A bound of a row is a sum over TOKENS
 * keys, of each of which it takes fewer than 64 operations on doubles. */
static void rows_of_attention_are_their_own(void **state)
{
    double x[TOKENS * WIDTH], rho[3];
    CaseSpec spec = network(MASK_NONE);
    spec.construction = CONSTRUCTION_ATTENTION;
    spec.heads = 2;
    spec.d_head = 2;
    Pair pair = pair_make(&spec);
    for (size_t i = 0; i < TOKENS * WIDTH; i++) {
        x[i] = ldexp((double)(1 + i % WIDTH), -2 * (int)(i / WIDTH % 3));
    }
    RefRun *run = open_at(&pair.original, x, INFINITY);
    ref_run_layer(run);
    for (size_t i = 0; i < TOKENS; i++) {
        double own = run->radius->rho[i].bank[BANK_CONTENT];
        rho[i % 3] = i < 3 ? own : rho[i % 3];
        assert_true(isfinite(own) && own > 0 && fabs(own / rho[i % 3] - 1) < 64 * TOKENS * 0x1p-53);
    }
    assert_true(rho[1] > 1.2 * rho[0] && rho[2] > 1.2 * rho[1]);
    ref_run_clear(run);
    case_clear(&pair);
}

/* A head whose queries, keys and values are given, and known exactly; a row sees so many keys, up
 * to itself. */
enum { HEAD_WIDTH = 64 };

typedef struct {
    double query[TOKENS][HEAD_WIDTH], key[TOKENS][HEAD_WIDTH], value[TOKENS][HEAD_WIDTH];
    double score[TOKENS][TOKENS];
    int gap[TOKENS][TOKENS];
    double norm[3][TOKENS], square[3][TOKENS], zero[TOKENS];
} GivenHead;

static void set_side(double rows[][HEAD_WIDTH], double *norm, double *square, double scale,
                     uint64_t seed)
{
    for (size_t i = 0; i < TOKENS; i++) {
        square[i] = 0;
        for (size_t c = 0; c < HEAD_WIDTH; c++) {
            rows[i][c] = scale * draw_normal(seed, 0, 0, i, c);
            square[i] += rows[i][c] * rows[i][c];
        }
        norm[i] = sqrt(square[i]);
    }
}

static void set_given(GivenHead *given, double scale, size_t window)
{
    set_side(given->query, given->norm[0], given->square[0], scale, 1);
    set_side(given->key, given->norm[1], given->square[1], 1, 2);
    set_side(given->value, given->norm[2], given->square[2], 1, 3);
    for (size_t i = 0; i < TOKENS; i++) {
        given->zero[i] = 0;
        for (size_t j = 0; j < TOKENS; j++) {
            given->gap[i][j] = j <= i && j + window > i ? 0 : KEY_UNSEEN;
            given->score[i][j] = 0;
            for (size_t c = 0; c < HEAD_WIDTH; c++) {
                given->score[i][j] += given->query[i][c] * given->key[j][c];
            }
        }
    }
}

/* What the definitions make of row i: sum of p |v - y|, the same times |k|, |M|_F. */
static void defined_sums(const GivenHead *given, size_t first, size_t i, double *w, double *bound,
                         double *moment)
{
    double p[TOKENS], y[HEAD_WIDTH] = {0}, total = 0;
    static double m[HEAD_WIDTH][HEAD_WIDTH];
    for (size_t j = first; j <= i; j++) {
        p[j] = exp(given->score[i][j] - given->score[i][i]);
        total += p[j];
    }
    for (size_t j = first; j <= i; j++) {
        p[j] /= total;
        for (size_t a = 0; a < HEAD_WIDTH; a++) {
            y[a] += p[j] * given->value[j][a];
        }
    }
    memset(m, 0, sizeof m);
    *w = *bound = *moment = 0;
    for (size_t j = first; j <= i; j++) {
        double v2 = 0, k2 = 0;
        for (size_t a = 0; a < HEAD_WIDTH; a++) {
            v2 += (given->value[j][a] - y[a]) * (given->value[j][a] - y[a]);
            k2 += given->key[j][a] * given->key[j][a];
            for (size_t b = 0; b < HEAD_WIDTH; b++) {
                m[a][b] += p[j] * (given->value[j][a] - y[a]) * given->key[j][b];
            }
        }
        *w += p[j] * sqrt(v2);
        *bound += p[j] * sqrt(v2) * sqrt(k2);
    }
    for (size_t a = 0; a < HEAD_WIDTH * HEAD_WIDTH; a++) {
        *moment += m[a / HEAD_WIDTH][a % HEAD_WIDTH] * m[a / HEAD_WIDTH][a % HEAD_WIDTH];
    }
    *moment = sqrt(*moment);
}

static HeadAt head_of(GivenHead *given, Radius *r, const Point *at)
{
    return (HeadAt){.r = r,
                    .width_k = HEAD_WIDTH,
                    .width_v = HEAD_WIDTH,
                    .at = at,
                    .query = given->query[0],
                    .key = given->key[0],
                    .value = given->value[0],
                    .queries = {given->norm[0], given->zero, given->zero, given->square[0]},
                    .keys = {given->norm[1], given->zero, given->zero, given->square[1]},
                    .values = {given->norm[2], given->zero, given->zero, given->square[2]},
                    .score = given->score[0],
                    .gap = given->gap[0]};
}

/* Rows of a head in blocks are what the definitions make of each.  M is formed of up to 256 keys;
 * beyond that norms bound it. */
static void check_head(double scale, size_t window)
{
    static GivenHead given;
    Evaluator ev = {.omega = INFINITY};
    const Layout layout = {TOKENS, 1, 0, BIAS_ROW_NONE};
    const Point at = {.limit = true};
    Radius r = {.rows = TOKENS, .bits = 2000, .layout = &layout, .ev = &ev};
    HeadBlock block;
    double most = 0;
    set_given(&given, scale, window);
    const HeadAt head = head_of(&given, &r, &at);
    head_block_open(&block, &head);
    for (size_t b = 0; b < row_blocks(&r, HEAD_ROWS); b++) {
        RowRange rows = row_range(&r, HEAD_ROWS, b);
        head_block_set(&block, rows);
        for (size_t i = rows.first; i < rows.end; i++) {
            RowKeys row = head_block_row(&block, i);
            double w, bound, moment;
            size_t first = i < window ? 0 : i + 1 - window, seen = i + 1 - first;
            defined_sums(&given, first, i, &w, &bound, &moment);
            bool formed = seen * HEAD_WIDTH * HEAD_WIDTH <= 1 << 20;
            take(&most, fabs(row.sum->w - w) / (w + 0x1p-20));
            double expected = formed ? moment : bound;
            take(&most, fabs(row.sum->moment - expected) / (bound + 0x1p-20));
            assert_true(row.sum->moment >= moment * (1 - 0x1p-40));
            assert_true(row.sum->moment <= 2 * bound + 0x1p-40);
            assert_true(row.sum->w >= w * (1 - 0x1p-40));
            assert_int_equal(row.keys->seen, seen);
        }
    }
    print_message("scores of %g: off by %g\n", scale * sqrt(HEAD_WIDTH), most);
    assert_true(most < 0x1p-18);
    head_block_clear(&block);
}

static void blocks_of_attention_are_its_rows(void **state)
{
    check_head(0.125, TOKENS);
    check_head(1, TOKENS);
    check_head(0.25, 40);
}

/* (3, 4) has a norm of 5, and times a power of two, whether its squares are in range or not. */
static void norms_of_rows_of_any_size(void **state)
{
    static const int exponents[] = {0, 30, -30, 395, -395, 420, -420, -560, -690, 700, 1000};
    const Radius r = {.columns = 2, .bank = 2};
    ApMat x;
    ap_init(&x, 1, 2, 64);
    for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
        mpfr_set_si_2exp(ap_at(&x, 0, 0), -3, exponents[k], MPFR_RNDN);
        mpfr_set_si_2exp(ap_at(&x, 0, 1), 4, exponents[k], MPFR_RNDN);
        double norm = radius_bank_norm(&r, &x, 0, BANK_CONTENT, 0);
        assert_true(fabs(norm / ldexp(5, exponents[k]) - 1) < 0x1p-50);
        norm = radius_bank_norm(&r, &x, 0, BANK_CONTENT, exponents[k]);
        assert_true(fabs(norm / 5 - 1) < 0x1p-50);
        assert_true(radius_bank_norm(&r, &x, 0, BANK_HIDDEN, 0) == 0);
    }
    ap_clear(&x);
}

/* Vectors that differ by 2^-near of their entries' sizes, which are 2^scale. */
enum { VECTORS = 40, MOST_WIDTH = 257 };

typedef struct {
    double v[VECTORS][MOST_WIDTH], y[MOST_WIDTH];
    double product[VECTORS], square[VECTORS];
} Vectors;

static void set_vectors(Vectors *of, size_t width, int near, int scale)
{
    for (size_t c = 0; c < width; c++) {
        of->y[c] = ldexp(draw_normal(1, width, (size_t)near + 2, VECTORS, c), scale);
    }
    for (size_t j = 0; j < VECTORS; j++) {
        of->product[j] = 0;
        for (size_t c = 0; c < width; c++) {
            of->v[j][c] =
                of->y[c] + ldexp(draw_normal(1, width, (size_t)near + 2, j, c), scale - near);
            of->product[j] += of->v[j][c] * of->y[c];
        }
        of->square[j] = vectors()->dot(of->v[j], of->v[j], width);
    }
}

/* |v_j - y|, and its square over |v_j|^2 + |y|^2, with so many bits that both are exact here. */
static double exact_distance(const Vectors *of, size_t j, size_t width, double *share)
{
    mpfr_t apart, part, both;
    mpfr_inits2(2500, apart, part, both, (mpfr_ptr)0);
    mpfr_set_zero(apart, 1);
    mpfr_set_zero(both, 1);
    for (size_t c = 0; c < width; c++) {
        mpfr_set_d(part, of->v[j][c], MPFR_RNDN);
        mpfr_sub_d(part, part, of->y[c], MPFR_RNDN);
        mpfr_fma(apart, part, part, apart, MPFR_RNDN);
        mpfr_set_d(part, of->v[j][c], MPFR_RNDN);
        mpfr_fma(both, part, part, both, MPFR_RNDN);
        mpfr_set_d(part, of->y[c], MPFR_RNDN);
        mpfr_fma(both, part, part, both, MPFR_RNDN);
    }
    mpfr_div(both, apart, both, MPFR_RNDN);
    *share = mpfr_get_d(both, MPFR_RNDN);
    mpfr_sqrt(apart, apart, MPFR_RNDN);
    double distance = mpfr_get_d(apart, MPFR_RNDD);
    mpfr_clears(apart, part, both, (mpfr_ptr)0);
    return distance;
}

/* Distances by way of products are bounds, and tight; of vectors too near each other for that they
 * say so.  Squares that underflow count. */
static void check_distances(size_t width, int near, int scale)
{
    Vectors of;
    double nearest = INFINITY;
    set_vectors(&of, width, near, scale);
    bool far = vectors()->distances(of.product, of.square, vectors()->dot(of.y, of.y, width), width,
                                    VECTORS);
    for (size_t j = 0; j < VECTORS; j++) {
        double share, exact = exact_distance(&of, j, width, &share);
        nearest = fmin(nearest, share);
        assert_true(of.product[j] >= exact);
        assert_true(!far || scale < -400 || of.product[j] <= exact * (1 + 0x1p-20));
        /* Entries' differences, their squares and their sum are rounded. */
        double apart = vectors()->distance(of.v[j], of.y, width);
        assert_true(apart >= exact * (1 - (double)(width + 4) * 0x1p-52));
        assert_true(scale < -400 || apart <= exact * (1 + (double)(width + 4) * 0x1p-52));
    }
    assert_true(scale < -400 || (far ? nearest > 0x1p-21 : nearest < 0x1p-19));
}

static void distances_are_bounds(void **state)
{
    static const size_t widths[] = {1, 3, 8, 64, 257};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (int near = -2; near < 30; near++) {
            check_distances(widths[w], near, 0);
        }
        check_distances(widths[w], 0, -560);
    }
}

/* e^(-2 Omega) is known to a rounding, since gates subtract what is made of it. */
static void decays_are_known_to_a_rounding(void **state)
{
    const CaseSpec spec = network(MASK_NONE);
    Pair pair = pair_make(&spec);
    RefRun *run = open_at(&pair.converted, pair.converted_x, 0.3);
    ref_run_layer(run);
    for (int gap = 1; gap <= OMEGA_MAX_GAP; gap++) {
        double exact = exp(-0.3 * gap), decay = run->radius->decay[gap];
        assert_true(decay >= exact * (1 - 0x1p-51) && decay <= exact * (1 + 0x1p-50));
    }
    ref_run_clear(run);
    case_clear(&pair);
}

/* e^-9e17 is nothing, but beside an e of 2^-4.2e18 it is what an e of 1 is beside 1. */
static void a_leak_is_in_units_of_e(void **state)
{
    const double omega = 1e18, z = -9e17, log2_e = 1.4426950408889634;
    const CaseSpec spec = network(MASK_NONE);
    Pair pair = pair_make(&spec);
    RefRun *run =
        ref_difference_open(&(Start){&pair.converted, pair.converted_x, NULL, omega}, BITS, NULL);
    ref_run_certify(run);
    mpfr_exp_t power = (mpfr_exp_t)((z - 2 * omega) * log2_e);
    for (int below = -100; below <= 100; below += 100) {
        run->radius->unit = power + (1 << 20) * below;
        double leak = bound_leak(run->radius, 2, z);
        assert_true(below > 0 ? leak < 0x1p-599 : below < 0 ? leak == INFINITY : leak >= 0x1p-599);
    }
    run->radius->unit = power - 1024; /* a double holds the exponent to 2^9 */
    assert_true(bound_leak(run->radius, 2, z) > 1);
    run->radius->unit = power + 4096;
    assert_true(bound_leak(run->radius, 2, z) < 1);
    ref_run_clear(run);
    case_clear(&pair);
}

SUBJECT(radius_rows)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_rows_are_rows),
        cmocka_unit_test(rows_of_a_network_are_their_own),
        cmocka_unit_test(rows_of_attention_are_their_own),
        cmocka_unit_test(blocks_of_attention_are_its_rows),
        cmocka_unit_test(norms_of_rows_of_any_size),
        cmocka_unit_test(distances_are_bounds),
        cmocka_unit_test(decays_are_known_to_a_rounding),
        cmocka_unit_test(a_leak_is_in_units_of_e),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
