/*
 * Gated heads: their rows at a point, and what they do to the streams beside it.
 */
#include "gates.h"
#include "bounds.h"
#include "gates_change.h"
#include "norm.h"
#include "point.h"

#include "../product/gemm.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define THIRD_DERIVATIVE 0.0963

static double *columns_norms(const double *m, size_t rows, size_t columns, double *most)
{
    double *norm = malloc((columns + 1) * sizeof *norm);
    *most = 0;
    for (size_t c = 0; norm != NULL && c < columns; c++) {
        norm[c] = norm_vector(m + c, rows, columns);
        *most = bound_max(*most, norm[c]);
    }
    return norm;
}

/* The unit vectors' matrix, for gates and values that are columns of the stream. */
static double *identity(size_t n)
{
    double *m = calloc(n * n + 1, sizeof *m);
    for (size_t i = 0; m != NULL && i < n; i++) {
        m[i * n + i] = 1;
    }
    return m;
}

static bool same_weight(const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    bool units = score->gate.data == NULL && value->kind == VALUE_UNIT;
    return score->read.first == value->read.first && score->read.count == value->read.count &&
           (units || (score->gate.data == value->v.data && score->gate.ld == value->v.ld &&
                      score->gate.head_stride == value->v.head_stride));
}

static double absent_most(const double *bias, size_t count)
{
    double most = 0;
    for (size_t k = 0; bias != NULL && k < count; k++) {
        most = bound_max(most, fabs(bias[k]));
    }
    return most;
}

/* The constructions' heads alone: a value of one coordinate, gate and value of the same columns. */
static bool supported(const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    bool unit = value->kind == VALUE_UNIT && score->gate.data == NULL &&
                value->write.first == value->read.first &&
                value->write.count == value->read.count && value->read.count == bundle->heads;
    bool factored = value->kind == VALUE_FACTORED && value->d_head == 1 && score->gate.data != NULL;
    return (unit || factored) && score->read.first == value->read.first &&
           score->read.count == value->read.count && value->bias == NULL && value->diagonal == 0 &&
           score->extra == NULL;
}

static void gates_norms(Gates *gates)
{
    const Value *value = &gates->bundle->value;
    size_t heads = gates->heads, read = gates->read, write = value->write.count;
    bool unit = value->kind == VALUE_UNIT;
    gates->g_norm = unit ? 1 : norm_spectral(gates->g, read, heads, heads);
    gates->v_norm = gates->same ? gates->g_norm : norm_spectral(gates->v, read, heads, heads);
    gates->v_size = norm_frobenius(gates->v, read, heads, heads);
    gates->o_norm = unit ? fabs((double)value->unit) : norm_spectral(gates->o, heads, write, write);
    gates->o_size = unit ? 0 : norm_frobenius(gates->o, heads, write, write);
}

bool gates_open(Gates *gates, const Radius *r, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    size_t heads = bundle->heads, read = score->read.count, all = r->rows * heads + 1;
    bool unit = value->kind == VALUE_UNIT;
    *gates = (Gates){.bundle = bundle, .heads = heads, .read = read};
    if (!supported(bundle)) {
        return false;
    }
    gates->same = same_weight(bundle);
    gates->scale = score->gate_scale * (score->gate.data == NULL ? score->gate_unit : 1);
    gates->value_scale = fabs(value->scale);
    gates->g = unit ? identity(read) : point_beside(&score->gate, heads, read, 1);
    gates->v = unit ? identity(read) : point_beside(&value->v, heads, read, 1);
    gates->o = unit ? NULL : point_below(&value->o, heads, 1, value->write.count);
    double **const rows[] = {&gates->z, &gates->u, &gates->size};
    for (size_t m = 0; m < sizeof rows / sizeof *rows; m++) {
        *rows[m] = malloc(all * sizeof(double));
    }
    gates->sum = malloc((heads + 1) * sizeof *gates->sum);
    gates->size_sum = malloc((heads + 1) * sizeof *gates->size_sum);
    gates->gate = malloc((heads + 1) * sizeof *gates->gate);
    gates->kept = malloc((r->rows + 1) * sizeof *gates->kept);
    if (gates->g == NULL || gates->v == NULL || (gates->o == NULL && !unit) || gates->z == NULL ||
        gates->u == NULL || gates->size == NULL || gates->sum == NULL || gates->size_sum == NULL ||
        gates->gate == NULL || gates->kept == NULL) {
        return false;
    }
    gates->g_column = columns_norms(gates->g, read, heads, &gates->g_most);
    gates->v_column = columns_norms(gates->v, read, heads, &gates->v_most);
    gates->bias_most =
        bound_max(absent_most(score->gate_bias, heads), absent_most(value->inner_bias, heads));
    gates->shift_most = absent_most(score->gate_shift, heads);
    gates_norms(gates);
    return gates->g_column != NULL && gates->v_column != NULL;
}

void gates_clear(Gates *gates)
{
    double *const all[] = {gates->g, gates->v, gates->o,    gates->g_column, gates->v_column,
                           gates->z, gates->u, gates->size, gates->sum,      gates->size_sum};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
    free(gates->gate);
    free(gates->kept);
}

void gates_set(Gates *gates, const Radius *r, const Point *at)
{
    const Score *score = &gates->bundle->score;
    const Value *value = &gates->bundle->value;
    size_t K = gates->heads, D = gates->read, bias = layout_bias_row(r->layout);
    const double *x = at->x + score->read.first;
    double gemm_off = BOUND_DOUBLE * (double)(D + 4) / 16;
    gates->u_off = gates->v_most * (banks_largest(r, at->path, score->read) +
                                    gemm_off * banks_largest(r, at->norm, score->read)) +
                   gemm_off * gates->bias_most;
    gemm(gates->z, K, x, r->columns, false, gates->g, K, false, r->rows, K, D, 0);
    gemm(gates->u, K, x, r->columns, false, gates->v, K, false, r->rows, K, D, 0);
    for (size_t i = 0; i < r->rows; i++) {
        double norm = banks_in(r, at->norm, score->read, i);
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
                radius_product(D) * norm * gates->v_column[k] * (value->kind == VALUE_UNIT ? 0 : 1);
        }
    }
}

/* What is at hand of a row of a head: its groups, weights of Omega, values of the groups' keys
 * (means) and how far they may be off, z and how far that may be. */
typedef struct {
    const RowGroups *groups;
    double decay[GROUPS], u[GROUPS], z, z_off, u_off, sum_off;
} GateRow;

/* P, Q, B and the bounds of gates.h on them. */
static void gate_evaluate(Gate *gate, const GateRow *at)
{
    double total[2] = {0, 0}, mean[2] = {0, 0}, largest = 0;
    for (int g = 0; g < GROUPS; g++) {
        double w = at->groups->count[g] > 0 ? (double)at->groups->count[g] * at->decay[g] : 0;
        total[at->groups->gated[g]] += w;
        mean[at->groups->gated[g]] += w > 0 ? w * at->u[g] : 0;
        largest = w > 0 ? bound_max(largest, gate->size[g]) : largest;
    }
    double a = total[true], b = total[false], odds = a > 0 && b > 0 ? log(a / b) : 0;
    double p = b == 0 ? 1 : a == 0 ? 0 : 1 / (1 + exp(-at->z - odds));
    double q = b == 0 ? 0 : a == 0 ? 1 : 1 / (1 + exp(at->z + odds));
    double away = fabs(at->z + odds) - at->z_off - 1e-9 * (1 + fabs(odds));
    double off = at->u_off + at->sum_off * largest;
    gate->pq = 0;
    gate->z_off = at->z_off;
    if (a > 0 && b > 0) {
        gate->pq = fmin(0.25, fmin(p * q + THIRD_DERIVATIVE * at->z_off + BOUND_DOUBLE,
                                   away > 0 ? exp(-away) * (1 + BOUND_DOUBLE) : 0.25)) +
                   BOUND_TINY;
    }
    double d = (a > 0 ? mean[true] / a : 0) - (b > 0 ? mean[false] / b : 0);
    gate->spread = fabs(d) + 2 * off;
    gate->b = a > 0 && b > 0 ? p * q * d : 0;
    gate->b_off = fmin(THIRD_DERIVATIVE * at->z_off, gate->pq) * gate->spread + 2 * gate->pq * off +
                  fabs(gate->b) * BOUND_DOUBLE;
    gate->off = fmin(1, gate->pq * at->z_off) + BOUND_DOUBLE;
    for (int g = 0; g < GROUPS; g++) {
        double share = at->groups->gated[g] ? (a > 0 ? p / a : 0) : (b > 0 ? q / b : 0);
        gate->key[g] = at->groups->count[g] > 0 ? share * at->decay[g] : 0;
    }
}

/* sum and size_sum += a row's. */
static void add_row(Gates *gates, size_t row)
{
    for (size_t k = 0; k < gates->heads; k++) {
        gates->sum[k] += gates->u[row * gates->heads + k];
        gates->size_sum[k] += gates->size[row * gates->heads + k];
    }
}

/* gates->gate of row i. */
static void set_row(Gates *gates, const Radius *r, const Point *at, const RowGroups *groups,
                    size_t i)
{
    const Score *score = &gates->bundle->score;
    size_t K = gates->heads, bias = layout_bias_row(r->layout);
    double path = banks_in(r, at->path, score->read, i), x = banks_in(r, at->norm, score->read, i);
    double s = fabs(gates->scale), t = gates->shift_most;
    double gemm_off = BOUND_DOUBLE * (double)(gates->read + 4) / 16;
    double others = bound_max(1, (double)groups->count[OTHER]);
    GateRow row = {.groups = groups, .u_off = gates->u_off};
    for (int g = 0; g < GROUPS; g++) {
        int gap = groups->best - groups->coefficient[g];
        row.decay[g] = gap == 0 ? 1 : at->limit ? 0 : r->decay[gap];
    }
    row.sum_off = BOUND_DOUBLE * (1 + (double)r->rows / 16);
    for (size_t k = 0; k < K; k++) {
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
                    BOUND_DOUBLE * (fabs(row.z) + t) + point_rho(r, gate->rounding);
        row.u[SELF] = u;
        row.u[OTHER] = (gates->sum[k] - own) / others;
        row.u[BIAS] = u_bias;
        gate->size[SELF] = size;
        gate->size[OTHER] = (gates->size_sum[k] + own_size) / others;
        gate->size[BIAS] = bias != SIZE_MAX ? gates->size[bias * K + k] : 0;
        gate_evaluate(gate, &row);
    }
}

/* Of each radius that the pass carries: the tokens' sum, the bias row's. */
static void set_radii(Gates *gates, const Radius *r, const Layout *layout, const Pass *pass)
{
    Columns read = gates->bundle->value.read;
    size_t bias = layout_bias_row(layout);
    for (size_t q = 0; q < pass->count; q++) {
        gates->token_radii[q] = 0;
        for (size_t j = 0; j < layout->n; j++) {
            gates->token_radii[q] +=
                banks_in(r, pass->radius[q], read, layout_token_row(layout, j));
        }
        gates->bias_radius[q] = bias < r->rows ? banks_in(r, pass->radius[q], read, bias) : 0;
    }
}

void gates_each(Gates *gates, Radius *r, const Point *at, Pass *pass, GatesRow *row)
{
    const Layout *layout = r->layout;
    const Score *score = &gates->bundle->score;
    size_t bias = layout_bias_row(layout);
    const Heads heads = radius_heads(r, gates->bundle);
    bool earlier = score->visible == VISIBLE_EARLIER;
    set_radii(gates, r, layout, pass);
    memset(gates->sum, 0, gates->heads * sizeof *gates->sum);
    memset(gates->size_sum, 0, gates->heads * sizeof *gates->size_sum);
    for (size_t j = 0; !earlier && j < layout->n; j++) {
        add_row(gates, layout_token_row(layout, j));
    }
    for (size_t i = 0; i < r->rows; i++) {
        RowGroups groups = groups_of_row(&heads, 0, i);
        if (earlier && i != bias) {
            add_row(gates, i);
        }
        set_row(gates, r, at, &groups, i);
        row(gates, r, pass, &groups, i);
    }
}

void radius_gates(Radius *r, const Bundle *bundle)
{
    Gates gates;
    if (!gates_open(&gates, r, bundle)) {
        radius_lose(r);
        gates_clear(&gates);
        return;
    }
    size_t blocks = bundle->heads / heads_block(bundle, r->rows, r->bits);
    r->adds += (double)blocks + 2;
    gates_set(&gates, r, &r->at);
    gates_each(&gates, r, &r->at, &r->here, gates_local_row);
    if (r->change) {
        gates_change(&gates, r);
        gates_set(&gates, r, &r->moved);
        gates_each(&gates, r, &r->moved, &r->there, gates_pass_row);
    }
    gates_clear(&gates);
}
