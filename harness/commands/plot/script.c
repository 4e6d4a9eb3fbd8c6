/*
 * A picture as a script for gnuplot: the page, its words, and where its panels lie.
 *
 * Places are computed here in pixels, so that no title, mark or legend lies on another, however
 * many panels there are.
 */
#include "script.h"

#include "caption.h"
#include "intervals.h"
#include "marks.h"
#include "panel.h"
#include "quoted.h"
#include "searched.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pixels. */
enum {
    LEFT = 84,
    RIGHT = 24,
    RIGHT_OF_HEAT = 96,
    TITLE = 34,
    LEGEND_ROW = 19,
    PANEL_TITLE = 24,
    GAP = 16,
    MARKS = 30,
    X_TITLE = 26,
    CAPTION_ROW = 15,
    CHARACTER = 7 /* the width of one in the legend */
};
#define CAPTION_CHARACTER 5.7

typedef struct {
    const Picture *picture;
    FILE *file;
    char *caption;
    double caption_size;              /* of its letters, in the device's points */
    size_t columns, rows;             /* of panels */
    double width, height;             /* of the page */
    double panel_width, panel_height; /* of what the axes enclose */
    double top, marks, right;
    size_t legend_rows, caption_width;
} Page;

static double screen_x(const Page *page, double x)
{
    return x / page->width;
}

static double screen_y(const Page *page, double y)
{
    return 1 - y / page->height;
}

static void write_label(const Page *page, double x, double y, const char *text, const char *how)
{
    fputs("set label ", page->file);
    quoted_write(page->file, text);
    fprintf(page->file, " at screen %.5f,%.5f noenhanced %s\n", screen_x(page, x),
            screen_y(page, y), how);
}

/* ---- The legend ------------------------------------------------------------------------------ */

/* Its entries flow from left to right and on to the next row; drawn only where asked, so that their
 * rows can be counted first. */
typedef struct {
    Page *page;
    double x;
    size_t row;
    bool drawn;
} Legend;

static void write_entry(Legend *legend, const char *text, Style style)
{
    Page *page = legend->page;
    double width = 34 + CHARACTER * (double)strlen(text) + 14;
    if (legend->x + width > page->width - RIGHT && legend->x > LEFT) {
        legend->x = LEFT;
        legend->row++;
    }
    if (legend->drawn) {
        double y = TITLE + LEGEND_ROW * ((double)legend->row + 0.5);
        bool bar = page->picture->kind == PICTURE_BARS;
        if (bar ? style.point == 0 : !page->picture->categories) {
            fprintf(page->file,
                    "set arrow from screen %.5f,%.5f to screen %.5f,%.5f nohead lc rgb '#%06X' lw "
                    "%.3g dt %d\n",
                    screen_x(page, legend->x), screen_y(page, y), screen_x(page, legend->x + 26),
                    screen_y(page, y), style.colour, style.width, style.dash);
        }
        if (style.point != 0 || (page->picture->categories && !bar)) {
            fprintf(page->file,
                    "set label '' at screen %.5f,%.5f point pt %d ps %.2g lc rgb '#%06X'\n",
                    screen_x(page, legend->x + 13), screen_y(page, y),
                    style.point == 0 ? 7 : style.point, style.width > 5 ? 1.3 : 0.6, style.colour);
        }
        write_label(page, legend->x + 32, y, text, "left");
    }
    legend->x += width;
}

static void write_error_entries(Legend *legend)
{
    const Picture *picture = legend->page->picture;
    static const ErrorKind order[] = {ERROR_TOTAL,  ERROR_CONSTRUCTION,  ERROR_ROUNDING,
                                      ERROR_NATIVE, ERROR_APPROXIMATION, ERROR_OBSERVED};
    for (size_t i = 0; i < ERROR_KINDS; i++) {
        if (picture_shows(picture, order[i])) {
            write_entry(legend, caption_error(order[i]), panel_error_style(order[i]));
        }
    }
}

static void write_series_entries(Legend *legend)
{
    const Picture *picture = legend->page->picture;
    for (size_t y = 0; y < picture->y_count; y++) {
        char text[CAPTION_LINE];
        caption_series(text, sizeof text, picture, y);
        write_entry(legend, text, panel_series_style(y));
    }
    if (picture->main != ERROR_NATIVE && picture_shows(picture, ERROR_NATIVE)) {
        write_entry(legend, "native", (Style){0xDDDDDD, 1, 0, 6});
    }
    if (picture->main != ERROR_CONSTRUCTION && picture_shows(picture, ERROR_CONSTRUCTION)) {
        write_entry(legend, "construction (dotted)", (Style){0x444444, 3, 0, 1.8});
    }
}

static void write_interval_entries(Legend *legend)
{
    const Picture *picture = legend->page->picture;
    for (size_t y = 0; y < picture->y_count; y++) {
        char text[CAPTION_LINE] = "meets the tolerance";
        if (picture->y_count > 1) {
            caption_series(text, sizeof text, picture, y);
        }
        write_entry(legend, text, intervals_style(picture, y));
    }
    if (searched_signs(picture).best) {
        write_entry(legend, "the smallest error", (Style){0x444444, 0, 7, 0});
    }
}

/* Returns its rows. */
static size_t write_legend(Page *page, bool drawn)
{
    Legend legend = {.page = page, .x = LEFT, .drawn = drawn};
    if (page->picture->kind == PICTURE_BARS) {
        write_interval_entries(&legend);
    } else if (page->picture->kind == PICTURE_SERIES) {
        write_series_entries(&legend);
    } else if (page->picture->kind == PICTURE_ERRORS && !page->picture->only_main) {
        write_error_entries(&legend);
    }
    return legend.x > LEFT ? legend.row + 1 : 0;
}

/* ---- The page -------------------------------------------------------------------------------- */

/* Calls for every line of the caption; returns their number. */
static size_t write_caption(const Page *page, double y, bool drawn)
{
    size_t lines = 0;
    for (const char *rest = page->caption; *rest != '\0'; lines++) {
        char line[4 * CAPTION_LINE];
        size_t skip, length = caption_fit(rest, page->caption_width, &skip);
        snprintf(line, sizeof line, "%.*s", (int)length, rest);
        if (drawn) {
            char how[64];
            snprintf(how, sizeof how, "left font ',%.3g' tc rgb '#444444'", page->caption_size);
            write_label(page, LEFT - 60, y + CAPTION_ROW * (double)lines, line, how);
        }
        rest += length + skip;
    }
    return lines;
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

static void lay_out(Page *page)
{
    static const double widths[] = {0, 560, 350, 290, 230};
    static const double heights[] = {0, 330, 240, 210, 185};
    const Picture *picture = page->picture;
    size_t count = picture->panel_count;
    bool heat = picture->kind == PICTURE_HEAT;
    page->columns = count <= 3 ? count : count == 4 ? 2 : count <= 6 || count == 9 ? 3 : 4;
    page->rows = (count + page->columns - 1) / page->columns;
    page->panel_width = widths[page->columns];
    page->panel_height = heights[page->columns];
    page->marks = picture->categories ? words_height(picture) : MARKS;
    page->right = heat ? RIGHT_OF_HEAT : RIGHT;
    page->width = LEFT + (double)page->columns * (page->panel_width + GAP) - GAP + page->right;
    page->legend_rows = write_legend(page, false);
    page->top = TITLE + LEGEND_ROW * (double)page->legend_rows;
    page->caption_width = (size_t)((page->width - 44) / CAPTION_CHARACTER);
    page->height = page->top + (double)page->rows * (page->panel_height + PANEL_TITLE) +
                   page->marks + X_TITLE + CAPTION_ROW * (double)write_caption(page, 0, false) + 14;
}

static void write_terminal(const Page *page, Device device)
{
    double width = page->width, height = page->height;
    switch (device) {
    case DEVICE_SVG:
        fprintf(page->file,
                "set terminal svg size %.0f,%.0f dynamic enhanced font 'Arial,12' background rgb "
                "'white'\n",
                width, height);
        break;
    case DEVICE_PNG:
        fprintf(page->file,
                "set terminal pngcairo size %.0f,%.0f enhanced dashlength 0.6 font 'Arial,9' "
                "fontscale 2 linewidth "
                "2 pointscale 2 background rgb 'white'\n",
                2 * width, 2 * height);
        break;
    case DEVICE_PDF:
        fprintf(page->file,
                "set terminal pdfcairo size %.3fin,%.3fin enhanced dashlength 0.6 font 'Arial,9' "
                "fontscale 1.333 "
                "background rgb 'white'\n",
                width / 72, height / 72);
        break;
    }
}

/* Title, legend, names of axes and caption: what stands on the page once. */
static void write_words(Page *page)
{
    const Picture *picture = page->picture;
    double bottom = page->top + (double)page->rows * (page->panel_height + PANEL_TITLE);
    double middle = (LEFT + page->width - page->right) / 2;
    char text[CAPTION_LINE];
    caption_title(text, sizeof text, picture);
    write_label(page, LEFT - 60, 20, text, "left font ',14'");
    (void)write_legend(page, true);
    caption_axis(text, sizeof text, picture->x);
    write_label(page, middle, bottom + page->marks + 10, text, "center");
    if (picture->kind == PICTURE_HEAT) {
        caption_axis(text, sizeof text, picture->y);
        write_label(page, page->width - 14, (page->top + PANEL_TITLE + bottom) / 2,
                    caption_unit(picture), "center rotate by 90");
    } else {
        snprintf(text, sizeof text, "%s", caption_unit(picture));
    }
    write_label(page, 18, (page->top + PANEL_TITLE + bottom) / 2, text, "center rotate by 90");
    (void)write_caption(page, bottom + page->marks + X_TITLE + 10, true);
}

/* Its frame on the page.  Marks have numbers at the left and below. */
static void write_panel(const Page *page, size_t panel)
{
    const Picture *picture = page->picture;
    size_t column = panel % page->columns, row = panel / page->columns;
    double left = LEFT + (double)column * (page->panel_width + GAP);
    double top = page->top + PANEL_TITLE + (double)row * (page->panel_height + PANEL_TITLE);
    bool lowest = panel + page->columns >= picture->panel_count;
    bool heat = picture->kind == PICTURE_HEAT;
    char text[CAPTION_LINE];
    fprintf(page->file,
            "set lmargin at screen %.5f\nset rmargin at screen %.5f\nset tmargin at screen "
            "%.5f\nset bmargin at screen %.5f\n",
            screen_x(page, left), screen_x(page, left + page->panel_width), screen_y(page, top),
            screen_y(page, top + page->panel_height));
    caption_panel(text, sizeof text, picture, panel);
    caption_cut(text, (size_t)(page->panel_width / CHARACTER));
    fputs("set title ", page->file);
    quoted_write(page->file, text);
    fputs(" noenhanced offset 0,-0.7\n", page->file);
    panel_write_axes(page->file, picture, page->panel_width, page->panel_height, lowest);
    fprintf(page->file, "set format y '%s'\n", column > 0 ? "" : heat ? "%g" : "10^{%.0f}");
    if (heat && column > 0) {
        fputs("unset ytics\n", page->file);
    }
    if (heat) {
        fputs(panel == 0 ? "set colorbox user origin screen " : "unset colorbox\n", page->file);
    }
    if (heat && panel == 0) {
        fprintf(page->file, "%.5f,%.5f size %.5f,%.5f\n",
                screen_x(page, page->width - page->right + 14),
                screen_y(page, top + page->panel_height), screen_x(page, 12),
                page->panel_height / page->height);
    }
    if (picture->kind == PICTURE_BARS) {
        intervals_write(page->file, picture, panel);
    } else {
        panel_write(page->file, picture, panel);
    }
    fputs("unset label\nunset arrow\nunset object\nset format x '%g'\n", page->file);
}

int script_write(FILE *file, const Picture *picture, Device device)
{
    Page page = {.picture = picture, .file = file, .caption = caption_make(picture)};
    page.caption_size = device == DEVICE_SVG ? 11 : 8.5;
    if (page.caption == NULL) {
        return -1;
    }
    lay_out(&page);
    fputs("set encoding utf8\nset minussign\nunset key\n", file);
    write_terminal(&page, device);
    for (size_t panel = 0; panel < picture->panel_count; panel++) {
        if (picture->kind == PICTURE_BARS) {
            intervals_write_data(file, picture, panel);
        } else {
            panel_write_data(file, picture, panel);
        }
    }
    fputs("set border lc rgb '#444444' lw 0.8\nset tics nomirror\nset clip one\n"
          "set multiplot\n",
          file);
    write_words(&page);
    for (size_t panel = 0; panel < picture->panel_count; panel++) {
        write_panel(&page, panel);
    }
    fputs("unset multiplot\n", file);
    free(page.caption);
    return ferror(file) ? -1 : 0;
}
