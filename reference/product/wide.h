/*
 * Operations on several entries at a time, by vectors (private to reference/product/).
 *
 * The sources in wide/ are compiled for every tier (../tier.h); each has a table of its functions.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_H

#include "guard.h"
#include "lanes.h"
#include "vexp_lanes.h"

/* y = a operation b, and scratch of y's precision. */
typedef enum { LANES_ADD, LANES_SUB, LANES_MUL, LANES_DIV, LANES_ADD_MUL } LanesOperation;
typedef struct {
    LanesOperation operation;
    mpfr_ptr y;
    Numbers a, b;
    mpfr_ptr t;
} LanesRow;

/* Entries [first, first + count) of a row, one by one. */
typedef void LanesRest(const LanesRow *row, size_t first, size_t count);

/* Entries [0, count) of a row.  By `rest`: those among which a number is not plain, or a quotient
 * is next to a tie.  False, and nothing done: too few, or not of these precisions. */
typedef bool WideRows(const LanesRow *row, size_t count, LanesRest *rest);

/* exponent, size, sum and spread of at most 64 lines from `first` on, and low, the exponent of the
 * lowest bit set in each, or LONG_MAX.  False: one is not plain. */
typedef bool WideMeasure(Operand *o, mpfr_exp_t *low, size_t first, size_t lines);

/* Sets the guards of row i from its sums of magnitudes.  Returns how many are weak: a line is
 * spread, and S in floats perhaps lacks much of them. */
typedef size_t WideGuards(const Plan *plan, size_t i, const double *s);

/* The product, by 52-bit digits. */
typedef void WideMultiply(const Plan *plan);

/* exp of x in the first lanes, x < 2^20; the result is within 9 2^(-52 D) of exp(x) 2^-n, which is
 * in [1, 2.01). */
typedef void WideExp(ExpLanes *lanes, const ExpTables *tables, size_t count);

/* y[i] = exp(x[i]) as WideExp makes it; y may be x.  Returns how many are done, from the first on:
 * it ends before numbers that are not neighbours of few whole limbs, or arguments that are neither
 * 0 nor numbers below 2^20. */
typedef size_t WideExpRow(const ExpTables *tables, mpfr_ptr y, mpfr_srcptr x, size_t count);

/* x[i] -= q round(x[i] / q): |x[i]| <= q / 2 + 1 after, for |x[i]| < 2^53. */
typedef void WideReduce(double *x, size_t count, double q, double reciprocal);

/* A plane of `count` numbers for each digit, or prime, the next one `pitch` behind. */
typedef struct {
    double *number;
    size_t pitch, count;
} WidePlanes;

/* Takes numbers up to 2^width, those of the first of as many planes as there are digits, apart:
 * every plane but the last gets the nearest integers, and the next one 2^width times the rest. */
typedef void WideSplit(const WidePlanes *digits, size_t count, unsigned width);

typedef struct {
    size_t lanes;
    size_t exp_digits;      /* of exponentials that are faster so than one by one, at most */
    WideRows *rows;         /* NULL: not faster than what does without it */
    WideMultiply *multiply; /* NULL: the same */
    size_t tile_rows;       /* of a tile of C */
    WideMeasure *measure;
    WideGuards *guards;
    WideExp *exp;
    WideExpRow *exp_row;
    WideReduce *reduce;
    WideSplit *split;
} WideOperations;

/* Those of the tier in use. */
const WideOperations *wide(void);

#endif
