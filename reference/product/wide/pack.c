/*
 * Fractions of 52-bit digits from entries: LANES digits of an MPFR number at once, or a digit of
 * LANES doubles.
 */
#include "pack.h"

#include "pack_beside.h"
#include "read.h"

#include <string.h>

enum { CHUNKS = OPERAND_DIGITS / LANES };
_Static_assert(CHUNKS *LANES == OPERAND_DIGITS && (int)TILE_ROWS <= (int)LANES,
               "vectors hold digits, and rows");

/* Vectors of an entry's digits, [chunk][lane], or of a digit of every lane, [digit]. */
typedef struct {
    Words of[CHUNKS * LANES];
} Block;

/* -x = ~x + 1, the 1 added where the carry from the digits after these brings it. */
INLINE Words negated(Words x, bool *carry)
{
    unsigned filled = bits_of(is_not_zero(x));
    unsigned from = filled != 0 ? 31 - (unsigned)__builtin_clz(filled) : 0;
    Mask plus = mask_of(*carry ? ((1U << LANES) - 1) & (~0U << from) : 0);
    *carry = *carry && filled == 0;
    x = x ^ all(DIGIT_MASK);
    return select(plus, x + all(1), x) & all(DIGIT_MASK);
}

/* Digits of alpha of an MPFR number, to x[chunk][0].  Cut off: -x - 2^-52D is as good as -x. */
INLINE void pack_real(Words *x, const Operand *o, size_t line, size_t position, const size_t chunks,
                      const bool fits)
{
    const Words half = {(uint64_t)1 << (DIGIT - 1)};
    Entry e;
    entry_load_real(&e, o->entry + o->line_at[line] + o->depth_at[position]);
    mpfr_exp_t lead = e.count == 0 ? 0 : o->exponent[line] - e.exponent + 1;
    Mask negative = all_lanes(e.negative && e.count != 0);
    bool carry = true;
    for (size_t chunk = chunks; chunk-- > 0;) {
        const mp_limb_t *limb = e.count > 0 ? e.limb : &e.own; /* zero may have none */
        long lowest = 64 * (long)e.count + lead - DIGIT * (long)((chunk + 1) * LANES);
        Words digit = load_digits(limb, e.count, lowest);
        digit = fits ? select(negative, negated(digit, &carry), digit)
                     : select(negative, digit ^ all(DIGIT_MASK), digit);
        x[chunk * LANES] = chunk == 0 ? (digit ^ half) : digit;
    }
}

/* One entry of each line.  Called with constants where it pays: most numbers are cut off and have
 * one chunk. */
INLINE void pack_reals(Block *x, Block *sums, const Packing *p, const size_t *line, size_t position,
                       const size_t chunks, const bool fits)
{
    for (size_t lane = 0; lane < p->lanes; lane++) {
        pack_real(x->of + lane, p->operand, line[lane], position, chunks, fits);
        for (size_t chunk = 0; chunk < chunks; chunk++) {
            size_t i = chunk * LANES + lane;
            sums->of[i] = sums->of[i] + x->of[i];
        }
    }
}

/* A digit of each of some doubles' alphas, to x[digit]. */
INLINE void pack_doubles(Block *x, Block *sums, const Packing *p, const Doubles *from)
{
    double_digits(x->of, from, p->fits, p->digits);
    for (size_t d = 0; d < p->digits; d++) {
        sums->of[d] = sums->of[d] + x->of[d];
    }
}

/* Stores a block as p says; x is overwritten. */
INLINE void put_block(uint64_t *out, Block *x, const Packing *p, bool by_digit)
{
    for (size_t first = 0; first < p->digits; first += LANES) {
        size_t left = p->digits - first, count = left < LANES ? left : LANES;
        Words *chunk = x->of + first;
        if (by_digit != p->by_digit) {
            turn(chunk);
        }
        if (p->by_digit) {
            for (size_t d = 0; d < count; d++) {
                store(out + (first + d) * LANES, factor_of(chunk[d]));
            }
        } else {
            for (size_t lane = 0; lane < p->lanes; lane++) {
                store_some(out + lane * p->digits + first, factor_of(chunk[lane]), count);
            }
        }
    }
}

/* sum[lane][1 + digit] += sums, carried; sums = 0. */
static void take_sums(int64_t (*sum)[TILE_COLUMNS], Block *sums, const Packing *p)
{
    int64_t of[CHUNKS * LANES][LANES];
    memcpy(of, sums->of, sizeof of);
    for (size_t lane = 0; lane < p->lanes; lane++) {
        for (size_t d = 0; d < p->digits; d++) {
            sum[lane][1 + d] +=
                p->operand->number != NULL ? of[d][lane] : of[d / LANES * LANES + lane][d % LANES];
        }
        carry_sums(sum[lane], p->digits);
    }
    memset(sums, 0, sizeof *sums);
}

void pack_lines(uint64_t *out, int64_t (*sum)[TILE_COLUMNS], const Packing *p)
{
    const Operand *o = p->operand;
    if (pack_beside(out, sum, p)) {
        return;
    }
    Block sums = {0}, x = {0};
    size_t line[LANES] = {0};
    uint64_t at[LANES], exponent[LANES];
    for (size_t lane = 0; lane < LANES; lane++) {
        line[lane] = packed_line(p, lane);
        at[lane] = o->line_at[line[lane]];
        exponent[lane] = (uint64_t)o->exponent[line[lane]];
    }
    clear_sums(sum, p);
    for (size_t l = 0; l < o->depth; l++, out += p->lanes * p->digits) {
        if (o->number != NULL) {
            Words from = load(at) + all(o->depth_at[l]);
            Doubles doubles = doubles_of(look_up(o->number, from), load(exponent));
            pack_doubles(&x, &sums, p, &doubles);
        } else if (p->digits <= LANES && !p->fits) {
            pack_reals(&x, &sums, p, line, l, 1, false);
        } else {
            pack_reals(&x, &sums, p, line, l, (p->digits - 1) / LANES + 1, p->fits);
        }
        put_block(out, &x, p, o->number != NULL);
        if (l % CARRY_EVERY == CARRY_EVERY - 1 || l + 1 == o->depth) {
            take_sums(sum, &sums, p);
        }
    }
}
