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

/* Directions at most, of one row and of all, and at a time; the share of its distance at which a
 * row is left. */
enum { STEPS_EACH = 100, STEPS = 4000, AT_ONCE = 32 };
#define ENOUGH 0.7

/* Points as P has them: X with the biases, then each head's values; centred: P takes their means
 * away. */
typedef struct {
    bool centred;
    size_t rows, d, heads;
    double *point;  /* [1 + heads, rows, d] */
    double *mean;   /* [d] the heads' means together */
    double *along;  /* [rows, directions] */
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
    const LayerNorm without = {.kind = NORMALIZATION_NONE};
    Matrix x, biases;
    inputs_read(&x, inputs, &without);
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

/* Directions that are looked along together: one reading of the points serves all. */
typedef struct {
    size_t count, row[AT_ONCE]; /* that each is for, of a share of the rows of its own */
    int steps[AT_ONCE];         /* of each */
    double before[AT_ONCE];     /* what was known of its row when it began */
    double *z, *corner;         /* [count, d] */
} Directions;

/* hull->along [rows, count]: set s along each direction. */
static void project(Hull *hull, size_t s, const Directions *all)
{
    size_t d = hull->d;
    gemm(hull->along, all->count, gemm_plain(hull->point + s * hull->rows * d, d),
         gemm_transposed(all->z, d), (GemmExtents){hull->rows, all->count, d}, 0);
}

/* Adds to each direction's corner the point of set s that is the smallest along it, and to sum what
 * that is. */
static void add_smallest(double *sum, Hull *hull, size_t s, Directions *all)
{
    size_t d = hull->d, count = all->count, least[AT_ONCE] = {0};
    project(hull, s, all);
    for (size_t r = 1; r < hull->rows; r++) {
        for (size_t b = 0; b < count; b++) {
            bool less = hull->along[r * count + b] < hull->along[least[b] * count + b];
            least[b] = less ? r : least[b];
        }
    }
    for (size_t b = 0; b < count; b++) {
        sum[b] += hull->along[least[b] * count + b];
        for (size_t c = 0; c < d; c++) {
            all->corner[b * d + c] += hull->point[(s * hull->rows + least[b]) * d + c];
        }
    }
}

/* What the directions show of every row's bound; each one's corner: from its row and the smallest
 * of each head's values along it. */
static void look_along(Hull *hull, Directions *all)
{
    size_t d = hull->d, count = all->count;
    double sum[AT_ONCE] = {0}, size[AT_ONCE];
    for (size_t b = 0; b < count; b++) {
        size[b] = sqrt(dot(all->z + b * d, all->z + b * d, d));
        memcpy(all->corner + b * d, hull->point + all->row[b] * d, d * sizeof *all->corner);
    }
    for (size_t h = 1; h <= hull->heads; h++) {
        add_smallest(sum, hull, h, all);
    }
    project(hull, 0, all);
    for (size_t r = 0; r < hull->rows; r++) {
        for (size_t b = 0; b < count; b++) {
            double shown = size[b] > 0 ? (hull->along[r * count + b] + sum[b]) / size[b] : 0;
            hull->bound[r] = fmax(hull->bound[r], shown);
        }
    }
}

/* One step of a direction, along which its row is farther from 0 than before; false: it is there,
 * or was long enough on its way.  z is a sum that is in reach of the row, and goes toward the
 * corner as far as it becomes shorter; it comes to the shortest, which is its own direction. */
static bool step(const Hull *hull, Directions *all, size_t b)
{
    size_t d = hull->d;
    double *z = all->z + b * d, *corner = all->corner + b * d, size = dot(z, z, d),
           toward = dot(z, corner, d), apart = size - 2 * toward + dot(corner, corner, d),
           by = fmin(1, (size - toward) / apart);
    bool far = by > 0 && hull->bound[all->row[b]] < ENOUGH * sqrt(size);
    for (size_t c = 0; far && c < d; c++) {
        z[c] += by * (corner[c] - z[c]);
    }
    return far && ++all->steps[b] < STEPS_EACH;
}

/* Direction b is for row i from now on, the heads' share of z left as it was. */
static void begin(const Hull *hull, Directions *all, size_t b, size_t i)
{
    const double *from = hull->point + all->row[b] * hull->d, *to = hull->point + i * hull->d;
    for (size_t c = 0; c < hull->d; c++) {
        all->z[b * hull->d + c] += to[c] - from[c];
    }
    all->row[b] = i;
    all->steps[b] = 0;
    all->before[b] = hull->bound[i];
}

/* The row of the smallest bound of rows first, ..., end - 1. */
static size_t smallest(const Hull *hull, size_t first, size_t end)
{
    size_t row = first;
    for (size_t r = first + 1; r < end; r++) {
        row = hull->bound[r] < hull->bound[row] ? r : row;
    }
    return row;
}

/* Each direction begins again with the row of its share of which least is known, until the row of
 * which least is known of all got no better by its own. */
static double search(Hull *hull, Directions *all)
{
    size_t d = hull->d, rows = hull->rows, count = all->count;
    bool better = true;
    for (size_t b = 0; b < count; b++) {
        all->row[b] = b * rows / count;
        for (size_t c = 0; c < d; c++) {
            all->z[b * d + c] = hull->mean[c] + hull->point[all->row[b] * d + c];
        }
    }
    for (size_t steps = 0; steps < STEPS && better; steps += count) {
        look_along(hull, all);
        size_t least = smallest(hull, 0, rows);
        for (size_t b = 0; b < count; b++) {
            size_t row = all->row[b];
            if (!step(hull, all, b)) {
                better = better && (row != least || hull->bound[row] > all->before[b]);
                begin(hull, all, b, smallest(hull, b * rows / count, (b + 1) * rows / count));
            }
        }
    }
    double counted = 4 * ((double)d + (double)hull->heads + 8) * U * hull->longest,
           least = hull->bound[smallest(hull, 0, rows)];
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
    size_t d = hull.d, numbers = (1 + hull.heads) * d, most = numbers < AT_ONCE ? numbers : AT_ONCE;
    Directions all = {.count = hull.rows < most ? hull.rows : most}; /* along as large as point */
    all.z = need_zeros(2 * all.count * d, sizeof *all.z);
    all.corner = all.z + all.count * d;
    hull.point = need_zeros(hull.rows * numbers, sizeof *hull.point);
    hull.mean = need_zeros(d, sizeof *hull.mean);
    hull.along = need_zeros((all.count + 1) * hull.rows, sizeof *hull.along);
    hull.bound = hull.along + all.count * hull.rows;
    take_hull(&hull, inputs, rows, attention);
    if (hull.longest < 0x1p300) {
        *least = search(&hull, &all);
    }
    free(all.z);
    free(hull.point);
    free(hull.mean);
    free(hull.along);
}
