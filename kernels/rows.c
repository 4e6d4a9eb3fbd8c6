#include "structured.h"

#include "blas.h"

#include "../cases/fault.h"

Rows rows_take(Scratch *scratch, const Layout *layout, double columns)
{
    Rows rows = {NULL, NULL, (size_t)columns};
    rows.tokens = scratch_take(scratch, (double)layout->n, columns);
    if (layout->bias_row != BIAS_ROW_NONE) {
        rows.bias = scratch_take(scratch, 1, columns);
    }
    return rows;
}

Rows rows_from(Rows rows, size_t first)
{
    double *bias = rows.bias == NULL ? NULL : rows.bias + first;
    return (Rows){rows.tokens + first, bias, rows.ld};
}

ConstRows rows_const(Rows rows)
{
    return (ConstRows){rows.tokens, rows.bias, rows.ld};
}

ConstRows rows_const_from(ConstRows rows, size_t first)
{
    const double *bias = rows.bias == NULL ? NULL : rows.bias + first;
    return (ConstRows){rows.tokens + first, bias, rows.ld};
}

void rows_project(Rows out, ConstRows x, HeadWeight weight, size_t n, size_t depth, size_t heads,
                  size_t width)
{
    bool side_by_side = heads == 1 || (weight.head_stride == width && weight.ld >= heads * width);
    size_t calls = side_by_side ? 1 : heads, columns = side_by_side ? heads * width : width;
    for (size_t h = 0; h < calls; h++) {
        HeadWeight one = head_weight(weight, h);
        Rows to = rows_from(out, h * width);
        blas_gemm(to.tokens, to.ld, x.tokens, x.ld, one.data, one.ld, n, columns, depth, 1.0, 0.0);
        if (x.bias != NULL) {
            blas_gemm(to.bias, to.ld, x.bias, x.ld, one.data, one.ld, 1, columns, depth, 1.0, 0.0);
        }
    }
}

size_t rows_count(Rows rows, size_t n)
{
    return n + (rows.bias != NULL);
}

double *rows_row(Rows rows, size_t n, size_t i)
{
    return i < n ? rows.tokens + i * rows.ld : rows.bias;
}

static const double *const_row(ConstRows rows, size_t n, size_t i)
{
    return i < n ? rows.tokens + i * rows.ld : rows.bias;
}

void rows_scale(Rows to, ConstRows from, double factor, size_t n, size_t columns)
{
    for (size_t i = 0; i < rows_count(to, n); i++) {
        const double *source = const_row(from, n, i);
        double *target = rows_row(to, n, i);
        for (size_t c = 0; c < columns; c++) {
            target[c] =
                FAULT("float-in-a-product", (float)(factor * source[c]), factor * source[c]);
        }
    }
}

void rows_add(Rows to, ConstRows from, double factor, size_t n, size_t columns)
{
    for (size_t i = 0; i < rows_count(to, n); i++) {
        const double *source = const_row(from, n, i);
        double *target = rows_row(to, n, i);
        for (size_t c = 0; c < columns; c++) {
            target[c] += factor * source[c];
        }
    }
}

void rows_add_to_tokens(Rows rows, const double *bias, size_t n, size_t columns)
{
    for (size_t i = 0; bias != NULL && i < n; i++) {
        for (size_t c = 0; c < columns; c++) {
            rows.tokens[i * rows.ld + c] += bias[c];
        }
    }
}
