/*
 * Heads without content scores: every weight is a number, and what they do is linear.
 *
 * Where a row has itself alone in A, the stream and its heads together are x -> x L + b, L = I +
 * sum of the V; bank by bank,
 *     |dx'|_b' <= sum over b of |L_bb'|_2 |dx|_b                                               (C3)
 * and for other weights w, with F = |V|_F + |diagonal|, besides
 *     F ((1 - w_self) |dx_i| + sum over the other keys of w_j |dx_j|).                         (C4)
 */
#include "internal.h"
#include "bounds.h"
#include "norm.h"

#include "../../memory/need.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of L from bank to bank, NULL where only a diagonal acts; the diagonal, a column each. */
typedef struct {
    double *block[BANKS][BANKS], *diagonal;
} Map;

static bool is_linear(const Bundle *bundle)
{
    return radius_heads_of(&bundle->score)->effects == NULL;
}

static bool is_matrix(const Value *value)
{
    return value->v.data != NULL && value->d_head == 0;
}

static void map_clear(Map *map)
{
    free(map->diagonal);
    for (int from = 0; from < BANKS; from++) {
        for (int to = 0; to < BANKS; to++) {
            free(map->block[from][to]);
        }
    }
}

/* V of a head that is a matrix. */
static void map_add(const Radius *r, Map *map, const Value *value, size_t h)
{
    for (size_t i = 0; i < value->read.count; i++) {
        size_t row = value->read.first + i;
        int from = row < r->bank ? BANK_CONTENT : BANK_HIDDEN;
        const Columns in = radius_bank(r, from);
        for (size_t c = 0; c < value->write.count; c++) {
            size_t column = value->write.first + c;
            int to = column < r->bank ? BANK_CONTENT : BANK_HIDDEN;
            const Columns out = radius_bank(r, to);
            double **block = &map->block[from][to];
            if (*block == NULL) {
                *block = need_zeros(in.count * out.count + 1, sizeof **block);
            }
            (*block)[(row - in.first) * out.count + column - out.first] +=
                value->v.data[h * value->v.head_stride + i * value->v.ld + c];
        }
    }
}

/* L of the sublayer's linear heads. */
static void map_make(const Radius *r, Map *map, const Sublayer *sublayer)
{
    map->diagonal = need_zeros(r->columns + 1, sizeof *map->diagonal);
    for (size_t c = 0; c < r->columns; c++) {
        map->diagonal[c] = radius_keeps(r, c >= r->bank) ? 0 : 1;
    }
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        const Value *value = &bundle->value;
        for (size_t c = 0; is_linear(bundle) && c < value->read.count; c++) {
            map->diagonal[value->read.first + c] += value->diagonal;
        }
        bool matrix = is_linear(bundle) && is_matrix(value);
        for (size_t h = 0; matrix && h < bundle->heads; h++) {
            map_add(r, map, value, h);
        }
    }
}

/* Banks that nothing is left of: -1 of one head on every column, and nothing else (C31). */
static void set_erased(Radius *r, const Map *map, const Sublayer *sublayer)
{
    for (int to = 0; to < BANKS; to++) {
        bool all = map->block[BANK_CONTENT][to] == NULL && map->block[BANK_HIDDEN][to] == NULL;
        size_t first = radius_bank(r, to).first, end = first + radius_bank(r, to).count;
        all = all && first < end && !radius_keeps(r, to == BANK_HIDDEN);
        for (size_t c = first; c < end; c++) {
            all = all && map->diagonal[c] == 0;
        }
        for (size_t b = 0; b < sublayer->bundle_count; b++) {
            const Value *value = &sublayer->bundles[b].value;
            bool written = radius_touches(r, value->write, to);
            all = all && value->diagonal >= -1 && value->diagonal <= 0 &&
                  !(written && (value_has_bias(value) || value_width(value) > 0));
        }
        r->erased[to] = all;
    }
}

/* The entries of sums are rounded: BOUND_DOUBLE of their size pays for that. */
static double block_norm(const Radius *r, const double *block, size_t rows, size_t columns)
{
    MatrixNorms norms = norm_both(r, block, rows, columns, columns);
    return bound_up(norms.spectral + BOUND_DOUBLE * (1 + norms.frobenius));
}

/* *key = what a block is, where it is one bundle's V and a multiple of I. */
static bool block_key(NormKey *key, const Radius *r, const Map *map, const Sublayer *sublayer,
                      int from, int to)
{
    const Bundle *only = NULL;
    const Columns in = radius_bank(r, from), out = radius_bank(r, to);
    size_t bundles = 0;
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        bool dense = is_linear(bundle) && is_matrix(&bundle->value);
        only = dense ? bundle : only;
        bundles += dense;
    }
    if (bundles != 1 || only->value.read.first != in.first || only->value.read.count != in.count ||
        only->value.write.first != out.first || only->value.write.count != out.count) {
        return false;
    }
    const Value *value = &only->value;
    double diagonal = from == to ? map->diagonal[in.first] : 0;
    *key = (NormKey){value->v.data,    value->read.count,    value->write.count,
                     value->v.ld,      .parts = only->heads, .stride = value->v.head_stride,
                     .are = PARTS_SUM, .diagonal = diagonal, .coarse = r->ev->coarse};
    for (size_t c = 0; from == to && c < value->read.count; c++) {
        if (map->diagonal[in.first + c] != diagonal) {
            return false;
        }
    }
    return true;
}

/* |L_bb'|, and where a bank has a block of its own the diagonal goes into it. */
static void map_norms(const Radius *r, Map *map, const Sublayer *sublayer,
                      double norm[BANKS][BANKS])
{
    for (int from = 0; from < BANKS; from++) {
        for (int to = 0; to < BANKS; to++) {
            double *block = map->block[from][to];
            const Columns in = radius_bank(r, from), out = radius_bank(r, to);
            NormKey key;
            MatrixNorms kept = {0, 0};
            norm[from][to] = 0;
            if (block == NULL) {
                continue;
            }
            bool has_key = block_key(&key, r, map, sublayer, from, to);
            for (size_t c = 0; from == to && c < out.count; c++) {
                block[c * out.count + c] += map->diagonal[in.first + c];
                map->diagonal[in.first + c] = 0;
            }
            bool known = has_key && norm_table_find(&kept, r->ev->norms, &key);
            norm[from][to] = known ? kept.spectral : block_norm(r, block, in.count, out.count);
            if (has_key && !known) {
                norm_table_keep(r->ev->norms, &key, &(MatrixNorms){norm[from][to], INFINITY});
            }
        }
    }
}

/* (C3), and the diagonals that other heads add to. */
static void pass_map(const Radius *r, Pass *pass, const Map *map, double norm[BANKS][BANKS])
{
    for (size_t i = 0; i < r->rows; i++) {
        memcpy(pass->diagonal + i * r->columns, map->diagonal, r->columns * sizeof(double));
        memset(pass->slack + i * r->columns, 0, r->columns * sizeof(double));
        for (size_t k = 0; k < pass->count; k++) {
            for (int from = 0; from < BANKS; from++) {
                for (int to = 0; to < BANKS; to++) {
                    pass->out[k][i].bank[to] += norm[from][to] * pass->radius[k][i].bank[from];
                }
            }
        }
    }
}

/* A head bundle's sizes: |V|_F, |bias|, |diagonal|. */
typedef struct {
    const Bundle *bundle;
    Heads heads;
    double v, bias, diagonal;
} Sizes;

/* Weights of the keys of a row in a pass: own; all others together, at most. */
typedef struct {
    double own, others;
    bool alone;
} Weights;

static Weights row_weights(const Radius *r, const RowGroups *groups, bool limit)
{
    double total = 0, own = 0;
    bool alone = true;
    for (int g = 0; g < GROUPS; g++) {
        if (groups->count[g] > 0) { /* the coefficient of an empty group may be above the best */
            int gap = groups->best - groups->coefficient[g];
            double w = gap == 0 ? 1 : limit ? 0 : r->decay[gap];
            total += (double)groups->count[g] * w;
            own = g == SELF ? w : own;
            alone = alone && (g == SELF || w == 0);
        }
    }
    return (Weights){own / total, alone ? 0 : bound_up((total - own) / total + BOUND_DOUBLE),
                     alone};
}

/* (C4): the other keys' radii are at most their largest. */
static void pass_weights(const Radius *r, Pass *pass, const Sizes *s)
{
    const Value *value = &s->bundle->value;
    for (size_t k = 0; k < pass->count; k++) {
        double most = banks_largest(r, pass->radius[k], value->read);
        for (size_t i = 0; i < r->rows; i++) {
            RowGroups groups = groups_of_row(&s->heads, 0, i);
            Weights w = row_weights(r, &groups, pass->at->limit);
            double f = s->v * w.others * (banks_in(r, pass->radius[k], value->read, i) + most);
            double d =
                s->diagonal * w.others * (banks_in(r, pass->radius[k], value->read, i) + most);
            banks_add(r, pass->out[k], value->write, i, f);
            banks_add(r, pass->out[k], value->read, i, d);
        }
    }
}

/* Rounding of the head's part at x^: the product, at most 24 roundings of the mixture, and, beside
 * other keys, as many as there are rows in their sum (C6). */
static void linear_local(Radius *r, const Sizes *s)
{
    const Value *value = &s->bundle->value;
    double product = radius_product(value->read.count) + 28;
    double most = banks_largest(r, r->at.norm, value->read);
    for (size_t i = 0; i < r->rows; i++) {
        RowGroups groups = groups_of_row(&s->heads, 0, i);
        Weights w = row_weights(r, &groups, r->at.limit);
        double x = banks_in(r, r->at.norm, value->read, i);
        double rows = w.alone ? 0 : (double)r->rows + 4, others = w.others * most;
        double size = s->v * (x + others) + s->bias, d = s->diagonal * (x + others);
        banks_add(r, r->local, value->write, i, (product + rows) * size);
        banks_add(r, r->local, value->read, i, (product + rows) * d);
        banks_add(r, r->size, value->write, i, size);
        banks_add(r, r->size, value->read, i, d);
    }
}

/* The weight of all keys outside A together, in units of e: e^(-Omega gap) a key over |A| (C7). */
static double row_leak(const Radius *r, const RowGroups *groups)
{
    double leak = 0;
    for (int g = 0; g < GROUPS; g++) {
        int gap = groups->best - groups->coefficient[g];
        leak +=
            groups->count[g] > 0 && gap > 0 ? (double)groups->count[g] * bound_leak(r, gap, 0) : 0;
    }
    return leak;
}

/* e: what is linear in e, and what leaks; the latter's derivatives are `cross` (C8). */
static void linear_change(Radius *r, const Sizes *s)
{
    const Value *value = &s->bundle->value;
    double product = radius_product(value->read.count) + 28, rows = (double)r->rows + 4;
    double x = bound_max(banks_largest(r, r->at.norm, value->read),
                         banks_largest(r, r->moved.norm, value->read));
    double e_most = banks_largest(r, r->e, value->read);
    double rho = banks_largest(r, r->apart, value->read);
    for (size_t i = 0; i < r->rows; i++) {
        RowGroups groups = groups_of_row(&s->heads, 0, i);
        Weights w = row_weights(r, &groups, true);
        double leak = row_leak(r, &groups);
        double e = banks_in(r, r->e, value->read, i) + w.others * e_most;
        double size = s->v * e + 2 * leak * (s->v * x + s->bias);
        double d = s->diagonal * (e + 2 * leak * x);
        double c = product + rows * (w.alone ? 0 : 1);
        double local = c * s->v * e + 2 * leak * (product + rows) * (s->v * x + s->bias);
        banks_add(r, r->local_e, value->write, i, local);
        banks_add(r, r->local_e, value->read, i,
                  s->diagonal * (c * e + 2 * leak * (product + rows) * x));
        banks_add(r, r->size_e, value->write, i, size);
        banks_add(r, r->size_e, value->read, i, d);
        banks_add(r, r->cross, value->write, i, 2 * leak * s->v * rho);
        banks_add(r, r->cross, value->read, i, 2 * leak * s->diagonal * rho);
    }
}

static void linear_bundle(Radius *r, const Bundle *bundle)
{
    const Value *value = &bundle->value;
    Sizes s = {bundle, radius_heads(r, bundle), 0, 0, fabs((double)value->diagonal)};
    for (size_t h = 0; is_matrix(value) && h < bundle->heads; h++) {
        s.v += norm_frobenius(value->v.data + h * value->v.head_stride, value->read.count,
                              value->write.count, value->v.ld);
    }
    if (value->bias != NULL) {
        s.bias = norm_vector(value->bias, value->write.count, 1);
    }
    s.bias = bound_max(s.bias, fabs(value->bias_row) * sqrt((double)value->write.count));
    if (value->unit != 0 || value->d_head > 0 ||
        (bundle->heads > 1 && bundle->score.extra != NULL)) {
        radius_lose(r); /* no construction has such heads */
        return;
    }
    r->adds += (double)bundle->heads + 2;
    pass_weights(r, &r->here, &s);
    linear_local(r, &s);
    if (r->change) {
        pass_weights(r, &r->there, &s);
        linear_change(r, &s);
    }
}

void radius_linear(Radius *r, const Sublayer *sublayer)
{
    Map map = {0};
    double norm[BANKS][BANKS];
    map_make(r, &map, sublayer);
    set_erased(r, &map, sublayer);
    map_norms(r, &map, sublayer, norm);
    pass_map(r, &r->here, &map, norm);
    if (r->change) {
        pass_map(r, &r->there, &map, norm);
    }
    map_clear(&map);
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        if (is_linear(&sublayer->bundles[b])) {
            linear_bundle(r, &sublayer->bundles[b]);
        }
    }
}
