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
    LINE = 14,
    WIDTH_LEAST = 190,
    HEIGHT_LEAST = 80,
    HEIGHT_MOST = 330
};
/* Curves of more values of x have so many points. */
enum { POINTS_MOST = 48, POINTS_FEW = 8 };
/* The width of a character, in the title and in the caption. */
#define CHARACTER 6.6
#define CAPTION_CHARACTER 5.6
/* A shorter scale has a mark at every power of ten; the room above and below it, as a part. */
#define POWERS_EACH 5
#define MARGIN 0.04

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

/* Pixels; title, caption: in lines; head, foot, gap: lines above, below and between panels. */
typedef struct {
    const Picture *picture;
    char *title, *caption;
    size_t columns, rows;
    double width, height, panel_width;
    double titles, head, foot, gap;
} Page;

/* *broken = a text in lines as wide as the page, to be freed; returns their number. */
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

/* The columns of panels, and how wide they and the page are; then how high.  0; 2 after a message:
 * the page is to be too low. */
static int lay_out(Page *page)
{
    static const double widths[PANEL_COLUMNS + 1] = {0, 560, 350, 290, 230};
    const Picture *picture = page->picture;
    const size_t count = picture->panel_count;
    const double wide = picture->wish.width, wish = picture->wish.height;
    double columns = (double)(picture->columns > 0       ? picture->columns
                              : count <= 3               ? count
                              : count == 4               ? 2
                              : count <= 6 || count == 9 ? 3
                                                         : PANEL_COLUMNS);
    columns = wide > 0 ? fmax(1, fmin(columns, floor((wide - LEFT) / WIDTH_LEAST))) : columns;
    page->columns = (size_t)columns;
    page->rows = (count - 1) / page->columns + 1;
    page->width = wide > 0 ? wide : LEFT + EDGE + columns * (widths[page->columns] + GAP) - GAP;
    page->panel_width = (page->width - LEFT - EDGE + GAP) / columns - GAP;
    char *caption = words_caption(picture, true);
    page->titles = break_lines(&page->title, page, words_title(picture).text, CHARACTER);
    page->foot = break_lines(&page->caption, page, caption, CAPTION_CHARACTER);
    free(caption);
    page->gap = picture->categories ? 6 : 3.3;
    page->head = 1.5 * page->titles + count_legend_rows(page) + 2.4;
    page->foot += page->gap + 1.8;
    double rows = (double)page->rows;
    double around = LINE * (page->head + page->foot + (rows - 1) * page->gap);
    double high = fmin(HEIGHT_MOST, fmax(2 * HEIGHT_LEAST, 0.7 * page->panel_width));
    high = wish > 0 ? (wish - around) / rows : high;
    page->height = around + rows * high;
    return high >= HEIGHT_LEAST
               ? 0
               : complain((Origin){.flag = "size"}, NULL, "expected a height of %.0f or more",
                          ceil(around + rows * HEIGHT_LEAST));
}

/* ---- The script ------------------------------------------------------------------------------ */

/* What all pictures begin with. */
static const char settings[] =
    "set encoding utf8\nset minussign\nset clip one\nset key noautotitle\n"
    "set grid ytics lc rgb '#DDDDDD' lt 1 lw 0.6\n"
    "block(p, i) = (p - 1) * curves + i - 1\n";

/* The legend, behind a plot of nothing as wide as the page. */
static const char legend[] =
    "set key left top Left reverse horizontal samplen 2.5 noenhanced\nset lmargin at screen 0.08\n"
    "set rmargin at screen 1\nunset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n"
    "plot NaN";
static const char behind_legend[] =
    "\nunset label\nset multiplot previous\nset key off\n"
    "set border 31 lc rgb '#444444' lw 0.8\nset xtics nomirror\nset ytics nomirror\n";

/* Panels: those at the left have numbers upwards; what meets the tolerance is shaded. */
static const char panels[] =
    "do for [p=1:|titles|] {\n  set title titles[p] noenhanced offset 0,-0.7\n"
    "  set format y (p - 1) % columns == 0 ? '10^{%.0f}' : ''\n  unset object\n"
    "  if (least[p] <= most[p]) {\n"
    "    set object rectangle from least[p], graph 0 to most[p], graph 1 behind \\\n"
    "      fillcolor rgb '#E8F3DC' fillstyle solid noborder\n  }\n"
    "  plot NaN";
static const char bands[] = ", for [i=1:curves] $data index block(p, i) using 1:3:4 \\\n"
                            "    with filledcurves fillstyle transparent solid 0.2 noborder ls i";
static const char met[] = ", tolerance with lines ls curves+1";
static const char lines[] = ", for [i=1:curves] $data index block(p, i) using 1:2 ls i";
static const char intervals[] =
    ", for [i=1:curves] $data index block(p, i) \\\n"
    "    using 1:3:(0):($4-$3) with vectors nohead ls i, for [i=1:curves] $data index block(p, i) "
    "\\\n"
    "    using 1:3:5:7 with points ps 1.2 pt variable lc rgb variable, \\\n"
    "    for [i=1:curves] $data index block(p, i) using 1:2 with points ls i ps 1.2 pt 7";
static const char laws[] = ", $laws using ($3 == p ? $1 : NaN):2 with lines \\\n"
                           "    lw 1 dt 2 lc rgb 'black'";
static const char marks[] =
    ", for [i=1:curves] $data index block(p, i) \\\n    using 1:($6 > 0 ? $4 : NaN):6:7 "
    "with points ps 1.2 pt variable lc rgb variable\n}\nunset multiplot\n";

static const char *const terminals[TARGET_COUNT] = {
    [TARGET_SVG] = "svg size width,height dynamic fontscale 1.333",
    [TARGET_PNG] =
        "pngcairo size 2*width,2*height dashlength 0.6 linewidth 2 fontscale 2 pointscale 2",
    [TARGET_PDF] =
        "pdfcairo size width/72 in,height/72 in dashlength 0.6 linewidth 2 pointscale 0.7",
    [TARGET_SCRIPT] = "svg size width,height dynamic fontscale 1.333",
};

/* The style of each curve, and then of the tolerance. */
static void write_styles(FILE *file, const Picture *picture)
{
    const char *style = picture->categories ? "points" : "linespoints";
    size_t count = picture->x.count, apart = count > POINTS_MOST ? count / POINTS_FEW : 1;
    fprintf(file, "curves = %zu\nset style data %s\nset style function %s\n", picture->curve_count,
            style, style);
    for (size_t i = 0; i < picture->curve_count; i++) {
        const Curve *curve = &picture->curves[i];
        double small = picture->categories && curve->width > 5 ? 1.3 : 0.3;
        fprintf(file, "set style line %zu lc rgb '#%06X' lw %g dt %d pt %d ps %g pi %zu\n", i + 1,
                curve->colour, curve->width, curve->dash, curve->point != 0 ? curve->point : 7,
                curve->point != 0 ? 0.6 : small, apart);
    }
    fprintf(file, "set style line curves+1 lc rgb 'black' lw 1 dt 4\n");
}

/* A text on the page; the place and the rest as gnuplot has them. */
static void write_label(FILE *file, const char *text, const char *how)
{
    fputs("set label ", file);
    script_quote(file, text);
    fprintf(file, " noenhanced at screen %s\n", how);
}

/* Title, names of axes and caption, which stand on the page once, and the legend. */
static void write_words(FILE *file, const Page *page)
{
    const Picture *picture = page->picture;
    const bool searched = picture->data->searched;
    Words x = words_cut(words_axis(picture->x.axis), (size_t)(page->width / CHARACTER) - 4);
    char place[80];
    write_label(file, page->title, "0,1 offset char 4,-1.3 left font ',10.5'");
    write_label(file, words_unit(picture), "0,0.5 offset char 2.7,0 center rotate by 90");
    snprintf(place, sizeof place, "0.5,0 offset char 4,%.9g center", page->foot - page->gap + 0.6);
    write_label(file, x.text, place);
    snprintf(place, sizeof place, "0,0 offset char 4,%.9g left font ',8.3' tc rgb '#444444'",
             page->foot - page->gap - 1.3);
    write_label(file, page->caption, place);
    fprintf(file, "set tmargin %.9g\n%s", 1.5 * page->titles, legend);
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
        fprintf(file, ", NaN with lines ls curves+1 title '%s'", words_tolerance(picture).text);
    }
    fputs(behind_legend, file);
}

/* What differs between panels, then all of them. */
static void write_panels(FILE *file, const Page *page)
{
    const Picture *picture = page->picture;
    const double wide = picture->categories ? 0.4 : 0;
    const bool searched = picture->data->searched;
    const size_t count = picture->panel_count, width = (size_t)(page->panel_width / CHARACTER);
    fprintf(file, "columns = %zu\narray titles[%zu]\narray least[%zu]\narray most[%zu]\n",
            page->columns, count, count, count);
    for (size_t i = 0; i < count; i++) {
        size_t first = 0, last = 0;
        bool meets = picture_meets(picture, i, &first, &last);
        fprintf(file, "titles[%zu] = ", i + 1);
        script_quote(file, words_cut(words_panel(picture, i), width).text);
        fprintf(file, "\nleast[%zu] = %.9g\nmost[%zu] = %.9g\n", i + 1,
                script_place(picture, first) - wide, i + 1,
                meets ? script_place(picture, last) + wide : -1e300);
    }
    fprintf(file, "%s%s%s%s%s%s", panels, picture->several && !searched ? bands : "",
            picture_has_tolerance(picture) ? met : "", searched ? intervals : lines,
            picture->wish.laws ? laws : "", marks);
}

int script_write(FILE *file, const Picture *picture, Target target)
{
    Page page = {.picture = picture};
    double span = picture->high - picture->low,
           margin = picture->data->searched ? 0 : MARGIN * span;
    int status = lay_out(&page);
    if (status == 0) {
        fprintf(file,
                "width = %.1f\nheight = %.1f\nset terminal %s enhanced font 'Arial,9' background "
                "rgb 'white'\n%s",
                page.width, page.height, terminals[target], settings);
        script_write_data(file, picture);
        status = picture->wish.laws ? laws_write(file, picture) : 0;
        write_styles(file, picture);
        fprintf(file,
                "tolerance = %.9g\nset multiplot layout %zu,%zu "
                "margins char 13, char 4, char %.9g, char %.9g spacing char 2.5, char %.9g\n",
                isnan(picture->tolerance) ? 0 : picture->tolerance, page.rows, page.columns,
                page.foot, page.head, page.gap);
        write_words(file, &page);
        script_write_x(file, picture, page.panel_width);
        fprintf(file, "set ytics %s\nset yrange [%.17g:%.17g]\n",
                span < POWERS_EACH ? "1" : "autofreq", picture->low - margin,
                picture->top + margin);
        write_panels(file, &page);
    }
    free(page.title);
    free(page.caption);
    return status;
}
