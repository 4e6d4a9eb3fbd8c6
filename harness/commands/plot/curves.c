/*
 * The curves of a picture.
 */
#include "curves.h"

#include <stdio.h>

static const Style errors[ERROR_KINDS] = {
    [ERROR_APPROXIMATION] = {0xCC79A7, 1.6, 1, 13},
    [ERROR_CONSTRUCTION] = {0x0072B2, 1.8, 1, 5},
    [ERROR_ROUNDING] = {0xD55E00, 1.8, 1, 9},
    [ERROR_NATIVE] = {0x009E73, 1.8, 2, 0},
    [ERROR_TOTAL] = {0xBBBBBB, 7, 1, 0},
    [ERROR_OBSERVED] = {0x56B4E9, 1.6, 4, 0},
};
static const Style series[SERIES_MOST + 1] = {
    {0xD55E00, 1.8, 1, 7},  {0x0072B2, 1.8, 1, 5},  {0x009E73, 1.8, 1, 9},
    {0xCC79A7, 1.8, 1, 13}, {0xE69F00, 1.8, 1, 11}, {0x56B4E9, 1.8, 1, 6},
    {0x000000, 1.8, 1, 4},  {0x7F7F7F, 1.8, 1, 8},  {0x882255, 1.8, 1, 12},
};

/* A curve of a style without a title. */
static Curve *add(Curve *curves, size_t *count, ErrorKind kind, size_t y, Style style)
{
    curves[*count] = (Curve){.kind = kind, .y = y, .style = style};
    return &curves[(*count)++];
}

static size_t find_errors(Curve *curves, const Picture *picture)
{
    static const ErrorKind order[] = {ERROR_TOTAL,        ERROR_NATIVE,        ERROR_ROUNDING,
                                      ERROR_CONSTRUCTION, ERROR_APPROXIMATION, ERROR_OBSERVED};
    size_t count = 0;
    for (size_t i = 0; i < ERROR_KINDS; i++) {
        bool alone = picture->only_main;
        if (picture_shows(picture, order[i])) {
            Style style = errors[alone ? ERROR_CONSTRUCTION : order[i]];
            Curve *curve = add(curves, &count, order[i], 0, style);
            snprintf(curve->title, CAPTION_LINE, "%s", alone ? "" : caption_error(order[i]));
        }
    }
    return count;
}

/* The native error is the original's, the same for every curve's value: a band below them.  The
 * construction error is dotted in the colour of its series. */
static size_t find_series(Curve *curves, const Picture *picture)
{
    bool native = picture->main != ERROR_NATIVE && picture_shows(picture, ERROR_NATIVE);
    bool dotted = picture->main != ERROR_CONSTRUCTION && picture_shows(picture, ERROR_CONSTRUCTION);
    size_t count = 0;
    for (size_t y = 0; y < picture->y_count && native; y++) {
        Curve *curve = add(curves, &count, ERROR_NATIVE, y, (Style){0xDDDDDD, 6, 1, 0});
        snprintf(curve->title, CAPTION_LINE, "%s", y == 0 ? "native" : "");
    }
    for (size_t y = 0; y < picture->y_count; y++) {
        Curve *curve = add(curves, &count, picture->main, y, series[y]);
        caption_series(curve->title, CAPTION_LINE, picture, y);
        if (dotted) {
            Style style = {series[y].colour, series[y].width, 3, 0};
            curve = add(curves, &count, ERROR_CONSTRUCTION, y, style);
            bool last = y + 1 == picture->y_count;
            snprintf(curve->title, CAPTION_LINE, "%s", last ? "construction (dotted)" : "");
        }
    }
    return count;
}

static size_t find_bars(Curve *curves, const Picture *picture)
{
    size_t count = 0;
    for (size_t y = 0; y < picture->y_count; y++) {
        bool several = picture->y_count > 1;
        Style style = {several ? series[y].colour : errors[ERROR_CONSTRUCTION].colour, 6, 1, 0};
        Curve *curve = add(curves, &count, 0, y, style);
        snprintf(curve->title, CAPTION_LINE, "meets the tolerance");
        if (several) {
            caption_series(curve->title, CAPTION_LINE, picture, y);
        }
    }
    return count;
}

size_t curves_find(Curve curves[CURVES_MOST], const Picture *picture)
{
    switch (picture->kind) {
    case PICTURE_ERRORS: return find_errors(curves, picture);
    case PICTURE_SERIES: return find_series(curves, picture);
    case PICTURE_BARS: return find_bars(curves, picture);
    default: return 0;
    }
}
