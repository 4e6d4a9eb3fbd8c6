/*
 * Gated heads: their rows at a point, and what they do to the streams beside it.
 */
#include "gates.h"
#include "bounds.h"
#include "point.h"

#include "../product/gemm.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define THIRD_DERIVATIVE 0.0963

/* All rows at a point. */
typedef struct {
    Gates *gates;
    const Point *at;
} Rows;

/* z, u and size of row i, whose products with g and v are in z and u. */
static void set_scores(const Rows *set, size_t i)
{
    const Gates *gates = set->gates;
    const Score *score = &gates->bundle->score;
    const Value *value = &gates->bundle->value;
    size_t K = gates->heads, bias = layout_bias_row(gates->r->layout);
    double norm = banks_in(gates->r, set->at->norm, score->read, i);
    for (size_t k = 0; k < K; k++) {
        double *z = &gates->z[i * K + k], *u = &gates->u[i * K + k];
        double factor = score->gate.data == NULL ? score->gate_unit : 1;
        double c = score->gate_bias != NULL && i != bias ? score->gate_bias[k] : 0;
        double b = value->inner_bias != NULL && i != bias ? value->inner_bias[k] : 0;
        double t = score->gate_shift != NULL && i != bias ? score->gate_shift[k] : 0;
        *z = score->gate_scale * (factor * *z + c) + t;
        *u += b;
        gates->size[i * K + k] =
            fabs(*u) + fabs(b) +
            radius_product(gates->read) * norm * gates->v_column[k] * (gates->unit ? 0 : 1);
    }
}

static void set_block(Worker *worker, const void *context, size_t block)
{
    (void)worker;
    const Rows *set = context;
    const Gates *gates = set->gates;
    size_t K = gates->heads, D = gates->read, columns = set->gates->r->columns;
    RowRange rows = row_range(gates->r, PRODUCT_ROWS, block);
    size_t count = rows.end - rows.first;
    const double *x = set->at->x + rows.first * columns + gates->bundle->score.read.first;
    double *z = gates->z + rows.first * K, *u = gates->u + rows.first * K;
    if (gates->unit) {
        for (size_t i = 0; i < count; i++) {
            memcpy(u + i * K, x + i * columns, K * sizeof *u);
        }
    } else {
        gemm(u, K, gemm_plain(x, columns), gemm_plain(gates->v, K), (GemmExtents){count, K, D}, 0);
    }
    if (gates->same) {
        memcpy(z, u, count * K * sizeof *z);
    } else {
        gemm(z, K, gemm_plain(x, columns), gemm_plain(gates->g, K), (GemmExtents){count, K, D}, 0);
    }
    for (size_t i = rows.first; i < rows.end; i++) {
        set_scores(set, i);
    }
}

void gates_set(Gates *gates, const Point *at)
{
    const Radius *r = gates->r;
    Columns read = gates->bundle->score.read;
    double gemm_off = BOUND_DOUBLE * (double)(gates->read + 4) / 16;
    gates->u_off = gates->v_most * (banks_largest(r, at->path, read) +
                                    gemm_off * banks_largest(r, at->norm, read)) +
                   gemm_off * gates->bias_most;
    const Rows set = {gates, at};
    evaluator_each(r->ev, row_blocks(r, PRODUCT_ROWS), r->rows * gates->heads * gates->read,
                   set_block, &set);
    memset(gates->most, 0, gates->heads * sizeof *gates->most);
    for (size_t i = 0; i < r->rows; i++) {
        for (size_t k = 0; k < gates->heads; k++) {
            gates->most[k] = bound_max(gates->most[k], gates->size[i * gates->heads + k]);
        }
    }
}

/* Of a head of a row: values of the groups' keys (means) and how far they may be off; z. */
typedef struct {
    double u[GROUPS], u_off, z;
} Values;

/* P, Q, B and the bounds of gates.h on them. */
static void gate_evaluate(Gate *gate, const GateRow *row, const Values *at)
{
    double mean[2] = {0, 0}, largest = 0;
    for (int g = 0; g < GROUPS; g++) {
        double w = (double)row->groups.count[g] * row->decay[g];
        mean[row->groups.gated[g]] += w > 0 ? w * at->u[g] : 0;
        largest = w > 0 ? bound_max(largest, gate->size[g]) : largest;
    }
    double a = row->total[true], b = row->total[false], t = at->z + row->odds;
    double small = exp(-fabs(t)), less = small / (1 + small), more = 1 / (1 + small);
    double p = b == 0 ? 1 : a == 0 ? 0 : t >= 0 ? more : less;
    double q = b == 0 ? 0 : a == 0 ? 1 : t >= 0 ? less : more;
    double away = fabs(t) - gate->z_off - 1e-9 * (1 + fabs(row->odds));
    bool two = a > 0 && b > 0;
    double light = two && away > 0 ? exp(-away) * (1 + BOUND_DOUBLE) + BOUND_TINY : 1;
    double off = at->u_off + 2 * BOUND_DOUBLE * largest, pq = two ? fmin(0.25, light) : 0;
    double d = (a > 0 ? mean[true] / a : 0) - (b > 0 ? mean[false] / b : 0);
    gate->spread = fabs(d) + 2 * off;
    gate->b = two ? p * q * d : 0;
    gate->b_off = fmin(THIRD_DERIVATIVE * gate->z_off, pq) * gate->spread + 2 * pq * off +
                  fabs(gate->b) * BOUND_DOUBLE;
    gate->off = fmin(1, pq * gate->z_off) + BOUND_DOUBLE;
    for (int g = 0; g < GROUPS; g++) {
        bool gated = row->groups.gated[g], there = row->groups.count[g] > 0 && row->decay[g] > 0;
        double key = there ? (gated ? p / a : q / b) * row->decay[g] : 0;
        /* A weight that is 0 as computed counts: z may be off by more than it is large. */
        gate->most[g] = there ? fmin(key + gate->off, gated == (t < 0) ? light : 1) : 0;
        gate->own = g == SELF ? key : gate->own;
    }
}

GateRow gate_row(const Gates *gates, const Point *at, size_t i, size_t k)
{
    const Heads heads = radius_heads(gates->r, gates->bundle);
    GateRow row = {.at = at, .row = i, .groups = groups_of_row(&heads, k, i)};
    const RowGroups *groups = &row.groups;
    double omega = gates->r->ev->omega;
    bool none = at->limit || isinf(omega);
    int least[2] = {none ? 0 : INT_MAX, none ? 0 : INT_MAX};
    for (int g = 0; g < GROUPS; g++) {
        int gap = groups->best - groups->coefficient[g], *own = &least[groups->gated[g]];
        *own = groups->count[g] > 0 && gap < *own ? gap : *own;
    }
    for (int g = 0; g < GROUPS; g++) {
        int gap = groups->best - groups->coefficient[g], own = least[groups->gated[g]];
        if (groups->count[g] > 0) {
            row.decay[g] = gap == own ? 1 : none ? 0 : gates->r->decay[gap - own];
            row.total[groups->gated[g]] += (double)groups->count[g] * row.decay[g];
        }
    }
    double a = row.total[true], b = row.total[false];
    int apart = least[false] - least[true];
    row.odds = a > 0 && b > 0 ? log(a / b) + (apart != 0 ? omega * apart : 0) : 0;
    return row;
}

Gate gate_of(const Gates *gates, const GateRow *row, size_t k)
{
    const Radius *r = gates->r;
    const RowGroups *groups = &row->groups;
    Columns read = gates->bundle->score.read;
    size_t i = row->row, own = i * gates->heads + k, bias = layout_bias_row(r->layout),
           of_bias = bias != SIZE_MAX ? bias * gates->heads + k : own;
    double path = banks_in(r, row->at->path, read, i), x = banks_in(r, row->at->norm, read, i);
    double s = fabs(gates->scale), t = gates->shift_most, column = gates->g_column[k];
    double gemm_off = BOUND_DOUBLE * (double)(gates->read + 4) / 16;
    /* The other tokens' mean is 0 but for the largest value. */
    double tokens = (double)groups->count[OTHER] * row->decay[OTHER];
    const Values values = {.u = {gates->u[own], 0, gates->u[of_bias]},
                           .u_off = gates->u_off +
                                    (tokens > 0 ? tokens / row->total[true] * gates->most[k] : 0),
                           .z = gates->z[own]};
    Gate gate = {.size = {gates->size[own], gates->most[k], gates->size[of_bias]}};
    gate.rounding = 3 * fabs(values.z) + (t > 0 ? fabs(values.z) + 3 * t : 0) +
                    s * (radius_product(gates->read) * x * column + 2 * gates->bias_most);
    gate.z_off = s * (column * path + gemm_off * (x * column + gates->bias_most)) +
                 BOUND_DOUBLE * (fabs(values.z) + t + fabs(row->odds)) +
                 point_rho(r, gate.rounding);
    gate_evaluate(&gate, row, &values);
    return gate;
}

RowsSum gates_rows_sum(const Gates *gates, const Banks *banks)
{
    const Radius *r = gates->r;
    Columns read = gates->bundle->value.read;
    size_t bias = layout_bias_row(r->layout);
    RowsSum sum = {0, bias < r->rows ? banks_in(r, banks, read, bias) : 0};
    for (size_t j = 0; j < r->layout->n; j++) {
        sum.tokens += banks_in(r, banks, read, layout_token_row(r->layout, j));
    }
    return sum;
}

void radius_gates(Radius *r, const Bundle *bundle)
{
    Gates gates;
    if (!gates_supported(bundle)) {
        radius_lose(r);
        return;
    }
    gates_open(&gates, r, bundle);
    size_t blocks = bundle->heads / heads_block(bundle, r->rows, r->ev->bits);
    r->adds += (double)blocks + 2;
    gates_set(&gates, &r->at);
    gates_pass(&gates, &r->here, true);
    if (r->change) {
        gates_change(&gates);
    }
    if (r->change && !r->near) {
        gates_set(&gates, &r->moved);
        gates_pass(&gates, &r->there, false);
    }
    gates_clear(&gates);
}
