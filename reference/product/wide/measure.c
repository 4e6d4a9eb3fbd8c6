/*
 * An operand's lines measured LANES entries at a time: those of a line, or the entries of LANES
 * lines at one depth.
 */
#include "../entry.h"
#include "read.h"
#include "wide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lines measured together, LANES in a group. */
enum { LINES_MOST = 64, GROUPS = LINES_MOST / LANES };

/* What is looked at of entries: the highest limb, its highest bit set, or 0 of zeros; the exponent,
 * LINE_ZERO of zeros; and that of the lowest bit that is set, LONG_MAX of zeros. */
typedef struct {
    Words top, exponent, lowest;
} Seen;

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

/* Entries anywhere, one by one.  False: one is no number, or its exponent is too large. */
static bool see_each(Seen *x, const Operand *o, size_t base, const size_t *along, size_t lanes)
{
    uint64_t top[LANES] = {0}, exponent[LANES], lowest[LANES];
    bool plain = true;
    for (size_t lane = 0; lane < LANES; lane++) {
        exponent[lane] = (uint64_t)LINE_ZERO;
        lowest[lane] = LONG_MAX;
    }
    for (size_t lane = 0; plain && lane < lanes; lane++) {
        Entry e;
        plain = entry_load(&e, o, base + along[lane]) && labs(e.exponent) < EXPONENT_LIMIT;
        if (plain && e.count != 0) {
            top[lane] = e.limb[e.count - 1];
            exponent[lane] = (uint64_t)e.exponent;
            lowest[lane] = (uint64_t)entry_lowest_bit(&e);
        }
    }
    *x = (Seen){load(top), load(exponent), load(lowest)};
    return plain;
}

/* Entries number base + along[0], ...  False: not plain. */
INLINE bool see(Seen *x, const Operand *o, size_t base, const size_t *along, size_t lanes)
{
    Lanes numbers;
    if (!o->beside || o->number != NULL || !read_lanes(&numbers, o, base + along[0], lanes)) {
        return see_each(x, o, base, along, lanes);
    }
    *x = (Seen){numbers.limb[LIMBS_MOST - 1], numbers.exponent, lowest_bits(&numbers)};
    return true;
}

/* Magnitudes by 2^-exponent rounded toward zero to doubles, and to 0 far below the normal range. */
INLINE Words scaled_sizes(const Seen *x, Words exponent)
{
    Words relative = x->exponent - exponent;
    Mask there = is_not_zero(x->top);
    there = there & not(less(relative, all((uint64_t)-500)));
    Words fraction = (x->top << 1) >> 12;
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
 * doubles side by side `largest` and `lowest` are magnitudes at first, a double's bits: the
 * largest, and the smallest value of a lowest bit that is set; then, as of other numbers,
 * exponents. */
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

/* Doubles side by side, without their signs. */
INLINE Words magnitudes(const double *from, size_t lanes)
{
    Words word = lanes < LANES ? load_some(from, lanes) : load(from);
    return (word << 1) >> 1;
}

/* The first look at entries; false: one is not plain, which of doubles find_scales says. */
INLINE bool take_exponents(Known *known, Seen *x, const Operand *o, size_t base,
                           const size_t *along, size_t lanes, const bool doubles)
{
    if (doubles) {
        Words size = magnitudes(o->number + base + along[0], lanes);
        /* Without the lowest bit of the fraction, or, where it has none, 0. */
        Words less_one = keep(is_not_zero(size << 12), size & (size - all(1)));
        Words bit = (Words)((Reals)size - (Reals)less_one);
        known->largest = larger(known->largest, size);
        known->lowest = smaller(known->lowest, select(is_zero(size), known->lowest, bit));
        return true;
    }
    bool plain = see(x, o, base, along, lanes);
    known->largest = larger(known->largest, x->exponent);
    known->lowest = smaller(known->lowest, x->lowest);
    return plain;
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

/* The second look, at doubles in memory or at what was seen of other numbers. */
INLINE void take_sizes(Known *known, float *to, const Seen *x, const double *from, size_t lanes,
                       const bool doubles)
{
    Mask there;
    Words size;
    if (doubles) {
        Words word = magnitudes(from, lanes);
        there = is_not_zero(word);
        size = (Words)((Reals)word * known->scale);
        size = keep(not(less(size, all((uint64_t)(1023 - 501) << 52))), size);
    } else {
        there = is_not_zero(x->top);
        size = scaled_sizes(x, known->largest);
    }
    known->small |= put_floats(to, size, there, lanes);
    known->sum = known->sum + (Reals)size;
}

/* Vectors of entries that are looked at once; where a line, or lines, have more, all are looked at
 * again for their sizes. */
enum { KEPT = 128 };

static size_t lanes_from(size_t count, size_t first)
{
    return count - first < LANES ? count - first : LANES;
}

INLINE bool measure_line(Operand *o, mpfr_exp_t *low, size_t line, const bool doubles)
{
    Known known;
    Seen kept[KEPT];
    const size_t base = o->line_at[line], step = o->depth <= KEPT * LANES ? LANES : SIZE_MAX;
    know_nothing(&known, doubles);
    for (size_t l = 0; l < o->depth; l += LANES) {
        if (!take_exponents(&known, &kept[l / step], o, base, o->depth_at + l,
                            lanes_from(o->depth, l), doubles)) {
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
    for (size_t l = 0; l < o->depth; l += LANES) {
        const size_t *along = o->depth_at + l, lanes = lanes_from(o->depth, l);
        Seen *x = &kept[l / step];
        if (!doubles && step > LANES) {
            (void)see(x, o, base, along, lanes);
        }
        take_sizes(&known, o->size + line * o->depth + l, x, o->number + base + *along, lanes,
                   doubles);
    }
    double sum = 0;
    for (int lane = 0; lane < LANES; lane++) {
        sum += known.sum[lane];
    }
    o->exponent[line] = (mpfr_exp_t)known.largest[0];
    low[line] = (mpfr_exp_t)known.lowest[0];
    o->sum[line] = sum;
    o->spread[line] = any(known.small);
    return true;
}

/* Lines that are neighbours, row after row of them as they lie in memory. */
INLINE bool measure_beside(Operand *o, mpfr_exp_t *low, size_t first, size_t lines,
                           const bool doubles)
{
    Known known[GROUPS];
    Seen kept[KEPT];
    const size_t groups = (lines + LANES - 1) / LANES,
                 step = o->depth <= KEPT / groups ? groups : 0;
    bool plain = true;
    for (size_t g = 0; g < groups; g++) {
        know_nothing(&known[g], doubles);
    }
    for (size_t l = 0; l < o->depth; l++) {
        for (size_t g = 0; g < groups; g++) {
            const size_t i = g * LANES;
            fetch_ahead(o, first + i, l);
            if (!take_exponents(&known[g], &kept[l * step + g], o, o->depth_at[l],
                                o->line_at + first + i, lanes_from(lines, i), doubles)) {
                return false;
            }
        }
    }
    for (size_t g = 0; doubles && plain && g < groups; g++) {
        plain = find_scales(&known[g]);
    }
    for (size_t l = 0; plain && l < o->depth; l++) {
        for (size_t g = 0; g < groups; g++) {
            const size_t i = g * LANES, lanes = lanes_from(lines, i), base = o->depth_at[l];
            const size_t *along = o->line_at + first + i;
            Seen *x = &kept[l * step + g];
            fetch_ahead(o, first + i, l);
            if (!doubles && step == 0) {
                (void)see(x, o, base, along, lanes);
            }
            take_sizes(&known[g], o->size + l * o->lines + first + i, x, o->number + base + *along,
                       lanes, doubles);
        }
    }
    for (size_t i = 0; plain && i < lines; i++) {
        const Known *of = &known[i / LANES];
        o->exponent[first + i] = (mpfr_exp_t)of->largest[i % LANES];
        low[first + i] = (mpfr_exp_t)of->lowest[i % LANES];
        o->sum[first + i] = of->sum[i % LANES];
        o->spread[first + i] = (bits_of(of->small) >> i % LANES & 1) != 0;
    }
    return plain;
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
    return (o->beside && o->number != NULL && measure(o, low, first, lines, true)) ||
           measure(o, low, first, lines, false);
}
