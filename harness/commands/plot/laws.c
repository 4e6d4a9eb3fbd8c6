/*
 * Laws as lines of a picture.
 */
#include "laws.h"

#include "../growth/law.h"
#include "marks.h"

#include <stdlib.h>

typedef struct {
    FILE *file;
    const Picture *picture;
    size_t panel;
} Drawing;

static void draw_law(const Drawing *drawing, const Law *law)
{
    const Picture *picture = drawing->picture;
    for (size_t x = 0; x < picture->x_count && law->kind > LAW_ZERO; x++) {
        double number = strtod(picture_x_text(picture, x), NULL);
        bool fitted = number >= law->from[0] && number <= law->to[0];
        if (fitted || picture->x != AXIS_OMEGA) {
            fprintf(drawing->file, "%.9g %.9g\n", marks_x_place(picture, x),
                    fit_at(&law->fit, &number));
        }
    }
    fputs(law->kind > LAW_ZERO ? "\n" : "", drawing->file);
}

/* Of a series that is drawn in the panel. */
static int take_series(void *context, const Series *series)
{
    const Drawing *drawing = context;
    const Picture *picture = drawing->picture;
    const size_t *values = picture->data->values[series->rows[0].row];
    Laws laws;
    if (!places_draw(picture, series->rows[0].row) ||
        places_panel(picture, series->rows[0].row) != drawing->panel) {
        return 0;
    }
    int status = laws_find(&laws, series);
    for (size_t i = 0; i < picture->curve_count && status == 0; i++) {
        const Curve *curve = &picture->curves[i];
        bool is_its = curve->kind == series->kind &&
                      (picture->y == PLOT_AXES || values[picture->y] == picture->y_order[curve->y]);
        for (size_t k = 0; k < laws.count && is_its; k++) {
            draw_law(drawing, &laws.laws[k]);
        }
    }
    return status;
}

int laws_write(FILE *file, const Picture *picture)
{
    Drawing drawing = {file, picture, 0};
    int status = 0;
    fputs("$laws << EOD\n", file);
    for (; drawing.panel < picture->panel_count && status == 0; drawing.panel++) {
        fputs("NaN NaN\n\n", file); /* no block is empty */
        status = series_each(picture->data, picture->data->rows, picture->x, take_series, &drawing);
        fputc('\n', file);
    }
    fputs("EOD\n", file);
    return status;
}
