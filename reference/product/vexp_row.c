/*
 * Eight neighbours' exponentials: arguments read, cut into digits, and results rounded and stored,
 * all eight at once.
 */
#include "vexp_row.h"

#include "ifma_block.h"

#ifdef __x86_64__

#include "lanes_memory.h"

enum { DIGIT = 52, MOST_EXPONENT = 20 };

/* e = x to x + 7; returns the lanes that are 0, of an exponent below all others, or plain. */
EIGHT __mmask8 load_arguments(Eight *e, mpfr_srcptr x)
{
    switch (mpfr_get_prec(x) / 64) {
    case 1: return load_row(e, x, 1, LIMBS_MOST);
    case 2: return load_row(e, x, 2, LIMBS_MOST);
    case 3: return load_row(e, x, 3, LIMBS_MOST);
    default: return load_row(e, x, LIMBS_MOST, LIMBS_MOST);
    }
}

/* |x|'s digits, an integer's and D + 1 of fraction.  False: out of range. */
EIGHT bool read_arguments(ExpLanes *lanes, mpfr_srcptr x, const int D)
{
    const int digits = D + 2, size = (DIGIT * digits + 63) / 64;
    __m512i word[LANES];
    Eight e;
    __mmask8 plain = load_arguments(&e, x);
    if ((plain & _mm512_cmple_epi64_mask(e.exponent, all(MOST_EXPONENT))) != ALL) {
        return false;
    }
    UNROLL
    for (int i = 0; i < size; i++) {
        int limb = i - (size - LIMBS_MOST);
        word[i] = limb < 0 ? zero() : e.limb[limb];
    }
    (void)shift_down(word, size, _mm512_sub_epi64(all(DIGIT), e.exponent)); /* 0 has nothing left */
    UNROLL
    for (int d = 0; d < digits; d++) {
        const int low = 64 * size - DIGIT * (d + 1), at = low / 64;
        const unsigned off = (unsigned)low % 64;
        __m512i bits = _mm512_srli_epi64(word[at], off);
        if (off + DIGIT > 64) {
            bits = _mm512_or_si512(bits, _mm512_slli_epi64(word[at + 1], 64 - off));
        }
        _mm512_store_si512(lanes->x[d], _mm512_and_si512(bits, all(IFMA_MASK)));
    }
    lanes->negative = e.negative;
    return true;
}

/* y = 2^n times limbs, of which the integer part, 1 or 2, is bits 52 D and 52 D + 1. */
EIGHT void store_results(mpfr_ptr y, const ExpLanes *lanes, const int D, const int n)
{
    const int size = DIGIT * D / 64 + 1;
    __m512i word[LANES];
    UNROLL
    for (int i = 0; i < size; i++) {
        word[i] = _mm512_load_si512(lanes->limb[i]);
    }
    __m512i up = _mm512_lzcnt_epi64(word[size - 1]), down = _mm512_sub_epi64(all(64), up);
    UNROLL
    for (int i = size - 1; i > 0; i--) {
        word[i] =
            _mm512_or_si512(_mm512_sllv_epi64(word[i], up), _mm512_srlv_epi64(word[i - 1], down));
    }
    word[0] = _mm512_sllv_epi64(word[0], up);
    Eight e = {.negative = 0};
    e.exponent = _mm512_sub_epi64(_mm512_load_si512(lanes->n), up);
    e.exponent = _mm512_add_epi64(e.exponent, all((uint64_t)(64 * size - DIGIT * D)));
    round_to(&e, word, size, zero(), n);
    store(y, &e, n);
}

/* For D digits and results of n limbs. */
#define ROW_OF(D, n)                                                                               \
    EIGHTS static bool row_##D##_##n(const ExpTables *tables, mpfr_ptr y, mpfr_srcptr x)           \
    {                                                                                              \
        ExpLanes lanes;                                                                            \
        if (!read_arguments(&lanes, x, D)) {                                                       \
            return false;                                                                          \
        }                                                                                          \
        vexp_lanes(&lanes, tables);                                                                \
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

bool vexp_is_row(const ExpTables *tables, mpfr_srcptr y, mpfr_srcptr x, size_t count)
{
    return count >= LANES && row_of(tables, y) != NULL && is_row(y, count) && is_row(x, count);
}

bool vexp_row(const ExpTables *tables, mpfr_ptr y, mpfr_srcptr x)
{
    return row_of(tables, y)(tables, y, x);
}

#else

bool vexp_is_row(const ExpTables *tables, mpfr_srcptr y, mpfr_srcptr x, size_t count)
{
    (void)tables, (void)y, (void)x, (void)count;
    return false;
}

bool vexp_row(const ExpTables *tables, mpfr_ptr y, mpfr_srcptr x)
{
    (void)tables, (void)y, (void)x;
    return false;
}

#endif
