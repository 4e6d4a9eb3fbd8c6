/*
 * The curves of a picture.
 */
#include "picture.h"

#include "caption.h"

#include "../../base/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const Style errors[ERROR_KINDS] = {
    [ERROR_APPROXIMATION] = {0xCC79A7, 1.6, 1, 13},
    [ERROR_CONSTRUCTION] = {0x0072B2, 1.8, 1, 5},
    [ERROR_ROUNDING] = {0xD55E00, 1.8, 1, 9},
    [ERROR_NATIVE] = {0x009E73, 1.8, 2, 0},
    [ERROR_TOTAL] = {0xBBBBBB, 7, 1, 0},
    [ERROR_OBSERVED] = {0x56B4E9, 1.6, 4, 0},
};
static const Style series[] = {
    {0xD55E00, 1.8, 1, 7},  {0x0072B2, 1.8, 1, 5}, {0x009E73, 1.8, 1, 9}, {0xCC79A7, 1.8, 1, 13},
    {0xE69F00, 1.8, 1, 11}, {0x56B4E9, 1.8, 1, 6}, {0x000000, 1.8, 1, 4}, {0x7F7F7F, 1.8, 1, 8},
};
enum { STYLES = sizeof series / sizeof *series };

/* Of a value of y.  Omegas have the same in all pictures that know of each other: beyond as many as
 * there are, a colour comes again with another point. */
static Style series_style(const Picture *picture, size_t y)
{
    const PictureWish *wish = &picture->wish;
    const char *text = picture_y_text(picture, y);
    size_t place = y;
    if (picture->y == AXIS_OMEGA && wish->omega_count > 0) {
        double omega = *text != '\0' ? strtod(text, NULL) : INFINITY; /* a mask has none */
        for (place = 0; place < wish->omega_count && wish->omegas[place] < omega; place++) {
        }
    }
    Style style = series[place % STYLES];
    style.point = series[(place + place / STYLES) % STYLES].point;
    return style;
}

static Curve *add(Picture *picture, ErrorKind kind, size_t y, Style style)
{
    Curve *curve = &picture->curves[picture->curve_count++];
    *curve = (Curve){.kind = kind, .y = y, .style = style};
    return curve;
}

/* On a terminal the main error is a bar, and the others are their first letters. */
static void find_errors(Picture *picture)
{
    static const ErrorKind order[] = {ERROR_TOTAL,    ERROR_APPROXIMATION, ERROR_CONSTRUCTION,
                                      ERROR_ROUNDING, ERROR_NATIVE,        ERROR_OBSERVED};
    bool alone = picture->wish.error >= 0;
    for (size_t i = 0; i < ERROR_KINDS; i++) {
        bool main = order[i] == picture->main;
        bool among = main || (!alone && order[i] != ERROR_OBSERVED);
        if (among && picture_has(picture, order[i])) {
            const char *name = caption_error(order[i]);
            Curve *curve = add(picture, order[i], 0, errors[alone ? ERROR_CONSTRUCTION : order[i]]);
            curve->letter = main ? '#' : *name;
            snprintf(curve->title, CURVE_TITLE, "%s", name);
        }
    }
}

/* The native error is the original's, the same for every curve's value: a band below them.  The
 * construction error is dotted in the colour of its series. */
static void find_series(Picture *picture)
{
    bool alone = picture->wish.error >= 0;
    bool native = !alone && picture->main != ERROR_NATIVE && picture_has(picture, ERROR_NATIVE);
    bool dotted =
        !alone && picture->main == ERROR_TOTAL && picture_has(picture, ERROR_CONSTRUCTION);
    for (size_t y = 0; y < picture->y_count && native; y++) {
        Curve *curve = add(picture, ERROR_NATIVE, y, (Style){0xDDDDDD, 6, 1, 0});
        snprintf(curve->title, CURVE_TITLE, "%s", y == 0 ? "native" : "");
    }
    for (size_t y = 0; y < picture->y_count; y++) {
        Style style = series_style(picture, y);
        Curve *curve = add(picture, picture->main, y, style);
        curve->letter = (char)('a' + y);
        caption_series(curve->title, CURVE_TITLE, picture, y);
        if (dotted) {
            curve = add(picture, ERROR_CONSTRUCTION, y, (Style){style.colour, 1.8, 3, 0});
            bool last = y + 1 == picture->y_count;
            snprintf(curve->title, CURVE_TITLE, "%s", last ? "construction (dotted)" : "");
        }
    }
}

static void find_intervals(Picture *picture)
{
    bool several = picture->y_count > 1;
    for (size_t y = 0; y < picture->y_count; y++) {
        Style style = several ? series_style(picture, y) : errors[ERROR_CONSTRUCTION];
        Curve *curve = add(picture, 0, y, (Style){style.colour, 3, 1, 0});
        curve->letter = (char)(several ? 'a' + y : ' ');
        snprintf(curve->title, CURVE_TITLE, "meets the tolerance");
        if (several) {
            caption_series(curve->title, CURVE_TITLE, picture, y);
        }
    }
}

int curves_find(Picture *picture)
{
    size_t most = 3 * picture->y_count + ERROR_KINDS;
    picture->curves = calloc(most, sizeof *picture->curves);
    if (picture->curves == NULL) {
        return memory_fault();
    }
    switch (picture->kind) {
    case PICTURE_ERRORS: find_errors(picture); break;
    case PICTURE_SERIES: find_series(picture); break;
    case PICTURE_BARS: find_intervals(picture); break;
    case PICTURE_HEAT:
        for (size_t y = 0; y < picture->y_count; y++) {
            (void)add(picture, picture->main, y, (Style){0});
        }
    }
    return 0;
}
