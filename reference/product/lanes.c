/*
 * Rows of numbers: several at a time where that can be, and each by itself.
 */
#include "lanes.h"

#include "wide.h"

#include "../numbers/ap.h"
#include "../numbers/limbs_number.h"

#include <string.h>

/* Numbers that are made of doubles at once. */
enum { EIGHT = 8 };

static void each_alone(const LanesRow *row, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        mpfr_srcptr a = row->a.first + i * row->a.step, b = row->b.first + i * row->b.step;
        switch (row->operation) {
        case LANES_ADD: limbs_add(row->y + i, a, b); break;
        case LANES_SUB: limbs_sub(row->y + i, a, b); break;
        case LANES_MUL: limbs_mul(row->y + i, a, b); break;
        case LANES_DIV: limbs_div(row->y + i, a, b); break;
        case LANES_ADD_MUL:
            limbs_mul(row->t, a, b);
            limbs_add(row->y + i, row->y + i, row->t);
            break;
        }
    }
}

static void operate(const LanesRow *row, size_t count)
{
    if (wide()->rows == NULL || !wide()->rows(row, count, each_alone)) {
        each_alone(row, 0, count);
    }
}

void lanes_add(mpfr_ptr y, Numbers a, Numbers b, size_t count)
{
    operate(&(LanesRow){LANES_ADD, y, a, b, NULL}, count);
}

void lanes_sub(mpfr_ptr y, Numbers a, Numbers b, size_t count)
{
    operate(&(LanesRow){LANES_SUB, y, a, b, NULL}, count);
}

void lanes_mul(mpfr_ptr y, Numbers a, Numbers b, size_t count)
{
    operate(&(LanesRow){LANES_MUL, y, a, b, NULL}, count);
}

void lanes_div(mpfr_ptr y, Numbers a, Numbers b, size_t count)
{
    operate(&(LanesRow){LANES_DIV, y, a, b, NULL}, count);
}

void lanes_add_doubles(mpfr_ptr y, const double *d, size_t count)
{
    mp_limb_t limb[EIGHT][LIMBS_MOST];
    __mpfr_struct number[EIGHT];
    if (count == 0 || !has_room(y)) {
        for (size_t i = 0; i < count; i++) {
            mpfr_add_d(y + i, y + i, d[i], MPFR_RNDN);
        }
        return;
    }
    size_t limbs = (size_t)mpfr_get_prec(y) / 64;
    for (size_t i = 0; i < EIGHT; i++) {
        mpfr_custom_init_set(number + i, MPFR_ZERO_KIND, 0, mpfr_get_prec(y),
                             &limb[0][0] + i * limbs);
    }
    for (size_t i = 0; i < count; i += EIGHT) {
        size_t some = count - i < EIGHT ? count - i : EIGHT;
        for (size_t k = 0; k < some; k++) {
            limbs_set_d(number + k, d[i + k]);
        }
        lanes_add(y + i, numbers_row(y + i), numbers_row(number), some);
    }
}

void lanes_set(mpfr_ptr y, mpfr_srcptr a, size_t count)
{
    bool alike = count > 0 && mpfr_get_prec(y) == mpfr_get_prec(a);
    if (alike) {
        memmove(mpfr_custom_get_significand(y), mpfr_custom_get_significand(a),
                count * mpfr_custom_get_size(mpfr_get_prec(y)));
    }
    for (size_t i = 0; i < count; i++) {
        if (alike) {
            void *limb = mpfr_custom_get_significand(y + i);
            y[i] = a[i];
            mpfr_custom_move(y + i, limb);
        } else {
            limbs_set(y + i, a + i);
        }
    }
}

void lanes_zero(mpfr_ptr y, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mpfr_custom_init_set(y + i, MPFR_ZERO_KIND, 0, mpfr_get_prec(y),
                             mpfr_custom_get_significand(y + i));
    }
}

void lanes_sum(mpfr_ptr sum, mpfr_srcptr a, size_t count, mpfr_ptr t)
{
    if (count == 0) {
        mpfr_set_zero(sum, 1);
        return;
    }
    mpfr_srcptr from = a;
    while (count > 1) {
        size_t pairs = count / 2, half = count - pairs;
        lanes_add(t, numbers_row(from), numbers_row(from + half), pairs);
        if (half > pairs) {
            limbs_set(t + pairs, from + pairs);
        }
        from = t;
        count = half;
    }
    limbs_set(sum, from);
}

void lanes_add_mul(mpfr_ptr y, Numbers a, Numbers b, size_t count, mpfr_ptr t)
{
    operate(&(LanesRow){LANES_ADD_MUL, y, a, b, t}, count);
}
