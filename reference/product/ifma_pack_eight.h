/*
 * Digits of eight entries at a time (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_IFMA_PACK_EIGHT_H
#define HEADPROOF_REFERENCE_PRODUCT_IFMA_PACK_EIGHT_H

#include "ifma_pack.h"

/* As ifma_pack.  False, and nothing to be relied on: not done. */
bool ifma_pack_eights(uint64_t *out, int64_t (*sum)[IFMA_COLUMNS], const IfmaPacking *p)
    __attribute__((warn_unused_result));

#endif
