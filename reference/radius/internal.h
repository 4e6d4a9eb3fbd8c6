/*
 * The parts of the radii (private to reference/radius/).
 *
 * Arithmetic: a bound is a double >= 0, made of sums, products, quotients, roots and maxima of such
 * doubles, never of a difference, so that n operations leave it at least (1 - 2^-52)^n of what
 * exact arithmetic makes of the same, whatever the rounding mode; bound_up multiplies by 1 + 2^-20,
 * which pays for n < 2^31, and adds 2^-600 for what underflowed.  It is applied to every bound that
 * is kept, and turns what is not a number, or out of range, into infinity (C1).
 *
 * Units: rho is in 2^-bits, eta in 2^(unit - bits), what is proportional to e in 2^unit (bounds of
 * e itself), so that a double holds each.
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_INTERNAL_H
#define HEADPROOF_REFERENCE_RADIUS_INTERNAL_H

#include "radius.h"

#include <math.h>

enum { BANK_CONTENT, BANK_HIDDEN, BANKS };

/* A number for each bank of a row. */
typedef struct {
    double bank[BANKS];
} Banks;

/* Magnitudes of a double that decide nothing, in units in which what matters is of size 1; relative
 * error of a few operations on doubles. */
#define BOUND_TINY 0x1p-600
#define BOUND_DOUBLE 0x1p-48

static inline double bound_up(double x)
{
    return x < 0x1p900 ? x * (1 + 0x1p-20) + BOUND_TINY : INFINITY;
}

/* The larger, where neither is NaN. */
static inline double bound_max(double a, double b)
{
    return a >= b ? a : b >= a ? b : INFINITY;
}

/* x 2^exponent, rounded up. */
double bound_scaled(double x, mpfr_exp_t exponent);

/* A stream in doubles: [rows, columns], columns below `bank` are content; norm: at least the rows'
 * 2-norms; path: at least the distance of the rows from those of any stream between the one
 * computed and the exact one. */
typedef struct {
    double *x;
    Banks *norm, *path;
    bool limit; /* Omega -> infinity */
} Point;

/* What a sublayer does to streams that differ by at most radius (one or two choices of it) and
 * lie on the point's path: out. */
enum { PASS_OWN, PASS_STREAM, PASS_RADII };
typedef struct {
    const Point *at;
    const Banks *radius[PASS_RADII];
    Banks *out[PASS_RADII];
    size_t count;
    double *
        diagonal; /* [rows, columns]: derivative of an entry by itself, and how far it may be off */
    double *slack;
} Pass;

struct Radius {
    const Layout *layout;
    Evaluator *ev;
    const ApMat *x, *e_stream, *sum; /* of the run */
    size_t rows, columns, bank;
    mpfr_prec_t bits;
    bool change, failed;
    mpfr_exp_t unit, before; /* of e; its largest exponent before the sublayer */
    Banks *rho, *eta;
    Point at, moved; /* x^, and x^ + e^ */
    Banks *e;        /* the rows' norms of e^ */
    Pass here, there;
    Banks *local,
        *size; /* what rounding adds to rho, and a bound on what the sublayer adds to x^ */
    Banks *local_e, *size_e;
    Banks *cross;       /* what rho adds to eta */
    bool *zero;         /* [rows, BANKS] zero exactly, in the limit and as computed */
    bool erased[BANKS]; /* the sublayer takes away all of the bank, exactly, from rows alone in A */
    bool far;           /* some score changes by too much for `cross` */
    double score;       /* what the scores of the layer may be off by, in 2^-bits */
    double adds;        /* how often something is added to delta */
    double decay[OMEGA_MAX_GAP + 1]; /* e^(-Omega gap), at least 2^-600 */
};

static inline Heads radius_heads(const Radius *r, const Bundle *bundle)
{
    return (Heads){r->layout, bundle, 0, bundle->heads, r->at.limit};
}

/* ---- norm.c ---- */

/* At least the norms of a matrix of doubles: (C2). */
double norm_frobenius(const double *w, size_t rows, size_t columns, size_t ld);
double norm_spectral(const double *w, size_t rows, size_t columns, size_t ld);

/* At least the 2-norm of a vector, and of its column c. */
double norm_vector(const double *v, size_t count, size_t stride);

/* ---- point.c ---- */

static inline double banks_in(const Radius *r, const Banks *banks, Columns columns, size_t row)
{
    double content = columns.first < r->bank ? banks[row].bank[BANK_CONTENT] : 0;
    double hidden = columns.first + columns.count > r->bank ? banks[row].bank[BANK_HIDDEN] : 0;
    return content == 0 ? hidden : hidden == 0 ? content : content + hidden;
}

static inline void banks_add(const Radius *r, Banks *banks, Columns columns, size_t row,
                             double more)
{
    if (columns.first < r->bank) {
        banks[row].bank[BANK_CONTENT] += more;
    }
    if (columns.first + columns.count > r->bank) {
        banks[row].bank[BANK_HIDDEN] += more;
    }
}

/* The largest, and the sum, over the rows. */
double banks_largest(const Radius *r, const Banks *banks, Columns columns);

/* The smallest difference of Omega's coefficients that a row of the sublayer's heads has; 0:
 * none. */
int point_gap(const Radius *r, const Sublayer *sublayer);

/* x^ and e^ before a sublayer; and, with e^ behind it, units, paths and decays. */
void point_before(Radius *r);
void point_after(Radius *r, const Sublayer *sublayer);

/* An entry in 2^unit, to the nearest double. */
double point_entry(mpfr_srcptr entry, mpfr_exp_t unit);

/* A number of units of rho, and of e, as a double. */
double point_rho(const Radius *r, double x);
double point_e(const Radius *r, double x);

/* e^(-Omega gap + z), what a key outside A weighs at most beside one of A, in units of e; no
 * more than 1. */
double bound_leak(const Radius *r, int gap, double z);

/* A factor for what is linear in a relative error of x 2^-bits: 2, infinite where that is not
 * small. */
double bound_linear(const Radius *r, double x);

/* Heads' matrices side by side [rows, heads * width], or one below the other.  NULL: memory. */
double *point_beside(const HeadWeight *w, size_t heads, size_t rows, size_t width);
double *point_below(const HeadWeight *w, size_t heads, size_t rows, size_t width);

/* Rounding of a product with k terms a sum, relative to norms, in 2^-bits, its guard bits counted:
 * (C5). */
double radius_product(size_t k);

/* ---- linear.c, gates.c, bilinear.c, direct.c ---- */

/* A sublayer's linear heads together, with what the stream itself becomes. */
void radius_linear(Radius *r, const Sublayer *sublayer);

void radius_gates(Radius *r, const Bundle *bundle);
void radius_bilinear(Radius *r, const Bundle *bundle);
void radius_direct(Radius *r, const Direct *direct);

/* Nothing is known from here on. */
void radius_lose(Radius *r);

/* Does a row see no other key in A in any head? */
bool radius_alone(const Radius *r, const Bundle *bundle, size_t row);

/* Do columns lie in a bank? */
bool radius_touches(const Radius *r, Columns columns, int bank);

/* The norm of a row's bank of a matrix, in 2^unit, to the rounding of a double. */
double radius_bank_norm(const Radius *r, const ApMat *x, size_t row, int bank, mpfr_exp_t unit);

#endif
