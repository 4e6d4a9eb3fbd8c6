/*
 * A picture as text.
 *
 * A line is a value of x: its main error in figures, then a strip as wide as the scale, where a bar
 * reaches to the error, and letters stand for the others.
 */
#include "bars.h"

#include "caption.h"
#include "marks.h"
#include "searched.h"

#include "../../base/text_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 80,
    LABEL = 13,
    STRIP_MOST = 52,
    STRIP_LEAST = 20,
    STRIP_HEAT = 64,
    STRIP_BARS = 43,
    LINES_MOST = 24,
    FIGURES_BARS = 18
};

typedef struct {
    FILE *file;
    const Picture *picture;
    int figures, width;         /* columns of the figures and of the strip */
    char strip[STRIP_HEAT + 1]; /* of the line being written */
} Bars;

/* Room for the longest figure, and what is left for the strip. */
static void lay_out(Bars *bars)
{
    const Picture *picture = bars->picture;
    size_t count = picture->panel_count * picture->x_count;
    bars->figures = 8;
    for (size_t i = 0; i < count && picture->kind == PICTURE_ERRORS; i++) {
        char text[PLOT_SIZE_TEXT];
        plot_cell_print(text, picture->cells[i][picture->main]);
        bars->figures = (int)strlen(text) > bars->figures ? (int)strlen(text) : bars->figures;
    }
    int left = WIDTH - LABEL - 2 - bars->figures - 2;
    bars->width = picture->kind == PICTURE_BARS ? STRIP_BARS
                  : left > STRIP_MOST           ? STRIP_MOST
                  : left < STRIP_LEAST          ? STRIP_LEAST
                                                : left;
}

/* The place on the strip of a logarithm, from 0; below the scale: -1. */
static int place_of(const Bars *bars, double value)
{
    double share = (value - bars->picture->low) / (bars->picture->high - bars->picture->low);
    if (isnan(value) || share < 0) {
        return -1;
    }
    return share >= 1 ? bars->width - 1 : (int)floor(share * (bars->width - 1) + 0.5);
}

/* Writes the strip without the blanks at its end. */
static void write_strip(Bars *bars, int width)
{
    while (width > 0 && bars->strip[width - 1] == ' ') {
        width--;
    }
    fprintf(bars->file, "  %.*s", width, bars->strip);
}

static char error_letter(ErrorKind kind)
{
    return kind == ERROR_APPROXIMATION ? 'a' : *caption_error(kind);
}

/* The bar of the main error, and the others' letters. */
static void print_errors(Bars *bars, const PlotCell *cells)
{
    const Picture *picture = bars->picture;
    char figures[PLOT_SIZE_TEXT];
    memset(bars->strip, ' ', (size_t)bars->width);
    memset(bars->strip, '#', (size_t)place_of(bars, cells[picture->main].log10) + 1);
    for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
        int place = place_of(bars, cells[kind].log10);
        if (kind != picture->main && place >= 0 && picture_shows(picture, kind)) {
            bars->strip[place] = error_letter(kind);
        }
    }
    plot_cell_print(figures, cells[picture->main]);
    fprintf(bars->file, "  %*s", bars->figures, figures);
    write_strip(bars, bars->width);
}

/* A letter a value of y, * where several meet. */
static void print_series(Bars *bars, size_t panel, size_t x)
{
    memset(bars->strip, '.', (size_t)bars->width);
    for (size_t y = 0; y < bars->picture->y_count; y++) {
        PlotCell cell = picture_cell(bars->picture, panel, y, x)[bars->picture->main];
        int place = place_of(bars, cell.log10);
        if (place >= 0) {
            bars->strip[place] = bars->strip[place] == '.' ? (char)('a' + y) : '*';
        }
    }
    write_strip(bars, bars->width);
}

/* ' ' to '@': how large, from the lower end of the scale to its upper; 'X': not finite;
 * '?': nothing is known. */
static void print_heat(Bars *bars, size_t panel, size_t x)
{
    static const char shades[] = " .:-=+*#%@";
    const Picture *picture = bars->picture;
    size_t count = picture->y_count < STRIP_HEAT ? picture->y_count : STRIP_HEAT;
    for (size_t y = 0; y < count; y++) {
        double value = picture_cell(picture, panel, y, x)[picture->main].log10;
        int place = place_of(bars, value);
        char shade = shades[place < 0 ? 0 : place * 10 / bars->width];
        bars->strip[y] = isnan(value) ? '?' : isinf(value) && value > 0 ? 'X' : shade;
    }
    write_strip(bars, (int)count);
}

/* "13.6 to 2.1e+06", with what is not known left away. */
static void print_figures(FILE *file, const PlotCell *cells)
{
    char ends[2][16], text[48];
    bool down = cells[SEARCH_MIN].bound, up = cells[SEARCH_MAX].bound;
    for (int i = 0; i < 2; i++) {
        PlotCell end = cells[i == 0 ? SEARCH_MIN : SEARCH_MAX];
        snprintf(ends[i], sizeof ends[i], "%.3g", end.mantissa * pow(10, (double)end.exponent));
    }
    if (!searched_found(cells)) {
        snprintf(text, sizeof text, "%s", searched_none(cells) ? "none" : "-");
    } else if (down && up) {
        snprintf(text, sizeof text, "all tried");
    } else if (up) {
        snprintf(text, sizeof text, "%s up", ends[0]);
    } else {
        snprintf(text, sizeof text, "%s%s%s", down ? "" : ends[0], down ? "to " : " to ", ends[1]);
    }
    fprintf(file, "%*s", FIGURES_BARS, text);
}

/* A line a value of y: "[=*=]", and < or > for an end that is as far as was tried. */
static void print_intervals(Bars *bars, size_t panel, size_t x)
{
    size_t count = bars->picture->y_count;
    for (size_t y = 0; y < count; y++) {
        const PlotCell *cells = picture_cell(bars->picture, panel, y, x);
        fprintf(bars->file, "%s%*s %c", y > 0 ? "\n" : "", y > 0 ? LABEL : 0, "",
                count > 1 ? (char)('a' + y) : ' ');
        print_figures(bars->file, cells);
        if (searched_found(cells)) {
            bool down = cells[SEARCH_MIN].bound, up = cells[SEARCH_MAX].bound;
            int first = down ? 0 : place_of(bars, cells[SEARCH_MIN].log10);
            int last = up ? bars->width - 1 : place_of(bars, cells[SEARCH_MAX].log10);
            int best = place_of(bars, cells[SEARCH_BEST].log10);
            memset(bars->strip, ' ', (size_t)bars->width);
            memset(bars->strip + first, '=', (size_t)(last - first) + 1);
            bars->strip[last] = up ? '>' : first == last ? '|' : ']';
            if (first < last || down) {
                bars->strip[first] = down ? '<' : '[';
            }
            if (best >= 0) {
                bars->strip[best] = '*';
            }
            write_strip(bars, bars->width);
        }
    }
}

/* The values of x that get a line: the ends, and others evenly between. */
static bool has_line(const Picture *picture, size_t x)
{
    size_t count = picture->x_count;
    if (count <= LINES_MOST) {
        return true;
    }
    size_t line = (x * (LINES_MOST - 1) + (count - 1) / 2) / (count - 1);
    size_t chosen = (line * (count - 1) + (LINES_MOST - 1) / 2) / (LINES_MOST - 1);
    return x == chosen;
}

static void print_line(Bars *bars, size_t panel, size_t x)
{
    const Picture *picture = bars->picture;
    char text[CAPTION_LINE];
    marks_word(text, picture, x, LABEL);
    fprintf(bars->file, "%*s", LABEL, text);
    switch (picture->kind) {
    case PICTURE_ERRORS: print_errors(bars, picture_cell(picture, panel, 0, x)); break;
    case PICTURE_SERIES: print_series(bars, panel, x); break;
    case PICTURE_HEAT: print_heat(bars, panel, x); break;
    case PICTURE_BARS: print_intervals(bars, panel, x); break;
    }
    fputc('\n', bars->file);
}

/* ", a omega 20, b omega 30" */
static void write_letters(FILE *file, const Picture *picture, const char *separator)
{
    for (size_t y = 0; y < picture->y_count; y++) {
        char text[CAPTION_LINE];
        caption_series(text, sizeof text, picture, y);
        fprintf(file, "%s %c %s", y == 0 ? separator : ",", (char)('a' + y), text);
    }
}

/* The meaning of bars and letters, and the ends of the scale, as one line. */
static void write_legend(FILE *file, const Picture *picture)
{
    if (picture->kind == PICTURE_BARS) {
        SearchedSigns signs = searched_signs(picture);
        fprintf(file, "Strips from %.3g to %.3g: [=] meets it%s%s", pow(10, picture->low),
                pow(10, picture->high), signs.best ? ", * the smallest error" : "",
                signs.open ? ", < > as far as was tried" : "");
        if (picture->y_count > 1) {
            write_letters(file, picture, ",");
        }
        return;
    }
    fprintf(file, "Strips from 1e%.0f to 1e%.0f:", floor(picture->low) + 0.0,
            ceil(picture->high) + 0.0); /* + 0.0: no -0 */
    if (picture->kind == PICTURE_ERRORS) {
        fprintf(file, " # %s", caption_error(picture->main));
        for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
            if (kind != picture->main && picture_shows(picture, kind)) {
                fprintf(file, ", %c %s", error_letter(kind), caption_error(kind));
            }
        }
    } else if (picture->kind == PICTURE_SERIES) {
        write_letters(file, picture, "");
        fputs(", * several", file);
    } else {
        fprintf(file, " from blank over . : - = + * # %% to @; %s from left to right: %s to %s",
                plot_axis_name(picture->y), picture_y_text(picture, 0),
                picture_y_text(picture, picture->y_count - 1));
    }
}

int bars_print(FILE *file, const Picture *picture)
{
    Bars bars = {.file = file, .picture = picture};
    char *caption = caption_make(picture), *legend = NULL, text[CAPTION_LINE];
    size_t size = 0;
    FILE *stream = caption == NULL ? NULL : text_stream(&legend, &size);
    if (stream != NULL) {
        write_legend(stream, picture);
    }
    if (stream == NULL || fclose(stream) != 0) {
        free(caption);
        return -1;
    }
    lay_out(&bars);
    caption_title(text, sizeof text, picture);
    fprintf(file, "%s; %s\n", text, caption_unit(picture));
    caption_wrap(file, legend, WIDTH);
    free(legend);
    for (size_t panel = 0; panel < picture->panel_count; panel++) {
        caption_panel(text, sizeof text, picture, panel);
        fprintf(file, "\n%*.*s%s%s\n", LABEL, LABEL, plot_axis_name(picture->x),
                *text != '\0' ? "  " : "", text);
        for (size_t x = 0; x < picture->x_count; x++) {
            if (has_line(picture, x)) {
                print_line(&bars, panel, x);
            }
        }
    }
    fputc('\n', file);
    caption_wrap(file, caption, WIDTH);
    free(caption);
    return ferror(file) ? -1 : 0;
}
