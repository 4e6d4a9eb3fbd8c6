/*
 * The picture of a table inside a page.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_REPORT_DRAWING_H
#define HEADPROOF_HARNESS_COMMANDS_REPORT_DRAWING_H

#include "../plot/picture.h"

#include <stdio.h>

/* Writes the picture of the table at path as a figure: SVG, for wide pages and for narrow ones, or
 * text where gnuplot is not installed; of one point a sentence.  number: of the picture on the
 * page, from 0, so that no two parts of it have one name.  A table with nothing to draw has none.
 * 0, or 99 after a message. */
int drawing_write(FILE *file, const char *path, const PictureWish *wish, size_t number)
    __attribute__((warn_unused_result));

#endif
