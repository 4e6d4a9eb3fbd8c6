/*
 * The derivative of a row's sublayer by the row itself: J = diag(d) + A diag(w) B, d what the
 * stream and others contribute, is formed, and
 *     |J|^2 <= 1 + the largest eigenvalue of J^T J - I, or 1 if that is negative              (C41)
 * says what 1 + |A| max |w| |B| does not: that what a network adds to a row is in no direction that
 * the row is in.  Where J is near I, a bound of the rest that is off by a factor matters little.
 */
#include "jacobian.h"
#include "bounds.h"
#include "norm.h"

#include "../../memory/need.h"
#include "../product/eigenvalue.h"
#include "../product/gemm.h"

#include <stdlib.h>

/* Bits that a radius has lost before. */
enum { LOST_LEAST = 14 };

/* How the largest eigenvalue of J^T J - I is looked for. */
static const EigenvalueSearch search = {6, 0x1p-3};

bool jacobian_worth(const Radius *r)
{
    Columns content = {0, r->bank};
    double lost = banks_largest(r, r->rho, content), x = banks_largest(r, r->at.norm, content);
    return r->bank <= JACOBIAN_COLUMNS && lost < INFINITY && lost > ldexp(x, LOST_LEAST);
}

/* The matrices of a row: J and J^T J - I, each [n, n], and A diag(w) [n, inner]. */
typedef struct {
    double *j, *g, *scaled;
} Room;

/* g = J^T J - I, of which one half is there; returned: at least its norm. */
static double less_identity(double *g, size_t n)
{
    double size = 0;
    for (size_t c = 0; c < n; c++) {
        g[c * n + c] -= 1;
        size = hypot(size, norm_vector(g + c * n + c, n - c, 1));
    }
    return bound_up(sqrt(2) * size);
}

/* The norm of J as it stands, [n, n].  A product is off by 1.01 (n + 1) 2^-53 |J|_F^2 (C2), and 1
 * less rounds by 2^-53 of that and of sqrt(n): n being small, 2 BOUND_DOUBLE pays for both. */
static double norm_beside_one(const Room *room, size_t n)
{
    double size = norm_frobenius(room->j, n, n, n);
    double off = 2 * BOUND_DOUBLE * (size * size + (double)n);
    gemm_square(room->g, n, room->j, n, true, n, n);
    double most = less_identity(room->g, n);
    return sqrt(bound_up(1 + largest_eigenvalue(room->g, n, most, search) + off));
}

static double form(const Room *room, const RowMap *map, const double *d, const double *w, size_t n)
{
    double weight = 0, most = 0;
    for (size_t k = 0; k < map->inner; k++) {
        weight = bound_max(weight, fabs(w[k]));
    }
    for (size_t c = 0; c < n; c++) {
        for (size_t k = 0; k < map->inner; k++) {
            room->scaled[c * map->inner + k] = map->a[c * map->lda + k] * w[k];
        }
    }
    gemm(room->j, n, gemm_plain(room->scaled, map->inner), gemm_plain(map->b, map->ldb),
         (GemmExtents){n, n, map->inner}, 0);
    for (size_t c = 0; c < n; c++) {
        room->j[c * n + c] += d[c];
        most = bound_max(most, fabs(d[c]));
    }
    double terms = BOUND_DOUBLE * (1 + (double)map->inner / 16);
    double off = terms * (map->a_size * weight * map->b_size + most * sqrt((double)n));
    return bound_up(norm_beside_one(room, n) + off);
}

double jacobian_norm(const Radius *r, const RowMap *map, const Pass *pass, const double *w,
                     size_t i)
{
    size_t n = r->bank;
    double *all = need_room(2 * n * n + n * map->inner + 1, sizeof *all);
    const Room room = {all, all + n * n, all + 2 * n * n};
    double norm = form(&room, map, pass->diagonal + i * r->columns, w, n), slack = 0;
    free(all);
    for (size_t c = 0; c < n; c++) {
        slack = bound_max(slack, pass->slack[i * r->columns + c]);
    }
    return norm + slack;
}

void jacobian_take(const Radius *r, Pass *pass, double norm, size_t i)
{
    for (size_t c = i * r->columns; c < i * r->columns + r->bank; c++) {
        pass->diagonal[c] = 0;
        pass->slack[c] = 0;
    }
    for (size_t k = 0; k < pass->count; k++) {
        pass->out[k][i].bank[BANK_CONTENT] += norm * pass->radius[k][i].bank[BANK_CONTENT];
    }
}
