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
enum { VALUES_MOST = 8 };

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
        fputs(strncmp(text, "]>", 2) == 0 ? " " : "", file);
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

/* A value of x, or up of y, as it is written on the axis. */
static void print_mark(char text[CAPTION_LINE], const Picture *picture, bool up, size_t value)
{
    if (up || !picture->categories) {
        const char *number = up ? picture_y_text(picture, value) : picture_x_text(picture, value);
        snprintf(text, CAPTION_LINE, "%.40s", number);
    } else {
        marks_word(text, picture, value, MARK_WORD);
    }
}

/* What a mark takes of the axis, in pixels: those up the picture, and words, which stand aslant, a
 * line. */
static double mark_width(const Picture *picture, bool up, size_t value)
{
    char text[CAPTION_LINE];
    print_mark(text, picture, up, value);
    return CHARACTER * (up || picture->categories ? 2 : (double)strlen(text));
}

/* An axis from low to high that is so many pixels long. */
typedef struct {
    double low, high, length;
} Span;

/* Values as they are written.  Side by side, every so many-th; else the last one, and from the
 * first on those that touch no other. */
static void write_values(FILE *file, const Picture *picture, bool up, Span span)
{
    size_t count = up ? picture->y_count : picture->x_count, step = 1;
    double from = -BEYOND, to = span.length + BEYOND, scale = span.length / (span.high - span.low);
    bool apart = up || side_by_side(picture);
    const char *separator = "";
    for (size_t i = 0; i < count && apart; i++) {
        step = (size_t)fmax((double)step, ceil((mark_width(picture, up, i) + APART) / scale));
    }
    for (size_t i = 0; i < count; i += step) {
        size_t value = apart ? i : i == 0 ? count - 1 : i - 1;
        char text[CAPTION_LINE];
        double at = up ? (double)value : marks_x_place(picture, value);
        double middle = (at - span.low) * scale, half = mark_width(picture, up, value) / 2;
        if (apart || (middle - half >= from && middle + half <= to)) {
            print_mark(text, picture, up, value);
            fputs(separator, file);
            marks_quote(file, text);
            fprintf(file, " %.17g", at);
            separator = ", ";
            to = i == 0 ? middle - half - APART : to;
            from = i == 0 ? from : middle + half + APART;
        }
    }
}

void marks_write_x(FILE *file, const Picture *picture, double width)
{
    double low = marks_x_place(picture, 0), high = marks_x_place(picture, picture->x_count - 1);
    bool apart = side_by_side(picture), log = is_log(picture);
    bool few = apart || picture->x_count <= VALUES_MOST || (log && high - low < POWERS_LEAST);
    double margin = apart ? 0.5 : low < high ? (high - low) * 0.03 : fmax(1, fabs(low) / 2);
    fprintf(file, "set xrange [%.17g:%.17g]\n", low - margin, high + margin);
    if (few) {
        fputs("set xtics (", file);
        write_values(file, picture, false, (Span){low - margin, high + margin, width});
        fputs(picture->categories ? ") rotate by 35 right noenhanced\n" : ")\n", file);
    } else {
        fprintf(file, "set xtics %s\nset format x '%s'\n",
                log && high - low < MARKS_EACH ? "1" : "autofreq", log ? "10^{%.0f}" : "%g");
    }
}

void marks_write_y(FILE *file, const Picture *picture, double height)
{
    fputs("set ytics (", file);
    write_values(file, picture, true, (Span){-0.5, (double)picture->y_count - 0.5, height});
    fputs(")\n", file);
}
