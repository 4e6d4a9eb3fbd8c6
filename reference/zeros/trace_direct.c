/*
 * The direct operations of an original: which entries of the stream they leave as they are.
 */
#include "trace.h"

#include <string.h>

/* Do all columns read whose row of w, [read, columns], has an entry other than 0 hold 0 in this row
 * of the stream? */
static bool product_zero(const Trace *trace, const Direct *direct, const double *w, size_t row,
                         Columns columns, size_t ld)
{
    const unsigned char *known = trace->read + row * trace->columns + direct->read.first;
    size_t r = 0;
    while (r < direct->read.count && ((known[r] & PROVEN_ZERO) != 0 ||
                                      !trace_any(w + r * ld + columns.first, columns.count, 1))) {
        r++;
    }
    return r == direct->read.count;
}

/* Every activation but sigma is 0 at 0; and so is a product of which one factor is. */
static bool unit_zero(const Trace *trace, const Direct *direct, size_t row, size_t k)
{
    Columns own = {k, 1};
    size_t H = direct->hidden;
    bool act = direct->activation != ACTIVATION_SIGMOID &&
               (direct->b1 == NULL || direct->b1[k] == 0) &&
               product_zero(trace, direct, direct->w1, row, own, H);
    return act || (direct->w3 != NULL && (direct->b3 == NULL || direct->b3[k] == 0) &&
                   product_zero(trace, direct, direct->w3, row, own, H));
}

/* A network writes nothing whose units that lead on are 0. */
static void trace_ffn(Trace *trace, const Direct *direct)
{
    size_t hidden = direct->hidden, width = direct->write.count;
    bool silent = direct->b2 == NULL || !trace_any(direct->b2, width, 1);
    for (size_t k = 0; k < hidden; k++) {
        trace->live[k] = trace_any(direct->w2 + k * width, width, 1);
    }
    for (size_t i = 0; i < trace->rows; i++) {
        bool nothing = silent;
        for (size_t k = 0; k < hidden && nothing; k++) {
            nothing = !trace->live[k] || unit_zero(trace, direct, i, k);
        }
        trace_keep(trace, i, direct->write, nothing ? PROVEN_ALL : 0);
    }
}

/* W less the identity, where the product replaces what it read: is it 0 on every column but those
 * that hold 0? */
static bool replaces_alike(const Trace *trace, const Direct *direct, size_t row)
{
    size_t width = direct->write.count;
    const unsigned char *known = trace->known + row * trace->columns + direct->read.first;
    bool alike = direct->read.first == direct->write.first && direct->read.count == width;
    for (size_t e = 0; e < width * width && alike; e++) {
        size_t r = e / width, c = e % width;
        alike = (known[r] & PROVEN_ZERO) != 0 || direct->w1[e] == (r == c);
    }
    return alike;
}

static void trace_linear(Trace *trace, const Direct *direct)
{
    size_t width = direct->write.count;
    bool silent = direct->b1 == NULL || !trace_any(direct->b1, width, 1);
    for (size_t i = 0; i < trace->rows; i++) {
        bool nothing = silent && (direct->replace ? replaces_alike(trace, direct, i)
                                                  : product_zero(trace, direct, direct->w1, i,
                                                                 (Columns){0, width}, width));
        trace_keep(trace, i, direct->write, nothing ? PROVEN_ALL : 0);
    }
}

/* An entry that is set to 0, or whose activation is taken, stays what it was if that is 0. */
static void keep_zeros(Trace *trace, Columns columns)
{
    for (size_t i = 0; i < trace->rows; i++) {
        for (size_t c = columns.first; c < columns.first + columns.count; c++) {
            bool zero = (trace->known[i * trace->columns + c] & PROVEN_ZERO) != 0;
            trace_keep(trace, i, (Columns){c, 1}, zero ? PROVEN_ALL : 0);
        }
    }
}

void trace_direct(Trace *trace, const Direct *direct)
{
    switch (direct->kind) {
    case DIRECT_NORM: memcpy(trace->next, trace->read, trace->rows * trace->columns); break;
    case DIRECT_FFN: trace_ffn(trace, direct); break;
    case DIRECT_LINEAR:
        trace_linear(trace, direct);
        if (direct->clear) {
            keep_zeros(trace, direct->read);
        }
        break;
    case DIRECT_ACTIVATION: keep_zeros(trace, direct->write); break;
    }
}
