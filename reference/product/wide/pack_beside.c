/*
 * Fractions of 52-bit digits of LANES entries at a time: neighbours in memory, which are those of a
 * line, or the entries of LANES lines at one depth.
 */
#include "pack_beside.h"

#include "read.h"

/* Digits an entry. */
enum { MOST = 6 };

/* Digit d of alpha of each entry, to digit[d]; D of them. */
INLINE void alphas(Words *digit, const Lanes *x, Words line_exponent, const bool fits, const int D)
{
    const int size = (DIGIT * D + 63) / 64, lower = size - LIMBS_MOST;
    const Words flip = keep(x->negative, all(DIGIT_MASK));
    Words carry = keep(fits ? x->negative : all_lanes(false), all(1)), word[MOST];
    UNROLL
    for (int i = 0; i < size; i++) {
        word[i] = i < lower ? zero() : x->limb[i - lower];
    }
    Words lead = (line_exponent - x->exponent) + all(1);
    (void)shift_down(word, size, lead);
    UNROLL
    for (int d = D - 1; d >= 0; d--) {
        Words bits = (digit_from(word, size, 64 * size - DIGIT * (d + 1)) ^ flip) + carry;
        carry = bits >> DIGIT;
        digit[d] = bits & all(DIGIT_MASK);
    }
    digit[0] = digit[0] ^ all((uint64_t)1 << (DIGIT - 1));
}

/* The same of up to LANES neighbours from `at` on.  False: not done. */
INLINE bool digits_at(Words *digit, const Operand *o, size_t at, size_t lanes, Words line_exponent,
                      const bool fits, const int D)
{
    if (o->number != NULL) {
        Words word = lanes < LANES ? load_some(o->number + at, lanes) : load(o->number + at);
        Doubles doubles = doubles_of(word, line_exponent);
        double_digits(digit, &doubles, fits, (size_t)D);
        return true;
    }
    Lanes x;
    if (!read_lanes(&x, o, at, lanes)) {
        return false;
    }
    alphas(digit, &x, line_exponent, fits, D);
    return true;
}

/* Digits of entries [from, from + 8) of a line, to digit; added to sum, [1 + digit]. */
INLINE bool line_digits(Words *digit, Words *sum, const Packing *p, size_t line, size_t from,
                        const bool fits, const int D)
{
    const Operand *o = p->operand;
    size_t left = o->depth - from, lanes = left < LANES ? left : LANES;
    if (!digits_at(digit, o, o->line_at[line] + o->depth_at[from], lanes,
                   all((uint64_t)o->exponent[line]), fits, D)) {
        return false;
    }
    UNROLL
    for (int d = 0; d < D; d++) {
        sum[d] = sum[d] + keep(first_lanes(lanes), digit[d]);
    }
    return true;
}

/* The lines' digits at some positions: [line][digit] vectors of positions. */
typedef struct {
    Words of[LANES][MOST];
} Square;

/* out [position][lane][digit] */
INLINE void put_lines(uint64_t *out, const Square *x, size_t lines, size_t positions, const int D)
{
    for (size_t r = 0; r < lines; r++) {
        UNROLL
        for (int first = 0; first < D; first += LANES) {
            Words turned[LANES];
            UNROLL
            for (int d = 0; d < LANES; d++) {
                turned[d] = first + d < D ? factor_of(x->of[r][first + d]) : zero();
            }
            turn(turned);
            for (size_t t = 0; t < positions; t++) {
                uint64_t *to = out + (t * lines + r) * (size_t)D + first;
                store_some(to, turned[t], (size_t)(D - first < LANES ? D - first : LANES));
            }
        }
    }
}

/* out [position][digit][lane] */
INLINE void put_digits(uint64_t *out, const Square *x, size_t positions, const int D)
{
    UNROLL
    for (int d = 0; d < D; d++) {
        Words turned[LANES];
        UNROLL
        for (int r = 0; r < LANES; r++) {
            turned[r] = factor_of(x->of[r][d]);
        }
        turn(turned);
        for (size_t t = 0; t < positions; t++) {
            store(out + (t * (size_t)D + (size_t)d) * LANES, turned[t]);
        }
    }
}

/* Lines whose entries are neighbours. */
INLINE bool pack_along(uint64_t *out, int64_t (*sum)[TILE_COLUMNS], const Packing *p,
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
                if (!line_digits(x.of[r], sums.of[r], p, packed_line(p, r), l, fits, D)) {
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
                for (int lane = 0; lane < LANES; lane++) {
                    sum[r][1 + d] += (int64_t)sums.of[r][d][lane];
                }
            }
            carry_sums(sum[r], (size_t)D);
        }
    }
    return true;
}

/* Lanes lines that are neighbours; lines beyond the last are of zeros. */
INLINE bool pack_across(uint64_t *out, int64_t (*sum)[TILE_COLUMNS], const Packing *p,
                        const bool fits, const int D)
{
    const Operand *o = p->operand;
    const size_t left = o->lines - p->first, lanes = left < LANES ? left : LANES;
    const size_t at = o->line_at[p->first];
    const Words exponent = load_some(o->exponent + p->first, lanes);
    Words digit[MOST], sums[MOST] = {zero()};
    for (size_t l = 0; l < o->depth; l++) {
        fetch_ahead(o, p->first, l);
        if (!digits_at(digit, o, at + o->depth_at[l], lanes, exponent, fits, D)) {
            return false;
        }
        UNROLL
        for (int d = 0; d < D; d++) {
            store(out + (l * (size_t)D + (size_t)d) * LANES, factor_of(digit[d]));
            sums[d] = sums[d] + digit[d];
        }
        if (l % CARRY_EVERY == CARRY_EVERY - 1 || l + 1 == o->depth) {
            for (int d = 0; d < D; d++) {
                int64_t of[LANES];
                store(of, sums[d]);
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
INLINE bool pack(uint64_t *out, int64_t (*sum)[TILE_COLUMNS], const Packing *p, const bool fits,
                 const int D)
{
    return p->operand->depth_major ? pack_across(out, sum, p, fits, D)
                                   : pack_along(out, sum, p, fits, D);
}

#define PACK_OF(D)                                                                                 \
    static bool pack_##D(uint64_t *out, int64_t(*sum)[TILE_COLUMNS], const Packing *p)             \
    {                                                                                              \
        return pack(out, sum, p, p->fits, D);                                                      \
    }
PACK_OF(1)
PACK_OF(2)
PACK_OF(3)
PACK_OF(4)
PACK_OF(5)
PACK_OF(6)

bool pack_beside(uint64_t *out, int64_t (*sum)[TILE_COLUMNS], const Packing *p)
{
    static bool (*const packs[])(uint64_t *, int64_t(*)[TILE_COLUMNS], const Packing *) = {
        pack_1, pack_2, pack_3, pack_4, pack_5, pack_6};
    const Operand *o = p->operand;
    if (!o->beside || p->digits < 1 || p->digits > 6 || (o->depth_major && !p->by_digit)) {
        return false;
    }
    clear_sums(sum, p);
    return packs[p->digits - 1](out, sum, p);
}
