/*
 * Any activation by heads: its interpolation between K + 1 knots is a network of K ReLU units with
 * given weights, and so one sublayer of K fused heads.  What that costs is the interpolation's own
 * error, h^2/8 max|f''| for knots h apart, and K imitations of a ReLU (docs/findings.md):
 *     x + b2 + sum_k c_k ReLU(x - t_k),   c_k the changes of slope, c_0 less 1 for the skip.
 */
#include "../../cases/case.h"
#include "../../kernels/kernel.h"
#include "../../reference/reference.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS = 1025, KNOTS_MOST = 256, BITS = 128 };

#define RANGE 4.0
#define SLOPE 1e6

/* sup |ReLU(x) - SiLU(SLOPE x)/SLOPE| */
#define IMITATION (0.278464542761074 / SLOPE)

static double softplus(double x)
{
    return log1p(exp(x));
}

static double gelu(double x)
{
    return x / 2 * erfc(-x / sqrt(2));
}

/* curvature: max |f''| on [-RANGE, RANGE]. */
typedef struct {
    const char *name;
    double (*f)(double);
    double curvature;
} Function;

static const Function functions[] = {
    {"tanh", tanh, 0.769800358919501}, /* 4/(3 sqrt 3), where tanh^2 = 1/3 */
    {"softplus", softplus, 0.25},
    {"sin", sin, 1.0},
    {"gelu", gelu, 0.797884560802865}, /* 2/sqrt(2 pi), at 0 */
};

/* The network's weights, and what its units may be off together. */
typedef struct {
    double w1[KNOTS_MOST], b1[KNOTS_MOST], w2[KNOTS_MOST], b2;
    double imitation;
} Network;

static void interpolate(Network *network, const Function *function, size_t knots)
{
    double h = 2 * RANGE / (double)knots, slope = 1;
    network->b2 = function->f(-RANGE) + RANGE;
    network->imitation = 0;
    for (size_t k = 0; k < knots; k++) {
        double t = -RANGE + h * (double)k; /* a double: h is a power of 2 */
        double next = (function->f(t + h) - function->f(t)) / h;
        network->w1[k] = 1;
        network->b1[k] = -t;
        network->w2[k] = next - slope;
        network->imitation += fabs(next - slope) * IMITATION;
        slope = next;
    }
}

static Pair network_case(GivenWeights *given, GivenLayer *layer, Network *network, const double *x,
                         size_t knots)
{
    *layer = (GivenLayer){
        .w_in = network->w1, .b_in = network->b1, .w_out = network->w2, .b_out = &network->b2};
    *given = (GivenWeights){.layers = layer, .scale = {1, 1, 1}, .x = x};
    CaseSpec spec = {.construction = CONSTRUCTION_FUSED,
                     .n = POINTS,
                     .d = 1,
                     .d_ff = knots,
                     .heads = 1,
                     .depth = 1,
                     .activation = ACTIVATION_RELU,
                     .slope = SLOPE,
                     .given = given};
    Pair pair = pair_make(&spec);
    assert_int_equal(pair.converted.sublayer_count, 1);
    assert_int_equal(pair.converted.sublayers[0].bundles[0].heads, knots);
    return pair;
}

/* The largest |heads - f| on a grid: of the limit model, and of the machine at Omega = 30. */
static void sup_errors(double error[2], const Function *function, Network *network, size_t knots)
{
    double x[POINTS];
    GivenWeights given;
    GivenLayer layer;
    for (int i = 0; i < POINTS; i++) {
        x[i] = RANGE * (2.0 * i / (POINTS - 1) - 1);
    }
    Pair pair = network_case(&given, &layer, network, x, knots);
    RefRun *limit = ref_run_open(&(Start){&pair.converted, x, NULL, INFINITY}, BITS);
    Kernel *kernel = kernel_open(&(Start){&pair.converted, x, NULL, 30}, KERNEL_STRUCTURED, 1);
    ref_run_layer(limit);
    KernelStream stream = kernel_layer(kernel);
    error[0] = error[1] = 0;
    for (size_t i = 0; i < POINTS; i++) {
        double f = function->f(x[i]);
        error[0] = fmax(error[0], fabs(mpfr_get_d(ref_run_entry(limit, i, 0), MPFR_RNDN) - f));
        error[1] = fmax(error[1], fabs(stream.data[i * stream.ld] - f));
        assert_true(isfinite(stream.data[i * stream.ld]));
    }
    kernel_clear(kernel);
    ref_run_clear(limit);
    case_clear(&pair);
}

/* Within the bound, and not far below it: the curvature is met somewhere, and where it is, between
 * two knots, the interpolation is h^2/8 of it off. */
static void error_falls_as_knots_squared(void **state)
{
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        double before = INFINITY;
        for (size_t knots = 8; knots <= KNOTS_MOST; knots *= 2) {
            Network network;
            double error[2], h = 2 * RANGE / (double)knots;
            interpolate(&network, &functions[f], knots);
            sup_errors(error, &functions[f], &network, knots);
            double interpolation = h * h / 8 * functions[f].curvature;
            double bound = interpolation + network.imitation;
            print_message(
                "%-8s  %3zu heads: %.2e, in double at omega 30 %.2e; h^2/8 max|f''| %.2e, "
                "imitations %.2e\n",
                functions[f].name, knots, error[0], error[1], interpolation, network.imitation);
            assert_true(error[0] <= bound * (1 + 1e-9));
            assert_true(error[0] >= bound * (knots == 8 ? 0.5 : 0.8));
            assert_true(fabs(error[1] - error[0]) <= 1e-9);
            assert_true(before / error[0] > 2.5);
            before = error[0];
        }
    }
}

SUBJECT(piecewise)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_falls_as_knots_squared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
