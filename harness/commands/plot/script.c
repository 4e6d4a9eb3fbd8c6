/*
 * A picture as a script for gnuplot, which lays out panels, legend and marks on a page whose size
 * is known (page.c).
 */
#include "script.h"

#include "caption.h"
#include "laws.h"
#include "marks.h"

/* Curves of more values of x have so many points. */
enum { POINTS_MOST = 48, POINTS_FEW = 8 };

/* Behind the legend, which is drawn in a panel without axes as wide as the page: what it changes
 * back. */
static const char behind_legend[] =
    "unset label\nunset key\nset border 31 lc rgb '#444444' lw 0.8\n"
    "set xtics nomirror\nset ytics nomirror\nset multiplot previous\nset key noautotitle\n";

/* The parts of a panel; first: its first block in $data. */
static const char bands[] = ", for [i=1:curves] $data index first+i-1 using 1:3:4 \\\n"
                            "  with filledcurves fillstyle transparent solid 0.2 noborder ls i";
static const char lines[] = ", for [i=1:curves] $data index first+i-1 using 1:2 ls i";
static const char intervals[] = ", for [i=1:curves] $data index first+i-1 \\\n"
                                "  using 1:2:(0):3:4 with vectors arrowstyle variable";
static const char heat_map[] = ", $data index first using 1:2:(.51):(.51):3 \\\n"
                               "  with boxxyerror fillstyle solid noborder fillcolor palette";
static const char laws[] = ", $laws index p using 1:2 with lines lw 1 dt 2 lc rgb 'black'";
static const char marks[] = ", for [i=1:curves] $data index first+i-1 using 1:5:6:7 \\\n"
                            "  with points ps 0.8 pt variable lc rgb variable\n";

/* A text on the page, in pixels from its upper left corner. */
typedef struct {
    double x, y;
    const char *text, *how;
} Label;

static void write_label(FILE *file, const Page *page, Label label)
{
    fputs("set label ", file);
    marks_quote(file, label.text);
    fprintf(file, " at screen %.5f,%.5f noenhanced %s\n", label.x / page->width,
            1 - label.y / page->height, label.how);
}

static void write_terminal(FILE *file, const Page *page, Target target)
{
    static const struct {
        const char *name, *unit, *more;
        double scale;
    } terminals[] = {
        [TARGET_SVG] = {"svg", "", "dynamic fontscale 1.333", 1},
        [TARGET_PNG] = {"pngcairo", "", "dashlength 0.6 fontscale 2 linewidth 2 pointscale 2", 2},
        [TARGET_PDF] = {"pdfcairo", "in", "dashlength 0.6 fontscale 1 linewidth 2 pointscale 0.7",
                        1.0 / 72},
        [TARGET_SCRIPT] = {"svg", "", "dynamic fontscale 1.333", 1},
    };
    double scale = terminals[target].scale;
    const char *unit = terminals[target].unit;
    fprintf(file,
            "set terminal %s size %.9g%s,%.9g%s enhanced font 'Arial,9' %s "
            "background rgb 'white'\nset encoding utf8\nset minussign\nset clip one\n",
            terminals[target].name, scale * page->width, unit, scale * page->height, unit,
            terminals[target].more);
}

/* Styles of curves; of intervals also those of an edge and an arrow. */
static void write_styles(FILE *file, const Picture *picture)
{
    bool words = picture->categories, bars = picture->kind == PICTURE_BARS;
    size_t apart = picture->x_count > POINTS_MOST ? picture->x_count / POINTS_FEW : 1;
    for (size_t i = 0; i < picture->curve_count && picture->kind != PICTURE_HEAT; i++) {
        Style style = picture->curves[i].style;
        double size = style.point != 0 ? 0.6 : style.width < 5 ? 0.3 : words ? 1.3 : 0.4;
        fprintf(file, "set style line %zu lc rgb '#%06X' lw %g dt %d pt %d ps %g pi %zu\n", i + 1,
                style.colour, style.width, style.dash, style.point != 0 ? style.point : 7, size,
                apart);
        if (bars) {
            fprintf(file,
                    "set style arrow %zu head nofilled size char 0.8,90 fixed ls %zu\n"
                    "set style arrow %zu head filled size char 1.4,25 fixed ls %zu\n",
                    2 * i + 1, i + 1, 2 * i + 2, i + 1);
        }
    }
    fprintf(file, "set style data %s\nset style function %s\n", words ? "points" : "linespoints",
            words && !bars ? "points" : "linespoints");
}

/* What the legend names, behind a plot of nothing. */
static void write_legend(FILE *file, const Page *page)
{
    const Picture *picture = page->picture;
    char tolerance[CAPTION_LINE];
    caption_tolerance(tolerance, sizeof tolerance, picture);
    fprintf(file,
            "set key at screen %.5f,%.5f left top Left reverse horizontal samplen 2.5 noenhanced\n"
            "set rmargin at screen 1\nunset border\nunset tics\nset xrange [0:1]\n"
            "set yrange [0:1]\nplot NaN notitle",
            (page->left - 12) / page->width, 1 - page->legend / page->height);
    for (size_t i = 0; i < picture->curve_count; i++) {
        if (*picture->curves[i].title != '\0') {
            fprintf(file, ", NaN ls %zu title ", i + 1);
            marks_quote(file, picture->curves[i].title);
        }
    }
    if (page->best) {
        fputs(", NaN with points pt 7 ps 0.8 lc rgb '#444444' title 'the smallest error'", file);
    }
    if (page->tolerance) {
        fprintf(file, ", NaN with lines lc rgb 'black' lw 1 dt 4 title '%s'", tolerance);
    }
    fprintf(file, "\n%s", behind_legend);
}

/* Title, names of axes and caption, which stand on the page once. */
static void write_words(FILE *file, const Page *page)
{
    const Picture *picture = page->picture;
    double across = (page->left + page->width - page->right) / 2;
    double up = (page->top + page->titles + page->bottom - page->marks) / 2;
    bool heat = picture->kind == PICTURE_HEAT;
    char text[CAPTION_LINE];
    write_label(file, page, (Label){PAGE_EDGE, 20, page->title, "left font ',10.5'"});
    caption_axis(text, sizeof text, picture->x);
    caption_cut(text, (size_t)((page->width - 2 * PAGE_EDGE) / PAGE_CHARACTER));
    write_label(file, page, (Label){across, page->bottom + 8, text, "center"});
    caption_axis(text, sizeof text, heat ? picture->y : picture->x);
    write_label(file, page,
                (Label){18, up, heat ? text : caption_unit(picture), "center rotate by 90"});
    if (heat) {
        write_label(file, page,
                    (Label){page->width - 14, up, caption_unit(picture), "center rotate by 90"});
    }
    write_label(file, page,
                (Label){PAGE_EDGE, page->bottom + PAGE_X_TITLE + 10, page->caption,
                        "left font ',8.3' tc rgb '#444444'"});
}

/* The range upwards, or of colours, and the tolerance. */
static void write_scale(FILE *file, const Page *page)
{
    const Picture *picture = page->picture;
    double low = picture->low, high = picture->high, span = high - low;
    double margin = picture->kind == PICTURE_BARS ? 0 : span * BLOCKS_MARGIN;
    bool heat = picture->kind == PICTURE_HEAT;
    fprintf(file, "set %stics %s\n", heat ? "cb" : "y", span < MARKS_EACH ? "1" : "autofreq");
    if (heat) {
        marks_write_y(file, picture, page->panel_height);
        fprintf(file,
                "set yrange [-0.5:%.17g]\nset cbrange [%.17g:%.17g]\nset format cb '10^{%%.0f}'\n"
                "set palette defined (0 '#440154', 1 '#46327e', 2 '#365c8d', 3 '#277f8e', "
                "4 '#1fa187', 5 '#4ac16d', 6 '#a0da39', 7 '#fde725')\n",
                (double)picture->y_count - 0.5, low, high);
    } else {
        fprintf(file, "set yrange [%.17g:%.17g]\nset grid ytics lc rgb '#DDDDDD' lt 1 lw 0.6\n",
                low - margin, picture->top + margin);
    }
    if (page->tolerance) {
        fprintf(file,
                "set arrow from graph 0, first %.9g to graph 1, first %.9g nohead lc rgb 'black' "
                "lw 1 dt 4\n",
                picture->tolerance, picture->tolerance);
    }
}

/* Those at the left have numbers upwards, the one at the right of the first row the scale of a heat
 * map; the interval that meets the tolerance is shaded. */
static void write_panel(FILE *file, const Page *page, size_t panel)
{
    const Picture *picture = page->picture;
    bool heat = picture->kind == PICTURE_HEAT, bars = picture->kind == PICTURE_BARS;
    size_t first, last,
        right = page->columns < picture->panel_count ? page->columns : picture->panel_count;
    char text[CAPTION_LINE];
    caption_panel(text, sizeof text, picture, panel);
    caption_cut(text, (size_t)(page->panel_width / PAGE_CHARACTER));
    fprintf(file, "p = %zu\nfirst = %zu\nset title ", panel,
            panel * (heat ? 1 : picture->curve_count));
    marks_quote(file, text);
    fprintf(file, " noenhanced offset 0,-0.7\nset format y '%s'\n%s colorbox\nunset object\n",
            panel % page->columns != 0 ? ""
            : heat                     ? "%g"
                                       : "10^{%.0f}",
            panel + 1 == right ? "set" : "unset");
    if (picture->kind == PICTURE_ERRORS && picture_meets(picture, panel, &first, &last)) {
        double wide = picture->categories ? 0.4 : 0;
        fprintf(file,
                "set object rectangle from %.9g, graph 0 to %.9g, graph 1 behind "
                "fillcolor rgb '#E8F3DC' fillstyle solid noborder\n",
                marks_x_place(picture, first) - wide, marks_x_place(picture, last) + wide);
    }
    fprintf(file, "plot NaN%s%s%s%s", picture->several && !bars && !heat ? bands : "",
            bars   ? intervals
            : heat ? heat_map
                   : lines,
            picture->wish.laws ? laws : "", marks);
}

int script_write(FILE *file, const Picture *picture, Target target)
{
    Page page = {0};
    int status = page_make(&page, picture);
    if (status == 0) {
        write_terminal(file, &page, target);
        blocks_write(file, picture);
        status = picture->wish.laws ? laws_write(file, picture) : 0;
        write_styles(file, picture);
        fprintf(file,
                "curves = %zu\nset multiplot layout %zu,%zu margins screen %.5f,%.5f,%.5f,%.5f "
                "spacing screen %.5f,%.5f\n",
                picture->kind == PICTURE_HEAT ? 1 : picture->curve_count, page.rows, page.columns,
                page.left / page.width, 1 - page.right / page.width,
                1 - (page.bottom - page.marks) / page.height,
                1 - (page.top + page.titles) / page.height, page.gap / page.width,
                (page.titles + page.marks) / page.height);
        write_words(file, &page);
        write_legend(file, &page);
        marks_write_x(file, picture, page.panel_width);
        write_scale(file, &page);
    }
    for (size_t panel = 0; panel < picture->panel_count && status == 0; panel++) {
        write_panel(file, &page, panel);
    }
    fputs("unset multiplot\n", file);
    page_clear(&page);
    return status;
}
