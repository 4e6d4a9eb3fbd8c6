/*
 * Bounds on a head that reads rows of X itself, from those very rows: (G21), (G23).
 */
#include "part.h"

#include "../../memory/need.h"

#include <math.h>
#include <stdlib.h>

/* Row r of m and bias as doubles: what it may be off by, its norm in *norm. */
static double row_of(double *row, double *norm, const Matrix *m, const Matrix *bias, size_t r)
{
    enum { RANGE = 900 };
    bool usual = labs(m->exponent) < RANGE && labs(bias->exponent) < RANGE;
    int of_m = usual ? (int)m->exponent : 0, of_bias = usual ? (int)bias->exponent : 0;
    double squares = 0;
    for (size_t c = 0; c < m->columns; c++) {
        row[c] = ldexp(m->entry[r * m->columns + c], of_m) + ldexp(bias->entry[c], of_bias);
        squares += row[c] * row[c];
    }
    *norm = sqrt(squares) * (1 + 0x1p-30) + 0x1p-500;
    double off = ldexp(m->off, of_m) + ldexp(bias->off, of_bias) + 0x1p-50 * *norm;
    return usual ? off * (1 + 0x1p-30) : INFINITY;
}

double rows_scores(const Reader *q, const Reader *k, const Matrix *rows)
{
    Matrix queries, keys;
    size_t rank = q->token.columns;
    bool known = true;
    double *x = need_room(2 * rank, sizeof *x), *y = x + rank, most = -INFINITY;
    matrix_product(&queries, rows, &q->token, false);
    matrix_product(&keys, rows, &k->token, false);
    for (size_t r = 0; r < rows->rows; r++) {
        double of_x, of_y, dot = 0, off_x = row_of(x, &of_x, &queries, &q->bias, r),
                           off_y = row_of(y, &of_y, &keys, &k->bias, r);
        for (size_t c = 0; c < rank; c++) {
            dot += x[c] * y[c];
        }
        double off = off_x * of_y + off_y * of_x + off_x * off_y +
                     ((double)rank + 4) * 0x1p-52 * of_x * of_y;
        double minus = off * (1 + 0x1p-30) - dot;
        known = known && minus < INFINITY;
        most = fmax(most, minus);
    }
    matrix_clear(&queries);
    matrix_clear(&keys);
    free(x);
    return known ? nextafter(most, INFINITY) : INFINITY;
}

Magnitude rows_values(const Reader *v, const Matrix *rows)
{
    Matrix values;
    double *row = need_room(v->token.columns, sizeof *row), largest = 0;
    matrix_product(&values, rows, &v->token, false);
    for (size_t r = 0; r < rows->rows; r++) {
        double norm, off = row_of(row, &norm, &values, &v->bias, r);
        largest = fmax(largest, norm + off);
    }
    matrix_clear(&values);
    free(row);
    return magnitude_of(largest * (1 + 0x1p-50), 0);
}
