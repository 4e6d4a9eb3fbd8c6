/*
 * What the backends share (private to reference/product/).
 *
 * An operand is seen as lines: the rows of A, the columns of B.  Line i is scaled by
 * 2^-exponent[i], so that its entries are below 1 in magnitude, and rounded to P fraction bits:
 * from there on a product is one of integers.  P is what the measured magnitudes need for (1) of
 * product.h; entries of C that would need many more bits are left to the loop.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_INTERNAL_H
#define HEADPROOF_REFERENCE_PRODUCT_INTERNAL_H

#include "gemm.h"
#include "product.h"

#include <limits.h>
#include <stdint.h>

/* What a line of zeros has for an exponent. */
#define LINE_ZERO LONG_MIN

/* No exponent beyond this (MPFR's may reach 2^62) is scaled: sums of three stay in a long. */
#define EXPONENT_LIMIT (1L << 60)

/* No scaled entry keeps more fraction bits. */
#define LARGEST_BITS 20000

/* A bug: aborts with file, line and the condition. */
#define PRODUCT_CHECK(condition)                                                                   \
    ((condition) ? (void)0 : product_bug(__FILE__, __LINE__, #condition))
void product_bug(const char *file, int line, const char *condition) __attribute__((noreturn));

/* count * size bytes, at least one, uninitialised, 64-byte aligned; NULL when memory is short. */
void *array_alloc(size_t count, size_t size) __attribute__((warn_unused_result));

/* ---- operand.c ---- */

typedef struct {
    const __mpfr_struct *entry;
    const double *number;
    size_t lines, depth;
    size_t *line_at, *depth_at; /* offsets: an entry is at their sum */
    bool depth_major;           /* neighbours in memory belong to neighbouring lines */
    mpfr_exp_t *exponent;       /* [lines] all |entries| < 2^exponent, or LINE_ZERO */
    double *sum;                /* [lines] sum of |entries| 2^-exponent, not below it */
    double *size;               /* |entries| 2^-exponent, not above it: [lines, depth], or */
                                /* [depth, lines] if depth_major */
    mpfr_prec_t bits;           /* fraction bits that would hold every scaled entry exactly */
    bool plain;                 /* all finite and within EXPONENT_LIMIT: it can be scaled */
} Operand;

/* The offsets of an axis's indices; NULL when memory is short. */
size_t *axis_offsets(ProductAxis axis, size_t count) __attribute__((warn_unused_result));

/* The rows of v. */
bool operand_open(Operand *o, ProductView v) __attribute__((warn_unused_result));
void operand_close(Operand *o);

/* Measures exponent, sum, size, bits and plain. */
bool operand_measure(Operand *o, int threads) __attribute__((warn_unused_result));

/* ---- guard.c ---- */

enum { GUARD_MIN = -8, GUARD_MAX = 2100 };
#define GUARD_NEVER INT16_MAX

/* One product: C [m, n], k terms an entry. */
typedef struct {
    ProductView c;
    size_t *row_at, *column_at; /* offsets of C's entries, as an operand's */
    size_t m, n, k;
    mpfr_prec_t precision; /* p, guard bits included */
    bool add;
    int threads;
    Operand a, b;
    bool short_a, short_b; /* exact in at most p fraction bits: weights, integers */
    int16_t *guard;        /* [m, n] smallest P + 1 - p that serves the entry, or GUARD_NEVER */
    size_t *count;         /* [GUARD_MAX - GUARD_MIN + 1] entries by guard */
    size_t never;
    int level;        /* guard chosen: entries above it go to the loop */
    mpfr_prec_t bits; /* P = p - 1 + level */
    double seconds;   /* predicted */
} Plan;

/* Measures what every entry of C needs. */
bool plan_measure(Plan *plan) __attribute__((warn_unused_result));
void plan_clear(Plan *plan);

/* The level that makes the backend fastest, and its prediction. */
void plan_choose(Plan *plan, ProductBackend backend);

/* Fraction bits of an operand under the plan: its own when it is short. */
static inline mpfr_prec_t plan_bits_a(const Plan *plan)
{
    return plan->short_a ? plan->a.bits : plan->bits;
}

static inline mpfr_prec_t plan_bits_b(const Plan *plan)
{
    return plan->short_b ? plan->b.bits : plan->bits;
}

static inline bool plan_by_loop(const Plan *plan, size_t i, size_t j)
{
    return plan->guard != NULL && plan->guard[i * plan->n + j] > plan->level;
}

/* Entries that the plan leaves to the loop. */
size_t plan_loops(const Plan *plan);

/* ---- store.c ---- */

mpfr_ptr plan_entry(const Plan *plan, size_t i, size_t j);

/* What a thread needs to finish entries of C. */
typedef struct {
    mpfr_t y, ta, tb;
    mpfr_exp_t emin, emax;
} Store;

void store_open(Store *s, const Plan *plan);
void store_close(Store *s);

/* y = (-1)^negative limbs 2^unit, rounded to nearest, ties to even; limb[count - 1] > 0, and the
 * result is within MPFR's exponent range (not checked; no flag is set). */
void store_limbs(mpfr_ptr y, const mp_limb_t *limb, size_t count, bool negative, mpfr_exp_t unit);

/* C_ij (+)= (-1)^negative limbs 2^unit 2^(exponents of the row and the column); limbs are
 * overwritten.  An entry that the plan leaves to the loop is computed by it instead. */
void store_integer(Store *s, const Plan *plan, size_t i, size_t j, mp_limb_t *limb, size_t count,
                   bool negative, long unit);

/* C_ij (+)= y, rounded once. */
void store_real(const Plan *plan, size_t i, size_t j, mpfr_srcptr y);

/* C_ij (+)= sum_l a_il b_lj by mpfr_fma; products with a zero are skipped. */
void store_by_loop(Store *s, const Plan *plan, size_t i, size_t j);

/* Calls work for blocks of rows of C on up to plan->threads threads, each with the caller's
 * exponent range.  false when a call returned false. */
typedef bool RowWork(const Plan *plan, const void *shared, size_t first, size_t count);
bool store_each_rows(const Plan *plan, const void *shared, size_t rows_at_once, RowWork *work)
    __attribute__((warn_unused_result));

/* ---- backends ---- */

bool loop_mul(const Plan *plan) __attribute__((warn_unused_result));
bool ball_mul(const Plan *plan) __attribute__((warn_unused_result));
bool modular_mul(const Plan *plan) __attribute__((warn_unused_result));
bool ifma_mul(const Plan *plan) __attribute__((warn_unused_result));
bool ball_has(void);
bool ifma_has(void);

/* Can the backend hold numbers of that many fraction bits? */
bool ifma_holds(mpfr_prec_t bits_a, mpfr_prec_t bits_b);
bool modular_holds(mpfr_prec_t bits_a, mpfr_prec_t bits_b);

/* ---- cost.c ---- */

/* Seconds of a product by a backend if `bits` fraction bits are kept; of one entry by the loop. */
double cost_product(const Plan *plan, ProductBackend backend, mpfr_prec_t bits);
double cost_loop_entry(const Plan *plan);

#endif
