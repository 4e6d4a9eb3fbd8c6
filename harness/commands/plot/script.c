/*
 * A picture as a script for gnuplot: the page, its words, and the room for its panels.
 *
 * gnuplot lays out panels, legend and marks.  How large the page is for them is said here, in
 * pixels, so that no title lies on another, however many panels there are.
 */
#include "script.h"

#include "blocks.h"
#include "laws.h"
#include "marks.h"
#include "searched.h"

#include "../../base/text_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pixels. */
enum {
    LEFT = 84,
    RIGHT = 24,
    RIGHT_OF_HEAT = 96,
    EDGE = 24, /* of the title and the caption */
    TITLE = 34,
    LEGEND_ROW = 19,
    SAMPLE = 44, /* of a curve, beside its words in the legend */
    PANEL_TITLE = 24,
    GAP = 16,
    GAP_OF_HEAT = 44,
    MARKS = 26,
    X_TITLE = 26,
    CAPTION_ROW = 15,
    CHARACTER = 7 /* the width of one in the legend */
};
#define CAPTION_CHARACTER 5.7
/* Curves of more values of x have so many points. */
enum { POINTS_MOST = 48, POINTS_FEW = 8 };

/* The legend, drawn in a panel without axes as wide as the page. */
static const char legend[] =
    "set rmargin at screen 1\nunset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n"
    "plot NaN notitle, for [i=1:curves] NaN ls i title name[i]%s\n"
    "unset label\nunset key\nset border 31 lc rgb '#444444' lw 0.8\n"
    "set xtics nomirror\nset ytics nomirror\nset multiplot previous\n";

/* The panels.  Those at the left have numbers upwards, the one at the right of the first row the
 * scale of a heat map. */
static const char panels[] =
    "do for [p=1:panels] {\n"
    "  set title title[p] noenhanced offset 0,-0.7\n"
    "  set format y (columns == 1 || p % columns == 1 ? numbers : '')\n"
    "  if (p == columns) { set colorbox } else { unset colorbox }\n"
    "  unset object\n"
    "  if (met_to[p] >= met_from[p]) {\n"
    "    set object rectangle from met_from[p], graph 0 to met_to[p], graph 1 behind \\\n"
    "      fillcolor rgb '#E8F3DC' fillstyle solid noborder\n"
    "  }\n";
static const char *const drawn[] = {
    [PICTURE_ERRORS] = "  plot NaN, for [i=1:curves] $data index (p-1)*rows+row[i] \\\n"
                       "    using 1:(column(2+error[i])) ls i",
    [PICTURE_SERIES] = NULL,
    [PICTURE_HEAT] = "  plot NaN, $data index p-1 using 1:2:(.51):(.51):3 \\\n"
                     "    with boxxyerror fillstyle solid noborder fillcolor palette",
    [PICTURE_BARS] = "  plot NaN, for [i=1:curves] $data index (p-1)*rows+row[i] \\\n"
                     "    using 1:4:2:3:4:5 with boxxyerror fillstyle solid 0.3 noborder ls i, \\\n"
                     "    for [i=1:curves] for [edge=6:7] $data index (p-1)*rows+row[i] \\\n"
                     "    using 2:(column(edge)):($3-$2):(0) with vectors nohead ls i lw 2",
};
static const char laws[] = ", $laws index p-1 \\\n"
                           "    using 1:2:3 with lines lw 1 dt 2 lc rgb variable";
static const char points[] = ", $marks index p-1 \\\n"
                             "    using 1:2:3:4 with points ps 0.8 pt variable lc rgb variable\n";

typedef struct {
    const Picture *picture;
    FILE *file;
    Curve curves[CURVES_MOST];
    size_t curve_count;
    char *caption;                    /* in lines */
    size_t columns, rows;             /* of panels */
    double width, height;             /* of the page */
    double panel_width, panel_height; /* of what the axes enclose */
    double top, bottom;               /* of the panels and their titles */
    double marks, right, gap;
} Page;

static void write_label(const Page *page, double x, double y, const char *text, const char *how)
{
    fputs("set label ", page->file);
    marks_quote(page->file, text);
    fprintf(page->file, " at screen %.5f,%.5f noenhanced %s\n", x / page->width,
            1 - y / page->height, how);
}

/* ---- The page -------------------------------------------------------------------------------- */

/* The rows that the legend takes: its entries are as wide as the longest of them. */
static size_t count_legend_rows(const Page *page)
{
    size_t longest = 0, count = page->picture->kind == PICTURE_BARS; /* the smallest error */
    for (size_t i = 0; i < page->curve_count; i++) {
        size_t length = strlen(page->curves[i].title);
        longest = length > longest ? length : longest;
        count += length > 0;
    }
    double width = SAMPLE + CHARACTER * (double)longest;
    size_t columns = (size_t)fmax(1, (page->width - LEFT - page->right) / width);
    return (count + columns - 1) / columns;
}

/* Words stand aslant: what the longest takes below the axis. */
static double words_height(const Picture *picture)
{
    size_t longest = 0;
    for (size_t x = 0; x < picture->x_count; x++) {
        char word[CAPTION_LINE];
        marks_word(word, picture, x, MARK_WORD);
        longest = strlen(word) > longest ? strlen(word) : longest;
    }
    return 14 + 0.58 * CHARACTER * (double)longest;
}

/* The caption in lines of the page's width; returns their number, 0: memory is short. */
static size_t break_caption(Page *page)
{
    size_t size, lines = 0;
    char *whole = caption_make(page->picture);
    FILE *file = whole == NULL ? NULL : text_stream(&page->caption, &size);
    if (file != NULL) {
        caption_wrap(file, whole, (size_t)((page->width - 2 * EDGE) / CAPTION_CHARACTER));
        lines = fclose(file) == 0;
    }
    free(whole);
    for (size_t i = 0; lines > 0 && page->caption[i] != '\0'; i++) {
        lines += page->caption[i] == '\n';
    }
    return lines;
}

/* 0, or -1: memory is short. */
static int lay_out(Page *page)
{
    static const double widths[] = {0, 560, 350, 290, 230};
    static const double heights[] = {0, 330, 240, 210, 185};
    const Picture *picture = page->picture;
    size_t count = picture->panel_count;
    page->columns = count <= 3 ? count : count == 4 ? 2 : count <= 6 || count == 9 ? 3 : 4;
    page->rows = (count + page->columns - 1) / page->columns;
    page->panel_width = widths[page->columns];
    page->panel_height = heights[page->columns];
    page->marks = picture->categories ? words_height(picture) : MARKS;
    page->right = picture->kind == PICTURE_HEAT ? RIGHT_OF_HEAT : RIGHT;
    page->gap = picture->kind == PICTURE_HEAT ? GAP_OF_HEAT : GAP;
    page->width =
        LEFT + (double)page->columns * (page->panel_width + page->gap) - page->gap + page->right;
    page->top = TITLE + LEGEND_ROW * (double)count_legend_rows(page);
    page->bottom =
        page->top + (double)page->rows * (PANEL_TITLE + page->panel_height + page->marks);
    size_t lines = break_caption(page);
    page->height = page->bottom + X_TITLE + CAPTION_ROW * (double)lines + 14;
    return lines > 0 ? 0 : -1;
}

static void write_terminal(const Page *page, Target target)
{
    static const struct {
        const char *name, *unit, *more;
        double scale;
    } terminals[] = {
        [TARGET_SVG] = {"svg", "", "dynamic font 'Arial,12'", 1},
        [TARGET_PNG] = {"pngcairo", "",
                        "dashlength 0.6 font 'Arial,9' fontscale 2 linewidth 2 pointscale 2", 2},
        [TARGET_PDF] = {"pdfcairo", "in", "dashlength 0.6 font 'Arial,9' fontscale 1.333",
                        1.0 / 72},
        [TARGET_SCRIPT] = {"svg", "", "dynamic font 'Arial,12'", 1},
    };
    double scale = terminals[target].scale;
    const char *unit = terminals[target].unit;
    fprintf(page->file, "set terminal %s size %.9g%s,%.9g%s enhanced %s background rgb 'white'\n",
            terminals[target].name, scale * page->width, unit, scale * page->height, unit,
            terminals[target].more);
}

/* Title, legend, names of axes and caption, which stand on the page once: a panel without axes, as
 * wide as the page. */
static void write_words(const Page *page, Target target)
{
    const Picture *picture = page->picture;
    double across = (LEFT + page->width - page->right) / 2;
    double up = (page->top + PANEL_TITLE + page->bottom - page->marks) / 2;
    char text[CAPTION_LINE], how[64];
    caption_title(text, sizeof text, picture);
    write_label(page, EDGE, 20, text, "left font ',14'");
    caption_axis(text, sizeof text, picture->x);
    write_label(page, across, page->bottom + 8, text, "center");
    if (picture->kind == PICTURE_HEAT) {
        write_label(page, page->width - 14, up, caption_unit(picture), "center rotate by 90");
        caption_axis(text, sizeof text, picture->y);
    } else {
        snprintf(text, sizeof text, "%s", caption_unit(picture));
    }
    write_label(page, 18, up, text, "center rotate by 90");
    snprintf(how, sizeof how, "left font ',%g' tc rgb '#444444'",
             target == TARGET_SVG || target == TARGET_SCRIPT ? 11 : 8.5);
    write_label(page, EDGE, page->bottom + X_TITLE + 10, page->caption, how);
    fprintf(page->file,
            "set key at screen %.5f,%.5f left top Left reverse horizontal samplen 2.5 noenhanced\n",
            (LEFT - 12) / page->width, 1 - TITLE / page->height);
    bool best = picture->kind == PICTURE_BARS && searched_signs(picture).best;
    fprintf(page->file, legend,
            best ? ", NaN with points pt 7 ps 0.6 lc rgb '#444444' title 'the smallest error'"
                 : "");
}

/* The range upwards, or of colours, and the tolerance. */
static void write_scale(const Page *page)
{
    const Picture *picture = page->picture;
    double low = picture->low, high = picture->high, span = high - low;
    double margin = picture->kind == PICTURE_BARS ? 0 : span * BLOCKS_MARGIN;
    bool heat = picture->kind == PICTURE_HEAT;
    fprintf(page->file, "set %stics %s\n", heat ? "cb" : "y", span < MARKS_EACH ? "1" : "autofreq");
    if (heat) {
        marks_write_y(page->file, picture, page->panel_height);
        fprintf(page->file,
                "set yrange [-0.5:%.17g]\nset cbrange [%.17g:%.17g]\nset format cb '10^{%%.0f}'\n"
                "set palette defined (0 '#440154', 1 '#46327e', 2 '#365c8d', 3 '#277f8e', "
                "4 '#1fa187', 5 '#4ac16d', 6 '#a0da39', 7 '#fde725')\n",
                (double)picture->y_count - 0.5, low, high);
    } else {
        fprintf(page->file, "set yrange [%.17g:%.17g]\n", low - margin,
                blocks_top(picture) + margin);
        fputs("set grid ytics lc rgb '#DDDDDD' lt 1 lw 0.6\n", page->file);
    }
    if (!heat && picture->tolerance > low && picture->tolerance < high) {
        fprintf(page->file,
                "set arrow from graph 0, first %.9g to graph 1, first %.9g nohead lc rgb '#444444' "
                "dt 2 lw 1\n",
                picture->tolerance, picture->tolerance);
    }
}

/* The curves: their styles, names in the legend, and places in $data. */
static void write_curves(const Page *page)
{
    const Picture *picture = page->picture;
    size_t most = page->curve_count + 1; /* an array is not empty */
    bool words = picture->categories, bars = picture->kind == PICTURE_BARS;
    size_t apart = picture->x_count > POINTS_MOST ? picture->x_count / POINTS_FEW : 1;
    fprintf(page->file,
            "curves = %zu\nrows = %zu\narray name[%zu]\narray error[%zu]\n"
            "array row[%zu]\nname[%zu] = ''\n",
            page->curve_count, picture->y_count, most, most, most, most);
    for (size_t i = 0; i < page->curve_count; i++) {
        const Curve *curve = &page->curves[i];
        Style style = curve->style;
        double size = style.point != 0 ? 0.5 : style.width < 5 ? 0.3 : words ? 1.3 : 0.1;
        fprintf(page->file, "name[%zu] = ", i + 1);
        marks_quote(page->file, curve->title);
        fprintf(page->file, "; error[%zu] = %d; row[%zu] = %zu\n", i + 1, (int)curve->kind, i + 1,
                curve->y);
        fprintf(page->file, "set style line %zu lc rgb '#%06X' lw %g dt %d pt %d ps %g pi %zu\n",
                i + 1, style.colour, style.width, style.dash, style.point != 0 ? style.point : 7,
                size, apart);
    }
    fprintf(page->file, "set style data %s\nset style function %s\n",
            words ? "points" : "linespoints",
            bars    ? "lines"
            : words ? "points"
                    : "linespoints");
}

/* Of every panel its title, and the interval that meets the tolerance. */
static void write_panels(const Page *page)
{
    const Picture *picture = page->picture;
    size_t count = picture->panel_count, first, last;
    fprintf(page->file,
            "panels = %zu\ncolumns = %zu\nnumbers = '%s'\narray title[%zu]\n"
            "array met_from[%zu]\narray met_to[%zu]\n",
            count, page->columns, picture->kind == PICTURE_HEAT ? "%g" : "10^{%.0f}", count, count,
            count);
    for (size_t panel = 0; panel < count; panel++) {
        char text[CAPTION_LINE];
        caption_panel(text, sizeof text, picture, panel);
        caption_cut(text, (size_t)(page->panel_width / CHARACTER));
        fprintf(page->file, "title[%zu] = ", panel + 1);
        marks_quote(page->file, text);
        if (picture->kind == PICTURE_ERRORS && picture_meets(picture, panel, &first, &last)) {
            double wide = picture->categories ? 0.4 : 0;
            fprintf(page->file, "; met_from[%zu] = %.9g; met_to[%zu] = %.9g\n", panel + 1,
                    marks_x_place(picture, first) - wide, panel + 1,
                    marks_x_place(picture, last) + wide);
        } else {
            fprintf(page->file, "; met_from[%zu] = 1; met_to[%zu] = 0\n", panel + 1, panel + 1);
        }
    }
}

int script_write(FILE *file, const Picture *picture, Target target)
{
    Page page = {.picture = picture, .file = file};
    page.curve_count = curves_find(page.curves, picture);
    if (lay_out(&page) != 0) {
        free(page.caption);
        return -1;
    }
    fputs("set encoding utf8\nset minussign\nset clip one\n", file);
    write_terminal(&page, target);
    blocks_write(file, picture, page.curves, page.curve_count);
    int status = picture->laws ? laws_write(file, picture, page.curves, page.curve_count) : 0;
    write_curves(&page);
    write_panels(&page);
    fprintf(file,
            "set multiplot layout %zu,%zu margins screen %.5f,%.5f,%.5f,%.5f spacing screen "
            "%.5f,%.5f\n",
            page.rows, page.columns, LEFT / page.width, 1 - page.right / page.width,
            1 - (page.bottom - page.marks) / page.height,
            1 - (page.top + PANEL_TITLE) / page.height, page.gap / page.width,
            (PANEL_TITLE + page.marks) / page.height);
    write_words(&page, target);
    marks_write_x(file, picture, page.panel_width);
    write_scale(&page);
    fprintf(file, "set key noautotitle\n%s%s%s%s}\nunset multiplot\n", panels,
            drawn[picture->kind == PICTURE_SERIES ? PICTURE_ERRORS : picture->kind],
            picture->laws ? laws : "", points);
    free(page.caption);
    return ferror(file) ? -1 : status;
}
