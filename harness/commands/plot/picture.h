/*
 * A picture of tables: what is drawn in which place, its words, and how it becomes text, a script
 * for gnuplot, or a file.
 *
 * The axis with the most values runs along x.  A second one makes curves of its own.  Words
 * (constructions, arithmetics, masks) make panels that share their scales.  Over what is left,
 * seeds above all, a place has the smallest error, the median and the largest.
 *
 * Umbrella header: for places.c, where each axis of the rows goes; curves.c; laws.c; words.c;
 * text.c; script.c, the page, and blocks.c, its numbers; render.c, which runs gnuplot.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_PICTURE_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_PICTURE_H

#include "../../table/measures.h"

#include <stdio.h>

typedef enum {
    PICTURE_ERRORS,   /* a curve an error */
    PICTURE_SERIES,   /* a curve a value of the second axis */
    PICTURE_INTERVALS /* lines from Omega to Omega, those of the second axis side by side */
} PictureKind;

enum { PANELS_MOST = 16, PANEL_COLUMNS = 4, SERIES_MOST = 8 };

/* Where an axis of the rows went. */
typedef enum {
    PLACE_FIXED, /* it has one value, or hangs on another axis */
    PLACE_X,     /* along the picture */
    PLACE_Y,     /* a curve a value */
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

/* The summary of the rows of one place, logarithms: the largest error, the smallest and the median;
 * of a search the ends of the interval and the best.  NAN: nothing is known. */
typedef struct {
    Measure most;
    double least, median;
    bool below, above; /* of an interval: it goes on beyond that end */
    bool none;         /* of searches: no Omega meets the tolerance */
    bool there;        /* there is a row, whatever is known */
} Spot;

/* A curve in every panel. */
typedef struct {
    size_t y;
    double width;
    ErrorKind kind; /* not of intervals */
    unsigned colour;
    int dash, point; /* gnuplot's numbers; point 0: the curve has none */
    char letter;     /* for it on a terminal; 0: it is not there */
    char title[256]; /* "": it is not in the legend */
} Curve;

/* The values of an axis that have a place, from its first on: of x without a blank. */
typedef struct {
    size_t axis, first, count; /* axis MEASURE_AXES: there is none, and one place */
} Side;

typedef struct {
    const Measures *data;
    PictureWish wish;
    PictureKind kind;
    Place places[MEASURE_AXES];
    size_t one[MEASURE_AXES]; /* of PLACE_ONE: the value */
    Side x, y;
    bool categories;               /* x's values are words */
    size_t panel_count;            /* rows of each panel agree in the axes of PLACE_PANEL */
    size_t panel_row[PANELS_MOST]; /* one of them */
    size_t column;              /* an axis: panels that differ in it alone are beside each other */
    size_t columns;             /* of panels by two axes or more, row by row; else 0 */
    Spot (*spots)[ERROR_KINDS]; /* [panel_count][y.count][x.count]; of intervals the first */
    bool family;                /* curves are of the main error alone, in shades */
    bool several;               /* some place has more rows than one */
    size_t *scratch;            /* [rows + 1], while places are found and filled */
    size_t undrawn;             /* rows that have no value of x */
    ErrorKind main;             /* the error that is judged, and drawn where there is one alone */
    double tolerance;           /* its logarithm, or NAN */
    Curve *curves;              /* [curve_count], in the order in which they are drawn */
    size_t curve_count;
    double low, high; /* of the scale, logarithms */
    double top;       /* of what is drawn: crosses, for what is not finite, are above all that is */
} Picture;

/* Decides on *picture, which is empty ({0}) before; data stays.  0; 2 after a message: --x names no
 * axis that varies, or nothing is there to draw; 99.  Clear it in every case. */
int picture_make(Picture *picture, const Measures *data, const PictureWish *wish)
    __attribute__((warn_unused_result));
void picture_clear(Picture *picture);

/* Is there one place alone, and so nothing to draw? */
bool picture_is_point(const Picture *picture);

/* The spot of a curve in a place, x below x.count. */
const Spot *picture_spot(const Picture *picture, size_t panel, const Curve *curve, size_t x);

/* How many places there are. */
size_t picture_places(const Picture *picture);

/* The value of an axis that is drawn there, as it is written; "" without an axis. */
const char *picture_text(const Picture *picture, const Side *side, size_t place);

/* Is there any of the error that has a logarithm? */
bool picture_has(const Picture *picture, ErrorKind kind);

/* Is the tolerance on the scale? */
bool picture_has_tolerance(const Picture *picture);

/* The widest run of x whose main error, the largest in its place, is within the tolerance: from
 * *first to *last.  false: there is no tolerance, or nothing meets it. */
bool picture_meets(const Picture *picture, size_t panel, size_t *first, size_t *last);

/* Finds the curves, once spots, kind and main error are there.  0, or 99 after a message. */
void curves_find(Picture *picture);

/* Finds the places of all axes, and the panels.  0; 2 after a message: the axis that is wished
 * along the picture is none, or has one value; 99. */
int places_find(Picture *picture) __attribute__((warn_unused_result));

/* Is a row drawn: has it a value of x, and those of PLACE_ONE? */
bool places_draw(const Picture *picture, size_t row);

/* Orders sizes, for qsort. */
int places_compare(const void *a, const void *b);

/* The panel of a row; panel_count: none that is there. */
size_t places_panel(const Picture *picture, size_t row);

/* ---- Words ----------------------------------------------------------------------------------- */

/* A line of words: of a panel "silu, causal", "" where it is all; of a curve "omega 20"; of an axis
 * "omega: the large constant"; "tolerance 1e-12"; of an interval "13.6 to 2.1e+06". */
typedef struct {
    char text[512];
} Words;
Words words_title(const Picture *picture);
Words words_panel(const Picture *picture, size_t panel);
Words words_series(const Picture *picture, size_t y);
Words words_axis(size_t axis);
Words words_tolerance(const Picture *picture);
Words words_interval(const Spot *spot);

/* A value of x of at most so many characters of UTF-8: of a path the file's name alone. */
Words words_mark(const Picture *picture, size_t x, size_t width);

/* Dots in place of the middle of more characters: paths differ at their ends. */
Words words_cut(Words whole, size_t width);

/* In what is measured; the name of an error. */
const char *words_unit(const Picture *picture);
const char *words_error(ErrorKind kind);

/* The text below the picture, a line for each paragraph, to be freed.
 * drawn: of curves and colours, not of letters. */
char *words_caption(const Picture *picture, bool drawn) __attribute__((warn_unused_result));

/* The numbers of a picture of one place, in words. */
void words_point(FILE *file, const Picture *picture);

/* Writes text in lines of at most so many characters; returns their number. */
size_t words_wrap(FILE *file, const char *text, size_t width);

/* ---- Text ------------------------------------------------------------------------------------ */

/* Prints every panel within 80 columns, a line a value of x; of many values some, evenly spread;
 * of one place what there is to be said. */
void text_print(FILE *file, const Picture *picture);

/* ---- Files ----------------------------------------------------------------------------------- */

/* The formats of a picture; the script is that of an SVG. */
typedef enum { TARGET_SVG, TARGET_PNG, TARGET_PDF, TARGET_SCRIPT, TARGET_COUNT } Target;

/* Writes a script that makes gnuplot (5.2 or later) print the picture on its stdout; what the
 * stream came to is its own to say.  0; 2 after a message: the picture is to be too low for what is
 * on it; 99 after one. */
int script_write(FILE *file, const Picture *picture, Target target)
    __attribute__((warn_unused_result));

/* Where the value of x with that index is drawn: at its number, or that one's logarithm; words and
 * intervals side by side. */
double script_place(const Picture *picture, size_t x);

/* Writes a string as gnuplot reads it, in '...', within which nothing but ' means anything; a
 * newline is joined to it, and nothing ends what XML begins. */
void script_quote(FILE *file, const char *text);

/* Writes the range of x and its marks, on so many pixels. */
void script_write_x(FILE *file, const Picture *picture, double width);

/* Writes $data, a block a panel and curve, in the order of panels. */
void script_write_data(FILE *file, const Picture *picture);

/* Writes $laws: lines through x, y, with the panel behind them.  Of every series that the curves
 * are of, of medians over seeds; along Omega as far as each law was fitted, else across the
 * picture.  0, or 99 after a message. */
int laws_write(FILE *file, const Picture *picture) __attribute__((warn_unused_result));

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
