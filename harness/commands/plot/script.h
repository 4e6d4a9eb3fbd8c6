/*
 * A picture as a script for gnuplot, data and all.
 *
 * Umbrella header: for blocks.c, the data; page.c, what lies where, in pixels, so that no words lie
 * on others, however many panels there are; render.c, which runs gnuplot.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_SCRIPT_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_SCRIPT_H

#include "picture.h"

#include <stdio.h>

/* The formats of a picture; the script is that of an SVG. */
typedef enum { TARGET_SVG, TARGET_PNG, TARGET_PDF, TARGET_SCRIPT, TARGET_COUNT } Target;

/* Writes a script that makes gnuplot (5.2 or later) print the picture on its stdout; what the
 * stream came to is its own to say.  0; 2 after a message: the picture is to be too low for what is
 * on it; 99 after one. */
int script_write(FILE *file, const Picture *picture, Target target)
    __attribute__((warn_unused_result));

/* The margin above and below the curves, and how far from the frame a cross stands, as a part of
 * the scale. */
#define BLOCKS_MARGIN 0.04

/* Writes $data: a block a panel and curve, of a heat map a panel.  Its lines are x, three numbers,
 * and the mark there: its place upwards, gnuplot's number of the point and its colour; the place is
 * NaN where there is none.  The numbers are of curves the median, the smallest and the largest
 * error; of an interval, which has two lines, where an arrow begins, its length, and its style,
 * from 1 on two a curve: with an edge, and with a head; of a heat map y and the error. */
void blocks_write(FILE *file, const Picture *picture);

/* How far a page's words are from the page's edge, how wide a character is, and how high the words
 * along x; pixels. */
enum { PAGE_EDGE = 24, PAGE_CHARACTER = 7, PAGE_X_TITLE = 26 };

typedef struct {
    const Picture *picture;
    char *title, *caption; /* in lines */
    bool tolerance, best;  /* the legend has a line of the first, or a point of the other */
    size_t columns, rows;  /* of panels */
    double width, height;  /* of the page */
    double panel_width, panel_height; /* of what the axes enclose */
    double legend, top, bottom;       /* where it begins; of the panels and their titles */
    double left, right, gap;          /* beside panels, and between them */
    double titles, marks;             /* above a panel, and below its axis */
} Page;

/* Lays the picture out on *page, which is empty ({0}) before.  0; 2 after a message: the height
 * that is wished is too small; 99.  Clear it in every case. */
int page_make(Page *page, const Picture *picture) __attribute__((warn_unused_result));
void page_clear(Page *page);

/* The exit code where a program that is not part of this one is not installed. */
enum { EXIT_ABSENT = 77 };

/* *text [*size], to be freed and with a NUL behind it, is the picture; TARGET_SCRIPT asks for no
 * gnuplot.  0; EXIT_ABSENT, 2 or 99 after a message. */
int render(char **text, size_t *size, const Picture *picture, Target target)
    __attribute__((warn_unused_result));

/* *drawn [*size], the same way, is what gnuplot printed for the script, a file with a descriptor.
 * 0; EXIT_ABSENT after a message that names the package; 99 after one where it failed, or the
 * machine did, or where it had not ended after so many seconds. */
int render_script(char **drawn, size_t *size, FILE *script, unsigned seconds)
    __attribute__((warn_unused_result));

#endif
