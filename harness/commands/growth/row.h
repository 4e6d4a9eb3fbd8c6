/*
 * A row of the table of laws (docs/growth.md): what the rows of its series share, the law, theory,
 * and with --check or --predict what it says of one size.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_GROWTH_ROW_H
#define HEADPROOF_HARNESS_COMMANDS_GROWTH_ROW_H

#include "../../grid/grid.h"
#include "law.h"

#include <stdio.h>

/* term: whose axis the row is about.  x: sizes that the law is held against, in `band`, NULL: the
 * law alone; row: of the table, which is of these sizes but that on the term's axis; measured: what
 * it has, or NULL. */
typedef struct {
    const Series *series;
    const Law *law;
    size_t term, row;
    const double *x;
    const PlotCell *measured;
    Band band;
} LawRow;

/* Is what was measured within the band, or a bound that may be?  Nothing always is. */
bool row_fits(const LawRow *row);

/* row: a LawRow (outcome.h).  0, or -1 (errno). */
int growth_write_header(FILE *file, const RunOptions *run) __attribute__((warn_unused_result));
int growth_write_row(FILE *file, const void *row) __attribute__((warn_unused_result));

/* "transformer, n=12: rounding rel along depth 2 to 32: 10^-15.06 depth^0.520 (+- 0.011)", and what
 * else there is to say, for a terminal; row: a LawRow. */
void growth_print(FILE *file, const void *row);

/* Its beginning, to the axis. */
void growth_print_series(FILE *file, const LawRow *row);

#endif
