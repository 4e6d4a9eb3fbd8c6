/*
 * Searches for the worst input.
 */
#include "climb.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

uint64_t drawn_numbers = 27;

double drawn_uniform(void)
{
    drawn_numbers = drawn_numbers * 6364136223846793005 + 1442695040888963407;
    return (double)(int64_t)(drawn_numbers & ~(uint64_t)2047) * 0x1p-63;
}

size_t drawn_below(size_t limit)
{
    return (size_t)((drawn_uniform() + 1) / 2 * (double)limit) % limit;
}

double climb(const Climb *climb, double top, int drawn, int moved)
{
    void *best = malloc(climb->size);
    assert_non_null(best);
    memcpy(best, climb->input, climb->size);
    for (int t = 0; t < drawn + moved; t++) {
        memcpy(climb->input, best, climb->size);
        (t < drawn ? climb->draw : climb->move)(climb->search);
        double found = climb->value(climb->search);
        if (found > top) {
            top = found;
            memcpy(best, climb->input, climb->size);
        }
    }
    memcpy(climb->input, best, climb->size);
    free(best);
    return top;
}
