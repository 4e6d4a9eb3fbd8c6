/*
 * Fractions of 52-bit digits from entries: eight digits of an MPFR number at once, or a digit of
 * eight doubles.
 */
#include "ifma_pack.h"

#include "ifma_pack_eight.h"
#include "internal.h"

#ifdef __x86_64__

#include "wide.h"

#define INLINE WIDE_INLINE

enum { DIGIT = 52, CHUNKS = IFMA_DIGITS / IFMA_LANES, CARRY_EVERY = 1024 };
static_assert(CHUNKS * IFMA_LANES == IFMA_DIGITS, "digits come in eights");

INLINE __m512i all(long long x)
{
    return _mm512_set1_epi64(x);
}

/* Digits [first, first + 8) of 0.[lead zeros]limbs.  The lowest bit of digit d is bit
 * 64 count + lead - 52 (d + 1) of the limbs; eight limbs reach from the last digit to the first. */
INLINE __m512i eight_digits(const Entry *x, mpfr_exp_t lead, size_t first)
{
    long lowest = 64 * (long)x->count + lead - DIGIT * (long)(first + IFMA_LANES);
    size_t base = lowest < 0 ? 0 : (size_t)lowest / 64;
    base = base < x->count ? base : x->count;
    size_t left = x->count - base;
    __mmask8 there = (__mmask8)(left < 8 ? (1U << left) - 1 : 0xff);
    const mp_limb_t *from = left > 0 ? x->limb + base : &x->own; /* zero may have none */
    __m512i limb = _mm512_maskz_loadu_epi64(there, from);
    const __m512i up = _mm512_set_epi64(0, 52, 104, 156, 208, 260, 312, 364);
    __m512i bit = _mm512_add_epi64(all(lowest - 64 * (long)base), up);
    __m512i word = _mm512_srai_epi64(bit, 6), next = _mm512_add_epi64(word, all(1));
    __m512i offset = _mm512_and_si512(bit, all(63));
    __m512i low = _mm512_maskz_permutexvar_epi64(_mm512_cmplt_epu64_mask(word, all(8)), word, limb);
    __m512i high =
        _mm512_maskz_permutexvar_epi64(_mm512_cmplt_epu64_mask(next, all(8)), next, limb);
    __m512i bits = _mm512_or_si512(_mm512_srlv_epi64(low, offset),
                                   _mm512_sllv_epi64(high, _mm512_sub_epi64(all(64), offset)));
    return _mm512_and_si512(bits, all(IFMA_MASK));
}

/* Vectors of an entry's digits, [chunk][lane], or of a digit of every lane, [digit]. */
typedef struct {
    __m512i of[CHUNKS * IFMA_LANES];
} Block;

WIDE void ifma_digits(uint64_t (*out)[IFMA_LANES], size_t count, const Entry *x,
                      const mpfr_exp_t *lead)
{
    for (size_t first = 0; first < count; first += IFMA_LANES) {
        __m512i digit[IFMA_LANES];
        for (size_t lane = 0; lane < IFMA_LANES; lane++) {
            digit[lane] = eight_digits(&x[lane], lead[lane], first);
        }
        wide_transpose(digit);
        for (size_t d = 0; d < IFMA_LANES && first + d < count; d++) {
            _mm512_storeu_si512(out[first + d], digit[d]);
        }
    }
}

/* -x = ~x + 1, the 1 added where the carry from the digits after these brings it. */
INLINE __m512i negated(__m512i x, bool *carry)
{
    unsigned filled = _mm512_cmpneq_epi64_mask(x, _mm512_setzero_si512());
    unsigned from = filled != 0 ? 31 - (unsigned)__builtin_clz(filled) : 0;
    __mmask8 plus = (__mmask8)(*carry ? 0xff << from : 0);
    *carry = *carry && filled == 0;
    x = _mm512_xor_si512(x, all(IFMA_MASK));
    return _mm512_and_si512(_mm512_mask_add_epi64(x, plus, x, all(1)), all(IFMA_MASK));
}

/* Digits of alpha of an MPFR number, to x[chunk][0].  Cut off: -x - 2^-52D is as good as -x. */
INLINE void pack_real(__m512i *x, const Operand *o, size_t line, size_t position,
                      const size_t chunks, const bool fits)
{
    const __m512i half = _mm512_maskz_set1_epi64(1, (long long)1 << (DIGIT - 1));
    Entry e;
    entry_load_real(&e, o->entry + o->line_at[line] + o->depth_at[position]);
    mpfr_exp_t lead = e.count == 0 ? 0 : o->exponent[line] - e.exponent + 1;
    __mmask8 negative = (__mmask8) - (int)(e.negative & (e.count != 0));
    bool carry = true;
    for (size_t chunk = chunks; chunk-- > 0;) {
        __m512i digit = eight_digits(&e, lead, chunk * IFMA_LANES);
        digit = fits ? _mm512_mask_mov_epi64(digit, negative, negated(digit, &carry))
                     : _mm512_mask_xor_epi64(digit, negative, digit, all(IFMA_MASK));
        x[chunk * IFMA_LANES] = chunk == 0 ? _mm512_xor_si512(digit, half) : digit;
    }
}

/* One entry of each line.  Called with constants where it pays: most numbers are cut off and have
 * one chunk. */
INLINE void pack_reals(Block *x, Block *sums, const IfmaPacking *p, const size_t *line,
                       size_t position, const size_t chunks, const bool fits)
{
    for (size_t lane = 0; lane < p->lanes; lane++) {
        pack_real(x->of + lane, p->operand, line[lane], position, chunks, fits);
        for (size_t chunk = 0; chunk < chunks; chunk++) {
            size_t i = chunk * IFMA_LANES + lane;
            sums->of[i] = _mm512_add_epi64(sums->of[i], x->of[i]);
        }
    }
}

/* Eight doubles: 0.[lead zeros]mantissa in the scale of x / 2; a denormal's mantissa begins with
 * zeros. */
typedef struct {
    __m512i mantissa, lead;
    __mmask8 negative;
} Doubles;

INLINE Doubles doubles_load(const double *number, __m512i at, __m512i line_exponent)
{
    __m512i word = _mm512_i64gather_epi64(at, (const long long *)number, 8);
    __m512i fraction = _mm512_and_si512(word, all((1LL << 52) - 1));
    __m512i biased = _mm512_and_si512(_mm512_srli_epi64(word, 52), all(0x7ff));
    __mmask8 normal = _mm512_cmpneq_epi64_mask(biased, _mm512_setzero_si512());
    __mmask8 nonzero = _mm512_cmpneq_epi64_mask(_mm512_slli_epi64(word, 1), _mm512_setzero_si512());
    fraction = _mm512_mask_or_epi64(fraction, normal, fraction, all(1LL << 52));
    __m512i exponent = _mm512_sub_epi64(_mm512_max_epi64(biased, all(1)), all(1022 + 1));
    return (Doubles){_mm512_slli_epi64(fraction, 11), _mm512_sub_epi64(line_exponent, exponent),
                     _mm512_mask_cmplt_epi64_mask(nonzero, word, _mm512_setzero_si512())};
}

/* A digit of each of their alphas, to x[digit]. */
INLINE void pack_doubles(Block *x, Block *sums, const IfmaPacking *p, const Doubles *from)
{
    __m512i flip = _mm512_maskz_mov_epi64(from->negative, all(IFMA_MASK));
    __m512i carry = _mm512_maskz_mov_epi64(p->fits ? from->negative : 0, all(1));
    for (size_t d = p->digits; d-- > 0;) {
        /* A shift by what is below 0, or above 63, gives 0. */
        __m512i down = _mm512_add_epi64(from->lead, all(64 - DIGIT * (long long)(d + 1)));
        __m512i up = _mm512_sub_epi64(_mm512_setzero_si512(), down);
        __m512i bits = _mm512_or_si512(_mm512_srlv_epi64(from->mantissa, down),
                                       _mm512_sllv_epi64(from->mantissa, up));
        __m512i digit = _mm512_and_si512(bits, all(IFMA_MASK));
        digit = _mm512_add_epi64(_mm512_xor_si512(digit, flip), carry);
        carry = _mm512_srli_epi64(digit, DIGIT);
        digit = _mm512_and_si512(digit, all(IFMA_MASK));
        digit = d == 0 ? _mm512_xor_si512(digit, all(1LL << (DIGIT - 1))) : digit;
        x->of[d] = digit;
        sums->of[d] = _mm512_add_epi64(sums->of[d], digit);
    }
}

/* Stores a block as p says; x is overwritten. */
INLINE void put(uint64_t *out, Block *x, const IfmaPacking *p, bool by_digit)
{
    for (size_t first = 0; first < p->digits; first += IFMA_LANES) {
        size_t left = p->digits - first, count = left < IFMA_LANES ? left : IFMA_LANES;
        __m512i *chunk = x->of + first;
        if (by_digit != p->by_digit) {
            wide_transpose(chunk);
        }
        if (p->by_digit) {
            for (size_t d = 0; d < count; d++) {
                _mm512_store_si512(out + (first + d) * IFMA_LANES, chunk[d]);
            }
        } else {
            for (size_t lane = 0; lane < p->lanes; lane++) {
                _mm512_mask_storeu_epi64(out + lane * p->digits + first,
                                         (__mmask8)((1U << count) - 1), chunk[lane]);
            }
        }
    }
}

/* sum[lane][1 + digit] += sums, carried; sums = 0. */
static void take_sums(int64_t (*sum)[IFMA_COLUMNS], Block *sums, const IfmaPacking *p)
{
    int64_t of[CHUNKS * IFMA_LANES][IFMA_LANES];
    memcpy(of, sums->of, sizeof of);
    for (size_t lane = 0; lane < p->lanes; lane++) {
        for (size_t d = 0; d < p->digits; d++) {
            sum[lane][1 + d] += p->operand->number != NULL
                                    ? of[d][lane]
                                    : of[d / IFMA_LANES * IFMA_LANES + lane][d % IFMA_LANES];
        }
        for (size_t w = p->digits + 1; w-- > 1;) {
            sum[lane][w - 1] += sum[lane][w] >> DIGIT;
            sum[lane][w] &= (int64_t)IFMA_MASK;
        }
    }
    memset(sums, 0, sizeof *sums);
}

WIDE void ifma_pack(uint64_t *out, int64_t (*sum)[IFMA_COLUMNS], const IfmaPacking *p)
{
    const Operand *o = p->operand;
    if (ifma_pack_eights(out, sum, p)) {
        return;
    }
    Block sums = {0}, x = {0};
    size_t line[IFMA_LANES];
    _Alignas(64) long long at[IFMA_LANES], exponent[IFMA_LANES];
    for (size_t lane = 0; lane < IFMA_LANES; lane++) {
        size_t wanted = p->first + lane;
        line[lane] = wanted < o->lines ? wanted : o->lines - 1;
        at[lane] = (long long)o->line_at[line[lane]];
        exponent[lane] = o->exponent[line[lane]];
    }
    memset(sum, 0, p->lanes * sizeof *sum);
    for (size_t l = 0; l < o->depth; l++, out += p->lanes * p->digits) {
        if (o->number != NULL) {
            __m512i from = _mm512_add_epi64(_mm512_load_si512(at), all((long long)o->depth_at[l]));
            Doubles doubles = doubles_load(o->number, from, _mm512_load_si512(exponent));
            pack_doubles(&x, &sums, p, &doubles);
        } else if (p->digits <= IFMA_LANES && !p->fits) {
            pack_reals(&x, &sums, p, line, l, 1, false);
        } else {
            pack_reals(&x, &sums, p, line, l, (p->digits - 1) / IFMA_LANES + 1, p->fits);
        }
        put(out, &x, p, o->number != NULL);
        if (l % CARRY_EVERY == CARRY_EVERY - 1 || l + 1 == o->depth) {
            take_sums(sum, &sums, p);
        }
    }
}

#else

void ifma_digits(uint64_t (*out)[IFMA_LANES], size_t count, const Entry *x, const mpfr_exp_t *lead)
{
    (void)out;
    (void)count;
    (void)x;
    (void)lead;
    PRODUCT_CHECK(!"built for another CPU");
}

#endif
