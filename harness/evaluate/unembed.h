/*
 * A machine's logits.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_UNEMBED_H
#define HEADPROOF_HARNESS_EVALUATE_UNEMBED_H

#include "../../kernels/kernel.h"
#include "../../reference/logits/logits.h"

/* logits [rows.count, classes] = norm(x) W + b, x [rows, d]: the final norm in the machine's
 * arithmetic, the product in double, its terms in the order of the columns whatever the blocks are
 * that they are worked out in.  stored: W and b are rounded as the arithmetic
 * stores them, and sums to float where those are not doubles. */
void unembed_machine(double *logits, const MachineView *x, RefRows rows,
                     const RefUnembedding *unembedding, const ArithmeticInfo *arithmetic,
                     bool stored);

#endif
