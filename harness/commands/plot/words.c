/*
 * The words of a picture.
 */
#include "picture.h"

#include "../../base/shown.h"
#include "../../base/text_stream.h"
#include "../../table/columns.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static Words words(const char *format, ...) __attribute__((format(printf, 1, 2)));

static Words words(const char *format, ...)
{
    Words made;
    va_list values;
    va_start(values, format);
    (void)vsnprintf(made.text, sizeof made.text, format, values);
    va_end(values);
    return made;
}

/* A text that is not the program's. */
static Words words_shown(const char *text)
{
    Words made;
    shown_into(made.text, sizeof made.text, SHOWN_TERMINAL, text, strlen(text));
    return made;
}

/* A number by its logarithm: "1e-12", of whatever size. */
static Words words_number(double log10)
{
    double exponent = floor(log10 + 1e-12), value = pow(10, log10);
    return isnormal(value) ? words("%.3g", value)
                           : words("%.3ge%+.0f", pow(10, log10 - exponent), exponent);
}

const char *words_error(ErrorKind kind)
{
    return axis_info(AXIS_JUDGE)->domain.words[kind];
}

const char *words_unit(const Picture *picture)
{
    static const char *const units[NORM_COUNT] = {
        [NORM_MAX] = "largest error of an entry",
        [NORM_RMS] = "root mean square error of an entry",
        [NORM_REL] = "error relative to the result",
    };
    return picture->data->searched ? "omega" : units[picture->data->norm];
}

Words words_tolerance(const Picture *picture)
{
    return words("tolerance %s", words_number(picture->tolerance).text);
}

Words words_axis(size_t axis)
{
    const char *help = axis == MEASURE_LAYER  ? "after which errors are measured"
                       : axis == MEASURE_FILE ? "the table"
                                              : axis_info((Axis)axis)->help;
    size_t length = strcspn(help, ";(");
    length -= help[length] == '(';
    if (memchr(help, ':', length) != NULL) { /* it explains single values */
        return words("%s", measure_axis_name(axis));
    }
    return words("%s: %.*s", measure_axis_name(axis), (int)length, help);
}

Words words_title(const Picture *picture)
{
    const char *x = measure_axis_name(picture->x.axis), *main = words_error(picture->main);
    bool one = picture->y.axis == MEASURE_AXES;
    const char *and = one ? "" : " and ", *y = one ? "" : measure_axis_name(picture->y.axis);
    return picture->wish.title != NULL ? words_shown(picture->wish.title)
           : picture->data->searched
               ? words("The omegas that meet the tolerance, by %s%s%s", x, and, y)
           : picture->kind == PICTURE_ERRORS && picture->wish.error < 0
               ? words("The errors by %s", x)
               : words("The %s error by %s%s%s", main, x, and, y);
}

/* A value that says nothing by itself has its axis's name. */
static Words name_value(size_t axis, const char *value)
{
    bool word = axis == MEASURE_FILE ||
                (axis < AXIS_SEED && axis_info((Axis)axis)->domain.kind == DOMAIN_WORDS);
    const char *name = measure_axis_name(axis);
    return *value == '\0'                       ? words("no %s", name)
           : word && strcmp(value, "none") != 0 ? words_shown(value)
                                                : words("%s %.200s", name, shown(value).text);
}

Words words_panel(const Picture *picture, size_t panel)
{
    Words all = {""};
    for (size_t axis = 0; axis < MEASURE_AXES; axis++) {
        const char *value = measures_text(picture->data, picture->panel_row[panel], axis);
        if (picture->places[axis] == PLACE_PANEL && *value != '\0') {
            Words before = all;
            all = words("%.250s%s%.250s", before.text, *before.text == '\0' ? "" : ", ",
                        name_value(axis, value).text);
        }
    }
    return all;
}

Words words_series(const Picture *picture, size_t y)
{
    return name_value(picture->y.axis, picture_text(picture, &picture->y, y));
}

Words words_interval(const Spot *spot)
{
    Words low = words_number(spot->least), high = words_number(spot->most.log10);
    const bool up = spot->most.bound;
    return spot->none           ? words("none")
           : isnan(spot->least) ? words("-")
           : spot->below && up  ? words("all tried")
           : up                 ? words("%s up", low.text)
           : spot->below        ? words("to %s", high.text)
                                : words("%s to %s", low.text, high.text);
}

/* ---- Widths ---------------------------------------------------------------------------------- */

/* The byte behind so many characters of UTF-8, or the end; *count: of characters before it. */
static size_t byte_behind(const char *text, size_t most, size_t *count)
{
    size_t i = 0;
    for (*count = 0; text[i] != '\0'; i++) {
        bool begins = ((unsigned char)text[i] & 0xC0) != 0x80;
        if (begins && *count == most) {
            break;
        }
        *count += begins;
    }
    return i;
}

Words words_cut(Words whole, size_t width)
{
    size_t count, kept;
    (void)byte_behind(whole.text, SIZE_MAX, &count);
    if (count <= width) {
        return whole;
    }
    size_t first = byte_behind(whole.text, (width - 3) / 2, &kept);
    size_t rest = byte_behind(whole.text, count - (width - 3 - (width - 3) / 2), &kept);
    return words("%.*s...%s", (int)first, whole.text, whole.text + rest);
}

Words words_mark(const Picture *picture, size_t x, size_t width)
{
    static const char ending[] = ".safetensors";
    const char *value = picture_text(picture, &picture->x, x), *slash = strrchr(value, '/');
    Words name = words_shown(slash != NULL ? slash + 1 : value);
    size_t length = strlen(name.text), end = strlen(ending);
    if (length > end && strcmp(name.text + length - end, ending) == 0) {
        name.text[length - end] = '\0';
    }
    return words_cut(name, width);
}

size_t words_wrap(FILE *file, const char *text, size_t width)
{
    size_t lines = 0, count;
    for (; *text != '\0'; lines++) {
        size_t line = strcspn(text, "\n"), bytes = byte_behind(text, width, &count);
        size_t blank = bytes;
        while (blank > 0 && text[blank] != ' ') {
            blank--;
        }
        bytes = line <= bytes ? line : blank > 0 ? blank : bytes;
        fprintf(file, "%.*s\n", (int)bytes, text);
        text += bytes + (text[bytes] == '\n' || text[bytes] == ' ');
    }
    return lines;
}

/* ---- Captions -------------------------------------------------------------------------------- */

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

/* The values that all rows have in common, and those that hang on another axis. */
static void write_fixed(FILE *file, const Picture *picture)
{
    const Measures *data = picture->data;
    const char *separator = "";
    for (size_t axis = 0; axis < MEASURE_FILE; axis++) {
        const MeasureAxis *values = &data->axes[axis];
        const Place place = picture->places[axis];
        size_t first = SIZE_MAX, last = 0;
        for (size_t row = 0; row < data->rows; row++) {
            size_t value = data->values[row][axis];
            if (!measures_is_blank(data, row, axis) && places_draw(picture, row)) {
                first = value < first ? value : first;
                last = value > last ? value : last;
            }
        }
        bool fixed = place == PLACE_FIXED || place == PLACE_ONE ||
                     (picture_is_point(picture) && place != PLACE_SPAN);
        if (!fixed || first > last || (first == last && is_default(axis, values->texts[first]))) {
            continue;
        }
        fprintf(file, "%s%s %s", separator, measure_axis_name(axis),
                shown(values->texts[first]).text);
        separator = ", ";
        if (first < last) {
            fprintf(file, " %s %s", values->numeric ? "to" : "or", shown(values->texts[last]).text);
        }
    }
    fputs(*separator != '\0' ? ".\n" : "", file);
}

/* Over what a place was taken. */
static void write_spans(FILE *file, const Picture *picture, bool drawn)
{
    const char *begin = picture->data->searched ? "What meets it over all of " : "Over ";
    const char *separator = begin;
    for (size_t axis = 0; axis < MEASURE_AXES; axis++) {
        const MeasureAxis *values = &picture->data->axes[axis];
        if (picture->places[axis] == PLACE_SPAN) {
            fprintf(file, "%s%zu values of %s", separator, values->filled, measure_axis_name(axis));
            separator = ", ";
        }
    }
    if (separator != begin) {
        fputs(picture->data->searched ? ".\n"
              : drawn ? ": the median, in a band from the smallest to the largest.\n"
                      : ": the largest, and the median.\n",
              file);
    }
}

/* Sentences about values of a curve that a logarithm cannot show, and about bounds. */
static void write_unusual(FILE *file, const Picture *picture, ErrorKind kind)
{
    size_t zeros = 0, below = 0;
    long least = 0;
    for (size_t i = 0; i < picture_places(picture); i++) {
        Measure cell = picture->spots[i][kind].most;
        bool under = isfinite(cell.log10) && cell.log10 < picture->low;
        zeros += cell.log10 == -INFINITY ? 1 : 0;
        below += under;
        least = under && cell.exponent < least ? cell.exponent : least;
    }
    if (below > 0) {
        fprintf(file, "The %s error falls below the picture, to 1e%ld.\n", words_error(kind),
                least);
    }
    if (zeros > 0) {
        fprintf(file, "The %s error is 0, which is proven, in %zu place%s, and has no logarithm.\n",
                words_error(kind), zeros, zeros == 1 ? "" : "s");
    }
}

/* Errors that the picture cannot show, the places that meet the tolerance, the meaning of marks. */
static void write_errors(FILE *file, const Picture *picture, bool drawn)
{
    size_t first, last;
    bool met = false, bounds = false, infinite = false;
    for (size_t panel = 0; panel < picture->panel_count; panel++) {
        met = met || picture_meets(picture, panel, &first, &last);
        for (size_t i = 0; i < picture->curve_count * picture->x.count; i++) {
            const Curve *curve = &picture->curves[i / picture->x.count];
            Measure cell = picture_spot(picture, panel, curve, i % picture->x.count)->most;
            bounds = bounds || (cell.bound && cell.log10 >= picture->low);
            infinite = infinite || cell.log10 == INFINITY;
        }
    }
    if (met && drawn) {
        fprintf(file, "Shaded: every %s evaluated there has a %s error within the tolerance.\n",
                measure_axis_name(picture->x.axis), words_error(picture->main));
    }
    if (!isnan(picture->tolerance) && !picture_has_tolerance(picture)) {
        fprintf(file, "The %s is %s the picture.\n", words_tolerance(picture).text,
                picture->tolerance <= picture->low ? "below" : "above");
    }
    write_unusual(file, picture, picture->main);
    if (picture->wish.error < 0 && picture->main != ERROR_CONSTRUCTION && !picture->family) {
        write_unusual(file, picture, ERROR_CONSTRUCTION);
    }
    if (bounds) {
        fprintf(file, "%s are upper bounds: the error is at most that.\n",
                drawn ? "Open triangles" : "Some");
    }
    if (infinite) {
        fprintf(file, "%s: not finite.\n", drawn ? "Crosses at the top" : "At the right end");
    }
}

/* Of intervals, and of the signs at them. */
static const char intervals[] = "From the smallest to the largest omega of an interval that meets "
                                "the tolerance wherever it was evaluated.\n";
static const char signs[] = "A disc: the smallest error. An arrow: the interval goes on, as far as "
                            "was tried or numbers reach. A red cross: no omega evaluated meets the "
                            "tolerance.\n";

char *words_caption(const Picture *picture, bool drawn)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = text_stream(&text, &size);
    if (picture->wish.caption != NULL) {
        shown_write(file, SHOWN_TERMINAL, picture->wish.caption);
        return text_close(file, &text);
    }
    write_fixed(file, picture);
    write_spans(file, picture, drawn);
    if (picture->data->searched) {
        fprintf(file, "%s%s", intervals, drawn ? signs : "");
    } else {
        write_errors(file, picture, drawn);
    }
    if (picture->undrawn > 0) {
        fprintf(file, "Not drawn: %zu row%s without a value of %s.\n", picture->undrawn,
                picture->undrawn == 1 ? "" : "s", measure_axis_name(picture->x.axis));
    }
    fputs(picture->wish.laws ? "Thin black lines: laws of the medians.\n" : "", file);
    const MeasureAxis *files = &picture->data->axes[MEASURE_FILE];
    for (size_t i = 0; i < files->count; i++) {
        fprintf(file, "%s%s", i == 0 ? "From " : ", ", shown(files->texts[i]).text);
    }
    fputs(".\n", file);
    return text_close(file, &text);
}

void words_point(FILE *file, const Picture *picture)
{
    const char *separator = "";
    fputs("One point, of which there is no picture: ", file);
    for (size_t i = 0; i < ERROR_KINDS && !picture->data->searched; i++) {
        ErrorKind kind = errors_by_use[i];
        const Spot *spot = &picture->spots[0][kind];
        char size[MEASURE_TEXT];
        if (!isnan(spot->most.log10)) {
            measure_print(size, spot->most);
            fprintf(file, "%s%s %s", separator, words_error(kind), size);
            separator = ", ";
        }
        if (picture->several && isfinite(spot->median)) {
            measure_print(size, measure_at(spot->median));
            fprintf(file, " (%s)", size);
        }
    }
    if (picture->data->searched) {
        fprintf(file, "omega %s", words_interval(&picture->spots[0][0]).text);
    }
    fputs(".\n", file);
    write_fixed(file, picture);
    write_spans(file, picture, false);
}
