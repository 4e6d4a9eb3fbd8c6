/*
 * A picture as text.
 *
 * A line is a value of x: its main error in figures, then a strip as wide as the scale, where a bar
 * reaches to the error, and letters stand for the others.
 */
#include "bars.h"

#include "caption.h"
#include "intervals.h"
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
    LINES_MOST = 24,
};

/* Columns of the figures and of the strip. */
typedef struct {
    FILE *file;
    const Picture *picture;
    int figures, strip;
} Bars;

/* Room for the longest figure, and what is left for the strip. */
static void lay_out(Bars *bars)
{
    const Picture *picture = bars->picture;
    size_t count = picture->panel_count * picture->x_count;
    bars->figures = 8;
    bars->strip = STRIP_MOST;
    for (size_t i = 0; i < count && picture->kind == PICTURE_ERRORS; i++) {
        char text[PLOT_SIZE_TEXT];
        plot_cell_print(text, picture->cells[i][picture->main]);
        bars->figures = (int)strlen(text) > bars->figures ? (int)strlen(text) : bars->figures;
    }
    int left = WIDTH - LABEL - 2 - bars->figures - 2;
    bars->strip = left > STRIP_MOST ? STRIP_MOST : left < STRIP_LEAST ? STRIP_LEAST : left;
}

/* The place on the strip of an error, from 0; below the scale: -1. */
static int strip_place(const Bars *bars, double value)
{
    double share = (value - bars->picture->low) / (bars->picture->high - bars->picture->low);
    if (isnan(value) || share < 0) {
        return -1;
    }
    return share >= 1 ? bars->strip - 1 : (int)floor(share * (bars->strip - 1) + 0.5);
}

static void put_letter(char *strip, const Bars *bars, double value, char letter)
{
    int place = strip_place(bars, value);
    if (place >= 0) {
        strip[place] = letter;
    }
}

static char error_letter(ErrorKind kind)
{
    return kind == ERROR_APPROXIMATION ? 'a' : *caption_error(kind);
}

/* The bar of the main error, and the others' letters. */
static void print_errors(const Bars *bars, const PlotCell *cells)
{
    const Picture *picture = bars->picture;
    char strip[STRIP_MOST + 1], figures[PLOT_SIZE_TEXT];
    int length = strip_place(bars, cells[picture->main].log10) + 1;
    memset(strip, ' ', (size_t)bars->strip);
    strip[bars->strip] = '\0';
    memset(strip, '#', (size_t)length);
    for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
        if (kind != picture->main && picture_shows(picture, kind)) {
            put_letter(strip, bars, cells[kind].log10, error_letter(kind));
        }
    }
    plot_cell_print(figures, cells[picture->main]);
    int end = bars->strip;
    while (end > 0 && strip[end - 1] == ' ') {
        end--;
    }
    fprintf(bars->file, "  %*s  %.*s", bars->figures, figures, end, strip);
}

/* A letter a value of y, * where several meet. */
static void print_series(const Bars *bars, size_t panel, size_t x)
{
    const Picture *picture = bars->picture;
    char strip[STRIP_MOST + 1];
    memset(strip, '.', (size_t)bars->strip);
    strip[bars->strip] = '\0';
    for (size_t y = 0; y < picture->y_count; y++) {
        double value = picture_cell(picture, panel, y, x)[picture->main].log10;
        int place = strip_place(bars, value);
        char letter = (char)('a' + y);
        if (place >= 0) {
            strip[place] = strip[place] == '.' ? letter : '*';
        }
    }
    fprintf(bars->file, "  %s", strip);
}

/* ' ' to '@': how large, from the lower end of the scale to its upper; 'X': not finite;
 * '?': nothing is known. */
static void print_heat(const Bars *bars, size_t panel, size_t x)
{
    const Picture *picture = bars->picture;
    static const char shades[] = " .:-=+*#%@";
    fputs("  ", bars->file);
    for (size_t y = 0; y < picture->y_count && y < STRIP_HEAT; y++) {
        double value = picture_cell(picture, panel, y, x)[picture->main].log10;
        int place = strip_place(bars, value);
        char shade = shades[place < 0 ? 0 : place * 10 / bars->strip];
        putc(isnan(value) ? '?' : isinf(value) && value > 0 ? 'X' : shade, bars->file);
    }
}

/* A line a value of y, each with its letter. */
static void print_intervals(const Bars *bars, size_t panel, size_t x)
{
    const Picture *picture = bars->picture;
    for (size_t y = 0; y < picture->y_count; y++) {
        if (y > 0) {
            fprintf(bars->file, "\n%*s", LABEL, "");
        }
        fprintf(bars->file, " %c", picture->y_count > 1 ? (char)('a' + y) : ' ');
        intervals_print(bars->file, picture, panel, y, x, WIDTH - LABEL - INTERVAL_FIGURES - 6);
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

static void print_line(const Bars *bars, size_t panel, size_t x)
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

/* What bars and letters mean, and the ends of the scale, as one line. */
static void write_legend(FILE *file, const Picture *picture)
{
    if (picture->kind == PICTURE_BARS) {
        fprintf(file, "Strips from %.3g to %.3g: [=] meets it", pow(10, picture->low),
                pow(10, picture->high));
        fputs(searched_signs(picture).best ? ", * the smallest error" : "", file);
        fputs(searched_signs(picture).open ? ", < > as far as was tried" : "", file);
        for (size_t y = 0; y < picture->y_count && picture->y_count > 1; y++) {
            char text[CAPTION_LINE];
            caption_series(text, sizeof text, picture, y);
            fprintf(file, ", %c %s", (char)('a' + y), text);
        }
        fputc('\n', file);
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
        for (size_t y = 0; y < picture->y_count; y++) {
            char text[CAPTION_LINE];
            caption_series(text, sizeof text, picture, y);
            fprintf(file, "%s %c %s", y == 0 ? "" : ",", (char)('a' + y), text);
        }
        fputs(", * several", file);
    } else {
        fprintf(file, " from blank over . : - = + * # %% to @; %s from left to right: %s to %s",
                plot_axis_name(picture->y), picture_y_text(picture, 0),
                picture_y_text(picture, picture->y_count - 1));
    }
    fputc('\n', file);
}

static int print_legend(FILE *file, const Picture *picture)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = text_stream(&text, &size);
    if (stream == NULL) {
        return -1;
    }
    write_legend(stream, picture);
    if (fclose(stream) != 0) {
        return -1;
    }
    caption_wrap(file, text, WIDTH);
    free(text);
    return 0;
}

int bars_print(FILE *file, const Picture *picture)
{
    char *caption = caption_make(picture), text[CAPTION_LINE];
    Bars bars = {.file = file, .picture = picture};
    if (caption == NULL) {
        return -1;
    }
    lay_out(&bars);
    caption_title(text, sizeof text, picture);
    fprintf(file, "%s; %s\n", text, caption_unit(picture));
    if (print_legend(file, picture) != 0) {
        free(caption);
        return -1;
    }
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
