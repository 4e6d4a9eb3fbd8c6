/*
 * The sizes of the streams of a table.
 *
 * Where a stream shrinks to 1e-30, so do its absolute errors, and tell nothing of their digits.
 */
#include "stream_sizes.h"

#include "../base/number.h"

#include <math.h>

/* Beyond this ratio of sizes of streams errors are compared relative to them. */
#define STREAM_RATIO 3 /* powers of ten */
/* Logarithms up to this size keep their first decimals, so that two can be subtracted. */
#define EXPONENT_SUBTRACTED 1e9

StreamSizes stream_sizes_none(void)
{
    return (StreamSizes){INFINITY, -INFINITY};
}

void stream_sizes_add(StreamSizes *sizes, double log10_error, double log10_relative)
{
    double size = log10_error - log10_relative;
    if (fabs(log10_error) < EXPONENT_SUBTRACTED && isfinite(size)) {
        stream_sizes_join(sizes, (StreamSizes){size, size});
    }
}

/* NaN where it is blank or no number. */
static double log10_of(const char *text)
{
    Number number;
    bool finite = number_read(&number, text) && number.kind == NUMBER_FINITE && number.digits != 0;
    return finite ? log10((double)number.digits / 1e16) + (double)number.exponent : NAN;
}

void stream_sizes_add_texts(StreamSizes *sizes, const char *error, const char *relative)
{
    stream_sizes_add(sizes, log10_of(error), log10_of(relative));
}

void stream_sizes_join(StreamSizes *sizes, StreamSizes other)
{
    sizes->least = fmin(sizes->least, other.least);
    sizes->most = fmax(sizes->most, other.most);
}

Norm stream_sizes_norm(StreamSizes sizes, bool many_layers)
{
    return many_layers && sizes.most - sizes.least > STREAM_RATIO ? NORM_REL : NORM_MAX;
}
