/*
 * A picture as a script for gnuplot, data and all, which lays out panels, legend and round marks on
 * a page whose words are known.
 */
#include "picture.h"

#include "../../base/message.h"
#include "../../base/text_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pixels: room around and between panels, lines of words, and sizes of a panel. */
enum {
    EDGE = 24,
    LEFT = 84,
    GAP = 16,
    LINE = 15,
    TITLE = 24, /* of a panel */
    MARKS = 26,
    ASLANT = 66, /* of marks that are words */
    WIDTH_LEAST = 190,
    HEIGHT_LEAST = 80,
    HEIGHT_MOST = 330
};
/* Curves of more values of x have so many points. */
enum { POINTS_MOST = 48, POINTS_FEW = 8 };
/* The width of a character, in the title and in the caption. */
#define CHARACTER 6.6
#define CAPTION_CHARACTER 5.6

void script_quote(FILE *file, const char *text)
{
    putc('\'', file);
    for (; *text != '\0'; text++) {
        fputs(*text == '\'' ? "'" : "", file);
        if (*text == '\n') {
            fputs("'.\"\\n\".'", file);
        } else {
            putc(*text, file);
        }
        fputs(strncmp(text, "]>", 2) == 0 ? " " : "", file);
    }
    putc('\'', file);
}

/* ---- The page -------------------------------------------------------------------------------- */

/* Pixels; head, foot: what is above and below all panels; title, caption: in lines. */
typedef struct {
    const Picture *picture;
    char *title, *caption;
    size_t columns, rows;
    double width, height, panel_width;
    double head, foot, marks, legend_rows;
} Page;

/* *broken = a text in lines as wide as the page, to be freed; returns their number, or -1: memory
 * is short. */
static double break_lines(char **broken, const Page *page, const char *text, double character)
{
    size_t size;
    FILE *file = text_stream(broken, &size);
    size_t lines = words_wrap(file, text, (size_t)((page->width - 2 * EDGE) / character));
    *broken = text_close(file, broken);
    return (double)lines;
}

/* The rows that the legend takes: its entries are as wide as the longest of them. */
static double count_legend_rows(const Page *page)
{
    bool more = picture_has_tolerance(page->picture) || page->picture->data->searched;
    size_t count = more, longest = more ? strlen("the smallest error") : 0;
    for (size_t i = 0; i < page->picture->curve_count; i++) {
        size_t length = strlen(page->picture->curves[i].title);
        longest = length > longest ? length : longest;
        count += length > 0;
    }
    double width = CHARACTER * (double)(longest + 8);
    return ceil((double)count / fmax(1, floor((page->width - LEFT) / width)));
}

/* How panels lie, and how wide they and the page are. */
static void lay_panels(Page *page)
{
    static const double widths[PANEL_COLUMNS + 1] = {0, 560, 350, 290, 230};
    const Picture *picture = page->picture;
    const double count = (double)picture->panel_count, wish = picture->wish.width;
    double columns = picture->columns > 0       ? (double)picture->columns
                     : count <= 3               ? count
                     : count == 4               ? 2
                     : count <= 6 || count == 9 ? 3
                                                : PANEL_COLUMNS;
    if (wish > 0) {
        columns = fmax(1, fmin(columns, floor((wish - LEFT) / (WIDTH_LEAST + GAP))));
    }
    page->columns = (size_t)columns;
    page->rows = (size_t)ceil(count / columns);
    page->width = wish > 0 ? wish : LEFT + EDGE + columns * (widths[page->columns] + GAP) - GAP;
    page->panel_width = (page->width - LEFT - EDGE + GAP) / columns - GAP;
}

/* How high they are.  0; 2 after a message: the page is to be too low; 99. */
static int lay_out(Page *page)
{
    const Picture *picture = page->picture;
    lay_panels(page);
    char *caption = words_caption(picture, true);
    double titles = break_lines(&page->title, page, words_title(picture).text, CHARACTER);
    double lines = break_lines(&page->caption, page, caption, CAPTION_CHARACTER);
    free(caption);
    page->marks = picture->categories ? ASLANT : MARKS;
    page->legend_rows = count_legend_rows(page);
    page->head = LINE * (1.5 * titles + page->legend_rows + 0.5);
    page->foot = LINE * (lines + 3);
    double rows = (double)page->rows, wish = picture->wish.height;
    double around = page->head + page->foot + rows * (TITLE + page->marks);
    double high = fmin(HEIGHT_MOST, fmax(2 * HEIGHT_LEAST, 0.7 * page->panel_width));
    high = wish > 0 ? (wish - around) / rows : high;
    page->height = around + rows * high;
    return high >= HEIGHT_LEAST
               ? 0
               : complain((Origin){.flag = "size"}, NULL, "expected a height of %.0f or more",
                          ceil(around + rows * HEIGHT_LEAST));
}

/* ---- The script ------------------------------------------------------------------------------ */

/* The settings of all pictures; those of the legend, which is drawn in a panel; those that end it.
 * */
static const char settings[] =
    "set encoding utf8\nset minussign\nset clip one\nset key noautotitle\n"
    "set grid ytics lc rgb '#DDDDDD' lt 1 lw 0.6\n";
static const char legend[] =
    "set key left top Left reverse horizontal samplen 2.5 noenhanced\nset lmargin at screen 0.08\n"
    "set rmargin at screen 1\nunset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n"
    "plot NaN notitle";
static const char behind_legend[] =
    "\nunset label\nunset key\nset border 31 lc rgb '#444444' lw 0.8\nset xtics nomirror\n"
    "set ytics nomirror\nset multiplot previous\nset key noautotitle\n";

/* The parts of a panel; first: its first block. */
static const char bands[] = ", for [i=1:curves] $data index first+i-1 using 1:3:4 \\\n"
                            "  with filledcurves fillstyle transparent solid 0.2 noborder ls i";
static const char lines[] = ", for [i=1:curves] $data index first+i-1 using 1:2 ls i";
static const char intervals[] = ", for [i=1:curves] $data index first+i-1 \\\n"
                                "  using 1:3:(0):($4-$3) with vectors nohead ls i";
static const char laws[] = ", $laws using ($3 == p ? $1 : NaN):2 with lines \\\n"
                           "  lw 1 dt 2 lc rgb 'black'";
static const char marks[] = ", for [i=1:curves] $marks index first+i-1 using 1:2:3:4 \\\n"
                            "  with points ps 1.2 pt variable lc rgb variable\n";

/* A text on the page, in pixels from its upper left corner. */
typedef struct {
    double x, y;
    const char *text, *how;
} Label;

static void write_label(FILE *file, const Page *page, Label label)
{
    fputs("set label ", file);
    script_quote(file, label.text);
    fprintf(file, " at screen %.5f,%.5f noenhanced %s\n", label.x / page->width,
            1 - label.y / page->height, label.how);
}

static void write_terminal(FILE *file, const Page *page, Target target)
{
    static const char svg[] = "dynamic fontscale 1.333";
    static const struct {
        const char *name, *unit, *more;
        double scale;
    } terminals[] = {
        [TARGET_SVG] = {"svg", "", svg, 1},
        [TARGET_PNG] = {"pngcairo", "", "dashlength 0.6 fontscale 2 linewidth 2 pointscale 2", 2},
        [TARGET_PDF] = {"pdfcairo", "in", "dashlength 0.6 fontscale 1 linewidth 2 pointscale 0.7",
                        1.0 / 72},
        [TARGET_SCRIPT] = {"svg", "", svg, 1},
    };
    const double scale = terminals[target].scale;
    const char *unit = terminals[target].unit;
    fprintf(file,
            "set terminal %s size %.9g%s,%.9g%s enhanced font 'Arial,9' %s "
            "background rgb 'white'\n%s",
            terminals[target].name, scale * page->width, unit, scale * page->height, unit,
            terminals[target].more, settings);
}

static void write_styles(FILE *file, const Picture *picture)
{
    const bool words = picture->categories;
    size_t count = picture->x.count, apart = count > POINTS_MOST ? count / POINTS_FEW : 1;
    fprintf(file, "curves = %zu\nset style data %s\nset style function %s\n", picture->curve_count,
            words ? "points" : "linespoints", words ? "points" : "linespoints");
    for (size_t i = 0; i < picture->curve_count; i++) {
        const Curve *curve = &picture->curves[i];
        double size = curve->point != 0 ? 0.6 : curve->width < 5 ? 0.3 : words ? 1.3 : 0.5;
        fprintf(file, "set style line %zu lc rgb '#%06X' lw %g dt %d pt %d ps %g pi %zu\n", i + 1,
                curve->colour, curve->width, curve->dash, curve->point != 0 ? curve->point : 7,
                size, apart);
    }
}

/* Title, names of axes and caption, which stand on the page once, and the legend, behind a plot of
 * nothing as wide as the page. */
static void write_words(FILE *file, const Page *page)
{
    const Picture *picture = page->picture;
    const double foot = page->height - page->foot;
    const bool searched = picture->data->searched;
    Words x = words_cut(words_axis(picture->x.axis), (size_t)(page->width / CHARACTER) - 4);
    write_label(file, page, (Label){EDGE, 1.2 * LINE, page->title, "left font ',10.5'"});
    write_label(file, page, (Label){(page->width + LEFT - EDGE) / 2, foot + 8, x.text, "center"});
    write_label(file, page,
                (Label){18, (page->head + foot - page->marks) / 2, words_unit(picture),
                        "center rotate by 90"});
    write_label(
        file, page,
        (Label){EDGE, foot + 2.4 * LINE, page->caption, "left font ',8.3' tc rgb '#444444'"});
    fprintf(file, "set tmargin at screen %.5f\n%s",
            1 - (page->head - LINE * (page->legend_rows + 0.5)) / page->height, legend);
    for (size_t i = 0; i < picture->curve_count; i++) {
        if (*picture->curves[i].title != '\0') {
            fprintf(file, ", NaN %s ls %zu title ", searched ? "with lines" : "", i + 1);
            script_quote(file, picture->curves[i].title);
        }
    }
    if (searched) {
        fputs(", NaN with points pt 7 ps 0.8 lc rgb '#444444' title 'the smallest error'", file);
    }
    if (picture_has_tolerance(picture)) {
        fprintf(file, ", NaN with lines lc rgb 'black' lw 1 dt 4 title '%s'",
                words_tolerance(picture).text);
    }
    fputs(behind_legend, file);
}

/* Those at the left have numbers upwards; the interval that meets the tolerance is shaded. */
static void write_panel(FILE *file, const Page *page, size_t panel)
{
    const Picture *picture = page->picture;
    const double wide = picture->categories ? 0.4 : 0;
    size_t first, last;
    Words title = words_cut(words_panel(picture, panel), (size_t)(page->panel_width / CHARACTER));
    fprintf(file, "p = %zu\nfirst = %zu\nset title ", panel, panel * picture->curve_count);
    script_quote(file, title.text);
    fprintf(file, " noenhanced offset 0,-0.7\nset format y '%s'\nunset object\n",
            panel % page->columns == 0 ? "10^{%.0f}" : "");
    if (picture_meets(picture, panel, &first, &last)) {
        fprintf(file,
                "set object rectangle from %.9g, graph 0 to %.9g, graph 1 behind "
                "fillcolor rgb '#E8F3DC' fillstyle solid noborder\n",
                script_place(picture, first) - wide, script_place(picture, last) + wide);
    }
    bool searched = picture->data->searched;
    fprintf(file, "plot NaN%s%s%s%s", picture->several && !searched ? bands : "",
            searched ? intervals : lines, picture->wish.laws ? laws : "", marks);
}

int script_write(FILE *file, const Picture *picture, Target target)
{
    Page page = {.picture = picture};
    int status = lay_out(&page);
    if (status == 0) {
        write_terminal(file, &page, target);
        script_write_data(file, picture);
        status = picture->wish.laws ? laws_write(file, picture) : 0;
        write_styles(file, picture);
        fprintf(file,
                "set multiplot layout %zu,%zu margins screen %.5f,%.5f,%.5f,%.5f "
                "spacing screen %.5f,%.5f\n",
                page.rows, page.columns, LEFT / page.width, 1 - EDGE / page.width,
                (page.foot + page.marks) / page.height, 1 - (page.head + TITLE) / page.height,
                GAP / page.width, (TITLE + page.marks) / page.height);
        write_words(file, &page);
        script_write_x(file, picture, page.panel_width);
        script_write_y(file, picture);
    }
    for (size_t panel = 0; panel < picture->panel_count && status == 0; panel++) {
        write_panel(file, &page, panel);
    }
    fputs("unset multiplot\n", file);
    free(page.title);
    free(page.caption);
    return status;
}
