/*
 * Rows of a machine's stream times the unembedding, in double.
 */
#include "unembed.h"

#include <stdlib.h>
#include <string.h>

/* Columns of the unembedding that are read for all rows before the next, so that they stay in a
 * cache. */
enum { TILE = 256 };

/* y [rows.count, d] = norm(x), which the unembedding reads.  false: memory is short. */
static bool read_machine(double *y, const MachineView *x, RefRows rows,
                         const RefUnembedding *unembedding, const ArithmeticInfo *arithmetic)
{
    const size_t d = unembedding->d;
    const LayerNorm *norm = &unembedding->norm;
    for (size_t i = 0; i < rows.count; i++) {
        memcpy(y + i * d, x->data + (rows.first + i) * x->ld, d * sizeof *y);
    }
    return norm->kind == NORMALIZATION_NONE ||
           arithmetic->functions->norm(&arithmetic->formats, y, rows.count, d, norm);
}

/* The columns of the unembedding from first on; *ld is from one of its rows to the next.  One that
 * lies class by class is copied to tile [d, TILE]. */
static const double *read_tile(double *tile, size_t *ld, const RefUnembedding *unembedding,
                               size_t first, size_t last)
{
    *ld = unembedding->by_class ? TILE : unembedding->classes;
    for (size_t k = first; unembedding->by_class && k < last; k++) {
        for (size_t c = 0; c < unembedding->d; c++) {
            tile[c * TILE + k - first] = *ref_unembedding_at(unembedding, c, k);
        }
    }
    return unembedding->by_class ? tile : ref_unembedding_at(unembedding, 0, first);
}

bool unembed_machine(double *logits, const MachineView *x, RefRows rows,
                     const RefUnembedding *unembedding, const ArithmeticInfo *arithmetic)
{
    const size_t d = unembedding->d, classes = unembedding->classes;
    double *y = calloc(rows.count, d * sizeof *y);
    double *tile = calloc(unembedding->by_class ? d : 1, TILE * sizeof *tile);
    bool ok = y != NULL && tile != NULL && read_machine(y, x, rows, unembedding, arithmetic);
    memset(logits, 0, rows.count * classes * sizeof *logits);
    for (size_t first = 0; ok && first < classes; first += TILE) {
        size_t ld, last = first + TILE < classes ? first + TILE : classes;
        const double *columns = read_tile(tile, &ld, unembedding, first, last);
        for (size_t i = 0; i < rows.count; i++) {
            double *row = logits + i * classes + first;
            for (size_t c = 0; c < d; c++) {
                const double *w = columns + c * ld, factor = y[i * d + c];
                for (size_t k = 0; k < last - first; k++) {
                    row[k] += factor * w[k];
                }
            }
        }
    }
    for (size_t i = 0; unembedding->b_u != NULL && i < rows.count; i++) {
        for (size_t k = 0; k < classes; k++) {
            logits[i * classes + k] += unembedding->b_u[k];
        }
    }
    free(tile);
    free(y);
    return ok;
}
