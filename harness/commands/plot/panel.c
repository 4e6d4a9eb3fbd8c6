/*
 * One panel of a picture in gnuplot's words.
 *
 * All that is drawn upwards is a logarithm already: gnuplot's own logarithmic axes take doubles,
 * and 1e-868 is none.
 */
#include "panel.h"

#include "marks.h"
#include "searched.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Curves of more points have none drawn. */
enum { POINTS_MOST = 48 };
/* What is free above and below the curves, and how far from the frame an arrow or a cross at bars
 * stands, as a part of the scale. */
#define MARGIN 0.04
/* The share of a place that its bars take. */
#define BARS 0.7

/* Styles by their numbers in the script: 1 + an error, and these. */
enum { STYLE_BAND = 7, STYLE_ONE, STYLE_SERIES, STYLES = STYLE_SERIES + SERIES_MOST + 1 };

/* Colours of Okabe and Ito, which the colour-blind can tell apart; gnuplot's numbers of dashes and
 * of points, 0: a curve has no points. */
static const struct {
    unsigned colour;
    double width;
    int dash, point;
} styles[STYLES] = {
    [1 + ERROR_APPROXIMATION] = {0xCC79A7, 1.6, 1, 13},
    [1 + ERROR_CONSTRUCTION] = {0x0072B2, 1.8, 1, 5},
    [1 + ERROR_ROUNDING] = {0xD55E00, 1.8, 1, 9},
    [1 + ERROR_NATIVE] = {0x009E73, 1.8, 2, 0},
    [1 + ERROR_TOTAL] = {0xBBBBBB, 7, 1, 0},
    [1 + ERROR_OBSERVED] = {0x56B4E9, 1.6, 4, 0},
    [STYLE_BAND] = {0xDDDDDD, 6, 1, 0},
    [STYLE_ONE] = {0x0072B2, 1.8, 1, 5},
    [STYLE_SERIES] = {0xD55E00, 1.8, 1, 7},
    {0x0072B2, 1.8, 1, 5},
    {0x009E73, 1.8, 1, 9},
    {0xCC79A7, 1.8, 1, 13},
    {0xE69F00, 1.8, 1, 11},
    {0x56B4E9, 1.8, 1, 6},
    {0x000000, 1.8, 1, 4},
    {0x7F7F7F, 1.8, 1, 8},
    {0x882255, 1.8, 1, 12},
};

/* Of what is not finite, and where no Omega is found. */
static const char cross[] = "with points lc rgb '#AA0000' pt 2 ps 0.7 notitle";

void panel_write_styles(FILE *file)
{
    for (int i = 1; i < STYLES; i++) {
        fprintf(file, "set style line %d lc rgb '#%06X' lw %g dt %d pt %d ps %g\n", i,
                styles[i].colour, styles[i].width, styles[i].dash,
                styles[i].point != 0 ? styles[i].point : 7, styles[i].width > 5 ? 1.3 : 0.5);
    }
}

/* ---- The scale ------------------------------------------------------------------------------- */

/* What is not finite is a cross above all that is; without any there is no room for them. */
static double cross_place(const Picture *picture)
{
    size_t count = picture->panel_count * picture->y_count * picture->x_count;
    double room = 2 * MARGIN * (picture->high - picture->low);
    for (size_t i = 0; i < count * ERROR_KINDS; i++) {
        ErrorKind kind = (ErrorKind)(i % ERROR_KINDS);
        double value = picture->cells[i / ERROR_KINDS][kind].log10;
        if (isinf(value) && value > 0 && picture_shows(picture, kind)) {
            return picture->high + room;
        }
    }
    return picture->high;
}

void panel_write_scale(FILE *file, const Picture *picture)
{
    double span = picture->high - picture->low;
    double margin = picture->kind == PICTURE_BARS ? 0 : span * MARGIN;
    const char *axis = picture->kind == PICTURE_HEAT ? "cb" : "y";
    fprintf(file, "set %stics %s\n", axis, span < MARKS_EACH ? "1" : "autofreq");
    if (picture->kind == PICTURE_HEAT) {
        fprintf(file, "set yrange [-0.5:%.17g]\nset cbrange [%.17g:%.17g]\n",
                (double)picture->y_count - 0.5, picture->low, picture->high);
        fputs("set format cb '10^{%.0f}'\nset palette defined (0 '#440154', 1 '#46327e', "
              "2 '#365c8d', 3 '#277f8e', 4 '#1fa187', 5 '#4ac16d', 6 '#a0da39', 7 '#fde725')\n",
              file);
    } else {
        fprintf(file, "set yrange [%.17g:%.17g]\n", picture->low - margin,
                cross_place(picture) + margin);
        fputs("set grid ytics lc rgb '#DDDDDD' lt 1 lw 0.6\n", file);
    }
    if (picture->tolerance > picture->low && picture->tolerance < picture->high) {
        fprintf(file,
                "set arrow from graph 0, first %.9g to graph 1, first %.9g nohead lc rgb '#444444' "
                "dt 2 lw 1\n",
                picture->tolerance, picture->tolerance);
    }
}

/* ---- Data ------------------------------------------------------------------------------------ */

static void write_number(FILE *file, bool there, double value)
{
    if (there && isfinite(value)) {
        fprintf(file, " %.9g", value);
    } else {
        fputs(" NaN", file);
    }
}

/* x, the six errors, the same where they are only bounds, and the top of the picture where one that
 * is drawn is not finite. */
static void write_errors(FILE *file, const Picture *picture, const PlotCell *cells, size_t x)
{
    bool infinite = false, none = true;
    for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
        double value = cells[kind].log10;
        none = none && isnan(value);
        infinite = infinite || (isinf(value) && value > 0 && picture_shows(picture, kind));
    }
    if (none) { /* no row is there, and no gap in the curve */
        return;
    }
    fprintf(file, "%.9g", marks_x_place(picture, x));
    for (size_t i = 0; i < 2 * ERROR_KINDS; i++) {
        PlotCell cell = cells[i % ERROR_KINDS];
        write_number(file, i < ERROR_KINDS || cell.bound, cell.log10);
    }
    write_number(file, infinite, cross_place(picture));
    fputc('\n', file);
}

/* x, left, right, low, high, the edges that are known, the best, arrows down and up, a cross. */
static void write_interval(FILE *file, const Picture *picture, const PlotCell *cells, size_t y,
                           size_t x)
{
    double all = picture->x_count > 2 ? BARS : BARS / 2; /* a single one is no wall */
    double wide = all / (double)picture->y_count, gap = picture->y_count > 1 ? wide * 0.1 : 0;
    double left = (double)x - all / 2 + wide * (double)y, right = left + wide;
    double sign = (picture->high - picture->low) * MARGIN;
    bool found = searched_found(cells), down = cells[SEARCH_MIN].bound,
         up = cells[SEARCH_MAX].bound;
    double low = down ? picture->low : cells[SEARCH_MIN].log10;
    double high = up ? picture->high : cells[SEARCH_MAX].log10;
    fprintf(file, "%.9g %.9g %.9g", (left + right) / 2, left + gap, right - gap);
    write_number(file, found, low);
    write_number(file, found, high);
    write_number(file, found && !down, low);
    write_number(file, found && !up, high);
    write_number(file, found, cells[SEARCH_BEST].log10);
    write_number(file, found && down, picture->low + sign);
    write_number(file, found && up, picture->high - sign);
    write_number(file, searched_none(cells), picture->low + sign);
    fputc('\n', file);
}

/* x, y and what is there; of what is not finite NaN, and y once more. */
static void write_heat(FILE *file, PlotCell cell, size_t y, size_t x)
{
    if (isfinite(cell.log10)) {
        fprintf(file, "%zu %zu %.9g\n", x, y, cell.log10);
    } else if (cell.log10 > 0) {
        fprintf(file, "%zu %zu NaN %zu\n", x, y, y);
    }
}

void panel_write_data(FILE *file, const Picture *picture, size_t panel)
{
    bool heat = picture->kind == PICTURE_HEAT;
    for (size_t y = 0; y < picture->y_count; y++) {
        if (y == 0 || !heat) {
            fprintf(file, "%s$p%zus%zu << END\n", y > 0 ? "END\n" : "", panel, y);
        }
        for (size_t x = 0; x < picture->x_count; x++) {
            const PlotCell *cells = picture_cell(picture, panel, y, x);
            switch (picture->kind) {
            case PICTURE_HEAT: write_heat(file, cells[picture->main], y, x); break;
            case PICTURE_BARS: write_interval(file, picture, cells, y, x); break;
            default: write_errors(file, picture, cells, x);
            }
        }
    }
    fputs("END\n", file);
}

/* ---- What is drawn --------------------------------------------------------------------------- */

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

/* An entry of the legend. */
static void write_entry(FILE *file, const char *with, int style, const char *more,
                        const char *title)
{
    fprintf(file, ", NaN with %s ls %d%s title ", with, style, more);
    marks_quote(file, title);
}

/* One curve, its bounds and its crosses; in the legend, its title, unless that is NULL. */
static void write_curve(FILE *file, const Picture *picture, size_t panel, size_t y, ErrorKind kind,
                        int style, const char *title)
{
    bool dotted = style >= STYLE_SERIES && kind != picture->main;
    const char *line = styles[style].point != 0 && !dotted ? "linespoints" : "lines";
    const char *dash = dotted ? " dt 3" : "";
    if (panel == PANEL_LEGEND) {
        if (title != NULL) {
            write_entry(file, picture->categories ? "points" : line, style, dash, title);
        }
        return;
    }
    Holds holds = look_at(picture, panel, y, kind);
    bool alone = picture->categories || holds.points == 1;
    size_t apart = picture->x_count > POINTS_MOST ? picture->x_count / 8 : 1;
    if (holds.points > 0) {
        fprintf(file, ", $p%zus%zu using 1:%d with %s ls %d%s pi %zu notitle", panel, y,
                2 + (int)kind, alone ? "points" : line, style, dash, apart);
    }
    if (holds.bounds) {
        fprintf(file, ", $p%zus%zu using 1:%d with points ls %d pt 10 ps 0.8 notitle", panel, y,
                2 + (int)ERROR_KINDS + (int)kind, style);
    }
    if (holds.infinite) {
        fprintf(file, ", $p%zus%zu using 1:%d %s", panel, y, 2 + 2 * (int)ERROR_KINDS, cross);
    }
}

static void write_all_errors(FILE *file, const Picture *picture, size_t panel)
{
    static const ErrorKind order[] = {ERROR_TOTAL,        ERROR_NATIVE,        ERROR_ROUNDING,
                                      ERROR_CONSTRUCTION, ERROR_APPROXIMATION, ERROR_OBSERVED};
    for (size_t i = 0; i < ERROR_KINDS; i++) {
        if (picture_shows(picture, order[i])) {
            bool only = picture->only_main;
            write_curve(file, picture, panel, 0, order[i], only ? STYLE_ONE : 1 + (int)order[i],
                        only ? NULL : caption_error(order[i]));
        }
    }
}

/* The native error is the original's, the same for every curve's value: a band below them. */
static void write_series(FILE *file, const Picture *picture, size_t panel)
{
    bool native = picture->main != ERROR_NATIVE && picture_shows(picture, ERROR_NATIVE);
    bool dotted = picture->main != ERROR_CONSTRUCTION && picture_shows(picture, ERROR_CONSTRUCTION);
    for (size_t y = 0; y < picture->y_count && native; y++) {
        write_curve(file, picture, panel, y, ERROR_NATIVE, STYLE_BAND, y > 0 ? NULL : "native");
    }
    for (size_t y = 0; y < picture->y_count; y++) {
        char title[CAPTION_LINE];
        int style = STYLE_SERIES + (int)y;
        caption_series(title, sizeof title, picture, y);
        write_curve(file, picture, panel, y, picture->main, style, title);
        if (dotted) {
            write_curve(file, picture, panel, y, ERROR_CONSTRUCTION, style,
                        y + 1 < picture->y_count ? NULL : "construction (dotted)");
        }
    }
}

/* A cell a value; a cross where it is not finite. */
static void write_map(FILE *file, const Picture *picture, size_t panel)
{
    bool infinite = false;
    for (size_t y = 0; y < picture->y_count; y++) {
        infinite = infinite || look_at(picture, panel, y, picture->main).infinite;
    }
    fprintf(file,
            ", $p%zus0 using 1:2:($1-.51):($1+.51):($2-.51):($2+.51):3 with "
            "boxxyerror fillstyle solid noborder fillcolor palette notitle",
            panel);
    if (infinite) {
        fprintf(file, ", $p%zus0 using 1:4 %s", panel, cross);
    }
}

/* A bar a search, from the smallest Omega to the largest, with a point at the best; an end that is
 * open, as far as was tried, has no edge and an arrow. */
static void write_intervals(FILE *file, const Picture *picture, size_t panel)
{
    bool legend = panel == PANEL_LEGEND, several = picture->y_count > 1;
    for (size_t y = 0; y < picture->y_count; y++) {
        int style = several ? STYLE_SERIES + (int)y : 1 + ERROR_CONSTRUCTION;
        char title[CAPTION_LINE] = "meets the tolerance";
        if (legend) {
            if (several) {
                caption_series(title, sizeof title, picture, y);
            }
            write_entry(file, "lines", style, " lw 6", title);
            continue;
        }
        fprintf(file,
                ", $p%zus%zu using 1:4:2:3:4:5 with boxxyerror fillstyle solid 0.3 noborder ls %d "
                "notitle",
                panel, y, style);
        for (int edge = 6; edge <= 7; edge++) {
            fprintf(file, ", '' using 2:%d:($3-$2):(0) with vectors nohead ls %d lw 2 notitle",
                    edge, style);
        }
        static const char *const points[] = {"pt 7 ps 0.6", "pt 11 ps 0.9", "pt 9 ps 0.9"};
        for (int i = 0; i < 3; i++) {
            fprintf(file, ", '' using 1:%d with points ls %d %s notitle", 8 + i, style, points[i]);
        }
        fprintf(file, ", '' using 1:11 %s", cross);
    }
    if (legend && searched_signs(picture).best) {
        fputs(", NaN with points pt 7 ps 0.6 lc rgb '#444444' title 'the smallest error'", file);
    }
}

/* The interval that meets the tolerance. */
static void write_met(FILE *file, const Picture *picture, size_t panel)
{
    size_t first, last;
    if (panel != PANEL_LEGEND && picture->kind == PICTURE_ERRORS &&
        picture_meets(picture, panel, &first, &last)) {
        double wide = picture->categories ? 0.4 : 0;
        fprintf(file,
                "set object rectangle from %.9g, graph 0 to %.9g, graph 1 behind fillcolor rgb "
                "'#E8F3DC' fillstyle solid noborder\n",
                marks_x_place(picture, first) - wide, marks_x_place(picture, last) + wide);
    }
}

void panel_write(FILE *file, const Picture *picture, size_t panel)
{
    write_met(file, picture, panel);
    fputs("plot NaN notitle", file); /* a panel without any curve has its axes */
    switch (picture->kind) {
    case PICTURE_ERRORS: write_all_errors(file, picture, panel); break;
    case PICTURE_SERIES: write_series(file, picture, panel); break;
    case PICTURE_HEAT:
        if (panel != PANEL_LEGEND) {
            write_map(file, picture, panel);
        }
        break;
    case PICTURE_BARS: write_intervals(file, picture, panel); break;
    }
    fputs("\nunset object\n", file);
}
