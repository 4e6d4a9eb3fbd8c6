/*
 * How small a row can be where its norm reads it behind the first attention (G25).
 *
 * Such a row is a row of X, all heads' biases, and of each head a mean of its values.  Whatever the
 * direction z, it is at least as long as the row's own share along z and the smallest of each
 * head's.  Directions are those of Frank and Wolfe's method, which looks for the shortest sum,
 * begun again with the row of which least is known; nothing rests on how good they are.
 */
#include "input.h"

#include "../../memory/need.h"
#include "part.h"

#include "../product/gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define U 0x1p-53

/* Directions at most, of one row and of all; the share of its distance at which a row is left. */
enum { STEPS_EACH = 100, STEPS = 2000 };
#define ENOUGH 0.7

/* Points as P has them: X with the biases, then each head's values; centred: P takes their means
 * away. */
typedef struct {
    bool centred;
    size_t rows, d, heads;
    double *point;  /* [1 + heads, rows, d] */
    double *mean;   /* [d] the heads' means together */
    double *along;  /* [rows] */
    double *bound;  /* [rows] of each row of X */
    double longest; /* a sum of one point of each */
    double off;     /* which is so far from the exact one at most */
} Hull;

bool spread_is_known(const GuaranteeInputs *inputs, const Sublayer *attention)
{
    double positions = inputs->w_pos != NULL ? (double)inputs->n : 1, most = ROWS_MOST,
           sets = attention->bundle_count == 1 ? 1 + (double)attention->bundles[0].heads : INFINITY;
    return sets * (double)inputs->vocabulary * positions * (double)inputs->d <= most;
}

static double dot(const double *x, const double *y, size_t d)
{
    double sum = 0;
    for (size_t c = 0; c < d; c++) {
        sum += x[c] * y[c];
    }
    return sum;
}

/* Set s of the points: rows of m, and a bias on each, or NULL. */
static void take_points(Hull *hull, size_t s, const Matrix *m, const Matrix *bias)
{
    size_t d = hull->d;
    double longest = 0;
    bool usual = labs(m->exponent) < 400 && (bias == NULL || labs(bias->exponent) < 400);
    for (size_t r = 0; usual && r < hull->rows; r++) {
        double *x = hull->point + (s * hull->rows + r) * d, sum = 0;
        for (size_t c = 0; c < d; c++) {
            x[c] = ldexp(m->entry[r * d + c], (int)m->exponent);
            x[c] += bias != NULL ? ldexp(bias->entry[c], (int)bias->exponent) : 0;
            sum += x[c];
        }
        longest = fmax(longest, sqrt(dot(x, x, d)));
        for (size_t c = 0; hull->centred && c < d; c++) {
            x[c] -= sum / (double)d;
        }
        for (size_t c = 0; s > 0 && c < d; c++) {
            hull->mean[c] += x[c] / (double)hull->rows;
        }
    }
    hull->longest += longest;
    hull->off += usual ? ldexp(m->off, (int)m->exponent) : INFINITY;
    hull->off += usual && bias != NULL ? ldexp(bias->off, (int)bias->exponent) : 0;
}

static void take_hull(Hull *hull, const GuaranteeInputs *inputs, const Matrix *rows,
                      const Sublayer *attention)
{
    const LayerNorm none = {.kind = NORMALIZATION_NONE};
    Matrix x, biases;
    inputs_read(&x, inputs, &none);
    matrix_zeros(&biases, 1, hull->d);
    for (size_t h = 0; h < hull->heads; h++) {
        Matrix values, bias;
        attention_values(&values, &bias, attention, h, rows);
        matrix_add(&biases, &bias, 1);
        take_points(hull, 1 + h, &values, NULL);
        matrix_clear(&values);
        matrix_clear(&bias);
    }
    take_points(hull, 0, &x, &biases);
    matrix_clear(&x);
    matrix_clear(&biases);
}

/* Where along z the smallest of a set is; hull->along: of all. */
static size_t lowest(const Hull *hull, size_t s, const double *z)
{
    size_t d = hull->d, least = 0;
    gemm(hull->along, 1, gemm_plain(hull->point + s * hull->rows * d, d), gemm_plain(z, 1),
         (GemmExtents){hull->rows, 1, d}, 0);
    for (size_t r = 1; r < hull->rows; r++) {
        least = hull->along[r] < hull->along[least] ? r : least;
    }
    return least;
}

/* The smallest bound of a row: *row. */
static double smallest(size_t *row, const Hull *hull)
{
    *row = 0;
    for (size_t r = 1; r < hull->rows; r++) {
        *row = hull->bound[r] < hull->bound[*row] ? r : *row;
    }
    return hull->bound[*row];
}

/* Projects every row on z; corner [d]: from row i and the smallest of each head's values along z.
 * */
static void look_along(Hull *hull, double *corner, const double *z, size_t i)
{
    size_t d = hull->d;
    double size = sqrt(dot(z, z, d)), sum = 0;
    memcpy(corner, hull->point + i * d, d * sizeof *corner);
    for (size_t h = 1; h <= hull->heads; h++) {
        size_t least = lowest(hull, h, z);
        const double *point = hull->point + (h * hull->rows + least) * d;
        sum += hull->along[least];
        for (size_t c = 0; c < d; c++) {
            corner[c] += point[c];
        }
    }
    (void)lowest(hull, 0, z);
    for (size_t r = 0; r < hull->rows && size > 0; r++) {
        hull->bound[r] = fmax(hull->bound[r], (hull->along[r] + sum) / size);
    }
}

/* Directions z along which row i is farther and farther from 0, in so many steps; z, corner [d]:
 * scratch.  z is a sum that is in reach of the row, and goes toward the corner as far as it becomes
 * shorter; it comes to the shortest, which is its own direction. */
static int descend(Hull *hull, double *z, double *corner, size_t i, int steps)
{
    size_t d = hull->d;
    int step = 0;
    for (bool far = true; step < steps && far; step++) {
        look_along(hull, corner, z, i);
        double size = dot(z, z, d), toward = dot(z, corner, d),
               apart = size - 2 * toward + dot(corner, corner, d),
               by = fmin(1, (size - toward) / apart);
        far = by > 0 && hull->bound[i] < ENOUGH * sqrt(size);
        for (size_t c = 0; far && c < d; c++) {
            z[c] += by * (corner[c] - z[c]);
        }
    }
    return step;
}

/* z += sign times row i of X. */
static void add_row(double *z, const Hull *hull, size_t i, double sign)
{
    for (size_t c = 0; c < hull->d; c++) {
        z[c] += sign * hull->point[i * hull->d + c];
    }
}

/* From the row of which least is known, again and again, the heads' share of z left as it was. */
static double search(Hull *hull, double *z, double *corner)
{
    double least = 0;
    size_t row = 0;
    for (size_t r = 0; r < hull->rows; r++) {
        hull->bound[r] = 0;
    }
    memcpy(z, hull->mean, hull->d * sizeof *z);
    bool better = true;
    for (int left = STEPS; left > 0 && better;) {
        double before = hull->bound[row];
        add_row(z, hull, row, 1);
        left -= descend(hull, z, corner, row, left < STEPS_EACH ? left : STEPS_EACH);
        add_row(z, hull, row, -1);
        better = hull->bound[row] > before;
        least = smallest(&row, hull);
    }
    double counted = 4 * ((double)hull->d + (double)hull->heads + 8) * U * hull->longest;
    least = (least - hull->off - counted) * (1 - 0x1p-40);
    return least > 0x1p-300 ? least : 0; /* nothing underflows */
}

void spread_least(double *least, const GuaranteeInputs *inputs, const Matrix *rows,
                  const Sublayer *attention, const LayerNorm *norm)
{
    Hull hull = {.centred = norm->kind == NORMALIZATION_LAYERNORM,
                 .rows = rows->rows,
                 .d = inputs->d,
                 .heads = attention->bundles[0].heads};
    *least = 0;
    hull.point = need_zeros((1 + hull.heads) * hull.rows * hull.d, sizeof *hull.point);
    hull.mean = need_zeros(3 * hull.d, sizeof *hull.mean);
    hull.along = need_zeros(2 * hull.rows, sizeof *hull.along);
    hull.bound = hull.along + hull.rows;
    take_hull(&hull, inputs, rows, attention);
    if (hull.longest < 0x1p300) {
        *least = search(&hull, hull.mean + hull.d, hull.mean + 2 * hull.d);
    }
    free(hull.point);
    free(hull.mean);
    free(hull.along);
}
