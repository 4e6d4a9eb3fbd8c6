/*
 * The marks along the axes of a picture, and where along x its values are drawn.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_MARKS_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_MARKS_H

#include "caption.h"

#include <stdio.h>

/* Words below an axis are cut to so many characters. */
enum { MARK_WORD = 16 };

/* Where the value of x with that index is drawn: a number or its logarithm; words, the cells
 * of heat maps and the bars of searches side by side. */
double marks_x_place(const Picture *picture, size_t x);

/* A value of x as a word of at most so many characters: of a path the file's name alone. */
void marks_word(char text[CAPTION_LINE], const Picture *picture, size_t x, size_t width);

/* Writes the range of x and its marks, so that none touches another where the axis is `width`
 * pixels long; not named: marks without their numbers. */
void marks_write_x(FILE *file, const Picture *picture, double width, bool named);

/* Writes the marks of y on a heat map, whose axis is `height` pixels long. */
void marks_write_y(FILE *file, const Picture *picture, double height);

/* 1, 2, 5, 10, 20, ...: the smallest of which at most `most` fit into span. */
double marks_step(double span, double most);

#endif
