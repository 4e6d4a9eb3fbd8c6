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
        change.kept[b][b] = one;
        change.limit[b] = unbounded;
    }
    return change;
}

void state_apply(State *state, const Change *change)
{
    State before = *state;
    for (int b = 0; b < BANKS; b++) {
        Magnitude added = none;
        Origin origin = {none, 0, GUARANTEE_ATTENTION};
        state->error[b] = state->leak[b] = state->gain[b] = none;
        for (int a = 0; a < BANKS; a++) {
            Magnitude kept = change->kept[a][b], size = product(kept, before.origin[a].size);
            state->error[b] = sum(state->error[b], product(kept, before.error[a]));
            state->leak[b] = sum(state->leak[b], product(kept, before.leak[a]));
            state->gain[b] = sum(state->gain[b], product(kept, before.gain[a]));
            if (origin.sublayer == 0 || magnitude_above(size, origin.size)) {
                origin = before.origin[a];
                origin.size = size;
            }
        }
        for (int t = 0; t < GUARANTEE_TERMS; t++) {
            added = sum(added, change->term[b][t]);
            if (origin.sublayer == 0 || magnitude_above(change->term[b][t], origin.size)) {
                origin = (Origin){change->term[b][t], state->sublayer, (GuaranteeTerm)t};
            }
        }
        state->error[b] = least(sum(state->error[b], added), change->limit[b]);
        state->leak[b] = least(sum(state->leak[b], added), change->limit[b]);
        state->origin[b] = origin;
    }
}

bool reads_normed(const Part *part, Bank bank)
{
    return part->norm.there && part->norm.bank == bank && part->kind != PART_NORM;
}

Magnitude tokens_read(const Part *part, const State *state, Bank bank)
{
    return reads_normed(part, bank) ? part->norm.root_d
                                    : sum(state->rows[bank], state->error[bank]);
}

Magnitude limit_tokens_read(const Part *part, const State *state, Bank bank)
{
    return reads_normed(part, bank) ? part->norm.root_d : state->rows[bank];
}

Magnitude steepest_read(const Part *part, const State *state, Bank bank)
{
    return reads_normed(part, bank) ? norm_steepest(&part->norm, state->error[bank]) : one;
}

Magnitude bias_row_read(const Part *part, const State *state, Bank bank)
{
    Magnitude b = state->bias_row[bank];
    return reads_normed(part, bank) && part->norm.bias_row
               ? least(part->norm.root_d, product(b, part->norm.steepest))
               : b;
}
