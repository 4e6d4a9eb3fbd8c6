/*
 * One panel of a picture in gnuplot's words.
 *
 * All that is drawn is a logarithm already, x too where its values span much: gnuplot's own
 * logarithmic axes take doubles, and 1e-868 is none.
 */
#include "panel.h"

#include "marks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Curves of more points have none drawn. */
enum { POINTS_MOST = 48 };
/* What is free above and below the curves, as a part of the scale. */
#define MARGIN 0.04

/* The colours of Okabe and Ito, which the colour-blind can tell apart. */
static const Style errors[ERROR_KINDS] = {
    [ERROR_APPROXIMATION] = {0xCC79A7, 1, 13, 1.6},
    [ERROR_CONSTRUCTION] = {0x0072B2, 1, 5, 1.8},
    [ERROR_ROUNDING] = {0xD55E00, 1, 9, 1.8},
    [ERROR_NATIVE] = {0x009E73, 2, 0, 1.8},
    [ERROR_TOTAL] = {0xBBBBBB, 1, 0, 7},
    [ERROR_OBSERVED] = {0x56B4E9, 4, 0, 1.6},
};
static const Style series[SERIES_MOST + 1] = {
    {0xD55E00, 1, 7, 1.8},  {0x0072B2, 1, 5, 1.8},  {0x009E73, 1, 9, 1.8},
    {0xCC79A7, 1, 13, 1.8}, {0xE69F00, 1, 11, 1.8}, {0x56B4E9, 1, 6, 1.8},
    {0x000000, 1, 4, 1.8},  {0x7F7F7F, 1, 8, 1.8},  {0x882255, 1, 12, 1.8},
};

Style panel_error_style(ErrorKind kind)
{
    return errors[kind];
}

Style panel_series_style(size_t y)
{
    return series[y % (SERIES_MOST + 1)];
}

/* What is not finite is a cross above all that is; without any there is no room for them. */
static double cross_place(const Picture *picture)
{
    size_t count = picture->panel_count * picture->y_count * picture->x_count;
    double room = 2 * MARGIN * (picture->high - picture->low);
    for (size_t i = 0; i < count; i++) {
        for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
            double value = picture->cells[i][kind].log10;
            if (isinf(value) && value > 0 && picture_shows(picture, kind)) {
                return picture->high + room;
            }
        }
    }
    return picture->high;
}

void panel_write_axes(FILE *file, const Picture *picture, double width, double height, bool named)
{
    double span = picture->high - picture->low;
    double margin = picture->kind == PICTURE_BARS ? 0 : span * MARGIN;
    double step = marks_step(picture->high - picture->low, 7);
    marks_write_x(file, picture, width, named);
    if (picture->kind == PICTURE_HEAT) {
        fprintf(file, "set yrange [-0.5:%.17g]\n", (double)picture->y_count - 0.5);
        marks_write_y(file, picture, height);
        fprintf(file, "set cbrange [%.17g:%.17g]\nset cbtics %.17g\nset format cb '10^{%%.0f}'\n",
                picture->low, picture->high, step);
        fputs("set palette defined (0 '#440154', 1 '#46327e', 2 '#365c8d', 3 '#277f8e', "
              "4 '#1fa187', 5 '#4ac16d', 6 '#a0da39', 7 '#fde725')\n",
              file);
        return;
    }
    fprintf(file, "set yrange [%.17g:%.17g]\nset ytics %.17g\n", picture->low - margin,
            cross_place(picture) + margin, step);
    fputs("set grid ytics lc rgb '#DDDDDD' lt 1 lw 0.6\n", file);
}

/* ---- Data ------------------------------------------------------------------------------------ */

static void write_number(FILE *file, double value)
{
    if (isfinite(value)) {
        fprintf(file, " %.9g", value);
    } else {
        fputs(" NaN", file);
    }
}

/* A line a value of x: x, the six errors, the same where they are only bounds, and the top of the
 * picture where one that is drawn is not finite. */
static void write_line(FILE *file, const Picture *picture, const PlotCell *cells, size_t x)
{
    bool infinite = false, none = true;
    for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
        none = none && isnan(cells[kind].log10);
    }
    if (none) { /* no row is there, and no gap in the curve */
        return;
    }
    fprintf(file, "%.9g", marks_x_place(picture, x));
    for (int bounds = 0; bounds < 2; bounds++) {
        for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
            double value = cells[kind].log10;
            infinite = infinite || (isinf(value) && value > 0 && picture_shows(picture, kind));
            write_number(file, bounds == 1 && !cells[kind].bound ? NAN : value);
        }
    }
    write_number(file, infinite ? cross_place(picture) : NAN);
    fputc('\n', file);
}

/* x, y and what is there; of what is not finite NaN, and y once more. */
static void write_heat_data(FILE *file, const Picture *picture, size_t panel)
{
    for (size_t y = 0; y < picture->y_count; y++) {
        for (size_t x = 0; x < picture->x_count; x++) {
            PlotCell cell = picture_cell(picture, panel, y, x)[picture->main];
            if (isfinite(cell.log10)) {
                fprintf(file, "%zu %zu %.9g\n", x, y, cell.log10);
            } else if (cell.log10 > 0) {
                fprintf(file, "%zu %zu NaN %zu\n", x, y, y);
            }
        }
    }
}

void panel_write_data(FILE *file, const Picture *picture, size_t panel)
{
    size_t blocks = picture->kind == PICTURE_HEAT ? 1 : picture->y_count;
    for (size_t y = 0; y < blocks; y++) {
        fprintf(file, "$p%zus%zu << END\n", panel, y);
        for (size_t x = 0; x < picture->x_count && picture->kind != PICTURE_HEAT; x++) {
            write_line(file, picture, picture_cell(picture, panel, y, x), x);
        }
        if (picture->kind == PICTURE_HEAT) {
            write_heat_data(file, picture, panel);
        }
        fputs("END\n", file);
    }
}

/* ---- Curves ---------------------------------------------------------------------------------- */

/* What there is to draw of an error; points: how many. */
typedef struct {
    size_t points;
    bool bounds, infinite;
} Holds;

static Holds look_at(const Picture *picture, size_t panel, size_t y, ErrorKind kind)
{
    Holds found = {0};
    for (size_t x = 0; x < picture->x_count; x++) {
        PlotCell cell = picture_cell(picture, panel, y, x)[kind];
        found.points += isfinite(cell.log10) ? 1 : 0;
        found.bounds = found.bounds || (isfinite(cell.log10) && cell.bound);
        found.infinite = found.infinite || (isinf(cell.log10) && cell.log10 > 0);
    }
    return found;
}

/* One curve, in a style; thin: without points. */
static void write_curve(FILE *file, const Picture *picture, size_t panel, size_t y, ErrorKind kind,
                        Style style)
{
    Holds holds = look_at(picture, panel, y, kind);
    bool alone = picture->categories || holds.points == 1;
    const char *with = alone ? "points" : style.point == 0 ? "lines" : "linespoints";
    int point = style.point == 0 && alone ? 7 : style.point;
    double size = style.width > 5 && alone ? 1.3 : 0.5;
    size_t apart = picture->x_count > POINTS_MOST ? picture->x_count / 8 : 1;
    if (holds.points > 0) {
        fprintf(file, ", $p%zus%zu using 1:%d with %s lc rgb '#%06X'", panel, y, 2 + (int)kind,
                with, style.colour);
        if (!alone) {
            fprintf(file, " lw %.3g dt %d", style.width, style.dash);
        }
        if (point != 0) {
            fprintf(file, " pt %d ps %.2g", point, size);
        }
        if (point != 0 && apart > 1 && !alone) {
            fprintf(file, " pi %zu", apart);
        }
    }
    if (holds.bounds) {
        fprintf(file, ", $p%zus%zu using 1:%d with points lc rgb '#%06X' pt 10 ps 0.8", panel, y,
                2 + (int)ERROR_KINDS + (int)kind, style.colour);
    }
    if (holds.infinite) {
        fprintf(file, ", $p%zus%zu using 1:%d with points lc rgb '#AA0000' pt 2 ps 0.7", panel, y,
                2 + 2 * (int)ERROR_KINDS);
    }
}

/* The interval that meets the tolerance, and the tolerance. */
static void write_tolerance(FILE *file, const Picture *picture, size_t panel)
{
    size_t first, last;
    if (isnan(picture->tolerance)) {
        return;
    }
    if (picture->kind == PICTURE_ERRORS && picture_meets(picture, panel, &first, &last)) {
        double wide = picture->categories ? 0.4 : 0;
        fprintf(file,
                "set object rectangle from %.9g, graph 0 to %.9g, graph 1 behind fillcolor rgb "
                "'#E8F3DC' fillstyle solid noborder\n",
                marks_x_place(picture, first) - wide, marks_x_place(picture, last) + wide);
    }
    if (picture->tolerance > picture->low && picture->tolerance < picture->high) {
        fprintf(file,
                "set arrow from graph 0, first %.9g to graph 1, first %.9g nohead lc rgb '#444444' "
                "dt 2 lw 1\n",
                picture->tolerance, picture->tolerance);
    }
}

/* The native error is the original's, the same for every curve's value: a band below them. */
static void write_series(FILE *file, const Picture *picture, size_t panel)
{
    const Style band = {0xDDDDDD, 1, 0, 6};
    for (size_t y = 0; y < picture->y_count && picture_shows(picture, ERROR_NATIVE) &&
                       picture->main != ERROR_NATIVE;
         y++) {
        write_curve(file, picture, panel, y, ERROR_NATIVE, band);
    }
    for (size_t y = 0; y < picture->y_count; y++) {
        Style style = panel_series_style(y);
        write_curve(file, picture, panel, y, picture->main, style);
        if (picture->main != ERROR_CONSTRUCTION && picture_shows(picture, ERROR_CONSTRUCTION)) {
            style.dash = 3;
            style.point = 0;
            write_curve(file, picture, panel, y, ERROR_CONSTRUCTION, style);
        }
    }
}

/* A cell a value; a cross where it is not finite. */
static void write_heat(FILE *file, const Picture *picture, size_t panel)
{
    bool infinite = false;
    for (size_t y = 0; y < picture->y_count; y++) {
        infinite = infinite || look_at(picture, panel, y, picture->main).infinite;
    }
    fprintf(file,
            "plot NaN notitle, $p%zus0 using 1:2:($1-.51):($1+.51):($2-.51):($2+.51):3 with "
            "boxxyerror fillstyle solid noborder fillcolor palette notitle",
            panel);
    if (infinite) {
        fprintf(file, ", $p%zus0 using 1:4 with points lc rgb '#AA0000' pt 2 ps 0.7", panel);
    }
    fputc('\n', file);
}

void panel_write(FILE *file, const Picture *picture, size_t panel)
{
    static const ErrorKind order[] = {ERROR_TOTAL,        ERROR_NATIVE,        ERROR_ROUNDING,
                                      ERROR_CONSTRUCTION, ERROR_APPROXIMATION, ERROR_OBSERVED};
    if (picture->kind == PICTURE_HEAT) {
        write_heat(file, picture, panel);
        return;
    }
    write_tolerance(file, picture, panel);
    fputs("plot NaN notitle", file); /* a panel without any curve has its axes */
    for (size_t i = 0; i < ERROR_KINDS && picture->kind == PICTURE_ERRORS; i++) {
        if (picture_shows(picture, order[i])) {
            Style style = errors[order[i]];
            style.width = picture->only_main ? 1.8 : style.width;
            style.colour = picture->only_main ? 0x0072B2 : style.colour;
            write_curve(file, picture, panel, 0, order[i], style);
        }
    }
    if (picture->kind == PICTURE_SERIES) {
        write_series(file, picture, panel);
    }
    fputc('\n', file);
}
