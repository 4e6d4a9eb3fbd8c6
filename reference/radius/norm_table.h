/*
 * Norms of weights, kept: they are the same at every precision, Omega, layer of the same weights
 * and input, and finding one takes longer than many a row's radii (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_NORM_TABLE_H
#define HEADPROOF_REFERENCE_RADIUS_NORM_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* The matrix that a norm is of: parts [rows, columns] of doubles, `stride` apart: side by side, or
 * one below the other.  They are told apart by where they are, and stay there as long as the
 * table. */
typedef enum { PARTS_BESIDE, PARTS_BELOW } PartsAre;
typedef struct {
    const double *data;
    size_t rows, columns, ld, parts, stride;
    PartsAre are;
    bool coarse; /* see Evaluator */
} NormKey;

/* The largest singular value and the Frobenius norm, at least. */
typedef struct {
    double spectral, frobenius;
} MatrixNorms;

typedef struct NormTable NormTable;

/* Empty. */
NormTable *norm_table_make(void) __attribute__((warn_unused_result));
void norm_table_clear(NormTable *table);

/* *norms = those kept; false: there are none.  Several threads may look and keep at once. */
bool norm_table_find(MatrixNorms *norms, NormTable *table, const NormKey *key);

/* Where memory is short they are not kept. */
void norm_table_keep(NormTable *table, const NormKey *key, const MatrixNorms *norms);

#endif
