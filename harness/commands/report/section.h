/*
 * The section of a report about one file, as HTML: verdict, picture, rows, failures, where it was
 * run.
 *
 * Umbrella header: for drawing.c, its picture, and listing.c, its rows, too.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_REPORT_SECTION_H
#define HEADPROOF_HARNESS_COMMANDS_REPORT_SECTION_H

#include "subject.h"

#include "../plot/picture.h"

#include <stdio.h>

/* "FAIL: 3 of 12 points; 4 rows fail", as text. */
enum { SECTION_VERDICT = 240 };
void section_verdict(char text[SECTION_VERDICT], const Subject *subject);

/* Writes the section of the subject with that number, from 0; wish: for its picture.  0; 99 after a
 * message; what the stream came to is its own to say. */
int section_write(FILE *file, const Subject *subject, const PictureWish *wish, size_t number)
    __attribute__((warn_unused_result));

/* Text as HTML has it. */
void section_text(FILE *file, const char *text);

/* Writes the picture of the table at path as a figure: SVG, for wide pages and for narrow ones, or
 * text where gnuplot is not installed; of one point a sentence.  number: of the picture on the
 * page, from 0, so that no two parts of it have one name.  A table with nothing to draw has none.
 * 0, or 99 after a message. */
int drawing_write(FILE *file, const char *path, const PictureWish *wish, size_t number)
    __attribute__((warn_unused_result));

/* Writes the first rows, those that fail before others, in the columns that say something. */
void listing_write(FILE *file, const Subject *subject);

/* A cell's text: a number with an exponent has three digits, as on a terminal. */
void listing_value(FILE *file, const char *text);

#endif
