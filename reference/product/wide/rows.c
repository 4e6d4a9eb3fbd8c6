/*
 * Rows of numbers, LANES at once: the same steps as limbs.c, a lane each.
 *
 * A number is 0.limbs 2^exponent, the highest bit of its last limb set.  Sums are made of limbs;
 * for products limbs become digits of 52 bits, whose products are exact, and those limbs again.
 * What is cut off decides rounding as one bit.  Operands that are neither plain numbers nor 0 are
 * left to the form that does one at a time.
 */
#include "add.h"
#include "divide.h"
#include "wide.h"

enum { DIGITS_MOST = (64 * LANE_LIMBS + DIGIT - 1) / DIGIT };

/* x with limbs that are all 0 where x is 0: MPFR's exponent of 0 is below all others, so that it
 * leaves what it is added to as it is. */
INLINE Lanes with_zeros(const Lanes *x, const int n)
{
    Lanes y = *x;
    Mask none = are_zero(x);
    UNROLL
    for (int i = 0; i < n; i++) {
        y.limb[i] = select(none, zero(), y.limb[i]);
    }
    return y;
}

INLINE void add_lanes(Lanes *y, const Lanes *a, const Lanes *b, const int n)
{
    Lanes u = *a, v = *b;
    if (any(are_zero(a) | are_zero(b))) {
        u = with_zeros(a, n);
        v = with_zeros(b, n);
    }
    add_numbers(y, addend(&u), addend(&v), n, n);
}

/* Digits of 52 bits of n limbs, the least significant first, as factors. */
INLINE void to_factors(Words *digit, const Words *limb, const int n)
{
    UNROLL
    for (int w = 0; w * DIGIT < 64 * n; w++) {
        digit[w] = factor_of(digit_from(limb, n, w * DIGIT));
    }
}

/* The limbs of so many digits. */
INLINE void to_limbs(Words *limb, const Words *digit, const int count, const int limbs)
{
    UNROLL
    for (int l = 0; l < limbs; l++) {
        const int at = l * 64 / DIGIT;
        const unsigned off = (unsigned)(l * 64 % DIGIT);
        limb[l] = digit[at] >> off;
        if (at + 1 < count) {
            limb[l] = limb[l] | (digit[at + 1] << (DIGIT - off));
        }
        if (at + 2 < count && 2 * DIGIT - off < 64) {
            limb[l] = limb[l] | (digit[at + 2] << (2 * DIGIT - off));
        }
    }
}

/* y = a b, operands of n limbs, result of n. */
INLINE void multiply_lanes(Lanes *y, const Lanes *a, const Lanes *b, const int n)
{
    const int D = (64 * n + DIGIT - 1) / DIGIT;
    Words u[DIGITS_MOST], v[DIGITS_MOST], low[2 * DIGITS_MOST], high[2 * DIGITS_MOST];
    Words limb[2 * LANE_LIMBS], carry = zero();
    to_factors(u, a->limb, n);
    to_factors(v, b->limb, n);
    UNROLL
    for (int w = 0; w < 2 * D; w++) { /* pairs of digits that add to w; to w - 1 */
        const int lows = w < D ? w + 1 : 2 * D - 1 - w, highs = w <= D ? w : 2 * D - w;
        low[w] = sum_start(0, (size_t)lows);
        high[w] = sum_start((size_t)highs, 0);
    }
    UNROLL
    for (int i = 0; i < D; i++) {
        UNROLL
        for (int j = 0; j < D; j++) {
            add_product(&high[i + j + 1], &low[i + j], u[i], v[j]);
        }
    }
    UNROLL
    for (int w = 0; w < 2 * D; w++) {
        Words sum = (low[w] + high[w]) + carry;
        low[w] = sum & all(DIGIT_MASK);
        carry = sum >> DIGIT;
    }
    to_limbs(limb, low, 2 * D, 2 * n);
    Words up = leading_zeros(limb[2 * n - 1]);
    shift_up(limb, 2 * n, up);
    y->negative = a->negative ^ b->negative;
    y->exponent = (a->exponent + b->exponent) - up;
    round_to(y, limb, 2 * n, zero(), n);
    set_zeros(y, are_zero(a) | are_zero(b), y->negative);
}

/* y = a / b, b not 0; returns the lanes that are done: whose rounding the limbs of a quotient
 * decide. */
INLINE Mask quotient_lanes(Lanes *y, const Lanes *a, const Lanes *b, const int n)
{
    Words limb[LANE_LIMBS + 1];
    Mask done = divide_lanes(limb, &y->exponent, a, b, n);
    y->negative = a->negative ^ b->negative;
    round_to(y, limb, n + 1, zero(), n);
    set_zeros(y, are_zero(a), y->negative);
    return (done | are_zero(a)) & not(are_zero(b));
}

/* out = entries i to i + LANES - 1 of a row; false: one by one. */
INLINE bool operate(Lanes *out, const LanesRow *row, size_t i, const LanesOperation operation,
                    const int n)
{
    Lanes a, b, y, product;
    if (!every(load_numbers(&a, &row->a, i, n) & load_numbers(&b, &row->b, i, n))) {
        return false;
    }
    switch (operation) {
    case LANES_SUB:
    case LANES_ADD:
        b.negative = b.negative ^ all_lanes(row->operation == LANES_SUB);
        add_lanes(out, &a, &b, n);
        return true;
    case LANES_MUL: multiply_lanes(out, &a, &b, n); return true;
    case LANES_DIV: return every(quotient_lanes(out, &a, &b, n));
    case LANES_ADD_MUL: break;
    }
    if (!every(load_row(&y, row->y + i, n, n))) {
        return false;
    }
    multiply_lanes(&product, &a, &b, n);
    add_lanes(out, &y, &product, n);
    return true;
}

/* Entries from i on, LANES at a time, to `end`; returns how far it came.  To *out, where that is
 * not NULL: then they are LANES. */
typedef size_t Run(const LanesRow *row, size_t i, size_t end, Lanes *out);

INLINE size_t run(const LanesRow *row, size_t i, size_t end, Lanes *out,
                  const LanesOperation operation, const int n)
{
    Lanes y;
    while (i < end && operate(out != NULL ? out : &y, row, i, operation, n)) {
        if (out == NULL) {
            store_numbers(row->y + i, &y, n);
        }
        i += LANES;
    }
    return i;
}

/* An operation on numbers of so many limbs; a difference is a sum's. */
#define RUN(operation, n)                                                                          \
    static size_t run_##operation##_##n(const LanesRow *row, size_t i, size_t end, Lanes *out)     \
    {                                                                                              \
        return run(row, i, end, out, operation, n);                                                \
    }
#define RUNS(operation)                                                                            \
    RUN(operation, 2) RUN(operation, 3) RUN(operation, 4) RUN(operation, 5) RUN(operation, 6)
RUNS(LANES_ADD)
RUNS(LANES_MUL)
RUNS(LANES_DIV)
RUNS(LANES_ADD_MUL)

#define FROM_TWO(operation)                                                                        \
    {                                                                                              \
        run_##operation##_2, run_##operation##_3, run_##operation##_4, run_##operation##_5,        \
            run_##operation##_6                                                                    \
    }
/* By how many limbs more than two. */
static Run *const runs_from_two[][LANE_LIMBS - 1] = {
    [LANES_ADD] = FROM_TWO(LANES_ADD),         [LANES_SUB] = FROM_TWO(LANES_ADD),
    [LANES_MUL] = FROM_TWO(LANES_MUL),         [LANES_DIV] = FROM_TWO(LANES_DIV),
    [LANES_ADD_MUL] = FROM_TWO(LANES_ADD_MUL),
};

static bool are_numbers(const Numbers *numbers, size_t count)
{
    return is_row(numbers->first, numbers->step == 0 ? 1 : count);
}

static size_t run_exactly(Run *runs, const LanesRow *row, size_t i, size_t end, Lanes *out)
{
    unsigned mode = products_begin();
    size_t done = runs(row, i, end, out);
    products_end(mode);
    return done;
}

/* The rest is the end of LANES entries that begin inside the ones before.  They are made first,
 * since y may be a or b, and stored last: what two make is the same. */
bool wide_rows(const LanesRow *row, size_t count, LanesRest *rest)
{
    if (count < LANES || !is_row(row->y, count) || !are_numbers(&row->a, count) ||
        !are_numbers(&row->b, count)) {
        return false;
    }
    const mpfr_prec_t bits = mpfr_get_prec(row->y);
    if (bits < 128 || mpfr_get_prec(row->a.first) > bits || mpfr_get_prec(row->b.first) > bits) {
        return false;
    }
    const int n = (int)(bits / 64);
    Run *runs = runs_from_two[row->operation][n - 2];
    const size_t over = count % LANES, whole = count - over;
    Lanes last;
    bool ended = over > 0 && run_exactly(runs, row, count - LANES, count, &last) == count;
    for (size_t i = 0; i < whole; i += LANES) {
        i = run_exactly(runs, row, i, whole, NULL);
        if (i < whole) {
            rest(row, i, LANES);
        }
    }
    if (ended) {
        store_numbers(row->y + count - LANES, &last, n);
    } else if (over > 0) {
        rest(row, whole, over);
    }
    return true;
}
