/*
 * What radii take, before anything is evaluated.
 */
#include "bilinear.h"
#include "internal.h"
#include "jacobian.h"

#include <omp.h>

/* Doubles of a matrix whose spectral norm is asked for: itself, scaled, and two of its smaller
 * side. */
static double norm_doubles(double rows, double columns)
{
    double n = fmin(rows, columns);
    return 2 * rows * columns + 2 * n * n;
}

/* Those of rows' derivatives, a thread each. */
static double matrix_doubles(double columns, double inner)
{
    double threads = omp_get_max_threads();
    return columns > JACOBIAN_COLUMNS ? 0 : threads * columns * (3 * columns + inner);
}

static double gates_doubles(const Bundle *bundle, double rows)
{
    double heads = (double)bundle->heads, read = (double)bundle->score.read.count;
    double write = (double)bundle->value.write.count;
    return 3 * rows * heads + matrix_doubles(read, heads) + 2 * norm_doubles(read, heads) +
           norm_doubles(heads, write) +
           heads * (sizeof(double) * 4 + (double)omp_get_max_threads());
}

static double bilinear_doubles(const Bundle *bundle, double rows)
{
    double k = (double)score_query_width(&bundle->score);
    double v = (double)value_width(&bundle->value), threads = omp_get_max_threads();
    double read = (double)bundle->score.read.count, write = (double)bundle->value.write.count;
    double block = HEAD_ROWS * (3 * rows + k + v + sizeof(RowSum) + sizeof(Keys));
    return 1.5 * rows * rows + rows * (2 * k + v + 12) +
           threads * (block + rows * (k + v + 13) + k * v + norm_doubles(read, fmax(k, v))) +
           9 * (double)bundle->heads +
           norm_doubles((double)bundle->heads * (double)bundle->value.d_head, write);
}

static double bundle_doubles(const Bundle *bundle, double rows)
{
    const Value *value = &bundle->value;
    switch (bundle->score.kind) {
    case SCORE_GATE: return gates_doubles(bundle, rows);
    case SCORE_BILINEAR: return bilinear_doubles(bundle, rows);
    default: return norm_doubles((double)value->read.count, (double)value->write.count);
    }
}

static double direct_doubles(const Direct *direct, double rows)
{
    double read = (double)direct->read.count, write = (double)direct->write.count;
    double hidden = (double)direct->hidden;
    return rows * (hidden + 3) + matrix_doubles(read, hidden) +
           norm_doubles(read, fmax(hidden, write)) + norm_doubles(hidden, write);
}

double radius_bytes(const Model *model)
{
    const Layout *layout = &model->layout;
    double rows = (double)layout_rows(layout), content = (double)layout_content(layout), most = 0;
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        double sum = sublayer->bundle_count == 0 ? direct_doubles(&sublayer->direct, rows) : 0;
        for (size_t b = 0; b < sublayer->bundle_count; b++) {
            double own = bundle_doubles(&sublayer->bundles[b], rows);
            bool alone = sublayer->bundles[b].score.kind == SCORE_GATE; /* gone before the next */
            sum = alone ? fmax(sum, own) : sum + own;
        }
        most = fmax(most, sum);
    }
    return sizeof(double) * (6 * rows * content + 70 * rows + most);
}
