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

/* Row r of the tile. */
static TilePlace row_of(const TilePlace *at, size_t r)
{
    TilePlace row = *at;
    row.i += r;
    row.a_correction += r;
    return row;
}

/* Limb i of a row's entries is limb[i][lane]. */
static void store_lane(const TilePlace *row, const TileRow *limb, bool negative, size_t lane)
{
    const size_t limbs = (row->columns * DIGIT + 63) / 64;
    mp_limb_t own[TILE_LIMBS];
    for (size_t l = 0; l < limbs; l++) {
        own[l] = limb[l][lane];
    }
    store_integer(row->range, row->plan, row->i, row->j + lane,
                  (ScaledInteger){own, limbs, negative, 2 - DIGIT * (long)(row->columns - 1)});
}

/* Is the row to be what it is multiplied to?  So is one that is to be added to zeros. */
static bool is_set(const TilePlace *row)
{
    const size_t columns = row->plan->n - row->j;
    const size_t lanes = columns < LANES ? columns : LANES;
    size_t lane = 0;
    while (row->plan->add && lane < lanes &&
           mpfr_zero_p(plan_entry(row->plan, row->i, row->j + lane))) {
        lane++;
    }
    return !row->plan->add || lane == lanes;
}

/* The entries of a row that have a bit in `wanted`: rounded at once, but for those that need
 * another way. */
static void store_row(const TilePlace *row, const TileRow *limb, unsigned negative, unsigned wanted)
{
    const Plan *plan = row->plan;
    const long unit = 2 - DIGIT * (long)(row->columns - 1);
    mp_limb_t aside[ROUND_LIMBS], *to[LANES];
    int64_t exponent[LANES];
    mpfr_prec_t precision = mpfr_get_prec(plan->c.entry);
    unsigned done = 0;
    if (precision <= 64 * ROUND_LIMBS && is_set(row)) {
        for (size_t lane = 0; lane < LANES; lane++) {
            to[lane] = (wanted >> lane & 1) != 0
                           ? mpfr_custom_get_significand(plan_entry(plan, row->i, row->j + lane))
                           : aside;
        }
        done = round_integers(exponent, to, limb, (row->columns * DIGIT + 63) / 64, precision);
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        if ((wanted >> lane & 1) != 0 &&
            ((done >> lane & 1) == 0 ||
             !store_rounded(row->range, plan, row->i, row->j + lane, exponent[lane] + unit,
                            negative >> lane & 1))) {
            store_lane(row, limb, negative >> lane & 1, lane);
        }
    }
}

void tile_store(TileWorkspace *work, const TilePlace *at)
{
    const size_t columns = at->plan->n - at->j;
    const unsigned lanes = columns < LANES ? (1U << columns) - 1 : (1U << LANES) - 1;
    unsigned left[TILE_ROWS] = {0}, any = 0;
    for (size_t r = 0; r < TILE_ROWS && at->i + r < at->plan->m; r++) {
        const TilePlace row = row_of(at, r);
        left[r] = lanes & ~tile_store_row((const TileRow *)work->tile.sum[r], &row, !is_set(&row));
        any |= left[r];
    }
    if (any == 0) {
        return;
    }
    tile_finish(&work->result, &work->tile, at->columns, at->a_correction, at->b_correction);
    for (size_t r = 0; r < TILE_ROWS && at->i + r < at->plan->m; r++) {
        const TilePlace row = row_of(at, r);
        store_row(&row, (const TileRow *)work->result.limb[r], work->result.negative[r], left[r]);
    }
}
