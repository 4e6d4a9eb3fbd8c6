/*
 * The radius of the difference e that gated heads carry, from rounding and the stream's radius.
 *
 * With theta >= |ds_k| for all heads of a row, since PQ <= 1/4,
 *     |dp u'|_2 <= theta |u'|/4   and   <= 2 |u'|                                             (C12)
 * over the heads; every weight of a key outside A is r <= e^(-Omega gap + content - A's largest)
 * (C13); errors of dp, p du and r (u' - y') are relative to these.  The derivatives of T' at x + e
 * less those of T_infinity at x, times rho (C14): |d(PQ)| <= 0.0963 theta, |dp| <= theta / 4, and r
 * times all that a derivative is made of.
 */
#include "bounds.h"
#include "gates.h"

#define THIRD_DERIVATIVE 0.0963

/* All keys outside A of a row together, at most, in units of e; moved: by how much a gate changes
 * (C13). */
static double row_leak(const Radius *r, const RowGroups *groups, const GatesKept *kept,
                       double moved)
{
    bool has[2] = {false, false};
    double leak = 0;
    for (int g = 0; g < GROUPS; g++) {
        has[groups->gated[g]] |= groups_in_limit(groups, g);
    }
    for (int g = 0; g < GROUPS; g++) {
        int gap = groups->best - groups->coefficient[g];
        if (groups->count[g] > 0 && gap > 0) {
            double above = (groups->gated[g] ? kept->z_high : kept->z_low) + moved;
            bool beside = has[groups->gated[g]]; /* a key of A scores as much */
            double key = bound_leak(r, gap, beside ? 0 : above);
            leak += (double)groups->count[g] * key;
        }
    }
    return leak;
}

/* Of |e| and of rho. */
typedef struct {
    RowsSum e, rho;
} Others;

/* A row's own, and what of the others is in A. */
typedef struct {
    double e, rho, e_others, rho_others, theta, leak, moved;
    bool tokens;
} ChangeRow;

/* Of all heads at once, the most of each: what one has in A another may leave out. */
static ChangeRow change_row(const Gates *gates, const Others *others, size_t i)
{
    const Radius *r = gates->r;
    const Heads heads = radius_heads(r, gates->bundle);
    Columns read = gates->bundle->value.read;
    ChangeRow row = {.e = banks_in(r, r->e, read, i), .rho = banks_in(r, r->apart, read, i)};
    bool bias = false;
    row.theta = fabs(gates->scale) * gates->g_most * row.e;
    for (size_t p = 0; p < gates->patterns; p++) {
        const RowGroups groups = groups_of_row(&heads, p, i);
        row.tokens = row.tokens || groups_in_limit(&groups, OTHER);
        bias = bias || groups_in_limit(&groups, BIAS);
        row.leak =
            bound_max(row.leak, row_leak(r, &groups, &gates->kept[i], point_e(r, row.theta)));
    }
    row.e_others = (row.tokens ? others->e.tokens : 0) + (bias ? others->e.bias : 0);
    row.rho_others = (row.tokens ? others->rho.tokens : 0) + (bias ? others->rho.bias : 0);
    row.moved = point_e(r, row.e + others->e.tokens + others->e.bias);
    return row;
}

static void local_change(Gates *gates, const ChangeRow *row, size_t i)
{
    Radius *r = gates->r;
    const Value *value = &gates->bundle->value;
    const GatesKept *kept = &gates->kept[i];
    double du = gates->v_norm * row->moved, size = kept->size + du, theta = point_e(r, row->theta);
    double product = radius_product(gates->read), rows = (double)r->rows + 2;
    double shifted = row->theta * size / 4;
    double moved = fmin(shifted, bound_scaled(2 * size, -r->unit));
    double carried = gates->v_norm * (row->e + row->e_others);
    double leaked = 2 * row->leak * size;
    double sum = row->tokens ? rows : 0, known = 60 + kept->rounding + theta;
    double off = (product + 4) * shifted + (known + sum) * moved +
                 product * gates->v_size * (row->e + row->e_others) + (2 * known + sum) * carried +
                 (2 * known + rows) * leaked;
    double change = moved + carried + leaked, factor = gates->value_scale;
    off *= bound_linear(r, known + (product + 4) * theta);
    banks_add(r, r->local_e, value->write, i,
              factor * (gates->o_norm * (off + (1 + r->alike) * change) +
                        radius_product(gates->heads) * change * gates->o_size));
    banks_add(r, r->size_e, value->write, i,
              factor * bound_max(gates->o_norm, gates->o_size) * change);
}

static void cross_change(Gates *gates, const Others *others, const ChangeRow *row, size_t i)
{
    const GatesKept *kept = &gates->kept[i];
    double s = fabs(gates->scale), p = row->theta / 4;
    double du = gates->v_most * (row->e + row->e_others);
    double b = THIRD_DERIVATIVE * row->theta * kept->spread + du / 4;
    double most = kept->most + gates->v_most * row->moved;
    double own = p * gates->v_norm + s * b * gates->g_norm;
    double cross = own * row->rho + p * gates->v_norm * row->rho_others;
    double all = row->rho + others->rho.tokens + others->rho.bias;
    cross += row->leak * ((2 * s * most * gates->g_norm) * row->rho +
                          gates->v_norm * (1 + s * most) * all + s * most * gates->g_norm * all);
    banks_add(gates->r, gates->r->cross, gates->bundle->value.write, i,
              gates->value_scale * gates->o_norm * cross);
}

void gates_change(Gates *gates)
{
    const Radius *r = gates->r;
    const Others others = {gates_rows_sum(gates, r->e), gates_rows_sum(gates, r->apart)};
    for (size_t i = 0; i < r->rows; i++) {
        ChangeRow row = change_row(gates, &others, i);
        local_change(gates, &row, i);
        cross_change(gates, &others, &row, i);
    }
}
