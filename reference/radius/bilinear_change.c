/*
 * What rounding, and the stream's radius, do to the difference e that a head with bilinear scores
 * carries.
 *
 * With theta >= |ds_j| for the row's keys, d_j = n_V |e_j| >= |du_j| and V_j >= |u'_j|:
 *     |dp_j| <= p_j mu,  mu = min(8, 4 theta e^(2 theta)),   p'_j <= p_j e^(2 theta) and <= 1 (C24)
 *     r_j <= e^(-Omega gap_j) e^(s_j - largest s of A + 2 theta)                              (C25)
 * and what is computed is off by roundings of these (C26).  rho: the derivatives at x + e in T'
 * less those at x in T_infinity, where theta <= 1/4 (C27); else both are bounded by themselves.
 */
#include "bilinear_change.h"
#include "bilinear.h"
#include "bilinear_row.h"
#include "bounds.h"
#include "norm.h"

#include <stdint.h>

/* The largest theta that the difference of derivatives is bounded for. */
#define NEAR 0.25

/* Beyond this, e^z is out of range: nothing is known. */
#define MOST_EXPONENT 600

/* Of a row: theta and mu in units of e, theta and e^(2 theta) as doubles; e of the query, the
 * largest of a key; what a rounding does to ds. */
typedef struct {
    double theta, mu, plain, grown, q, k_most, off;
    double k_all, lambda; /* the largest key of those outside A too; rounding of their scores */
} Change;

static Change change_of(const HeadAt *head, const Radius *r, size_t i)
{
    Columns read = head->bundle->score.read;
    Change d = {0};
    double product = radius_product(head->read), e = banks_in(r, r->e, read, i), k_size = 0,
           k_rounding = 0;
    for (size_t j = 0; j < r->rows; j++) {
        if (head->gap[j] != KEY_UNSEEN) {
            double key = banks_in(r, r->e, read, j);
            d.k_most = bound_max(d.k_most, head->k.norm * key);
            k_size = bound_max(k_size, head->k.size * key);
            d.k_all = bound_max(d.k_all, head->keys[j].norm);
            k_rounding = bound_max(k_rounding, head->keys[j].rounding);
        }
    }
    d.q = head->q.norm * e;
    double q = head->queries[i].norm + point_e(r, d.q), k = d.k_all;
    d.theta = bound_up(q * d.k_most + d.q * k);
    d.plain = point_e(r, d.theta);
    d.grown = 2 * d.plain < MOST_EXPONENT ? exp(2 * d.plain) : INFINITY;
    d.mu = bound_up(fmin(4 * d.theta * d.grown, bound_scaled(8, -r->unit)));
    /* One product of twice the width: less than two. */
    d.off = bound_up((16 + 2 * radius_product(head->width_k)) * d.theta +
                     product * (q * k_size + head->q.size * e * k) +
                     head->queries[i].rounding * d.k_most + k_rounding * d.q);
    d.k_all += point_e(r, d.k_most);
    d.lambda = (16 + radius_product(head->width_k) + 2 * (double)head->width_k) * q * d.k_all +
               head->queries[i].rounding * d.k_all + q * k_rounding;
    return d;
}

/* The largest score of the keys of A, at a point of the limit. */
static double top_score(const HeadAt *head)
{
    double top = -INFINITY;
    for (size_t n = 0; n < head->count; n++) {
        top = fmax(top, head->seen[n].score);
    }
    return top;
}

/* r_j of a key outside A, in units of e (C25). */
static double leak_of(const HeadAt *head, const Radius *r, const RowSum *row, const Change *d,
                      size_t i, size_t j, int gap, double top)
{
    double s = head->score[i * r->rows + j], k = head->keys[j].norm;
    double off = row->theta + d->plain + head->queries[i].norm * k * gemm_off(head->width_k) +
                 point_rho(r, d->lambda) + head->queries[i].off * k +
                 head->queries[i].norm * head->keys[j].off;
    double above = s - top + 2 * off + BOUND_DOUBLE * (fabs(s) + fabs(top));
    return bound_leak(r, gap, above);
}

/* Sums over a row's keys. */
typedef struct {
    double weight, value, value_rounding, pull, pull_key, e_value, e_key, e_rounding, k_change;
} Sums;

static Sums sums_of(const HeadAt *head, const Radius *r, const Change *d)
{
    const Bundle *bundle = head->bundle;
    Columns read = bundle->value.read;
    double product = radius_product(bundle->value.read.count);
    Sums s = {0};
    for (size_t n = 0; n < head->count; n++) {
        const Key *key = &head->seen[n];
        double p = fmin(1, key->high * d->grown), e = banks_in(r, r->e, read, key->row);
        double value = head->values[key->row].norm + point_e(r, head->v.norm * e);
        s.weight += p;
        s.value += p * value;
        s.value_rounding += p * head->values[key->row].rounding;
        s.pull += p * key->value;
        s.pull_key += p * key->value * key->key;
        s.e_value += p * head->v.norm * e;
        s.e_key += p * head->v.norm * e * key->key;
        s.e_rounding += p * (4 * head->v.norm + product * head->v.size) * e;
        s.k_change += p * key->key;
    }
    return s;
}

/* (C26): dp and its roundings, du, the leaks. */
static double local_change(const Radius *r, const Change *d, const Sums *s, double leak,
                           double leak_value, double *size)
{
    double rows = (double)r->rows, known = 3 * rows + 60 + 4 * d->lambda + 2 * d->plain;
    double product = radius_product(r->rows);
    double change = d->mu * s->value + s->e_value;
    double off = d->mu * ((known + product) * s->value + s->value_rounding) +
                 4 * d->off * s->value + (2 * known + product) * s->e_value + s->e_rounding +
                 leak * 4 * known * leak_value;
    *size = change + 2 * leak * leak_value;
    return off * bound_linear(r, known + point_e(r, d->off));
}

/* (C27) */
static double cross_change(const HeadAt *head, const Radius *r, const Change *d, const Sums *s,
                           double leak, double leak_value, size_t i)
{
    Columns read = head->bundle->score.read;
    double rho = banks_in(r, r->rho, read, i), most = banks_largest(r, r->rho, read);
    double q = head->queries[i].norm + point_e(r, d->q), k = d->k_all;
    double kappa = 2 * d->theta * d->grown, dy = s->e_value + kappa * s->pull;
    double moved = s->e_value + dy * s->weight, pull = s->pull + point_e(r, moved);
    double moment = kappa * s->pull_key + s->e_key + dy * s->k_change + d->k_most * pull;
    double keys = kappa * s->pull * q + moved * q + pull * d->q;
    double values = kappa * s->weight * head->v.norm;
    double cross = moment * head->q.norm * rho + keys * head->k.norm * most + values * most;
    double score = head->q.norm * k * rho + q * head->k.norm * most;
    cross += leak * (4 * leak_value * score + head->v.norm * 2 * most +
                     2 * leak_value * score * s->weight + head->v.norm * s->weight * most);
    return cross;
}

bool bilinear_change(HeadAt *head, Radius *r, HeadSums *sums, const RowSum *row, size_t i)
{
    const Value *value = &head->bundle->value;
    bool factored = value->kind == VALUE_FACTORED;
    Change d = change_of(head, r, i);
    Sums s = sums_of(head, r, &d);
    double top = top_score(head), leak = 0, leak_value = 0, size;
    for (size_t j = 0; j < r->rows; j++) {
        int gap = head->gap[j];
        leak += gap > 0 ? leak_of(head, r, row, &d, i, j, gap, top) : 0;
        leak_value =
            bound_max(leak_value, head->values[j].norm +
                                      point_e(r, head->v.norm * banks_in(r, r->e, value->read, j)));
    }
    double local = local_change(r, &d, &s, leak, leak_value, &size);
    double cross = cross_change(head, r, &d, &s, leak, leak_value, i);
    sums->local_e[i] = head_add(factored, sums->local_e[i], bound_up(local));
    sums->size_e[i] = head_add(factored, sums->size_e[i], bound_up(size));
    sums->cross[i] = head_add(factored, sums->cross[i], bound_up(cross));
    if (value->bias != NULL && head->head == 0) {
        double bias = norm_vector(value->bias, value->write.count, 1),
               known = 3 * (double)r->rows + 80;
        known = (known + 4 * d.lambda + radius_product(r->rows)) * bound_linear(r, 4 * d.lambda);
        bool both = row->bias_key > 0 && head->count > 1; /* no construction has it */
        banks_add(r, r->local_e, value->write, i,
                  bias * ((d.mu * known + 4 * d.off) * s.weight + 2 * leak * 2 * known));
        banks_add(r, r->size_e, value->write, i, bias * (d.mu * s.weight + 2 * leak));
        banks_add(r, r->cross, value->write, i,
                  both ? INFINITY
                       : bias * 4 * leak *
                             (head->q.norm * d.k_all +
                              (head->queries[i].norm + point_e(r, d.q)) * head->k.norm) *
                             banks_largest(r, r->rho, head->bundle->score.read));
    }
    return d.plain <= NEAR;
}
