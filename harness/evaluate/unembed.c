/*
 * Rows of a machine's stream times the unembedding, in double.
 */
#include "unembed.h"

#include <stdlib.h>
#include <string.h>

/* Columns of the unembedding that are read for all rows before the next, so that they stay in a
 * cache. */
enum { TILE = 256 };

/* What the unembedding reads of a machine's row: y [d] = x [d].  A final norm would be here; the
 * reference's is in reference/logits.c. */
static void read_machine(double *y, const double *x, size_t d)
{
    memcpy(y, x, d * sizeof *y);
}

bool unembed_machine(double *logits, const MachineView *x, RefRows rows, const RefUnembed *unembed)
{
    const size_t d = unembed->d, classes = unembed->classes;
    double *y = calloc(rows.count, d * sizeof *y);
    for (size_t i = 0; y != NULL && i < rows.count; i++) {
        read_machine(y + i * d, x->data + (rows.first + i) * x->ld, d);
    }
    memset(logits, 0, rows.count * classes * sizeof *logits);
    for (size_t first = 0; y != NULL && first < classes; first += TILE) {
        size_t last = first + TILE < classes ? first + TILE : classes;
        for (size_t i = 0; i < rows.count; i++) {
            double *row = logits + i * classes;
            for (size_t c = 0; c < d; c++) {
                const double *w = unembed->w + c * classes, factor = y[i * d + c];
                for (size_t k = first; k < last; k++) {
                    row[k] += factor * w[k];
                }
            }
        }
    }
    for (size_t i = 0; unembed->b != NULL && i < rows.count; i++) {
        for (size_t k = 0; k < classes; k++) {
            logits[i * classes + k] += unembed->b[k];
        }
    }
    bool ok = y != NULL;
    free(y);
    return ok;
}
