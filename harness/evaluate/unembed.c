/*
 * Rows of a machine's stream times the unembedding, in double.
 */
#include "unembed.h"

#include "../../memory/need.h"

#include <stdlib.h>
#include <string.h>

/* Columns of the unembedding that are read for all rows before the next, so that they stay in a
 * cache, and those that are summed at once, in registers; multiply-adds that are worth threads. */
enum { TILE = 256, BESIDE = 16, PARALLEL_TERMS = 1 << 20 };

/* y [rows.count, d] = norm(x), which the unembedding reads. */
static void read_machine(double *y, const MachineView *x, RefRows rows,
                         const RefUnembedding *unembedding, const ArithmeticInfo *arithmetic)
{
    const size_t d = unembedding->d;
    const LayerNorm *norm = &unembedding->norm;
    for (size_t i = 0; i < rows.count; i++) {
        memcpy(y + i * d, x->data + (rows.first + i) * x->ld, d * sizeof *y);
    }
    if (norm->kind != NORMALIZATION_NONE) {
        arithmetic->functions->norm(&arithmetic->formats, y, rows.count, d, norm);
    }
}

/* Columns of the unembedding from first to last, so many from one of its rows to the next. */
typedef struct {
    double *room; /* [d, TILE], for an unembedding that lies class by class */
    const double *columns;
    size_t ld, first, last;
    NumberFormat format; /* which its numbers are stored in; FORMAT_F64: as they are */
} Tile;

/* A tile that ends early is copied, too: its last group of BESIDE columns may end behind it, where
 * the room holds numbers that nobody reads. */
static void read_tile(Tile *tile, const RefUnembedding *unembedding)
{
    const bool by_class = unembedding->by_class;
    const size_t d = unembedding->d, count = tile->last - tile->first;
    const bool copied = by_class || tile->format != FORMAT_F64 || count < TILE;
    /* The unembedding is read as it lies. */
    const size_t outer = by_class ? count : d, inner = by_class ? d : count;
    for (size_t i = 0; copied && i < outer; i++) {
        for (size_t j = 0; j < inner; j++) {
            size_t c = by_class ? j : i, k = by_class ? i : j;
            tile->room[c * TILE + k] =
                format_nearest(tile->format, *ref_unembedding_at(unembedding, c, tile->first + k));
        }
    }
    tile->ld = copied ? TILE : unembedding->classes;
    tile->columns = copied ? tile->room : ref_unembedding_at(unembedding, 0, tile->first);
}

/* sum = y times BESIDE columns of the tile. */
static void sum_columns(double sum[BESIDE], const double *y, size_t d, const Tile *tile,
                        size_t column)
{
    const double *w = tile->columns + column;
    memset(sum, 0, BESIDE * sizeof *sum);
    for (size_t c = 0; c < d; c++, w += tile->ld) {
#pragma omp simd
        for (size_t k = 0; k < BESIDE; k++) {
            sum[k] += y[c] * w[k];
        }
        if (tile->format != FORMAT_F64) {
#pragma omp simd
            for (size_t k = 0; k < BESIDE; k++) {
                sum[k] = (float)sum[k];
            }
        }
    }
}

void unembed_machine(double *logits, const MachineView *x, RefRows rows,
                     const RefUnembedding *unembedding, const ArithmeticInfo *arithmetic,
                     bool stored)
{
    const size_t d = unembedding->d, classes = unembedding->classes;
    const NumberFormat format = stored ? arithmetic->formats.storage : FORMAT_F64;
    double *y = need_zeros(rows.count, d * sizeof *y);
    read_machine(y, x, rows, unembedding, arithmetic);
#pragma omp parallel if (rows.count * classes >= PARALLEL_TERMS / (d + 1))
    {
        Tile tile = {.room = need_zeros(d, TILE * sizeof *tile.room), .format = format};
#pragma omp for
        for (size_t first = 0; first < classes; first += TILE) {
            tile.first = first;
            tile.last = first + TILE < classes ? first + TILE : classes;
            read_tile(&tile, unembedding);
            for (size_t i = 0; i < rows.count; i++) {
                for (size_t k = first; k < tile.last; k += BESIDE) {
                    double sum[BESIDE];
                    size_t count = tile.last - k < BESIDE ? tile.last - k : BESIDE;
                    sum_columns(sum, y + i * d, d, &tile, k - first);
                    memcpy(logits + i * classes + k, sum, count * sizeof *sum);
                }
            }
        }
        free(tile.room);
    }
    for (size_t i = 0; unembedding->b_u != NULL && i < rows.count; i++) {
        for (size_t k = 0; k < classes; k++) {
            logits[i * classes + k] += format_nearest(format, unembedding->b_u[k]);
        }
    }
    free(y);
}
