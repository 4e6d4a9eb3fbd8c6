/*
 * What the very rows of X say of a head that reads them (private to reference/guarantee/).
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_PART_ROWS_H
#define HEADPROOF_REFERENCE_GUARANTEE_PART_ROWS_H

#include "matrix.h"

/* A matrix that reads the stream, as tokens and as the bias row read it, and tokens' bias. */
typedef struct {
    Matrix token, bias_row, bias;
} Reader;

void reader_clear(Reader *reader);

/* (G21): *minus_own is at least -q.k over all rows; INFINITY where that is not known.  Both: false
 * where memory is short. */
bool rows_scores(double *minus_own, const Reader *q, const Reader *k, const Matrix *rows)
    __attribute__((warn_unused_result));

/* (G23): *most is at least |x V + c| over all rows. */
bool rows_values(Magnitude *most, const Reader *v, const Matrix *rows)
    __attribute__((warn_unused_result));

#endif
