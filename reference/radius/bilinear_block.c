/*
 * Rows of a head with bilinear scores, in blocks: their weights, and what becomes products of
 * matrices.
 */
#include "bilinear.h"
#include "bounds.h"
#include "vectors.h"

#include "../../memory/need.h"
#include "../product/gemm.h"

#include <stdlib.h>

/* Squares that products of matrices are formed of, at most. */
#define SQUARE_MOST 0x1p900

/* So few keys a row, on average, are taken one by one. */
enum { FEW_KEYS = 4 };

void head_block_open(HeadBlock *block, const HeadAt *head)
{
    size_t n = head->r->rows, k = head->width_k, v = head->width_v, rows = HEAD_ROWS * n;
    *block = (HeadBlock){.head = head};
    struct {
        double **numbers;
        size_t count;
    } const all[] = {{&block->p, rows},
                     {&block->value, rows},
                     {&block->y, HEAD_ROWS * v},
                     {&block->high, n},
                     {&block->off, n},
                     {&block->w, n},
                     {&block->visible, n},
                     {&block->grown, n},
                     {&block->part, n},
                     {&block->product[0], n * v},
                     {&block->product[1], n * k},
                     {&block->product[2], v * k}};
    for (size_t m = 0; m < sizeof all / sizeof *all; m++) {
        *all[m].numbers = need_room(all[m].count + 1, sizeof(double));
    }
    block->keys = need_room(HEAD_ROWS, sizeof *block->keys);
    block->sum = need_room(HEAD_ROWS, sizeof *block->sum);
}

void head_block_clear(HeadBlock *block)
{
    double *const all[] = {block->p,    block->value,      block->y,          block->high,
                           block->off,  block->w,          block->visible,    block->grown,
                           block->part, block->product[0], block->product[1], block->product[2]};
    for (size_t m = 0; m < sizeof all / sizeof *all; m++) {
        free(all[m]);
    }
    free(block->keys);
    free(block->sum);
}

/* p: 1 for the keys that row i sees, else 0; their scores with Omega. */
static Keys set_seen(const HeadBlock *block, double *p, size_t i)
{
    const HeadAt *head = block->head;
    size_t n = block->head->r->rows;
    const int *gap = head->gap + i * n;
    double *score = head->score + i * n, omega = block->head->r->ev->omega;
    Keys keys = {.count = n};
    for (size_t j = 0; j < n; j++) {
        p[j] = head_sees(head, gap[j]) ? 1 : 0;
        score[j] -= gap[j] > 0 && p[j] > 0 ? (double)gap[j] * omega : 0;
    }
    keys.seen = (size_t)vectors()->sum(p, n);
    for (; keys.count > 0 && p[keys.count - 1] == 0; keys.count--) {
    }
    for (; keys.first < keys.count && p[keys.first] == 0; keys.first++) {
    }
    keys.count -= keys.first;
    return keys;
}

static void set_sides(const HeadBlock *block, RowSum *row, const Keys *keys, const double *p,
                      size_t i)
{
    const HeadAt *head = block->head;
    const Sides *q = &head->queries, *k = &head->keys;
    row->k_most = vectors()->largest(p, k->norm + keys->first, keys->count);
    row->k_off = vectors()->largest(p, k->off + keys->first, keys->count);
    row->k_rounding = vectors()->largest(p, k->rounding + keys->first, keys->count);
    /* Rounding of a score: the product, its distance from the shift, its sides' own (C15). */
    row->lambda = (8 + radius_product(head->width_k)) * q->norm[i] * row->k_most +
                  q->rounding[i] * row->k_most + q->norm[i] * row->k_rounding;
    double rough = head->at->limit ? 0 : head_rough(head, q->norm[i] * row->k_most);
    row->theta = gemm_off(head->width_k) * q->norm[i] * row->k_most + q->off[i] * row->k_most +
                 q->norm[i] * row->k_off + point_rho(block->head->r, row->lambda + rough);
    row->lambda = bound_up(row->lambda);
    row->theta = bound_up(row->theta);
}

/* The weights at the point, in place of 1. */
static void set_weights(RowSum *row, Keys *keys, double *p, const double *score)
{
    double top = -INFINITY;
    for (size_t j = 0; j < keys->count; j++) {
        if (p[j] > 0 && score[j] > top) {
            top = score[j];
            keys->heaviest = j;
        }
    }
    for (size_t j = 0; j < keys->count; j++) {
        p[j] = p[j] > 0 ? exp(score[j] - top) : 0;
    }
    double total = fmax(vectors()->sum(p, keys->count), 1); /* the heaviest has 1 */
#pragma omp simd
    for (size_t j = 0; j < keys->count; j++) {
        p[j] /= total;
    }
    row->top = top;
    keys->total = total;
}

/* The products y = P v, and then those of y with all v. */
static void set_products(HeadBlock *block)
{
    const HeadAt *head = block->head;
    size_t n = block->head->r->rows, V = head->width_v;
    size_t rows = block->rows.end - block->rows.first, first = block->first;
    size_t count = block->end - first;
    const double *v = head->value + first * V;
    gemm(block->y, V, gemm_plain(block->p + first, n), gemm_plain(v, V),
         (GemmExtents){rows, V, count}, 0);
    gemm(block->value + first, n, gemm_plain(block->y, V), gemm_transposed(v, V),
         (GemmExtents){rows, count, V}, 0);
}

/* Are all of these finite, and their sums? */
static bool squares_finite(const double *square, size_t first, size_t end)
{
    bool finite = true;
    for (size_t j = first; j < end; j++) {
        finite = finite && square[j] < SQUARE_MOST;
    }
    return finite;
}

void head_block_set(HeadBlock *block, RowRange rows)
{
    const HeadAt *head = block->head;
    size_t n = block->head->r->rows;
    size_t seen = 0;
    block->rows = rows;
    block->first = n;
    block->end = 0;
    for (size_t i = rows.first; i < rows.end; i++) {
        double *p = block->p + (i - rows.first) * n;
        Keys keys = set_seen(block, p, i);
        RowSum row = {0};
        set_sides(block, &row, &keys, p + keys.first, i);
        set_weights(&row, &keys, p + keys.first, head->score + i * n + keys.first);
        size_t end = keys.first + keys.count;
        block->first = keys.first < block->first ? keys.first : block->first;
        block->end = end > block->end ? end : block->end;
        block->keys[i - rows.first] = keys;
        seen += keys.seen;
        block->sum[i - rows.first] = row;
    }
    block->products = seen > FEW_KEYS * (rows.end - rows.first) &&
                      squares_finite(head->values.square, block->first, block->end);
    if (block->products) {
        set_products(block);
    }
}
