/*
 * The operations of this tier.
 */
#include "exp.h"
#include "wide.h"
#include "words.h"

const WideOperations TIER(wide_operations) = {
    .lanes = LANES,
    .tile_rows = TILE_ROWS,
    .rows_pay = LANES > 2,
    .exp_digits = EXP_DIGITS,
    .rows = wide_rows,
    .measure = wide_measure,
    .guards = wide_guards,
    .multiply = wide_multiply,
    .exp = wide_exp,
    .exp_row = wide_exp_row,
    .reduce = wide_reduce,
    .split = wide_split,
};
