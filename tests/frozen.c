/*
 * A model of heads with its attention patterns held fixed.
 */
#include "frozen.h"

#include "../kernels/kernel.h"
#include "unit.h"

#include <stdlib.h>

static Rat weight(HeadWeight w, size_t head, size_t rows, size_t columns)
{
    assert_non_null(w.data);
    return rat_of(w.data + head * w.head_stride, rows, columns, w.ld);
}

/* Times an exact double. */
static Rat times(Rat a, double factor)
{
    Rat diagonal = rat_zero(a.columns, a.columns);
    Rat entry = rat_of(&factor, 1, 1, 1);
    for (size_t c = 0; c < a.columns; c++) {
        rat_put(diagonal, c, c, entry);
    }
    return rat_mul(a, diagonal);
}

static Rat block(const Value *value, size_t head)
{
    size_t read = value->read.count, write = value->write.count;
    if (value->d_head == 0 && value->v.data != NULL) {
        return weight(value->v, head, read, write);
    }
    if (value->d_head > 0) {
        Rat v = weight(value->v, head, read, value->d_head);
        return times(rat_mul(v, weight(value->o, head, value->d_head, write)), value->scale);
    }
    Rat unit = rat_zero(read, write);
    if (value->unit != 0) {
        double entry = value->unit * value->scale;
        rat_put(unit, head, head, rat_of(&entry, 1, 1, 1));
    }
    return unit;
}

/* V of one head, exactly: factors multiplied, diagonals added; a bias ends the test. */
static Rat head_value(const Layout *layout, const Bundle *bundle, size_t head)
{
    const Value *value = &bundle->value;
    size_t content = layout_content(layout);
    Rat v = rat_zero(content, content);
    assert_true(value->bias == NULL && value->inner_bias == NULL);
    rat_put(v, value->read.first, value->write.first, block(value, head));
    if (value->diagonal != 0) {
        Rat diagonal = rat_zero(content, content);
        rat_put(diagonal, value->read.first, value->read.first,
                rat_scale(rat_identity(value->read.count), value->diagonal, 1));
        v = rat_add(v, diagonal);
    }
    return v;
}

static void freeze(FrozenSublayer *frozen, Kernel *kernel, const Layout *layout,
                   const Sublayer *sublayer)
{
    size_t rows = layout_rows(layout);
    double *pattern = malloc(rows * rows * sizeof *pattern);
    assert_non_null(pattern);
    assert_true(sublayer->bundle_count > 0);
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        for (size_t h = 0; h < sublayer->bundles[b].heads; h++) {
            assert_true(frozen->heads < FROZEN_HEADS);
            kernel_pattern(kernel, pattern, b, h);
            frozen->pattern[frozen->heads] = rat_of(pattern, rows, rows, rows);
            frozen->value[frozen->heads] = head_value(layout, &sublayer->bundles[b], h);
            frozen->heads++;
        }
    }
    free(pattern);
}

Frozen frozen_make(const Model *model, const double *x, double omega)
{
    const Layout *layout = &model->layout;
    size_t ends[FROZEN_SUBLAYERS], content = layout_content(layout), rows = layout_rows(layout);
    Frozen frozen = {.sublayers = model->sublayer_count};
    Model steps = *model; /* a sublayer a layer */
    assert_true(frozen.sublayers <= FROZEN_SUBLAYERS);
    for (size_t s = 0; s < frozen.sublayers; s++) {
        ends[s] = s + 1;
    }
    steps.layer_end = ends;
    steps.depth = steps.sublayer_count;
    Kernel *kernel = kernel_open(&(Start){&steps, x, NULL, omega}, KERNEL_STRUCTURED, 1);
    assert_non_null(kernel);
    frozen.start = rat_zero(rows, content);
    rat_put(frozen.start, layout_token_row(layout, 0), 0, rat_of(x, layout->n, content, content));
    for (size_t s = 0; s < frozen.sublayers; s++) {
        freeze(&frozen.sublayer[s], kernel, layout, &model->sublayers[s]);
        KernelStream stream = kernel_layer(kernel);
        frozen.end = rat_of(stream.data, rows, content, stream.ld);
    }
    kernel_clear(kernel);
    return frozen;
}

Rat frozen_apply(const Frozen *frozen, Rat x)
{
    for (size_t s = 0; s < frozen->sublayers; s++) {
        const FrozenSublayer *sublayer = &frozen->sublayer[s];
        Rat sum = x;
        for (size_t h = 0; h < sublayer->heads; h++) {
            sum = rat_add(sum, rat_mul(rat_mul(sublayer->pattern[h], x), sublayer->value[h]));
        }
        x = sum;
    }
    return x;
}
