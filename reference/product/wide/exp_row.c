/*
 * Exponentials: of lanes that were read one by one; and of neighbours, whose arguments are read,
 * cut into digits, and results rounded and stored, LANES at once.
 */
#include "exp.h"
#include "memory.h"
#include "wide.h"

enum { MOST_EXPONENT = 20, WORDS_MOST = 8 };

void wide_exp(ExpLanes *lanes, const ExpTables *tables, size_t count)
{
    for (size_t w = 0; w < tables->digits + 2; w++) {
        for (size_t lane = count; lane < VEXP_LANES; lane++) {
            lanes->x[w][lane] = 0;
        }
    }
    unsigned mode = products_begin();
    for (size_t first = 0; first < count; first += LANES) {
        exp_lanes(lanes, first, tables);
    }
    products_end(mode);
}

/* e = x to x + LANES - 1; returns the lanes that are 0, of an exponent below all others, or
 * plain. */
INLINE Mask load_arguments(Lanes *e, mpfr_srcptr x)
{
    switch (mpfr_get_prec(x) / 64) {
    case 1: return load_row(e, x, 1, LIMBS_MOST);
    case 2: return load_row(e, x, 2, LIMBS_MOST);
    case 3: return load_row(e, x, 3, LIMBS_MOST);
    default: return load_row(e, x, LIMBS_MOST, LIMBS_MOST);
    }
}

/* |x|'s digits, an integer's and D + 1 of fraction.  False: out of range. */
INLINE bool read_arguments(ExpLanes *lanes, mpfr_srcptr x, const int D)
{
    const int digits = D + 2, size = (DIGIT * digits + 63) / 64, lower = size - LIMBS_MOST;
    Words word[WORDS_MOST];
    Lanes e;
    Mask plain = load_arguments(&e, x);
    if (!every(plain & not(less(all(MOST_EXPONENT), e.exponent)))) {
        return false;
    }
    UNROLL
    for (int i = 0; i < size; i++) {
        word[i] = i < lower ? zero() : e.limb[i - lower];
    }
    (void)shift_down(word, size, all(DIGIT) - e.exponent); /* 0 has nothing left */
    UNROLL
    for (int d = 0; d < digits; d++) {
        store(lanes->x[d], digit_from(word, size, 64 * size - DIGIT * (d + 1)));
    }
    lanes->negative = bits_of(e.negative);
    return true;
}

/* y = 2^n times limbs, of which the integer part, 1 or 2, is bits 52 D and 52 D + 1. */
INLINE void store_results(mpfr_ptr y, const ExpLanes *lanes, const int D, const int n)
{
    const int size = DIGIT * D / 64 + 1;
    Words word[WORDS_MOST];
    UNROLL
    for (int i = 0; i < size; i++) {
        word[i] = load(lanes->limb[i]);
    }
    Words up = leading_zeros(word[size - 1]);
    shift_up(word, size, up);
    Lanes e = {.negative = all_lanes(false)};
    e.exponent = load(lanes->n) - up;
    e.exponent = e.exponent + all((uint64_t)(64 * size - DIGIT * D));
    round_to(&e, word, size, zero(), n);
    store_numbers(y, &e, n);
}

/* For D digits and results of n limbs. */
#define ROW_OF(D, n)                                                                               \
    static bool row_##D##_##n(const ExpTables *tables, mpfr_ptr y, mpfr_srcptr x)                  \
    {                                                                                              \
        ExpLanes lanes;                                                                            \
        if (!read_arguments(&lanes, x, D)) {                                                       \
            return false;                                                                          \
        }                                                                                          \
        exp_lanes(&lanes, 0, tables);                                                              \
        store_results(y, &lanes, D, n);                                                            \
        return true;                                                                               \
    }
ROW_OF(3, 1)
ROW_OF(3, 2)
ROW_OF(4, 3)
ROW_OF(5, 4)

typedef bool Row(const ExpTables *tables, mpfr_ptr y, mpfr_srcptr x);

/* NULL: not built. */
static Row *row_of(const ExpTables *tables, mpfr_srcptr y)
{
    static Row *const rows[LIMBS_MOST] = {row_3_1, row_3_2, row_4_3, row_5_4};
    static const size_t digits[LIMBS_MOST] = {3, 3, 4, 5};
    size_t n = (size_t)mpfr_get_prec(y) / 64;
    return has_room(y) && n > 0 && tables->digits == digits[n - 1] ? rows[n - 1] : NULL;
}

size_t wide_exp_row(const ExpTables *tables, mpfr_ptr y, mpfr_srcptr x, size_t count)
{
    Row *row = count >= LANES ? row_of(tables, y) : NULL;
    size_t done = 0;
    if (row == NULL || !is_row(y, count) || !has_room(x) || !is_row(x, count)) {
        return 0;
    }
    unsigned mode = products_begin();
    while (count - done >= LANES && row(tables, y + done, x + done)) {
        done += LANES;
    }
    products_end(mode);
    return done;
}
