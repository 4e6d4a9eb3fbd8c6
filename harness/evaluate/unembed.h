/*
 * A machine's logits.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_UNEMBED_H
#define HEADPROOF_HARNESS_EVALUATE_UNEMBED_H

#include "../../reference/logits.h"

/* logits [rows.count, classes] = x [rows, d] W + b in double: terms in the order of the columns,
 * whatever the blocks are that they are worked out in.  false: memory is short. */
bool unembed_machine(double *logits, const MachineView *x, RefRows rows, const RefUnembed *unembed)
    __attribute__((warn_unused_result));

#endif
