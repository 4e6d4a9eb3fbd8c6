/*
 * Digits of entries that are neighbours in memory (private to reference/product/wide/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_PACK_BESIDE_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_PACK_BESIDE_H

#include "pack.h"

/* As pack_lines.  False, and nothing to be relied on: not done. */
#define pack_beside TIER(pack_beside)
bool pack_beside(uint64_t *out, int64_t (*sum)[TILE_COLUMNS], const Packing *p)
    __attribute__((warn_unused_result));

#endif
