/*
 * Radii of a layer that is evaluated elsewhere than a run went: what it begins with.
 */
#include "bounds.h"
#include "internal.h"

/* Is what a bank of a token's row holds handed on: some of it, and all? */
typedef struct {
    bool some, all;
} HandedOn;

static HandedOn handed_on(const Radius *r, Columns cleared, int bank)
{
    size_t first = radius_bank(r, bank).first, end = first + radius_bank(r, bank).count;
    size_t from = cleared.first > first ? cleared.first : first;
    size_t to = cleared.first + cleared.count < end ? cleared.first + cleared.count : end;
    size_t kept = to > from ? to - from : 0;
    return (HandedOn){kept < end - first, kept == 0};
}

/* The radius of x + e, rounded, in 2^-bits (C32). */
static double sum_radius(const Radius *r, size_t i, int b)
{
    double rounding = radius_bank_norm(r, r->sum, i, b, 0);
    return bound_up(r->rho[i].bank[b] + bound_scaled(r->eta[i].bank[b], r->unit) + rounding);
}

/* (C42) */
void radius_restart(Radius *r, const Radius *from, RadiusBegins begins, Columns cleared)
{
    r->ready = false;
    r->unit = from->unit;
    r->bits = from->bits;
    for (size_t k = 0; k < r->rows * BANKS; k++) {
        size_t i = k / BANKS;
        int b = (int)(k % BANKS);
        HandedOn own = {false, false};
        if (i != layout_bias_row(r->layout)) {
            own = handed_on(from, cleared, b);
        }
        bool moved = begins == BEGINS_AT_MACHINE || (begins == BEGINS_AT_SUM && own.some);
        bool exact = begins == BEGINS_AT_MACHINE && own.all;
        r->zero[k] = from->zero[k] && !moved;
        r->rho[i].bank[b] = exact ? 0 : moved ? sum_radius(from, i, b) : from->rho[i].bank[b];
        r->eta[i].bank[b] = begins == BEGINS_CHANGE && own.some ? from->eta[i].bank[b] : 0;
    }
}
