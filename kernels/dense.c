/*
 * softmax_rows(X' Q X'^T) X' V for all heads of a bundle, as a framework computes it: full
 * matrices, and products so arranged that many heads share one dgemm without a transpose.
 *
 *     X' [Q_1 ... Q_m]           [N', m D'], which is also [N' m, D']: row i m + h for head h
 *     that times X'^T            [N' m, N'] scores; softmax of each row
 *     pattern times X'           [N' m, D'], which is also [N', m D']
 *     that times [V_1; ...; V_m] [N', D'], summed over the heads
 */
#include "dense.h"

#include "blas.h"

#include "../cases/fault.h"

#include <string.h>

/* A block of heads has at most this many entries in each matrix, or is one head: its size
 * depends on shape alone.  2^15 doubles: a block stays in the second-level cache. */
#define BLOCK_ENTRIES 32768.0

typedef struct {
    size_t heads;
    double *q;       /* [D', heads D'] */
    double *v;       /* [heads D', D'] */
    double *product; /* [rows, heads D'] */
    double *pattern; /* [rows heads, rows] */
} Block;

static Block block_take(Scratch *scratch, const Layout *layout, size_t heads)
{
    double rows = (double)layout->n, width = (double)layout->d + (double)layout->hidden;
    if (layout->bias_row != BIAS_ROW_NONE) {
        rows += 1;
        width += layout->bias_row == BIAS_ROW_MASKED ? 1 : rows;
    }
    double largest = fmax(rows, width) * fmax(rows, width);
    double most = fmax(1, fmin((double)heads, floor(BLOCK_ENTRIES / largest)));
    Block block = {.heads = (size_t)most};
    block.q = scratch_take(scratch, width, most * width);
    block.v = scratch_take(scratch, most * width, width);
    block.product = scratch_take(scratch, rows, most * width);
    block.pattern = scratch_take(scratch, rows * most, rows);
    return block;
}

double dense_scratch(const Layout *layout, const Bundle *bundle)
{
    Scratch scratch = {NULL, 0};
    block_take(&scratch, layout, bundle->heads);
    return scratch.taken;
}

/* Keys that row i does not see score -infinity.  Returns how many from the first on are left. */
static size_t hide(double *row, const Layout *layout, const Score *score, size_t i)
{
    size_t rows = layout_rows(layout);
    if (score->visible == VISIBLE_EARLIER) {
        return i + 1;
    }
    for (size_t j = 0; score->visible != VISIBLE_ALL && j < rows; j++) {
        row[j] = score_sees(layout, score, i, j) ? row[j] : -INFINITY;
    }
    return rows;
}

/* Weights of the first visible keys from their scores, 0 for the rest. */
static void softmax_row(double *row, size_t visible, size_t rows)
{
    double max = row[0], total = 0;
    for (size_t j = 1; j < visible; j++) {
        max = row[j] > max ? row[j] : max;
    }
    for (size_t j = 0; j < visible; j++) {
        row[j] = exp_shifted(row[j] - FAULT("softmax-without-shift", 0, max));
        total += row[j];
    }
    for (size_t j = 0; j < visible; j++) {
        row[j] /= total;
    }
    memset(row + visible, 0, (rows - visible) * sizeof *row);
}

/* block->pattern for heads first, ..., first + block->heads - 1. */
static void patterns(const Pass *pass, const Block *block, const Score *score, size_t first)
{
    size_t rows = layout_rows(pass->layout), width = pass->ld;
    size_t ld = block->heads * width;
    memset(block->q, 0, width * ld * sizeof *block->q);
    for (size_t h = 0; h < block->heads; h++) {
        dense_fill_q(block->q + h * width, ld, pass->layout, score, pass->omega, first + h);
    }
    blas_gemm(block->product, ld, pass->stream, width, block->q, ld, rows, ld, width, 1.0, 0.0);
    blas_gemm_nt(block->pattern, rows, block->product, width, pass->stream, width,
                 rows * block->heads, rows, width, 1.0, 0.0);
    for (size_t r = 0; r < rows * block->heads; r++) {
        double *row = block->pattern + r * rows;
        softmax_row(row, hide(row, pass->layout, score, r / block->heads), rows);
    }
}

/* sum += the heads of the block, whose patterns are there. */
static void outputs(const Pass *pass, const Block *block, const Value *value, size_t first)
{
    size_t rows = layout_rows(pass->layout), width = pass->ld;
    size_t ld = block->heads * width;
    memset(block->v, 0, ld * width * sizeof *block->v);
    for (size_t h = 0; h < block->heads; h++) {
        dense_fill_v(block->v + h * width * width, width, pass->layout, value, first + h);
    }
    blas_gemm(block->product, width, block->pattern, rows, pass->stream, width, rows * block->heads,
              width, rows, 1.0, 0.0);
    blas_gemm(pass->sum, width, block->product, ld, block->v, width, rows, width, ld, 1.0, 1.0);
}

void dense_bundle(const Pass *pass, const Bundle *bundle)
{
    Scratch scratch = {pass->scratch, 0};
    Block block = block_take(&scratch, pass->layout, bundle->heads);
    size_t most = block.heads;
    for (size_t first = 0; first < bundle->heads; first += most) {
        size_t left = bundle->heads - first;
        block.heads = left < most ? left : most;
        patterns(pass, &block, &bundle->score, first);
        outputs(pass, &block, &bundle->value, first);
    }
}

void dense_pattern(const Pass *pass, double *pattern, const Bundle *bundle, size_t head)
{
    Scratch scratch = {pass->scratch, 0};
    Block block = block_take(&scratch, pass->layout, bundle->heads);
    size_t rows = layout_rows(pass->layout);
    block.heads = 1;
    patterns(pass, &block, &bundle->score, head);
    memcpy(pattern, block.pattern, rows * rows * sizeof *pattern);
}
