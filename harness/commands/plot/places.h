/*
 * Where each axis of the rows goes: along the picture, up it, into panels, or nowhere.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_PLACES_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_PLACES_H

#include "picture.h"

/* Finds the places of all axes, and the panels.  x: the axis that is to be along the picture, or
 * NULL.  0; 2 after a message: there is no such axis, or it has one value; 99. */
int places_find(Picture *picture, const char *x) __attribute__((warn_unused_result));

/* Is a row drawn: has it a value of x, and those of PLACE_ONE? */
bool places_draw(const Picture *picture, size_t row);

/* The panel of a row; panel_count: none that is there. */
size_t places_panel(const Picture *picture, size_t row);

#endif
