/*
 * From what a section says to the points it means.
 *
 * Umbrella header: for expand_check.c, what is refused on the way: contradictions between axes,
 * with a weights file, or with the command, and sizes beyond the machine.  Every check returns 0,
 * or 2 after a message that blames the flag or the key.
 */
#ifndef HEADPROOF_HARNESS_GRID_EXPAND_H
#define HEADPROOF_HARNESS_GRID_EXPAND_H

#include "grid.h"
#include "settings.h"

/* Points before duplicates go. */
#define POINTS_MOST 1000000

/* Appends the product of the section's axes to the grid's points, those set in flags taking
 * precedence, the last axis fastest; canonical, and checked: contradictions, also with a weights
 * file, and sizes beyond the machine.
 * 0; 2 or 99 after one message. */
int expand_section(Grid *grid, const Section *section, const Section *flags,
                   const CommandInfo *command, const RunOptions *run)
    __attribute__((warn_unused_result));

/* Keeps the first of equal points, in order. */
void expand_deduplicate(Grid *grid);

/* The product of one section's axes, and a place in it. */
typedef struct {
    const Setting *settings[AXIS_COUNT]; /* as they apply; NULL where nobody set one */
    const Section *section;
    const CommandInfo *command;
    const RunOptions *run;
    Grid *grid;               /* where its points go */
    size_t place[AXIS_COUNT]; /* the value of each axis, an index into its list */
    double memory;            /* what is there, in bytes */
    double room;              /* what layers may take, as in ModelFileFlags */
    ModelSource *source;      /* the weights file of this place, or NULL */
} Product;

/* How many values the axis has here: 1 where nobody set one. */
size_t product_values(const Product *product, Axis axis);

/* Prints a complaint about what was set for an axis, or, where it was not, about the section;
 * returns 2. */
int product_reject(const Product *product, Axis axis, const char *expected);

/* At most POINTS_MOST points, with those before the section. */
int product_check_count(const Product *product) __attribute__((warn_unused_result));

/* A construction fits what the weights file holds.  *skip: it does not, but `all` named it, so that
 * it is left out. */
int product_check_fit(const Product *product, const Point *point, bool *skip)
    __attribute__((warn_unused_result));

/* The weights file has a model and rows, as far as the command needs them, and leaves nothing open
 * that its model computes. */
int product_check_source(const Product *product, const Point *point)
    __attribute__((warn_unused_result));

/* The axes of a canonical point do not contradict each other, and its sizes are possible. */
int product_check_point(const Product *product, const Point *point)
    __attribute__((warn_unused_result));

#endif
