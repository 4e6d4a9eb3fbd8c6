/*
 * What is drawn: which axis runs along the picture, what makes its curves and its panels, and the
 * errors that are in each place.
 *
 * The axis with the most values runs along x.  A second one makes curves of its own, or, with many
 * values, the other side of a heat map.  Words (constructions, arithmetics, masks) make panels that
 * share their scales.  Over what is left, seeds above all, the largest error is taken.
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

enum { PANELS_MOST = 16, SERIES_MOST = 8 };

/* Where an axis of the rows went. */
typedef enum {
    PLACE_FIXED,   /* it has one value, or hangs on another axis */
    PLACE_X,       /* along the picture */
    PLACE_Y,       /* curves, or up the picture */
    PLACE_PANEL,   /* a panel a value */
    PLACE_LARGEST, /* the largest error over its values is drawn, or what meets it at all */
    PLACE_ONE      /* drawn where it has its most frequent value */
} Place;

/* The user's wishes for a picture. */
typedef struct {
    const char *x;    /* the axis along it; NULL: what varies most */
    int error;        /* the one error drawn, an ErrorKind; -1: all */
    double tolerance; /* the logarithm of what is to be met; NAN: what the rows say */
    bool laws;        /* lines of `growth` over the curves */
} PictureWish;

typedef struct {
    const PlotData *data;
    PictureKind kind;
    Place places[PLOT_AXES];
    size_t one[PLOT_AXES];          /* of PLACE_ONE: the value */
    size_t x, y;                    /* axes; PLOT_AXES: none */
    size_t *x_order, x_count;       /* values of x in their order */
    size_t *y_order, y_count;       /* of y; without a y there is one */
    bool categories;                /* x's values are words */
    size_t panel_count;             /* rows of each panel agree in the axes of PLACE_PANEL */
    size_t panel_row[PANELS_MOST];  /* one of them */
    PlotCell (*cells)[ERROR_KINDS]; /* [panel_count][y_count][x_count] */
    size_t *scratch;                /* [4 rows + 4], of places_find */
    size_t undrawn;                 /* rows that have no value of x */
    ErrorKind main;   /* the error that is judged, and drawn where there is one alone */
    bool only_main;   /* it alone is drawn */
    bool laws;        /* lines of `growth` are, over numbers side by side */
    double tolerance; /* its logarithm, or NAN */
    double low, high; /* of the scale, logarithms */
} Picture;

/* Decides on *picture, which is empty ({0}) before; data stays.  0; 2 after a message: --x names no
 * axis that varies, or nothing is there to draw; 99.  Clear it in every case. */
int picture_make(Picture *picture, const PlotData *data, const PictureWish *wish)
    __attribute__((warn_unused_result));
void picture_clear(Picture *picture);

/* The errors in a place: indices below panel_count, y_count, x_count. */
const PlotCell *picture_cell(const Picture *picture, size_t panel, size_t y, size_t x);

/* The value of x, or of y, by its place in their order, as it is written. */
const char *picture_x_text(const Picture *picture, size_t x);
const char *picture_y_text(const Picture *picture, size_t y);

/* Is the error among those drawn, and is there any of it? */
bool picture_shows(const Picture *picture, ErrorKind kind);

/* The widest run of x whose main error is within the tolerance: from *first to *last.  false: there
 * is no tolerance, or nothing meets it. */
bool picture_meets(const Picture *picture, size_t panel, size_t *first, size_t *last);

#endif
