/*
 * One product and how many fraction bits it takes (private to reference/product/).
 *
 * P is what the measured magnitudes need for (1) of product.h; entries of C that would need many
 * more bits are left to the loop.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_GUARD_H
#define HEADPROOF_REFERENCE_PRODUCT_GUARD_H

#include "operand.h"

#include <stdint.h>

enum { GUARD_MIN = -8 };
#define GUARD_NEVER INT16_MAX

/* One product: C [m, n], k terms an entry. */
typedef struct {
    ProductView c;
    size_t *row_at, *column_at; /* of C, as view_offsets has them */
    size_t m, n, k;
    mpfr_prec_t precision; /* p, guard bits included */
    bool add;
    int threads;
    Operand a, b;
    bool weights;          /* B is one of many products': its measuring and packing cost nothing */
    bool short_a, short_b; /* exact in at most p fraction bits: weights, integers */
    int16_t *guard;        /* [m, n] smallest P + 1 - p that serves the entry, or GUARD_NEVER */
    size_t *count;         /* [guard_most - GUARD_MIN + 1] entries by guard */
    int guard_most;        /* the largest guard but GUARD_NEVER */
    size_t never;          /* entries whose guard is GUARD_NEVER */
    double least;          /* N_ij of guard.c, the least of all entries but those that are 0 */
    int level;             /* guard chosen: entries above it go to the loop */
    mpfr_prec_t bits;      /* P = p - 1 + level */
    double seconds;        /* predicted */
} Plan;

/* Measures what every entry of C needs. */
void plan_measure(Plan *plan);
void plan_clear(Plan *plan);

/* The level that makes the backend fastest, and its prediction. */
void plan_choose(Plan *plan, ProductBackend backend);

/* Fraction bits of an operand, of P: its own when it is short. */
static inline mpfr_prec_t plan_bits_a(const Plan *plan, mpfr_prec_t bits)
{
    return plan->short_a ? plan->a.bits : bits;
}

static inline mpfr_prec_t plan_bits_b(const Plan *plan, mpfr_prec_t bits)
{
    return plan->short_b ? plan->b.bits : bits;
}

static inline bool plan_by_loop(const Plan *plan, size_t i, size_t j)
{
    return plan->guard != NULL && plan->guard[i * plan->n + j] > plan->level;
}

/* Entries that the plan leaves to the loop. */
size_t plan_loops(const Plan *plan);

#endif
