/*
 * A model evaluated sublayer by sublayer, in the form that was asked for.
 */
#include "kernel.h"

#include "../memory/need.h"
#include "dense.h"
#include "direct.h"
#include "norm.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

struct Kernel {
    const Model *model;
    const Formats *formats;
    Weights *weights;
    KernelForm form;
    double omega;
    size_t layers_done, sublayers_done;
    size_t rows, ld, threads;
    Scalar *stream;  /* [rows, ld]; first of one block of memory that also holds: */
    Scalar *sum;     /* [rows, ld], of a sublayer's heads */
    Scalar *operand; /* [rows, ld], what products read; the stream where that is so */
    Scalar *scratch; /* of the sublayer that needs most */
    double *view;    /* [rows, ld], the stream for whoever asks; the stream where it is doubles */
};

static const Formats formats_of_scalar = {SCALAR_FORMAT, SCALAR_FORMAT, SCALAR_FORMAT,
                                          SCALAR_FORMAT};

/* The form that evaluates a bundle.  Biases ride on position rows and columns: where an original
 * has none, biased heads go through their factors in either form.  So do those with rotary
 * positions, which have no Q: a rewrite of them has no dense form. */
static KernelForm bundle_form(const Layout *layout, const Bundle *bundle, KernelForm form)
{
    bool biased = bundle->score.q_bias != NULL || bundle->score.k_bias != NULL ||
                  bundle->score.rotary != NULL || bundle->value.inner_bias != NULL ||
                  bundle->value.bias != NULL;
    return biased && layout->bias_row == BIAS_ROW_NONE ? KERNEL_STRUCTURED : form;
}

static double bundle_scratch(const Layout *layout, const Bundle *bundle, KernelForm form,
                             size_t threads)
{
    return bundle_form(layout, bundle, form) == KERNEL_DENSE
               ? dense_scratch(layout, bundle, threads)
               : structured_scratch(layout, bundle, threads);
}

static double sublayer_scratch(const Layout *layout, const Sublayer *sublayer, KernelForm form,
                               size_t threads)
{
    double most = 0;
    if (sublayer->bundle_count == 0) {
        return direct_scratch(layout, &sublayer->direct);
    }
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        most = fmax(most, bundle_scratch(layout, &sublayer->bundles[b], form, threads));
    }
    return most;
}

/* An extent or leading dimension that BLAS's int cannot hold. */
static bool too_wide(size_t count, size_t times)
{
    return (double)count * (double)times > INT_MAX;
}

static bool weight_too_wide(HeadWeight weight)
{
    return weight.data != NULL && weight.ld > INT_MAX;
}

static bool sublayer_too_wide(const Sublayer *sublayer)
{
    if (sublayer->bundle_count == 0) {
        return sublayer->direct.kind == DIRECT_FFN && too_wide(sublayer->direct.hidden, 1);
    }
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        const Score *score = &bundle->score;
        const Value *value = &bundle->value;
        if (too_wide(bundle->heads, 1) || too_wide(bundle->heads, score->d_head) ||
            too_wide(bundle->heads, value->d_head) || weight_too_wide(score->gate) ||
            weight_too_wide(score->q) || weight_too_wide(score->k) || weight_too_wide(score->mix) ||
            weight_too_wide(value->v) || weight_too_wide(value->o)) {
            return true;
        }
    }
    return false;
}

/* Does a product read anything but the stream itself? */
static bool has_operand(const Formats *formats, const Model *model)
{
    bool differs = formats->operand != formats->stream;
    for (size_t s = 0; s < model->sublayer_count && !differs; s++) {
        differs = model->sublayers[s].norm.kind != NORMALIZATION_NONE;
    }
    return differs;
}

/* Of stream, sum, operand and scratch in Scalars; infinity when BLAS cannot have the shapes. */
static double kernel_scalars(const Formats *formats, const Model *model, KernelForm form,
                             size_t threads, double *entries)
{
    const Layout *layout = &model->layout;
    double rows = (double)layout->n + (layout->bias_row != BIAS_ROW_NONE);
    double ld = (double)layout->d + (double)layout->hidden;
    if (form == KERNEL_DENSE && layout->bias_row != BIAS_ROW_NONE) {
        ld += layout->bias_row == BIAS_ROW_MASKED ? 1 : rows;
    }
    bool fits = rows <= INT_MAX && ld <= INT_MAX;
    double scratch = 0;
    for (size_t s = 0; fits && s < model->sublayer_count; s++) {
        fits = !sublayer_too_wide(&model->sublayers[s]);
        scratch =
            fits ? fmax(scratch, sublayer_scratch(layout, &model->sublayers[s], form, threads)) : 0;
    }
    Scratch all = {NULL, 0};
    scratch_take(&all, rows, ld);
    scratch_take(&all, rows, ld);
    if (has_operand(formats, model)) {
        scratch_take(&all, rows, ld);
    }
    scratch_take(&all, 1, scratch);
    *entries = rows * ld;
    return fits ? all.taken : INFINITY;
}

double kernel_bytes_in(const Formats *formats, const Model *model, KernelForm form, size_t threads)
{
    double entries, scalars = kernel_scalars(formats, model, form, threads, &entries);
    scalars += weights_count(model, formats);
    return (double)sizeof(Kernel) + (double)sizeof(Scalar) * scalars +
           (SCALAR_IS_DOUBLE ? 0 : entries * sizeof(double));
}

double kernel_bytes(const Model *model, KernelForm form, size_t threads)
{
    return kernel_bytes_in(&formats_of_scalar, model, form, threads);
}

/* The content of row r from given doubles. */
static void store_row(const Kernel *kernel, size_t r, const double *x)
{
    scalar_store(kernel->formats->storage, x, kernel->stream + r * kernel->ld,
                 layout_content(&kernel->model->layout));
}

/* The view shows the stream. */
static void view_update(const Kernel *kernel)
{
    for (size_t e = 0; !SCALAR_IS_DOUBLE && e < kernel->rows * kernel->ld; e++) {
        kernel->view[e] = (double)kernel->stream[e];
    }
}

static void stream_start(Kernel *kernel, const double *x, const double *bias_row_content)
{
    const Layout *layout = &kernel->model->layout;
    size_t content = layout_content(layout), bias = layout_bias_row(layout);
    memset(kernel->stream, 0, kernel->rows * kernel->ld * sizeof *kernel->stream);
    for (size_t i = 0; i < layout->n; i++) {
        store_row(kernel, layout_token_row(layout, i), x + i * content);
    }
    if (bias != SIZE_MAX && bias_row_content != NULL) {
        store_row(kernel, bias, bias_row_content);
    }
    for (size_t r = 0; kernel->ld > content && r < kernel->rows; r++) {
        Scalar *positions = kernel->stream + r * kernel->ld + content;
        positions[layout->bias_row == BIAS_ROW_MASKED ? 0 : r] =
            layout->bias_row == BIAS_ROW_MASKED && r == bias ? 0 : 1;
    }
    view_update(kernel);
}

static Scalar *allocate(double scalars)
{
    double bytes = scalars * (double)sizeof(Scalar);
    void *taken = bytes < (double)(SIZE_MAX / 2) ? aligned_alloc(64, (size_t)bytes) : NULL;
    if (taken == NULL) {
        need_is_short();
    }
    return taken;
}

/* Memory for the parts, and the weights. */
static void kernel_fill(Kernel *kernel, size_t threads)
{
    const Formats *formats = kernel->formats;
    double rows = (double)kernel->rows, ld = (double)kernel->ld, entries;
    double scalars = kernel_scalars(formats, kernel->model, kernel->form, threads, &entries);
    Scratch parts = {allocate(scalars), 0};
    kernel->stream = parts.next;
    scratch_take(&parts, rows, ld);
    kernel->sum = scratch_take(&parts, rows, ld);
    kernel->operand =
        has_operand(formats, kernel->model) ? scratch_take(&parts, rows, ld) : kernel->stream;
    kernel->scratch = parts.next;
    kernel->view = SCALAR_IS_DOUBLE ? (double *)kernel->stream
                                    : need_room((size_t)entries, sizeof *kernel->view);
    kernel->weights = weights_make(kernel->model, formats);
}

Kernel *kernel_open_in(const Formats *formats, const Start *start, KernelForm form, size_t threads)
{
    const Model *model = start->model;
    KERNEL_CHECK(model_fault(model) == NULL);
    KERNEL_CHECK(form == KERNEL_DENSE || form == KERNEL_STRUCTURED);
    KERNEL_CHECK(threads >= 1 && threads <= INT_MAX);
    const Layout *layout = &model->layout;
    Kernel *kernel = need_room(1, sizeof *kernel);
    *kernel = (Kernel){.model = model,
                       .formats = formats,
                       .form = form,
                       .omega = start->omega,
                       .rows = layout_rows(layout),
                       .ld = form == KERNEL_DENSE ? layout_width(layout) : layout_content(layout),
                       .threads = threads};
    kernel_fill(kernel, threads);
    stream_start(kernel, start->x, start->bias_row_content);
    return kernel;
}

Kernel *kernel_open(const Start *start, KernelForm form, size_t threads)
{
    return kernel_open_in(&formats_of_scalar, start, form, threads);
}

void kernel_clear(Kernel *kernel)
{
    if (kernel != NULL) {
        if (!SCALAR_IS_DOUBLE) {
            free(kernel->view);
        }
        weights_clear(kernel->weights);
        free(kernel->stream);
        free(kernel);
    }
}

static Pass pass_make(const Kernel *kernel)
{
    return (Pass){.layout = &kernel->model->layout,
                  .formats = kernel->formats,
                  .weights = kernel->weights,
                  .omega = kernel->omega,
                  .stream = kernel->operand,
                  .sum = kernel->sum,
                  .ld = kernel->ld,
                  .threads = kernel->threads,
                  .scratch = kernel->scratch};
}

/* kernel.operand = the stream, or its norm, as products of the sublayer read it: rounded. */
static void operand_update(const Kernel *kernel, const Sublayer *sublayer)
{
    size_t entries = kernel->rows * kernel->ld;
    if (kernel->operand == kernel->stream) {
        return;
    }
    memcpy(kernel->operand, kernel->stream, entries * sizeof *kernel->stream);
    if (sublayer->norm.kind != NORMALIZATION_NONE) {
        Pass pass = pass_make(kernel);
        norm_rows(kernel->operand, &pass, &sublayer->norm);
    }
    scalar_round(kernel->formats->operand, kernel->operand, entries);
}

/* Adds the sum to the stream. */
static void sum_apply(const Kernel *kernel)
{
    size_t entries = kernel->rows * kernel->ld;
    for (size_t e = 0; e < entries; e++) {
        kernel->stream[e] += kernel->sum[e];
    }
    scalar_round(kernel->formats->stream, kernel->stream, entries);
}

/* What heads beside these add is added before all is rounded; what a network does, behind that. */
static void heads_apply(Kernel *kernel, const Sublayer *sublayer)
{
    Pass pass = pass_make(kernel);
    size_t entries = kernel->rows * kernel->ld;
    bool goes_on = model_goes_on(kernel->model, kernel->sublayers_done);
    if (!sublayer->beside) {
        memset(kernel->sum, 0, entries * sizeof *kernel->sum);
    }
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        if (bundle_form(pass.layout, bundle, kernel->form) == KERNEL_DENSE) {
            dense_bundle(&pass, bundle);
        } else {
            structured_bundle(&pass, bundle);
        }
    }
    if (!goes_on || sublayer[1].bundle_count == 0) {
        scalar_round(kernel->formats->stream, kernel->sum, entries);
    }
    if (!goes_on) {
        sum_apply(kernel);
    }
}

/* T's own operation on the stream; or a network beside its attention, added to what that adds. */
static void operation_apply(Kernel *kernel, const Sublayer *sublayer)
{
    Pass pass = pass_make(kernel);
    direct_apply(sublayer->beside ? kernel->sum : kernel->stream, &pass, sublayer);
    if (sublayer->beside) {
        sum_apply(kernel);
    }
}

KernelStream kernel_layer(Kernel *kernel)
{
    const Model *model = kernel->model;
    KERNEL_CHECK(kernel->layers_done < model->depth);
    size_t end = model->layer_end[kernel->layers_done];
    weights_enter(kernel->weights, model, kernel->layers_done++);
    for (; kernel->sublayers_done < end; kernel->sublayers_done++) {
        const Sublayer *sublayer = &model->sublayers[kernel->sublayers_done];
        operand_update(kernel, sublayer);
        if (sublayer->bundle_count > 0) {
            heads_apply(kernel, sublayer);
        } else {
            operation_apply(kernel, sublayer);
        }
    }
    view_update(kernel);
    return (KernelStream){kernel->view, kernel->ld};
}

void kernel_pattern(Kernel *kernel, Scalar *pattern, size_t bundle, size_t head)
{
    const Model *model = kernel->model;
    KERNEL_CHECK(kernel->sublayers_done < model->sublayer_count);
    const Sublayer *sublayer = &model->sublayers[kernel->sublayers_done];
    KERNEL_CHECK(bundle < sublayer->bundle_count && head < sublayer->bundles[bundle].heads);
    const Bundle *of = &sublayer->bundles[bundle];
    weights_enter(kernel->weights, model, kernel->layers_done);
    operand_update(kernel, sublayer);
    Pass pass = pass_make(kernel);
    if (bundle_form(pass.layout, of, kernel->form) == KERNEL_DENSE) {
        dense_pattern(&pass, pattern, of, head);
    } else {
        structured_pattern(&pass, pattern, of, head);
    }
}

const KernelFunctions kernel_f64 = {
    .open = kernel_open_in,
    .layer = kernel_layer,
    .clear = kernel_clear,
    .norm = kernel_norm,
    .bytes = kernel_bytes_in,
};
