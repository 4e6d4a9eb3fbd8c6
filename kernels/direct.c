/*
 * The operations of an original model that are not heads, as a user's program has them.
 */
#include "direct.h"

#include "each.h"
#include "norm.h"
#include "rows.h"
#include "scalar.h"

#include "../cases/model.h"

#include <math.h>
#include <string.h>

/* ---- Activations ----------------------------------------------------------------------------- */

/* x sigma(x): exp(-x) = infinity gives -0 for very negative x, which is right. */
static Scalar silu(Scalar x)
{
    return x / (1 + SCALAR_EXP(-x));
}

/* A comparison that keeps NaN. */
static Scalar relu(Scalar x)
{
    return x < 0 ? 0 : x;
}

/* x Phi(x): 1 + erf(x / sqrt 2) would cancel for negative x. */
static Scalar gelu(Scalar x)
{
    return x / 2 * SCALAR_ERFC(-x / (Scalar)sqrt(2.0));
}

/* As PyTorch and Hugging Face's models have it, so that 1 + tanh cancels for negative x: what is
 * lost is absolute, half an ulp of 1 times x.  x^3 may be infinite, of which tanh is 1. */
static Scalar gelu_new(Scalar x)
{
    const Scalar slope = (Scalar)0.79788456080286535588, cubic = (Scalar)0.044715;
    return x / 2 * (1 + SCALAR_TANH(slope * (x + cubic * (x * x * x))));
}

/* exp(-x) = infinity gives 0. */
static Scalar sigmoid(Scalar x)
{
    return 1 / (1 + SCALAR_EXP(-x));
}

static Scalar identity(Scalar x)
{
    return x;
}

/* x [count] = act(x), each in Scalars. */
static void activation_apply(Activation activation, Scalar *x, size_t count)
{
    static Scalar (*const functions[ACTIVATION_COUNT])(Scalar) = {
        [ACTIVATION_SILU] = silu,       [ACTIVATION_RELU] = relu,
        [ACTIVATION_GELU] = gelu,       [ACTIVATION_GELU_NEW] = gelu_new,
        [ACTIVATION_SIGMOID] = sigmoid, [ACTIVATION_NONE] = identity,
    };
    Scalar (*const act)(Scalar) = functions[activation];
    for (size_t e = 0; e < count; e++) {
        x[e] = act(x[e]);
    }
}

/* ---- Operations ------------------------------------------------------------------------------ */

typedef struct {
    Scalar *hidden; /* [n, hidden] */
    Scalar *up;     /* [n, hidden], of a gated network */
    Scalar *result; /* [n, write] */
} Buffers;

static Buffers buffers_take(Scratch *scratch, const Layout *layout, const Direct *direct)
{
    double n = (double)layout->n;
    double hidden = direct->kind == DIRECT_FFN ? (double)direct->hidden : 0;
    bool in_place = direct->kind == DIRECT_ACTIVATION || direct->kind == DIRECT_NORM;
    double result = in_place ? 0 : (double)direct->write.count;
    Buffers buffers;
    buffers.hidden = scratch_take(scratch, n, hidden);
    buffers.up = scratch_take(scratch, n, direct->w3 != NULL ? hidden : 0);
    buffers.result = scratch_take(scratch, n, result);
    return buffers;
}

double direct_scratch(const Layout *layout, const Direct *direct)
{
    Scratch scratch = {NULL, 0};
    buffers_take(&scratch, layout, direct);
    return scratch.taken;
}

/* Rows of a matrix whose columns are activated, a row an item, and then, of a gated network,
 * multiplied by those of another. */
typedef struct {
    Scalar *x;
    size_t ld, columns;
    Activation activation;
    NumberFormat format; /* of the results */
    const Scalar *up;    /* or NULL */
    NumberFormat between;
} Activated;

static void activate_row(const void *context, size_t item, size_t thread)
{
    const Activated *rows = context;
    (void)thread;
    Scalar *x = rows->x + item * rows->ld;
    activation_apply(rows->activation, x, rows->columns);
    if (rows->up != NULL) {
        scalar_round(rows->between, x, rows->columns);
        for (size_t c = 0; c < rows->columns; c++) {
            x[c] *= rows->up[item * rows->ld + c];
        }
    }
    scalar_round(rows->format, x, rows->columns);
}

/* w [depth, width], bias [width] or NULL. */
typedef struct {
    const double *w, *bias;
    size_t depth, width;
} Map;

/* y = x w + bias, as a result. */
static void affine(const Pass *pass, Scalar *y, ConstRows x, Map map)
{
    Rows to = {y, NULL, map.width};
    Weight weight = weight_operand(pass, (HeadWeight){map.w, map.width, 0});
    Ending ending = {1, 0, weights_stored(pass->weights, map.bias), pass->formats->stream};
    Extents size = {pass->layout->n, map.depth, 1, map.width};
    rows_multiply(to, x, weight, size, ending, pass->threads);
}

/* The columns of the stream that are read. */
static ConstRows rows_read(const Pass *pass, const Direct *direct)
{
    return (ConstRows){pass->stream + direct->read.first, NULL, pass->ld};
}

static void ffn(const Pass *pass, const Direct *direct, Buffers buffers)
{
    size_t n = pass->layout->n, hidden = direct->hidden;
    Activated units = {.x = buffers.hidden,
                       .ld = hidden,
                       .columns = hidden,
                       .activation = direct->activation,
                       .format = pass->formats->operand,
                       .up = direct->w3 != NULL ? buffers.up : NULL,
                       .between = pass->formats->stream};
    affine(pass, buffers.hidden, rows_read(pass, direct),
           (Map){direct->w1, direct->b1, direct->read.count, hidden});
    if (direct->w3 != NULL) {
        affine(pass, buffers.up, rows_read(pass, direct),
               (Map){direct->w3, direct->b3, direct->read.count, hidden});
    }
    each(n, pass->threads, activate_row, &units);
    affine(pass, buffers.result, (ConstRows){buffers.hidden, NULL, hidden},
           (Map){direct->w2, direct->b2, hidden, direct->write.count});
}

static void store(Scalar *stream, const Pass *pass, const Direct *direct, const Scalar *result)
{
    size_t n = pass->layout->n, ld = pass->ld;
    size_t width = direct->write.count;
    for (size_t i = 0; i < n; i++) {
        Scalar *row = stream + i * ld + direct->write.first;
        for (size_t c = 0; c < width; c++) {
            row[c] = direct->kind == DIRECT_LINEAR && direct->replace
                         ? result[i * width + c]
                         : row[c] + result[i * width + c];
        }
        scalar_round(pass->formats->stream, row, width);
    }
}

void direct_apply(Scalar *stream, const Pass *pass, const Sublayer *sublayer)
{
    const Direct *direct = &sublayer->direct;
    Scratch parts = {pass->scratch, 0};
    Buffers buffers = buffers_take(&parts, pass->layout, direct);
    size_t n = pass->layout->n, ld = pass->ld;
    Scalar *x = stream + direct->read.first;
    switch (direct->kind) {
    case DIRECT_FFN:
        ffn(pass, direct, buffers);
        store(stream, pass, direct, buffers.result);
        break;
    case DIRECT_LINEAR:
        affine(pass, buffers.result, rows_read(pass, direct),
               (Map){direct->w1, direct->b1, direct->read.count, direct->write.count});
        store(stream, pass, direct, buffers.result);
        for (size_t i = 0; direct->clear && i < n; i++) {
            memset(x + i * ld, 0, direct->read.count * sizeof *x);
        }
        break;
    case DIRECT_ACTIVATION: {
        Activated columns = {.x = x,
                             .ld = ld,
                             .columns = direct->read.count,
                             .activation = direct->activation,
                             .format = pass->formats->stream};
        each(n, pass->threads, activate_row, &columns);
        break;
    }
    case DIRECT_NORM: norm_rows(stream, pass, &sublayer->norm); break;
    }
}
