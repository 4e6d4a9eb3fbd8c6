/*
 * Layer norms: what they do to the radii.
 *
 * With h(c) = c / sqrt(s), s = |c|^2/D + eps, G = max |gamma|: sqrt(s) changes by at most |dx| /
 * sqrt(D), the derivative of h is symmetric with eigenvalues from 0 to 1/sqrt(s), and changes by at
 * most 2 |v| / (sqrt(D) s) along v.  So
 *     |d norm(x)| <= G |dx| / sqrt(s)                                                         (C35)
 *     |d(norm(x + e) - norm(x))| <= G |de| / sqrt(s')
 *              + G min(2 |e| / (sqrt(D) s_least), 1/sqrt(s), 1/sqrt(s')) |dx|                 (C37)
 * with the least sqrt(s) on the path, and s_least that between x and x + e.  The last minimum is of
 * the first with the larger of the other two.
 */
#include "layer_norm.h"

#include "bounds.h"
#include "internal.h"
#include "point.h"

#include <string.h>

/* Relative errors of square roots, sums and differences of doubles, well above them. */
#define ROOT_SLACK 0x1p-40

double norm_least_root(const LayerNorm *norm, double root, double off)
{
    double least = sqrt(norm->eps) * (1 - ROOT_SLACK);
    double low =
        root * (1 - ROOT_SLACK) - off / sqrt((double)norm->columns.count) * (1 + ROOT_SLACK);
    return low > least ? low : least;
}

NormRow norm_row(const LayerNorm *norm, double x, double root, double path)
{
    NormRow row = {.columns = (double)norm->columns.count, .x = x};
    for (size_t c = 0; c < norm->columns.count; c++) {
        row.gamma = bound_max(row.gamma, fabs(norm->gamma[c]));
    }
    row.c = fmin(x, sqrt(row.columns) * root * (1 + ROOT_SLACK));
    row.here = norm_least_root(norm, root, path);
    return row;
}

/* Rounding of c: once, and its mean's with NORM_GUARD bits more; and of s, as if c were off
 * (C36). */
static double centre_rounding(const NormRow *row)
{
    return 4 * row->c + ldexp(row->columns + 8, 2 - NORM_GUARD) * row->x;
}

/* (C35), (C36) */
double norm_row_rho(const NormRow *row, double rho, double y)
{
    return row->gamma / row->here * (rho + centre_rounding(row)) + 2 * y;
}

/* (C37), and (C38): d is rounded, and all that the formula multiplies it with, which is at most |d|
 * again; and c. */
double norm_row_eta(const NormRow *row, double rho, double eta, double y)
{
    double own =
        row->gamma / row->there * (eta + (4 + ldexp(row->columns + 8, 2 - NORM_GUARD)) * row->e);
    double off = rho + centre_rounding(row);
    double e = row->e + bound_scaled(eta, -row->bits);
    double bend = 2 * row->gamma / sqrt(row->columns) * (e / row->between) * (off / row->between);
    double apart = row->gamma / fmin(row->here, row->there) * bound_scaled(off, -row->unit);
    return own + (off == 0 || e == 0 ? 0 : fmin(bend, apart)) + 2 * y;
}

/* sqrt(s) of a row of doubles. */
static double double_root(const LayerNorm *norm, const double *x)
{
    double mean = 0, sum = 0, count = (double)norm->columns.count;
    for (size_t c = 0; norm->kind == NORMALIZATION_LAYERNORM && c < norm->columns.count; c++) {
        mean += x[c] / count;
    }
    for (size_t c = 0; c < norm->columns.count; c++) {
        sum = hypot(sum, x[c] - mean);
    }
    return hypot(sum / sqrt(count), sqrt(norm->eps));
}

static double record_root(const Radius *r, size_t i)
{
    mpfr_t root;
    mpfr_init2(root, 64);
    mpfr_sqrt(root, ap_at(r->record, i, 0), MPFR_RNDD);
    double low = mpfr_get_d(root, MPFR_RNDD);
    mpfr_clear(root);
    return low;
}

static NormRow row_of(const Radius *r, const LayerNorm *norm, size_t i)
{
    Columns columns = norm->columns;
    double path = banks_in(r, r->at.path, columns, i), root = record_root(r, i);
    NormRow row = norm_row(norm, banks_in(r, r->at.norm, columns, i), root, path);
    row.bits = r->bits;
    row.unit = r->unit;
    if (r->change) {
        double moved_path = banks_in(r, r->moved.path, columns, i);
        double moved_x = banks_in(r, r->moved.norm, columns, i);
        double moved_root = double_root(norm, r->moved.x + i * r->columns + columns.first);
        row.e = banks_in(r, r->e, columns, i);
        row.between = norm_least_root(norm, root, path + moved_path + point_e(r, row.e));
        row.there = bound_max(
            row.between, norm_least_root(norm, moved_root,
                                         moved_path + (row.columns + 8) * BOUND_DOUBLE * moved_x));
    }
    return row;
}

/* The radii of norm(x), and of its change, of row i: in place of what x's are in the banks that the
 * norm is of, or, where it is of a part of one, beside that. */
static void normed_row(const Radius *r, const LayerNorm *norm, size_t i, Banks *rho, Banks *eta,
                       const ApMat *y, const ApMat *y_e)
{
    Columns columns = norm->columns;
    NormRow row = row_of(r, norm, i);
    double x_rho = banks_in(r, r->rho, columns, i), x_eta = banks_in(r, r->eta, columns, i);
    *rho = r->rho[i];
    *eta = r->eta[i];
    for (int b = 0; b < BANKS; b++) {
        const Columns bank = radius_bank(r, b);
        bool whole =
            columns.first <= bank.first && columns.first + columns.count >= bank.first + bank.count;
        bool zero = radius_reads_zero(r, norm, i, b);
        if (!radius_touches(r, columns, b)) {
            continue;
        }
        double more = zero ? 0 : norm_row_rho(&row, x_rho, radius_bank_norm(r, y, i, b, 0));
        rho->bank[b] = bound_up(more + (whole ? 0 : rho->bank[b]));
        if (r->change) {
            more = norm_row_eta(&row, zero ? 0 : x_rho, x_eta,
                                radius_bank_norm(r, y_e, i, b, r->unit));
            eta->bank[b] = bound_up(more + (whole ? 0 : eta->bank[b]));
        }
    }
}

void radius_read_normed(Radius *r)
{
    memcpy(r->kept_rho, r->rho, r->rows * sizeof *r->rho);
    memcpy(r->kept_eta, r->eta, r->rows * sizeof *r->eta);
    for (size_t i = 0; i < r->rows; i++) {
        if (norm_acts(r->layout, r->norm, i)) {
            Banks rho, eta;
            normed_row(r, r->norm, i, &rho, &eta, r->normed, r->normed_e);
            r->rho[i] = rho;
            r->eta[i] = eta;
        }
    }
    point_normed(r);
}

/* Derivatives of entries by themselves: 1 in the banks that stay, 0 in others. */
static void set_diagonal(const Radius *r, Pass *pass, const LayerNorm *norm)
{
    for (size_t i = 0; i < r->rows; i++) {
        bool acts = norm_acts(r->layout, norm, i);
        for (size_t c = 0; c < r->columns; c++) {
            int bank = c < r->bank ? BANK_CONTENT : BANK_HIDDEN;
            pass->diagonal[i * r->columns + c] =
                acts && radius_touches(r, norm->columns, bank) ? 0 : 1;
            pass->slack[i * r->columns + c] = 0;
        }
    }
}

void radius_normalise(Radius *r, const LayerNorm *norm)
{
    set_diagonal(r, &r->here, norm);
    set_diagonal(r, &r->there, norm);
    for (size_t i = 0; i < r->rows; i++) {
        if (norm_acts(r->layout, norm, i)) {
            Banks rho, eta;
            normed_row(r, norm, i, &rho, &eta, r->x, r->e_stream);
            for (int b = 0; b < BANKS; b++) {
                bool touched = radius_touches(r, norm->columns, b);
                r->here.out[PASS_OWN][i].bank[b] += touched ? rho.bank[b] : 0;
                r->there.out[PASS_OWN][i].bank[b] += touched ? eta.bank[b] : 0;
            }
        }
    }
}
