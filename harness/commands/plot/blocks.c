/*
 * The numbers in a script for gnuplot: the axes, and the data.
 *
 * All that is drawn upwards is a logarithm already: gnuplot's own logarithmic axes take doubles,
 * and 1e-868 is none.
 */
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* x is a logarithmic axis when it spans so many powers of ten; with fewer than the second they are
 * too few for marks; a shorter scale than the third has a mark at every power. */
#define LOG_LEAST 1.18
#define POWERS_LEAST 2.5
#define POWERS_EACH 5
/* The room above and below curves as a part of the scale; the share of a place that its intervals
 * take. */
#define MARGIN 0.04
#define INTERVALS 0.7
/* More values of x have marks at round numbers. */
enum { VALUES_MOST = 8 };
/* gnuplot's numbers of points. */
enum {
    POINT_END = 1,
    POINT_CROSS = 2,
    POINT_DISC = 7,
    POINT_UP = 9,
    POINT_OPEN = 10,
    POINT_DOWN = 11
};
#define RED 0xAA0000u
#define GREY 0x444444u
/* The width of a character of a mark, pixels; words have so many at most. */
#define CHARACTER 7.0
enum { WORD_MOST = 16 };

/* ---- Axes ------------------------------------------------------------------------------------ */

/* Are the values of x side by side, whatever numbers they are? */
static bool side_by_side(const Picture *picture)
{
    return picture->categories || picture->kind == PICTURE_INTERVALS;
}

static double number_of(const Picture *picture, size_t x)
{
    return strtod(picture_text(picture, &picture->x, x), NULL);
}

static bool is_log(const Picture *picture)
{
    double low = number_of(picture, 0), high = number_of(picture, picture->x.count - 1);
    return !side_by_side(picture) && picture->x.axis != PLOT_LAYER && low > 0 &&
           log10(high) - log10(low) >= LOG_LEAST;
}

double script_place(const Picture *picture, size_t x)
{
    return side_by_side(picture) ? (double)x
           : is_log(picture)     ? log10(number_of(picture, x))
                                 : number_of(picture, x);
}

/* Marks at values as they are written, those that have room on an axis that begins with `low`. */
static void write_values(FILE *file, const Picture *picture, double low, double scale)
{
    const char *separator = "";
    double free = -INFINITY;
    fputs("set xtics (", file);
    for (size_t x = 0; x < picture->x.count; x++) {
        Words word = words_mark(picture, x, WORD_MOST);
        double length = picture->categories ? 2 : (double)strlen(word.text);
        double middle = (script_place(picture, x) - low) * scale, half = CHARACTER * length / 2;
        if (middle - half >= free) {
            fputs(separator, file);
            script_quote(file, word.text);
            fprintf(file, " %.9g", script_place(picture, x));
            separator = ", ";
            free = middle + half + CHARACTER;
        }
    }
    fprintf(file, ")%s\n", picture->categories ? " rotate by 35 right noenhanced" : "");
}

void script_write_x(FILE *file, const Picture *picture, double width)
{
    double low = script_place(picture, 0), high = script_place(picture, picture->x.count - 1);
    double span = high - low;
    bool apart = side_by_side(picture), log = is_log(picture);
    double margin = apart ? 0.5 : low < high ? span * 0.03 : fmax(1, fabs(low) / 2);
    fprintf(file, "set xrange [%.17g:%.17g]\n", low - margin, high + margin);
    if (apart || picture->x.count <= VALUES_MOST || (log && span < POWERS_LEAST)) {
        write_values(file, picture, low - margin, width / (span + 2 * margin));
    } else {
        fprintf(file, "set xtics %s\nset format x '%s'\n",
                log && span < POWERS_EACH ? "1" : "autofreq", log ? "10^{%.0f}" : "%g");
    }
}

void script_write_y(FILE *file, const Picture *picture)
{
    double low = picture->low, span = picture->high - low, at = picture->tolerance;
    double margin = picture->kind == PICTURE_INTERVALS ? 0 : MARGIN * span;
    fprintf(file, "set ytics %s\nset yrange [%.17g:%.17g]\n", span < POWERS_EACH ? "1" : "autofreq",
            low - margin, picture->top + margin);
    if (picture_has_tolerance(picture)) {
        fprintf(file,
                "set arrow from graph 0, first %.9g to graph 1, first %.9g nohead lc rgb 'black' "
                "lw 1 dt 4\n",
                at, at);
    }
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* One point of a curve, as it is drawn. */
typedef struct {
    const Spot *spot;
    double place, least, most; /* along x; the ends, or where they leave the picture */
} Drawn;

static Drawn find_drawn(const Picture *picture, size_t panel, const Curve *curve, size_t x)
{
    const Spot *spot = picture_spot(picture, panel, curve, x);
    double span = picture->high - picture->low, edge = span * MARGIN / 2;
    double shift = ((double)curve->y + 0.5) / (double)picture->y.count - 0.5;
    double far = fmin(picture->low - span, spot->most.log10); /* in place of a proven 0 */
    double least = spot->below ? picture->low + edge : spot->least == -INFINITY ? far : spot->least;
    double most = spot->above ? picture->high - edge : fmin(spot->most.log10, picture->top);
    bool known = !isnan(spot->least), shifted = picture->kind == PICTURE_INTERVALS;
    return (Drawn){spot, script_place(picture, x) + (shifted ? INTERVALS * shift : 0),
                   known ? least : NAN, known ? most : NAN};
}

/* The lines of a curve: x, the median, the smallest and the largest.  Where no row is there is no
 * gap in it; what is not finite is no number. */
static void write_curve(FILE *file, const Picture *picture, size_t panel, const Curve *curve)
{
    for (size_t x = 0; x < picture->x.count; x++) {
        Drawn drawn = find_drawn(picture, panel, curve, x);
        const double numbers[] = {drawn.place, drawn.spot->median, drawn.least, drawn.most};
        for (size_t i = 0; i < 4 && drawn.spot->there; i++) {
            if (isfinite(numbers[i])) {
                fprintf(file, "%.9g%c", numbers[i], i < 3 ? ' ' : '\n');
            } else {
                fprintf(file, "NaN%c", i < 3 ? ' ' : '\n');
            }
        }
    }
}

/* The marks of a curve: x, y, gnuplot's number of the point, and its colour.  A cross is what is
 * not finite, or a search in vain, an open triangle what is only a bound; intervals have crosses or
 * arrows at their ends, and a disc at the best. */
static void write_marks(FILE *file, const Picture *picture, size_t panel, const Curve *curve)
{
    bool intervals = picture->kind == PICTURE_INTERVALS;
    double above = picture->low + MARGIN * (picture->high - picture->low);
    unsigned colour = curve->width > 5 ? GREY : curve->colour; /* seen on a wide curve */
    for (size_t x = 0; x < picture->x.count; x++) {
        Drawn drawn = find_drawn(picture, panel, curve, x);
        const Spot *spot = drawn.spot;
        bool found = intervals && isfinite(drawn.least);
        bool infinite = spot->most.log10 == INFINITY, bound = spot->most.bound && !intervals;
        const struct {
            bool there;
            double y;
            int point;
            unsigned colour;
        } marks[] = {{spot->none, above, POINT_CROSS, RED},
                     {infinite, picture->top, POINT_CROSS, RED},
                     {bound && isfinite(drawn.most), drawn.most, POINT_OPEN, colour},
                     {found, drawn.least, spot->below ? POINT_DOWN : POINT_END, colour},
                     {found, drawn.most, spot->above ? POINT_UP : POINT_END, colour},
                     {intervals && isfinite(spot->median), spot->median, POINT_DISC, colour}};
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
            if (marks[i].there) {
                fprintf(file, "%.9g %.9g %d 0x%06X\n", drawn.place, marks[i].y, marks[i].point,
                        marks[i].colour);
            }
        }
    }
}

/* A block a panel and curve.  gnuplot does not count a block without lines, and warns of one
 * without numbers: each begins with a point that no picture has room for, and an empty line, across
 * which no curve is drawn. */
static void write_blocks(FILE *file, const Picture *picture, const char *name,
                         void write(FILE *, const Picture *, size_t, const Curve *))
{
    fprintf(file, "$%s << END\n", name);
    for (size_t i = 0; i < picture->panel_count * picture->curve_count; i++) {
        fputs("1e300 1e300 1e300 1e300\n\n", file);
        write(file, picture, i / picture->curve_count, &picture->curves[i % picture->curve_count]);
        fputs("\n\n", file);
    }
    fputs("END\n", file);
}

void script_write_data(FILE *file, const Picture *picture)
{
    write_blocks(file, picture, "data", write_curve);
    write_blocks(file, picture, "marks", write_marks);
}
