/*
 * Eight numbers at once on AVX-512 IFMA: the same steps as limbs.c, a lane each.
 *
 * A number is 0.limbs 2^exponent, the highest bit of its last limb set.  Sums are made of limbs;
 * for products limbs become digits of 52 bits, whose products are exact, and those limbs again.
 * What is cut off decides rounding as one bit.  Operands that are neither plain numbers nor 0 are
 * left to the form that does one at a time.
 */
#include "lanes_eight.h"

#include "ifma_block.h"

#ifdef __x86_64__

#include "lanes_add.h"
#include "lanes_divide.h"

enum { DIGIT = 52, DIGITS_MOST = (64 * LIMBS_MOST + DIGIT - 1) / DIGIT };

/* x with limbs that are all 0 where x is 0, and there with the exponent of what it is added to: it
 * leaves that as it is. */
EIGHT Eight with_zeros(const Eight *x, __m512i other, const int N)
{
    Eight y = *x;
    __mmask8 none = are_zero(x);
    y.exponent = _mm512_mask_mov_epi64(y.exponent, none, other);
    UNROLL
    for (int i = 0; i < N; i++) {
        y.limb[i] = _mm512_mask_mov_epi64(y.limb[i], none, zero());
    }
    return y;
}

EIGHT void add_eight(Eight *y, const Eight *a, const Eight *b, const int N, const int n)
{
    if ((are_zero(a) | are_zero(b)) == 0) {
        add_numbers(y, addend(a), addend(b), N, n);
    } else {
        Eight u = with_zeros(a, b->exponent, N), v = with_zeros(b, a->exponent, N);
        add_numbers(y, addend(&u), addend(&v), N, n);
    }
}

/* Digits of 52 bits of N limbs, the least significant first. */
EIGHT void to_digits(__m512i *digit, const __m512i *limb, const int N)
{
    UNROLL
    for (int w = 0; w * DIGIT < 64 * N; w++) {
        const int at = w * DIGIT / 64;
        const unsigned off = (unsigned)(w * DIGIT % 64);
        __m512i word = _mm512_srli_epi64(limb[at], off);
        if (off + DIGIT > 64 && at + 1 < N) {
            word = _mm512_or_si512(word, _mm512_slli_epi64(limb[at + 1], 64 - off));
        }
        digit[w] = _mm512_and_si512(word, all(IFMA_MASK));
    }
}

/* The limbs of so many digits. */
EIGHT void to_limbs(__m512i *limb, const __m512i *digit, const int count, const int limbs)
{
    UNROLL
    for (int l = 0; l < limbs; l++) {
        const int at = l * 64 / DIGIT;
        const unsigned off = (unsigned)(l * 64 % DIGIT);
        limb[l] = _mm512_srli_epi64(digit[at], off);
        if (at + 1 < count) {
            limb[l] = _mm512_or_si512(limb[l], _mm512_slli_epi64(digit[at + 1], DIGIT - off));
        }
        if (at + 2 < count && 2 * DIGIT - off < 64) {
            limb[l] = _mm512_or_si512(limb[l], _mm512_slli_epi64(digit[at + 2], 2 * DIGIT - off));
        }
    }
}

/* y = a b, operands of N limbs, result of n. */
EIGHT void multiply_eight(Eight *y, const Eight *a, const Eight *b, const int N, const int n)
{
    const int D = (64 * N + DIGIT - 1) / DIGIT;
    __m512i u[DIGITS_MOST], v[DIGITS_MOST], low[2 * DIGITS_MOST], high[2 * DIGITS_MOST];
    __m512i limb[2 * LIMBS_MOST], carry = zero();
    to_digits(u, a->limb, N);
    to_digits(v, b->limb, N);
    UNROLL
    for (int w = 0; w < 2 * D; w++) {
        low[w] = high[w] = zero();
    }
    UNROLL
    for (int i = 0; i < D; i++) {
        UNROLL
        for (int j = 0; j < D; j++) {
            low[i + j] = _mm512_madd52lo_epu64(low[i + j], u[i], v[j]);
            high[i + j + 1] = _mm512_madd52hi_epu64(high[i + j + 1], u[i], v[j]);
        }
    }
    UNROLL
    for (int w = 0; w < 2 * D; w++) {
        __m512i sum = _mm512_add_epi64(_mm512_add_epi64(low[w], high[w]), carry);
        low[w] = _mm512_and_si512(sum, all(IFMA_MASK));
        carry = _mm512_srli_epi64(sum, DIGIT);
    }
    to_limbs(limb, low, 2 * D, 2 * N);
    __m512i up = _mm512_lzcnt_epi64(limb[2 * N - 1]), down = _mm512_sub_epi64(all(64), up);
    UNROLL
    for (int i = 2 * N - 1; i >= 0; i--) {
        __m512i below = i > 0 ? _mm512_srlv_epi64(limb[i - 1], down) : zero();
        limb[i] = _mm512_or_si512(_mm512_sllv_epi64(limb[i], up), below);
    }
    y->negative = a->negative ^ b->negative;
    y->exponent = _mm512_sub_epi64(_mm512_add_epi64(a->exponent, b->exponent), up);
    round_to(y, limb, 2 * N, zero(), n);
    set_zeros(y, are_zero(a) | are_zero(b), y->negative);
}

/* y = a / b, b not 0; returns the lanes that are done: whose rounding the limbs of a quotient
 * decide. */
EIGHT __mmask8 quotient_eight(Eight *y, const Eight *a, const Eight *b, const int N, const int n)
{
    __m512i limb[LIMBS_MOST + 1];
    __mmask8 done = divide_eight(limb, &y->exponent, a, b, N, n);
    y->negative = a->negative ^ b->negative;
    round_to(y, limb, n + 1, zero(), n);
    set_zeros(y, are_zero(a), y->negative);
    return (done | are_zero(a)) & (__mmask8)~are_zero(b);
}

/* out = entries i to i + 7 of a row; false: one by one. */
EIGHT bool operate(Eight *out, const LanesRow *row, size_t i, const LanesOperation operation,
                   const int N, const int n)
{
    Eight a, b, y, product;
    if ((load(&a, &row->a, i, N) & load(&b, &row->b, i, N)) != ALL) {
        return false;
    }
    switch (operation) {
    case LANES_SUB: b.negative = (__mmask8)~b.negative; /* fall through */
    case LANES_ADD: add_eight(out, &a, &b, N, n); return true;
    case LANES_MUL: multiply_eight(out, &a, &b, N, n); return true;
    case LANES_DIV: return quotient_eight(out, &a, &b, N, n) == ALL;
    case LANES_ADD_MUL: break;
    }
    if (load_row(&y, row->y + i, n, n) != ALL) {
        return false;
    }
    multiply_eight(&product, &a, &b, N, n);
    add_eight(out, &y, &product, n, n);
    return true;
}

/* Where eights leave some over, those are the end of one that begins inside the eight before.  It
 * is made first, since y may be a or b, and stored last: what two make is the same. */
EIGHT void operate_row(const LanesRow *row, size_t count, LanesRest *rest,
                       const LanesOperation operation, const int N, const int n)
{
    const size_t over = count % LANES;
    Eight out, end = {.negative = 0};
    bool ended = false;
    for (size_t k = over == 0 ? 1 : 0; k <= count / LANES; k++) {
        size_t i = k == 0 ? count - LANES : (k - 1) * LANES;
        bool done = operate(&out, row, i, operation, N, n);
        if (k == 0) {
            end = out;
            ended = done;
        } else if (done) {
            store(row->y + i, &out, n);
        } else {
            rest(row, i, LANES);
        }
    }
    if (ended) {
        store(row->y + count - LANES, &end, n);
    } else {
        rest(row, count - over, over);
    }
}

/* An operation, for limbs of operands and of results. */
#define ROW(operation, N, n)                                                                       \
    case (N)*10 + (n):                                                                             \
        operate_row(row, count, rest, operation, N, n);                                            \
        return true;
#define OPERATION(name, operation)                                                                 \
    EIGHTS static bool name(const LanesRow *row, size_t count, LanesRest *rest, int limbs)         \
    {                                                                                              \
        switch (limbs) {                                                                           \
            ROW(operation, 1, 1)                                                                   \
            ROW(operation, 2, 2)                                                                   \
            ROW(operation, 3, 2)                                                                   \
            ROW(operation, 3, 3)                                                                   \
            ROW(operation, 4, 2)                                                                   \
            ROW(operation, 4, 4)                                                                   \
        default: return false;                                                                     \
        }                                                                                          \
    }
OPERATION(add_row, LANES_ADD)
OPERATION(sub_row, LANES_SUB)
OPERATION(mul_row, LANES_MUL)
OPERATION(div_row, LANES_DIV)
OPERATION(add_mul_row, LANES_ADD_MUL)

static bool are_numbers(const Numbers *numbers, size_t count)
{
    return is_row(numbers->first, numbers->step == 0 ? 1 : count);
}

bool lanes_eights(const LanesRow *row, size_t count, LanesRest *rest)
{
    static const __typeof__(&add_row) operation[] = {add_row, sub_row, mul_row, div_row,
                                                     add_mul_row};
    if (!is_row(row->y, count) || !are_numbers(&row->a, count) || !are_numbers(&row->b, count) ||
        !ifma_has()) {
        return false;
    }
    int na = (int)(mpfr_get_prec(row->a.first) / 64), nb = (int)(mpfr_get_prec(row->b.first) / 64);
    int n = (int)(mpfr_get_prec(row->y) / 64), operands = na > nb ? na : nb;
    return operation[row->operation](row, count, rest, (operands > n ? operands : n) * 10 + n);
}

#else

bool lanes_eights(const LanesRow *row, size_t count, LanesRest *rest)
{
    (void)row, (void)count, (void)rest;
    return false;
}

#endif
