/*
 * Errors through a sublayer, and what it reads.
 */
#include "state.h"

#include "part.h"

#include <math.h>

Change change_none(void)
{
    const Magnitude unbounded = {INFINITY, 0};
    Change change = {0};
    for (int b = 0; b < BANKS; b++) {
        change.own[b] = one;
        change.limit[b] = unbounded;
    }
    return change;
}

/* What `before` had, kept so many times. */
static void keep(State *state, int b, Magnitude kept, const State *before, int a)
{
    Origin origin = before->origin[a];
    origin.size = product(kept, origin.size);
    state->error[b] = sum(state->error[b], product(kept, before->error[a]));
    state->apart[b] = sum(state->apart[b], product(kept, before->apart[a]));
    state->leak[b] = sum(state->leak[b], product(kept, before->leak[a]));
    state->gain[b] = sum(state->gain[b], product(kept, before->gain[a]));
    if (state->origin[b].sublayer == 0 || magnitude_above(origin.size, state->origin[b].size)) {
        state->origin[b] = origin;
    }
}

void state_apply(State *state, const Change *change)
{
    State before = *state;
    for (int b = 0; b < BANKS; b++) {
        Magnitude added = none;
        state->error[b] = state->apart[b] = state->leak[b] = state->gain[b] = none;
        state->origin[b] = (Origin){none, 0, GUARANTEE_ATTENTION};
        keep(state, b, change->own[b], &before, b);
        for (int a = 0; a < BANKS; a++) {
            keep(state, b, change->kept[a][b], before.read, a);
        }
        for (int t = 0; t < GUARANTEE_TERMS; t++) {
            Origin *origin = &state->origin[b];
            added = sum(added, change->term[b][t]);
            if (origin->sublayer == 0 || magnitude_above(change->term[b][t], origin->size)) {
                *origin = (Origin){change->term[b][t], state->sublayer, (GuaranteeTerm)t};
            }
        }
        state->error[b] = least(sum(state->error[b], added), change->limit[b]);
        state->leak[b] = least(sum(state->leak[b], added), change->limit[b]);
        state->apart[b] = least(state->apart[b], change->limit[b]);
    }
    state->apart[BANK_CONTENT] = sum(state->apart[BANK_CONTENT], change->apart);
}

Read read_of(const Part *part, const State *state, Bank bank)
{
    const State *from = state->read;
    const NormBound *norm = &part->norm;
    Magnitude row = from->rows[bank], b = from->bias_row[bank];
    if (!norm->there || norm->bank != bank || part->kind == PART_NORM) {
        return (Read){false, sum(row, from->error[bank]), row, b, one};
    }
    return (Read){true, norm->root_d, norm->root_d,
                  norm->bias_row ? least(norm->root_d, product(b, norm->steepest)) : b,
                  norm_steepest(norm, from->error[bank])};
}
