/*
 * Which tier's vectors do what is done for several entries at a time.
 */
#include "wide.h"

#include "../numbers/tier.h"

const WideOperations *wide(void)
{
    TIER_TABLES(WideOperations, wide_operations);
    return wide_operations_of[tier_in_use()];
}
