/*
 * The curves of a picture.
 */
#include "picture.h"

#include "../../../memory/need.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Colours of Okabe and Ito, which the colour-blind can tell apart; gnuplot's numbers of dashes and
 * of points.  The errors, in the order in which they are drawn. */
static const Curve errors[] = {
    {.kind = ERROR_TOTAL, .colour = 0xBBBBBB, .width = 7, .dash = 1},
    {.kind = ERROR_APPROXIMATION, .colour = 0xCC79A7, .width = 1.6, .dash = 1, .point = 13},
    {.kind = ERROR_CONSTRUCTION, .colour = 0x0072B2, .width = 1.8, .dash = 1, .point = 5},
    {.kind = ERROR_ROUNDING, .colour = 0xD55E00, .width = 1.8, .dash = 1, .point = 9},
    {.kind = ERROR_NATIVE, .colour = 0x009E73, .width = 1.8, .dash = 2},
    {.kind = ERROR_OBSERVED, .colour = 0x56B4E9, .width = 1.6, .dash = 4},
};
/* Below series the native error, which is the original's, is a band, and the construction error
 * dotted in a series' colour. */
static const Curve band = {
    .kind = ERROR_NATIVE, .colour = 0xDDDDDD, .width = 6, .dash = 1, .title = "native"};
static const Curve dotted = {
    .kind = ERROR_CONSTRUCTION, .width = 1.8, .dash = 3, .title = "construction (dotted)"};
static const Curve alone = {.colour = 0x0072B2, .width = 1.8, .dash = 1, .point = 5};
static const unsigned colours[] = {0xD55E00, 0x0072B2, 0x009E73, 0xCC79A7,
                                   0xE69F00, 0x56B4E9, 0x000000, 0x7F7F7F};
static const int points[] = {7, 5, 9, 13, 11, 6, 4, 8};
/* Of a family, from dark to light. */
static const unsigned shades[] = {0x440154, 0x46327E, 0x365C8D, 0x277F8E,
                                  0x1FA187, 0x4AC16D, 0xA0DA39, 0xFDE725};
enum { COLOURS = sizeof colours / sizeof *colours, LETTERS = 26, FAMILY_LEAST = 4 };

/* Has y so many values that their curves are a family in shades, of the main error alone? */
static bool is_family(const Picture *picture)
{
    size_t x = picture->x.axis, y = picture->y.axis, count = picture->y.count;
    bool usual = x == AXIS_OMEGA || x == MEASURE_LAYER || y == AXIS_OMEGA || y == MEASURE_LAYER;
    return count > SERIES_MOST || (!usual && count >= FAMILY_LEAST);
}

/* The curve of the main error, or the interval, of a value of y.  Omegas have the same style in all
 * pictures that know of each other: beyond as many as there are, a colour comes again with another
 * point. */
static Curve find_value(const Picture *picture, size_t y)
{
    const PictureWish *wish = &picture->wish;
    const bool one = picture->y.axis == MEASURE_AXES, family = picture->family;
    const size_t count = picture->y.count, apart = (count - 1) / SERIES_MOST + 1;
    size_t place = y;
    if (picture->y.axis == AXIS_OMEGA && wish->omega_count > 0) {
        const char *text = picture_text(picture, &picture->y, y);
        double omega = *text != '\0' ? strtod(text, NULL) : INFINITY; /* a mask has none */
        for (place = 0; place < wish->omega_count && wish->omegas[place] < omega; place++) {
        }
    }
    Curve curve = {.colour = family ? shades[y * COLOURS / count] : colours[place % COLOURS],
                   .width = family ? 1.2 : 1.8,
                   .dash = 1,
                   .point = family ? 7 : points[(place + place / COLOURS) % COLOURS]};
    curve = one ? alone : curve;
    curve.kind = picture->data->searched ? 0 : picture->main;
    curve.width = picture->data->searched ? 2.5 : curve.width;
    curve.y = y;
    curve.letter = (char)(one ? ' ' : y < LETTERS ? 'a' + (int)y : '+');
    if (y % apart == 0 || y + 1 == count) {
        snprintf(curve.title, sizeof curve.title, "%.200s",
                 one ? "meets the tolerance" : words_series(picture, y).text);
    }
    return curve;
}

/* On a terminal the main error is a bar, and the others are their first letters. */
static void find_errors(Picture *picture, bool all)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        const ErrorKind kind = errors[i].kind;
        const bool main = kind == picture->main;
        if (picture_has(picture, kind) && (main || (all && kind != ERROR_OBSERVED))) {
            Curve *curve = &picture->curves[picture->curve_count++];
            *curve = all ? errors[i] : alone;
            curve->kind = kind;
            curve->letter = (char)(main ? '#' : *words_error(kind));
            snprintf(curve->title, sizeof curve->title, "%s", words_error(kind));
        }
    }
}

/* What is drawn below the curves of series, one for each; the legend names it once. */
static void find_below(Picture *picture, Curve style)
{
    for (size_t y = 0; y < picture->y.count && picture_has(picture, style.kind); y++) {
        Curve *curve = &picture->curves[picture->curve_count++];
        *curve = style;
        curve->y = y;
        curve->colour = style.colour != 0 ? style.colour : find_value(picture, y).colour;
        curve->title[0] = y == 0 ? style.title[0] : '\0';
    }
}

void curves_find(Picture *picture)
{
    picture->family = picture->kind != PICTURE_ERRORS && is_family(picture);
    const bool all = picture->wish.error < 0 && !picture->family;
    const bool below = all && picture->kind == PICTURE_SERIES;
    picture->curves = need_zeros(3 * picture->y.count + ERROR_KINDS, sizeof *picture->curves);
    if (picture->kind == PICTURE_ERRORS) {
        find_errors(picture, all);
        return;
    }
    if (below && picture->main != ERROR_NATIVE) {
        find_below(picture, band);
    }
    if (below && picture->main == ERROR_TOTAL) {
        find_below(picture, dotted);
    }
    for (size_t y = 0; y < picture->y.count; y++) {
        picture->curves[picture->curve_count++] = find_value(picture, y);
    }
}
