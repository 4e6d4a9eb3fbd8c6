/*
 * One row of a head with bilinear scores: the moments that its derivatives are made of.
 */
#include "bilinear.h"
#include "bounds.h"
#include "norm.h"
#include "vectors.h"

#include "../product/gemm.h"

#include <string.h>

/* Moments that are worth forming: keys times entries. */
enum { MOMENT_MOST = 1 << 20 };

double gemm_off(size_t k)
{
    return BOUND_DOUBLE * (double)(k + 4) / 16;
}

double head_rough(const HeadAt *head, double norms)
{
    const Radius *r = head->r;
    const Score *score = &head->bundle->score;
    bool rough = score_is_mixed(score);
    mpfr_exp_t fewer = r->bits - evaluator_rough_bits(r->ev, heads_mixed_gap(score));
    return rough ? bound_scaled(product_error_factor(head->width_k) * norms, fewer) : 0;
}

static Sides sides_from(const Sides *sides, size_t first)
{
    return (Sides){sides->norm + first, sides->off + first, sides->rounding + first,
                   sides->square + first};
}

static RowKeys row_keys(const HeadBlock *block, size_t i)
{
    const HeadAt *head = block->head;
    size_t n = block->head->r->rows, b = i - block->rows.first, first = block->keys[b].first;
    return (RowKeys){head,
                     &block->keys[b],
                     &block->sum[b],
                     head->gap + i * n + first,
                     head->score + i * n + first,
                     block->p + b * n + first,
                     block->value + b * n + first,
                     block->y + b * head->width_v,
                     block->high + first,
                     block->off + first,
                     block->w + first,
                     sides_from(&head->keys, first),
                     sides_from(&head->values, first)};
}

/* A key's weight on the path, min(1, p e^wide), and what it may be off. */
static void set_wide(const RowKeys *of, size_t j, double wide)
{
    double known = of->score[j] - of->sum->top - log(of->keys->total), high = exp(known + wide);
    of->high[j] = (high < 1 ? high : 1) * (1 + BOUND_DOUBLE) + BOUND_TINY;
    of->off[j] = of->high[j];
}

/* The same where wide < 1/2: e^wide < 1 + 2 wide. */
static void set_narrow(const RowKeys *of, size_t j, double wide)
{
    double high = of->p[j] * (1 + 2 * wide);
    of->high[j] = (high < 1 ? high : 1) * (1 + BOUND_DOUBLE) + BOUND_TINY;
    of->off[j] = of->p[j] * 2 * wide + BOUND_TINY;
}

/* The keys' weights on the path: high = min(1, p e^(2 theta)), off = high - p at most (C16). */
static void set_highs(const RowKeys *of)
{
    const size_t count = of->keys->count;
    const double theta = 2 * of->sum->theta;
    bool narrow = true;
    for (size_t j = 0; j < count; j++) {
        double wide = theta + BOUND_DOUBLE * (1 + fabs(of->score[j]) + fabs(of->sum->top));
        bool seen = head_sees(of->head, of->gap[j]);
        of->w[j] = wide;
        narrow = narrow && (wide < 0.5 || !seen);
    }
    for (size_t j = 0; narrow && j < count; j++) {
        set_narrow(of, j, of->w[j]);
    }
    for (size_t j = 0; !narrow && j < count; j++) {
        if (of->w[j] < 0.5) {
            set_narrow(of, j, of->w[j]);
        } else {
            set_wide(of, j, of->w[j]);
        }
    }
    for (size_t j = 0; j < count; j++) {
        bool seen = head_sees(of->head, of->gap[j]);
        of->high[j] = seen ? of->high[j] : 0;
        of->off[j] = seen ? of->off[j] : 0;
    }
}

/* The sum of a over all keys but the heaviest: of a itself, or times b. */
static double others(const RowKeys *of, double *a, const double *b)
{
    double *own = a + of->keys->heaviest, kept = *own;
    *own = 0;
    double sum =
        b != NULL ? vectors()->dot(a, b, of->keys->count) : vectors()->sum(a, of->keys->count);
    *own = kept;
    return sum;
}

/* y, and what the keys that are seen are apart from it, one after the other. */
static void set_apart(const RowKeys *of)
{
    size_t V = of->head->width_v;
    const double *v = of->head->value + of->keys->first * V;
    memset(of->y, 0, V * sizeof *of->y);
    for (size_t j = 0; j < of->keys->count; j++) {
        if (of->high[j] > 0) {
            vectors()->add_scaled(of->y, of->p[j], v + j * V, V);
        }
    }
    for (size_t j = 0; j < of->keys->count; j++) {
        if (of->high[j] > 0) {
            of->value[j] = vectors()->distance(v + j * V, of->y, V);
        }
    }
}

/* |v - y| of the keys at the point (C39). */
static void set_distances(const HeadBlock *block, const RowKeys *of)
{
    size_t count = of->keys->count, V = of->head->width_v;
    bool sharp = of->p[of->keys->heaviest] > 0.875;
    if (!block->products || sharp ||
        !vectors()->distances(of->value, of->v.square, vectors()->dot(of->y, of->y, V), V, count)) {
        set_apart(of);
    }
}

/* ... and on the path: y changes by what its weights and its values do (C17). */
static void add_path(const RowKeys *of)
{
    size_t count = of->keys->count;
    double largest = vectors()->largest(of->high, of->v.norm, count);
    double off = vectors()->dot(of->off, of->value, count) +
                 vectors()->largest(of->high, of->v.off, count) +
                 gemm_off(of->keys->seen) * largest;
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        of->value[j] += off + of->v.off[j] + BOUND_DOUBLE * largest;
    }
}

/* w = p |v - y| on the path: for the heaviest key no more than what the others pull it (C18). */
static double set_pulls(const RowKeys *of)
{
    double *top = of->w + of->keys->heaviest, own = of->v.norm[of->keys->heaviest];
    double pull = others(of, of->high, of->v.norm) + own * others(of, of->high, NULL);
    vectors()->multiply(of->w, of->high, of->value, of->keys->count);
    *top = fmin(*top, pull);
    return bound_up(vectors()->sum(of->w, of->keys->count));
}

/* |M| at the point, formed of keys as they are, and how far it may be off on the path (C19). */
static double formed_moment(const HeadBlock *block, const RowKeys *of)
{
    const HeadAt *head = of->head;
    size_t V = head->width_v, K = head->width_k, n = 0;
    double *a = block->product[0], *b = block->product[1], *m = block->product[2], off = 0;
    for (size_t j = 0; j < of->keys->count; j++) {
        const double *v = head->value + (of->keys->first + j) * V;
        const double *k = head->key + (of->keys->first + j) * K;
        if (of->high[j] == 0) {
            continue;
        }
        for (size_t c = 0; c < V; c++) {
            a[n * V + c] = of->p[j] * (v[c] - of->y[c]);
        }
        memcpy(b + n * K, k, K * sizeof *b);
        n++;
        double apart = vectors()->distance(v, of->y, V);
        off += (of->off[j] + gemm_off(of->keys->seen) * of->p[j]) * of->value[j] * of->k.norm[j] +
               of->p[j] * bound_max(0, of->value[j] - apart) * of->k.norm[j] +
               of->p[j] * of->value[j] * of->k.off[j];
    }
    gemm(m, K, gemm_transposed(a, V), gemm_plain(b, K), (GemmExtents){V, K, n}, 0);
    return bound_up(norm_frobenius(m, V, K, K) + off);
}

/* |sum of p k (v - y)^T| on the path: by the sum of norms, or formed (C20). */
static double moment(const HeadBlock *block, const RowKeys *of)
{
    size_t entries = of->head->width_v * of->head->width_k;
    double bound = bound_up(vectors()->dot(of->w, of->k.norm, of->keys->count));
    return of->keys->seen * entries <= MOMENT_MOST ? fmin(bound, formed_moment(block, of)) : bound;
}

RowKeys head_block_row(const HeadBlock *block, size_t i)
{
    const RowKeys of = row_keys(block, i);
    size_t bias = layout_bias_row(block->head->r->layout), last = of.keys->first + of.keys->count;
    set_highs(&of);
    set_distances(block, &of);
    add_path(&of);
    of.sum->w = set_pulls(&of);
    of.sum->moment = moment(block, &of);
    if (bias >= of.keys->first && bias < last) {
        of.sum->bias_key = of.high[bias - of.keys->first];
    }
    return of;
}
