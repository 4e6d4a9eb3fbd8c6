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
    STRIP_INTERVALS = 43,
    LINES_MOST = 24,
    FIGURES_INTERVALS = 18
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
    bars->width = picture->kind == PICTURE_BARS ? STRIP_INTERVALS
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

/* Is the tolerance on the strip? */
static bool has_tolerance(const Picture *picture)
{
    return picture->tolerance >= picture->low && picture->tolerance <= picture->high;
}

/* The bar of the main error, to the median and beyond to the largest, or the letters of series, *
 * where several meet; a line at the tolerance. */
static void print_curves(Bars *bars, size_t panel, size_t x)
{
    const Picture *picture = bars->picture;
    bool series = picture->kind == PICTURE_SERIES;
    memset(bars->strip, series ? '.' : ' ', (size_t)bars->width);
    if (!series) {
        const PlotCell *cell = &picture_cell(picture, panel, 0, x)[picture->main];
        char figures[PLOT_SIZE_TEXT];
        memset(bars->strip, '=', (size_t)place_of(bars, cell->log10) + 1);
        memset(bars->strip, '#', (size_t)place_of(bars, cell->median) + 1);
        plot_cell_print(figures, *cell);
        fprintf(bars->file, "  %*s", bars->figures, figures);
    }
    if (has_tolerance(picture)) {
        bars->strip[place_of(bars, picture->tolerance)] = '|';
    }
    for (size_t i = 0; i < picture->curve_count; i++) {
        const Curve *curve = &picture->curves[i];
        int place = place_of(bars, picture_cell(picture, panel, curve->y, x)[curve->kind].log10);
        if (place >= 0 && curve->letter != 0 && curve->letter != '#') {
            bool meets = series && strchr(".|", bars->strip[place]) == NULL;
            bars->strip[place] = meets ? '*' : curve->letter;
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

/* A line a curve: "[=*=]", and < or > for an end that the interval goes on beyond. */
static void print_intervals(Bars *bars, size_t panel, size_t x)
{
    for (size_t i = 0; i < bars->picture->curve_count; i++) {
        const Curve *curve = &bars->picture->curves[i];
        const PlotCell *cells = picture_cell(bars->picture, panel, curve->y, x);
        char figures[CAPTION_LINE];
        searched_print(figures, sizeof figures, cells);
        fprintf(bars->file, "%s%*s %c%*s", i > 0 ? "\n" : "", i > 0 ? LABEL : 0, "", curve->letter,
                FIGURES_INTERVALS, figures);
        if (searched_found(cells)) {
            bool down = searched_goes_on(bars->picture, cells, SEARCH_MIN);
            bool up = searched_goes_on(bars->picture, cells, SEARCH_MAX);
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
    char text[CAPTION_LINE];
    marks_word(text, bars->picture, x, LABEL);
    fprintf(bars->file, "%*s", LABEL, text);
    switch (bars->picture->kind) {
    case PICTURE_HEAT: print_heat(bars, panel, x); break;
    case PICTURE_BARS: print_intervals(bars, panel, x); break;
    default: print_curves(bars, panel, x);
    }
    fputc('\n', bars->file);
}

/* The meaning of bars and letters, and the ends of the scale, as one line. */
static void write_legend(FILE *file, const Picture *picture)
{
    bool intervals = picture->kind == PICTURE_BARS, several = picture->several;
    const char *separator = intervals ? "," : "";
    char tolerance[CAPTION_LINE];
    if (intervals) {
        SearchedSigns signs = searched_signs(picture);
        fprintf(file, "Strips from %.3g to %.3g: [=] meets it%s%s", pow(10, picture->low),
                pow(10, picture->high), signs.best ? ", * the smallest error" : "",
                signs.open ? ", < > it goes on" : "");
    } else {
        fprintf(file, "Strips from 1e%.0f to 1e%.0f:", floor(picture->low) + 0.0,
                ceil(picture->high) + 0.0); /* + 0.0: no -0 */
    }
    for (size_t i = 0; i < picture->curve_count; i++) {
        const Curve *curve = &picture->curves[i];
        if (curve->letter > ' ') {
            fprintf(file, "%s %c %s%s", separator, curve->letter, curve->title,
                    several && curve->letter == '#' ? ", = beyond the median" : "");
            separator = ",";
        }
    }
    if (picture->kind == PICTURE_HEAT) {
        fprintf(file, " from blank over . : - = + * # %% to @; %s from left to right: %s to %s",
                plot_axis_name(picture->y), picture_y_text(picture, 0),
                picture_y_text(picture, picture->y_count - 1));
    } else if (picture->kind == PICTURE_SERIES) {
        fputs(", * several", file);
    }
    if (!intervals && has_tolerance(picture) && picture->kind != PICTURE_HEAT) {
        caption_tolerance(tolerance, sizeof tolerance, picture);
        fprintf(file, ", | %s", tolerance);
    }
}

/* What is said above and below the panels, in lines; 0, or -1 when memory is short. */
static int print_legend(FILE *file, const Picture *picture)
{
    char *legend = NULL;
    size_t size = 0;
    FILE *stream = text_stream(&legend, &size);
    if (stream != NULL) {
        write_legend(stream, picture);
    }
    if (stream == NULL || fclose(stream) != 0) {
        return -1;
    }
    (void)caption_wrap(file, legend, WIDTH);
    free(legend);
    return 0;
}

int bars_print(FILE *file, const Picture *picture)
{
    Bars bars = {.file = file, .picture = picture};
    char *caption = caption_make(picture, false), text[CAPTION_LINE];
    if (caption == NULL) {
        return -1;
    }
    lay_out(&bars);
    caption_title(text, sizeof text, picture);
    fprintf(file, "%s%s%s\n", text, *text != '\0' ? "; " : "", caption_unit(picture));
    int status = print_legend(file, picture);
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
    fputs(*caption != '\0' ? "\n" : "", file);
    (void)caption_wrap(file, caption, WIDTH);
    free(caption);
    return ferror(file) ? -1 : status;
}
