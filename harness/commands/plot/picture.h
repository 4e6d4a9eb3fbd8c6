/*
 * What is drawn: which axis runs along the picture, what makes its curves and its panels, and the
 * errors that are in each place.
 *
 * The axis with the most values runs along x.  A second one makes curves of its own, or, with many
 * values, the other side of a heat map.  Words (constructions, arithmetics, masks) make panels that
 * share their scales.  Over what is left, seeds above all, a place has the smallest error, the
 * median and the largest.
 *
 * Umbrella header: for curves.c, and for places.c, where each axis of the rows goes.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_PICTURE_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_PICTURE_H

#include "data.h"

typedef enum {
    PICTURE_ERRORS, /* a curve an error */
    PICTURE_SERIES, /* a curve a value of the second axis */
    PICTURE_HEAT,   /* a cell a value of both axes */
    PICTURE_BARS    /* a bar an interval of Omega, those of the second axis side by side */
} PictureKind;

enum { PANELS_MOST = 16, PANEL_COLUMNS = 4, SERIES_MOST = 8 };

/* Where an axis of the rows went. */
typedef enum {
    PLACE_FIXED, /* it has one value, or hangs on another axis */
    PLACE_X,     /* along the picture */
    PLACE_Y,     /* curves, or up the picture */
    PLACE_PANEL, /* a panel a value */
    PLACE_SPAN,  /* what its values span is in one place; of searches what all of them meet */
    PLACE_ONE    /* drawn where it has its most frequent value */
} Place;

/* The user's wishes for a picture. */
typedef struct {
    const char *x;               /* the axis along it; NULL: what varies most */
    int error;                   /* the one error drawn, an ErrorKind; -1: all */
    double tolerance;            /* the logarithm of what is to be met; NAN: what the rows say */
    bool laws;                   /* lines of `growth` over the curves */
    const char *title, *caption; /* NULL: its own; "": none */
    double width, height;        /* of a file's, pixels; 0: what it takes */
    const double *omegas;        /* [omega_count], ascending: their places give them colours */
    size_t omega_count;
} PictureWish;

/* Colours of Okabe and Ito, which the colour-blind can tell apart; gnuplot's numbers of dashes and
 * of points, 0: the curve has none. */
typedef struct {
    unsigned colour;
    double width;
    int dash, point;
} Style;

/* A curve in every panel; of searches the intervals, of a heat map the row of a value of y. */
enum { CURVE_TITLE = 256 };
typedef struct {
    ErrorKind kind; /* not of intervals */
    size_t y;
    Style style;
    char letter;             /* for it on a terminal; 0: it is not there */
    char title[CURVE_TITLE]; /* "": it is not in the legend */
} Curve;

typedef struct {
    const PlotData *data;
    PictureWish wish;
    PictureKind kind;
    Place places[PLOT_AXES];
    size_t one[PLOT_AXES];          /* of PLACE_ONE: the value */
    size_t x, y;                    /* axes; PLOT_AXES: none */
    size_t *x_order, x_count;       /* values of x in their order */
    size_t *y_order, y_count;       /* of y; without a y there is one */
    bool categories;                /* x's values are words */
    size_t panel_count;             /* rows of each panel agree in the axes of PLACE_PANEL */
    size_t panel_row[PANELS_MOST];  /* one of them */
    size_t columns;                 /* of panels by two axes or more, row by row; else 0 */
    PlotCell (*cells)[ERROR_KINDS]; /* [panel_count][y_count][x_count] */
    bool several;                   /* some place has more rows than one */
    size_t *scratch;                /* [4 rows + 4], of places_find */
    size_t undrawn;                 /* rows that have no value of x */
    ErrorKind main;   /* the error that is judged, and drawn where there is one alone */
    double tolerance; /* its logarithm, or NAN */
    Curve *curves;    /* [curve_count], in the order in which they are drawn */
    size_t curve_count;
    double low, high; /* of the scale, logarithms */
    double top;       /* of what is drawn: crosses, for what is not finite, are above all that is */
} Picture;

/* Decides on *picture, which is empty ({0}) before; data stays.  0; 2 after a message: --x names no
 * axis that varies, or nothing is there to draw; 99.  Clear it in every case. */
int picture_make(Picture *picture, const PlotData *data, const PictureWish *wish)
    __attribute__((warn_unused_result));
void picture_clear(Picture *picture);

/* Is there one place alone, and so nothing to draw? */
bool picture_is_point(const Picture *picture);

/* The errors in a place: indices below panel_count, y_count, x_count. */
const PlotCell *picture_cell(const Picture *picture, size_t panel, size_t y, size_t x);

/* The value of x, or of y, by its place in their order, as it is written. */
const char *picture_x_text(const Picture *picture, size_t x);
const char *picture_y_text(const Picture *picture, size_t y);

/* Has the error a curve, or a place? */
bool picture_shows(const Picture *picture, ErrorKind kind);

/* Is there any of it that has a logarithm? */
bool picture_has(const Picture *picture, ErrorKind kind);

/* The widest run of x whose main error, the largest in its place, is within the tolerance: from
 * *first to *last.  false: there is no tolerance, or nothing meets it. */
bool picture_meets(const Picture *picture, size_t panel, size_t *first, size_t *last);

/* Finds the curves, once cells, kind and main error are there.  0, or 99 after a message. */
int curves_find(Picture *picture) __attribute__((warn_unused_result));

/* Finds the places of all axes, and the panels.  x: the axis that is to be along the picture, or
 * NULL.  0; 2 after a message: there is no such axis, or it has one value; 99. */
int places_find(Picture *picture, const char *x) __attribute__((warn_unused_result));

/* Is a row drawn: has it a value of x, and those of PLACE_ONE? */
bool places_draw(const Picture *picture, size_t row);

/* The panel of a row; panel_count: none that is there. */
size_t places_panel(const Picture *picture, size_t row);

#endif
