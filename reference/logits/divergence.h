/*
 * How far apart two distributions over classes are: of the logits z of r(T), and of z + d.
 *
 *     p = softmax(z),  q = softmax(z + d),
 *     KL(p || q) = sum_k p_k (log p_k - log q_k) = log(sum_k p_k e^(t_k)),
 *                  t_k = d_k - sum_j p_j d_j,
 *                = log1p(G),  G = sum_k p_k g(t_k),  g(t) = e^t - 1 - t >= 0.
 *
 * The mean of t is zero, so no term of G cancels another, and g is summed as its series where e^t
 * is close to 1: a KL of 1e-1700 has as many right digits as one of 0.1.  The loss at class c, in
 * nats, is -log p_c = log1p(sum of the others' e^(z_k - z_top)) + (z_top - z_c), and that of q is
 * the same plus KL - t_c.  Proofs, bits and errors: docs/certify.md.
 */
#ifndef HEADPROOF_REFERENCE_LOGITS_DIVERGENCE_H
#define HEADPROOF_REFERENCE_LOGITS_DIVERGENCE_H

#include "logits.h"

/* p, and what changes of it are measured with. */
typedef struct RefSoftmax RefSoftmax;

RefSoftmax *ref_softmax_make(size_t classes) __attribute__((warn_unused_result));
void ref_softmax_clear(RefSoftmax *softmax);

/* Its bytes, as a double. */
double ref_softmax_bytes(double classes);

/* p = softmax(z), z [classes], each known to +-off. */
void ref_softmax_set(RefSoftmax *softmax, mpfr_srcptr z, mpfr_srcptr off);

/* -log p_c, c < classes, to the digits that the cell has. */
void ref_softmax_loss(RefCell *loss, const RefSoftmax *softmax, size_t c);

/* KL(p || q) and, where loss is not NULL, -log q_c, for changes d [classes], each known to +-off.
 * Where a d is no number neither is what comes out.  All d exactly 0 with off 0, or one class: a KL
 * that is zero, proven. */
void ref_softmax_divergence(RefCell *kl, RefCell *loss, const RefSoftmax *softmax, mpfr_srcptr d,
                            mpfr_srcptr off, size_t c);

#endif
