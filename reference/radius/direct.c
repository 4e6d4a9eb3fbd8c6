/*
 * The original models' own operations: what they do to the radii.
 *
 *     |d(act(x W1 + b1) W2)| <= |W1| max |act'| |W2| |dx|                                     (C28)
 * with the bounds of activation.h on slopes and what activations lose.
 */
#include "internal.h"

#include "bounds.h"
#include "norm.h"

#include "../evaluator/activation.h"

/* At most |act'| within off of z. */
static double slope(Activation activation, double z, double off)
{
    const ActivationSlope *act = activation_slope(activation);
    return act->at == NULL
               ? act->slope
               : fmin(act->slope, fabs(act->at(z)) + off * act->curvature + BOUND_DOUBLE);
}

static double bias_norm(const double *bias, size_t count)
{
    return bias != NULL ? norm_vector(bias, count, 1) : 0;
}

/* A network's maps x W + b, [0] and [2] into hidden units, [1] out of them: 2-norms, Frobenius
 * norms, those of the largest column (of a gated network), of the biases. */
typedef struct {
    const Radius *r;
    const Direct *direct;
    double w[3], f[3], column[3], b[3];
} Network;

static void map_norms(Worker *worker, const void *context, size_t map)
{
    (void)worker;
    Network *network = *(Network *const *)context;
    const Direct *direct = network->direct;
    const double *const weights[] = {direct->w1, direct->w2, direct->w3}, *w = weights[map];
    const double *const biases[] = {direct->b1, direct->b2, direct->b3}, *b = biases[map];
    size_t rows = map != 1 ? direct->read.count : direct->hidden;
    size_t columns = map != 1 ? direct->hidden : direct->write.count;
    MatrixNorms norms = norm_of(network->r, (NormKey){w, rows, columns, columns, .parts = 1});
    network->w[map] = norms.spectral;
    network->f[map] = norms.frobenius;
    network->b[map] = bias_norm(b, columns);
    for (size_t c = 0; direct->w3 != NULL && map != 1 && c < columns; c++) {
        network->column[map] = bound_max(network->column[map], norm_vector(w + c, rows, columns));
    }
}

/* A row's units x W + b: their norm, what they round, in 2^-bits, and the largest on the path. */
typedef struct {
    double size, local, most;
} Units;

static Units units_of(const Network *network, size_t map, size_t i)
{
    const Radius *r = network->r;
    Columns read = network->direct->read;
    double x = banks_in(r, r->at.norm, read, i), path = banks_in(r, r->at.path, read, i);
    Units units = {.size = network->w[map] * x + network->b[map]};
    units.local =
        radius_product(read.count) * network->f[map] * x + 14 * units.size + network->b[map];
    units.most = network->column[map] * (x + path) + network->b[map] + point_rho(r, units.local);
    return units;
}

/* A row's hidden numbers: their derivative, their norm and what they round. */
typedef struct {
    double gain, size, local;
} Hidden;

/* Of a gated network h = act(a) u: dh = act'(a) u da + act(a) du, |act(a)| <= |a|, or 1 (C44). */
static Hidden hidden_of(const Network *network, size_t i)
{
    const Direct *direct = network->direct;
    const Units a = units_of(network, 0, i);
    double slope = activation_slope(direct->activation)->slope;
    if (direct->w3 == NULL) {
        return (Hidden){network->w[0] * slope, a.size, a.local};
    }
    const Units u = units_of(network, 2, i);
    bool sigma = direct->activation == ACTIVATION_SIGMOID;
    double act = sigma ? 1 : a.most, acts = sigma ? sqrt((double)direct->hidden) : a.size;
    return (Hidden){network->w[0] * slope * u.most + network->w[2] * act, acts * u.most,
                    u.most * (a.local + (sigma ? 10 * acts : 0)) + act * u.local};
}

static void ffn(Radius *r, const Direct *direct)
{
    size_t D = direct->read.count, H = direct->hidden;
    Network network = {.r = r, .direct = direct}, *at = &network;
    evaluator_each(r->ev, direct->w3 != NULL ? 3 : 2, D * H * (D < H ? D : H), map_norms, &at);
    size_t blocks = H / evaluator_block_columns(r->rows, r->ev->bits);
    r->adds += (double)blocks + 3;
    double w2 = network.w[1], f2 = network.f[1];
    for (size_t i = 0; i < r->rows; i++) {
        const Hidden hidden = hidden_of(&network, i);
        banks_add(r, r->here.out[PASS_OWN], direct->write, i,
                  hidden.gain * w2 * banks_in(r, r->rho, direct->read, i));
        banks_add(r, r->local, direct->write, i,
                  2 * w2 * hidden.local + (2 * w2 + radius_product(H) * f2) * hidden.size +
                      network.b[1]);
        banks_add(r, r->size, direct->write, i, bound_max(w2, f2) * hidden.size + network.b[1]);
    }
}

static void linear(Radius *r, const Direct *direct)
{
    size_t D = direct->read.count, d = direct->write.count;
    MatrixNorms norms = norm_of(r, (NormKey){direct->w1, D, d, d, .parts = 1});
    double w = norms.spectral, f = norms.frobenius, b = bias_norm(direct->b1, d);
    for (size_t i = 0; i < r->rows; i++) {
        double x = banks_in(r, r->at.norm, direct->read, i);
        double *diagonal = r->here.diagonal + i * r->columns;
        for (size_t c = 0; direct->replace && c < d; c++) {
            diagonal[direct->write.first + c] = 0;
        }
        for (size_t c = 0; direct->clear && c < D; c++) {
            diagonal[direct->read.first + c] = 0;
        }
        banks_add(r, r->here.out[PASS_OWN], direct->write, i,
                  w * banks_in(r, r->rho, direct->read, i));
        banks_add(r, r->local, direct->write, i, (2 + radius_product(D)) * f * x + 2 * b);
        banks_add(r, r->size, direct->write, i, f * x + b);
    }
    r->adds += 2;
    r->erased[BANK_CONTENT] = direct->clear && direct->read.first < r->bank;
    r->erased[BANK_HIDDEN] = direct->clear && direct->read.first >= r->bank;
}

static void activation(Radius *r, const Direct *direct)
{
    for (size_t i = 0; i < r->rows; i++) {
        double off = banks_in(r, r->at.path, direct->read, i);
        for (size_t c = 0; c < direct->read.count; c++) {
            size_t at = i * r->columns + direct->read.first + c;
            r->here.diagonal[at] = slope(direct->activation, r->at.x[at], off);
        }
        banks_add(r, r->local, direct->write, i, 12 * banks_in(r, r->at.norm, direct->read, i));
    }
}

void radius_direct(Radius *r, const Direct *direct)
{
    for (size_t c = 0; c < r->rows * r->columns; c++) {
        r->here.diagonal[c] = radius_keeps(r, c % r->columns >= r->bank) ? 0 : 1;
        r->here.slack[c] = 0;
    }
    switch (direct->kind) {
    case DIRECT_NORM: break; /* layer_norm.c */
    case DIRECT_FFN: ffn(r, direct); break;
    case DIRECT_LINEAR: linear(r, direct); break;
    case DIRECT_ACTIVATION: activation(r, direct); break;
    }
}
