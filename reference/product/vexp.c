/*
 * exp of a vector: the tables and the choice between eight lanes and single numbers.
 *
 * x = n ln 2 + r, r in three bytes and a rest s < 2^-24: three tables, and a Taylor series by
 * Horner's rule.  Errors in 2^(-52 D), D digits: of the reduction 1, tables 3, the series 1, three
 * products 3, less than 9 with what is second order, as is what columns beyond D + 1 would add,
 * 2 D + 1 units of digit D + 1.  52 D >= p + 4 makes that 9/16 2^-p; with the rounding it is less
 * than 2^(1 - p).
 */
#include "vexp.h"

#include "../../memory/need.h"
#include "../numbers/fixed.h"
#include "digits.h"
#include "entry.h"
#include "internal.h"
#include "store.h"
#include "wide.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LOSS = 4 }; /* 9 2^(-52 D) <= 2^-p takes 52 D >= p + 4 */

struct VectorExp {
    ApExp *alone;
    const ExpTables *tables; /* NULL: not eight at a time */
};

/* Digits of the fraction y < 1, cut off. */
static void put_fraction(uint64_t *out, size_t digits, mpfr_srcptr y)
{
    Entry x;
    entry_load_real(&x, y);
    for (size_t d = 0; d < digits; d++) {
        out[d] = entry_digit(&x, -x.exponent, d, DIGIT);
    }
}

/* Fraction limbs of the tables' powers: what 256 products cut off stays far below the digits. */
enum { POWER_LIMBS = (DIGIT * (VEXP_DIGITS + 2) + 63) / 64 };

/* The fractions of step^i, i < VEXP_TABLE, for a step of so many limbs and an integer; the powers
 * are below 4. */
static void powers_fill(uint64_t (*table)[VEXP_TABLE], size_t digits, const mp_limb_t *step,
                        size_t limbs)
{
    mp_limb_t power[POWER_LIMBS + 1] = {0}, product[2 * POWER_LIMBS + 2];
    const Entry fraction = {.limb = power, .count = limbs};
    power[limbs] = 1;
    for (size_t i = 0; i < VEXP_TABLE; i++) {
        for (size_t d = 0; d < digits; d++) {
            table[d][i] = entry_digit(&fraction, 0, d, DIGIT);
        }
        mpn_mul_n(product, power, step, (mp_size_t)limbs + 1);
        memcpy(power, product + limbs, (limbs + 1) * sizeof *power);
    }
}

static void tables_fill(ExpTables *tables)
{
    mpfr_t x, step;
    mp_limb_t limb[POWER_LIMBS + 1];
    size_t limbs = (DIGIT * (tables->digits + 2) + 63) / 64;
    mpfr_init2(x, (mpfr_prec_t)(DIGIT * (tables->digits + 2)));
    mpfr_init2(step, 64 * (mpfr_prec_t)(limbs + 1));
    mpfr_const_log2(x, MPFR_RNDZ);
    put_fraction(tables->ln2, tables->digits + 1, x);
    for (int t = 0; t < 3; t++) {
        mpfr_set_ui_2exp(step, 1, -8 * (t + 1), MPFR_RNDN);
        mpfr_exp(step, step, MPFR_RNDN);
        fixed_of(limb, limbs, 1, step);
        powers_fill(tables->table[t], tables->digits, limb, limbs);
    }
    mpfr_set_ui(x, 1, MPFR_RNDN);
    for (unsigned long k = 2; k <= tables->terms; k++) {
        mpfr_div_ui(x, x, k, MPFR_RNDZ);
        put_fraction(tables->inverse_factorial[k], tables->digits, x);
    }
    mpfr_clears(x, step, (mpfr_ptr)0);
}

/* Digits that are built in, and the first power of s below 2^(-52 D - 10). */
enum { SIZES = 6 };
static const struct {
    size_t digits, terms;
} sizes[SIZES] = {{3, 6}, {4, 8}, {5, 10}, {10, 19}, {15, 28}, {VEXP_DIGITS, VEXP_TERMS}};

/* Tables of those digits that were asked for: filling them takes as long as some thousand numbers,
 * and every thread of every evaluation reads the same ones. */
static struct {
    pthread_mutex_t lock;
    ExpTables *of[SIZES];
} filled = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Tables for so many bits, or NULL. */
static const ExpTables *tables_for(mpfr_prec_t bits)
{
    size_t i = 0;
    while (i < SIZES && (size_t)bits + LOSS > DIGIT * sizes[i].digits) {
        i++;
    }
    if (i == SIZES || sizes[i].digits > wide()->exp_digits) {
        return NULL;
    }
    pthread_mutex_lock(&filled.lock);
    ExpTables *tables = filled.of[i];
    if (tables == NULL) {
        tables = need_zeros(1, sizeof *tables);
        tables->digits = sizes[i].digits;
        tables->terms = sizes[i].terms;
        tables_fill(tables);
        filled.of[i] = tables;
    }
    pthread_mutex_unlock(&filled.lock);
    return tables;
}

VectorExp *vexp_create(mpfr_prec_t bits, ApExp *alone)
{
    VectorExp *context = need_zeros(1, sizeof *context);
    *context = (VectorExp){alone, tables_for(bits)};
    return context;
}

void vexp_free(VectorExp *context)
{
    free(context);
}

bool vexp_is_wide(const VectorExp *context)
{
    return context->tables != NULL;
}

static void store_lane(mpfr_ptr y, const ExpLanes *lanes, const ExpTables *tables, size_t lane)
{
    mp_limb_t limb[VEXP_DIGITS + 1], top = 0;
    PRODUCT_CHECK(tables->digits <= VEXP_DIGITS);
    size_t count = ((tables->digits + 1) * DIGIT + 63) / 64;
    for (size_t i = 0; i < count; i++) {
        limb[i] = top = lanes->limb[i][lane];
    }
    if (top == 0) { /* the integer part is 1 or 2: it is below */
        count--;
    }
    store_limbs(y, limb, count, false, lanes->n[lane] - (long)(DIGIT * tables->digits));
}

/* Can it be done in fixed point?  Its exponential is in MPFR's range if that holds 2^(2^21). */
static bool is_bounded(mpfr_srcptr x)
{
    return mpfr_zero_p(x) || (mpfr_regular_p(x) && mpfr_custom_get_exp(x) <= 20);
}

static void put_argument(ExpLanes *lanes, size_t lane, const ExpTables *tables, mpfr_srcptr x)
{
    Entry e;
    entry_load_real(&e, x);
    for (size_t d = 0; d < tables->digits + 2; d++) {
        lanes->x[d][lane] = entry_digit(&e, DIGIT - e.exponent, d, DIGIT);
    }
    lanes->negative |= (unsigned)e.negative << lane;
}

void vexp(VectorExp *context, mpfr_ptr y, mpfr_srcptr x, size_t count)
{
    const long far = 1L << 22;
    bool bounded = context->tables != NULL && mpfr_get_emin() < -far && mpfr_get_emax() > far;
    for (size_t i = 0; i < count;) {
        i += bounded ? wide()->exp_row(context->tables, y + i, x + i, count - i) : 0;
        ExpLanes lanes;
        size_t index[VEXP_LANES], filled = 0;
        lanes.negative = 0;
        for (; i < count && filled < VEXP_LANES; i++) {
            if (bounded && is_bounded(x + i)) {
                put_argument(&lanes, filled, context->tables, x + i);
                index[filled++] = i;
            } else {
                ap_exp(context->alone, y + i, x + i);
            }
        }
        if (filled > 0) {
            wide()->exp(&lanes, context->tables, filled);
        }
        for (size_t lane = 0; lane < filled; lane++) {
            store_lane(y + index[lane], &lanes, context->tables, lane);
        }
    }
}
