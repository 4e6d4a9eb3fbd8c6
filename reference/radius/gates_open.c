/*
 * Gated heads' weights side by side, their norms, and room for their rows.
 */
#include "gates.h"
#include "bounds.h"
#include "norm.h"
#include "point.h"

#include "../../memory/need.h"

#include <stdlib.h>

/* m NULL: unit vectors. */
static double *columns_norms(const double *m, size_t rows, size_t columns, double *most)
{
    double *norm = need_room(columns + 1, sizeof *norm);
    *most = 0;
    for (size_t c = 0; c < columns; c++) {
        norm[c] = m != NULL ? norm_vector(m + c, rows, columns) : 1;
        *most = bound_max(*most, norm[c]);
    }
    return norm;
}

static bool same_weight(const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    return score->read.first == value->read.first && score->read.count == value->read.count &&
           score->gate.data == value->v.data && score->gate.ld == value->v.ld &&
           score->gate.head_stride == value->v.head_stride;
}

static double absent_most(const double *bias, size_t count)
{
    double most = 0;
    for (size_t k = 0; bias != NULL && k < count; k++) {
        most = bound_max(most, fabs(bias[k]));
    }
    return most;
}

bool gates_supported(const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    bool unit = value->unit != 0 && score->gate.data == NULL &&
                value->write.first == value->read.first &&
                value->write.count == value->read.count && value->read.count == bundle->heads;
    bool factored = value->d_head == 1 && score->gate.data != NULL;
    return (unit || factored) && score->read.first == value->read.first &&
           score->read.count == value->read.count && value->bias == NULL && value->diagonal == 0;
}

/* The norms of one matrix: of the second factors, of values, of scores where those are others. */
enum { MATRIX_O, MATRIX_V, MATRIX_G, MATRICES };

/* Of all heads' parts of a matrix: columns side by side, or rows. */
static MatrixNorms weight_norms(const Gates *gates, const HeadWeight *w, size_t count, PartsAre are)
{
    bool beside = are == PARTS_BESIDE;
    return norm_of(gates->r, (NormKey){w->data, beside ? count : 1, beside ? 1 : count, w->ld,
                                       gates->heads, w->head_stride, .are = are});
}

static void matrix_norms(Worker *worker, const void *context, size_t matrix)
{
    (void)worker;
    Gates *gates = *(Gates *const *)context;
    const Value *value = &gates->bundle->value;
    size_t heads = gates->heads, read = gates->read;
    bool unit = gates->unit;
    MatrixNorms norms = {unit ? fabs((double)value->unit) : 1, 0};
    if (matrix == MATRIX_O) {
        bool none = unit || value->o.data == NULL;
        norms = none ? norms : weight_norms(gates, &value->o, value->write.count, PARTS_BELOW);
        gates->o_norm = norms.spectral;
        gates->o_size = norms.frobenius;
    } else if (matrix == MATRIX_V) {
        norms = unit ? (MatrixNorms){1, bound_up(sqrt((double)heads))}
                     : weight_norms(gates, &value->v, read, PARTS_BESIDE);
        gates->v_column = columns_norms(gates->v, read, heads, &gates->v_most);
        gates->v_norm = norms.spectral;
        gates->v_size = norms.frobenius;
    } else {
        norms = weight_norms(gates, &gates->bundle->score.gate, read, PARTS_BESIDE);
        gates->g_column = columns_norms(gates->g, read, heads, &gates->g_most);
        gates->g_norm = norms.spectral;
    }
}

static void all_norms(Gates *gates)
{
    size_t operations = gates->read * gates->heads;
    operations *= gates->read < gates->heads ? gates->read : gates->heads;
    evaluator_each(gates->r->ev, gates->same ? MATRIX_G : MATRICES, operations, matrix_norms,
                   &gates);
    if (gates->same) {
        gates->g_column = gates->v_column;
        gates->g_most = gates->v_most;
        gates->g_norm = gates->v_norm;
    }
}

/* The heads' columns side by side: as they lie, or a copy, which is *own. */
static const double *beside(double **own, const HeadWeight *w, size_t heads, size_t read)
{
    bool lie = w->head_stride == 1 && w->ld == heads;
    *own = lie ? NULL : point_whole(w, heads, read, 1, PARTS_BESIDE);
    return lie ? w->data : *own;
}

void gates_open(Gates *gates, Radius *r, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    size_t heads = bundle->heads, read = score->read.count, all = r->rows * heads + 1;
    bool unit = value->unit != 0;
    *gates = (Gates){.r = r, .bundle = bundle, .heads = heads, .read = read, .unit = unit};
    gates->same = same_weight(bundle);
    gates->scale = score->gate_scale * (score->gate.data == NULL ? score->gate_unit : 1);
    gates->value_scale = fabs(value->scale);
    gates->v = unit ? NULL : beside(&gates->own_v, &value->v, heads, read);
    gates->g = gates->same ? gates->v : beside(&gates->own_g, &score->gate, heads, read);
    double **const rows[] = {&gates->z, &gates->u, &gates->size};
    for (size_t m = 0; m < sizeof rows / sizeof *rows; m++) {
        *rows[m] = need_room(all, sizeof(double));
    }
    gates->most = need_room(heads + 1, sizeof *gates->most);
    gates->patterns = score->extra != NULL ? heads : 1;
    gates->kept = need_room(r->rows + 1, sizeof *gates->kept);
    gates->bias_most =
        bound_max(absent_most(score->gate_bias, heads), absent_most(value->inner_bias, heads));
    gates->shift_most = absent_most(score->gate_shift, heads);
    all_norms(gates);
}

void gates_clear(Gates *gates)
{
    double *const all[] = {gates->own_v, gates->own_g, gates->v_column, gates->z,
                           gates->u,     gates->size,  gates->most};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
    if (!gates->same) {
        free(gates->g_column);
    }
    free(gates->kept);
}
