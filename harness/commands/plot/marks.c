/*
 * The marks along the axes of a picture.
 *
 * What is drawn along x is the logarithm where its values span much, and a mark names the value,
 * never the logarithm.
 */
#include "marks.h"

#include "quoted.h"

#include "../../base/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* x is drawn as a logarithm when its ends have this ratio. */
#define LOG_RATIO 15
/* From so many powers of ten on they are marks enough; below, 2 and 5 times them are marks too. */
#define POWERS_LEAST 2.5
/* Pixels: the width of a character, what is free between two marks, and how far one may reach out
 * beyond the axis. */
#define CHARACTER 6.8
#define APART 7
#define BEYOND 8
/* More values than these have marks at round numbers. */
enum { VALUES_MOST = 8, MARK_TEXT = 48 };

/* ---- Places ---------------------------------------------------------------------------------- */

static double x_number(const Picture *picture, size_t x)
{
    return strtod(picture_x_text(picture, x), NULL);
}

/* Are the values of x side by side, whatever numbers they are? */
static bool side_by_side(const Picture *picture)
{
    return picture->categories || picture->kind == PICTURE_HEAT || picture->kind == PICTURE_BARS;
}

static bool x_is_log(const Picture *picture)
{
    double first = x_number(picture, 0), last = x_number(picture, picture->x_count - 1);
    return !side_by_side(picture) && picture->x != PLOT_LAYER && first > 0 &&
           last / first >= LOG_RATIO;
}

double marks_x_place(const Picture *picture, size_t x)
{
    if (side_by_side(picture)) {
        return (double)x;
    }
    double number = x_number(picture, x);
    return x_is_log(picture) ? log10(number) : number;
}

double marks_step(double span, double most)
{
    double power = pow(10, floor(log10(span / most)));
    const double steps[] = {1, 2, 5, 10};
    size_t i = 0;
    while (i < 3 && span / (steps[i] * power) > most) {
        i++;
    }
    return fmax(1, steps[i] * power);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

void marks_word(char text[CAPTION_LINE], const Picture *picture, size_t x, size_t width)
{
    static const char ending[] = ".safetensors";
    const char *value = picture_x_text(picture, x), *slash = strrchr(value, '/');
    value = slash != NULL ? slash + 1 : value;
    size_t length = strlen(value), end = strlen(ending);
    if (length > end && strcmp(value + length - end, ending) == 0) {
        length -= end;
    }
    shown_into(text, CAPTION_LINE, SHOWN_TERMINAL, value, length);
    caption_cut(text, width);
}

/* A power of ten, 10^4 or more or 10^-3 or less, as one; another number as it is written.  Returns
 * its width in characters. */
static double number_mark(char text[MARK_TEXT], const char *value)
{
    double number = strtod(value, NULL), power = round(log10(fabs(number)));
    char exact[32];
    snprintf(exact, sizeof exact, "1e%.0f", power);
    if (isfinite(power) && (power >= 4 || power <= -3) && strtod(exact, NULL) == number) {
        const char *sign = power < 0 ? "\u2212" : "";
        snprintf(text, MARK_TEXT, "10^{%s%.0f}", sign, fabs(power));
        return 2 + 0.8 * (fabs(power) >= 100 ? 3 : fabs(power) >= 10 ? 2 : 1) + (power < 0);
    }
    snprintf(text, MARK_TEXT, "%.40s", value);
    return (double)strlen(text);
}

/* ---- Marks ----------------------------------------------------------------------------------- */

/* An axis while its marks are written: pixels from its beginning. */
typedef struct {
    FILE *file;
    double low, scale, length; /* at * scale pixels from low */
    double free_from, free_to; /* where nothing is written yet */
    bool named;
    size_t count;
} Marks;

static Marks open_marks(FILE *file, double low, double high, double length, bool named)
{
    return (Marks){.file = file,
                   .low = low,
                   .scale = length / (high - low),
                   .length = length,
                   .free_from = -BEYOND,
                   .free_to = length + BEYOND,
                   .named = named};
}

static bool fits(const Marks *marks, double at, double width)
{
    double middle = (at - marks->low) * marks->scale;
    return middle - width / 2 >= marks->free_from && middle + width / 2 <= marks->free_to;
}

/* Writes a mark where it fits. */
static void write_mark(Marks *marks, double at, const char *text, double width)
{
    if (fits(marks, at, width)) {
        fputs(marks->count++ > 0 ? ", " : "", marks->file);
        quoted_write(marks->file, marks->named ? text : "");
        fprintf(marks->file, " %.17g", at);
        marks->free_from = (at - marks->low) * marks->scale + width / 2 + APART;
    }
}

/* Values as they are written: the last one, and from the first on those that fit before it. */
static void write_value_marks(Marks *marks, const Picture *picture)
{
    char text[MARK_TEXT];
    size_t last = picture->x_count - 1;
    double width = CHARACTER * number_mark(text, picture_x_text(picture, last));
    double at = marks_x_place(picture, last), end = marks->free_to;
    if (last > 0 && fits(marks, at, width)) {
        marks->free_to = (at - marks->low) * marks->scale - width / 2 - APART;
    }
    for (size_t x = 0; x <= last; x++) {
        marks->free_to = x == last ? end : marks->free_to;
        width = CHARACTER * number_mark(text, picture_x_text(picture, x));
        write_mark(marks, marks_x_place(picture, x), text, width);
    }
}

/* Powers of ten; where there are few of them 2 and 5 times them too. */
static void write_power_marks(Marks *marks, double low, double high)
{
    static const double between[] = {1, 2, 5};
    double step = marks_step(high - low, 6);
    size_t each = high - low < POWERS_LEAST ? 3 : 1;
    char text[MARK_TEXT];
    for (double power = step * floor(low / step); power <= high + 1e-9; power += step) {
        for (size_t i = 0; i < each; i++) {
            double at = power + log10(between[i]);
            if (at >= low - 1e-9 && at <= high + 1e-9) {
                char value[32];
                snprintf(value, sizeof value, "%g", between[i] * pow(10, power));
                double width = CHARACTER * number_mark(text, value);
                write_mark(marks, at, text, width);
            }
        }
    }
}

static void write_word_marks(FILE *file, const Picture *picture, bool named)
{
    for (size_t x = 0; x < picture->x_count; x++) {
        char word[CAPTION_LINE] = "";
        if (named) {
            marks_word(word, picture, x, MARK_WORD);
        }
        fputs(x > 0 ? ", " : "", file);
        quoted_write(file, word);
        fprintf(file, " %zu", x);
    }
}

void marks_write_x(FILE *file, const Picture *picture, double width, bool named)
{
    double low = marks_x_place(picture, 0), high = marks_x_place(picture, picture->x_count - 1);
    bool apart = side_by_side(picture);
    double margin = apart ? 0.5 : (high - low) * 0.03;
    margin = margin == 0 ? 1 : margin;
    fprintf(file, "set xrange [%.17g:%.17g]\n", low - margin, high + margin);
    bool few = apart || picture->x_count <= VALUES_MOST;
    if (!few && !x_is_log(picture)) {
        fprintf(file, "set xtics autofreq noenhanced\nset format x '%s'\n", named ? "%g" : "");
        return;
    }
    Marks marks = open_marks(file, low - margin, high + margin, width, named);
    fputs("set xtics (", file);
    if (picture->categories) {
        write_word_marks(file, picture, named);
    } else if (few) {
        write_value_marks(&marks, picture);
    } else {
        write_power_marks(&marks, low, high);
    }
    fputs(picture->categories ? ") rotate by 35 right noenhanced\n" : ") enhanced\n", file);
}

void marks_write_y(FILE *file, const Picture *picture, double height)
{
    Marks marks = open_marks(file, -0.5, (double)picture->y_count - 0.5, height, true);
    fputs("set ytics (", file);
    for (size_t y = 0; y < picture->y_count; y++) {
        char text[MARK_TEXT];
        (void)number_mark(text, picture_y_text(picture, y));
        write_mark(&marks, (double)y, text, 2 * CHARACTER);
    }
    fputs(") enhanced\n", file);
}
