/*
 * Fresh random matrices for the benchmarks of reference/product/, and what Arb by itself takes
 * for the same.
 */
#include "bench_numbers.h"

#include "../../cases/draw.h"
#include "bench_run.h"

#include <math.h>
#include <stdlib.h>

#ifdef HAVE_FLINT
#ifdef HAVE_ARB_IN_FLINT
#include <flint/arb_mat.h>
#else
#include <arb_mat.h>
#endif
#endif

/* xorshift64*: data for timing, not for results. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717ULL;
}

double numbers_normal(uint64_t *state)
{
    return draw_quantile((double)(next(state) >> 12 | 1) * 0x1p-52);
}

void numbers_fill(ApMat *m, NumbersForm form, uint64_t *state)
{
    for (size_t i = 0; i < m->rows * m->columns; i++) {
        mpfr_ptr x = m->entry + i;
        double y = numbers_normal(state);
        mpfr_set_d(x, form == NUMBERS_PATTERN ? exp(y) / (double)m->columns : y, MPFR_RNDN);
        for (size_t l = 0; l * 64 + 64 < (size_t)m->bits; l++) {
            ((mp_limb_t *)mpfr_custom_get_significand(x))[l] = next(state);
        }
    }
}

#ifdef HAVE_FLINT

static void load(arb_mat_t m, ProductView v)
{
    arb_mat_init(m, (slong)v.rows, (slong)v.columns);
    for (size_t i = 0; i < v.rows * v.columns; i++) {
        arb_ptr x = arb_mat_entry(m, i / v.columns, i % v.columns);
        if (v.entry != NULL) {
            arf_set_mpfr(arb_midref(x), v.entry + i);
        } else {
            arb_set_d(x, v.number[i]);
        }
    }
}

double numbers_arb_products(const ProductView *a, const ProductView *b, size_t count,
                            mpfr_prec_t bits)
{
    struct {
        arb_mat_t x, y, z;
    } *m = calloc(count, sizeof *m);
    if (m == NULL) {
        bench_fail("memory is short");
    }
    for (size_t i = 0; i < count; i++) {
        load(m[i].x, a[i]);
        load(m[i].y, b[i]);
        arb_mat_init(m[i].z, (slong)a[i].rows, (slong)b[i].columns);
    }
    double start = bench_cpu_seconds();
    for (size_t i = 0; i < count; i++) {
        arb_mat_mul(m[i].z, m[i].x, m[i].y, (slong)bits);
    }
    double seconds = bench_cpu_seconds() - start;
    for (size_t i = 0; i < count; i++) {
        arb_mat_clear(m[i].x);
        arb_mat_clear(m[i].y);
        arb_mat_clear(m[i].z);
    }
    free(m);
    return seconds;
}

double numbers_arb_exp(const ApMat *x)
{
    arb_mat_t y;
    slong count = (slong)(x->rows * x->columns);
    load(y, product_view(x));
    double start = bench_cpu_seconds();
    for (slong i = 0; i < count; i++) {
        arb_ptr entry = arb_mat_entry(y, i / (slong)x->columns, i % (slong)x->columns);
        arb_exp(entry, entry, (slong)x->bits);
    }
    double seconds = bench_cpu_seconds() - start;
    arb_mat_clear(y);
    return seconds;
}

#else

double numbers_arb_products(const ProductView *a, const ProductView *b, size_t count,
                            mpfr_prec_t bits)
{
    (void)a;
    (void)b;
    (void)count;
    (void)bits;
    return NAN;
}

double numbers_arb_exp(const ApMat *x)
{
    (void)x;
    return NAN;
}

#endif
