/*
 * The operations of an original model that are not heads, as a user's program has them.
 */
#include "direct.h"

#include "each.h"
#include "rows.h"
#include "softmax.h"

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
    return x / (1.0 + exp(-x));
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

/* Rows of a matrix whose columns are activated, a row an item. */
typedef struct {
    double *x;
    size_t ld, columns;
    Activation activation;
} Activated;

static void activate_row(const void *context, size_t item, size_t thread)
{
    const Activated *rows = context;
    (void)thread;
    activate(rows->x + item * rows->ld, rows->columns, rows->activation);
}

/* y = x w + bias */
static void affine(double *y, const double *x, size_t ld, const double *w, const double *bias,
                   Extents size, size_t threads)
{
    Rows to = {y, NULL, size.width};
    rows_multiply(to, (ConstRows){x, NULL, ld}, (HeadWeight){w, size.width, 0}, size, 1.0, 0.0,
                  threads);
    rows_add_to_tokens(to, bias, size.n, size.width);
}

static void ffn(const double *x, const Pass *pass, const Direct *direct, Buffers buffers)
{
    size_t n = pass->layout->n, hidden = direct->hidden;
    Activated units = {buffers.hidden, hidden, hidden, direct->activation};
    affine(buffers.hidden, x, pass->ld, direct->w1, direct->b1,
           (Extents){n, direct->read.count, 1, hidden}, pass->threads);
    each(n, pass->threads, activate_row, &units);
    affine(buffers.result, buffers.hidden, hidden, direct->w2, direct->b2,
           (Extents){n, hidden, 1, direct->write.count}, pass->threads);
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

void direct_apply(double *stream, const Pass *pass, const Direct *direct)
{
    Scratch parts = {pass->scratch, 0};
    Buffers buffers = buffers_take(&parts, pass->layout, direct);
    size_t n = pass->layout->n, ld = pass->ld;
    double *x = stream + direct->read.first;
    switch (direct->kind) {
    case DIRECT_FFN:
        ffn(x, pass, direct, buffers);
        store(stream, ld, n, direct, buffers.result);
        break;
    case DIRECT_LINEAR:
        affine(buffers.result, x, ld, direct->w1, direct->b1,
               (Extents){n, direct->read.count, 1, direct->write.count}, pass->threads);
        store(stream, ld, n, direct, buffers.result);
        for (size_t i = 0; direct->clear && i < n; i++) {
            memset(x + i * ld, 0, direct->read.count * sizeof *x);
        }
        break;
    case DIRECT_ACTIVATION: {
        Activated columns = {x, ld, direct->read.count, direct->activation};
        each(n, pass->threads, activate_row, &columns);
        break;
    }
    }
}
