/*
 * The original models' own operations: what they do to the radii.
 *
 *     |d(act(x W1 + b1) W2)| <= |W1| max |act'| |W2| |dx|                                     (C28)
 * with the bounds of activation.h on slopes and what activations lose.
 */
#include "direct.h"
#include "bounds.h"
#include "norm.h"

#include "../activation.h"
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

static void ffn(Radius *r, const Direct *direct)
{
    size_t D = direct->read.count, H = direct->hidden, d = direct->write.count;
    double w1 = norm_spectral(direct->w1, D, H, H), w2 = norm_spectral(direct->w2, H, d, d);
    double f1 = norm_frobenius(direct->w1, D, H, H), f2 = norm_frobenius(direct->w2, H, d, d);
    double b1 = bias_norm(direct->b1, H), b2 = bias_norm(direct->b2, d);
    double *z = malloc((r->rows * H + 1) * sizeof *z);
    if (z == NULL) {
        r->failed = true;
        return;
    }
    gemm(z, H, r->at.x + direct->read.first, r->columns, false, direct->w1, H, false, r->rows, H, D,
         0);
    size_t blocks = H / evaluator_block_columns(r->rows, r->bits);
    r->adds += (double)blocks + 3;
    for (size_t i = 0; i < r->rows; i++) {
        double x = banks_in(r, r->at.norm, direct->read, i);
        double off =
            w1 * banks_in(r, r->at.path, direct->read, i) + BOUND_DOUBLE * (double)(D + 4) * f1 * x;
        double size = w1 * x + b1, local = radius_product(D) * f1 * x + 14 * size + b1;
        double most = row_slope(direct, z + i * H, off + point_rho(r, local));
        banks_add(r, r->here.out[PASS_OWN], direct->write, i,
                  w1 * most * w2 * banks_in(r, r->rho, direct->read, i));
        banks_add(r, r->local, direct->write, i,
                  2 * w2 * local + (2 * w2 + radius_product(H) * f2) * size + b2);
        banks_add(r, r->size, direct->write, i, bound_max(w2, f2) * size + b2);
    }
    free(z);
}

static void linear(Radius *r, const Direct *direct)
{
    size_t D = direct->read.count, d = direct->write.count;
    double w = norm_spectral(direct->w1, D, d, d), f = norm_frobenius(direct->w1, D, d, d);
    double b = bias_norm(direct->b1, d);
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
