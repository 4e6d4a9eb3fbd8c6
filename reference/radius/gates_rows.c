/*
 * Radii through gated heads, row by row.
 *
 * Of heads side by side, k, with values u_k = x v_k + c_k and z_k = s (x g_k + c_k), and O their
 * second factors: y = (y_k) changes by
 *     dy_k = p_own dx_i.v_k + s B_k dx_i.g_k + sum over the other keys j of p_j dx_j.v_k,
 * so that along a path from the computed stream to the exact one
 *     |dy| <= max_k p_own |V| |dx_i| + |s| max_k |B_k| |G| |dx_i|
 *             + sum over the other keys j of max_k p_j |V| |dx_j|,                             (C9)
 * the maxima over the path too.  Heads that write the columns they read (SiLU) add p_own + s B_k to
 * the derivative of an entry by itself, beside 1 of the stream and other terms (C10).
 */
#include "bounds.h"
#include "gates.h"

#include <float.h>
#include <stdlib.h>

/* Operations that a row of a head costs. */
enum { GATE_OPERATIONS = 100 };

/* A pass over all rows; radii: sums over them. */
typedef struct {
    Gates *gates;
    Pass *pass;
    bool local;
    RowsSum radii[PASS_RADII];
} Rows;

/* The heads' largest of a row: weights of keys, |B|. */
typedef struct {
    double key[GROUPS], b;
} Largest;

static void take_gate(const Rows *rows, Largest *most, const Gate *gate, size_t i, size_t k)
{
    const Gates *gates = rows->gates;
    const Value *value = &gates->bundle->value;
    for (int g = 0; g < GROUPS; g++) {
        most->key[g] = bound_max(most->key[g], gate->most[g]);
    }
    most->b = bound_max(most->b, fabs(gate->b) + gate->b_off);
    if (gates->unit) {
        size_t at = i * gates->r->columns + value->write.first + k;
        double s = fabs(gates->scale),
               off = gate->off + s * gate->b_off + BOUND_DOUBLE * (1 + s * fabs(gate->b));
        rows->pass->diagonal[at] +=
            value->unit * value->scale * (gate->own + gates->scale * gate->b);
        rows->pass->slack[at] += gates->value_scale * gates->o_norm * off;
    }
}

static void put_row(const Rows *rows, const Largest *most, size_t i)
{
    const Gates *gates = rows->gates;
    const Radius *r = gates->r;
    const Value *value = &gates->bundle->value;
    double own = gates->unit ? 0
                             : most->key[SELF] * gates->v_norm +
                                   fabs(gates->scale) * most->b * gates->g_norm;
    for (size_t q = 0; q < rows->pass->count; q++) {
        const RowsSum *radii = &rows->radii[q];
        double change =
            own * banks_in(r, rows->pass->radius[q], value->read, i) +
            gates->v_norm * (most->key[OTHER] * radii->tokens + most->key[BIAS] * radii->bias);
        banks_add(r, rows->pass->out[q], value->write, i,
                  gates->value_scale * gates->o_norm * change);
    }
}

/* Of a row's heads, squares: of what rounding makes of y, of y and of the sizes of values. */
typedef struct {
    double rounding, y, size;
} Squares;

/* Rounding at x^: of z, through B; 28 roundings a term of the mixture and its weight, as many
 * more as there are rows for the sum of other tokens (C11).  What e needs of the row is kept. */
static void take_local(const Gates *gates, Squares *squares, const Gate *gate, const GateRow *row,
                       size_t k)
{
    GatesKept *kept = &gates->kept[row->row];
    double a = (fabs(gate->b) + gate->b_off) * gate->rounding, y = 0, size = 0;
    double z = gates->z[row->row * gates->heads + k];
    for (int g = 0; g < GROUPS; g++) {
        double weight = gate->most[g] * (double)row->groups.count[g];
        a += (28 + (g == OTHER ? (double)gates->r->rows + 2 : 0)) * weight * gate->size[g];
        y += weight * gate->size[g];
        size += row->groups.count[g] > 0 ? gate->size[g] : 0;
    }
    squares->rounding += a * a;
    squares->y += y * y;
    squares->size += size * size;
    kept->rounding = bound_max(kept->rounding, gate->rounding);
    kept->spread = bound_max(kept->spread, gate->spread);
    kept->z_high = bound_max(kept->z_high, z + gate->z_off);
    kept->z_low = bound_max(kept->z_low, gate->z_off - z);
    kept->most = bound_max(kept->most, size);
}

/* ... and a scale, sums of bundles that are alike, and the second factors. */
static void put_local(const Gates *gates, const Squares *squares, size_t i)
{
    Radius *r = gates->r;
    const Value *value = &gates->bundle->value;
    double y = sqrt(squares->y), factor = gates->value_scale;
    gates->kept[i].size = bound_up(sqrt(squares->size));
    banks_add(r, r->local, value->write, i,
              factor * (gates->o_norm * (sqrt(squares->rounding) + (1 + r->alike) * y) +
                        radius_product(gates->heads) * y * gates->o_size));
    banks_add(r, r->size, value->write, i, factor * bound_max(gates->o_norm, gates->o_size) * y);
}

static void pass_row(Worker *worker, const void *context, size_t i)
{
    (void)worker;
    const Rows *rows = context;
    const Gates *gates = rows->gates;
    GateRow row = {0};
    Largest most = {0};
    /* The least normal number is more than all squares that underflow, together. */
    Squares squares = {DBL_MIN, DBL_MIN, DBL_MIN};
    if (rows->local) {
        gates->kept[i] = (GatesKept){.z_high = -INFINITY, .z_low = -INFINITY};
    }
    for (size_t k = 0; k < gates->heads; k++) {
        row = k == 0 || gates->patterns > 1 ? gate_row(gates, rows->pass->at, i, k) : row;
        const Gate gate = gate_of(gates, &row, k);
        take_gate(rows, &most, &gate, i, k);
        if (rows->local) {
            take_local(gates, &squares, &gate, &row, k);
        }
    }
    put_row(rows, &most, i);
    if (rows->local) {
        put_local(gates, &squares, i);
    }
}

void gates_pass(Gates *gates, Pass *pass, bool local)
{
    const Radius *r = gates->r;
    Rows rows = {.gates = gates, .pass = pass, .local = local};
    for (size_t q = 0; q < pass->count; q++) {
        rows.radii[q] = gates_rows_sum(gates, pass->radius[q]);
    }
    evaluator_each(r->ev, r->rows, GATE_OPERATIONS * r->rows * gates->heads, pass_row, &rows);
}
