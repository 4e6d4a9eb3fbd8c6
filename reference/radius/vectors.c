/*
 * Which tier's operations on vectors of doubles are in use.
 */
#include "vectors.h"

#include "../numbers/tier.h"

const VectorOperations *vectors(void)
{
    TIER_TABLES(VectorOperations, vectors);
    return vectors_of[tier_in_use()];
}
