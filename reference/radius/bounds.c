/*
 * Tools of all radii: units, the rounding of a product, the largest of a row's.
 */
#include "bounds.h"
#include "point.h"

double bound_scaled(double x, mpfr_exp_t exponent)
{
    const mpfr_exp_t most = 4000;
    long e = exponent > most ? most : exponent < -most ? -most : exponent;
    return x == 0 ? 0 : bound_up(ldexp(x, (int)e));
}

double point_rho(const Radius *r, double x)
{
    return bound_scaled(x, -r->bits);
}

double point_e(const Radius *r, double x)
{
    return bound_scaled(x, r->unit);
}

double bound_leak(const Radius *r, int gap, double z)
{
    const double log2_e = 1.4426950408889635, direct = 600;
    const long double most = 4000;
    if (!r->leaks) {
        return 0;
    }
    mpfr_srcptr decay = evaluator_decay(r->ev, gap);
    double one = bound_scaled(1, -r->unit), n = z * log2_e;
    long exponent = mpfr_get_emin_min();
    double m = mpfr_zero_p(decay) ? 1 : mpfr_get_d_2exp(&exponent, decay, MPFR_RNDU);
    if (fabs(z) < direct) {
        return fmin(one, bound_scaled(m * exp(z), exponent - r->unit));
    }
    n += 2 + fabs(n) * 0x1p-50;
    /* A tiny weight is as large as any in units of a tiny e: the exponents are added exactly. */
    long double power = (long double)exponent - (long double)r->unit + (long double)n;
    if (!(power < most)) {
        return one;
    }
    return fmin(one, bound_scaled(m, power < -most ? (long)-most : (long)power + 1));
}

double bound_linear(const Radius *r, double x)
{
    return point_rho(r, x) < 0x1p-5 ? 2 : INFINITY;
}

double banks_largest(const Radius *r, const Banks *banks, Columns columns)
{
    double most = 0;
    for (size_t i = 0; i < r->rows; i++) {
        most = bound_max(most, banks_in(r, banks, columns, i));
    }
    return most;
}

/* (C5) */
double radius_product(size_t k)
{
    return 2 + ldexp((double)(k + 2), -EVALUATOR_GUARD);
}

void radius_lose(Radius *r)
{
    for (size_t i = 0; i < r->rows; i++) {
        for (int b = 0; b < BANKS; b++) {
            r->local[i].bank[b] = INFINITY;
            r->local_e[i].bank[b] = INFINITY;
        }
    }
}

bool radius_alone(const Radius *r, const Bundle *bundle, size_t row)
{
    const Heads heads = radius_heads(r, bundle);
    for (size_t h = 0; h < (bundle->score.extra != NULL ? bundle->heads : 1); h++) {
        int best = heads_best_position(&heads, h, row);
        for (size_t j = 0; j < r->rows; j++) {
            bool seen = heads_see(&heads, row, j);
            if (seen && (heads_position(&heads, h, row, j) == best) != (j == row)) {
                return false;
            }
        }
    }
    return true;
}

bool radius_reads_zero(const Radius *r, const LayerNorm *norm, size_t row, int bank)
{
    bool beta = norm != NULL && norm->beta != NULL && row != layout_bias_row(r->layout) &&
                radius_touches(r, norm->columns, bank);
    return r->zero[row * BANKS + (size_t)bank] && !beta;
}

bool radius_touches(const Radius *r, Columns columns, int bank)
{
    return columns.count > 0 && (bank == BANK_CONTENT ? columns.first < r->bank
                                                      : columns.first + columns.count > r->bank);
}

double radius_bank_norm(const Radius *r, const ApMat *x, size_t row, int bank, mpfr_exp_t unit)
{
    const Columns of = radius_bank(r, bank);
    mpfr_srcptr entries = ap_at(x, row, of.first);
    double norm = 0, squares = 0;
    for (size_t c = 0; c < of.count; c++) {
        double entry = point_entry(entries + c, unit);
        squares += entry * entry;
    }
    if (squares > SQUARES_LEAST && squares < 1 / SQUARES_LEAST) {
        return sqrt(squares);
    }
    for (size_t c = 0; c < of.count; c++) {
        norm = hypot(norm, point_entry(entries + c, unit));
    }
    return norm;
}
