/*
 * The operations of this tier.
 */
#include "exp.h"
#include "wide.h"
#include "words.h"

const WideOperations TIER(wide_operations) = {
    .lanes = LANES,
    .exp_digits = EXP_DIGITS,
#if !PORTABLE
    .tile_rows = TILE_ROWS,
    .rows = wide_rows,
    .multiply = wide_multiply,
#endif
    .measure = wide_measure,
    .guards = wide_guards,
    .exp = wide_exp,
    .exp_row = wide_exp_row,
    .reduce = wide_reduce,
    .split = wide_split,
};
