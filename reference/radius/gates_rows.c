/*
 * Radii through gated heads, row by row.
 *
 * Of heads side by side, k, with values u_k = x v_k + c_k and z_k = s (x g_k + c_k), and O their
 * second factors: y = (y_k) changes by
 *     dy_k = p_own dx_i.v_k + s B_k dx_i.g_k + sum over the other keys j of p_j dx_j.v_k,
 * so that along a path from the computed stream to the exact one
 *     |dy| <= max_k |p_own + s B_k| |V| |dx_i| + sum over j of max_k p_j |V| |dx_j|           (C9)
 * where g = v, else max_k p_own |V| |dx_i| + |s| max_k |B_k| |G| |dx_i| + the same; the maxima over
 * the path too.  Heads that write the columns they read (SiLU) add p_own + s B_k to the derivative
 * of an entry by itself, beside 1 of the stream and other terms (C10).
 */
#include "bounds.h"
#include "gates.h"

#include <float.h>
#include <stdlib.h>

void gates_pass_row(const Gates *gates, Pass *pass, size_t i)
{
    const Radius *r = gates->r;
    const Value *value = &gates->bundle->value;
    double s = fabs(gates->scale), own = 0, key = 0, b = 0, other = 0, bias = 0;
    double factor = gates->value_scale * gates->o_norm;
    for (size_t k = 0; k < gates->heads; k++) {
        const Gate *gate = &gates->gate[k];
        double off = gate->off + s * gate->b_off + BOUND_DOUBLE * (1 + s * fabs(gate->b));
        double joint = gate->own + gates->scale * gate->b;
        own = bound_max(own, fabs(joint) + off);
        key = bound_max(key, gate->most[SELF]);
        b = bound_max(b, fabs(gate->b) + gate->b_off);
        other = bound_max(other, gate->most[OTHER]);
        bias = bound_max(bias, gate->most[BIAS]);
        if (gates->unit) {
            size_t at = i * r->columns + value->write.first + k;
            pass->diagonal[at] += value->unit * value->scale * joint;
            pass->slack[at] += factor * off;
        }
    }
    double joint = gates->same ? own * gates->v_norm : key * gates->v_norm + s * b * gates->g_norm;
    for (size_t q = 0; q < pass->count; q++) {
        double mine = banks_in(r, pass->radius[q], value->read, i);
        double change =
            (gates->unit ? 0 : joint * mine) +
            gates->v_norm * (other * gates->radii[q].tokens + bias * gates->radii[q].bias);
        banks_add(r, pass->out[q], value->write, i, factor * change);
    }
}

/* Rounding at x^: of z, through B; 28 roundings a term of the mixture and its weight, as many
 * more as there are rows for the sum of other tokens; a scale, sums of bundles that are alike, and
 * the second factors (C11).  What e needs of the row is kept. */
void gates_local_row(const Gates *gates, Pass *pass, size_t i)
{
    Radius *r = gates->r;
    const Value *value = &gates->bundle->value;
    /* The least normal number is more than all squares that underflow, together. */
    double a2 = DBL_MIN, y2 = a2, sharp2 = a2, size2 = a2;
    GatesKept *kept = &gates->kept[i];
    *kept = (GatesKept){.z_high = -INFINITY, .z_low = -INFINITY};
    gates_pass_row(gates, pass, i);
    for (size_t k = 0; k < gates->heads; k++) {
        const Gate *gate = &gates->gate[k];
        const RowGroups *groups = gates_groups(gates, k);
        double a = (fabs(gate->b) + gate->b_off) * gate->rounding, y = 0, size = 0;
        for (int g = 0; g < GROUPS; g++) {
            double weight = gate->most[g] * (double)groups->count[g];
            a += (28 + (g == OTHER ? (double)r->rows + 2 : 0)) * weight * gate->size[g];
            y += weight * gate->size[g];
            size += groups->count[g] > 0 ? gate->size[g] : 0;
        }
        a2 += a * a;
        y2 += y * y;
        sharp2 += gate->pq * size * gate->pq * size;
        size2 += size * size;
        kept->rounding = bound_max(kept->rounding, gate->rounding);
        kept->spread = bound_max(kept->spread, gate->spread);
        double z = gates->z[i * gates->heads + k];
        kept->z_high = bound_max(kept->z_high, z + gate->z_off);
        kept->z_low = bound_max(kept->z_low, gate->z_off - z);
        kept->most = bound_max(kept->most, size);
    }
    kept->sharp = bound_up(sqrt(sharp2));
    kept->size = bound_up(sqrt(size2));
    double y = sqrt(y2), factor = gates->value_scale;
    double product = radius_product(gates->heads);
    banks_add(r, r->local, value->write, i,
              factor *
                  (gates->o_norm * (sqrt(a2) + (1 + r->alike) * y) + product * y * gates->o_size));
    banks_add(r, r->size, value->write, i, factor * bound_max(gates->o_norm, gates->o_size) * y);
}
