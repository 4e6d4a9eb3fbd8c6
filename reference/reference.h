/*
 * The reference: a pair of models in arbitrary precision.
 *
 * Umbrella header: all that other directories use of reference/ but its attribution, whichever file
 * holds it, so that they need not know the files.
 *
 * r(T), r(T_infinity) and r(T') are evaluated in MPFR,
 * from exact data: weights are the doubles given, Omega is the double given, scales stay
 * integers and a square root until the working precision rounds them.  No construction is
 * known here by name.
 *
 * Order of use, all for one Pair:
 *   ref_base_make       r(T), and of r(T_infinity) what is asked for, shared by every Omega, with
 *                       radii, which say how many bits it lost;
 *   ref_difference_open r(T') for one Omega, layer by layer, by its difference from r(T_infinity),
 *   or ref_run_open     by itself,
 *   ref_run_certify     with radii, and
 *   ref_compare         the six errors after a layer.
 *
 * Every value carries a radius, which is proven.  A cell is printed as a value only if value -
 * radius and value + radius round to the same digits, as many as are asked for.
 */
#ifndef HEADPROOF_REFERENCE_REFERENCE_H
#define HEADPROOF_REFERENCE_REFERENCE_H

#include "../cases/model.h"

#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>

/* Significant digits of a cell: at most, and unless others are asked for. */
enum { REF_DIGITS_MOST = 17, REF_DIGITS = 12 };

/* Call once in every thread before anything else here: MPFR's exponent range is per thread
 * (exp(-2 Omega) at Omega = 1e17 needs all of it). */
void ref_thread_setup(void);

/* Frees MPFR's per-thread caches; call once at the end of every thread. */
void ref_thread_clear(void);

/* cos and sin of the angles, [positions, width / 2] each: of exact ones rounded once to double, or
 * as float32 says. */
void ref_rotary_tables(double *cos, double *sin, const RotaryAngles *angles);

typedef struct RefBase RefBase;
typedef struct RefRun RefRun;

/* How much of r(T_infinity)'s evaluation a base keeps. */
typedef enum {
    REF_LIMIT_NONE,    /* nothing: differences evaluate it beside themselves */
    REF_LIMIT_STREAMS, /* its streams, for runs by themselves */
    REF_LIMIT_TAPE     /* and its whole evaluation, for differences at many Omegas */
} RefLimit;

/* What is known of the weights of a pair, once for its evaluations: their norms, for radii; and,
 * where bytes are given for it, the weights measured and packed as products take them, which pays
 * at many inputs.  What is evaluated with them has the same digits as without.  It is to be cleared
 * after what uses it, and before the pair. */
typedef struct RefWeights RefWeights;
RefWeights *ref_weights_make(double bytes) __attribute__((warn_unused_result));
void ref_weights_clear(RefWeights *weights);

/* Drops what is measured and packed of matrices that begin at a number that goes, which nothing is
 * evaluated with meanwhile. */
typedef bool RefWeightsGo(void *context, const double *number);
void ref_weights_drop(RefWeights *weights, RefWeightsGo *goes, void *context);

enum { REF_COARSE_LEAST = 512 };

/* How a base is made; NULL: in none of these ways. */
typedef struct {
    /* Where what is known of the weights is, for its runs and the differences from it; or NULL.
     * The pair is that of `weights`, or shares its weights with it, at another input. */
    RefWeights *weights;
    /* Where r(T) loses more (ref_base_lost), there is no r(T_infinity), and the base serves for no
     * evaluation; 0: whatever it loses. */
    double most_lost;
    /* Radii of it and of differences from it take Frobenius norms of weights of REF_COARSE_LEAST
     * rows and columns or more: those cost next to nothing, and lose more bits. */
    bool coarse;
} RefBaseOptions;

/* r(T) and r(T_infinity) after every layer, at bits.  NULL when a layer cannot be had. */
RefBase *ref_base_make(const Pair *pair, mpfr_prec_t bits, RefLimit limit,
                       const RefBaseOptions *options) __attribute__((warn_unused_result));

/* By how many bits the streams of r(T) and, where it is there, r(T_infinity), each relative to its
 * largest entry, are known to fewer than its own; infinite where nothing is known. */
double ref_base_lost(const RefBase *base);
void ref_base_clear(RefBase *base);
mpfr_prec_t ref_base_bits(const RefBase *base);

/* Entry of r(T), or of r(T_infinity) where the base keeps it, after layer (from 1): token i < n,
 * and c < compared[layer - 1].count, the column compared.  The base's own, at its bits. */
mpfr_srcptr ref_base_original(const RefBase *base, size_t layer, size_t i, size_t c);
mpfr_srcptr ref_base_limit(const RefBase *base, size_t layer, size_t i, size_t c);

/* Logits = norm(x) w_u + b_u of a token's row x after the last layer: w_u [d, classes], which may
 * lie class by class, as an embedding does; b_u [classes] or NULL; norm: the final one,
 * NORMALIZATION_NONE: none. */
typedef struct {
    const double *w_u, *b_u;
    size_t d, classes;
    LayerNorm norm;
    bool by_class;
} RefUnembedding;

/* Entry (c, k) of w_u. */
static inline const double *ref_unembedding_at(const RefUnembedding *u, size_t c, size_t k)
{
    return u->w_u + (u->by_class ? k * u->d + c : c * u->classes + k);
}

/* What an unembedding reads of a token through pair->final_norm, which is one: y = norm(x), and,
 * change not NULL, change = norm(x + e) - norm(x), each [norm->columns.count] numbers in a row, to
 * the precision of y and of change.  x and e: a row of r(T) or r(T_infinity), and of the
 * difference, as ref_base_original, ref_run_entry and ref_run_difference point to, from the norm's
 * first column on. */
void ref_norm_row(mpfr_ptr y, mpfr_ptr change, const LayerNorm *norm, mpfr_srcptr x, mpfr_srcptr e);

/* radius >= |y - norm(exact x)|_2 of such a y of so many bits, where x is off by at most x_off in
 * the 2-norm: sqrt(columns) times what an entry is off by (docs/certify.md, C35). */
void ref_norm_row_radius(mpfr_ptr radius, const LayerNorm *norm, mpfr_srcptr x, mpfr_srcptr x_off,
                         mpfr_prec_t bits);

/* The same of such a change (C37): rows of columns numbers, and what each is off by in the
 * 2-norm. */
typedef struct {
    mpfr_srcptr x, x_off, e, e_off;
} RefNormInput;
void ref_norm_change_radius(mpfr_ptr radius, const LayerNorm *norm, const RefNormInput *input,
                            mpfr_prec_t bits);

/* radius = the largest of any token's row of both after layer. */
void ref_base_radius(mpfr_ptr radius, const RefBase *base, size_t layer);

/* The largest |score| of r(T)'s heads, over all layers; NULL where T has none. */
mpfr_srcptr ref_base_score_max(const RefBase *base);

/* Bytes of a base trajectory, and of a run, as doubles. */
double ref_base_bytes(const Pair *pair, mpfr_prec_t bits, RefLimit limit);
double ref_run_bytes(const Pair *pair, mpfr_prec_t bits);

/* The bytes that a run of ref_difference_open takes beyond those. */
double ref_difference_bytes(const Pair *pair, mpfr_prec_t bits);

/* One evaluation of one model, layer by layer.  omega INFINITY gives the limit model. */
RefRun *ref_run_open(const Start *start, mpfr_prec_t bits) __attribute__((warn_unused_result));

/* The same of a model of heads alone, as r(T_infinity) and the difference
 * e = r(T') - r(T_infinity) itself, which no Omega cancels: bits are relative to e's size.
 * r(T_infinity) is the base's where that holds a tape of just so many bits; base may be NULL. */
RefRun *ref_difference_open(const Start *start, mpfr_prec_t bits, const RefBase *base)
    __attribute__((warn_unused_result));

/* Entry (row, column) of e. */
mpfr_srcptr ref_run_difference(const RefRun *run, size_t row, size_t column);

/* Evaluates the next layer, on as many threads as OpenMP would start where the run was opened if
 * the model is large; results do not depend on how many. */
void ref_run_layer(RefRun *run);

/* Entry (row, column) of the stream as it stands; rows and columns as in the layout; column
 * below d + hidden. */
mpfr_srcptr ref_run_entry(const RefRun *run, size_t row, size_t column);

/* Largest |content score| in the last layer, 0 if there was none. */
mpfr_srcptr ref_run_score_max(const RefRun *run);

/* Carries radii beside the streams of a run that has just been opened: docs/certify.md. */
void ref_run_certify(RefRun *run);

/* Bytes that radii of r(T) and r(T') take, as a double. */
double ref_certify_bytes(const Pair *pair);

/* The stream that a radius belongs to: the run's own, which is r(T), r(T_infinity) or r(T'); the
 * difference; the sum of both; the inherited part of the difference (propagation.h). */
typedef enum { RADIUS_STREAM, RADIUS_DIFFERENCE, RADIUS_SUM, RADIUS_INHERITED } RadiusOf;

/* Rows first, ..., first + count - 1 of a stream, in some columns. */
typedef struct {
    size_t first, count;
    Columns columns;
} RefBlock;

/* most: the largest of rows' radii; squares: the sum of their squares, or NULL. */
typedef struct {
    mpfr_ptr most, squares;
} RefRadii;

/* The exact numbers are within these radii: most is at least the 2-norm of any row's error, in the
 * columns' banks (content, hidden), squares at least the sum of their squares.  Infinite where
 * nothing is known, as of a run without radii. */
void ref_run_radius(const RefRun *run, RadiusOf of, RefBlock block, RefRadii radii);

/* most is at least what the largest score of the last layer may be off by. */
void ref_run_score_radius(const RefRun *run, mpfr_ptr most);

void ref_run_clear(RefRun *run);

typedef enum {
    ERROR_APPROXIMATION, /* r(T_infinity) - r(T) */
    ERROR_CONSTRUCTION,  /* r(T') - r(T_infinity) */
    ERROR_ROUNDING,      /* m(T') - r(T') */
    ERROR_NATIVE,        /* m(T) - r(T) */
    ERROR_TOTAL,         /* m(T') - r(T) */
    ERROR_OBSERVED,      /* m(T') - m(T) */
    ERROR_KINDS
} ErrorKind;

typedef enum { NORM_MAX, NORM_RMS, NORM_REL, NORM_COUNT } Norm;

/* How a cell's value is to be read. */
typedef enum {
    CELL_ABSENT,   /* nothing to print */
    CELL_VALUE,    /* the value, right to the cell's digits */
    CELL_ZERO,     /* exactly zero, proven */
    CELL_BOUND,    /* smaller than the precision resolves: an upper bound */
    CELL_NONFINITE /* NaN or infinity entered */
} CellState;

/* Metrics are rounded to this many bits. */
#define REF_CELL_BITS 192

typedef struct {
    CellState state;
    int digits;       /* that are printed */
    mpfr_exp_t error; /* the value is off by less than 2^error */
    double lacking;   /* of a bound: bits more that make it a value; 0: it may as well be a zero */
    mpfr_t value;     /* REF_CELL_BITS bits */
} RefCell;

/* A cell of so many digits, absent. */
void ref_cell_init(RefCell *cell, int digits);
void ref_cell_clear(RefCell *cell);

void ref_cell_set(RefCell *cell, const RefCell *from);

/* cell = from times 2^exponent, and its decimal logarithm, with the error that from has: both are
 * values only if their own digits are right.  The logarithm of 0 is absent, as that of what is
 * absent; of what is not finite it is that; a bound's may be 0. */
void ref_cell_scale(RefCell *cell, const RefCell *from, long exponent);
void ref_cell_log10(RefCell *cell, const RefCell *from);

/* y = the cell's value rounded to its digits: nothing of it that is not printed. */
void ref_cell_printed(mpfr_ptr y, const RefCell *cell);

/* The measurements of ref_compare beside the errors, in the order of a table's columns: a name
 * here, the column's, its unit and its meaning. */
#define REF_SCALARS(each)                                                                          \
    each(BIAS_ROW, "bias_row_max", "as the stream",                                                \
         "a leak: the largest entry of r(T′)'s bias row where 0 is due"),                          \
        each(HIDDEN, "hidden_max", "as the stream",                                                \
             "a leak: the largest entry of r(T′) in columns that are cleared"),                    \
        each(SCORE, "score_max", "number", "the largest absolute score of T's heads in the layer")

#define REF_SCALAR_NAME(name, column, unit, meaning) SCALAR_##name
typedef enum { REF_SCALARS(REF_SCALAR_NAME), SCALAR_COUNT } RefScalar;

/* What propagation.h measures, where it is asked for, in the order of a table's columns: a name,
 * the column's, and whether what it holds is the same on every machine. */
#define REF_PROPAGATION(each)                                                                      \
    each(CONSTRUCTION_INJECTED, "construction_injected_max", REFERENCE, ABSOLUTE),                 \
        each(CONSTRUCTION_INHERITED, "construction_inherited_max", REFERENCE, ABSOLUTE),           \
        each(CONSTRUCTION_GAIN, "construction_gain", REFERENCE, RELATIVE),                         \
        each(ROUNDING_INJECTED, "rounding_injected_max", MACHINE, ABSOLUTE),                       \
        each(ROUNDING_INHERITED, "rounding_inherited_max", MACHINE, ABSOLUTE),                     \
        each(ROUNDING_GAIN, "rounding_gain", MACHINE, RELATIVE)

#define REF_PROPAGATION_NAME(name, column, kind, unit) PROPAGATION_##name
typedef enum { REF_PROPAGATION(REF_PROPAGATION_NAME), PROPAGATION_COUNT } RefPropagationCell;

typedef struct {
    RefCell error[ERROR_KINDS][NORM_COUNT];
    RefCell scalar[SCALAR_COUNT];
    RefCell propagation[PROPAGATION_COUNT]; /* absent but for ref_propagation_compare */
    mpfr_t max_original;                    /* max |r(T)| over the compared entries */
    double lacking;     /* bits until every cell is a value, about, but for those: */
    double hidden;      /* the same of what lies below r(T')'s own error, where T' is by itself */
    bool contradiction; /* a proven zero was measured larger than its error */
    bool left_range;    /* r(T) or r(T') left MPFR's range: nothing is known */
} RefErrors;

/* All cells absent, of REF_DIGITS_MOST digits; and of so many. */
void ref_errors_init(RefErrors *errors);
void ref_errors_set_digits(RefErrors *errors, int digits);
void ref_errors_clear(RefErrors *errors);

/* A machine's stream of tokens: entry (token i, column c) at data[i * ld + c]. */
typedef struct {
    const double *data;
    size_t ld;
} MachineView;

/* Tokens first .. first + count - 1, from 0. */
typedef struct {
    size_t first, count;
} RefRows;

/* All that is compared after a layer (from 1).  run: r(T') at that layer, certified, or NULL
 * (construction, rounding and leaks absent, and approximation if the base keeps nothing of
 * r(T_infinity)); a run by itself needs a base that keeps its streams. converted, original: m(T')
 * and m(T), or NULL (their kinds absent). */
typedef struct {
    const Pair *pair;
    const RefBase *base;
    size_t layer;
    const RefRun *run;
    const MachineView *converted, *original;
} RefLayer;

/* The errors after a layer, over these token rows and pair->compared[layer - 1]; leaks and the
 * largest score are of every row. */
void ref_compare_rows(RefErrors *errors, const RefLayer *at, RefRows rows);

/* The same over all n. */
void ref_compare(RefErrors *errors, const RefLayer *at);

/* Of the machine alone: `observed` but for NORM_REL, which is relative to r(T); max_original
 * is m(T)'s. */
void ref_compare_machines(RefErrors *errors, const RefLayer *at, RefRows rows);

#endif
