/*
 * Parts of every evaluation of a sublayer: broken promises, scratch memory, the scale as a machine
 * has it.
 */
#include "pass.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void kernel_bug(const char *file, int line, const char *promise)
{
    fprintf(stderr, "%s:%d: bug: not so: %s\n", file, line, promise);
    abort();
}

Scalar scale_value(Scale scale)
{
    return (Scalar)((double)scale.num / ((double)scale.den * sqrt((double)scale.sqrt_den)));
}

Scalar *scratch_take(Scratch *scratch, double rows, double columns)
{
    const size_t scalars = 64 / sizeof(Scalar);
    const double line = (double)scalars;
    double count = line * ceil(rows * columns / line);
    Scalar *taken = scratch->next;
    scratch->taken += count;
    if (taken != NULL) {
        scratch->next += (size_t)count;
    }
    return taken;
}
