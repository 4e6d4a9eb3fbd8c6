/*
 * Fractions of 52-bit digits of eight entries at a time: neighbours in memory, which are those of a
 * line, or the entries of eight lines at one depth.
 */
#include "ifma_pack_eight.h"

#ifdef __x86_64__

#include "operand_read.h"
#include "wide.h"

#include <string.h>

/* Digits an entry; positions after which sums of digits are carried. */
enum { DIGIT = 52, MOST = 8, CARRY_EVERY = 1024 };

/* Digit d of alpha of each entry, to digit[d]; D of them. */
EIGHT void alphas(__m512i *digit, const Eight *x, __m512i line_exponent, const bool fits,
                  const int D)
{
    const int size = (DIGIT * D + 63) / 64;
    const __m512i flip = _mm512_maskz_mov_epi64(x->negative, all(IFMA_MASK));
    __m512i carry = _mm512_maskz_mov_epi64(fits ? x->negative : 0, all(1)), word[MOST];
    UNROLL
    for (int i = 0; i < size; i++) {
        int limb = i - (size - LIMBS_MOST);
        word[i] = limb < 0 ? zero() : x->limb[limb];
    }
    __m512i lead = _mm512_add_epi64(_mm512_sub_epi64(line_exponent, x->exponent), all(1));
    (void)shift_down(word, size, lead);
    UNROLL
    for (int d = D - 1; d >= 0; d--) {
        const int low = 64 * size - DIGIT * (d + 1), at = low / 64;
        const unsigned off = (unsigned)low % 64;
        __m512i bits = _mm512_srli_epi64(word[at], off);
        if (off + DIGIT > 64) {
            bits = _mm512_or_si512(bits, _mm512_slli_epi64(word[at + 1], 64 - off));
        }
        bits = _mm512_and_si512(bits, all(IFMA_MASK));
        bits = _mm512_add_epi64(_mm512_xor_si512(bits, flip), carry);
        carry = _mm512_srli_epi64(bits, DIGIT);
        digit[d] = _mm512_and_si512(bits, all(IFMA_MASK));
    }
    digit[0] = _mm512_xor_si512(digit[0], all((uint64_t)1 << (DIGIT - 1)));
}

/* The line of a lane; lines beyond the last are copies of it. */
static size_t line_of(const IfmaPacking *p, size_t lane)
{
    size_t wanted = p->first + lane;
    return wanted < p->operand->lines ? wanted : p->operand->lines - 1;
}

static void carry_sums(int64_t *sum, size_t digits)
{
    for (size_t w = digits + 1; w-- > 1;) {
        sum[w - 1] += sum[w] >> DIGIT;
        sum[w] &= (int64_t)IFMA_MASK;
    }
}

/* Digits of entries [from, from + 8) of a line, to digit; added to sum, [1 + digit]. */
EIGHT bool line_digits(__m512i *digit, __m512i *sum, const IfmaPacking *p, size_t line, size_t from,
                       const bool fits, const int D)
{
    const Operand *o = p->operand;
    size_t left = o->depth - from, lanes = left < LANES ? left : LANES;
    Eight x;
    if (!read_eight(&x, o, o->line_at[line] + o->depth_at[from], lanes)) {
        return false;
    }
    alphas(digit, &x, all((uint64_t)o->exponent[line]), fits, D);
    UNROLL
    for (int d = 0; d < D; d++) {
        sum[d] = _mm512_mask_add_epi64(sum[d], first_lanes(lanes), sum[d], digit[d]);
    }
    return true;
}

/* The lines' digits at some positions: [line][digit] vectors of positions. */
typedef struct {
    __m512i of[IFMA_LANES][MOST];
} Square;

/* out [position][lane][digit] */
EIGHT void put_lines(uint64_t *out, const Square *x, size_t lines, size_t positions, const int D)
{
    for (size_t r = 0; r < lines; r++) {
        __m512i turned[LANES];
        UNROLL
        for (int d = 0; d < LANES; d++) {
            turned[d] = d < D ? x->of[r][d] : zero();
        }
        wide_transpose(turned);
        for (size_t t = 0; t < positions; t++) {
            uint64_t *to = out + (t * lines + r) * (size_t)D;
            _mm512_mask_storeu_epi64(to, first_lanes((size_t)D), turned[t]);
        }
    }
}

/* out [position][digit][lane] */
EIGHT void put_digits(uint64_t *out, const Square *x, size_t positions, const int D)
{
    UNROLL
    for (int d = 0; d < D; d++) {
        __m512i turned[LANES];
        UNROLL
        for (int r = 0; r < LANES; r++) {
            turned[r] = x->of[r][d];
        }
        wide_transpose(turned);
        for (size_t t = 0; t < positions; t++) {
            _mm512_store_si512(out + (t * (size_t)D + (size_t)d) * LANES, turned[t]);
        }
    }
}

/* Lines whose entries are neighbours. */
EIGHT bool pack_lines(uint64_t *out, int64_t (*sum)[IFMA_COLUMNS], const IfmaPacking *p,
                      const bool fits, const int D)
{
    const size_t depth = p->operand->depth, step = p->lanes * (size_t)D;
    for (size_t first = 0; first < depth; first += CARRY_EVERY) {
        Square sums, x;
        size_t end = depth - first < CARRY_EVERY ? depth : first + CARRY_EVERY;
        for (size_t r = 0; r < p->lanes; r++) {
            UNROLL
            for (int d = 0; d < D; d++) {
                sums.of[r][d] = zero();
            }
        }
        for (size_t l = first; l < end; l += LANES) {
            size_t positions = end - l < LANES ? end - l : LANES;
            for (size_t r = 0; r < p->lanes; r++) {
                if (!line_digits(x.of[r], sums.of[r], p, line_of(p, r), l, fits, D)) {
                    return false;
                }
            }
            if (p->by_digit) {
                put_digits(out + l * step, &x, positions, D);
            } else {
                put_lines(out + l * step, &x, p->lanes, positions, D);
            }
        }
        for (size_t r = 0; r < p->lanes; r++) {
            for (int d = 0; d < D; d++) {
                sum[r][1 + d] += _mm512_reduce_add_epi64(sums.of[r][d]);
            }
            carry_sums(sum[r], (size_t)D);
        }
    }
    return true;
}

/* Eight lines that are neighbours; lines beyond the last are of zeros. */
EIGHT bool pack_beside(uint64_t *out, int64_t (*sum)[IFMA_COLUMNS], const IfmaPacking *p,
                       const bool fits, const int D)
{
    const Operand *o = p->operand;
    const size_t left = o->lines - p->first, lanes = left < LANES ? left : LANES;
    const size_t at = o->line_at[p->first];
    const __m512i exponent = _mm512_maskz_loadu_epi64(first_lanes(lanes), o->exponent + p->first);
    __m512i digit[MOST], sums[MOST] = {zero()};
    for (size_t l = 0; l < o->depth; l++) {
        Eight x;
        fetch_ahead(o, p->first, l);
        if (!read_eight(&x, o, at + o->depth_at[l], lanes)) {
            return false;
        }
        alphas(digit, &x, exponent, fits, D);
        UNROLL
        for (int d = 0; d < D; d++) {
            _mm512_store_si512(out + (l * (size_t)D + (size_t)d) * LANES, digit[d]);
            sums[d] = _mm512_add_epi64(sums[d], digit[d]);
        }
        if (l % CARRY_EVERY == CARRY_EVERY - 1 || l + 1 == o->depth) {
            for (int d = 0; d < D; d++) {
                int64_t of[LANES];
                _mm512_storeu_si512(of, sums[d]);
                sums[d] = zero();
                for (size_t lane = 0; lane < LANES; lane++) {
                    sum[lane][1 + d] += of[lane];
                }
            }
            for (size_t lane = 0; lane < LANES; lane++) {
                carry_sums(sum[lane], (size_t)D);
            }
        }
    }
    return true;
}

/* Called with constants, so that loops over digits unroll. */
EIGHT bool pack(uint64_t *out, int64_t (*sum)[IFMA_COLUMNS], const IfmaPacking *p, const bool fits,
                const int D)
{
    return p->operand->depth_major ? pack_beside(out, sum, p, fits, D)
                                   : pack_lines(out, sum, p, fits, D);
}

#define PACK_OF(D)                                                                                 \
    EIGHTS static bool pack_##D(uint64_t *out, int64_t(*sum)[IFMA_COLUMNS], const IfmaPacking *p)  \
    {                                                                                              \
        return pack(out, sum, p, p->fits, D);                                                      \
    }
PACK_OF(1)
PACK_OF(2)
PACK_OF(3)
PACK_OF(4)
PACK_OF(5)
PACK_OF(6)

bool ifma_pack_eights(uint64_t *out, int64_t (*sum)[IFMA_COLUMNS], const IfmaPacking *p)
{
    static bool (*const packs[])(uint64_t *, int64_t(*)[IFMA_COLUMNS], const IfmaPacking *) = {
        pack_1, pack_2, pack_3, pack_4, pack_5, pack_6};
    const Operand *o = p->operand;
    if (!o->beside || p->digits < 1 || p->digits > 6 || (o->depth_major && !p->by_digit)) {
        return false;
    }
    memset(sum, 0, p->lanes * sizeof *sum);
    return packs[p->digits - 1](out, sum, p);
}

#else

bool ifma_pack_eights(uint64_t *out, int64_t (*sum)[IFMA_COLUMNS], const IfmaPacking *p)
{
    (void)out, (void)sum, (void)p;
    return false;
}

#endif
