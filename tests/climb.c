/*
 * Searches for the worst input.
 */
#include "climb.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

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
