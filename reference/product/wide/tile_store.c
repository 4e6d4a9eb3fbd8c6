/*
 * Tiles of C stored: rows of LANES entries at once where that can be, and each by itself.
 */
#include "tile_store.h"

#include "round.h"
#include "tile_row.h"

enum { CACHE_LINE = 64 };

/* Where the limbs are is a guess, that of a matrix whose limbs lie as its headers do. */
void tile_fetch(const TilePlace *at)
{
    mpfr_srcptr c = at->plan->c.entry;
    const char *limbs = (const char *)mpfr_custom_get_significand(c);
    const size_t size = (size_t)(mpfr_get_prec(c) + 63) / 64 * sizeof(mp_limb_t);
    for (size_t r = 0; r < TILE_ROWS && at->i + r < at->plan->m; r++) {
        size_t first = at->plan->row_at[at->i + r] + at->plan->column_at[at->j];
        for (size_t byte = 0; byte < LANES * sizeof *c; byte += CACHE_LINE) {
            __builtin_prefetch((const char *)(c + first) + byte, 1);
        }
        for (size_t byte = 0; byte < LANES * size; byte += CACHE_LINE) {
            __builtin_prefetch(limbs + first * size + byte, 1);
        }
    }
}

static void store_lane(Store *store, const TileResult *result, const TilePlace *at, size_t r,
                       size_t lane)
{
    const size_t limbs = (at->columns * DIGIT + 63) / 64;
    mp_limb_t limb[TILE_LIMBS];
    for (size_t l = 0; l < limbs; l++) {
        limb[l] = result->limb[r][l][lane];
    }
    store_integer(store, at->plan, at->i + r, at->j + lane,
                  (ScaledInteger){limb, limbs, result->negative[r] >> lane & 1,
                                  2 - DIGIT * (long)(at->columns - 1)});
}

/* Is the tile's row r to be what it is multiplied to?  So is one that is to be added to zeros. */
static bool is_set(const TilePlace *at, size_t r)
{
    const size_t columns = at->plan->n - at->j;
    const size_t lanes = columns < LANES ? columns : LANES;
    size_t lane = 0;
    while (at->plan->add && lane < lanes &&
           mpfr_zero_p(plan_entry(at->plan, at->i + r, at->j + lane))) {
        lane++;
    }
    return !at->plan->add || lane == lanes;
}

/* The entries of row r that have a bit in `wanted`: rounded at once, but for those that need
 * another way. */
static void store_row(Store *store, const TileResult *result, const TilePlace *at, size_t r,
                      unsigned wanted)
{
    const Plan *plan = at->plan;
    const long unit = 2 - DIGIT * (long)(at->columns - 1);
    mp_limb_t aside[ROUND_LIMBS], *to[LANES];
    int64_t exponent[LANES];
    mpfr_prec_t precision = mpfr_get_prec(plan->c.entry);
    unsigned done = 0;
    if (precision <= 64 * ROUND_LIMBS && is_set(at, r)) {
        for (size_t lane = 0; lane < LANES; lane++) {
            to[lane] = (wanted >> lane & 1) != 0
                           ? mpfr_custom_get_significand(plan_entry(plan, at->i + r, at->j + lane))
                           : aside;
        }
        done = round_integers(exponent, to, result->limb[r], (at->columns * DIGIT + 63) / 64,
                              precision);
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        if ((wanted >> lane & 1) != 0 &&
            ((done >> lane & 1) == 0 ||
             !store_rounded(store, plan, at->i + r, at->j + lane, exponent[lane] + unit,
                            result->negative[r] >> lane & 1))) {
            store_lane(store, result, at, r, lane);
        }
    }
}

void tile_store(Store *store, TileWorkspace *work, const TilePlace *at)
{
    const size_t columns = at->plan->n - at->j;
    const unsigned lanes = columns < LANES ? (1U << columns) - 1 : (1U << LANES) - 1;
    unsigned left[TILE_ROWS] = {0}, any = 0;
    for (size_t r = 0; r < TILE_ROWS && at->i + r < at->plan->m; r++) {
        left[r] = lanes & ~tile_store_row(store, &work->tile, at, r, !is_set(at, r));
        any |= left[r];
    }
    if (any == 0) {
        return;
    }
    tile_finish(&work->result, &work->tile, at->columns, at->a_correction, at->b_correction);
    for (size_t r = 0; r < TILE_ROWS && at->i + r < at->plan->m; r++) {
        store_row(store, &work->result, at, r, left[r]);
    }
}
