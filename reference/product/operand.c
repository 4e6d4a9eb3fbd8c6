/*
 * An operand measured before a product: exponents of its rows, sizes of its entries, whether it
 * is finite.
 */
#include "operand.h"

#include "../../memory/need.h"
#include "entry.h"
#include "internal.h"
#include "wide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_AT_ONCE = 64 };

size_t *axis_offsets(ProductAxis axis, size_t count)
{
    size_t *at = need_room(count + 1, sizeof *at);
    size_t group_at = 0, within = 0; /* a division would take longer than a small product's term */
    for (size_t i = 0; i < count; i++) {
        at[i] = group_at + within * axis.stride;
        if (++within == axis.group) {
            within = 0;
            group_at += axis.group_stride;
        }
    }
    return at;
}

bool axis_is_beside(ProductAxis axis, size_t count)
{
    return axis.stride == 1 && (axis.group >= count || axis.group % 8 == 0);
}

void operand_open(Operand *o, ProductView v)
{
    *o = (Operand){.entry = v.entry, .number = v.number, .lines = v.rows, .depth = v.columns};
    o->depth_major = v.row.stride < v.column.stride;
    o->beside =
        axis_is_beside(o->depth_major ? v.row : v.column, o->depth_major ? v.rows : v.columns);
    o->line_at = axis_offsets(v.row, v.rows);
    o->depth_at = axis_offsets(v.column, v.columns);
}

void operand_close(Operand *o)
{
    if (o->kept != NULL) {
        *o = (Operand){0};
        return;
    }
    free(o->line_at);
    free(o->depth_at);
    free(o->exponent);
    array_free(o->size);
    *o = (Operand){0};
}

/* Exponent of the lowest bit that is set. */
static mpfr_exp_t lowest_bit(const Entry *x)
{
    size_t i = 0;
    while (x->limb[i] == 0) {
        i++;
    }
    return x->exponent - 64 * (mpfr_exp_t)(x->count - i) + __builtin_ctzll(x->limb[i]);
}

/* Some lines; entries are looked at in the order of memory. */
typedef struct {
    size_t first, end;
} Walk;

/* Looks at one entry more of a line; false when it is not plain. */
INLINE bool take_exponent(mpfr_exp_t *exponent, mpfr_exp_t *low, const Operand *o, size_t line,
                          size_t position, const bool doubles)
{
    Entry x;
    if (!entry_load(&x, o, line, position, doubles) || labs(x.exponent) >= EXPONENT_LIMIT) {
        return false;
    }
    if (x.count != 0) {
        mpfr_exp_t lowest = lowest_bit(&x);
        *low = lowest < *low ? lowest : *low;
        *exponent = x.exponent > *exponent ? x.exponent : *exponent;
    }
    return true;
}

/* The exponent of every line; low: of the lowest bit set in it.  False when one is not plain. */
INLINE bool measure_exponents(Operand *o, mpfr_exp_t *low, const Walk *w, const bool doubles)
{
    bool plain = true;
    for (size_t i = w->first; i < w->end; i++) {
        mpfr_exp_t exponent = LINE_ZERO, lowest = LONG_MAX; /* in registers, not in memory */
        for (size_t l = 0; plain && !o->depth_major && l < o->depth; l++) {
            plain = take_exponent(&exponent, &lowest, o, i, l, doubles);
        }
        o->exponent[i] = exponent;
        low[i] = lowest;
    }
    for (size_t l = 0; plain && o->depth_major && l < o->depth; l++) {
        for (size_t i = w->first; plain && i < w->end; i++) {
            plain = take_exponent(&o->exponent[i], &low[i], o, i, l, doubles);
        }
    }
    return plain;
}

/* |x| 2^-exponent rounded toward zero to a double, and to 0 far below the normal range. */
static double scaled_size(const Entry *x, mpfr_exp_t exponent)
{
    mpfr_exp_t relative = x->count == 0 ? LONG_MIN : x->exponent - exponent;
    if (relative < -500) {
        return 0;
    }
    uint64_t word = (x->limb[x->count - 1] << 1 >> 12) | (uint64_t)(relative + 1022) << 52;
    double size;
    memcpy(&size, &word, sizeof size);
    return size;
}

/* The same as a float, and to 0 where a product of two would be no normal one. */
static float short_size(double size)
{
    uint64_t word;
    memcpy(&word, &size, sizeof word);
    int exponent = (int)(word >> 52) - 1022;
    uint32_t cut = (uint32_t)(word << 12 >> 41) | (uint32_t)(exponent + 126) << 23;
    float near;
    memcpy(&near, &cut, sizeof near);
    return exponent < SIZE_EXPONENT ? 0 : near;
}

INLINE double take_size(Operand *o, size_t line, size_t position, const bool doubles)
{
    Entry x;
    (void)entry_load(&x, o, line, position, doubles);
    double size = scaled_size(&x, o->exponent[line]);
    float near = short_size(size);
    o->size[o->depth_major ? position * o->lines + line : line * o->depth + position] = near;
    o->spread[line] |= near == 0 && x.count != 0;
    return size;
}

void operand_sizes(double *size, const Operand *o, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        for (size_t l = 0; l < o->depth; l++) {
            Entry x;
            (void)entry_load(&x, o, i, l, o->number != NULL);
            *size++ = scaled_size(&x, o->exponent[i]);
        }
    }
}

INLINE void measure_sizes(Operand *o, const Walk *w, const bool doubles)
{
    for (size_t i = w->first; i < w->end && !o->depth_major; i++) {
        double sum = 0;
        for (size_t l = 0; l < o->depth; l++) {
            sum += take_size(o, i, l, doubles);
        }
        o->sum[i] = sum;
    }
    for (size_t l = 0; l < o->depth && o->depth_major; l++) {
        for (size_t i = w->first; i < w->end; i++) {
            o->sum[i] += take_size(o, i, l, doubles);
        }
    }
}

INLINE bool measure_walk(Operand *o, mpfr_exp_t *low, const Walk *w, const bool doubles)
{
    bool plain = measure_exponents(o, low, w, doubles);
    if (plain) {
        measure_sizes(o, w, doubles);
    }
    return plain;
}

/* Measures a block of lines; false when one is not plain. */
static bool measure_block(Operand *o, mpfr_exp_t *low, size_t block)
{
    size_t first = block * LINES_AT_ONCE, left = o->lines - first;
    const Walk walk = {first, first + (left < LINES_AT_ONCE ? left : LINES_AT_ONCE)}, *w = &walk;
    bool plain = wide()->measure(o, low, w->first, w->end - w->first);
    if (!plain) {
        plain = o->number != NULL ? measure_walk(o, low, w, true) : measure_walk(o, low, w, false);
    }
    /* The error of rounding and of dropped entries. */
    for (size_t i = w->first; plain && i < w->end; i++) {
        o->sum[i] *= 1 + 0x1p-20;
    }
    return plain;
}

/* Measures every line, blocks of them on several threads. */
static void measure_lines(Operand *o, mpfr_exp_t *low, int threads)
{
    size_t blocks = (o->lines + LINES_AT_ONCE - 1) / LINES_AT_ONCE;
    bool plain = true;
    if (threads <= 1 || blocks == 1) { /* a region of one thread takes as long as a small product */
        for (size_t b = 0; b < blocks && plain; b++) {
            plain = measure_block(o, low, b);
        }
        o->plain = plain;
        return;
    }
#pragma omp parallel for num_threads(threads) reduction(&& : plain)
    for (size_t b = 0; b < blocks; b++) {
        plain = measure_block(o, low, b) && plain;
    }
    o->plain = plain;
}

void operand_measure(Operand *o, int threads)
{
    if (o->exponent != NULL) {
        return;
    }
    o->exponent = need_zeros(o->lines + 1, OPERAND_LINE_BYTES);
    mpfr_exp_t *low = o->exponent + o->lines;
    o->sum = (double *)(low + o->lines);
    o->spread = (bool *)(o->sum + o->lines);
    if (o->lines > SIZE_MAX / (o->depth + 1)) {
        need_is_short();
    }
    o->size = array_alloc(o->lines * o->depth, sizeof *o->size);
    measure_lines(o, low, threads);
    for (size_t i = 0; o->plain && i < o->lines; i++) {
        mpfr_exp_t bits = o->exponent[i] == LINE_ZERO ? 0 : o->exponent[i] - low[i];
        o->bits = bits > o->bits ? bits : o->bits;
    }
}
