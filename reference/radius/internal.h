/*
 * The parts of the radii (private to reference/radius/).
 *
 * Arithmetic: a bound is a double >= 0, made of sums, products, quotients, roots and maxima of such
 * doubles, never of a difference (but for C39), so that n operations leave it at least
 * (1 - 2^-52)^n of what exact arithmetic makes of the same, whatever the rounding mode; bound_up
 * multiplies by 1 + 2^-20, which pays for n < 2^31, and adds 2^-600 for what underflowed.  It is
 * applied to every bound that is kept, and turns what is not a number, or out of range, into
 * infinity (C1).
 *
 * Units: rho is in 2^-bits, eta in 2^(unit - bits), what is proportional to e in 2^unit (bounds of
 * e itself), so that a double holds each.
 *
 * Umbrella header: for the kinds of sublayers that direct.c, layer_norm.c and linear.c take.
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

/* (C1) */
static inline double bound_up(double x)
{
    return x < 0x1p900 ? x * (1 + 0x1p-20) + BOUND_TINY : INFINITY;
}

/* The larger, where neither is NaN. */
static inline double bound_max(double a, double b)
{
    return a >= b ? a : b >= a ? b : INFINITY;
}

/* A stream in doubles: [rows, columns], columns below `bank` are content; norm: at least the rows'
 * 2-norms; path: at least the distance of the rows from those of any stream between the one
 * computed and the exact one. */
typedef struct {
    double *x;
    Banks *norm, *path;
    bool limit; /* Omega -> infinity */
} Point;

/* A sublayer's effect on streams that differ by at most radius (one or two choices of it) and lie
 * on the point's path: out. */
enum { PASS_OWN, PASS_OTHER, PASS_RADII };
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
    /* The run's, while it lasts. */
    const Layout *layout;
    Evaluator *ev;
    const ApMat *x, *e_stream, *sum, *normed, *normed_e;
    const ApMat *record;
    size_t rows, columns, bank;
    mpfr_prec_t bits; /* of the unit: the evaluation's, or fewer */
    bool change;
    bool leaks;                      /* keys outside A weigh something in e */
    double decay[OMEGA_MAX_GAP + 1]; /* e^(-Omega gap), at least 2^-600 */

    Banks *banks; /* all that there are below */
    double *numbers;

    /* Carried from sublayer to sublayer. */
    Banks *rho, *eta;
    bool *zero; /* [rows, BANKS] zero exactly, in the limit and as computed */
    /* What sublayers that come before one beside them add: radii, and sizes of what is added. */
    Banks *beside_rho, *beside_eta, *beside_size, *beside_size_e;

    /* The point at which a sublayer is taken. */
    bool ready;                     /* the points are those of the streams as they stand */
    Point at, moved;                /* x^, and x^ + e^ */
    Banks *e;                       /* the rows' norms of e^ */
    mpfr_exp_t unit, before, after; /* of e; its largest exponent before the sublayer, and behind */
    /* Of a sublayer that reads norm(x), else NULL: rho, eta and the points are then those of
     * norm(x), and what the stream itself had is kept. */
    const LayerNorm *norm;
    Banks *kept_rho, *kept_eta;
    bool goes_on;       /* others come beside the sublayer at hand */
    bool erased[BANKS]; /* it takes away all of the bank, exactly, from rows alone in A */
    bool far;           /* some score changes by too much for `cross` */
    bool near;          /* e is so small that eta goes as rho does, and the rest is in `cross` */

    /* What the sublayer makes of the bounds there. */
    Pass here, there;    /* here: of rho and, where near is set, of eta */
    Banks *local, *size; /* what rounding adds to rho; at most what the sublayer adds to x^ */
    Banks *local_e, *size_e;
    Banks *cross; /* what rho adds to eta, or `apart` */
    Banks *apart; /* rho, and where near is set eta with it, in rho's unit: (C40) */
    double score; /* what the scores of the layer may be off by, in 2^-bits */
    double adds;  /* how often something is added to delta */
    double alike; /* bundles whose outputs are added up before their second factors */
};

/* Rows are shared out among threads in blocks of one size, nearly: of this many at most where they
 * go through a product of doubles. */
enum { PRODUCT_ROWS = 64 };

static inline size_t row_blocks(const Radius *r, size_t most)
{
    return (r->rows + most - 1) / most;
}

/* The rows first, ..., end - 1 of a block. */
typedef struct {
    size_t first, end;
} RowRange;

static inline RowRange row_range(const Radius *r, size_t most, size_t block)
{
    size_t blocks = row_blocks(r, most);
    return (RowRange){block * r->rows / blocks, (block + 1) * r->rows / blocks};
}

/* The columns of a bank. */
static inline Columns radius_bank(const Radius *r, int bank)
{
    return bank == BANK_CONTENT ? (Columns){0, r->bank} : (Columns){r->bank, r->columns - r->bank};
}

static inline Heads radius_heads(const Radius *r, const Bundle *bundle)
{
    return (Heads){.ev = r->ev,
                   .layout = r->layout,
                   .bundle = bundle,
                   .count = bundle->heads,
                   .limit = r->at.limit};
}

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

/* Is what the stream has in a bank kept beside what the sublayer reads, its norm? */
static inline bool radius_keeps(const Radius *r, bool hidden)
{
    const LayerNorm *norm = r->norm;
    return norm != NULL && (hidden ? norm->columns.first + norm->columns.count > r->bank
                                   : norm->columns.first < r->bank);
}

/* A sublayer that is one of the original's own operations. */
void radius_direct(Radius *r, const Direct *direct);

/* The sublayer reads norm(x), r->norm: radii and points become those of what it reads. */
void radius_read_normed(Radius *r);

/* x = norm(x). */
void radius_normalise(Radius *r, const LayerNorm *norm);

/* The doubles that radii hold, and those that the norm of one matrix takes meanwhile, at most. */
typedef struct {
    double held, norm;
} RadiusDoubles;

/* Heads by the kind of their scores: the doubles that their radii take, given back before the next
 * bundle or not; what works out their effects, NULL where all of a sublayer go together. */
typedef struct {
    RadiusDoubles (*doubles)(const Bundle *bundle, double rows);
    bool alone;
    void (*effects)(Radius *r, const Bundle *bundle);
} RadiusHeads;
const RadiusHeads *radius_heads_of(const Score *score);

/* A sublayer's linear heads (without content scores) together, with what the stream itself
 * becomes. */
void radius_linear(Radius *r, const Sublayer *sublayer);

#endif
