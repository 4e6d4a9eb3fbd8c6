/*
 * How many fraction bits the magnitudes at hand need.
 *
 * Rows of A and columns of B, scaled below 1, are rounded to P fraction bits; the product's error
 * in entry (i, j) is then, in the scale of C_ij, at most 2^-(P+1) (1 + 2^-9) N_ij, where
 * N_ij = sum_l |a_il| + sum_l |b_lj| (only the other operand's sum when one is exact).  (1) of
 * product.h leaves k 2^-p S_ij for that, S = |A| |B|, which is one product of doubles.  So an entry
 * needs P + 1 - p >= log2(N_ij / (k S_ij)): 3 for k = 1, and less for larger k and ordinary data.
 */
#include "guard.h"

#include "cost.h"
#include "gemm.h"
#include "ifma.h"
#include "internal.h"
#include "modular.h"
#include "store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS = 64 };

/* The smallest g with 2^g > r > 0. */
static int exponent_above(double r)
{
    uint64_t word;
    memcpy(&word, &r, sizeof word);
    return (int)(word >> 52) - 1022;
}

/* Guards of row i from its row of S. */
static void measure_row(const Plan *plan, size_t i, const double *s)
{
    bool only_a = plan->short_a && !plan->short_b, only_b = plan->short_b && !plan->short_a;
    double from_a = only_b ? 0 : plan->a.sum[i];
    /* Losses of S itself: rounding, and entries dropped as too small. */
    double scale = (1 + 0x1p-8) / (double)plan->k;
    int16_t *guard = plan->guard + i * plan->n;
    for (size_t j = 0; j < plan->n; j++) {
        double needed = (from_a + (only_a ? 0 : plan->b.sum[j])) * scale;
        int g = GUARD_MIN;
        if (plan->a.exponent[i] != LINE_ZERO && plan->b.exponent[j] != LINE_ZERO) {
            g = s[j] > 0 ? exponent_above(needed / s[j]) : GUARD_NEVER;
            g = g < GUARD_MIN ? GUARD_MIN : g;
        }
        guard[j] = (int16_t)g;
    }
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

static bool measure_rows(const Plan *plan, const void *shared, size_t first, size_t count)
{
    const Operand *a = &plan->a, *b = &plan->b;
    double *s = array_alloc(count * plan->n, sizeof *s);
    (void)shared;
    if (s == NULL) {
        return false;
    }
    gemm(s, plan->n, a->size + (a->depth_major ? first : first * plan->k),
         a->depth_major ? plan->m : plan->k, a->depth_major, b->size,
         b->depth_major ? plan->n : plan->k, !b->depth_major, count, plan->n, plan->k, 0);
    for (size_t r = 0; r < count; r++) {
        measure_row(plan, first + r, s + r * plan->n);
    }
    free(s);
    return true;
}

bool plan_measure(Plan *plan)
{
    plan->guard = array_alloc(plan->m * plan->n, sizeof *plan->guard);
    plan->count = calloc(GUARD_MAX - GUARD_MIN + 1, sizeof *plan->count);
    if (plan->guard == NULL || plan->count == NULL ||
        !store_each_rows(plan, NULL, BLOCK_ROWS, measure_rows)) {
        return false;
    }
    bool only_a = plan->short_a && !plan->short_b, only_b = plan->short_b && !plan->short_a;
    plan->least = (only_b ? 0 : least_sum(&plan->a)) + (only_a ? 0 : least_sum(&plan->b));
    for (size_t i = 0; i < plan->m * plan->n; i++) {
        if (plan->guard[i] == GUARD_NEVER) {
            plan->never++;
        } else {
            plan->count[plan->guard[i] - GUARD_MIN]++;
        }
    }
    return true;
}

void plan_clear(Plan *plan)
{
    free(plan->row_at);
    free(plan->column_at);
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
    mpfr_prec_t bits_a = plan->short_a ? plan->a.bits : bits;
    mpfr_prec_t bits_b = plan->short_b ? plan->b.bits : bits;
    return (backend != PRODUCT_IFMA || ifma_holds(bits_a, bits_b)) &&
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
    for (int level = GUARD_MIN; level <= GUARD_MAX && above > plan->never; level++) {
        size_t here = plan->count[level - GUARD_MIN];
        above -= here;
        /* Arb's cost is that of any level: the last one leaves least to the loop. */
        bool matters = here != 0 && (backend != PRODUCT_ARB || above == plan->never);
        if (matters && holds(plan, backend, bits_at(plan, level))) {
            choose_level(plan, level,
                         cost_product(plan, backend, bits_at(plan, level)) +
                             (double)above * cost_loop_entry(plan));
        }
    }
}

size_t plan_loops(const Plan *plan)
{
    size_t loops = 0;
    if (plan->guard != NULL) {
        loops = plan->never;
        for (int level = plan->level + 1; level <= GUARD_MAX; level++) {
            loops += plan->count[level - GUARD_MIN];
        }
    }
    return loops;
}
