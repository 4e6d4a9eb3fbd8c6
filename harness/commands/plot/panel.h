/*
 * One panel of a picture in gnuplot's words: its data, and what draws them.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_PANEL_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_PANEL_H

#include "picture.h"

#include <stdio.h>

/* The panel that has the legend, and nothing else. */
#define PANEL_LEGEND SIZE_MAX

/* Writes the styles of all curves. */
void panel_write_styles(FILE *file);

/* Writes the range upwards and what is the same in every panel. */
void panel_write_scale(FILE *file, const Picture *picture);

/* Writes the data of a panel, to be read by panel_write. */
void panel_write_data(FILE *file, const Picture *picture, size_t panel);

/* Writes its curves, heat map or bars. */
void panel_write(FILE *file, const Picture *picture, size_t panel);

#endif
