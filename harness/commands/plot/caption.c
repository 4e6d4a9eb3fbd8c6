/*
 * The words of a picture.
 */
#include "caption.h"

#include "picture.h"
#include "searched.h"

#include "../../base/shown.h"
#include "../../base/text_stream.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *caption_error(ErrorKind kind)
{
    return axis_info(AXIS_JUDGE)->domain.words[kind];
}

const char *caption_unit(const Picture *picture)
{
    if (picture->kind == PICTURE_BARS) {
        return "omega";
    }
    switch (picture->data->norm) {
    case NORM_REL: return "error relative to the result";
    case NORM_RMS: return "root mean square error of an entry";
    default: return "largest error of an entry";
    }
}

void caption_axis(char *text, size_t size, size_t axis)
{
    const char *help = axis == PLOT_LAYER  ? "after which errors are measured"
                       : axis == PLOT_FILE ? "the table"
                                           : axis_info((Axis)axis)->help;
    const char *remark = strstr(help, " (");
    size_t length = strcspn(help, ";");
    length = remark != NULL && (size_t)(remark - help) < length ? (size_t)(remark - help) : length;
    if (memchr(help, ':', length) != NULL) { /* it explains single values */
        snprintf(text, size, "%s", plot_axis_name(axis));
    } else {
        snprintf(text, size, "%s: %.*s", plot_axis_name(axis), (int)length, help);
    }
}

void caption_title(char *text, size_t size, const Picture *picture)
{
    const char *x = plot_axis_name(picture->x), *main = caption_error(picture->main);
    const char *and = picture->y == PLOT_AXES ? "" : " and ";
    const char *y = picture->y == PLOT_AXES ? "" : plot_axis_name(picture->y);
    bool all = picture->kind == PICTURE_ERRORS && picture->wish.error < 0;
    if (picture->wish.title != NULL) {
        shown_into(text, size, SHOWN_TERMINAL, picture->wish.title, strlen(picture->wish.title));
    } else if (picture->kind == PICTURE_BARS) {
        snprintf(text, size, "The omegas that meet the tolerance, by %s%s%s", x, and, y);
    } else if (all) {
        snprintf(text, size, "The errors by %s", x);
    } else {
        snprintf(text, size, "The %s error by %s%s%s", main, x, and, y);
    }
}

/* A value that says nothing by itself has its axis's name. */
static void print_value(char *text, size_t size, size_t axis, const char *value)
{
    bool word = axis == PLOT_FILE ||
                (axis < AXIS_SEED && axis_info((Axis)axis)->domain.kind == DOMAIN_WORDS);
    if (*value == '\0') {
        snprintf(text, size, "no %s", plot_axis_name(axis));
    } else if (word && strcmp(value, "none") != 0) {
        shown_into(text, size, SHOWN_TERMINAL, value, strlen(value));
    } else {
        snprintf(text, size, "%s %.200s", plot_axis_name(axis), shown(value).text);
    }
}

/* The default of an axis without a column is not worth a word. */
static bool is_default(size_t axis, const char *value)
{
    char text[VALUE_TEXT];
    if (axis >= AXIS_COUNT || axis_info((Axis)axis)->column != NULL) {
        return false;
    }
    value_print(text, &axis_info((Axis)axis)->domain, axis_info((Axis)axis)->standard);
    return strcmp(text, value) == 0;
}

void caption_panel(char *text, size_t size, const Picture *picture, size_t panel)
{
    size_t used = 0;
    *text = '\0';
    for (size_t axis = 0; axis < PLOT_AXES; axis++) {
        if (picture->places[axis] == PLACE_PANEL) {
            const char *value = plot_text(picture->data, picture->panel_row[panel], axis);
            char part[CAPTION_LINE];
            print_value(part, sizeof part, axis, value);
            if (*value != '\0' && used < size) {
                used +=
                    (size_t)snprintf(text + used, size - used, "%s%s", used == 0 ? "" : ", ", part);
            }
        }
    }
}

void caption_series(char *text, size_t size, const Picture *picture, size_t y)
{
    print_value(text, size, picture->y, picture_y_text(picture, y));
}

/* The first and the last value of an axis that rows which are drawn have, blanks apart; false: none
 * has one. */
static bool find_ends(size_t *first, size_t *last, const Picture *picture, size_t axis)
{
    const PlotData *data = picture->data;
    *first = SIZE_MAX;
    *last = 0;
    for (size_t row = 0; row < data->rows; row++) {
        size_t value = data->values[row][axis];
        if (!plot_is_blank(data, row, axis) && places_draw(picture, row)) {
            *first = value < *first ? value : *first;
            *last = value > *last ? value : *last;
        }
    }
    return *first <= *last;
}

/* The values that all rows have in common, and those that hang on another axis. */
static void write_fixed(FILE *file, const Picture *picture)
{
    const char *separator = "";
    for (size_t axis = 0; axis < PLOT_FILE; axis++) {
        const PlotAxis *values = &picture->data->axes[axis];
        Place place = picture->places[axis];
        size_t first, last;
        bool fixed = place == PLACE_FIXED || place == PLACE_ONE || picture_is_point(picture);
        if (!fixed || place == PLACE_SPAN || !find_ends(&first, &last, picture, axis) ||
            (first == last && is_default(axis, values->texts[first]))) {
            continue;
        }
        fprintf(file, "%s%s %s", separator, plot_axis_name(axis), shown(values->texts[first]).text);
        separator = ", ";
        if (first < last) {
            fprintf(file, " %s %s", values->numeric ? "to" : "or", shown(values->texts[last]).text);
        }
    }
    fputs(".\n", file);
}

/* Over what a place was taken. */
static void write_spans(FILE *file, const Picture *picture, bool drawn)
{
    bool bars = picture->kind == PICTURE_BARS, heat = picture->kind == PICTURE_HEAT;
    const char *begin = bars ? "What meets it over all of " : heat ? "The largest over " : "Over ";
    const char *separator = begin;
    for (size_t axis = 0; axis < PLOT_AXES; axis++) {
        const PlotAxis *values = &picture->data->axes[axis];
        if (picture->places[axis] == PLACE_SPAN) {
            fprintf(file, "%s%s", separator, plot_axis_name(axis));
            for (size_t i = 0, named = 0; i < values->count && values->count <= 4; i++) {
                if (*values->texts[i] != '\0') {
                    fprintf(file, "%s %s", named++ == 0 ? "" : ",", shown(values->texts[i]).text);
                }
            }
            if (values->count > 4) {
                fprintf(file, " (%zu values)", values->count);
            }
            separator = "; ";
        }
    }
    if (separator != begin) {
        fputs(bars || heat ? ".\n"
              : drawn      ? ": the median, in a band from the smallest to the largest.\n"
                           : ": the largest, and the median.\n",
              file);
    }
}

/* How often an error that is drawn is a proven 0, not finite, below the picture, or a bound that is
 * not. */
typedef struct {
    size_t zeros, infinite, bounds, below;
    long least;
} Unusual;

static Unusual count_unusual(const Picture *picture, ErrorKind kind)
{
    Unusual found = {.least = LONG_MAX};
    size_t count = picture->panel_count * picture->y_count * picture->x_count;
    for (size_t i = 0; i < count; i++) {
        PlotCell cell = picture->cells[i][kind];
        bool finite = isfinite(cell.log10);
        found.zeros += isinf(cell.log10) && cell.log10 < 0;
        found.infinite += isinf(cell.log10) && cell.log10 > 0;
        found.bounds += finite && cell.bound && cell.log10 >= picture->low;
        found.below += finite && cell.log10 < picture->low;
        found.least = finite && cell.exponent < found.least ? cell.exponent : found.least;
    }
    return found;
}

/* Sentences about values that a logarithm cannot show, and about bounds. */
static void write_unusual(FILE *file, const Picture *picture, bool drawn)
{
    bool heat = picture->kind == PICTURE_HEAT, single = picture->wish.error >= 0;
    size_t bounds = 0, infinite = 0;
    for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
        const char *name = caption_error(kind);
        bool told = kind == picture->main || (!single && kind == ERROR_CONSTRUCTION && !heat);
        Unusual found = count_unusual(picture, kind);
        if (told && found.below > 0) {
            fprintf(file, "The %s error falls below the picture, to 1e%ld.\n", name, found.least);
        }
        if (told && found.zeros > 0) {
            fprintf(file,
                    "The %s error is 0, which is proven, in %zu place%s, and has no logarithm.\n",
                    name, found.zeros, found.zeros == 1 ? "" : "s");
        }
        bool marked = heat ? kind == picture->main : picture_shows(picture, kind);
        bounds += marked ? found.bounds : 0;
        infinite += marked ? found.infinite : 0;
    }
    if (bounds > 0 && (drawn || heat)) {
        fprintf(file, "%s are upper bounds: the error is at most that.\n",
                heat ? "Some cells" : "Open triangles");
    }
    if (infinite > 0 && (drawn || heat)) {
        fprintf(file, "%s: not finite.\n", !drawn ? "X" : heat ? "Crosses" : "Crosses at the top");
    }
    if (picture->undrawn > 0) {
        fprintf(file, "Not drawn: %zu row%s without a value of %s.\n", picture->undrawn,
                picture->undrawn == 1 ? "" : "s", plot_axis_name(picture->x));
    }
}

void caption_tolerance(char *text, size_t size, const Picture *picture)
{
    double exponent = floor(picture->tolerance + 1e-12), value = pow(10, picture->tolerance);
    if (isnormal(value)) {
        snprintf(text, size, "tolerance %.3g", value);
    } else {
        snprintf(text, size, "tolerance %.3ge%+.0f", pow(10, picture->tolerance - exponent),
                 exponent);
    }
}

/* Where curves meet the tolerance, and where no line can show it. */
static void write_tolerance(FILE *file, const Picture *picture, bool drawn)
{
    size_t first, last, met = 0;
    char text[CAPTION_LINE];
    caption_tolerance(text, sizeof text, picture);
    for (size_t panel = 0; panel < picture->panel_count; panel++) {
        met += picture->kind == PICTURE_ERRORS && picture_meets(picture, panel, &first, &last);
    }
    if (met > 0 && drawn) {
        fprintf(file, "Shaded: every %s evaluated there has a %s error within the tolerance.\n",
                plot_axis_name(picture->x), caption_error(picture->main));
    }
    if (picture->tolerance <= picture->low || picture->tolerance >= picture->high) {
        fprintf(file, "The %s is %s the picture.\n", text,
                picture->tolerance <= picture->low ? "below" : "above");
    }
}

/* The meaning of the signs at intervals. */
static void write_intervals(FILE *file, const Picture *picture, bool drawn)
{
    SearchedSigns signs = searched_signs(picture);
    fputs("From the smallest to the largest omega of an interval that meets the tolerance "
          "wherever it was evaluated.\n",
          file);
    if (signs.open && drawn) {
        fputs("An arrow: the interval goes on, as far as was tried or beyond the picture.\n", file);
    }
    if (signs.none && drawn) {
        fputs("A cross: no omega evaluated meets the tolerance.\n", file);
    }
}

char *caption_make(const Picture *picture, bool drawn)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = text_stream(&text, &size);
    if (file == NULL) {
        return NULL;
    }
    if (picture->wish.caption != NULL) {
        shown_write(file, SHOWN_TERMINAL, picture->wish.caption);
        return fclose(file) == 0 ? text : NULL;
    }
    write_fixed(file, picture);
    write_spans(file, picture, drawn);
    if (picture->kind == PICTURE_BARS) {
        write_intervals(file, picture, drawn);
    } else {
        write_tolerance(file, picture, drawn);
        write_unusual(file, picture, drawn);
    }
    fputs(picture->wish.laws ? "Thin black lines: laws of the medians.\n" : "", file);
    const PlotAxis *files = &picture->data->axes[PLOT_FILE];
    for (size_t i = 0; i < files->count; i++) {
        fprintf(file, "%s%s", i == 0 ? "From " : ", ", shown(files->texts[i]).text);
    }
    fputs(".\n", file);
    return fclose(file) == 0 ? text : NULL;
}

void caption_point(FILE *file, const Picture *picture)
{
    const char *separator = "";
    fputs("One point, of which there is no picture: ", file);
    for (size_t i = 0; i < ERROR_KINDS && picture->kind != PICTURE_BARS; i++) {
        ErrorKind kind = (ErrorKind)((ERROR_TOTAL + i) % ERROR_KINDS);
        const PlotCell *cell = &picture->cells[0][kind];
        char size[PLOT_SIZE_TEXT];
        if (!isnan(cell->log10)) {
            plot_cell_print(size, *cell);
            fprintf(file, "%s%s %s", separator, caption_error(kind), size);
            separator = ", ";
            double median = cell->median, exponent = floor(median);
            if (picture->several && isfinite(median)) {
                fprintf(file, " (%.1fe%+03.0f)", pow(10, median - exponent), exponent);
            }
        }
    }
    if (picture->kind == PICTURE_BARS) {
        char omegas[CAPTION_LINE];
        searched_print(omegas, sizeof omegas, picture->cells[0]);
        fprintf(file, "omega %s", omegas);
    }
    fputs(".\n", file);
    write_fixed(file, picture);
    write_spans(file, picture, false);
}

/* The byte at which a character begins, by its number from 0. */
static size_t byte_of(const char *text, size_t character)
{
    size_t count = 0, i = 0;
    for (; text[i] != '\0'; i++) {
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
        if (count > character) {
            break;
        }
    }
    return i;
}

void caption_cut(char *text, size_t width)
{
    size_t count = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    if (count > width) {
        size_t first = (width - 3) / 2, last = width - 3 - first;
        size_t end = byte_of(text, first), rest = byte_of(text, count - last);
        memmove(text + end + 3, text + rest, strlen(text + rest) + 1);
        memcpy(text + end, "...", 3);
    }
}

size_t caption_wrap(FILE *file, const char *text, size_t width)
{
    size_t lines = 0;
    for (; *text != '\0'; lines++) {
        size_t bytes = 0, blank = 0, count = 0; /* of characters */
        while (text[bytes] != '\0' && text[bytes] != '\n') {
            bool continued = ((unsigned char)text[bytes] & 0xC0) == 0x80;
            if (!continued && count++ == width) {
                bytes = blank > 0 ? blank : bytes;
                break;
            }
            blank = text[bytes] == ' ' ? bytes : blank;
            bytes++;
        }
        fprintf(file, "%.*s\n", (int)bytes, text);
        text += bytes;
        text += *text == '\n' || (*text == ' ' && bytes == blank);
    }
    return lines;
}
