/*
 * The original models' own operations: what they do to the radii.
 *
 *     |d(act(x W1 + b1) W2)| <= |W1| max |act'| |W2| |dx|                                     (C28)
 * with the bounds of activation.h on slopes and what activations lose.
 */
#include "internal.h"

#include "../../memory/need.h"
#include "bounds.h"
#include "norm.h"

#include "../evaluator/activation.h"
#include "../product/gemm.h"

#include <stdlib.h>
#include <string.h>

/* At most |act'| within off of z. */
static double slope(Activation activation, double z, double off)
{
    const ActivationSlope *act = activation_slope(activation);
    return act->at == NULL
               ? act->slope
               : fmin(act->slope, fabs(act->at(z)) + off * act->curvature + BOUND_DOUBLE);
}

/* The largest slope of a row's hidden units; up: what each is times at most, or NULL. */
static double row_slope(const Direct *direct, const double *z, double off, const double *up)
{
    double most = 0;
    for (size_t k = 0; k < direct->hidden; k++) {
        double b = direct->b1 != NULL ? direct->b1[k] : 0;
        double own = slope(direct->activation, z[k] + b, off + BOUND_DOUBLE * fabs(b));
        most = bound_max(most, up != NULL ? own * up[k] : own);
    }
    return most;
}

static double bias_norm(const double *bias, size_t count)
{
    return bias != NULL ? norm_vector(bias, count, 1) : 0;
}

/* A network at a point: norms of its two maps, and what a block of rows needs. */
typedef struct {
    const Radius *r;
    const Direct *direct;
    double w[3], f[3], b[3];     /* 2-norms, Frobenius norms, norms of the biases */
    double *local, *gain, *size; /* [rows]: of a row's units: rounding, derivative, norm */
    double *z;                   /* [rows, hidden] */
    double *up;                  /* [rows, hidden] of a gated network: |x W3 + b3|, at most */
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
}

/* What a row's units x W + b may be off by on the path, in doubles and in 2^-bits. */
static double units_off(const Network *network, size_t map, double *local, size_t i)
{
    const Radius *r = network->r;
    const Direct *direct = network->direct;
    size_t D = direct->read.count;
    double x = banks_in(r, r->at.norm, direct->read, i);
    double size = network->w[map] * x + network->b[map];
    *local = radius_product(D) * network->f[map] * x + 14 * size + network->b[map];
    return network->w[map] * banks_in(r, r->at.path, direct->read, i) +
           BOUND_DOUBLE * (double)(D + 4) * network->f[map] * x + point_rho(r, *local);
}

/* Of a gated network h = act(a) u: dh = act'(a) u da + act(a) du, |act(a)| <= |a|, or 1 (C44). */
static void gated_row(const Network *network, size_t i, double off)
{
    const Direct *direct = network->direct;
    size_t H = direct->hidden;
    bool sigma = direct->activation == ACTIVATION_SIGMOID;
    double *up = network->up + i * H, *z = network->z + i * H, up_local, act = 0, most = 0;
    double up_off = units_off(network, 2, &up_local, i);
    double x = banks_in(network->r, network->r->at.norm, direct->read, i);
    for (size_t k = 0; k < H; k++) {
        double b = direct->b1 != NULL ? direct->b1[k] : 0;
        double c = direct->b3 != NULL ? direct->b3[k] : 0;
        up[k] = fabs(up[k] + c) + BOUND_DOUBLE * fabs(c) + up_off;
        most = bound_max(most, up[k]);
        act = bound_max(act, sigma ? 1 : fabs(z[k] + b) + BOUND_DOUBLE * fabs(b) + off);
    }
    double acts = sigma ? sqrt((double)H) : network->w[0] * x + network->b[0];
    network->gain[i] = network->w[0] * row_slope(direct, z, off, up) + network->w[2] * act;
    network->local[i] = most * (network->local[i] + (sigma ? 10 * acts : 0)) + act * up_local;
    network->size[i] = acts * most;
}

static void block_slopes(Worker *worker, const void *context, size_t block)
{
    (void)worker;
    const Network *network = context;
    const Radius *r = network->r;
    const Direct *direct = network->direct;
    size_t D = direct->read.count, H = direct->hidden;
    RowRange rows = row_range(r, PRODUCT_ROWS, block);
    const double *x = r->at.x + rows.first * r->columns + direct->read.first;
    gemm(network->z + rows.first * H, H, gemm_plain(x, r->columns), gemm_plain(direct->w1, H),
         (GemmExtents){rows.end - rows.first, H, D}, 0);
    if (network->up != NULL) {
        gemm(network->up + rows.first * H, H, gemm_plain(x, r->columns), gemm_plain(direct->w3, H),
             (GemmExtents){rows.end - rows.first, H, D}, 0);
    }
    for (size_t i = rows.first; i < rows.end; i++) {
        double norm = banks_in(r, r->at.norm, direct->read, i);
        double off = units_off(network, 0, &network->local[i], i), *z = network->z + i * H;
        network->size[i] = network->w[0] * norm + network->b[0];
        network->gain[i] = network->w[0] * row_slope(direct, z, off, NULL);
        if (network->up != NULL) {
            gated_row(network, i, off);
        }
    }
}

static void ffn(Radius *r, const Direct *direct)
{
    size_t D = direct->read.count, H = direct->hidden;
    Network network = {.r = r, .direct = direct}, *at = &network;
    bool gated = direct->w3 != NULL;
    double *room = need_room(r->rows * ((gated ? 2 : 1) * H + 3) + 1, sizeof *room);
    network.local = room;
    network.gain = room + r->rows;
    network.size = room + 2 * r->rows;
    network.z = room + 3 * r->rows;
    network.up = gated ? network.z + r->rows * H : NULL;
    evaluator_each(r->ev, gated ? 3 : 2, D * H * (D < H ? D : H), map_norms, &at);
    evaluator_each(r->ev, row_blocks(r, PRODUCT_ROWS), r->rows * D * H, block_slopes, &network);
    size_t blocks = H / evaluator_block_columns(r->rows, r->ev->bits);
    r->adds += (double)blocks + 3;
    double w2 = network.w[1], f2 = network.f[1];
    for (size_t i = 0; i < r->rows; i++) {
        double size = network.size[i];
        banks_add(r, r->here.out[PASS_OWN], direct->write, i,
                  network.gain[i] * w2 * banks_in(r, r->rho, direct->read, i));
        banks_add(r, r->local, direct->write, i,
                  2 * w2 * network.local[i] + (2 * w2 + radius_product(H) * f2) * size +
                      network.b[1]);
        banks_add(r, r->size, direct->write, i, bound_max(w2, f2) * size + network.b[1]);
    }
    free(room);
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
