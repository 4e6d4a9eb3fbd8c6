/*
 * Heads without content scores: every weight is a number, and what they do is linear.
 *
 * Integer diagonals d act beside the stream's own 1, exactly.  With weights w of a row's keys a
 * head's matrix V, and what d lacks where w_self < 1, add at most
 *     |V| (|dx_i| + sum over the other keys of w_j |dx_j|),                                   (C3)
 *     |d| ((1 - w_self) |dx_i| + sum over the other keys of w_j |dx_j|).                       (C4)
 */
#include "internal.h"
#include "bounds.h"
#include "norm.h"

#include <string.h>

static bool is_linear(const Bundle *bundle)
{
    return radius_heads_of(&bundle->score)->effects == NULL;
}

/* The stream's own 1, where it is not kept beside, and the diagonals, which other heads add to. */
static void set_diagonal(const Radius *r, Pass *pass, const Sublayer *sublayer)
{
    memset(pass->slack, 0, r->rows * r->columns * sizeof *pass->slack);
    for (size_t c = 0; c < r->columns; c++) {
        pass->diagonal[c] = radius_keeps(r, c >= r->bank) ? 0 : 1;
    }
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        const Value *value = &bundle->value;
        for (size_t c = 0; is_linear(bundle) && c < value->read.count; c++) {
            pass->diagonal[value->read.first + c] += value->diagonal;
        }
    }
    for (size_t i = 1; i < r->rows; i++) {
        memcpy(pass->diagonal + i * r->columns, pass->diagonal, r->columns * sizeof(double));
    }
}

/* Banks that nothing is left of: -1 of one head on every column, and nothing else (C31). */
static void set_erased(Radius *r, const Sublayer *sublayer)
{
    for (int to = 0; to < BANKS; to++) {
        size_t first = radius_bank(r, to).first, end = first + radius_bank(r, to).count;
        bool all = first < end && !radius_keeps(r, to == BANK_HIDDEN);
        for (size_t c = first; c < end; c++) {
            all = all && r->here.diagonal[c] == 0;
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

/* A head bundle's sizes: |V|_2, |V|_F, |bias|, |diagonal|. */
typedef struct {
    const Bundle *bundle;
    Heads heads;
    double norm, v, bias, diagonal;
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

/* (C3), and (C4): the other keys' radii are at most their largest. */
static void pass_weights(const Radius *r, Pass *pass, const Sizes *s)
{
    const Value *value = &s->bundle->value;
    for (size_t k = 0; k < pass->count; k++) {
        double most = banks_largest(r, pass->radius[k], value->read);
        for (size_t i = 0; i < r->rows; i++) {
            RowGroups groups = groups_of_row(&s->heads, 0, i);
            Weights w = row_weights(r, &groups, pass->at->limit);
            double own = banks_in(r, pass->radius[k], value->read, i), others = w.others * most;
            banks_add(r, pass->out[k], value->write, i, s->norm * (own + others));
            banks_add(r, pass->out[k], value->read, i, s->diagonal * (w.others * own + others));
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
    Sizes s = {bundle, radius_heads(r, bundle), 0, 0, 0, fabs((double)value->diagonal)};
    bool matrices = value->v.data != NULL && value->d_head == 0;
    for (size_t h = 0; matrices && h < bundle->heads; h++) {
        MatrixNorms norms =
            norm_of(r, (NormKey){value->v.data + h * value->v.head_stride, value->read.count,
                                 value->write.count, value->v.ld, .parts = 1});
        s.norm += norms.spectral;
        s.v += norms.frobenius;
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
    set_diagonal(r, &r->here, sublayer);
    if (r->change) {
        set_diagonal(r, &r->there, sublayer);
    }
    set_erased(r, sublayer);
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        if (is_linear(&sublayer->bundles[b])) {
            linear_bundle(r, &sublayer->bundles[b]);
        }
    }
}
