/*
 * Tables of min-omega read for a picture: the interval of Omegas that a search found.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_SEARCHED_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_SEARCHED_H

#include "picture.h"

#include "../../base/csv_read.h"

/* The cells of a row of min-omega, in place of errors: the ends and the best as logarithms, bound
 * where an end is open, which is as far as was tried; is there none?  1, or 0; and what is proven
 * of every input. */
enum { SEARCH_MIN, SEARCH_MAX, SEARCH_BEST, SEARCH_NONE, SEARCH_PROVEN, SEARCH_CELLS };

/* Is it a table of min-omega? */
bool searched_is(const Csv *csv);

/* Is it one in which a search found an interval? */
bool searched_any(const Csv *csv);

/* The cells of a row.  0; 2 after a message with file, line and token. */
int searched_take(PlotCell cells[ERROR_KINDS], const Csv *csv, size_t row)
    __attribute__((warn_unused_result));

/* cells = what meets the tolerance in both; cells that are all NAN have none yet. */
void searched_join(PlotCell cells[ERROR_KINDS], const PlotCell other[ERROR_KINDS]);

/* Is there an interval in these cells?  Was one sought in vain?  Neither: no row is there. */
bool searched_found(const PlotCell *cells);
bool searched_none(const PlotCell *cells);

/* Sets the ends of the picture's scale: of all ends that are known and no further than machines'
 * numbers are from overflow, and of the best.  0; 2 after a message: there is nothing to draw. */
int searched_scale(Picture *picture) __attribute__((warn_unused_result));

/* Does the interval go on beyond that end, SEARCH_MIN or SEARCH_MAX, of the scale? */
bool searched_goes_on(const Picture *picture, const PlotCell *cells, int end);

/* "13.6 to 2.1e+06", with what is not known left away. */
void searched_print(char *text, size_t size, const PlotCell *cells);

/* The signs beside intervals. */
typedef struct {
    bool best, open, none;
} SearchedSigns;
SearchedSigns searched_signs(const Picture *picture);

#endif
