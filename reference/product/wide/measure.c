/*
 * An operand's lines measured LANES entries at a time: neighbours in memory, which are those of a
 * line, or the entries of LANES lines at one depth.
 */
#include "read.h"
#include "wide.h"

#include <math.h>
#include <stdlib.h>
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

/* The same as floats, and to 0 where a product of two would be no normal one; returns the lanes,
 * of those that are `there`, whose entries are so small. */
INLINE Mask put_floats(float *to, Words size, Mask there, size_t lanes)
{
    Mask near = there & not(less(size, all((uint64_t)(1022 + SIZE_EXPONENT) << 52)));
    Words cut = keep(near, size & all(~((uint64_t)(1 << FLOAT_CUT) - 1)));
    Floats floats = __builtin_convertvector((Reals)cut, Floats);
    copy_lanes(to, &floats, lanes, sizeof *to);
    return there & not(near);
}

/* The measures of LANES lines that are neighbours, or of every LANES-th entry of one line.  Of
 * doubles `largest` and `lowest` are magnitudes at first, a double's bits: the largest, and the
 * smallest value of a lowest bit that is set; then, as of other numbers, exponents. */
typedef struct {
    Words largest, lowest;
    Reals scale; /* of doubles: 2^-largest */
    Reals sum;
    Mask small;
} Known;

#define BITS_OF_INFINITY ((uint64_t)0x7ff << 52)

static void know_nothing(Known *known, bool doubles)
{
    *known = (Known){.largest = doubles ? zero() : all((uint64_t)LINE_ZERO),
                     .lowest = doubles ? all(BITS_OF_INFINITY) : all(LONG_MAX),
                     .sum = all_reals(0),
                     .small = all_lanes(false)};
}

/* The doubles from `at` on, without their signs. */
INLINE Words magnitudes(const Operand *o, size_t at, size_t lanes)
{
    Words word = lanes < LANES ? load_some(o->number + at, lanes) : load(o->number + at);
    return (word << 1) >> 1;
}

INLINE bool take_exponent(Known *known, const Operand *o, size_t at, size_t lanes,
                          const bool doubles)
{
    if (doubles) {
        Words size = magnitudes(o, at, lanes);
        /* Without the lowest bit of the fraction, or, where it has none, 0. */
        Words less_one = keep(is_not_zero(size << 12), size & (size - all(1)));
        Words bit = (Words)((Reals)size - (Reals)less_one);
        known->largest = larger(known->largest, size);
        known->lowest = smaller(known->lowest, select(is_zero(size), known->lowest, bit));
        return true;
    }
    Lanes x;
    if (!read_lanes(&x, o, at, lanes)) {
        return false;
    }
    known->largest = larger(known->largest, x.exponent);
    known->lowest = smaller(known->lowest, lowest_bits(&x));
    return true;
}

/* Largest exponents of doubles that are scaled by a double. */
enum { SCALED_MOST = 1000 };

static int exponent_of(uint64_t word)
{
    double x;
    int exponent;
    memcpy(&x, &word, sizeof x);
    (void)frexp(x, &exponent);
    return exponent;
}

/* Measures of doubles become exponents, with scales.  False: a double, or a scale, is no number. */
static bool find_scales(Known *known)
{
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t size = known->largest[lane];
        int exponent = exponent_of(size);
        if (size >= BITS_OF_INFINITY || abs(exponent) > SCALED_MOST) {
            return false;
        }
        known->scale[lane] = size != 0 ? ldexp(1, -exponent) : 0;
        known->largest[lane] = (uint64_t)(size != 0 ? exponent : LINE_ZERO);
        known->lowest[lane] =
            (uint64_t)(size != 0 ? exponent_of(known->lowest[lane]) - 1 : LONG_MAX);
    }
    return true;
}

INLINE void take_size(Known *known, float *to, const Operand *o, size_t at, size_t lanes,
                      const bool doubles)
{
    Words size;
    if (doubles) {
        Words word = magnitudes(o, at, lanes);
        size = (Words)((Reals)word * known->scale);
        size = keep(not(less(size, all((uint64_t)(1023 - 501) << 52))), size);
        known->small |= put_floats(to, size, is_not_zero(word), lanes);
    } else {
        Lanes x;
        (void)read_lanes(&x, o, at, lanes);
        size = scaled_sizes(&x, known->largest);
        known->small |= put_floats(to, size, is_not_zero(x.limb[LIMBS_MOST - 1]), lanes);
    }
    known->sum = known->sum + (Reals)size;
}

/* A line whose entries are neighbours. */
INLINE bool measure_line(Operand *o, mpfr_exp_t *low, size_t line, const bool doubles)
{
    Known known;
    know_nothing(&known, doubles);
    for (size_t l = 0; l < o->depth; l += LANES) {
        size_t left = o->depth - l, lanes = left < LANES ? left : LANES;
        if (!take_exponent(&known, o, o->line_at[line] + o->depth_at[l], lanes, doubles)) {
            return false;
        }
    }
    int64_t largest = (int64_t)known.largest[0], lowest = (int64_t)known.lowest[0];
    for (int lane = 1; lane < LANES; lane++) {
        int64_t large = (int64_t)known.largest[lane], least = (int64_t)known.lowest[lane];
        largest = large > largest ? large : largest;
        lowest = least < lowest ? least : lowest;
    }
    known.largest = all((uint64_t)largest);
    known.lowest = all((uint64_t)lowest);
    if (doubles && !find_scales(&known)) {
        return false;
    }
    o->exponent[line] = (mpfr_exp_t)known.largest[0];
    low[line] = (mpfr_exp_t)known.lowest[0];
    for (size_t l = 0; l < o->depth; l += LANES) {
        size_t left = o->depth - l, lanes = left < LANES ? left : LANES;
        take_size(&known, o->size + line * o->depth + l, o, o->line_at[line] + o->depth_at[l],
                  lanes, doubles);
    }
    for (int lane = 0; lane < LANES; lane++) {
        o->sum[line] += known.sum[lane];
    }
    o->spread[line] = any(known.small);
    return true;
}

/* Lines that are neighbours, row after row of them as they lie in memory. */
INLINE bool measure_beside(Operand *o, mpfr_exp_t *low, size_t first, size_t lines,
                           const bool doubles)
{
    Known known[GROUPS];
    const size_t groups = (lines + LANES - 1) / LANES;
    for (size_t g = 0; g < groups; g++) {
        know_nothing(&known[g], doubles);
    }
    for (size_t l = 0; l < o->depth; l++) {
        for (size_t i = 0; i < lines; i += LANES) {
            size_t left = lines - i, lanes = left < LANES ? left : LANES;
            fetch_ahead(o, first + i, l);
            if (!take_exponent(&known[i / LANES], o, o->depth_at[l] + o->line_at[first + i], lanes,
                               doubles)) {
                return false;
            }
        }
    }
    for (size_t g = 0; doubles && g < groups; g++) {
        if (!find_scales(&known[g])) {
            return false;
        }
    }
    for (size_t l = 0; l < o->depth; l++) {
        for (size_t i = 0; i < lines; i += LANES) {
            size_t left = lines - i, lanes = left < LANES ? left : LANES;
            fetch_ahead(o, first + i, l);
            take_size(&known[i / LANES], o->size + l * o->lines + first + i, o,
                      o->depth_at[l] + o->line_at[first + i], lanes, doubles);
        }
    }
    for (size_t i = 0; i < lines; i++) {
        const Known *of = &known[i / LANES];
        o->exponent[first + i] = (mpfr_exp_t)of->largest[i % LANES];
        low[first + i] = (mpfr_exp_t)of->lowest[i % LANES];
        o->sum[first + i] = of->sum[i % LANES];
        o->spread[first + i] = (bits_of(of->small) >> i % LANES & 1) != 0;
    }
    return true;
}

INLINE bool measure(Operand *o, mpfr_exp_t *low, size_t first, size_t lines, const bool doubles)
{
    if (o->depth_major) {
        return measure_beside(o, low, first, lines, doubles);
    }
    bool plain = true;
    for (size_t i = 0; plain && i < lines; i++) {
        plain = measure_line(o, low, first + i, doubles);
    }
    return plain;
}

bool wide_measure(Operand *o, mpfr_exp_t *low, size_t first, size_t lines)
{
    if (!o->beside || lines > LINES_MOST) {
        return false;
    }
    return o->number != NULL ? measure(o, low, first, lines, true)
                             : measure(o, low, first, lines, false);
}
