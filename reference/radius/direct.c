/*
 * The original models' own operations: what they do to the radii.
 *
 *     |d(act(x W1 + b1) W2)| <= |W1| max |act'| |W2| |dx|                                     (C28)
 * with the bounds of activation.h on slopes and what activations lose.
 */
#include "internal.h"

#include "../../memory/need.h"
#include "bounds.h"
#include "jacobian.h"
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

/* The largest slope of a row's hidden units. */
static double row_slope(const Direct *direct, const double *z, double off)
{
    double most = 0;
    for (size_t k = 0; k < direct->hidden; k++) {
        double b = direct->b1 != NULL ? direct->b1[k] : 0;
        most = bound_max(most, slope(direct->activation, z[k] + b, off + BOUND_DOUBLE * fabs(b)));
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
    double w[2], f[2], b[2]; /* 2-norms, Frobenius norms, norms of the biases */
    double *local, *most;    /* [rows]: what rounding adds to a row's z; the largest slope */
    double *own;             /* [rows]: of the row's derivative, or infinite (C41) */
    double *z;               /* [rows, hidden]; then slopes, where own is not infinite */
} Network;

static void map_norms(Worker *worker, const void *context, size_t map)
{
    (void)worker;
    Network *network = *(Network *const *)context;
    const Direct *direct = network->direct;
    const double *w = map == 0 ? direct->w1 : direct->w2, *b = map == 0 ? direct->b1 : direct->b2;
    size_t rows = map == 0 ? direct->read.count : direct->hidden;
    size_t columns = map == 0 ? direct->hidden : direct->write.count;
    MatrixNorms norms = norm_of(network->r, (NormKey){w, rows, columns, columns, .parts = 1});
    network->w[map] = norms.spectral;
    network->f[map] = norms.frobenius;
    network->b[map] = bias_norm(b, columns);
}

/* The norm of a row's derivative as a matrix, with what the stream is to it beside; z becomes the
 * slopes, z being within off. */
static double own_norm(const Network *network, double *z, double off, size_t i)
{
    const Radius *r = network->r;
    const Direct *direct = network->direct;
    const ActivationSlope *act = activation_slope(direct->activation);
    const RowMap map = {direct->w1,     direct->w2,    direct->hidden, direct->write.count,
                        direct->hidden, network->f[0], network->f[1]};
    bool whole = direct->read.first == 0 && direct->read.count == r->bank &&
                 direct->write.first == 0 && direct->write.count == r->bank;
    double most = 0;
    if (act->at == NULL || !whole || !r->matrices) {
        return INFINITY;
    }
    for (size_t k = 0; k < direct->hidden; k++) {
        double b = direct->b1 != NULL ? direct->b1[k] : 0;
        most = bound_max(most, (off + BOUND_DOUBLE * fabs(b)) * act->curvature + BOUND_DOUBLE);
        z[k] = act->at(z[k] + b);
    }
    return bound_up(jacobian_norm(r, &map, &r->here, z, i) + network->w[0] * most * network->w[1]);
}

static void block_slopes(Worker *worker, const void *context, size_t block)
{
    (void)worker;
    const Network *network = context;
    const Radius *r = network->r;
    const Direct *direct = network->direct;
    size_t D = direct->read.count, H = direct->hidden;
    RowRange rows = row_range(r, PRODUCT_ROWS, block);
    gemm(network->z + rows.first * H, H,
         gemm_plain(r->at.x + rows.first * r->columns + direct->read.first, r->columns),
         gemm_plain(direct->w1, H), (GemmExtents){rows.end - rows.first, H, D}, 0);
    for (size_t i = rows.first; i < rows.end; i++) {
        double x = banks_in(r, r->at.norm, direct->read, i);
        double off = network->w[0] * banks_in(r, r->at.path, direct->read, i) +
                     BOUND_DOUBLE * (double)(D + 4) * network->f[0] * x;
        double size = network->w[0] * x + network->b[0];
        network->local[i] = radius_product(D) * network->f[0] * x + 14 * size + network->b[0];
        off += point_rho(r, network->local[i]);
        network->most[i] = row_slope(direct, network->z + i * H, off);
        network->own[i] = own_norm(network, network->z + i * H, off, i);
    }
}

static void ffn(Radius *r, const Direct *direct)
{
    size_t D = direct->read.count, H = direct->hidden;
    Network network = {.r = r, .direct = direct}, *at = &network;
    double *room = need_room(r->rows * (H + 3) + 1, sizeof *room);
    network.local = room;
    network.most = room + r->rows;
    network.own = room + 2 * r->rows;
    network.z = room + 3 * r->rows;
    evaluator_each(r->ev, 2, D * H * (D < H ? D : H), map_norms, &at);
    evaluator_each(r->ev, row_blocks(r, PRODUCT_ROWS), r->rows * D * H, block_slopes, &network);
    size_t blocks = H / evaluator_block_columns(r->rows, r->ev->bits);
    r->adds += (double)blocks + 3;
    double w1 = network.w[0], w2 = network.w[1], f2 = network.f[1];
    for (size_t i = 0; i < r->rows; i++) {
        double size = w1 * banks_in(r, r->at.norm, direct->read, i) + network.b[0];
        if (network.own[i] < INFINITY) {
            jacobian_take(r, &r->here, network.own[i], i);
        } else {
            banks_add(r, r->here.out[PASS_OWN], direct->write, i,
                      w1 * network.most[i] * w2 * banks_in(r, r->rho, direct->read, i));
        }
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
        r->here.diagonal[c] = r->norm != NULL ? 0 : 1; /* else the stream's own is kept apart */
        r->here.slack[c] = 0;
    }
    switch (direct->kind) {
    case DIRECT_NORM: break; /* layer_norm.c */
    case DIRECT_FFN: ffn(r, direct); break;
    case DIRECT_LINEAR: linear(r, direct); break;
    case DIRECT_ACTIVATION: activation(r, direct); break;
    }
}
