/*
 * softmax_rows(X' Q X'^T) X' V for all heads of a bundle, as a framework computes it: full
 * matrices, and products so arranged that many heads share one gemm and none has a transpose.
 *
 *     X' [Q_1 ... Q_m]           [N', m D'], which is also [N' m, D']: row i m + h for head h
 *     that times X'^T            [N' m, N'] scores; softmax of each row
 *     pattern times X'           [N' m, D'], which is also [N', m D']
 *     that times [V_1; ...; V_m] [N', D'], summed over the heads
 *
 * A block of m heads sums into a matrix of its own; those are added in the blocks' order.
 */
#include "dense.h"

#include "each.h"
#include "softmax.h"

#include <string.h>

/* The most entries that a matrix of a block of heads has, unless the block is one head; its size
 * depends on shape alone.  2^15 doubles: a block stays in the second-level cache. */
#define BLOCK_ENTRIES 32768.0

/* A thread's matrices for a block of at most `heads` heads. */
typedef struct {
    size_t heads;
    Scalar *q;       /* [D', heads D'] */
    Scalar *v;       /* [heads D', D'] */
    Scalar *product; /* [rows, heads D'] */
    Scalar *pattern; /* [rows heads, rows] */
    Scalar *sum;     /* [rows, D'] */
} Block;

static Block block_take(Scratch *scratch, double rows, double width, size_t heads)
{
    double largest = fmax(rows, width) * fmax(rows, width);
    double most = fmax(1, fmin((double)heads, floor(BLOCK_ENTRIES / largest)));
    Block block = {.heads = (size_t)most};
    block.q = scratch_take(scratch, width, most * width);
    block.v = scratch_take(scratch, most * width, width);
    block.product = scratch_take(scratch, rows, most * width);
    block.pattern = scratch_take(scratch, rows * most, rows);
    block.sum = scratch_take(scratch, rows, width);
    return block;
}

/* A bundle's evaluation. */
typedef struct {
    const Pass *pass;
    const Bundle *bundle;
    Scalar *transposed; /* X'^T [D', rows] */
    Scratch blocks;     /* threads of them, each block_scalars long */
    double block_scalars;
} Task;

static Task task_make(Scalar *scratch, const Pass *pass, const Bundle *bundle)
{
    const Layout *layout = pass->layout;
    double rows = (double)layout->n, width = (double)layout->d + (double)layout->hidden;
    if (layout->bias_row != BIAS_ROW_NONE) {
        rows += 1;
        width += layout->bias_row == BIAS_ROW_MASKED ? 1 : rows;
    }
    Scratch one = {NULL, 0};
    Task task = {.pass = pass, .bundle = bundle, .blocks = {scratch, 0}};
    task.transposed = scratch_take(&task.blocks, width, rows);
    block_take(&one, rows, width, bundle->heads);
    task.block_scalars = one.taken;
    return task;
}

double dense_scratch(const Layout *layout, const Bundle *bundle, size_t threads)
{
    Pass pass = {.layout = layout};
    Task task = task_make(NULL, &pass, bundle);
    return task.blocks.taken + (double)threads * task.block_scalars;
}

static Block block_of_thread(const Task *task, size_t thread)
{
    const Layout *layout = task->pass->layout;
    Scratch scratch = {task->blocks.next + thread * (size_t)task->block_scalars, 0};
    return block_take(&scratch, (double)layout_rows(layout), (double)task->pass->ld,
                      task->bundle->heads);
}

static void transpose(const Task *task)
{
    const Pass *pass = task->pass;
    size_t rows = layout_rows(pass->layout);
    for (size_t c = 0; c < pass->ld; c++) {
        for (size_t r = 0; r < rows; r++) {
            task->transposed[c * rows + r] = pass->stream[r * pass->ld + c];
        }
    }
}

/* Keys that row i does not see score -infinity.  Returns how many from the first on are left. */
static size_t hide(Scalar *row, const Layout *layout, const Score *score, size_t i)
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

/* block->pattern for heads first, ..., first + heads - 1. */
static void patterns(const Task *task, const Block *block, size_t first, size_t heads, bool fresh)
{
    const Pass *pass = task->pass;
    const Score *score = &task->bundle->score;
    NumberFormat operand = pass->formats->operand;
    size_t rows = layout_rows(pass->layout), width = pass->ld, ld = block->heads * width;
    for (size_t h = 0; h < heads; h++) {
        matrices_fill_q((GemmMatrix){block->q + h * width, ld}, pass, score, first + h, fresh);
    }
    scalar_round(operand, block->q, width * ld);
    blas_gemm((GemmMatrix){block->product, heads * width}, (GemmFactor){pass->stream, width},
              (GemmFactor){block->q, ld}, (GemmTask){rows, heads * width, width, 1, 0});
    scalar_round(operand, block->product, rows * heads * width);
    blas_gemm((GemmMatrix){block->pattern, rows}, (GemmFactor){block->product, width},
              (GemmFactor){task->transposed, rows}, (GemmTask){rows * heads, rows, width, 1, 0});
    scalar_round(pass->formats->score, block->pattern, rows * heads * rows);
    for (size_t r = 0; r < rows * heads; r++) {
        Scalar *row = block->pattern + r * rows;
        size_t seen = r / heads;
        softmax_row(row, hide(row, pass->layout, score, seen), rows, NULL, operand);
    }
}

/* block->sum = the heads, whose patterns are there. */
static void outputs(const Task *task, const Block *block, size_t first, size_t heads)
{
    const Pass *pass = task->pass;
    NumberFormat operand = pass->formats->operand;
    size_t rows = layout_rows(pass->layout), width = pass->ld;
    for (size_t h = 0; h < heads; h++) {
        GemmMatrix v = {block->v + h * width * width, width};
        matrices_fill_v(v, pass, task->bundle, first + h);
    }
    scalar_round(operand, block->v, heads * width * width);
    blas_gemm((GemmMatrix){block->product, width}, (GemmFactor){block->pattern, rows},
              (GemmFactor){pass->stream, width}, (GemmTask){rows * heads, width, rows, 1, 0});
    scalar_round(operand, block->product, rows * heads * width);
    blas_gemm((GemmMatrix){block->sum, width}, (GemmFactor){block->product, heads * width},
              (GemmFactor){block->v, width}, (GemmTask){rows, width, heads * width, 1, 0});
}

static void clear_matrices(const Task *task, const Block *block)
{
    size_t entries = block->heads * task->pass->ld * task->pass->ld;
    memset(block->q, 0, entries * sizeof *block->q);
    memset(block->v, 0, entries * sizeof *block->v);
}

/* A thread's first block is among the first threads; the next ones differ in some entries. */
static void evaluate_block(const void *context, size_t item, size_t thread)
{
    const Task *task = context;
    Block block = block_of_thread(task, thread);
    size_t first = item * block.heads, left = task->bundle->heads - first;
    size_t heads = left < block.heads ? left : block.heads;
    bool fresh = item < task->pass->threads;
    if (fresh) {
        clear_matrices(task, &block);
    }
    patterns(task, &block, first, heads, fresh);
    outputs(task, &block, first, heads);
}

static void add_block(const void *context, size_t item, size_t thread)
{
    const Task *task = context;
    const Pass *pass = task->pass;
    Block block = block_of_thread(task, thread);
    size_t entries = layout_rows(pass->layout) * pass->ld;
    (void)item;
#pragma omp simd
    for (size_t e = 0; e < entries; e++) {
        pass->sum[e] += block.sum[e];
    }
}

void dense_bundle(const Pass *pass, const Bundle *bundle)
{
    Task task = task_make(pass->scratch, pass, bundle);
    size_t most = block_of_thread(&task, 0).heads;
    transpose(&task);
    each_added((bundle->heads + most - 1) / most, pass->threads, evaluate_block, add_block, &task);
}

void dense_pattern(const Pass *pass, Scalar *pattern, const Bundle *bundle, size_t head)
{
    Task task = task_make(pass->scratch, pass, bundle);
    Block block = block_of_thread(&task, 0);
    size_t rows = layout_rows(pass->layout);
    transpose(&task);
    clear_matrices(&task, &block);
    patterns(&task, &block, head, 1, true);
    memcpy(pattern, block.pattern, rows * rows * sizeof *pattern);
}
