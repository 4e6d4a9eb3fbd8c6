/*
 * The radius of the difference e, from rounding and the stream's radius, that a head with bilinear
 * scores carries.
 *
 * With theta >= |ds_j| for the row's keys, d_j = n_V |e_j| >= |du_j| and V_j >= |u'_j|:
 *     |dp_j| <= p_j mu,  mu = min(8, 4 theta e^(2 theta)),   p'_j <= p_j e^(2 theta) and <= 1 (C24)
 *     r_j <= e^(-Omega gap_j) e^(s_j - largest s of A + 2 theta)                              (C25)
 * and what is computed is off by roundings of these (C26).  rho: the derivatives at x + e in T'
 * less those at x in T_infinity, where theta <= 1/4 (C27); else both are bounded by themselves.
 */
#include "bilinear.h"
#include "bounds.h"
#include "norm.h"
#include "vectors.h"

#include "../../memory/need.h"

#include <stdlib.h>

/* The largest theta that the difference of derivatives is bounded for. */
#define NEAR 0.25

/* Beyond this, e^z is out of range: nothing is known. */
#define MOST_EXPONENT 600

/* Of a row: theta and mu in units of e, theta and e^(2 theta) as doubles; e of the query, the
 * largest of a key; what a rounding does to ds. */
typedef struct {
    double theta, mu, plain, grown, q, k_most, off;
    double k_all, lambda, rough; /* the largest key of all, and rounding of scores: of A's, and of
                                    the others', of which mixed heads have fewer bits */
} Change;

HeadReads head_reads(const HeadAt *head, const Banks *banks)
{
    const Radius *r = head->r;
    const Bundle *bundle = head->bundle;
    const Columns query = score_query_columns(&bundle->score);
    double *room = need_room(3 * r->rows + 1, sizeof *room);
    const HeadReads rows = {room, room + r->rows, room + 2 * r->rows};
    for (size_t j = 0; j < r->rows; j++) {
        rows.query[j] = banks_in(r, banks, query, j);
        rows.key[j] = banks_in(r, banks, bundle->score.read, j);
        rows.value[j] = banks_in(r, banks, bundle->value.read, j);
    }
    return rows;
}

void head_reads_clear(HeadReads *rows)
{
    free(rows->query);
}

void head_change_open(HeadChange *change, const HeadAt *head)
{
    const Radius *r = head->r;
    size_t n = r->rows;
    *change = (HeadChange){head_reads(head, r->e), need_room(n + 1, sizeof *change->moved), 0};
    for (size_t j = 0; j < n; j++) {
        change->moved[j] = head->values.norm[j] + point_e(r, head->v.norm * change->e.value[j]);
        change->most = bound_max(change->most, change->moved[j]);
    }
}

void head_change_clear(HeadChange *change)
{
    head_reads_clear(&change->e);
    free(change->moved);
}

static Change change_of(const HeadChange *of, const HeadBlock *block, size_t i)
{
    const HeadAt *head = block->head;
    const Radius *r = head->r;
    const Sides *keys = &head->keys;
    const int *gap = head->gap + i * r->rows;
    Change d = {0};
    for (size_t j = 0; j < r->rows; j++) {
        block->visible[j] = gap[j] != KEY_UNSEEN;
    }
    double e = of->e.query[i], most = vectors()->largest(block->visible, of->e.key, r->rows);
    double k_rounding = vectors()->largest(block->visible, keys->rounding, r->rows);
    double product = radius_product(head->read), k_size = head->k.size * most;
    d.k_most = head->k.norm * most;
    d.k_all = vectors()->largest(block->visible, keys->norm, r->rows);
    d.q = head->q.norm * e;
    double q = head->queries.norm[i] + point_e(r, d.q), k = d.k_all;
    d.theta = bound_up(q * d.k_most + d.q * k);
    d.plain = point_e(r, d.theta);
    d.grown = 2 * d.plain < MOST_EXPONENT ? exp(2 * d.plain) : INFINITY;
    d.mu = bound_up(fmin(4 * d.theta * d.grown, bound_scaled(8, -r->unit)));
    /* One product of twice the width: less than two. */
    d.off = bound_up((16 + 2 * radius_product(head->width_k)) * d.theta +
                     product * (q * k_size + head->q.size * e * k) +
                     head->queries.rounding[i] * d.k_most + k_rounding * d.q);
    d.k_all += point_e(r, d.k_most);
    d.lambda = (16 + radius_product(head->width_k) + 2 * (double)head->width_k) * q * d.k_all +
               head->queries.rounding[i] * d.k_all + q * k_rounding;
    d.rough = d.lambda + head_rough(head, q * d.k_all);
    return d;
}

/* r_j of a key outside A, in units of e (C25). */
static double leak_of(const RowKeys *of, const Change *d, size_t i, size_t j)
{
    const HeadAt *head = of->head;
    const Radius *r = head->r;
    double s = head->score[i * r->rows + j], k = head->keys.norm[j], top = of->sum->top;
    double off = of->sum->theta + d->plain + head->queries.norm[i] * k * gemm_off(head->width_k) +
                 point_rho(r, d->rough) + head->queries.off[i] * k +
                 head->queries.norm[i] * head->keys.off[j];
    double above = s - top + 2 * off + BOUND_DOUBLE * (fabs(s) + fabs(top));
    return bound_leak(r, head->gap[i * r->rows + j], above);
}

/* Sums over a row's keys; leak: of what is outside A, whose values are leak_value at most. */
typedef struct {
    double weight, value, value_rounding, pull, pull_key, e_value, e_key, e_rounding, k_change;
    double leak, leak_value;
} Sums;

static Sums sums_of(const HeadChange *of, const HeadBlock *block, const RowKeys *row,
                    const Change *d, size_t i)
{
    const HeadAt *head = row->head;
    const int *gap = head->gap + i * head->r->rows;
    size_t first = row->keys->first, count = row->keys->count;
    double *p = block->grown, *part = block->part, V = head->v.norm;
    double product = radius_product(head->bundle->value.read.count);
    for (size_t j = 0; j < count; j++) {
        double grown = row->high[j] * d->grown;
        p[j] = row->high[j] == 0 ? 0 : grown < 1 ? grown : 1;
    }
    Sums s = {.weight = vectors()->sum(p, count),
              .value = vectors()->dot(p, of->moved + first, count),
              .value_rounding = vectors()->dot(p, row->v.rounding, count),
              .k_change = vectors()->dot(p, row->k.norm, count),
              .leak_value = of->most};
    for (size_t j = 0; j < head->r->rows; j++) {
        s.leak += gap[j] > 0 ? leak_of(row, d, i, j) : 0;
    }
    vectors()->multiply(part, p, row->value, count);
    s.pull = vectors()->sum(part, count);
    s.pull_key = vectors()->dot(part, row->k.norm, count);
    vectors()->multiply(part, p, of->e.value + first, count);
    double change = vectors()->sum(part, count);
    s.e_value = V * change;
    s.e_key = V * vectors()->dot(part, row->k.norm, count);
    s.e_rounding = (4 * V + product * head->v.size) * change;
    return s;
}

/* (C26): dp and its roundings, du, the leaks. */
static double local_change(const Radius *r, const Change *d, const Sums *s, double *size)
{
    double rows = (double)r->rows, known = 3 * rows + 60 + 4 * d->lambda + 2 * d->plain;
    double product = radius_product(r->rows), rough = known + 4 * (d->rough - d->lambda);
    double change = d->mu * s->value + s->e_value;
    double off = d->mu * ((known + product) * s->value + s->value_rounding) +
                 4 * d->off * s->value + (2 * known + product) * s->e_value + s->e_rounding;
    *size = change + 2 * s->leak * s->leak_value;
    return off * bound_linear(r, known + point_e(r, d->off)) +
           s->leak * 4 * rough * s->leak_value * bound_linear(r, rough + point_e(r, d->off));
}

/* (C27) */
static double cross_change(const HeadAt *head, const Change *d, const Sums *s, size_t i)
{
    const Radius *r = head->r;
    Columns read = head->bundle->score.read;
    Columns query = score_query_columns(&head->bundle->score);
    double rho = banks_in(r, r->apart, query, i), most = banks_largest(r, r->apart, read);
    double q = head->queries.norm[i] + point_e(r, d->q), k = d->k_all;
    double kappa = 2 * d->theta * d->grown, dy = s->e_value + kappa * s->pull;
    double moved = s->e_value + dy * s->weight, pull = s->pull + point_e(r, moved);
    double moment = kappa * s->pull_key + s->e_key + dy * s->k_change + d->k_most * pull;
    double keys = kappa * s->pull * q + moved * q + pull * d->q;
    double values = kappa * s->weight * head->v.norm;
    double cross = moment * head->q.norm * rho + keys * head->k.norm * most + values * most;
    double score = head->q.norm * k * rho + q * head->k.norm * most;
    return cross +
           s->leak * (4 * s->leak_value * score + head->v.norm * 2 * most +
                      2 * s->leak_value * score * s->weight + head->v.norm * s->weight * most);
}

void head_change_row(const HeadChange *of, const HeadBlock *block, const RowKeys *row, size_t i)
{
    const HeadAt *head = row->head;
    const Value *value = &head->bundle->value;
    Radius *r = head->r;
    HeadSums *sums = &head->sums[i];
    bool factored = head->outer.factored;
    Change d = change_of(of, block, i);
    Sums s = sums_of(of, block, row, &d, i);
    double leak = s.leak, size;
    double local = local_change(r, &d, &s, &size), cross = cross_change(head, &d, &s, i);
    head_add(factored, &sums->local_e, bound_up(local));
    head_add(factored, &sums->size_e, bound_up(size));
    head_add(factored, &sums->cross, bound_up(cross));
    if (value->bias != NULL && head->head == 0) {
        double bias = norm_vector(value->bias, value->write.count, 1),
               known = 3 * (double)r->rows + 80;
        known = (known + 4 * d.rough + radius_product(r->rows)) * bound_linear(r, 4 * d.rough);
        bool both = row->sum->bias_key > 0 && row->keys->seen > 1; /* no construction has it */
        banks_add(r, r->local_e, value->write, i,
                  bias * ((d.mu * known + 4 * d.off) * s.weight + 2 * leak * 2 * known));
        banks_add(r, r->size_e, value->write, i, bias * (d.mu * s.weight + 2 * leak));
        banks_add(r, r->cross, value->write, i,
                  both ? INFINITY
                       : bias * 4 * leak *
                             (head->q.norm * d.k_all +
                              (head->queries.norm[i] + point_e(r, d.q)) * head->k.norm) *
                             banks_largest(r, r->apart, head->bundle->score.read));
    }
    sums->far = sums->far || !(d.plain <= NEAR);
}
