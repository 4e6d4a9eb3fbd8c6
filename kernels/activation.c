/*
 * Activation functions, as a user's program evaluates them: a row of the table each.
 */
#include "activation.h"

#include <math.h>

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

void activation_apply(Activation activation, Scalar *x, size_t count)
{
    static Scalar (*const functions[ACTIVATION_COUNT])(Scalar) = {
        [ACTIVATION_SILU] = silu,
        [ACTIVATION_RELU] = relu,
        [ACTIVATION_GELU] = gelu,
        [ACTIVATION_GELU_NEW] = gelu_new,
    };
    Scalar (*const act)(Scalar) = functions[activation];
    for (size_t e = 0; e < count; e++) {
        x[e] = act(x[e]);
    }
}
