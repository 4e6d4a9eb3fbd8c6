/*
 * The data of a picture in a script for gnuplot.
 *
 * All that is drawn upwards is a logarithm already: gnuplot's own logarithmic axes take doubles,
 * and 1e-868 is none.
 */
#include "blocks.h"

#include "marks.h"
#include "searched.h"

#include <math.h>

/* The share of a place that its bars take. */
#define BARS 0.7
/* gnuplot's numbers of points, and the colour of crosses. */
enum { POINT_CROSS = 2, POINT_DISC = 7, POINT_UP = 9, POINT_OPEN = 10, POINT_DOWN = 11 };
#define RED 0xAA0000

static bool is_infinite(PlotCell cell)
{
    return isinf(cell.log10) && cell.log10 > 0;
}

double blocks_top(const Picture *picture)
{
    size_t count = picture->panel_count * picture->y_count * picture->x_count;
    for (size_t i = 0; i < count * ERROR_KINDS; i++) {
        ErrorKind kind = (ErrorKind)(i % ERROR_KINDS);
        if (is_infinite(picture->cells[i / ERROR_KINDS][kind]) && picture_shows(picture, kind)) {
            return picture->high + 2 * BLOCKS_MARGIN * (picture->high - picture->low);
        }
    }
    return picture->high; /* without any there is no room for them */
}

static void write_number(FILE *file, bool there, double value)
{
    if (there && isfinite(value)) {
        fprintf(file, " %.9g", value);
    } else {
        fputs(" NaN", file);
    }
}

static void write_mark(FILE *file, bool there, double x, double y, int point, unsigned colour)
{
    if (there && isfinite(y)) {
        fprintf(file, "%.9g %.9g %d 0x%06X\n", x, y, point, colour);
    }
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static void write_errors(FILE *file, const Picture *picture, const PlotCell *cells, size_t x)
{
    bool none = true;
    for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
        none = none && isnan(cells[kind].log10);
    }
    if (none) { /* no row is there, and no gap in the curve */
        return;
    }
    fprintf(file, "%.9g", marks_x_place(picture, x));
    for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
        write_number(file, true, cells[kind].log10);
    }
    fputc('\n', file);
}

/* Open triangles at what is only a bound, crosses at the top. */
static void mark_errors(FILE *file, const Picture *picture, const Curve *curve, size_t panel)
{
    const unsigned on_band = 0x444444; /* a band's own colour is not seen on it */
    unsigned colour = curve->style.width > 5 ? on_band : curve->style.colour;
    double top = blocks_top(picture);
    for (size_t x = 0; x < picture->x_count; x++) {
        PlotCell cell = picture_cell(picture, panel, curve->y, x)[curve->kind];
        double place = marks_x_place(picture, x);
        write_mark(file, cell.bound, place, cell.log10, POINT_OPEN, colour);
        write_mark(file, is_infinite(cell), place, top, POINT_CROSS, RED);
    }
}

/* ---- Heat maps ------------------------------------------------------------------------------- */

static void write_heat(FILE *file, PlotCell cell, size_t y, size_t x)
{
    if (isfinite(cell.log10)) {
        fprintf(file, "%zu %zu %.9g\n", x, y, cell.log10);
    }
}

static void mark_heat(FILE *file, const Picture *picture, size_t panel)
{
    for (size_t i = 0; i < picture->y_count * picture->x_count; i++) {
        size_t y = i / picture->x_count, x = i % picture->x_count;
        PlotCell cell = picture_cell(picture, panel, y, x)[picture->main];
        write_mark(file, is_infinite(cell), (double)x, (double)y, POINT_CROSS, RED);
    }
}

/* ---- Bars ------------------------------------------------------------------------------------ */

/* Where a bar begins; *wide: its width, with what is free around it. */
static double bar_left(double *wide, const Picture *picture, size_t y, size_t x)
{
    double all = picture->x_count > 2 ? BARS : BARS / 2; /* a single one is no wall */
    *wide = all / (double)picture->y_count;
    return (double)x - all / 2 + *wide * (double)y;
}

static void write_bar(FILE *file, const Picture *picture, const PlotCell *cells, size_t y, size_t x)
{
    double wide, left = bar_left(&wide, picture, y, x);
    double gap = picture->y_count > 1 ? wide * 0.1 : 0;
    bool found = searched_found(cells);
    bool down = cells[SEARCH_MIN].bound, up = cells[SEARCH_MAX].bound;
    double low = down ? picture->low : cells[SEARCH_MIN].log10;
    double high = up ? picture->high : cells[SEARCH_MAX].log10;
    fprintf(file, "%.9g %.9g %.9g", left + wide / 2, left + gap, left + wide - gap);
    write_number(file, found, low);
    write_number(file, found, high);
    write_number(file, found && !down, low);
    write_number(file, found && !up, high);
    fputc('\n', file);
}

/* A point at the best, arrows at open ends, a cross where no Omega was found. */
static void mark_bars(FILE *file, const Picture *picture, const Curve *curve, size_t panel)
{
    double sign = (picture->high - picture->low) * BLOCKS_MARGIN;
    double low = picture->low + sign, high = picture->high - sign;
    unsigned colour = curve->style.colour;
    for (size_t x = 0; x < picture->x_count; x++) {
        const PlotCell *cells = picture_cell(picture, panel, curve->y, x);
        double wide, middle = bar_left(&wide, picture, curve->y, x) + wide / 2;
        bool found = searched_found(cells);
        write_mark(file, found, middle, cells[SEARCH_BEST].log10, POINT_DISC, colour);
        write_mark(file, found && cells[SEARCH_MIN].bound, middle, low, POINT_DOWN, colour);
        write_mark(file, found && cells[SEARCH_MAX].bound, middle, high, POINT_UP, colour);
        write_mark(file, searched_none(cells), middle, low, POINT_CROSS, RED);
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* gnuplot does not count a block without lines, and warns of one without numbers: each begins with
 * a point that no picture has room for, and an empty line, across which no curve is drawn. */
static void begin_block(FILE *file, bool first)
{
    fputs(first ? "" : "\n\n", file);
    fputs("1e300 1e300 1e300 1e300 1e300 1e300 1e300\n\n", file);
}

static void write_data(FILE *file, const Picture *picture, size_t panel)
{
    bool heat = picture->kind == PICTURE_HEAT;
    for (size_t y = 0; y < picture->y_count; y++) {
        if (y == 0 || !heat) {
            begin_block(file, panel + y == 0);
        }
        for (size_t x = 0; x < picture->x_count; x++) {
            const PlotCell *cells = picture_cell(picture, panel, y, x);
            switch (picture->kind) {
            case PICTURE_HEAT: write_heat(file, cells[picture->main], y, x); break;
            case PICTURE_BARS: write_bar(file, picture, cells, y, x); break;
            default: write_errors(file, picture, cells, x);
            }
        }
    }
}

static void write_marks(FILE *file, const Picture *picture, const Curve *curves, size_t count,
                        size_t panel)
{
    begin_block(file, panel == 0);
    if (picture->kind == PICTURE_HEAT) {
        mark_heat(file, picture, panel);
    }
    for (size_t i = 0; i < count; i++) {
        if (picture->kind == PICTURE_BARS) {
            mark_bars(file, picture, &curves[i], panel);
        } else {
            mark_errors(file, picture, &curves[i], panel);
        }
    }
}

void blocks_write(FILE *file, const Picture *picture, const Curve *curves, size_t count)
{
    fputs("$data << END\n", file);
    for (size_t panel = 0; panel < picture->panel_count; panel++) {
        write_data(file, picture, panel);
    }
    fputs("END\n$marks << END\n", file);
    for (size_t panel = 0; panel < picture->panel_count; panel++) {
        write_marks(file, picture, curves, count, panel);
    }
    fputs("END\n", file);
}
