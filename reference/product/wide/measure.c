/*
 * An operand's lines measured LANES entries at a time: neighbours in memory, which are those of a
 * line, or the entries of LANES lines at one depth.
 */
#include "read.h"
#include "wide.h"

#include <string.h>

/* Lines measured together, LANES in a group. */
enum { LINES_MOST = 64, GROUPS = LINES_MOST / LANES };

/* Exponents of the lowest bits that are set; LONG_MAX for zeros. */
INLINE Words lowest_bits(const Lanes *x)
{
    Words limb = x->limb[0], down = all(64 * LIMBS_MOST);
    UNROLL
    for (int l = 1; l < LIMBS_MOST; l++) {
        Mask empty = is_zero(limb);
        limb = select(empty, x->limb[l], limb);
        down = select(empty, down - all(64), down);
    }
    Words bit = limb & (zero() - limb);
    bit = all(63) - leading_zeros(bit);
    Words exponent = (x->exponent - down) + bit;
    return select(is_not_zero(limb), exponent, all(LONG_MAX));
}

/* Magnitudes by 2^-exponent rounded toward zero to doubles, and to 0 far below the normal range. */
INLINE Words scaled_sizes(const Lanes *x, Words exponent)
{
    const Words limb = x->limb[LIMBS_MOST - 1];
    Words relative = x->exponent - exponent;
    Mask there = is_not_zero(limb);
    there = there & not(less(relative, all((uint64_t)-500)));
    Words fraction = (limb << 1) >> 12;
    Words biased = (relative + all(1022)) << 52;
    return keep(there, fraction | biased);
}

/* Bits of a double beyond a float's. */
enum { FLOAT_CUT = 29 };

/* The same as floats, and to 0 where a product of two would be no normal one; returns the lanes
 * whose entries are so small and not 0. */
INLINE Mask put_sizes(float *to, const Lanes *x, Words exponent, Words size, size_t lanes)
{
    const Words limb = x->limb[LIMBS_MOST - 1];
    Words relative = x->exponent - exponent;
    Mask there = is_not_zero(limb);
    Mask near = there & not(less(relative, all((uint64_t)(int64_t)SIZE_EXPONENT)));
    Words cut = keep(near, size & all(~((uint64_t)(1 << FLOAT_CUT) - 1)));
    Floats floats = __builtin_convertvector((Reals)cut, Floats);
    if (lanes < LANES) {
        memcpy(to, &floats, lanes * sizeof *to);
    } else {
        memcpy(to, &floats, sizeof floats);
    }
    return there & not(near);
}

/* A line whose entries are neighbours. */
static bool measure_line(Operand *o, mpfr_exp_t *low, size_t line)
{
    Words most = all((uint64_t)LINE_ZERO), lowest = all(LONG_MAX);
    Reals sum = all_reals(0);
    Lanes x;
    for (size_t l = 0; l < o->depth; l += LANES) {
        size_t left = o->depth - l;
        if (!read_lanes(&x, o, o->line_at[line] + o->depth_at[l], left < LANES ? left : LANES)) {
            return false;
        }
        most = larger(most, x.exponent);
        lowest = smaller(lowest, lowest_bits(&x));
    }
    for (int lane = 1; lane < LANES; lane++) {
        most = larger(most, all(most[lane]));
        lowest = smaller(lowest, all(lowest[lane]));
    }
    o->exponent[line] = (mpfr_exp_t)most[0];
    low[line] = (mpfr_exp_t)lowest[0];
    const Words exponent = all((uint64_t)o->exponent[line]);
    Mask small = all_lanes(false);
    for (size_t l = 0; l < o->depth; l += LANES) {
        size_t left = o->depth - l, lanes = left < LANES ? left : LANES;
        (void)read_lanes(&x, o, o->line_at[line] + o->depth_at[l], lanes);
        Words size = scaled_sizes(&x, exponent);
        float *to = o->size + line * o->depth + l;
        small |= put_sizes(to, &x, exponent, size, lanes);
        sum = sum + (Reals)size;
    }
    for (int lane = 0; lane < LANES; lane++) {
        o->sum[line] += sum[lane];
    }
    o->spread[line] = any(small);
    return true;
}

/* Extremes and sums of lines that are neighbours. */
typedef struct {
    Words largest[GROUPS], lowest[GROUPS];
    Reals sum[GROUPS];
    Mask small[GROUPS];
} Beside;

INLINE bool take_exponents(Beside *known, const Operand *o, size_t position, size_t first,
                           size_t lines)
{
    const size_t at = o->depth_at[position];
    for (size_t i = 0; i < lines; i += LANES) {
        Lanes x;
        size_t left = lines - i;
        fetch_ahead(o, first + i, position);
        if (!read_lanes(&x, o, at + o->line_at[first + i], left < LANES ? left : LANES)) {
            return false;
        }
        known->largest[i / LANES] = larger(known->largest[i / LANES], x.exponent);
        known->lowest[i / LANES] = smaller(known->lowest[i / LANES], lowest_bits(&x));
    }
    return true;
}

INLINE void take_sizes(Beside *known, Operand *o, size_t position, size_t first, size_t lines)
{
    const size_t at = o->depth_at[position];
    float *to = o->size + position * o->lines + first;
    for (size_t i = 0; i < lines; i += LANES) {
        Lanes x;
        size_t left = lines - i, lanes = left < LANES ? left : LANES;
        fetch_ahead(o, first + i, position);
        (void)read_lanes(&x, o, at + o->line_at[first + i], lanes);
        const Words exponent = known->largest[i / LANES];
        Words size = scaled_sizes(&x, exponent);
        known->small[i / LANES] |= put_sizes(to + i, &x, exponent, size, lanes);
        known->sum[i / LANES] = known->sum[i / LANES] + (Reals)size;
    }
}

/* Lines that are neighbours, row after row of them as they lie in memory. */
static bool measure_beside(Operand *o, mpfr_exp_t *low, size_t first, size_t lines)
{
    Beside known;
    for (size_t g = 0; g < GROUPS; g++) {
        known.largest[g] = all((uint64_t)LINE_ZERO);
        known.lowest[g] = all(LONG_MAX);
        known.sum[g] = all_reals(0);
        known.small[g] = all_lanes(false);
    }
    for (size_t l = 0; l < o->depth; l++) {
        if (!take_exponents(&known, o, l, first, lines)) {
            return false;
        }
    }
    for (size_t l = 0; l < o->depth; l++) {
        take_sizes(&known, o, l, first, lines);
    }
    memcpy(o->exponent + first, known.largest, lines * sizeof *o->exponent);
    memcpy(low + first, known.lowest, lines * sizeof *low);
    memcpy(o->sum + first, known.sum, lines * sizeof *o->sum);
    for (size_t i = 0; i < lines; i++) {
        o->spread[first + i] = (bits_of(known.small[i / LANES]) >> i % LANES & 1) != 0;
    }
    return true;
}

bool wide_measure(Operand *o, mpfr_exp_t *low, size_t first, size_t lines)
{
    if (!o->beside || lines > LINES_MOST) {
        return false;
    }
    if (o->depth_major) {
        return measure_beside(o, low, first, lines);
    }
    bool plain = true;
    for (size_t i = 0; plain && i < lines; i++) {
        plain = measure_line(o, low, first + i);
    }
    return plain;
}
