/*
 * How many fraction bits the magnitudes at hand need.
 *
 * Rows of A and columns of B, scaled below 1, are rounded to P fraction bits; the product's error
 * in entry (i, j) is then, in the scale of C_ij, at most 2^-(P+1) (1 + 2^-9) N_ij, where
 * N_ij = sum_l |a_il| + sum_l |b_lj| (the exact operand's sum alone when one is exact).  (1) of
 * product.h leaves k 2^-p S_ij for that, S = |A| |B|, which is one product of floats.  So an entry
 * needs P + 1 - p >= log2(N_ij / (k S_ij)): 3 for k = 1, and less for larger k and ordinary data.
 */
#include "guard.h"

#include "../../memory/need.h"
#include "cost.h"
#include "digits.h"
#include "gemm.h"
#include "internal.h"
#include "modular.h"
#include "store.h"
#include "wide.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK_ROWS = 64 };

/* Terms that floats add at once, and at all: an entry of S is less than 2^-9 of it too large. */
enum { TERMS = 1 << 14, TERMS_MOST = 1 << 27 };

/* Guards of some rows from S in doubles. */
static void measure_spread(const Plan *plan, size_t first, size_t count)
{
    const size_t k = plan->k, n = plan->n;
    double *a = array_alloc(count * k, sizeof *a), *b = array_alloc(n * k, sizeof *b);
    double *s = array_alloc(count * n, sizeof *s);
    operand_sizes(a, &plan->a, first, count);
    operand_sizes(b, &plan->b, 0, n);
    gemm(s, n, gemm_plain(a, k), gemm_transposed(b, k), (GemmExtents){count, n, k}, 0);
    for (size_t r = 0; r < count; r++) {
        (void)wide()->guards(plan, first + r, s + r * n);
    }
    free(a);
    free(b);
    free(s);
}

/* S = |A| |B| of some rows, in floats. */
static void sum_magnitudes(float *s, const Plan *plan, size_t first, size_t count)
{
    const Operand *a = &plan->a, *b = &plan->b;
    const size_t most = plan->k < TERMS_MOST ? plan->k : TERMS_MOST;
    for (size_t l = 0; l == 0 || l < most; l += TERMS) {
        const GemmFloats left = {a->size +
                                     (a->depth_major ? l * plan->m + first : first * plan->k + l),
                                 a->depth_major ? plan->m : plan->k, a->depth_major};
        const GemmFloats right = {b->size + (b->depth_major ? l * plan->n : l),
                                  b->depth_major ? plan->n : plan->k, !b->depth_major};
        const size_t terms = most - l < TERMS ? most - l : TERMS;
        gemm_float(s, plan->n, left, right, (GemmExtents){count, plan->n, terms}, l == 0 ? 0 : 1);
    }
}

static void measure_rows(const Plan *plan, const void *shared, size_t first, size_t count)
{
    const size_t n = plan->n;
    double *row = array_alloc(n + (count * n + 1) / 2, sizeof *row);
    float *s = (float *)(row + n);
    size_t weak = 0;
    (void)shared;
    sum_magnitudes(s, plan, first, count);
    for (size_t r = 0; r < count; r++) {
        for (size_t j = 0; j < n; j++) {
            row[j] = s[r * n + j];
        }
        weak += wide()->guards(plan, first + r, row);
    }
    if (weak > 0) {
        measure_spread(plan, first, count);
    }
    free(row);
}

/* The least sum of a line that is not zero; INFINITY when there is none. */
static double least_sum(const Operand *o)
{
    double least = INFINITY;
    for (size_t i = 0; i < o->lines; i++) {
        least = o->exponent[i] != LINE_ZERO && o->sum[i] < least ? o->sum[i] : least;
    }
    return least;
}

/* Finds the largest guard, and how many entries have each. */
static void count_guards(Plan *plan)
{
    const size_t entries = plan->m * plan->n;
    const int16_t *guard = plan->guard;
    int16_t most = GUARD_MIN;
    size_t never = 0;
    for (size_t e = 0; e < entries; e++) {
        never += guard[e] == GUARD_NEVER;
        most = guard[e] != GUARD_NEVER && guard[e] > most ? guard[e] : most;
    }
    size_t *count = need_zeros((size_t)(most - GUARD_MIN + 1), sizeof *count);
    for (size_t e = 0; e < entries; e++) {
        if (guard[e] != GUARD_NEVER) {
            count[guard[e] - GUARD_MIN]++;
        }
    }
    plan->guard_most = most;
    plan->never = never;
    plan->count = count;
}

void plan_measure(Plan *plan)
{
    plan->guard = array_alloc(plan->m * plan->n, sizeof *plan->guard);
    store_each(plan, NULL, plan->m, BLOCK_ROWS, measure_rows);
    count_guards(plan);
    bool only_a = plan->short_a && !plan->short_b, only_b = plan->short_b && !plan->short_a;
    plan->least = (only_b ? 0 : least_sum(&plan->a)) + (only_a ? 0 : least_sum(&plan->b));
}

void plan_clear(Plan *plan)
{
    free(plan->row_at);
    free(plan->guard);
    free(plan->count);
    operand_close(&plan->a);
    operand_close(&plan->b);
}

static mpfr_prec_t bits_at(const Plan *plan, int level)
{
    mpfr_prec_t bits = plan->precision - 1 + level;
    return bits < 64 ? 64 : bits;
}

static bool holds(const Plan *plan, ProductBackend backend, mpfr_prec_t bits)
{
    mpfr_prec_t bits_a = plan_bits_a(plan, bits), bits_b = plan_bits_b(plan, bits);
    return (backend != PRODUCT_DIGITS || digits_hold(bits_a, bits_b)) &&
           (backend != PRODUCT_MODULAR || modular_holds(bits_a, bits_b));
}

static void choose_level(Plan *plan, int level, double seconds)
{
    if (seconds < plan->seconds) {
        plan->seconds = seconds;
        plan->level = level;
        plan->bits = bits_at(plan, level);
    }
}

void plan_choose(Plan *plan, ProductBackend backend)
{
    plan->seconds = INFINITY;
    if (plan->guard == NULL) { /* both operands exact: P plays no part */
        if (holds(plan, backend, plan->precision)) {
            choose_level(plan, 0, cost_product(plan, backend, plan->precision));
        }
        return;
    }
    size_t above = plan->m * plan->n;
    const double loop = cost_loop_entry(plan);
    for (int level = GUARD_MIN; level <= plan->guard_most; level++) {
        size_t here = plan->count[level - GUARD_MIN];
        above -= here;
        if (here != 0 && holds(plan, backend, bits_at(plan, level))) {
            choose_level(plan, level,
                         cost_product(plan, backend, bits_at(plan, level)) + (double)above * loop);
        }
    }
}

size_t plan_loops(const Plan *plan)
{
    size_t loops = 0;
    if (plan->guard != NULL) {
        loops = plan->never;
        for (int level = plan->level + 1; level <= plan->guard_most; level++) {
            loops += plan->count[level - GUARD_MIN];
        }
    }
    return loops;
}
