/*
 * Streams in doubles, and weights side by side.
 */
#include "point.h"
#include "bounds.h"
#include "norm.h"
#include "vectors.h"

#include "../../memory/need.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* At least the 2-norm of some entries: their squares as they are, where none of those is out of
 * range. */
static double entries_norm(const double *x, size_t count)
{
    double squares = vectors()->dot(x, x, count);
    return squares > SQUARES_LEAST && squares < 1 / SQUARES_LEAST ? bound_up(sqrt(squares))
                                                                  : norm_vector(x, count, 1);
}

static void set_norm(const Radius *r, Banks *norm, const double *x, size_t i)
{
    const double *row = x + i * r->columns;
    norm[i].bank[BANK_CONTENT] = entries_norm(row, r->bank);
    norm[i].bank[BANK_HIDDEN] = entries_norm(row + r->bank, r->columns - r->bank);
}

static mpfr_exp_t largest_exponent(const ApMat *e)
{
    return ap_exponent(e->entry, e->rows * e->columns);
}

/* Entries are not brought below 2^-LEAST units, so that only zeros are zero.  POINT_OPERATIONS:
 * what an entry costs. */
enum { LEAST = 700, POINT_OPERATIONS = 4 };

/* The smallest difference of coefficients of Omega in a row of the bundle's heads; 0: none. */
static int row_gap(const Radius *r, const Bundle *bundle, size_t h, size_t row)
{
    const Heads heads = radius_heads(r, bundle);
    int best = heads_best_position(&heads, h, row), gap = 0;
    for (size_t j = 0; j < r->rows; j++) {
        if (heads_see(&heads, row, j)) {
            int here = best - heads_position(&heads, h, row, j);
            gap = here > 0 && (gap == 0 || here < gap) ? here : gap;
        }
    }
    return gap;
}

/* The same of all rows of a sublayer's heads. */
static int sublayer_gap(const Radius *r, const Sublayer *sublayer)
{
    int gap = 0;
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        for (size_t h = 0; h < (bundle->score.extra != NULL ? bundle->heads : 1); h++) {
            for (size_t row = 0; row < r->rows; row++) {
                int here = row_gap(r, bundle, h, row);
                gap = here > 0 && (gap == 0 || here < gap) ? here : gap;
            }
        }
    }
    return gap;
}

/* 2^n, which is a normal double. */
static double power_of_two(mpfr_exp_t n)
{
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double point_entry(mpfr_srcptr entry, mpfr_exp_t unit)
{
    if (!mpfr_regular_p(entry)) {
        return mpfr_get_d(entry, MPFR_RNDN);
    }
    const mp_limb_t *limb = mpfr_custom_get_significand(entry);
    double m = (double)(int64_t)(limb[(mpfr_get_prec(entry) - 1) / 64] >> 11);
    mpfr_exp_t exponent = mpfr_get_exp(entry) - unit;
    double size = exponent < -LEAST  ? power_of_two(-LEAST)
                  : exponent <= 1024 ? m * power_of_two(exponent - 53)
                                     : INFINITY;
    return mpfr_signbit(entry) ? -size : size;
}

/* x^, and with e^, whose norms are in 2^unit, x^ + e^. */
typedef struct {
    Radius *r;
    const ApMat *x, *e;
    mpfr_exp_t unit;
} Points;

/* 2^unit, or what of that a double holds. */
static double unit_size(mpfr_exp_t unit)
{
    return unit < -LEAST ? 0 : unit < 1024 ? power_of_two(unit) : INFINITY;
}

static void set_entries(const Points *points, size_t i)
{
    Radius *r = points->r;
    const size_t first = i * r->columns, end = first + r->columns;
    for (size_t c = first; c < end; c++) {
        r->at.x[c] = point_entry(points->x->entry + c, 0);
    }
    set_norm(r, r->at.norm, r->at.x, i);
    if (!r->change) {
        return;
    }
    for (size_t c = first; c < end; c++) {
        r->moved.x[c] = point_entry(points->e->entry + c, points->unit);
    }
    set_norm(r, r->e, r->moved.x, i);
    double size = unit_size(points->unit);
    for (size_t c = first; c < end; c++) {
        r->moved.x[c] = r->at.x[c] + size * r->moved.x[c];
    }
    set_norm(r, r->moved.norm, r->moved.x, i);
}

void point_set_path(Radius *r, size_t i)
{
    for (int b = 0; b < BANKS; b++) {
        r->at.path[i].bank[b] =
            bound_up(point_rho(r, r->rho[i].bank[b]) + 0x1p-52 * r->at.norm[i].bank[b]);
    }
}

static void set_row(Worker *worker, const void *context, size_t i)
{
    (void)worker;
    const Points *points = context;
    set_entries(points, i);
    point_set_path(points->r, i);
}

static void set_points(Radius *r, const ApMat *x, const ApMat *e, mpfr_exp_t unit)
{
    const Points points = {r, x, e, unit};
    evaluator_each(r->ev, r->rows, POINT_OPERATIONS * r->rows * r->columns, set_row, &points);
}

void point_set_row(Radius *r, size_t i)
{
    set_entries(&(Points){r, r->x, r->e_stream, r->after}, i);
}

void radius_before(Radius *r)
{
    if (r->ready) { /* point_set_row has set what the sublayer before has left */
        r->before = r->after;
        return;
    }
    r->ready = true;
    r->before = r->change ? largest_exponent(r->e_stream) : 0;
    set_points(r, r->x, r->e_stream, r->before);
}

/* The unit of e: its largest exponent before or after the sublayer, or where both are zero what
 * Omega leaves of what it keeps apart. */
static mpfr_exp_t find_unit(const Radius *r, const Sublayer *sublayer)
{
    mpfr_exp_t after = r->after, none = mpfr_get_emin();
    if (after != none || r->before != none) {
        return after > r->before ? after : r->before;
    }
    int gap = sublayer_gap(r, sublayer);
    bool leaks = r->leaks && gap > 0 && mpfr_regular_p(evaluator_decay(r->ev, gap));
    return leaks ? mpfr_get_exp(evaluator_decay(r->ev, gap)) : -r->bits;
}

/* The path from x^ + e^; and e's norms become those of all that lies on it. */
static void set_moved_path(Radius *r)
{
    for (size_t i = 0; i < r->rows; i++) {
        for (int b = 0; b < BANKS; b++) {
            double eta = point_e(r, point_rho(r, r->eta[i].bank[b]));
            double both = r->at.norm[i].bank[b] + point_e(r, r->e[i].bank[b]);
            r->moved.path[i].bank[b] = bound_up(r->at.path[i].bank[b] + eta + 0x1p-51 * both);
            r->e[i].bank[b] += point_rho(r, r->eta[i].bank[b]);
        }
    }
}

/* e's rows, and the path from x^ + e^. */
static void set_moved(Radius *r, const Sublayer *sublayer)
{
    mpfr_exp_t unit = find_unit(r, sublayer);
    for (size_t i = 0; i < r->rows; i++) {
        for (int b = 0; b < BANKS; b++) {
            r->eta[i].bank[b] = bound_scaled(r->eta[i].bank[b], r->unit - unit);
            r->e[i].bank[b] = bound_scaled(r->e[i].bank[b], r->before - unit);
            double *beside = &r->beside_eta[i].bank[b], *size = &r->beside_size_e[i].bank[b];
            *beside = bound_scaled(*beside, r->unit - unit);
            *size = bound_scaled(*size, r->unit - unit);
        }
    }
    r->unit = unit;
    set_moved_path(r);
}

/* e^(-Omega gap) where it matters: of T' only. */
static void set_decays(Radius *r)
{
    for (int gap = 0; gap <= OMEGA_MAX_GAP; gap++) {
        bool none = gap > 0 && isinf(r->ev->omega);
        r->decay[gap] = none ? 0 : mpfr_get_d(evaluator_decay(r->ev, gap), MPFR_RNDU) + BOUND_TINY;
    }
    r->decay[0] = 1;
}

void point_after(Radius *r, const Sublayer *sublayer)
{
    r->after = r->change ? largest_exponent(r->e_stream) : 0;
    if (r->change) {
        set_moved(r, sublayer);
    }
    set_decays(r);
}

void point_normed(Radius *r)
{
    set_points(r, r->normed, r->normed_e, r->unit);
    if (r->change) {
        set_moved_path(r);
    }
}

double *point_whole(const HeadWeight *w, size_t heads, size_t rows, size_t width, PartsAre are)
{
    double *m = need_room(rows * heads * width + 1, sizeof *m);
    for (size_t h = 0; h < heads; h++) {
        for (size_t i = 0; i < rows; i++) {
            size_t part = are == PARTS_BELOW ? h * rows + i : i * heads + h;
            memcpy(m + part * width, w->data + h * w->head_stride + i * w->ld, width * sizeof *m);
        }
    }
    return m;
}
