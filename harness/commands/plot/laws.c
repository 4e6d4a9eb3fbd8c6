/*
 * The laws of `growth` as lines over a picture's curves.
 */
#include "picture.h"

#include "../growth/law.h"

#include <stdlib.h>

typedef struct {
    FILE *file;
    const Picture *picture;
} Drawing;

/* Of a series over whose curves it is drawn. */
static int take_series(void *context, const Series *series)
{
    const Drawing *drawing = context;
    const Picture *picture = drawing->picture;
    const Side *x = &picture->x, *y = &picture->y;
    const size_t row = series->rows[0].row, *values = picture->data->values[row];
    Laws laws = {.count = 0};
    bool curve = false;
    for (size_t i = 0; i < picture->curve_count; i++) {
        bool same = y->axis == MEASURE_AXES || values[y->axis] == picture->curves[i].y;
        curve = curve || (same && picture->curves[i].kind == series->kind);
    }
    if (curve && places_draw(picture, row)) {
        laws_find(&laws, series);
    }
    for (size_t i = 0; i < laws.count; i++) {
        const Law *law = &laws.laws[i];
        for (size_t k = 0; k < x->count && law->kind > LAW_ZERO; k++) {
            double number = strtod(picture_text(picture, x, k), NULL);
            bool fitted = number >= law->from[0] && number <= law->to[0];
            if (fitted || x->axis != AXIS_OMEGA) {
                fprintf(drawing->file, "%.9g %.9g %zu\n", script_place(picture, k),
                        fit_at(&law->fit, &number), places_panel(picture, row) + 1);
            }
        }
        fputs(law->kind > LAW_ZERO ? "\n" : "", drawing->file);
    }
    return 0;
}

int laws_write(FILE *file, const Picture *picture)
{
    Drawing drawing = {file, picture};
    fputs("$laws << EOD\n1e300 1e300 0\n\n", file); /* it is not empty */
    int status =
        series_each(picture->data, picture->data->rows, picture->x.axis, take_series, &drawing);
    fputs("EOD\n", file);
    return status;
}
