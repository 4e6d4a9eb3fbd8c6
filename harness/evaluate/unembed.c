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

bool unembed_machine(double *logits, const MachineView *x, RefRows rows,
                     const RefUnembedding *unembedding, const ArithmeticInfo *arithmetic)
{
    const size_t d = unembedding->d, classes = unembedding->classes;
    double *y = calloc(rows.count, d * sizeof *y);
    bool ok = y != NULL && read_machine(y, x, rows, unembedding, arithmetic);
    memset(logits, 0, rows.count * classes * sizeof *logits);
    for (size_t first = 0; ok && first < classes; first += TILE) {
        size_t last = first + TILE < classes ? first + TILE : classes;
        for (size_t i = 0; i < rows.count; i++) {
            double *row = logits + i * classes;
            for (size_t c = 0; c < d; c++) {
                const double *w = unembedding->w_u + c * classes, factor = y[i * d + c];
                for (size_t k = first; k < last; k++) {
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
    free(y);
    return ok;
}
