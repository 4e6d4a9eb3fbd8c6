/*
 * The operations of this tier.
 */
#include "wide.h"
#include "words.h"

const WideOperations TIER(wide_operations) = {
    .lanes = LANES,
    .rows = wide_rows,
    .measure = wide_measure,
    .guards = wide_guards,
    .multiply = wide_multiply,
    .exp = wide_exp,
    .exp_row = wide_exp_row,
    .reduce = wide_reduce,
};
