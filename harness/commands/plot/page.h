/*
 * The page of a picture in a file: how large it is, and what lies where, in pixels, so that no
 * words lie on others, however many panels there are.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_PAGE_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_PAGE_H

#include "picture.h"

/* How far its words are from the page's edge, how wide a character is, and how high the words along
 * x; pixels. */
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

#endif
