/*
 * A model evaluated in double precision, sublayer by sublayer, in the form that was asked for.
 */
#include "kernel.h"

#include "dense.h"
#include "direct.h"
#include "structured.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

struct Kernel {
    const Model *model;
    KernelForm form;
    double omega;
    size_t layers_done, sublayers_done;
    size_t rows, ld, threads;
    double *stream;  /* [rows, ld]; first of one block of memory that also holds: */
    double *sum;     /* [rows, ld], of a sublayer's heads */
    double *scratch; /* of the sublayer that needs most */
};

/* The form that evaluates a bundle.  Biases ride on position rows and columns: where an original
 * has none, biased heads go through their factors in either form. */
static KernelForm bundle_form(const Layout *layout, const Bundle *bundle, KernelForm form)
{
    bool biased = bundle->score.q_bias != NULL || bundle->score.k_bias != NULL ||
                  bundle->value.inner_bias != NULL || bundle->value.bias != NULL;
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
            weight_too_wide(score->q) || weight_too_wide(score->k) || weight_too_wide(value->v) ||
            weight_too_wide(value->o)) {
            return true;
        }
    }
    return false;
}

/* Doubles of stream, sum and scratch; infinity when BLAS cannot have the shapes. */
static double kernel_doubles(const Model *model, KernelForm form, size_t threads)
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
    scratch_take(&all, 1, scratch);
    return fits ? all.taken : INFINITY;
}

double kernel_bytes(const Model *model, KernelForm form, size_t threads)
{
    return (double)sizeof(Kernel) + (double)sizeof(double) * kernel_doubles(model, form, threads);
}

static void stream_start(Kernel *kernel, const double *x, const double *bias_row_content)
{
    const Layout *layout = &kernel->model->layout;
    size_t content = layout_content(layout), bias = layout_bias_row(layout);
    memset(kernel->stream, 0, kernel->rows * kernel->ld * sizeof *kernel->stream);
    for (size_t i = 0; i < layout->n; i++) {
        memcpy(kernel->stream + layout_token_row(layout, i) * kernel->ld, x + i * content,
               content * sizeof *x);
    }
    if (bias != SIZE_MAX && bias_row_content != NULL) {
        memcpy(kernel->stream + bias * kernel->ld, bias_row_content, content * sizeof *x);
    }
    for (size_t r = 0; kernel->ld > content && r < kernel->rows; r++) {
        double *positions = kernel->stream + r * kernel->ld + content;
        positions[layout->bias_row == BIAS_ROW_MASKED ? 0 : r] =
            layout->bias_row == BIAS_ROW_MASKED && r == bias ? 0.0 : 1.0;
    }
}

static double *allocate(double doubles)
{
    double bytes = doubles * (double)sizeof(double);
    return bytes < (double)(SIZE_MAX / 2) ? aligned_alloc(64, (size_t)bytes) : NULL;
}

Kernel *kernel_open(const Model *model, const double *x, const double *bias_row_content,
                    double omega, KernelForm form, size_t threads)
{
    KERNEL_CHECK(model_fault(model) == NULL);
    KERNEL_CHECK(form == KERNEL_DENSE || form == KERNEL_STRUCTURED);
    KERNEL_CHECK(threads >= 1 && threads <= INT_MAX);
    double doubles = kernel_doubles(model, form, threads);
    Kernel *kernel = malloc(sizeof *kernel);
    double *memory = allocate(doubles);
    if (kernel == NULL || memory == NULL) {
        free(kernel);
        free(memory);
        return NULL;
    }
    const Layout *layout = &model->layout;
    size_t rows = layout_rows(layout);
    size_t ld = form == KERNEL_DENSE ? layout_width(layout) : layout_content(layout);
    Scratch parts = {memory, 0};
    *kernel = (Kernel){
        .model = model, .form = form, .omega = omega, .rows = rows, .ld = ld, .threads = threads};
    kernel->stream = scratch_take(&parts, (double)rows, (double)ld);
    kernel->sum = scratch_take(&parts, (double)rows, (double)ld);
    kernel->scratch = parts.next;
    stream_start(kernel, x, bias_row_content);
    return kernel;
}

void kernel_clear(Kernel *kernel)
{
    if (kernel != NULL) {
        free(kernel->stream);
        free(kernel);
    }
}

static Pass pass_make(const Kernel *kernel)
{
    return (Pass){&kernel->model->layout, kernel->omega,  kernel->stream, kernel->sum, kernel->ld,
                  kernel->threads,        kernel->scratch};
}

static void heads_apply(Kernel *kernel, const Sublayer *sublayer)
{
    Pass pass = pass_make(kernel);
    size_t entries = kernel->rows * kernel->ld;
    memset(kernel->sum, 0, entries * sizeof *kernel->sum);
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        if (bundle_form(pass.layout, bundle, kernel->form) == KERNEL_DENSE) {
            dense_bundle(&pass, bundle);
        } else {
            structured_bundle(&pass, bundle);
        }
    }
    for (size_t e = 0; e < entries; e++) {
        kernel->stream[e] += kernel->sum[e];
    }
}

KernelStream kernel_layer(Kernel *kernel)
{
    const Model *model = kernel->model;
    KERNEL_CHECK(kernel->layers_done < model->depth);
    size_t end = model->layer_end[kernel->layers_done++];
    for (; kernel->sublayers_done < end; kernel->sublayers_done++) {
        const Sublayer *sublayer = &model->sublayers[kernel->sublayers_done];
        if (sublayer->bundle_count > 0) {
            heads_apply(kernel, sublayer);
        } else {
            Pass pass = pass_make(kernel);
            direct_apply(kernel->stream, &pass, &sublayer->direct);
        }
    }
    return (KernelStream){kernel->stream, kernel->ld};
}

double *kernel_state(Kernel *kernel, size_t *count)
{
    *count = kernel->rows * kernel->ld;
    return kernel->stream;
}

void kernel_go_on(Kernel *kernel, size_t layers)
{
    KERNEL_CHECK(layers <= kernel->model->depth);
    kernel->layers_done = layers;
    kernel->sublayers_done = layers > 0 ? kernel->model->layer_end[layers - 1] : 0;
}

void kernel_pattern(Kernel *kernel, double *pattern, size_t bundle, size_t head)
{
    const Model *model = kernel->model;
    KERNEL_CHECK(kernel->sublayers_done < model->sublayer_count);
    const Sublayer *sublayer = &model->sublayers[kernel->sublayers_done];
    KERNEL_CHECK(bundle < sublayer->bundle_count && head < sublayer->bundles[bundle].heads);
    const Bundle *of = &sublayer->bundles[bundle];
    Pass pass = pass_make(kernel);
    if (bundle_form(pass.layout, of, kernel->form) == KERNEL_DENSE) {
        dense_pattern(&pass, pattern, of, head);
    } else {
        structured_pattern(&pass, pattern, of, head);
    }
}
