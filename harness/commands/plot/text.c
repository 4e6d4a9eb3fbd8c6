/*
 * A picture as text.
 *
 * A line is a value of x; behind it stands a strip as wide as the scale, where a bar reaches to the
 * main error, whose figures stand before it, and letters stand for the others.
 */
#include "picture.h"

#include "../../base/text_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, LABEL = 13, STRIP_MOST = 52, STRIP_LEAST = 20, LINES_MOST = 24 };

typedef struct {
    FILE *file;
    const Picture *picture;
    int figures, width;         /* columns of the figures and of the strip */
    char strip[STRIP_MOST + 1]; /* of the line being written */
} Text;

/* Room for the longest figures, and what is left for the strip. */
static void lay_out(Text *text)
{
    const Picture *picture = text->picture;
    text->figures = 8;
    for (size_t i = 0; i < picture_places(picture) && picture->kind == PICTURE_ERRORS; i++) {
        char figures[MEASURE_TEXT];
        measure_print(figures, picture->spots[i][picture->main].most);
        int length = (int)strlen(figures);
        text->figures = length > text->figures ? length : text->figures;
    }
    text->figures = picture->data->searched ? 19 : text->figures;
    text->width = WIDTH - LABEL - 4 - text->figures;
    text->width = text->width > STRIP_MOST    ? STRIP_MOST
                  : text->width < STRIP_LEAST ? STRIP_LEAST
                                              : text->width;
}

/* The place on the strip of a logarithm, from 0; below the scale: -1. */
static int place_of(const Text *text, double value)
{
    double share = (value - text->picture->low) / (text->picture->high - text->picture->low);
    if (isnan(value) || share < 0) {
        return -1;
    }
    return share >= 1 ? text->width - 1 : (int)floor(share * (text->width - 1) + 0.5);
}

/* Writes the strip without the blanks at its end. */
static void write_strip(Text *text, int width)
{
    while (width > 0 && text->strip[width - 1] == ' ') {
        width--;
    }
    fprintf(text->file, "  %.*s", width, text->strip);
}

/* The bar of the main error, to the median and beyond to the largest, or the letters of series, *
 * where several meet; a line at the tolerance. */
static void print_curves(Text *text, size_t panel, size_t x)
{
    const Picture *picture = text->picture;
    bool series = picture->kind == PICTURE_SERIES;
    char figures[MEASURE_TEXT];
    memset(text->strip, series ? '.' : ' ', (size_t)text->width);
    for (size_t i = 0; i < picture->curve_count; i++) {
        const Curve *curve = &picture->curves[i];
        const Spot *spot = picture_spot(picture, panel, curve, x);
        if (curve->letter == '#') {
            memset(text->strip, '=', (size_t)place_of(text, spot->most.log10) + 1);
            memset(text->strip, '#', (size_t)place_of(text, spot->median) + 1);
            measure_print(figures, spot->most);
            fprintf(text->file, "  %*s", text->figures, figures);
        }
    }
    if (picture_has_tolerance(picture)) {
        text->strip[place_of(text, picture->tolerance)] = '|';
    }
    for (size_t i = 0; i < picture->curve_count; i++) {
        const Curve *curve = &picture->curves[i];
        int place = place_of(text, picture_spot(picture, panel, curve, x)->most.log10);
        if (place >= 0 && curve->letter != 0 && curve->letter != '#') {
            bool meets = series && strchr(".|", text->strip[place]) == NULL;
            text->strip[place] = meets ? '*' : curve->letter;
        }
    }
    write_strip(text, text->width);
}

/* A line a curve: "[=*=]", and < or > for an end that the interval goes on beyond. */
static void print_intervals(Text *text, size_t panel, size_t x)
{
    const Picture *picture = text->picture;
    for (size_t i = 0; i < picture->curve_count; i++) {
        const Spot *spot = picture_spot(picture, panel, &picture->curves[i], x);
        int first = spot->below ? 0 : place_of(text, spot->least);
        int last = spot->above ? text->width - 1 : place_of(text, spot->most.log10);
        int best = place_of(text, spot->median);
        fprintf(text->file, "%s%*s %c%*s", i > 0 ? "\n" : "", i > 0 ? LABEL : 0, "",
                picture->curves[i].letter, text->figures - 1, words_interval(spot).text);
        if (last >= 0) {
            memset(text->strip, ' ', (size_t)text->width);
            memset(text->strip + first, '=', (size_t)(last - first) + 1);
            text->strip[first] = spot->below ? '<' : '[';
            text->strip[last] = spot->above ? '>' : first == last ? '|' : ']';
            text->strip[best >= 0 ? best : first] = best >= 0 ? '*' : text->strip[first];
            write_strip(text, text->width);
        }
    }
}

static void print_panel(Text *text, size_t panel)
{
    const Picture *picture = text->picture;
    Words words = words_cut(words_panel(picture, panel), WIDTH - LABEL - 2);
    fprintf(text->file, "\n%*.*s%s%s\n", LABEL, LABEL, measure_axis_name(picture->x.axis),
            *words.text != '\0' ? "  " : "", words.text);
    size_t count = picture->x.count, lines = count < LINES_MOST ? count : LINES_MOST;
    for (size_t line = 0; line < lines; line++) { /* the ends, and others evenly between */
        size_t x = lines < count ? (line * (count - 1) + lines / 2) / (lines - 1) : line;
        fprintf(text->file, "%*s", LABEL, words_mark(picture, x, LABEL).text);
        (picture->data->searched ? print_intervals : print_curves)(text, panel, x);
        fputc('\n', text->file);
    }
}

/* The meaning of bars and letters, and the ends of the scale, as a list with a comma at its end. */
static void write_legend(FILE *file, const Picture *picture)
{
    fprintf(file, "Strips from 1e%.0f to 1e%.0f:%s", picture->low + 0.0,
            picture->high + 0.0, /* + 0.0: no -0 */
            picture->data->searched ? " [=] meets it, * the smallest error, < > it goes on," : "");
    for (size_t i = 0; i < picture->curve_count; i++) {
        const Curve *curve = &picture->curves[i];
        bool beyond = picture->several && curve->letter == '#';
        if (curve->letter > ' ' && *curve->title != '\0') {
            fprintf(file, " %c %s,%s", curve->letter, curve->title,
                    beyond ? " = beyond the median," : "");
        }
    }
    fputs(picture->kind == PICTURE_SERIES ? " * several," : "", file);
    if (picture_has_tolerance(picture)) {
        fprintf(file, " | %s,", words_tolerance(picture).text);
    }
}

void text_print(FILE *file, const Picture *picture)
{
    Text text = {.file = file, .picture = picture};
    if (picture_is_point(picture)) {
        words_point(file, picture);
        return;
    }
    char *caption = words_caption(picture, false), *legend = NULL;
    size_t size;
    FILE *stream = text_stream(&legend, &size);
    write_legend(stream, picture);
    (void)text_close(stream, &legend);
    Words title = words_title(picture);
    legend[strlen(legend) - 1] = '\0';
    fprintf(file, "%s%s%s\n", title.text, *title.text != '\0' ? "; " : "", words_unit(picture));
    (void)words_wrap(file, legend, WIDTH);
    lay_out(&text);
    for (size_t panel = 0; panel < picture->panel_count; panel++) {
        print_panel(&text, panel);
    }
    fputs(*caption != '\0' ? "\n" : "", file);
    (void)words_wrap(file, caption, WIDTH);
    free(caption);
    free(legend);
}
