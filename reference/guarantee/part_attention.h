/*
 * Attention heads as numbers (private to reference/guarantee/).
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_PART_ATTENTION_H
#define HEADPROOF_REFERENCE_GUARANTEE_PART_ATTENTION_H

#include "part.h"

/* As part_make does. */
GuaranteeStatus attention_make(AttentionBound *attention, const char **reason,
                               const Sublayer *sublayer, const Layout *layout, const Matrix *rows)
    __attribute__((warn_unused_result));

/* What head h makes of rows: x V [rows, d], and the bias beside it [1, d].  false: memory is
 * short. */
bool attention_values(Matrix *values, Matrix *bias, const Sublayer *attention, size_t h,
                      const Matrix *rows) __attribute__((warn_unused_result));

#endif
