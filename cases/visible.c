/*
 * Which token may attend to which, by the kind of mask.
 */
#include "construct.h"

#include "draw.h"

/* Keys of the random mask, beside a row itself. */
#define RANDOM_SHARE 0.5

bool mask_allows(const CaseSpec *spec, size_t i, size_t j)
{
    switch (spec->mask) {
    case MASK_PSEUDO_BAND: return j <= i && i - j < spec->band;
    case MASK_PSEUDO_RANDOM:
        return i == j || draw_uniform(spec->seed, draw_hash("mask"), 0, i, j) < RANDOM_SHARE;
    default: return j <= i;
    }
}

double mask_entries(const CaseSpec *spec)
{
    double entries = 0;
    for (size_t e = 0; mask_is_pseudo(spec->mask) && e < spec->n * spec->n; e++) {
        entries += mask_allows(spec, e / spec->n, e % spec->n);
    }
    return entries;
}
