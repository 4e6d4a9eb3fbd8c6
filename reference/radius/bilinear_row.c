/*
 * One row of a head with bilinear scores: weights, and the moments that its derivatives are made
 * of.
 */
#include "bilinear_row.h"
#include "bilinear.h"
#include "bounds.h"
#include "norm.h"

#include "../product/gemm.h"

#include <stdint.h>
#include <string.h>

/* Moments that are worth forming: keys times entries. */
enum { MOMENT_MOST = 1 << 20 };

double gemm_off(size_t k)
{
    return BOUND_DOUBLE * (double)(k + 4) / 16;
}

static double log_decay(const Radius *r, int gap)
{
    return gap == 0 ? 0 : -(double)gap * r->ev->omega;
}

/* The keys that row i sees, in the limit those of A. */
static void set_seen(HeadAt *head, const Radius *r, size_t i)
{
    size_t seen = heads_gaps(&head->heads, head->head, i, head->gap);
    head->count = 0;
    for (size_t j = 0; j < seen; j++) {
        if (head->gap[j] == 0 || (head->gap[j] > 0 && !head->at->limit)) {
            head->seen[head->count++] =
                (Key){.row = j, .gap = head->gap[j], .score = head->score[i * r->rows + j]};
        }
    }
}

static void set_sides(const HeadAt *head, const Radius *r, RowSum *row, size_t i)
{
    const Side *q = &head->queries[i];
    for (size_t n = 0; n < head->count; n++) {
        const Side *k = &head->keys[head->seen[n].row];
        row->k_most = bound_max(row->k_most, k->norm);
        row->k_off = bound_max(row->k_off, k->off);
        row->k_rounding = bound_max(row->k_rounding, k->rounding);
    }
    /* Rounding of a score: the product, its distance from the shift, its sides' own (C15). */
    row->lambda = (8 + radius_product(head->width_k)) * q->norm * row->k_most +
                  q->rounding * row->k_most + q->norm * row->k_rounding;
    row->theta = gemm_off(head->width_k) * q->norm * row->k_most + q->off * row->k_most +
                 q->norm * row->k_off + point_rho(r, row->lambda);
    row->lambda = bound_up(row->lambda);
    row->theta = bound_up(row->theta);
}

/* The keys' weights: p at the point, high = min(1, p e^(2 theta)) on the path, off = high - p at
 * most, for the heaviest at most what the others have (C16).  Returns which that is. */
static size_t set_weights(HeadAt *head, const Radius *r, const RowSum *row)
{
    double top = -INFINITY, total = 0, rest = 0;
    size_t heaviest = 0;
    for (size_t n = 0; n < head->count; n++) {
        Key *key = &head->seen[n];
        key->score += log_decay(r, key->gap);
        if (key->score > top) {
            top = key->score;
            heaviest = n;
        }
    }
    for (size_t n = 0; n < head->count; n++) {
        Key *key = &head->seen[n];
        key->p = exp(key->score - top);
        total += key->p;
    }
    double log_total = log(fmax(total, 1)); /* the heaviest has 1 */
    for (size_t n = 0; n < head->count; n++) {
        Key *key = &head->seen[n];
        double known = key->score - top - log_total;
        double wide = 2 * row->theta + BOUND_DOUBLE * (1 + fabs(key->score) + fabs(top));
        bool narrow = wide < 0.5; /* e^wide < 1 + 2 wide */
        key->p /= total;
        key->high = narrow ? key->p * (1 + 2 * wide) : exp(known + wide);
        key->high = (key->high < 1 ? key->high : 1) * (1 + BOUND_DOUBLE) + BOUND_TINY;
        key->off = narrow ? key->p * 2 * wide + BOUND_TINY : key->high;
        rest += n == heaviest ? 0 : key->high;
    }
    Key *key = &head->seen[heaviest];
    key->off = fmin(key->off, rest + BOUND_DOUBLE);
    return heaviest;
}

#define INLINE static inline __attribute__((always_inline))

/* In sums side by side, so that additions need not wait for each other. */
enum { SUMS = 8 };

INLINE double distance_of(const double *a, const double *b, size_t count)
{
    double sum[SUMS] = {0}, rest = 0;
    size_t c = 0;
    for (; c + SUMS <= count; c += SUMS) {
#pragma omp simd
        for (size_t i = 0; i < SUMS; i++) {
            sum[i] += (a[c + i] - b[c + i]) * (a[c + i] - b[c + i]);
        }
    }
    for (; c < count; c++) {
        rest += (a[c] - b[c]) * (a[c] - b[c]);
    }
    for (size_t i = 0; i < SUMS; i++) {
        rest += sum[i];
    }
    return sqrt(rest);
}

/* y += weight v */
INLINE void add_scaled_to(double *y, double weight, const double *v, size_t count)
{
#pragma omp simd
    for (size_t c = 0; c < count; c++) {
        y[c] += weight * v[c];
    }
}

#ifdef __x86_64__

/* The same operations on wide vectors, so the same bits. */
#define WIDE __attribute__((target("avx512f"))) static

WIDE double distance_wide(const double *a, const double *b, size_t count)
{
    return distance_of(a, b, count);
}

WIDE void add_scaled_wide(double *y, double weight, const double *v, size_t count)
{
    add_scaled_to(y, weight, v, count);
}

static double distance(const double *a, const double *b, size_t count)
{
    bool wide = __builtin_cpu_supports("avx512f");
    return wide ? distance_wide(a, b, count) : distance_of(a, b, count);
}

static void add_scaled(double *y, double weight, const double *v, size_t count)
{
    if (__builtin_cpu_supports("avx512f")) {
        add_scaled_wide(y, weight, v, count);
    } else {
        add_scaled_to(y, weight, v, count);
    }
}

#else

static double distance(const double *a, const double *b, size_t count)
{
    return distance_of(a, b, count);
}

static void add_scaled(double *y, double weight, const double *v, size_t count)
{
    add_scaled_to(y, weight, v, count);
}

#endif

/* y and c; |v - y| and |k - c| of the keys, at most. */
static void set_distances(HeadAt *head, size_t heaviest)
{
    double off = 0, largest = 0, v_off = 0;
    bool sharp = head->seen[heaviest].p > 0.875;
    memset(head->y, 0, head->width_v * sizeof *head->y);
    memset(head->c, 0, head->width_k * sizeof *head->c);
    for (size_t n = 0; n < head->count; n++) {
        const Key *key = &head->seen[n];
        double weight = sharp ? n == heaviest : key->p;
        add_scaled(head->y, key->p, head->value + key->row * head->width_v, head->width_v);
        add_scaled(head->c, weight, head->key + key->row * head->width_k, head->width_k);
        largest = bound_max(largest, head->values[key->row].norm);
        v_off = bound_max(v_off, head->values[key->row].off);
    }
    for (size_t n = 0; n < head->count; n++) {
        Key *key = &head->seen[n];
        key->value = distance(head->value + key->row * head->width_v, head->y, head->width_v);
        off += key->off * key->value;
    }
    off += v_off + gemm_off(head->count) * largest; /* of y on the path (C17) */
    double c_norm = norm_vector(head->c, head->width_k, 1);
    for (size_t n = 0; n < head->count; n++) {
        Key *key = &head->seen[n];
        const Side *k = &head->keys[key->row];
        key->value += off + head->values[key->row].off + BOUND_DOUBLE * largest;
        key->key = distance(head->key + key->row * head->width_k, head->c, head->width_k) + k->off +
                   BOUND_DOUBLE * (k->norm + c_norm);
    }
}

/* w = p |v - y| on the path: for the heaviest key no more than what the others pull it (C18). */
static double set_pulls(HeadAt *head, size_t heaviest)
{
    Key *top = &head->seen[heaviest];
    double pull = 0, sum = 0, own = head->values[top->row].norm;
    for (size_t n = 0; n < head->count; n++) {
        Key *key = &head->seen[n];
        key->w = key->high * key->value;
        pull += n == heaviest ? 0 : key->high * (head->values[key->row].norm + own);
    }
    top->w = fmin(top->w, pull);
    for (size_t n = 0; n < head->count; n++) {
        sum += head->seen[n].w;
    }
    return bound_up(sum);
}

/* |M| at the point, formed, and how far it may be off on the path (C19). */
static double formed_moment(HeadAt *head)
{
    size_t V = head->width_v, K = head->width_k;
    double *a = head->product[0], *b = head->product[1], *m = head->product[2], off = 0;
    for (size_t n = 0; n < head->count; n++) {
        const Key *key = &head->seen[n];
        const double *v = head->value + key->row * V, *k = head->key + key->row * K;
        for (size_t c = 0; c < V; c++) {
            a[n * V + c] = key->p * (v[c] - head->y[c]);
        }
        for (size_t c = 0; c < K; c++) {
            b[n * K + c] = k[c] - head->c[c];
        }
        double apart = distance(v, head->y, V);
        off += (key->off + gemm_off(head->count) * key->p) * key->value * key->key +
               key->p * bound_max(0, key->value - apart) * key->key +
               key->p * key->value * head->keys[key->row].off;
    }
    gemm(m, K, a, V, true, b, K, false, V, K, head->count, 0);
    return bound_up(norm_frobenius(m, V, K, K) + off);
}

/* More than all squares that underflow, together. */
#define SQUARES_LOST 0x1p-900

/* |sum of p (k - c) (v - y)^T| on the path: by Cauchy and Schwarz, by the sum of norms, or formed
 * (C20). */
static double moment(HeadAt *head)
{
    double value2 = SQUARES_LOST, key2 = SQUARES_LOST, sum = 0;
    for (size_t n = 0; n < head->count; n++) {
        const Key *key = &head->seen[n];
        value2 += key->high * (key->value * key->value);
        key2 += key->high * (key->key * key->key);
        sum += key->w * key->key;
    }
    double bound = fmin(bound_up(sqrt(value2) * sqrt(key2)), bound_up(sum));
    if (head->count * head->width_v * head->width_k <= MOMENT_MOST) {
        bound = fmin(bound, formed_moment(head));
    }
    return bound;
}

RowSum bilinear_row(HeadAt *head, const Radius *r, size_t i)
{
    RowSum row = {0};
    size_t bias = layout_bias_row(r->layout);
    set_seen(head, r, i);
    set_sides(head, r, &row, i);
    size_t heaviest = set_weights(head, r, &row);
    set_distances(head, heaviest);
    row.w = set_pulls(head, heaviest);
    row.moment = moment(head);
    for (size_t n = 0; n < head->count; n++) {
        row.bias_key = head->seen[n].row == bias ? head->seen[n].high : row.bias_key;
    }
    return row;
}
