/*
 * Bounds for every input: the parts that they are made of against MPFR and closed forms, all of
 * them against an independent program (tests/oracle_guarantee.py), and against inputs that are
 * searched for the largest error.
 */
#include <stdio.h> /* before mpfr.h */

#include "../../cases/storage.h"
#include "../../reference/guarantee/guarantee.h"
#include "../../reference/guarantee/input.h"
#include "../../reference/guarantee/matrix.h"
#include "../drawn_stack.h"
#include "../fixture.h"
#include "../oracle.h"
#include "../program.h"
#include "../recorded.h"
#include "../unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Magnitudes ----------------------------------------------------------------------------- */

/* x = a, exactly. */
static void exact(mpfr_t x, Magnitude a)
{
    mpfr_init2(x, 4096);
    mpfr_set_d(x, a.digits, MPFR_RNDN);
    mpfr_mul_2si(x, x, a.exponent, MPFR_RNDN);
}

/* At least x, and at most 2^-50 of it more. */
static void assert_above(Magnitude bound, mpfr_t x)
{
    mpfr_t b, most;
    exact(b, bound);
    mpfr_init2(most, 4096);
    mpfr_set_d(most, 1 + 0x1p-50, MPFR_RNDN);
    mpfr_mul(most, most, x, MPFR_RNDU);
    assert_true(mpfr_cmp(b, x) >= 0 && mpfr_cmp(b, most) <= 0);
    mpfr_clear(b);
    mpfr_clear(most);
}

static Magnitude random_magnitude(void)
{
    static const long exponents[] = {0, 1, -1, 60, -64, 2000, -5000, 1L << 40};
    double digits = drawn_below(8) == 0 ? 0.5 : 0.75 + drawn_uniform() / 4;
    return magnitude_of(digits, exponents[drawn_below(8)] + (long)drawn_below(5));
}

static void magnitudes_are_rounded_up(void **state)
{
    for (int i = 0; i < 4000; i++) {
        Magnitude a = random_magnitude(), b = random_magnitude();
        mpfr_t x, y, z;
        exact(x, a);
        exact(y, b);
        mpfr_init2(z, 4096);
        mpfr_mul(z, x, y, MPFR_RNDN);
        assert_above(magnitude_product(a, b), z);
        if (labs(a.exponent - b.exponent) < 3000) {
            mpfr_add(z, x, y, MPFR_RNDN);
            assert_above(magnitude_sum(a, b), z);
        }
        mpfr_sqrt(z, x, MPFR_RNDN);
        assert_above(magnitude_root(a), z);
        assert_int_equal(magnitude_above(a, b), mpfr_cmp(x, y) > 0);
        mpfr_clear(x);
        mpfr_clear(y);
        mpfr_clear(z);
    }
}

static void exponentials_are_rounded_up(void **state)
{
    static const double omegas[] = {0.25, 8, 372.7, 1000, 1e6, 1e17};
    for (int i = 0; i < 600; i++) {
        double omega = omegas[i % 6] * (1 + drawn_uniform() / 3), raised = 50 * drawn_uniform();
        mpfr_t x;
        mpfr_init2(x, 4096);
        mpfr_set_d(x, omega, MPFR_RNDN);
        mpfr_mul_si(x, x, -2, MPFR_RNDN);
        mpfr_add_d(x, x, raised, MPFR_RNDN);
        mpfr_exp(x, x, MPFR_RNDN);
        assert_above(magnitude_exp(raised, omega), x);
        mpfr_clear(x);
    }
    assert_true(magnitude_exp(INFINITY, 5).digits == INFINITY);
    assert_true(magnitude_exp(0, DBL_MAX).digits > 0);
}

static void magnitudes_are_printed_rounded_up(void **state)
{
    static const struct {
        double x;
        long exponent;
        const char *text, *log10;
    } known[] = {{1, 0, "1", "0"},
                 {1.0 / 3, 0, "0.334", "-0.477"},
                 {1, -2883, "1.36e-868", "-867"},
                 {0, 0, "0", ""},
                 {INFINITY, 0, "inf", "inf"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[MAGNITUDE_TEXT], log10[MAGNITUDE_TEXT];
        magnitude_print(text, magnitude_of(known[i].x, known[i].exponent), 3);
        magnitude_print_log10(log10, magnitude_of(known[i].x, known[i].exponent), 3);
        assert_string_equal(text, known[i].text);
        assert_string_equal(log10, known[i].log10);
    }
}

/* ---- Matrices ------------------------------------------------------------------------------- */

static Matrix taken(const double *entries, size_t rows, size_t columns)
{
    Matrix m;
    matrix_take(&m, (Doubles){entries, rows, columns, columns, 1});
    return m;
}

/* The bound of a norm that is known, and at most `above` of it more. */
static void assert_norm(const Matrix *m, double norm, double above)
{
    double bound = magnitude_double(matrix_norm(m));
    if (!(bound >= norm && bound <= norm * (1 + above))) {
        print_message("norm %.17g of %zu x %zu: %.17g\n", norm, m->rows, m->columns, bound);
    }
    assert_true(bound >= norm && bound <= norm * (1 + above));
}

/* Diagonals whose largest entries lie close together, so that no power of the matrix tells them
 * apart, and products u v^T, at sizes that doubles hardly hold. */
static void norms_are_bounds(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 7, 64, 65, 130, 200};
    static const double scales[] = {1, 1e-300, 1e300, 3e-5};
    for (size_t s = 0; s < 32; s++) {
        size_t n = sizes[s % 8];
        double scale = scales[s / 8], *w = calloc(n * n, sizeof *w), u2 = 0, v2 = 0;
        assert_non_null(w);
        for (size_t i = 0; i < n; i++) {
            w[i * n + (i * 7 + 3) % n] = n % 7 == 0 && n > 1 ? 0 : scale * (1 - 1e-6 * (double)i);
            w[i * n + i] = n % 7 == 0 && n > 1 ? scale * (1 - 1e-6 * (double)i) : w[i * n + i];
        }
        Matrix m = taken(w, n, n);
        assert_norm(&m, scale, n > 96 ? 1e-4 : 1e-7);
        matrix_clear(&m);
        for (size_t i = 0; i < n; i++) {
            double u = 1 + (double)(i % 5), v = (double)((i * 3) % 7) - 3;
            u2 += u * u;
            v2 += v * v;
            for (size_t c = 0; c < n; c++) {
                w[i * n + c] = u * ((double)((c * 3) % 7) - 3);
            }
        }
        m = taken(w, n, n);
        assert_norm(&m, sqrt(u2 * v2) * (1 - 4e-16), n > 96 ? 1e-4 : 1e-7);
        matrix_clear(&m);
        free(w);
    }
}

/* A vector's norm is not below its value: nearest would be, half the time. */
static void norms_of_vectors_are_not_below(void **state)
{
    for (int i = 0; i < 400; i++) {
        double v[17];
        size_t n = 1 + drawn_below(17);
        mpfr_t sum, square;
        mpfr_init2(sum, 400);
        mpfr_init2(square, 400);
        mpfr_set_ui(sum, 0, MPFR_RNDN);
        for (size_t c = 0; c < n; c++) {
            v[c] = drawn_uniform();
            mpfr_set_d(square, v[c], MPFR_RNDN);
            mpfr_sqr(square, square, MPFR_RNDN);
            mpfr_add(sum, sum, square, MPFR_RNDN);
        }
        mpfr_sqrt(sum, sum, MPFR_RNDN);
        Matrix m = taken(v, 1, n);
        mpfr_t bound;
        exact(bound, matrix_norm(&m));
        assert_true(mpfr_cmp(bound, sum) >= 0);
        mpfr_mul_d(sum, sum, 1 + 1e-13, MPFR_RNDN);
        assert_true(mpfr_cmp(bound, sum) <= 0);
        matrix_clear(&m);
        mpfr_clear(sum);
        mpfr_clear(square);
        mpfr_clear(bound);
    }
}

/* 1 and many entries whose squares are lost beside it, one by one: together they are not. */
static void what_sums_lose_is_in_norms(void **state)
{
    enum { COUNT = 1 << 17 };
    double *v = calloc(COUNT, sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < COUNT; i++) {
        v[i] = i == 0 ? 1 : 0x1p-27;
    }
    Matrix m = taken(v, 1, COUNT);
    double bound = magnitude_double(matrix_norm(&m)), norm = 1 + (COUNT - 1) * 0x1p-55;
    assert_true(bound >= norm && bound <= norm * (1 + 1e-9));
    matrix_clear(&m);
    free(v);
}

/* An eigenvector that the guess cannot see, as it is orthogonal to where that begins: its matrix
 * has 1 along (b, -1) and 1/10 along (1, b), b = 142/101. */
static void what_is_guessed_is_proven(void **state)
{
    const double b = 142.0 / 101, squares = 1 + b * b,
                 w[] = {(b * b + 0.1) / squares, -0.9 * b / squares, -0.9 * b / squares,
                        (1 + 0.1 * b * b) / squares};
    Matrix m = taken(w, 2, 2);
    double bound = magnitude_double(matrix_norm(&m));
    assert_true(bound >= 1 - 1e-15 && bound <= 1.01);
    matrix_clear(&m);
}

/* The largest number in (entry +- off) 2^exponent, where doubles end. */
static void entries_are_not_below(void **state)
{
    static const struct {
        double entry, off;
        long exponent;
        double least, most;
    } rows[] = {
        {0.75, 0, 4, 12, 12.01},
        {-0.75, 0, 4, -12, -11.99},
        {-0.75, 0.25, 4, -8, -7.99},
        {0, 0, 3000, 0, 0},
        {0.75, 0, 1025, INFINITY, INFINITY},
        {0, 0x1p-900, 3000, INFINITY, INFINITY},
        {0.75, 0, -3000, 0x1p-1074, 0x1p-999},
        {-0.75, 0, 1500, -DBL_MAX, 0},
        {-0.75, 0, 3000, -DBL_MAX, 0},
        {-0.75, 0, -3000, 0, 0x1p-999},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double entry = rows[i].entry;
        const Matrix m = {&entry, 1, 1, rows[i].exponent, rows[i].off};
        double bound = matrix_entry_above(&m);
        assert_true(bound >= rows[i].least && bound <= rows[i].most);
    }
}

/* A matrix with the eigenvalues 1 - i/8 in a basis of reflections: I - 2 u u^T / |u|^2. */
static void negative_parts_are_bounds(void **state)
{
    for (size_t n = 2; n < 120; n += 13) {
        double *w = calloc(n * n, sizeof *w), least = 1 - (double)(n - 1) / 8, u2 = 0;
        assert_non_null(w);
        for (size_t i = 0; i < n; i++) {
            u2 += (double)((i + 1) * (i + 1));
        }
        for (size_t r = 0; r < n; r++) {
            for (size_t c = 0; c < n; c++) {
                double sum = 0;
                for (size_t k = 0; k < n; k++) {
                    double rk = (double)(r == k) - 2 * (double)((r + 1) * (k + 1)) / u2,
                           ck = (double)(c == k) - 2 * (double)((c + 1) * (k + 1)) / u2;
                    sum += rk * ck * (1 - (double)k / 8);
                }
                w[r * n + c] = sum + (double)((int)(r > c) - (int)(r < c)); /* which cancels */
            }
        }
        Matrix m = taken(w, n, n);
        double bound = magnitude_double(matrix_negative_part(&m)), part = fmax(0, -least);
        if (!(bound >= part * (1 - 1e-12) && bound <= part * (1 + 1e-4) + 1e-9 * (double)n)) {
            print_message("%zu: %.17g for %.17g\n", n, bound, part);
        }
        assert_true(bound >= part * (1 - 1e-12) && bound <= part * (1 + 1e-4) + 1e-9 * (double)n);
        matrix_clear(&m);
        free(w);
    }
}

/* What is off stays within off: 1/3 + 1/3 ... by products and sums, against fractions. */
static void what_is_off_is_counted(void **state)
{
    const double a[] = {1.0 / 3, -1.0 / 7, 1e-9, 3}, eye[] = {1, 0, 0, 1};
    Matrix m = taken(a, 2, 2), i = taken(eye, 2, 2), p = {0}, d = taken(a, 2, 2);
    assert_true(m.off <= 0x1p-800 && !matrix_is_zero(&m));
    matrix_product(&p, &m, &m, false);
    assert_true(p.off > 0 && p.off < 1e-13);
    matrix_add(&d, &m, -1);
    double nothing = magnitude_double(matrix_norm(&d));
    assert_true(nothing > 0 && nothing < 1e-14);
    matrix_add_diagonal(&i, -1);
    assert_true(magnitude_double(matrix_norm(&i)) < 1e-14);
    d.entry[0] = 0.5;
    d.off = 0.25;
    d.exponent = 2;
    assert_true(magnitude_double(matrix_norm(&d)) >= 4 * (0.5 + 0.25));
    const double broken[] = {1, NAN, 2, INFINITY};
    Matrix lost = taken(broken, 2, 2);
    assert_true(magnitude_double(matrix_norm(&lost)) == INFINITY);
    matrix_clear(&m);
    matrix_clear(&i);
    matrix_clear(&p);
    matrix_clear(&d);
    matrix_clear(&lost);
}

/* ---- Rows of X ------------------------------------------------------------------------------ */

/* Those of a model in bf16, or another format, are rounded as cases/ does it. */
static void rows_are_as_they_are_stored(void **state)
{
    enum { COUNT = 64 };
    static const int formats[][2] = {{8, -125}, {11, -13}, {24, -125}};
    double entries[2 * COUNT];
    for (size_t f = 0; f < 3; f++) {
        int digits = formats[f][0], least = formats[f][1];
        for (size_t i = 0; i < COUNT; i++) {
            int exponent = (int)drawn_below(24) - 12 + (i % 4 == 0 ? least : 0);
            entries[i] = ldexp(i % 5 == 0 ? 1 + ldexp(3, -digits - 1) : drawn_uniform(), exponent);
            entries[COUNT + i] = i % 3 == 0 ? drawn_uniform() * entries[i] : 0;
        }
        const GuaranteeInputs inputs = {entries, entries + COUNT, 1, 1, COUNT, digits, least};
        Matrix rows;
        Magnitude bound;
        mpfr_t squares, square, most;
        mpfr_inits2(4096, squares, square, (mpfr_ptr)0);
        mpfr_set_ui(squares, 0, MPFR_RNDN);
        inputs_read(&rows, &inputs, &(LayerNorm){.kind = NORMALIZATION_NONE});
        for (size_t i = 0; i < COUNT; i++) {
            double x = storage_nearest(entries[i] + entries[COUNT + i], digits, least);
            assert_true(ldexp(rows.entry[i], (int)rows.exponent) == x);
            mpfr_set_d(square, x, MPFR_RNDN);
            mpfr_sqr(square, square, MPFR_RNDN);
            mpfr_add(squares, squares, square, MPFR_RNDN);
        }
        guarantee_input_norm(&bound, &inputs);
        mpfr_sqrt(squares, squares, MPFR_RNDU);
        exact(most, bound);
        assert_true(mpfr_cmp(most, squares) >= 0);
        mpfr_clears(squares, square, most, (mpfr_ptr)0);
        matrix_clear(&rows);
    }
}

/* ---- Rows that a norm reads ------------------------------------------------------------------ */

enum { SPREAD_D = 3, SPREAD_ROWS = 3 };

/* Of an x and a mean of values with weights that add up to 1, less their mean where P takes it. */
static double length_of(const double *x, const double *values, const double *weights, bool centred)
{
    double sum = 0, squares = 0, row[SPREAD_D];
    for (size_t c = 0; c < SPREAD_D; c++) {
        row[c] = x[c];
        for (size_t r = 0; r < SPREAD_ROWS; r++) {
            row[c] += weights[r] * values[r * SPREAD_D + c];
        }
        sum += row[c] / SPREAD_D;
    }
    for (size_t c = 0; c < SPREAD_D; c++) {
        row[c] -= centred ? sum : 0;
        squares += row[c] * row[c];
    }
    return sqrt(squares);
}

/* The shortest, by a grid over all weights. */
static double shortest(const double *x, const double *values, bool centred)
{
    enum { GRID = 60 };
    double least = INFINITY;
    for (int a = 0; a <= GRID; a++) {
        for (int b = 0; a + b <= GRID; b++) {
            const double weights[] = {(double)a / GRID, (double)b / GRID,
                                      (double)(GRID - a - b) / GRID};
            for (size_t r = 0; r < SPREAD_ROWS; r++) {
                least = fmin(least, length_of(x + r * SPREAD_D, values, weights, centred));
            }
        }
    }
    return least;
}

/* Rows of X at random, and one head on them: W_V = V, W_O = I, and a bias. */
typedef struct {
    double x[SPREAD_ROWS * SPREAD_D], v[SPREAD_D * SPREAD_D], bias[SPREAD_D];
    double moved[SPREAD_ROWS * SPREAD_D], values[SPREAD_ROWS * SPREAD_D]; /* x + bias, x V */
} OneHead;

static void draw_head(OneHead *head)
{
    for (size_t c = 0; c < SPREAD_ROWS * SPREAD_D; c++) {
        head->x[c] = drawn_uniform();
        head->v[c] = drawn_uniform() / 2;
    }
    for (size_t c = 0; c < SPREAD_D; c++) {
        head->bias[c] = 2 * drawn_uniform();
    }
    for (size_t c = 0; c < SPREAD_ROWS * SPREAD_D; c++) {
        size_t r = c / SPREAD_D, column = c % SPREAD_D;
        head->moved[c] = head->x[c] + head->bias[column];
        head->values[c] = 0;
        for (size_t k = 0; k < SPREAD_D; k++) {
            head->values[c] += head->x[r * SPREAD_D + k] * head->v[k * SPREAD_D + column];
        }
    }
}

static double spread_of(const OneHead *head, const LayerNorm *norm)
{
    const double eye[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    Bundle bundle = {.heads = 1,
                     .value = {.read = {0, SPREAD_D},
                               .write = {0, SPREAD_D},
                               .d_head = SPREAD_D,
                               .v = {head->v, SPREAD_D, SPREAD_D * SPREAD_D},
                               .o = {eye, SPREAD_D, SPREAD_D * SPREAD_D},
                               .scale = 1,
                               .bias = head->bias}};
    const Sublayer attention = {.bundles = &bundle, .bundle_count = 1};
    const GuaranteeInputs inputs = {head->x, NULL, SPREAD_ROWS, 1, SPREAD_D, 0, 0};
    double least;
    Matrix rows = taken(head->x, SPREAD_ROWS, SPREAD_D);
    assert_true(spread_is_known(&inputs, &attention));
    spread_least(&least, &inputs, &rows, &attention, norm);
    matrix_clear(&rows);
    return least;
}

/* Never more than the shortest row, and most of it. */
static void spreads_are_bounds(void **state)
{
    int known = 0;
    for (int i = 0; i < 60; i++) {
        bool centred = i % 2 == 0;
        const LayerNorm norm = {.kind = centred ? NORMALIZATION_LAYERNORM : NORMALIZATION_RMSNORM};
        OneHead head;
        draw_head(&head);
        double least = spread_of(&head, &norm), most = shortest(head.moved, head.values, centred);
        assert_true(least >= 0 && least <= most);
        assert_true(least > 0.6 * most || most < 0.1);
        known += least > 0.1;
    }
    assert_true(known > 20);
}

/* ---- Searched inputs ------------------------------------------------------------------------ */

/* The 2-norm of a row of the difference, less than 1e-15 of it off. */
static Magnitude row_norm(const RefRun *run, size_t row, Columns columns)
{
    mpfr_t squares, square;
    mpfr_init2(squares, 128);
    mpfr_init2(square, 128);
    mpfr_set_ui(squares, 0, MPFR_RNDN);
    for (size_t c = 0; c < columns.count; c++) {
        mpfr_sqr(square, ref_run_difference(run, row, columns.first + c), MPFR_RNDN);
        mpfr_add(squares, squares, square, MPFR_RNDN);
    }
    mpfr_sqrt(squares, squares, MPFR_RNDN);
    long exponent;
    double digits = mpfr_get_d_2exp(&exponent, squares, MPFR_RNDN);
    assert_true(mpfr_number_p(squares));
    mpfr_clear(squares);
    mpfr_clear(square);
    return magnitude_of(digits * (1 - 1e-13), exponent);
}

/* log2 of a / b; -INFINITY where a is 0. */
static double ratio(Magnitude a, Magnitude b)
{
    return a.digits == 0   ? -INFINITY
           : b.digits == 0 ? INFINITY
                           : log2(a.digits / b.digits) + (double)(a.exponent - b.exponent);
}

/* An input at an Omega, and its bounds after each layer. */
typedef struct {
    Allowed allowed;
    double omega;
    const GuaranteeLayer *bounds;
} Attack;

/* The largest error over its bound, of tokens and of the bias row after any layer. */
static double above_bounds(void *search)
{
    enum { BITS = 96 };
    const Attack *attack = search;
    const Pair *pair = attack->allowed.pair;
    const Layout *layout = &pair->converted.layout;
    RefRun *run = ref_difference_open(
        &(Start){&pair->converted, attack->allowed.x, NULL, attack->omega}, BITS, NULL);
    assert_non_null(run);
    double worst = -INFINITY;
    for (size_t l = 0; l < pair->converted.depth; l++) {
        Columns compared = pair->compared[l];
        ref_run_layer(run);
        for (size_t i = 0; i < layout->n; i++) {
            Magnitude e = row_norm(run, layout_token_row(layout, i), compared);
            worst = fmax(worst, ratio(e, attack->bounds[l].error));
        }
        Magnitude b = row_norm(run, layout_bias_row(layout), compared);
        worst = fmax(worst, ratio(b, attack->bounds[l].bias_row));
    }
    ref_run_clear(run);
    return worst;
}

static Guarantee *open_guarantee(const Allowed *allowed)
{
    GuaranteeOf of = {.pair = allowed->pair,
                      .input_norm = magnitude_of(allowed->R, 0),
                      .inputs = allowed->tokens};
    if (allowed->tokens != NULL) {
        guarantee_input_norm(&of.input_norm, allowed->tokens);
    }
    Guarantee *guarantee = guarantee_open(&of);
    assert_non_null(guarantee);
    return guarantee;
}

/* Random models, inputs and Omegas: no error is above its bound, and some come near. */
static void no_input_beats_a_bound(void **state)
{
    bool nightly = fixture_nightly();
    int models = nightly ? 200 : SMALL_GRIDS ? 4 : 8, tries = nightly ? 100 : 12;
    double worst = -INFINITY;
    for (int m = 0; m < models; m++) {
        static const double omegas[] = {0.3, 1, 2.5, 5, 12};
        Drawn stack;
        drawn_make(&stack);
        size_t d = stack.spec.d, vocabulary = 2 + drawn_below(5);
        const GuaranteeInputs tokens = {
            drawn_weights(&stack, vocabulary * d, 1, 0), NULL, vocabulary, stack.spec.n, d, 0, 0};
        const Allowed allowed = {.pair = &stack.pair,
                                 .R = drawn_below(2) == 0 ? 0.6 : 2,
                                 .tokens = m % 3 == 0 ? &tokens : NULL};
        Guarantee *guarantee = open_guarantee(&allowed);
        for (size_t o = 0; o < 5; o++) {
            GuaranteeLayer layers[3];
            (void)guarantee_at(guarantee, omegas[o], layers);
            double found =
                allowed_climb(&(Attack){allowed, omegas[o], layers}, above_bounds, tries);
            if (found > 0) {
                print_message("model %d (%s), omega %g: %.17g\n", m,
                              construction_names[stack.spec.construction], omegas[o], found);
            }
            assert_true(found <= 0);
            worst = fmax(worst, found);
        }
        guarantee_clear(guarantee);
        drawn_clear(&stack);
    }
    print_message("%d inputs of %d models: the nearest is at %.3g of its bound\n",
                  models * 5 * tries, models, exp2(worst));
    assert_true(worst > -2);
}

/* Of the same kind of models, and of each of their layers. */
static void bounds_are_those_recorded(void **state)
{
    double sum = 0;
    drawn_numbers = 1;
    for (int m = 0; m < 150; m++) {
        Drawn stack;
        drawn_make(&stack);
        Guarantee *guarantee = open_guarantee(&(Allowed){.pair = &stack.pair, .R = 1.5});
        for (double omega = 0.3; omega < 300; omega *= 5) {
            GuaranteeLayer layers[3];
            Magnitude judged = guarantee_at(guarantee, omega, layers);
            for (size_t l = 0; l < stack.spec.depth; l++) {
                const GuaranteeLayer *of = &layers[l];
                const Magnitude all[] = {of->rows,     of->scores, of->gain,  of->leak,
                                         of->bias_row, of->error,  of->apart, judged};
                for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
                    sum += all[i].digits == 0 ? 0 : ratio(all[i], magnitude_of(1, 0));
                }
            }
        }
        guarantee_clear(guarantee);
        drawn_clear(&stack);
    }
    assert_recorded("bounds for every input", sum);
}

/* All falls as Omega grows, and the Omega that is found meets its tolerance, and hardly less. */
static void bounds_fall_with_omega(void **state)
{
    int models = fixture_nightly() ? 12 : 4;
    for (int m = 0; m < models; m++) {
        Drawn stack;
        drawn_make(&stack);
        Guarantee *guarantee = open_guarantee(&(Allowed){.pair = &stack.pair, .R = 1.5});
        Magnitude before = {INFINITY, 0};
        for (double omega = 0.01; omega < 2000; omega *= 1.3) {
            Magnitude now = guarantee_at(guarantee, omega, NULL);
            assert_true(ratio(now, before) < 1e-10);
            before = now;
        }
        double omega = guarantee_omega(guarantee, 1e-9, 1);
        Magnitude allowed = magnitude_of(1e-9, 0);
        assert_false(magnitude_above(guarantee_at(guarantee, omega, NULL), allowed));
        if (omega > 1e-3) { /* else a token alone is exact at any Omega */
            Magnitude less = guarantee_at(guarantee, omega * (1 - 2e-5), NULL);
            double shrunk = guarantee_omega(guarantee, 1e-9, 0.5);
            assert_true(magnitude_above(less, allowed));
            assert_true(fabs(shrunk / (2 * omega) - 1) < 3e-5);
        }
        guarantee_clear(guarantee);
        drawn_clear(&stack);
    }
}

/* ---- The independent program, and the command ----------------------------------------------- */

/* At night by intervals, where this machine has mpmath. */
static void an_oracle_agrees(void **state)
{
    Scratch *scratch = *state;
    bool nightly = fixture_nightly();
    const char *exact = nightly ? oracle_python("numpy, mpmath") : NULL,
               *python = exact != NULL ? exact : oracle_needed("numpy");
    char asked[4 * SCRATCH_PATH];
    print_message("by %s\n", exact != NULL ? "intervals" : "floats");
    snprintf(asked, sizeof asked, "tests/oracle_guarantee.py %s %s %d %s", program(),
             scratch->directory,
             nightly       ? 300
             : SMALL_GRIDS ? 5
                           : 20,
             exact != NULL ? "" : "floats");
    oracle_agree(python, asked, "oracle_guarantee.py");
}

#define MODADD "guarantee cases/models/modadd53-silu.safetensors --format csv "
#define CHARGPT "guarantee cases/models/chargpt --gelu minimax --format csv "

/* Scores are attention's: a gate's are no concern of Omega's. */
static void scores_are_those_of_attention(void **state)
{
    static const char sizes[] = "--n 3 --d 4 --seed 3 --omega 40 --arithmetic none";
    char scores[64];
    (void)state;
    Output none = expect_run(0, "guarantee --construction fused %s --input-norm 9", sizes),
           bound = expect_run(0, "guarantee --construction transformer %s --input-norm 9", sizes),
           found = expect_run(0, "sweep --construction transformer %s", sizes);
    cell(scores, sizeof scores, &none, 1, "scores");
    assert_string_equal(scores, "");
    assert_true(number(&found, 1, "score_max") > 0);
    assert_true(number(&bound, 1, "scores") >= number(&found, 1, "score_max"));
}

static void verdicts_have_exit_codes(void **state)
{
    Output output = expect_run(1, MODADD "--tolerance 1e-9 --omega 15,30");
    assert_int_equal(lines(&output), 3);
    expect_cell(&output, 1, "status", "fail");
    expect_cell(&output, 2, "status", "ok");
    output = expect_run(0, MODADD "--omega 15");
    /* X of silu is what --score-scale is on: rows of 1 are rows of 30. */
    output = expect_run(0, "guarantee --construction silu --n 2 --d 1 --score-scale 30 --omega 5 "
                           "--input-norm 1 --format csv");
    expect_cell(&output, 1, "input_norm", "30.0000001");
    /* Scores beyond what any Omega is. */
    output = run("guarantee --construction attention --n 4 --d 3 --d-head 2 --score-scale 1e300 "
                 "--input-norm 1e100 --tolerance 1e-9 --format csv 2>&1");
    expect_says(&output, 1, "no Omega up to the largest double is proven to keep");
    assert_non_null(strstr(output.text, "sublayer 1, attention"));
    assert_non_null(strstr(output.text, ",none\n"));
}

SUBJECT(guarantee)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(magnitudes_are_rounded_up),
        cmocka_unit_test(exponentials_are_rounded_up),
        cmocka_unit_test(magnitudes_are_printed_rounded_up),
        cmocka_unit_test(norms_are_bounds),
        cmocka_unit_test(norms_of_vectors_are_not_below),
        cmocka_unit_test(what_sums_lose_is_in_norms),
        cmocka_unit_test(what_is_guessed_is_proven),
        cmocka_unit_test(entries_are_not_below),
        cmocka_unit_test(negative_parts_are_bounds),
        cmocka_unit_test(what_is_off_is_counted),
        cmocka_unit_test(rows_are_as_they_are_stored),
        cmocka_unit_test(spreads_are_bounds),
        cmocka_unit_test(no_input_beats_a_bound),
        cmocka_unit_test(bounds_are_those_recorded),
        cmocka_unit_test(bounds_fall_with_omega),
        SCRATCH_TEST(an_oracle_agrees),
        cmocka_unit_test(scores_are_those_of_attention),
        cmocka_unit_test(verdicts_have_exit_codes),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
