/*
 * The words of a picture: titles of axes and panels, and the caption, which says all that is fixed.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_CAPTION_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_CAPTION_H

#include "picture.h"

#include <stdio.h>

/* Room for a line of words. */
enum { CAPTION_LINE = 512 };

/* text [size] = the picture's title. */
void caption_title(char *text, size_t size, const Picture *picture);

/* The meaning of an axis: "omega: the large constant". */
void caption_axis(char *text, size_t size, size_t axis);

/* In what errors are measured. */
const char *caption_unit(const Picture *picture);

/* "silu, causal": what the panel's rows have in common, "" where all do. */
void caption_panel(char *text, size_t size, const Picture *picture, size_t panel);

/* The value of y that makes a curve: "omega 20". */
void caption_series(char *text, size_t size, const Picture *picture, size_t y);

/* Cuts a text to so many characters of UTF-8, 5 or more: dots stand in place of its middle, since
 * paths differ at their ends. */
void caption_cut(char *text, size_t width);

/* The name of an error: "construction". */
const char *caption_error(ErrorKind kind);

/* "tolerance 1e-12" */
void caption_tolerance(char *text, size_t size, const Picture *picture);

/* The caption as paragraphs, a line each, to be freed; NULL: memory is short.  drawn: of curves and
 * colours, not of letters. */
char *caption_make(const Picture *picture, bool drawn) __attribute__((warn_unused_result));

/* What there is to be said of a picture of one place, as a line. */
void caption_point(FILE *file, const Picture *picture);

/* Writes text in lines of at most so many characters; returns their number. */
size_t caption_wrap(FILE *file, const char *text, size_t width);

#endif
