/*
 * The memory that radii take, before anything is evaluated; heads by the kind of their scores.
 */
#include "bilinear.h"
#include "gates.h"
#include "internal.h"
#include "norm.h"

#include <math.h>
#include <omp.h>

/* Those of the norm of a matrix, and of heads' parts of one. */
static double matrix_norm_doubles(double rows, double columns)
{
    return norm_doubles(
        (NormKey){NULL, (size_t)rows, (size_t)columns, (size_t)columns, .parts = 1});
}

static double parts_doubles(const HeadWeight *w, size_t heads, size_t rows, size_t columns,
                            PartsAre are)
{
    return w->data == NULL ? 0
                           : norm_doubles((NormKey){w->data, rows, columns, w->ld, heads,
                                                    w->head_stride, .are = are});
}

/* A copy of a gate's weights that do not lie as they are read. */
static double gate_doubles(const HeadWeight *w, size_t heads, size_t read)
{
    bool lie = w->data == NULL || (w->head_stride == 1 && w->ld == heads);
    return lie ? 0 : (double)read * (double)heads;
}

static RadiusDoubles gates_doubles(const Bundle *bundle, double rows)
{
    const HeadWeight *gate = &bundle->score.gate, *v = &bundle->value.v;
    size_t heads = bundle->heads, read = bundle->score.read.count;
    bool two = gate->data != NULL && gate->data != v->data;
    double norms =
        fmax(parts_doubles(v, heads, read, 1, PARTS_BESIDE),
             parts_doubles(&bundle->value.o, heads, 1, bundle->value.write.count, PARTS_BELOW));
    return (RadiusDoubles){3 * rows * (double)heads + gate_doubles(v, heads, read) +
                               (two ? gate_doubles(gate, heads, read) : 0) + (double)heads * 4,
                           two ? fmax(norms, parts_doubles(gate, heads, read, 1, PARTS_BESIDE))
                               : norms};
}

static RadiusDoubles bilinear_doubles(const Bundle *bundle, double rows)
{
    double k = (double)score_query_width(&bundle->score);
    double v = (double)value_width(&bundle->value), threads = omp_get_max_threads();
    double read = (double)bundle->score.read.count;
    double block = HEAD_ROWS * (2 * rows + v + sizeof(RowSum) + sizeof(Keys));
    return (RadiusDoubles){
        1.5 * rows * rows + rows * (2 * k + v + 12) + k + 9 * (double)bundle->heads +
            threads * (block + rows * (k + v + 13) + k * v + matrix_norm_doubles(read, fmax(k, v))),
        parts_doubles(&bundle->value.o, bundle->heads, bundle->value.d_head,
                      bundle->value.write.count, PARTS_BELOW)};
}

static RadiusDoubles linear_doubles(const Bundle *bundle, double rows)
{
    double read = (double)bundle->value.read.count, write = (double)bundle->value.write.count;
    (void)rows;
    return (RadiusDoubles){0, matrix_norm_doubles(read, write)};
}

const RadiusHeads *radius_heads_of(const Score *score)
{
    static const RadiusHeads kinds[] = {
        [SCORE_NONE] = {linear_doubles, false, NULL},
        [SCORE_GATE] = {gates_doubles, true, radius_gates},
        [SCORE_BILINEAR] = {bilinear_doubles, false, radius_bilinear}};
    return &kinds[score->kind];
}

static RadiusDoubles direct_doubles(const Direct *direct)
{
    double read = (double)direct->read.count, write = (double)direct->write.count;
    double hidden = (double)direct->hidden;
    return (RadiusDoubles){0, fmax(matrix_norm_doubles(read, fmax(hidden, write)),
                                   matrix_norm_doubles(hidden, write))};
}

/* Of a sublayer's heads, which give theirs back before the next ones begin, or do not. */
static RadiusDoubles heads_doubles(const Sublayer *sublayer, double rows)
{
    RadiusDoubles all = {0, 0};
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const RadiusHeads *heads = radius_heads_of(&sublayer->bundles[b].score);
        RadiusDoubles own = heads->doubles(&sublayer->bundles[b], rows);
        all.held = heads->alone ? fmax(all.held, own.held) : all.held + own.held;
        all.norm = fmax(all.norm, own.norm);
    }
    return all;
}

double radius_bytes(double *norm, const Model *model)
{
    const Layout *layout = &model->layout;
    double rows = (double)layout_rows(layout), content = (double)layout_content(layout), most = 0;
    *norm = 0;
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        RadiusDoubles own = sublayer->bundle_count == 0 ? direct_doubles(&sublayer->direct)
                                                        : heads_doubles(sublayer, rows);
        most = fmax(most, own.held);
        *norm = fmax(*norm, sizeof(double) * own.norm);
    }
    return sizeof(double) * (6 * rows * content + 70 * rows + most);
}
