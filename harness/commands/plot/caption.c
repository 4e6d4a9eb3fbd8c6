/*
 * The words of a picture.
 */
#include "caption.h"

#include "places.h"
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
    if (picture->kind == PICTURE_BARS) {
        snprintf(text, size, "The omegas that meet the tolerance, by %s%s%s", x,
                 picture->y == PLOT_AXES ? "" : " and ",
                 picture->y == PLOT_AXES ? "" : plot_axis_name(picture->y));
    } else if (picture->kind == PICTURE_ERRORS && !picture->only_main) {
        snprintf(text, size, "The errors by %s", x);
    } else if (picture->kind == PICTURE_ERRORS) {
        snprintf(text, size, "The %s error by %s", main, x);
    } else {
        snprintf(text, size, "The %s error by %s and %s", main, x, plot_axis_name(picture->y));
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
        if ((place != PLACE_FIXED && place != PLACE_ONE) ||
            !find_ends(&first, &last, picture, axis) ||
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

/* Over what the largest error was taken. */
static void write_largest(FILE *file, const Picture *picture)
{
    bool bars = picture->kind == PICTURE_BARS;
    const char *separator = bars ? "What meets it over all of " : "The largest over ";
    for (size_t axis = 0; axis < PLOT_AXES; axis++) {
        const PlotAxis *values = &picture->data->axes[axis];
        if (picture->places[axis] == PLACE_LARGEST) {
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
    if (*separator == ';') {
        fputs(".\n", file);
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
static void write_unusual(FILE *file, const Picture *picture)
{
    bool heat = picture->kind == PICTURE_HEAT, bounds = false, infinite = false;
    for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
        bool drawn =
            kind == picture->main || (!picture->only_main && kind == ERROR_CONSTRUCTION && !heat);
        bool marked = heat ? kind == picture->main : picture_shows(picture, kind);
        Unusual found = count_unusual(picture, kind);
        if (drawn && found.below > 0) {
            fprintf(file, "The %s error falls below the picture, to 1e%ld.\n", caption_error(kind),
                    found.least);
        }
        if (drawn && found.zeros > 0) {
            fprintf(file,
                    "The %s error is 0, which is proven, in %zu place%s, and has no logarithm.\n",
                    caption_error(kind), found.zeros, found.zeros == 1 ? "" : "s");
        }
        bounds = bounds || (marked && found.bounds > 0);
        infinite = infinite || (marked && found.infinite > 0);
    }
    if (bounds) {
        fprintf(file, "%s are upper bounds: the error is at most that.\n",
                heat ? "Some cells" : "Open triangles");
    }
    if (infinite) {
        fputs(heat ? "Crosses: not finite.\n" : "Crosses at the top: not finite.\n", file);
    }
    if (picture->undrawn > 0) {
        fprintf(file, "Not drawn: %zu row%s without a value of %s.\n", picture->undrawn,
                picture->undrawn == 1 ? "" : "s", plot_axis_name(picture->x));
    }
}

static void write_tolerance(FILE *file, const Picture *picture)
{
    size_t first, last;
    bool met = false;
    for (size_t panel = 0; panel < picture->panel_count && picture->kind == PICTURE_ERRORS;
         panel++) {
        met = met || picture_meets(picture, panel, &first, &last);
    }
    if (!isnan(picture->tolerance) && picture->kind != PICTURE_HEAT) {
        double exponent = floor(picture->tolerance + 1e-12);
        fprintf(file, "Dashed: the tolerance %.3ge%+03.0f.", pow(10, picture->tolerance - exponent),
                exponent);
        if (met) {
            fprintf(file, " Shaded: every %s evaluated there has a %s error within it.",
                    plot_axis_name(picture->x), caption_error(picture->main));
        }
        fputc('\n', file);
    }
}

/* The meaning of the signs at bars. */
static void write_intervals(FILE *file, const Picture *picture)
{
    SearchedSigns signs = searched_signs(picture);
    fputs("A bar ends at the smallest and at the largest omega of an interval that meets the "
          "tolerance wherever it was evaluated.\n",
          file);
    if (signs.open) {
        fputs("Without an edge, with an arrow: as far as was tried.\n", file);
    }
    if (signs.none) {
        fputs("A cross: no omega evaluated meets the tolerance.\n", file);
    }
}

char *caption_make(const Picture *picture)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = text_stream(&text, &size);
    if (file == NULL) {
        return NULL;
    }
    write_fixed(file, picture);
    write_largest(file, picture);
    if (picture->kind == PICTURE_BARS) {
        write_intervals(file, picture);
    } else {
        write_tolerance(file, picture);
        write_unusual(file, picture);
    }
    fputs(picture->laws ? "Thin lines: laws of the medians.\n" : "", file);
    const PlotAxis *files = &picture->data->axes[PLOT_FILE];
    for (size_t i = 0; i < files->count; i++) {
        fprintf(file, "%s%s", i == 0 ? "From " : ", ", shown(files->texts[i]).text);
    }
    fputs(".\n", file);
    return fclose(file) == 0 ? text : NULL;
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

void caption_wrap(FILE *file, const char *text, size_t width)
{
    while (*text != '\0') {
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
}
