/*
 * Norms that radii multiply by (docs/certify.md): of matrices, and of a row's derivative; each is a
 * bound, and hardly more than what is known.
 */
#include "../../reference/product/gemm.h"
#include "../../reference/radius/internal.h"
#include "../../reference/radius/norm.h"
#include "../drawn_numbers.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double norm_spectral(const double *w, size_t rows, size_t columns, size_t ld)
{
    Evaluator ev = {0};
    return norm_of(&(Radius){.ev = &ev}, (NormKey){w, rows, columns, ld, .parts = 1}).spectral;
}

/* The spectral norm is found to be no less than `least`, and less than `above` of it more. */
static void assert_norm(const double *w, size_t rows, size_t columns, size_t ld, double least,
                        double above)
{
    double found = norm_spectral(w, rows, columns, ld);
    assert_true(found >= least && found < least * (1 + above));
}

/* What is left of a norm whose matrix, or which itself, is rounded. */
static const double rounded = 1 - 0x1p-50;

/* Norms that are known: of a rotation, of an outer product, of a diagonal, of zeros; and of as many
 * entries as columns and more, where |W| = |W^T|, wherever the large ones stand. */
static void norms_are_bounds(void **state)
{
    const double rotation[] = {0.6, -0.8, 0.8, 0.6}, outer[] = {3, 6, 4, 8, 0, 0};
    const double diagonal[] = {1e200, 0, 0, 0, -3e200, 0, 0, 0, 2e200}, zeros[4] = {0};
    const double wide[] = {1, 0, 0, 8, 0, 1, 0, 0}, tall[] = {1, 0, 0, 1, 0, 0, 8, 0};
    assert_norm(rotation, 2, 2, 2, rounded, 0.02);
    assert_norm(outer, 3, 2, 2, 5 * sqrt(5) * rounded, 0.001);
    assert_norm(diagonal, 3, 3, 3, 3e200, 0.0003);
    assert_norm(wide, 2, 4, 4, sqrt(65) * rounded, 0.001);
    assert_norm(tall, 4, 2, 2, sqrt(65) * rounded, 0.001);
    assert_true(norm_spectral(zeros, 2, 2, 2) == 0);
    assert_true(norm_frobenius(rotation, 2, 2, 2) >= sqrt(2));
    assert_true(isinf(norm_spectral((const double[]){1, INFINITY, 0, 1}, 2, 2, 2)));
}

/* 1 along (b, -a) and 1/2 along (a, b), where the search for the eigenvalue starts: it sees 1/4
 * alone, which the proof must refuse. */
static void norm_that_the_search_does_not_see(void **state)
{
    const double a = 1, b = 1 + 7919 % 101 / 101.0, size = a * a + b * b;
    const double w[] = {(b * b + a * a / 2) / size, -a * b / 2 / size, -a * b / 2 / size,
                        (a * a + b * b / 2) / size};
    assert_norm(w, 2, 2, 2, 1 - 0x1p-40, 0.12);
}

/* Of large matrices, whose squares are made of floats: [H H] of Hadamard's matrix H [512, 512] and
 * 3 columns of zeros has the norm sqrt(1024), and 0.7 everywhere 0.7 sqrt(rows columns).  They lie
 * with a leading dimension, and transposed too. */
static void norms_of_large_matrices(void **state)
{
    enum { N = 512, K = 1027, LD = 1030 };
    double *wide = calloc((size_t)N * LD, sizeof *wide);
    double *tall = calloc((size_t)K * N, sizeof *tall);
    double *flat = calloc((size_t)N * LD, sizeof *flat);
    assert_true(wide != NULL && tall != NULL && flat != NULL);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < K; j++) {
            double sign = __builtin_parityll(i & (j % N)) ? -1 : 1;
            wide[i * LD + j] = tall[j * N + i] = j < 1024 ? 3e200 * sign : 0;
            flat[i * LD + j] = 0.7;
        }
    }
    assert_norm(wide, N, K, LD, 3e200 * 32, 0.08);
    assert_norm(tall, K, N, N, 3e200 * 32, 0.08);
    assert_norm(flat, N, K, LD, 0.7 * sqrt((double)N * K) * rounded, 0.001);
    free(wide);
    free(tall);
    free(flat);
}

/* An evaluation with coarse norms takes the Frobenius norm of large weights for their 2-norm, of
 * smaller ones the finer; and both are kept for those that share a table. */
static void coarse_norms_of_large_weights(void **state)
{
    enum { N = REF_COARSE_LEAST };
    double *w = calloc((size_t)N * N, sizeof *w);
    NormTable *table = norm_table_make();
    assert_true(w != NULL && table != NULL);
    for (size_t i = 0; i < N; i++) {
        w[i * N + i] = 1;
    }
    for (int i = 0; i < 4; i++) {
        Evaluator ev = {.norms = table, .coarse = i % 2 == 0};
        const Radius r = {.ev = &ev};
        MatrixNorms large = norm_of(&r, (NormKey){w, N, N, N, .parts = 1});
        MatrixNorms narrow = norm_of(&r, (NormKey){w, N, N - 1, N, .parts = 1});
        assert_true(large.frobenius >= sqrt(N) && large.frobenius < sqrt(N) * 1.001);
        assert_true(ev.coarse ? large.spectral == large.frobenius
                              : large.spectral >= 1 && large.spectral < 1.1);
        assert_true(narrow.spectral >= 1 && narrow.spectral < 1.1);
    }
    norm_table_clear(table);
    free(w);
}

/* D (I - 2 v v^T / v^T v) has the norm of the diagonal D: 1 once, and else so much less, and so
 * often, that the power method does not see the 1 in as few steps as norms take. */
static void norm_beside_many_others(void **state)
{
    enum { N = 515 };
    double *w = malloc((size_t)N * N * sizeof *w), v[N], square = 0;
    assert_true(w != NULL);
    drawn_numbers = 7;
    for (size_t i = 0; i < N; i++) {
        v[i] = drawn_uniform();
        square += v[i] * v[i];
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            double d = i == 301 ? 1 : sqrt(0.93);
            w[i * N + j] = d * ((i == j ? 1 : 0) - 2 * v[i] * v[j] / square);
        }
    }
    assert_norm(w, N, N, N, 1 - 0x1p-40, 0.06);
    free(w);
}

/* A = L L^T of whole numbers, so that nothing is rounded; less the square of L's entry c on the
 * diagonal, its leading minor of c + 1 columns is 0.  In any of the blocks that columns are taken
 * in. */
static void matrices_are_definite(void **state)
{
    enum { N = 200, BAND = 5 };
    static double l[N][N], whole[N][N], a[N][N];
    for (size_t i = 0; i < N; i++) {
        for (size_t j = i < BAND ? 0 : i - BAND; j < i; j++) {
            l[i][j] = (double)((i + 2 * j) % 3) - 1;
        }
        l[i][i] = i % 2 == 0 ? 1 : 2;
        for (size_t j = 0; j <= i; j++) {
            for (size_t k = 0; k <= j; k++) {
                whole[i][j] += l[i][k] * l[j][k];
            }
        }
    }
    memcpy(a, whole, sizeof a);
    assert_true(gemm_definite(a[0], N));
    for (size_t i = 0; i < N; i++) {
        assert_memory_equal(a[i], l[i], (i + 1) * sizeof a[i][0]);
    }
    for (size_t c = 0; c < N; c++) {
        memcpy(a, whole, sizeof a);
        a[c][c] -= l[c][c] * l[c][c];
        assert_false(gemm_definite(a[0], N));
    }
}

SUBJECT(radius_norms)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_are_bounds),
        cmocka_unit_test(norm_that_the_search_does_not_see),
        cmocka_unit_test(norms_of_large_matrices),
        cmocka_unit_test(coarse_norms_of_large_weights),
        cmocka_unit_test(norm_beside_many_others),
        cmocka_unit_test(matrices_are_definite),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
