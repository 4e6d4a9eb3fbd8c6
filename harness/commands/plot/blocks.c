/*
 * The data of a picture in a script for gnuplot.
 *
 * All that is drawn upwards is a logarithm already: gnuplot's own logarithmic axes take doubles,
 * and 1e-868 is none.
 */
#include "script.h"

#include "marks.h"
#include "searched.h"

#include <math.h>

/* The share of a place that its intervals take. */
#define INTERVALS 0.7
/* gnuplot's numbers of points, and the colour of crosses. */
enum { POINT_CROSS = 2, POINT_DISC = 7, POINT_OPEN = 10 };
#define RED 0xAA0000
#define GREY 0x444444

static bool is_infinite(PlotCell cell)
{
    return isinf(cell.log10) && cell.log10 > 0;
}

/* A line's numbers; what is not finite is none. */
static void write_numbers(FILE *file, const double numbers[4])
{
    for (size_t i = 0; i < 4; i++) {
        if (isfinite(numbers[i])) {
            fprintf(file, "%.9g ", numbers[i]);
        } else {
            fputs("NaN ", file);
        }
    }
}

/* The mark that ends a line; y: NAN where there is none. */
static void write_mark(FILE *file, double y, int point, unsigned colour)
{
    if (isfinite(y)) {
        fprintf(file, "%.9g %d 0x%06X\n", y, point, colour);
    } else {
        fputs("NaN 0 0\n", file);
    }
}

/* A place on a curve. */
typedef struct {
    const Picture *picture;
    const Curve *curve;
    size_t panel, x;
} Spot;

/* An open triangle at what is only a bound, a cross at the top. */
static void write_error(FILE *file, const Spot *spot)
{
    const Picture *picture = spot->picture;
    const Curve *curve = spot->curve;
    const PlotCell *cells = picture_cell(picture, spot->panel, curve->y, spot->x),
                   *cell = &cells[curve->kind];
    double floor = picture->low - (picture->high - picture->low); /* below all that is seen */
    bool wide = curve->style.width > 5; /* its own colour would not be seen on it */
    bool none = true, several = picture->several && !isnan(cell->log10);
    for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
        none = none && isnan(cells[kind].log10);
    }
    if (none) { /* no row is there, and no gap in the curve */
        return;
    }
    write_numbers(file, (double[]){marks_x_place(picture, spot->x), cell->median,
                                   several ? fmax(cell->least, floor) : NAN,
                                   several ? fmin(cell->log10, picture->top) : NAN});
    if (is_infinite(*cell)) {
        write_mark(file, picture->top, POINT_CROSS, RED);
    } else {
        write_mark(file, cell->bound ? cell->log10 : NAN, POINT_OPEN,
                   wide ? GREY : curve->style.colour);
    }
}

static void write_heat(FILE *file, const Spot *spot)
{
    const Picture *picture = spot->picture;
    const Curve *curve = spot->curve;
    PlotCell cell = picture_cell(picture, spot->panel, curve->y, spot->x)[curve->kind];
    if (!isnan(cell.log10)) {
        write_numbers(file, (double[]){(double)spot->x, (double)curve->y, cell.log10, NAN});
        write_mark(file, is_infinite(cell) ? (double)curve->y : NAN, POINT_CROSS, RED);
    }
}

/* From its best, or its middle, up and down, with an arrow where it goes on; a disc at the best, a
 * cross where no Omega was found. */
static void write_interval(FILE *file, const Spot *spot)
{
    const Picture *picture = spot->picture;
    const Curve *curve = spot->curve;
    const PlotCell *cells = picture_cell(picture, spot->panel, curve->y, spot->x);
    double count = (double)picture->y_count;
    double place = (double)spot->x + INTERVALS * (((double)curve->y + 0.5) / count - 0.5);
    double sign = (picture->high - picture->low) * BLOCKS_MARGIN;
    if (searched_none(cells)) {
        write_numbers(file, (double[]){place, NAN, NAN, NAN});
        write_mark(file, picture->low + sign, POINT_CROSS, RED);
    } else if (searched_found(cells)) {
        double ends[2], best = cells[SEARCH_BEST].log10;
        int styles[2];
        for (int i = 0; i < 2; i++) {
            int end = i == 0 ? SEARCH_MIN : SEARCH_MAX;
            bool on = searched_goes_on(picture, cells, end);
            ends[i] = !on      ? cells[end].log10
                      : i == 0 ? picture->low + sign / 2
                               : picture->high - sign / 2;
            styles[i] = 2 * (int)curve->y + 1 + on;
        }
        double middle = best >= ends[0] && best <= ends[1] ? best : (ends[0] + ends[1]) / 2;
        write_numbers(file, (double[]){place, middle, ends[0] - middle, styles[0]});
        write_mark(file, best, POINT_DISC, curve->style.colour);
        write_numbers(file, (double[]){place, middle, ends[1] - middle, styles[1]});
        write_mark(file, NAN, 0, 0);
    }
}

void blocks_write(FILE *file, const Picture *picture)
{
    fputs("$data << END\n", file);
    for (size_t i = 0; i < picture->panel_count * picture->curve_count; i++) {
        size_t panel = i / picture->curve_count, number = i % picture->curve_count;
        const Curve *curve = &picture->curves[number];
        /* gnuplot does not count a block without lines, and warns of one without numbers: each
         * begins with a point that no picture has room for, and an empty line, across which no
         * curve is drawn. */
        if (picture->kind != PICTURE_HEAT || number == 0) {
            fprintf(file, "%s1e300 1e300 1e300 1 NaN 0 0\n\n", i > 0 ? "\n\n" : "");
        }
        for (size_t x = 0; x < picture->x_count; x++) {
            Spot spot = {picture, curve, panel, x};
            (picture->kind == PICTURE_HEAT   ? write_heat
             : picture->kind == PICTURE_BARS ? write_interval
                                             : write_error)(file, &spot);
        }
    }
    fputs("END\n", file);
}
