/*
 * The operations of an original model that are not heads, as a user's program has them.
 */
#include "blas.h"
#include "internal.h"

#include "../cases/fault.h"

#include <string.h>

typedef struct {
    double *hidden; /* [n, hidden] */
    double *result; /* [n, write] */
} Buffers;

static Buffers buffers_take(Scratch *scratch, const Layout *layout, const Direct *direct)
{
    double n = (double)layout->n;
    double hidden = direct->kind == DIRECT_FFN ? (double)direct->hidden : 0;
    double result = direct->kind == DIRECT_ACTIVATION ? 0 : (double)direct->write.count;
    Buffers buffers;
    buffers.hidden = scratch_take(scratch, n, hidden);
    buffers.result = scratch_take(scratch, n, result);
    return buffers;
}

double direct_scratch(const Layout *layout, const Direct *direct)
{
    Scratch scratch = {NULL, 0};
    buffers_take(&scratch, layout, direct);
    return scratch.taken;
}

/* x sigma(x): exp(-x) = infinity gives -0 for very negative x, which is right. */
static double silu(double x)
{
    return x / (1.0 + exp(FAULT("gelu-slope-in-silu", -1.702 * x, -x)));
}

/* A comparison that keeps NaN. */
static double relu(double x)
{
    return x < 0 ? 0 : x;
}

/* x Phi(x): 1 + erf(x / sqrt 2) would cancel for negative x. */
static double gelu(double x)
{
    return x / 2 * erfc(-x / sqrt(2.0));
}

static void activate(double *x, size_t count, Activation activation)
{
    double (*const act)(double) = activation == ACTIVATION_SILU   ? silu
                                  : activation == ACTIVATION_RELU ? relu
                                                                  : gelu;
    for (size_t e = 0; e < count; e++) {
        x[e] = act(x[e]);
    }
}

static void add_bias(double *y, const double *bias, size_t n, size_t width)
{
    for (size_t i = 0; bias != NULL && i < n; i++) {
        for (size_t c = 0; c < width; c++) {
            y[i * width + c] += bias[c];
        }
    }
}

/* y = x w + bias */
static void affine(double *y, const double *x, size_t ld, const double *w, const double *bias,
                   size_t n, size_t from, size_t to)
{
    blas_gemm(y, to, x, ld, w, to, n, to, from, 1.0, 0.0);
    add_bias(y, bias, n, to);
}

static void ffn(double *stream, size_t ld, size_t n, const Direct *direct, Buffers buffers)
{
    size_t hidden = direct->hidden, write = direct->write.count;
    affine(buffers.hidden, stream + direct->read.first, ld, direct->w1, direct->b1, n,
           direct->read.count, hidden);
    activate(buffers.hidden, n * hidden, direct->activation);
    affine(buffers.result, buffers.hidden, hidden, direct->w2, direct->b2, n, hidden, write);
}

static void store(double *stream, size_t ld, size_t n, const Direct *direct, const double *result)
{
    size_t width = direct->write.count;
    for (size_t i = 0; i < n; i++) {
        double *row = stream + i * ld + direct->write.first;
        for (size_t c = 0; c < width; c++) {
            row[c] = direct->kind == DIRECT_LINEAR && direct->replace
                         ? result[i * width + c]
                         : row[c] + result[i * width + c];
        }
    }
}

void direct_apply(double *stream, size_t ld, size_t n, const Direct *direct, double *scratch)
{
    Scratch parts = {scratch, 0};
    Layout tokens = {.n = n};
    Buffers buffers = buffers_take(&parts, &tokens, direct);
    switch (direct->kind) {
    case DIRECT_FFN:
        ffn(stream, ld, n, direct, buffers);
        store(stream, ld, n, direct, buffers.result);
        break;
    case DIRECT_LINEAR:
        affine(buffers.result, stream + direct->read.first, ld, direct->w1, direct->b1, n,
               direct->read.count, direct->write.count);
        store(stream, ld, n, direct, buffers.result);
        for (size_t i = 0; direct->clear && i < n; i++) {
            memset(stream + i * ld + direct->read.first, 0, direct->read.count * sizeof *stream);
        }
        break;
    case DIRECT_ACTIVATION:
        for (size_t i = 0; i < n; i++) {
            activate(stream + i * ld + direct->read.first, direct->read.count, direct->activation);
        }
        break;
    }
}
