/*
 * The axes of a picture in gnuplot's words: where values of x are drawn, and their marks.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_MARKS_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_MARKS_H

#include "caption.h"

#include <stdio.h>

/* Words below an axis are cut to so many characters. */
enum { MARK_WORD = 16 };

/* A shorter scale of logarithms has a mark at every power of ten: gnuplot would have some
 * between. */
enum { MARKS_EACH = 5 };

/* Writes a string as gnuplot reads it, in '...', within which nothing but ' means anything; a
 * newline is joined to it. */
void marks_quote(FILE *file, const char *text);

/* Where the value of x with that index is drawn: a number or its logarithm; words, the cells of
 * heat maps and the intervals of searches side by side. */
double marks_x_place(const Picture *picture, size_t x);

/* A value of x as a word of at most so many characters: of a path the file's name alone. */
void marks_word(char text[CAPTION_LINE], const Picture *picture, size_t x, size_t width);

/* Writes the range of x and its marks, so that none touches another where the axis is `width`
 * pixels long. */
void marks_write_x(FILE *file, const Picture *picture, double width);

/* Writes the marks of y on a heat map, whose axis is `height` pixels long. */
void marks_write_y(FILE *file, const Picture *picture, double height);

#endif
