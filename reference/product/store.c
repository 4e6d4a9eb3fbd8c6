/*
 * Integers of a product rounded into MPFR entries, once each; and the plain loop by mpfr_fma.
 */
#include "store.h"

#include "../numbers/limbs_number.h"
#include "internal.h"

#include <omp.h>
#include <stdlib.h>

mpfr_ptr plan_entry(const Plan *plan, size_t i, size_t j)
{
    return plan->c.entry + plan->row_at[i] + plan->column_at[j];
}

/* C_ij (+)= y, rounded once. */
static void store_real(const Plan *plan, size_t i, size_t j, mpfr_srcptr y)
{
    mpfr_ptr c = plan_entry(plan, i, j);
    if (plan->add) {
        limbs_add(c, c, y);
    } else {
        mpfr_set(c, y, MPFR_RNDN);
    }
}

/* An entry; of doubles in *t, whose limb is *limb. */
static mpfr_srcptr real_entry(const Operand *o, size_t line, size_t position, mpfr_ptr t,
                              mp_limb_t *limb)
{
    size_t at = o->line_at[line] + o->depth_at[position];
    if (o->number == NULL) {
        return o->entry + at;
    }
    mpfr_custom_init_set(t, MPFR_ZERO_KIND, 0, 53, limb);
    mpfr_set_d(t, o->number[at], MPFR_RNDN);
    return t;
}

/* C_ij (+)= sum_l a_il b_lj by mpfr_fma. */
static void store_by_loop(const Plan *plan, size_t i, size_t j)
{
    mpfr_t sum, ta, tb;
    mp_limb_t limb_a, limb_b;
    mpfr_init2(sum, plan->precision);
    mpfr_set_zero(sum, 1);
    for (size_t l = 0; l < plan->k; l++) {
        mpfr_srcptr a = real_entry(&plan->a, i, l, ta, &limb_a);
        mpfr_srcptr b = real_entry(&plan->b, j, l, tb, &limb_b);
        bool zero = (mpfr_zero_p(a) && mpfr_number_p(b)) || (mpfr_zero_p(b) && mpfr_number_p(a));
        if (!zero) {
            mpfr_fma(sum, a, b, sum, MPFR_RNDN);
        }
    }
    store_real(plan, i, j, sum);
    mpfr_clear(sum);
}

/* Limb i of the limbs shifted to the left by `zeros` bits. */
static inline mp_limb_t shifted(const mp_limb_t *limb, size_t i, unsigned zeros)
{
    return limb[i] << zeros | (i > 0 ? limb[i - 1] >> 1 >> (63 - zeros) : 0);
}

/* Cuts the limbs before the `first` one off y's n limbs, which are the others, and rounds; limbs as
 * shifted gives them.  Is it carried over? */
static bool round_off(mp_limb_t *y, size_t n, mp_limb_t ulp, const mp_limb_t *limb, size_t first,
                      unsigned zeros)
{
    unsigned spare = (unsigned)__builtin_ctzll(ulp);
    mp_limb_t rest = first > 0 ? shifted(limb, first - 1, zeros) : 0, after = 0;
    if (spare != 0) { /* what is cut off begins in the last limb */
        after = rest << (64 - spare);
        rest = y[0] << (64 - spare) | rest >> spare;
    }
    if (rest == (mp_limb_t)1 << 63) {
        for (size_t i = 0; i + 1 < first; i++) {
            after |= shifted(limb, i, zeros);
        }
    }
    y[0] &= ~(ulp - 1);
    return round_limbs(y, n, ulp, rest, after);
}

void store_limbs(mpfr_ptr y, const mp_limb_t *limb, size_t count, bool negative, mpfr_exp_t unit)
{
    mpfr_prec_t precision = mpfr_get_prec(y);
    size_t wanted = ((size_t)precision + 63) / 64, kept = count < wanted ? count : wanted;
    mp_limb_t *to = mpfr_custom_get_significand(y);
    mp_limb_t ulp = (mp_limb_t)1 << (64 * wanted - (size_t)precision);
    unsigned zeros = (unsigned)__builtin_clzll(limb[count - 1]);
    mpfr_exp_t exponent = unit + 64 * (mpfr_exp_t)count - zeros;
    for (size_t i = 0; i < wanted; i++) {
        to[i] = i + kept < wanted ? 0 : shifted(limb, count + i - wanted, zeros);
    }
    if (count >= wanted) {
        exponent += round_off(to, wanted, ulp, limb, count - wanted, zeros);
    }
    put(y, negative, exponent);
}

Range store_range(void)
{
    return (Range){mpfr_get_emin(), mpfr_get_emax()};
}

/* The exponent may lie outside the thread's range: mpfr_mul_2si then makes it 0 or infinity, as a
 * loop's products would. */
void store_scaled(Range range, const Plan *plan, size_t i, size_t j, ScaledInteger number)
{
    mpfr_t value;
    mp_limb_t *limb = number.limb;
    size_t count = number.count;
    while (count > 0 && limb[count - 1] == 0) {
        count--;
    }
    if (count == 0) {
        mp_limb_t none = 0;
        mpfr_custom_init_set(value, MPFR_ZERO_KIND, 0, 64, &none);
        store_real(plan, i, j, value);
        return;
    }
    mpfr_exp_t most = number.unit + 64 * (mpfr_exp_t)count;
    bool inside = most - 63 >= range.emin && most < range.emax;
    if (inside && !plan->add) {
        store_limbs(plan_entry(plan, i, j), limb, count, number.negative, number.unit);
        return;
    }
    unsigned zeros = (unsigned)__builtin_clzll(limb[count - 1]);
    if (zeros != 0) {
        mpn_lshift(limb, limb, (mp_size_t)count, zeros);
    }
    mpfr_exp_t exponent = most - zeros;
    mpfr_custom_init_set(value, number.negative ? -MPFR_REGULAR_KIND : MPFR_REGULAR_KIND,
                         inside ? exponent : 0, 64 * (mpfr_prec_t)count, limb);
    if (!inside) {
        mpfr_mul_2si(value, value, exponent, MPFR_RNDN);
    }
    store_real(plan, i, j, value);
}

bool store_rounded(Range range, const Plan *plan, size_t i, size_t j, mpfr_exp_t exponent,
                   bool negative)
{
    mpfr_exp_t a = plan->a.exponent[i], b = plan->b.exponent[j];
    if (plan_by_loop(plan, i, j) || a == LINE_ZERO || b == LINE_ZERO ||
        exponent + a + b <= range.emin || exponent + a + b >= range.emax) {
        return false;
    }
    put(plan_entry(plan, i, j), negative, exponent + a + b);
    return true;
}

void store_integer(Range range, const Plan *plan, size_t i, size_t j, ScaledInteger number)
{
    mpfr_exp_t a = plan->a.exponent[i], b = plan->b.exponent[j];
    if (plan_by_loop(plan, i, j)) {
        store_by_loop(plan, i, j);
    } else if (a == LINE_ZERO || b == LINE_ZERO) {
        store_scaled(range, plan, i, j, (ScaledInteger){0});
    } else {
        number.unit += a + b;
        store_scaled(range, plan, i, j, number);
    }
}

void store_each(const Plan *plan, const void *shared, size_t lines, size_t at_once, LineWork *work)
{
    size_t blocks = (lines + at_once - 1) / at_once;
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_flags_t flags = 0;
    if (plan->threads <= 1 || blocks <= 1) {
        for (size_t b = 0; b < blocks; b++) {
            size_t first = b * at_once, left = lines - first;
            work(plan, shared, first, left < at_once ? left : at_once);
        }
        return;
    }
#pragma omp parallel num_threads(plan->threads) reduction(| : flags)
    {
        ap_thread_enter(emin, emax);
#pragma omp for schedule(dynamic)
        for (size_t b = 0; b < blocks; b++) {
            size_t first = b * at_once, left = lines - first;
            work(plan, shared, first, left < at_once ? left : at_once);
        }
        flags = ap_thread_leave(omp_get_thread_num() != 0);
    }
    mpfr_flags_set(flags);
}

static void loop_rows(const Plan *plan, const void *shared, size_t first, size_t count)
{
    (void)shared;
    for (size_t i = first; i < first + count; i++) {
        for (size_t j = 0; j < plan->n; j++) {
            store_by_loop(plan, i, j);
        }
    }
}

void loop_mul(const Plan *plan)
{
    store_each(plan, NULL, plan->m, 1, loop_rows);
}
