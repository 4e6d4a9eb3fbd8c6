/*
 * Gated heads as numbers (private to reference/guarantee/).
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_PART_GATES_H
#define HEADPROOF_REFERENCE_GUARANTEE_PART_GATES_H

#include "part.h"

/* As part_make does. */
GuaranteeStatus gates_make(GateBound *gates, const char **reason, const Sublayer *sublayer,
                           const Layout *layout, const GateBound *before)
    __attribute__((warn_unused_result));

#endif
