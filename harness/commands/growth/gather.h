/*
 * The rows that laws are fitted to: of tables, or of a grid, which is swept and searched in memory.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_GROWTH_GATHER_H
#define HEADPROOF_HARNESS_COMMANDS_GROWTH_GATHER_H

#include "../../grid/grid.h"
#include "series.h"

/* tables [count]: of sweeps, and of searches: so many rows are fitted, and with --check at the end
 * of one are those that are held against the laws.  evaluated: points, at most so many.  The others
 * are of the round that is being chosen: seeds from the first to before the end, of constructions
 * that are unsure; rank: of the seed among those of the section, whose first point that is. */
typedef struct {
    const Grid *grid;
    const RunOptions *run;
    Csv *tables[2];
    size_t count[2], fitted[2], evaluated, most, first, end, rank, section;
    bool unsure[CONSTRUCTION_COUNT];
} Gathered;

/* Everything that is asked, into *all, whose first two are set, and all else 0.  0; 2 or 99 after a
 * message.  Clear it in every case. */
int gather(Gathered *all) __attribute__((warn_unused_result));
void gathered_clear(Gathered *all);

/* Calls take for every series of one of them, with errors in that norm (series.h). */
int gathered_each(const Gathered *all, bool searched, Norm norm, TakeSeries *take, void *context)
    __attribute__((warn_unused_result));

#endif
