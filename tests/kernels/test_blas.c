/*
 * OpenBLAS as the kernels call it, and the core it runs on.
 */
#include "../../kernels/blas.h"
#include "../../kernels/gemm.h"
#include "../random_model.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20240731u
#define U 0x1p-53

/* Entry (i, j) of alpha A B + start, and k + 3 times what it is the sum of; B as in a call. */
typedef struct {
    size_t m, n, k, lda, ldb, ldc;
    double alpha, beta;
    bool nt;
} Product;

static long double entry(long double *bound, const Product *p, const double *a, const double *b,
                         size_t i, size_t j, long double start)
{
    long double sum = start, size = fabsl(start);
    for (size_t r = 0; r < p->k; r++) {
        long double y = b[p->nt ? j * p->ldb + r : r * p->ldb + j];
        long double term = p->alpha * a[i * p->lda + r] * y;
        sum += term;
        size += fabsl(term);
    }
    *bound = (long double)(p->k + 3) * size;
    return sum;
}

/* beta == 0 overwrites whatever is there, as scratch may hold anything; beyond column n nothing
 * is touched. */
static double worst_of_product(RandomModel *random, const Product *p)
{
    const double *a = random_numbers(random, p->m * p->lda);
    const double *b = random_numbers(random, (p->nt ? p->n : p->k) * p->ldb + 1);
    const double *before = random_numbers(random, p->m * p->ldc);
    double c[32 * 40], worst = 0;
    for (size_t e = 0; e < p->m * p->ldc; e++) {
        c[e] = p->beta == 0 && e % p->ldc < p->n ? (double)NAN : before[e];
    }
    (p->nt ? blas_gemm_nt : blas_gemm)((GemmMatrix){c, p->ldc}, (GemmFactor){a, p->lda},
                                       (GemmFactor){b, p->ldb},
                                       (GemmTask){p->m, p->n, p->k, p->alpha, p->beta});
    for (size_t e = 0; e < p->m * p->ldc; e++) {
        size_t i = e / p->ldc, j = e % p->ldc;
        if (j >= p->n) {
            assert_true(c[e] == before[e]);
            continue;
        }
        long double bound = 0;
        long double expected = entry(&bound, p, a, b, i, j, (long double)p->beta * before[e]);
        long double error = fabsl((long double)c[e] - expected);
        assert_true(error <= U * bound);
        worst = fmax(worst, error > 0 ? (double)(error / (U * bound)) : 0);
    }
    return worst;
}

static void test_gemm_matches_definition(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 5, 31};
    static const double factors[] = {0, 1, -0.5};
    static RandomModel random;
    double worst = 0;
    for (size_t i = 0; i < 2 * 5 * 5 * 5 * 9; i++) {
        Product p = {.m = sizes[i % 5], .n = sizes[i / 5 % 5], .k = sizes[i / 25 % 5]};
        p.nt = i / 125 % 2;
        p.alpha = factors[i / 250 % 3];
        p.beta = factors[i / 750 % 3];
        p.lda = p.k + 1;
        p.ldb = (p.nt ? p.k : p.n) + 2;
        p.ldc = p.n + 3;
        random_start(&random, SEED + i);
        worst = fmax(worst, worst_of_product(&random, &p));
    }
    print_message("products: worst error / (u bound) %.3g; seed %u\n", worst, SEED);
}

/* What `program blas --core` says under these settings of the environment. */
static void child_core(char *core, char *origin, const char *environment, const char *program)
{
    char command[512];
    snprintf(command, sizeof command, "env %s '%s' blas --core 2>/dev/null", environment, program);
    FILE *child = popen(command, "r");
    assert_non_null(child);
    assert_int_equal(fscanf(child, "%63s %63[^\n]", core, origin), 2);
    assert_int_equal(pclose(child), 0);
}

static void test_core_is_chosen_once(void **state)
{
    const char *program = subject_program;
    const char *clean = "-u OPENBLAS_CORETYPE -u HEADPROOF_CORRECTED_CORETYPE";
    char core[64], origin[64];
    child_core(core, origin, clean, program);
    assert_true(strcmp(origin, "detected") == 0 || strcmp(origin, "corrected") == 0);
    child_core(core, origin, "OPENBLAS_CORETYPE=Nehalem", program);
    assert_string_equal(origin, "set by the user");
    if (strstr(blas_config(), "DYNAMIC_ARCH") != NULL && blas_core_wanted() != NULL) {
        assert_string_equal(core, "Nehalem");
        child_core(core, origin, "OPENBLAS_CORETYPE=Nehalem HEADPROOF_CORRECTED_CORETYPE=Nehalem",
                   program);
        assert_string_equal(origin, "detected");
    }
}

SUBJECT(blas)
{
    if (argc == 2 && strcmp(argv[1], "--core") == 0) {
        printf("%s %s\n", blas_core(), blas_core_origin());
        return 0;
    }
    const struct CMUnitTest blas[] = {
        cmocka_unit_test(test_gemm_matches_definition),
        cmocka_unit_test(test_core_is_chosen_once),
    };
    print_message("OpenBLAS core %s (%s)\n", blas_core(), blas_core_origin());
    return cmocka_run_group_tests(blas, NULL, NULL) == 0 ? 0 : 1;
}
