/*
 * Activation functions in arbitrary precision, and what bounds their slopes: a row of the table
 * each.
 */
#include "activation.h"

#include "../numbers/limbs.h"

#include <math.h>

/* x [count] = act(x); e [count] is scratch. */
typedef void Function(Worker *worker, mpfr_ptr x, mpfr_ptr e, size_t count);

typedef struct {
    Function *function;
    ActivationSlope slope;
} Row;

/* x = x sigma(z), z of x's sign, from e = -|z|: with t = exp(e) that is x / (1 + t) or, for x < 0,
 * x t / (1 + t). */
static void gate(Worker *worker, mpfr_ptr x, mpfr_ptr e, size_t count)
{
    mpfr_ptr one = ap_at(&worker->temp, 0, 0);
    vexp(worker->exp, e, e, count);
    for (size_t c = 0; c < count; c++) {
        if (mpfr_sgn(x + c) < 0) {
            limbs_mul(x + c, x + c, e + c);
        }
    }
    mpfr_set_ui(one, 1, MPFR_RNDN);
    lanes_add(e, numbers_row(e), numbers_same(one), count);
    lanes_div(x, numbers_row(x), numbers_row(e), count);
}

static void silu(Worker *worker, mpfr_ptr x, mpfr_ptr e, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        limbs_below_zero(e + c, x + c);
    }
    gate(worker, x, e, count);
}

static double silu_slope(double z)
{
    double sigma = 1 / (1 + exp(-z));
    return sigma + z * sigma * (1 - sigma);
}

static void relu(Worker *worker, mpfr_ptr x, mpfr_ptr e, size_t count)
{
    (void)worker;
    (void)e;
    for (size_t c = 0; c < count; c++) {
        if (!(mpfr_sgn(x + c) > 0)) {
            mpfr_set_zero(x + c, 1);
        }
    }
}

/* x = x erfc(-x / sqrt 2) / 2 */
static void gelu(Worker *worker, mpfr_ptr x, mpfr_ptr e, size_t count)
{
    mpfr_ptr root = ap_at(&worker->temp, 0, 0);
    mpfr_sqrt_ui(root, 2, MPFR_RNDN);
    lanes_div(e, numbers_row(x), numbers_same(root), count);
    for (size_t c = 0; c < count; c++) {
        mpfr_neg(e + c, e + c, MPFR_RNDN);
        ap_erfc(worker->alone, e + c, e + c);
        limbs_mul(x + c, x + c, e + c);
        mpfr_div_2ui(x + c, x + c, 1, MPFR_RNDN);
    }
}

/* x (1 + tanh u)/2 = x sigma(2u), 2u = sqrt(8/pi) x (1 + c x^2), c the double nearest to 0.044715;
 * 2u to 7 roundings, so that x sigma(2u) is off by 7 max|z sigma'(z)| < 1.6 roundings of |x| more
 * than SiLU. */
static void gelu_new(Worker *worker, mpfr_ptr x, mpfr_ptr e, size_t count)
{
    mpfr_ptr root = ap_at(&worker->temp, 0, 0);
    mpfr_const_pi(root, MPFR_RNDN);
    mpfr_ui_div(root, 8, root, MPFR_RNDN);
    mpfr_sqrt(root, root, MPFR_RNDN);
    for (size_t c = 0; c < count; c++) {
        limbs_mul(e + c, x + c, x + c);
        mpfr_mul_d(e + c, e + c, 0.044715, MPFR_RNDN);
        mpfr_add_ui(e + c, e + c, 1, MPFR_RNDN);
        limbs_mul(e + c, e + c, x + c);
        limbs_mul(e + c, e + c, root);
        mpfr_setsign(e + c, e + c, 1, MPFR_RNDN);
    }
    gate(worker, x, e, count);
}

static void sigmoid(Worker *worker, mpfr_ptr x, mpfr_ptr e, size_t count)
{
    mpfr_ptr one = ap_at(&worker->temp, 0, 1);
    for (size_t c = 0; c < count; c++) {
        limbs_below_zero(e + c, x + c);
    }
    mpfr_set_ui(one, 1, MPFR_RNDN);
    for (size_t c = 0; c < count; c++) {
        mpfr_setsign(x + c, one, mpfr_sgn(x + c) < 0, MPFR_RNDN); /* +-1: gate makes it sigma */
    }
    gate(worker, x, e, count);
    for (size_t c = 0; c < count; c++) {
        mpfr_setsign(x + c, x + c, 0, MPFR_RNDN);
    }
}

static double sigmoid_slope(double z)
{
    double sigma = 1 / (1 + exp(-z));
    return sigma * (1 - sigma);
}

static void identity(Worker *worker, mpfr_ptr x, mpfr_ptr e, size_t count)
{
    (void)worker, (void)x, (void)e, (void)count;
}

/* Slopes: SiLU' is at most 1.0999, at 2.3994; GELU' is 1.1290 at most, at sqrt 2, gelu_new' 1.1290,
 * at 1.418. */
static const Row rows[ACTIVATION_COUNT] = {
    [ACTIVATION_SILU] = {silu, {1.1, 0.5, silu_slope}},
    [ACTIVATION_RELU] = {relu, {1, 0, NULL}},
    [ACTIVATION_GELU] = {gelu, {1.13, 0.8, NULL}},
    [ACTIVATION_GELU_NEW] = {gelu_new, {1.13, 0.8, NULL}},
    [ACTIVATION_SIGMOID] = {sigmoid, {0.25, 0.1, sigmoid_slope}},
    [ACTIVATION_NONE] = {identity, {1, 0, NULL}},
};

void activation_row(Worker *worker, Activation activation, mpfr_ptr x, mpfr_ptr e, size_t count)
{
    rows[activation].function(worker, x, e, count);
}

const ActivationSlope *activation_slope(Activation activation)
{
    return &rows[activation].slope;
}
