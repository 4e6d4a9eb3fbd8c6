/*
 * The axes of a picture: gnuplot chooses marks where there are many values; a few values are marks
 * themselves.
 */
#include "marks.h"

#include "../../base/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* x is a logarithmic axis when it spans so many powers of ten; below the larger number they are too
 * few for marks. */
#define LOG_LEAST 1.18
#define POWERS_LEAST 2.5
/* Pixels: the width of a character, what is free between two marks, and how far one may reach out
 * beyond the axis. */
#define CHARACTER 6.8
#define APART 7
#define BEYOND 8
/* More values than these have marks at round numbers. */
enum { VALUES_MOST = 8, MARK_TEXT = 48 };

void marks_quote(FILE *file, const char *text)
{
    putc('\'', file);
    for (; *text != '\0'; text++) {
        fputs(*text == '\'' ? "'" : "", file);
        if (*text == '\n') {
            fputs("'.\"\\n\".'", file);
        } else {
            putc(*text, file);
        }
    }
    putc('\'', file);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Are the values of x side by side, whatever numbers they are? */
static bool side_by_side(const Picture *picture)
{
    return picture->categories || picture->kind == PICTURE_HEAT || picture->kind == PICTURE_BARS;
}

static double x_number(const Picture *picture, size_t x)
{
    return strtod(picture_x_text(picture, x), NULL);
}

/* gnuplot takes no number above half of the largest double for a logarithmic axis. */
static bool is_log(const Picture *picture)
{
    double low = x_number(picture, 0), high = x_number(picture, picture->x_count - 1);
    return !side_by_side(picture) && picture->x != PLOT_LAYER && low > 0 &&
           log10(high) - log10(low) >= LOG_LEAST;
}

double marks_x_place(const Picture *picture, size_t x)
{
    return side_by_side(picture) ? (double)x
           : is_log(picture)     ? log10(x_number(picture, x))
                                 : x_number(picture, x);
}

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

/* ---- Marks ----------------------------------------------------------------------------------- */

/* An axis while its marks are written. */
typedef struct {
    FILE *file;
    double low, scale; /* pixels of a unit */
    double from, to;   /* where nothing is written yet, in pixels from low */
    bool any;
} Marks;

static Marks open_marks(FILE *file, double low, double high, double length)
{
    return (Marks){file, low, length / (high - low), -BEYOND, length + BEYOND, false};
}

/* Writes a mark where it touches no other. */
static void write_mark(Marks *marks, double at, const char *text, double width)
{
    double middle = (at - marks->low) * marks->scale;
    if (middle - width / 2 >= marks->from && middle + width / 2 <= marks->to) {
        fprintf(marks->file, "%s", marks->any ? ", " : "");
        marks_quote(marks->file, text);
        fprintf(marks->file, " %.17g", at);
        marks->from = middle + width / 2 + APART;
        marks->any = true;
    }
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

/* Values as they are written: the last one, and from the first on those that fit before it. */
static void write_values(Marks *marks, const Picture *picture)
{
    char text[MARK_TEXT];
    size_t last = picture->x_count - 1;
    double width = CHARACTER * number_mark(text, picture_x_text(picture, last));
    write_mark(marks, marks_x_place(picture, last), text, width);
    marks->to = marks->any ? marks->from - width - 2 * APART : marks->to;
    marks->from = -BEYOND;
    for (size_t x = 0; x < last; x++) {
        width = CHARACTER * number_mark(text, picture_x_text(picture, x));
        write_mark(marks, marks_x_place(picture, x), text, width);
    }
}

static void write_words(FILE *file, const Picture *picture)
{
    for (size_t x = 0; x < picture->x_count; x++) {
        char word[CAPTION_LINE];
        marks_word(word, picture, x, MARK_WORD);
        fputs(x > 0 ? ", " : "", file);
        marks_quote(file, word);
        fprintf(file, " %zu", x);
    }
}

void marks_write_x(FILE *file, const Picture *picture, double width)
{
    double low = marks_x_place(picture, 0), high = marks_x_place(picture, picture->x_count - 1);
    bool apart = side_by_side(picture), log = is_log(picture);
    bool few = apart || picture->x_count <= VALUES_MOST || (log && high - low < POWERS_LEAST);
    double margin = apart ? 0.5 : low < high ? (high - low) * 0.03 : fmax(1, fabs(low) / 2);
    fprintf(file, "set xrange [%.17g:%.17g]\n", low - margin, high + margin);
    if (!few) {
        fprintf(file, "set xtics %s\nset format x '%s'\n",
                log && high - low < MARKS_EACH ? "1" : "autofreq", log ? "10^{%.0f}" : "%g");
        return;
    }
    Marks marks = open_marks(file, low - margin, high + margin, width);
    fputs("set xtics (", file);
    if (picture->categories) {
        write_words(file, picture);
    } else {
        write_values(&marks, picture);
    }
    fputs(picture->categories ? ") rotate by 35 right noenhanced\n" : ") enhanced\n", file);
}

void marks_write_y(FILE *file, const Picture *picture, double height)
{
    Marks marks = open_marks(file, -0.5, (double)picture->y_count - 0.5, height);
    fputs("set ytics (", file);
    for (size_t y = 0; y < picture->y_count; y++) {
        char text[MARK_TEXT];
        (void)number_mark(text, picture_y_text(picture, y));
        write_mark(&marks, (double)y, text, 2 * CHARACTER);
    }
    fputs(") enhanced\n", file);
}
