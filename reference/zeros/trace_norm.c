/*
 * Layer norms: which entries they leave 0, and which are the same in T_infinity and in T'.
 */
#include "trace_norm.h"

#include "../evaluator/layer_norm.h"

#include <string.h>

/* Is gamma c / sqrt(s) 0 in column c, whatever the others hold: an only entry is its own mean, and
 * an RMSNorm leaves a 0 what it is? */
static bool quotient_zero(const LayerNorm *norm, const unsigned char *known, size_t c)
{
    bool rms = norm->kind == NORMALIZATION_RMSNORM;
    return norm->gamma[c] == 0 || (!rms && norm->columns.count == 1) ||
           (rms && (known[c] & PROVEN_ZERO) != 0);
}

static void norm_row(const Trace *trace, const LayerNorm *norm, size_t row, unsigned char *flags)
{
    bool token = row != layout_bias_row(&trace->model->layout);
    const unsigned char *known = trace->known + row * trace->columns + norm->columns.first;
    int all = trace_block(trace, row, 1, norm->columns);
    for (size_t c = 0; c < norm->columns.count; c++) {
        bool zero = (all & PROVEN_ZERO) != 0 || quotient_zero(norm, known, c);
        bool beta = token && norm->beta != NULL && norm->beta[c] != 0;
        flags[norm->columns.first + c] =
            (unsigned char)(zero && !beta
                                ? PROVEN_SAME | PROVEN_ZERO |
                                      ((known[c] & PROVEN_ZERO) != 0 ? known[c] & PROVEN_GIVEN : 0)
                            : zero ? PROVEN_SAME
                                   : all & PROVEN_SAME);
    }
}

void trace_norm(const Trace *trace, const LayerNorm *norm, unsigned char *flags)
{
    memcpy(flags, trace->known, trace->rows * trace->columns);
    for (size_t row = 0; row < trace->rows; row++) {
        if (!trace->lost[row] && norm_acts(&trace->model->layout, norm, row)) {
            norm_row(trace, norm, row, flags + row * trace->columns);
        }
    }
}
