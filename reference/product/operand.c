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

static void put_offsets(size_t *at, ProductAxis axis, size_t count)
{
    size_t group_at = 0, within = 0; /* a division would take longer than a small product's term */
    for (size_t i = 0; i < count; i++) {
        at[i] = group_at + within * axis.stride;
        if (++within == axis.group) {
            within = 0;
            group_at += axis.group_stride;
        }
    }
}

size_t *view_offsets(ProductView v)
{
    size_t *at = need_room(v.rows + v.columns + 1, sizeof *at);
    put_offsets(at, v.row, v.rows);
    put_offsets(at + v.rows, v.column, v.columns);
    return at;
}

/* Are each eight indices from 0 on neighbours in memory? */
static bool axis_is_beside(ProductAxis axis, size_t count)
{
    return axis.stride == 1 && (axis.group >= count || axis.group % 8 == 0);
}

void operand_open(Operand *o, ProductView v)
{
    *o = (Operand){.entry = v.entry, .number = v.number, .lines = v.rows, .depth = v.columns};
    o->depth_major = v.row.stride < v.column.stride;
    o->beside =
        axis_is_beside(o->depth_major ? v.row : v.column, o->depth_major ? v.rows : v.columns);
    o->line_at = view_offsets(v);
    o->depth_at = o->line_at + v.rows;
}

void operand_close(Operand *o)
{
    if (o->kept != NULL) {
        *o = (Operand){0};
        return;
    }
    free(o->line_at);
    free(o->exponent);
    array_free(o->size);
    *o = (Operand){0};
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

void operand_sizes(double *size, const Operand *o, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        for (size_t l = 0; l < o->depth; l++) {
            Entry x;
            (void)entry_load(&x, o, o->line_at[i] + o->depth_at[l]);
            *size++ = scaled_size(&x, o->exponent[i]);
        }
    }
}

/* Measures a block of lines; false when one is not plain. */
static bool measure_block(Operand *o, mpfr_exp_t *low, size_t block)
{
    size_t first = block * LINES_AT_ONCE, left = o->lines - first;
    size_t end = first + (left < LINES_AT_ONCE ? left : LINES_AT_ONCE);
    bool plain = wide()->measure(o, low, first, end - first);
    /* The error of rounding and of dropped entries. */
    for (size_t i = first; plain && i < end; i++) {
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
