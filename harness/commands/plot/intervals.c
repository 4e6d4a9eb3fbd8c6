/*
 * Intervals of Omega as bars, for gnuplot and for a terminal.
 */
#include "intervals.h"

#include "searched.h"

#include <math.h>
#include <string.h>

/* The share of a place that its bars take. */
#define BARS 0.7
/* How far from the frame an arrow or a cross stands, as a share of the scale. */
#define SIGN 0.04

Style intervals_style(const Picture *picture, size_t y)
{
    Style style =
        picture->y_count > 1 ? panel_series_style(y) : panel_error_style(ERROR_CONSTRUCTION);
    style.width = 6;
    style.point = 0;
    style.dash = 1;
    return style;
}

/* ---- gnuplot --------------------------------------------------------------------------------- */

static void write_number(FILE *file, bool there, double value)
{
    if (there && isfinite(value)) {
        fprintf(file, " %.9g", value);
    } else {
        fputs(" NaN", file);
    }
}

/* The columns of a line: x, left, right, low, high, the edges that are known, the best, arrows down
 * and up, a cross. */
static void write_line(FILE *file, const Picture *picture, const PlotCell *cells, size_t y,
                       size_t x)
{
    double all = picture->x_count > 2 ? BARS : BARS / 2; /* a single one is no wall */
    double wide = all / (double)picture->y_count;
    double left = (double)x - all / 2 + wide * (double)y, right = left + wide;
    double gap = picture->y_count > 1 ? wide * 0.1 : 0;
    double sign = (picture->high - picture->low) * SIGN;
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

void intervals_write_data(FILE *file, const Picture *picture, size_t panel)
{
    for (size_t y = 0; y < picture->y_count; y++) {
        fprintf(file, "$p%zus%zu << END\n", panel, y);
        for (size_t x = 0; x < picture->x_count; x++) {
            write_line(file, picture, picture_cell(picture, panel, y, x), y, x);
        }
        fputs("END\n", file);
    }
}

void intervals_write(FILE *file, const Picture *picture, size_t panel)
{
    fputs("plot NaN notitle", file);
    for (size_t y = 0; y < picture->y_count; y++) {
        unsigned colour = intervals_style(picture, y).colour;
        fprintf(file,
                ", $p%zus%zu using 1:4:2:3:4:5 with boxxyerror fillstyle solid 0.3 noborder lc rgb "
                "'#%06X' notitle",
                panel, y, colour);
        for (int edge = 6; edge <= 7; edge++) {
            fprintf(file,
                    ", $p%zus%zu using 2:%d:($3-$2):(0) with vectors nohead lw 2 lc rgb '#%06X' "
                    "notitle",
                    panel, y, edge, colour);
        }
        fprintf(file,
                ", $p%zus%zu using 1:8 with points pt 7 ps 0.6 lc rgb '#%06X' notitle"
                ", '' using 1:9 with points pt 11 ps 0.9 lc rgb '#%06X' notitle"
                ", '' using 1:10 with points pt 9 ps 0.9 lc rgb '#%06X' notitle"
                ", '' using 1:11 with points pt 2 ps 0.7 lc rgb '#AA0000' notitle",
                panel, y, colour, colour, colour);
    }
    fputc('\n', file);
}

/* ---- A terminal ------------------------------------------------------------------------------ */

static int strip_place(const Picture *picture, double value, int strip)
{
    double share = (value - picture->low) / (picture->high - picture->low);
    int place = (int)floor(share * (strip - 1) + 0.5);
    return place < 0 ? 0 : place >= strip ? strip - 1 : place;
}

static void omega_text(char text[16], PlotCell cell)
{
    double value = cell.mantissa * pow(10, (double)cell.exponent);
    snprintf(text, 16, "%.3g", value);
}

/* "13.6 to 2.1e+06", with what is not known left away. */
static void print_figures(FILE *file, const PlotCell *cells)
{
    char low[16], high[16], text[48];
    omega_text(low, cells[SEARCH_MIN]);
    omega_text(high, cells[SEARCH_MAX]);
    bool down = cells[SEARCH_MIN].bound, up = cells[SEARCH_MAX].bound;
    if (!searched_found(cells)) {
        snprintf(text, sizeof text, "%s", searched_none(cells) ? "none" : "-");
    } else if (down && up) {
        snprintf(text, sizeof text, "all tried");
    } else if (up) {
        snprintf(text, sizeof text, "%s up", low);
    } else {
        snprintf(text, sizeof text, "%s to %s", down ? "" : low, high);
    }
    fprintf(file, "%*s", INTERVAL_FIGURES, text + (*text == ' '));
}

void intervals_print(FILE *file, const Picture *picture, size_t panel, size_t y, size_t x,
                     int strip)
{
    const PlotCell *cells = picture_cell(picture, panel, y, x);
    print_figures(file, cells);
    if (!searched_found(cells)) {
        return;
    }
    bool down = cells[SEARCH_MIN].bound, up = cells[SEARCH_MAX].bound;
    int first = down ? 0 : strip_place(picture, cells[SEARCH_MIN].log10, strip);
    int last = up ? strip - 1 : strip_place(picture, cells[SEARCH_MAX].log10, strip);
    int best = isnan(cells[SEARCH_BEST].log10)
                   ? -1
                   : strip_place(picture, cells[SEARCH_BEST].log10, strip);
    fprintf(file, "  %*s", first, "");
    for (int i = first; i <= last; i++) {
        bool end = i == first || i == last;
        putc(i == best              ? '*'
             : i == first && down   ? '<'
             : i == last && up      ? '>'
             : end && first == last ? '|'
             : i == first           ? '['
             : i == last            ? ']'
                                    : '=',
             file);
    }
}
