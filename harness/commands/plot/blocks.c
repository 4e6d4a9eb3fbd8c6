/*
 * The numbers in a script for gnuplot: the axis along the picture, and the data.
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
/* The room beyond open ends and crosses, as a part of the scale; the share of a place that its
 * intervals take. */
#define MARGIN 0.04
#define INTERVALS 0.7
/* More values of x have marks at round numbers; words have so many characters at most, and each
 * takes so many pixels. */
enum { VALUES_MOST = 8, WORD_MOST = 16, CHARACTER = 7 };
/* gnuplot's numbers of points; 0: there is none. */
enum { POINT_END = 1, POINT_CROSS = 2, POINT_UP = 9, POINT_OPEN = 10, POINT_DOWN = 11 };
#define RED 0xAA0000u
#define GREY 0x444444u

/* Are the values of x side by side, whatever numbers they are? */
static bool side_by_side(const Picture *picture)
{
    return picture->categories || picture->data->searched;
}

static double number_of(const Picture *picture, size_t x)
{
    return strtod(picture_text(picture, &picture->x, x), NULL);
}

static bool is_log(const Picture *picture)
{
    double low = number_of(picture, 0), high = number_of(picture, picture->x.count - 1);
    return !side_by_side(picture) && picture->x.axis != MEASURE_LAYER && low > 0 &&
           log10(high) - log10(low) >= LOG_LEAST;
}

double script_place(const Picture *picture, size_t x)
{
    return side_by_side(picture) ? (double)x
           : is_log(picture)     ? log10(number_of(picture, x))
                                 : number_of(picture, x);
}

void script_write_x(FILE *file, const Picture *picture, double width)
{
    double low = script_place(picture, 0), high = script_place(picture, picture->x.count - 1);
    double span = high - low, last = -INFINITY;
    bool apart = side_by_side(picture), log = is_log(picture);
    double margin = apart ? 0.5 : low < high ? span * 0.03 : fmax(1, fabs(low) / 2);
    fprintf(file, "set xrange [%.17g:%.17g]\n", low - margin, high + margin);
    if (!apart && picture->x.count > VALUES_MOST && (!log || span >= POWERS_LEAST)) {
        fprintf(file, "set xtics %s\nset format x '%s'\n",
                log && span < POWERS_EACH ? "1" : "autofreq", log ? "10^{%.0f}" : "%g");
        return;
    }
    fprintf(file, "set xtics %s(", picture->categories ? "rotate by 35 right noenhanced " : "");
    for (size_t x = 0; x < picture->x.count; x++) { /* as they are written, where there is room */
        Words word = words_mark(picture, x, WORD_MOST);
        double place = script_place(picture, x), room = CHARACTER * (double)(strlen(word.text) + 1);
        if (picture->categories || (place - last) * width >= room * (span + 2 * margin)) {
            fputs(x > 0 ? ", " : "", file);
            script_quote(file, word.text);
            fprintf(file, " %.9g", place);
            last = place;
        }
    }
    fputs(")\n", file);
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* A number, which gnuplot leaves out where it is not finite. */
static void write_number(FILE *file, double number)
{
    fprintf(file, isfinite(number) ? "%.9g " : "NaN ", number);
}

/* The marks at the ends of an interval, of a search in vain a cross; of an error at the largest
 * alone, where it is not finite or only a bound. */
static void find_marks(int marks[2], const Spot *spot, bool searched)
{
    bool found = searched && isfinite(spot->most.log10);
    marks[0] = !found ? 0 : spot->below ? POINT_DOWN : POINT_END;
    marks[1] = found                                        ? (spot->above ? POINT_UP : POINT_END)
               : spot->none || spot->most.log10 == INFINITY ? POINT_CROSS
               : spot->most.bound                           ? POINT_OPEN
                                                            : 0;
}

/* The place of a curve on x: x, the median or best, the smallest and the largest as far as the
 * picture goes, the points at both, and their colour.  Where no row is there is no gap in it. */
static void write_place(FILE *file, const Picture *picture, const Spot *spot, const Curve *curve,
                        double place)
{
    const bool searched = picture->data->searched;
    double span = picture->high - picture->low, edge = span * MARGIN / 2;
    double least = spot->below ? picture->low + edge : spot->least;
    double most = spot->above                       ? picture->high - edge
                  : spot->none                      ? picture->low + 2 * edge
                  : spot->most.log10 > picture->top ? picture->top
                                                    : spot->most.log10;
    int marks[2];
    find_marks(marks, spot, searched);
    unsigned colour = marks[1] == POINT_CROSS ? RED : curve->width > 5 ? GREY : curve->colour;
    double shift = ((double)curve->y + 0.5) / (double)picture->y.count - 0.5;
    write_number(file, place + (searched ? INTERVALS * shift : 0));
    write_number(file, spot->median);
    write_number(file, least == -INFINITY ? fmin(picture->low - span, most) : least);
    write_number(file, most);
    fprintf(file, "%d %d 0x%06X\n", marks[0], marks[1], colour);
}

/* gnuplot does not count a block without lines, and warns of one without numbers: each begins with
 * a point that no picture has room for, and an empty line, across which no curve is drawn. */
void script_write_data(FILE *file, const Picture *picture)
{
    fputs("$data << END\n", file);
    for (size_t i = 0; i < picture->panel_count * picture->curve_count; i++) {
        const Curve *curve = &picture->curves[i % picture->curve_count];
        fputs("1e300 1e300 1e300 1e300 0 0 0\n\n", file);
        for (size_t x = 0; x < picture->x.count; x++) {
            const Spot *spot = picture_spot(picture, i / picture->curve_count, curve, x);
            if (spot->there) {
                write_place(file, picture, spot, curve, script_place(picture, x));
            }
        }
        fputs("\n\n", file);
    }
    fputs("END\n", file);
}
