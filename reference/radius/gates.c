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

/* Operations that a row of a head costs. */
enum { GATE_OPERATIONS = 100 };

/* All rows at a point: z, u and size, or what `row` makes of each for the pass. */
typedef struct {
    Gates *gates;
    const Point *at;
    Pass *pass;
    GatesRow *row;
} Rows;

/* z, u and size of row i, whose products with g and v are in z and u. */
static void set_scores(const Rows *set, size_t i)
{
    const Gates *gates = set->gates;
    const Score *score = &gates->bundle->score;
    const Value *value = &gates->bundle->value;
    size_t K = gates->heads, bias = layout_bias_row(set->gates->r->layout);
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
    const Rows set = {.gates = gates, .at = at};
    evaluator_each(r->ev, row_blocks(r, PRODUCT_ROWS), r->rows * gates->heads * gates->read,
                   set_block, &set);
}

/* A row: its groups, weights of Omega, a and b, ln(a/b), and how far sums may be off; and of a head
 * of it: values of the groups' keys (means) and how far they may be off, z and how far that may
 * be.  Weights, a and b are beside the largest of the gated keys, or of the others: 0 for what the
 * limit leaves out alone, since at Omega a large z may outweigh every gap. */
typedef struct {
    const RowGroups *groups;
    double decay[GROUPS], total[2], odds, sum_off;
    double u[GROUPS], z, z_off, u_off;
} GateRow;

/* P, Q, B and the bounds of gates.h on them. */
static void gate_evaluate(Gate *gate, const GateRow *at)
{
    double mean[2] = {0, 0}, largest = 0;
    for (int g = 0; g < GROUPS; g++) {
        double w = (double)at->groups->count[g] * at->decay[g];
        mean[at->groups->gated[g]] += w > 0 ? w * at->u[g] : 0;
        largest = w > 0 ? bound_max(largest, gate->size[g]) : largest;
    }
    double a = at->total[true], b = at->total[false], t = at->z + at->odds;
    double small = exp(-fabs(t)), less = small / (1 + small), more = 1 / (1 + small);
    double p = b == 0 ? 1 : a == 0 ? 0 : t >= 0 ? more : less;
    double q = b == 0 ? 0 : a == 0 ? 1 : t >= 0 ? less : more;
    double away = fabs(t) - at->z_off - 1e-9 * (1 + fabs(at->odds));
    bool two = a > 0 && b > 0;
    double light = two && away > 0 ? exp(-away) * (1 + BOUND_DOUBLE) + BOUND_TINY : 1;
    double off = at->u_off + at->sum_off * largest;
    gate->pq = 0;
    gate->z_off = at->z_off;
    if (two) {
        double near = p * q + THIRD_DERIVATIVE * at->z_off + BOUND_DOUBLE;
        gate->pq = fmin(0.25, fmin(near, light)) + BOUND_TINY;
    }
    double d = (a > 0 ? mean[true] / a : 0) - (b > 0 ? mean[false] / b : 0);
    gate->spread = fabs(d) + 2 * off;
    gate->b = two ? p * q * d : 0;
    gate->b_off = fmin(THIRD_DERIVATIVE * at->z_off, gate->pq) * gate->spread + 2 * gate->pq * off +
                  fabs(gate->b) * BOUND_DOUBLE;
    gate->off = fmin(1, gate->pq * at->z_off) + BOUND_DOUBLE;
    for (int g = 0; g < GROUPS; g++) {
        bool gated = at->groups->gated[g], there = at->groups->count[g] > 0 && at->decay[g] > 0;
        double key = there ? (gated ? p / a : q / b) * at->decay[g] : 0;
        /* A weight that is 0 as computed counts: z may be off by more than it is large. */
        gate->most[g] = there ? fmin(key + gate->off, gated == (t < 0) ? light : 1) : 0;
        gate->own = g == SELF ? key : gate->own;
    }
}

/* sum and size_sum of some heads += a row's. */
static void add_row(Gates *gates, size_t row, size_t first, size_t end)
{
    for (size_t k = first; k < end; k++) {
        gates->sum[k] += gates->u[row * gates->heads + k];
        gates->size_sum[k] += gates->size[row * gates->heads + k];
    }
}

/* A row as its heads of the same groups share it. */
static GateRow row_of(const Gates *gates, const Point *at, const RowGroups *groups)
{
    GateRow row = {.groups = groups, .u_off = gates->u_off};
    row.sum_off = BOUND_DOUBLE * (1 + (double)gates->r->rows / 16);
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

void gates_set_groups(Gates *gates, size_t i)
{
    const Heads heads = radius_heads(gates->r, gates->bundle);
    for (size_t p = 0; p < gates->patterns; p++) {
        gates->groups[p] = groups_of_row(&heads, p, i);
    }
}

/* gates->gate of row i. */
static void set_row(Gates *gates, const Point *at, size_t i)
{
    const Radius *r = gates->r;
    const Score *score = &gates->bundle->score;
    size_t K = gates->heads, bias = layout_bias_row(r->layout);
    double path = banks_in(r, at->path, score->read, i), x = banks_in(r, at->norm, score->read, i);
    double s = fabs(gates->scale), t = gates->shift_most;
    double gemm_off = BOUND_DOUBLE * (double)(gates->read + 4) / 16;
    GateRow row = {0};
    for (size_t k = 0; k < K; k++) {
        const RowGroups *groups = gates_groups(gates, k);
        row = k == 0 || gates->patterns > 1 ? row_of(gates, at, groups) : row;
        double others = bound_max(1, (double)groups->count[OTHER]);
        Gate *gate = &gates->gate[k];
        double u = gates->u[i * K + k], size = gates->size[i * K + k];
        double u_bias = bias != SIZE_MAX ? gates->u[bias * K + k] : 0;
        double own = i == bias ? 0 : u, own_size = i == bias ? 0 : size;
        row.z = gates->z[i * K + k];
        gate->rounding =
            3 * fabs(row.z) + (t > 0 ? fabs(row.z) + 3 * t : 0) +
            s * ((radius_product(gates->read)) * x * gates->g_column[k] + 2 * gates->bias_most);
        row.z_off = s * (gates->g_column[k] * path +
                         gemm_off * (x * gates->g_column[k] + gates->bias_most)) +
                    BOUND_DOUBLE * (fabs(row.z) + t + fabs(row.odds)) +
                    point_rho(r, gate->rounding);
        row.u[SELF] = u;
        row.u[OTHER] = (gates->sum[k] - own) / others;
        row.u[BIAS] = u_bias;
        gate->size[SELF] = size;
        gate->size[OTHER] = (gates->size_sum[k] + own_size) / others;
        gate->size[BIAS] = bias != SIZE_MAX ? gates->size[bias * K + k] : 0;
        gate_evaluate(gate, &row);
    }
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

/* Heads whose sums are one piece of work. */
enum { SUM_HEADS = 64 };

/* Sums of u and of size, of some heads, over the rows before each block of a pass. */
static void sum_heads(Worker *worker, const void *context, size_t part)
{
    (void)worker;
    const Rows *set = context;
    const Radius *r = set->gates->r;
    const Layout *layout = r->layout;
    Gates gates = *set->gates;
    size_t K = gates.heads, bias = layout_bias_row(layout), first = part * SUM_HEADS;
    size_t end = first + SUM_HEADS < K ? first + SUM_HEADS : K, width = end - first;
    bool earlier = gates.bundle->score.visible == VISIBLE_EARLIER;
    gates.sum = gates.sums;
    gates.size_sum = gates.sums + K;
    memset(gates.sum + first, 0, width * sizeof *gates.sums);
    memset(gates.size_sum + first, 0, width * sizeof *gates.sums);
    for (size_t j = 0; !earlier && j < layout->n; j++) {
        add_row(&gates, layout_token_row(layout, j), first, end);
    }
    for (size_t block = 1; block < row_blocks(r, GATE_ROWS); block++) {
        memcpy(gates.sum + 2 * K + first, gates.sum + first, width * sizeof *gates.sums);
        memcpy(gates.size_sum + 2 * K + first, gates.size_sum + first, width * sizeof *gates.sums);
        gates.sum += 2 * K;
        gates.size_sum += 2 * K;
        RowRange before = row_range(r, GATE_ROWS, block - 1);
        for (size_t i = before.first; earlier && i < before.end; i++) {
            if (i != bias) {
                add_row(&gates, i, first, end);
            }
        }
    }
}

static void each_block(Worker *worker, const void *context, size_t block)
{
    const Rows *rows = context;
    Gates gates = *rows->gates;
    size_t K = gates.heads, bias = layout_bias_row(gates.r->layout);
    gates.sum = gates.sums + 2 * block * K;
    gates.size_sum = gates.sum + K;
    size_t thread = (size_t)(worker - worker->ev->worker);
    gates.gate = gates.gates + thread * K;
    gates.groups = gates.all_groups + thread * gates.patterns;
    RowRange of = row_range(gates.r, GATE_ROWS, block);
    for (size_t i = of.first; i < of.end; i++) {
        gates_set_groups(&gates, i);
        if (gates.bundle->score.visible == VISIBLE_EARLIER && i != bias) {
            add_row(&gates, i, 0, K);
        }
        set_row(&gates, rows->at, i);
        rows->row(&gates, rows->pass, i);
    }
}

void gates_each(Gates *gates, const Point *at, Pass *pass, GatesRow *row)
{
    const Radius *r = gates->r;
    for (size_t q = 0; q < pass->count; q++) {
        gates->radii[q] = gates_rows_sum(gates, pass->radius[q]);
    }
    const Rows rows = {gates, at, pass, row};
    evaluator_each(r->ev, (gates->heads + SUM_HEADS - 1) / SUM_HEADS, 2 * r->rows * gates->heads,
                   sum_heads, &rows);
    evaluator_each(r->ev, row_blocks(r, GATE_ROWS), GATE_OPERATIONS * r->rows * gates->heads,
                   each_block, &rows);
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
    gates_each(&gates, &r->at, &r->here, gates_local_row);
    if (r->change) {
        gates_change(&gates);
    }
    if (r->change && !r->near) {
        gates_set(&gates, &r->moved);
        gates_each(&gates, &r->moved, &r->there, gates_pass_row);
    }
    gates_clear(&gates);
}
