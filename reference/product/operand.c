#include "entry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t *axis_offsets(ProductAxis axis, size_t count)
{
    size_t *at = array_alloc(count, sizeof *at);
    for (size_t i = 0; at != NULL && i < count; i++) {
        at[i] = i / axis.group * axis.group_stride + i % axis.group * axis.stride;
    }
    return at;
}

bool operand_open(Operand *o, ProductView v)
{
    *o = (Operand){.entry = v.entry, .number = v.number, .lines = v.rows, .depth = v.columns};
    o->depth_major = v.row.stride < v.column.stride;
    o->line_at = axis_offsets(v.row, v.rows);
    o->depth_at = axis_offsets(v.column, v.columns);
    return o->line_at != NULL && o->depth_at != NULL;
}

void operand_close(Operand *o)
{
    free(o->line_at);
    free(o->depth_at);
    free(o->exponent);
    free(o->sum);
    free(o->size);
    *o = (Operand){0};
}

static bool entry_is_finite(const Operand *o, size_t line, size_t position)
{
    size_t at = o->line_at[line] + o->depth_at[position];
    return o->number != NULL ? isfinite(o->number[at])
                             : !mpfr_nan_p(o->entry + at) && !mpfr_inf_p(o->entry + at);
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

/* The exponent of every line; low: of the lowest bit set in it. */
static void measure_exponents(Operand *o, mpfr_exp_t *low)
{
    size_t outer = o->depth_major ? o->depth : o->lines;
    size_t inner = o->depth_major ? o->lines : o->depth;
    Entry x = {0};
    for (size_t i = 0; i < o->lines; i++) {
        o->exponent[i] = LINE_ZERO;
        low[i] = LONG_MAX;
    }
    for (size_t u = 0; u < outer; u++) {
        for (size_t v = 0; v < inner; v++) {
            size_t line = o->depth_major ? v : u, position = o->depth_major ? u : v;
            entry_load(&x, o, line, position);
            o->plain =
                o->plain && entry_is_finite(o, line, position) && labs(x.exponent) < EXPONENT_LIMIT;
            if (x.count != 0 && o->plain) {
                mpfr_exp_t lowest = lowest_bit(&x);
                low[line] = lowest < low[line] ? lowest : low[line];
                o->exponent[line] = x.exponent > o->exponent[line] ? x.exponent : o->exponent[line];
            }
        }
    }
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

static void measure_sizes(Operand *o)
{
    size_t outer = o->depth_major ? o->depth : o->lines;
    size_t inner = o->depth_major ? o->lines : o->depth;
    Entry x = {0};
    for (size_t u = 0; u < outer; u++) {
        for (size_t v = 0; v < inner; v++) {
            size_t line = o->depth_major ? v : u, position = o->depth_major ? u : v;
            entry_load(&x, o, line, position);
            double size = scaled_size(&x, o->exponent[line]);
            o->size[u * inner + v] = size;
            o->sum[line] += size;
        }
    }
    /* What rounding and dropped entries may have taken away. */
    for (size_t i = 0; i < o->lines; i++) {
        o->sum[i] *= 1 + 0x1p-20;
    }
}

bool operand_measure(Operand *o)
{
    mpfr_exp_t *low = array_alloc(o->lines, sizeof *low);
    o->exponent = array_alloc(o->lines, sizeof *o->exponent);
    o->sum = calloc(o->lines + 1, sizeof *o->sum);
    o->size = o->lines <= SIZE_MAX / (o->depth + 1)
                  ? array_alloc(o->lines * o->depth, sizeof(double))
                  : NULL;
    bool ok = low != NULL && o->exponent != NULL && o->sum != NULL && o->size != NULL;
    if (ok) {
        o->plain = true;
        measure_exponents(o, low);
        for (size_t i = 0; o->plain && i < o->lines; i++) {
            mpfr_exp_t bits = o->exponent[i] == LINE_ZERO ? 0 : o->exponent[i] - low[i];
            o->bits = bits > o->bits ? bits : o->bits;
        }
        if (o->plain) {
            measure_sizes(o);
        }
    }
    free(low);
    return ok;
}
