/*
 * A picture as a script for gnuplot: the page, its words, and the room for its panels.
 *
 * gnuplot lays out panels, legend and marks.  How large the page is for them is said here, in
 * pixels, so that no title lies on another, however many panels there are.
 */
#include "script.h"

#include "caption.h"
#include "marks.h"
#include "panel.h"

#include "../../base/text_stream.h"

#include <stdint.h>
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
    MARKS = 26,
    X_TITLE = 26,
    CAPTION_ROW = 15,
    CHARACTER = 7 /* the width of one in the legend */
};
#define CAPTION_CHARACTER 5.7

typedef struct {
    const Picture *picture;
    FILE *file;
    char *caption;                    /* in lines */
    size_t columns, rows;             /* of panels */
    double width, height;             /* of the page */
    double panel_width, panel_height; /* of what the axes enclose */
    double top, bottom;               /* of the panels and their titles */
    double marks, right;
} Page;

static void write_label(const Page *page, double x, double y, const char *text, const char *how)
{
    fputs("set label ", page->file);
    marks_quote(page->file, text);
    fprintf(page->file, " at screen %.5f,%.5f noenhanced %s\n", x / page->width,
            1 - y / page->height, how);
}

/* ---- The page -------------------------------------------------------------------------------- */

/* The rows that the legend takes at most: its entries are as wide as the longest of them. */
static size_t count_legend_rows(const Page *page)
{
    const Picture *picture = page->picture;
    bool errors = picture->kind == PICTURE_ERRORS, series = picture->kind == PICTURE_SERIES;
    size_t longest = strlen(series ? "construction (dotted)" : "meets the tolerance");
    size_t count = errors ? 0 : picture->y_count + (series ? 2 : 1);
    for (ErrorKind kind = 0; kind < ERROR_KINDS && errors; kind++) {
        count += picture_shows(picture, kind) && !picture->only_main;
    }
    for (size_t y = 0; y < picture->y_count && picture->y_count > 1; y++) {
        char text[CAPTION_LINE];
        caption_series(text, sizeof text, picture, y);
        longest = strlen(text) > longest ? strlen(text) : longest;
    }
    if (picture->kind == PICTURE_HEAT) {
        return 0;
    }
    double width = SAMPLE + CHARACTER * (double)longest;
    size_t columns = (size_t)((page->width - LEFT - page->right) / width);
    columns = columns > 0 ? columns : 1;
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
    page->width = LEFT + (double)page->columns * (page->panel_width + GAP) - GAP + page->right;
    page->top = TITLE + LEGEND_ROW * (double)count_legend_rows(page);
    page->bottom =
        page->top + (double)page->rows * (PANEL_TITLE + page->panel_height + page->marks);
    size_t lines = break_caption(page);
    page->height = page->bottom + X_TITLE + CAPTION_ROW * (double)lines + 14;
    return lines > 0 ? 0 : -1;
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
                "fontscale 2 linewidth 2 pointscale 2 background rgb 'white'\n",
                2 * width, 2 * height);
        break;
    case DEVICE_PDF:
        fprintf(page->file,
                "set terminal pdfcairo size %.3fin,%.3fin enhanced dashlength 0.6 font 'Arial,9' "
                "fontscale 1.333 background rgb 'white'\n",
                width / 72, height / 72);
        break;
    }
}

/* Title, legend, names of axes and caption, which stand on the page once: a panel without axes, as
 * wide as the page. */
static void write_words(const Page *page, Device device)
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
    snprintf(how, sizeof how, "left font ',%g' tc rgb '#444444'", device == DEVICE_SVG ? 11 : 8.5);
    write_label(page, EDGE, page->bottom + X_TITLE + 10, page->caption, how);
    fprintf(page->file,
            "set key at screen %.5f,%.5f left top Left reverse horizontal samplen 2.5 noenhanced\n"
            "set rmargin at screen 1\nunset border\nunset tics\nset xrange [0:1]\n"
            "set yrange [0:1]\n",
            (LEFT - 12) / page->width, 1 - TITLE / page->height);
    panel_write(page->file, picture, PANEL_LEGEND);
    fputs("unset label\nunset key\nset border 31 lc rgb '#444444' lw 0.8\nset xtics nomirror\nset "
          "ytics nomirror\n"
          "set multiplot previous\n",
          page->file);
}

static void write_panel(const Page *page, size_t panel)
{
    const Picture *picture = page->picture;
    bool heat = picture->kind == PICTURE_HEAT, first = panel % page->columns == 0;
    char text[CAPTION_LINE];
    caption_panel(text, sizeof text, picture, panel);
    caption_cut(text, (size_t)(page->panel_width / CHARACTER));
    fputs("set title ", page->file);
    marks_quote(page->file, text);
    fputs(" noenhanced offset 0,-0.7\n", page->file);
    if (heat && first) {
        marks_write_y(page->file, picture, page->panel_height);
    } else if (heat) {
        fputs("unset ytics\n", page->file);
    } else {
        fprintf(page->file, "set format y '%s'\n", first ? "10^{%.0f}" : "");
    }
    fprintf(page->file, "%s colorbox\n", heat && panel + 1 == page->columns ? "set" : "unset");
    panel_write(page->file, picture, panel);
}

int script_write(FILE *file, const Picture *picture, Device device)
{
    Page page = {.picture = picture, .file = file};
    if (lay_out(&page) != 0) {
        free(page.caption);
        return -1;
    }
    fputs("set encoding utf8\nset minussign\nset clip one\n", file);
    write_terminal(&page, device);
    panel_write_styles(file);
    for (size_t panel = 0; panel < picture->panel_count; panel++) {
        panel_write_data(file, picture, panel);
    }
    fprintf(file,
            "set multiplot layout %zu,%zu margins screen %.5f,%.5f,%.5f,%.5f spacing screen "
            "%.5f,%.5f\n",
            page.rows, page.columns, LEFT / page.width, 1 - page.right / page.width,
            1 - (page.bottom - page.marks) / page.height,
            1 - (page.top + PANEL_TITLE) / page.height, GAP / page.width,
            (PANEL_TITLE + page.marks) / page.height);
    write_words(&page, device);
    marks_write_x(file, picture, page.panel_width);
    panel_write_scale(file, picture);
    for (size_t panel = 0; panel < picture->panel_count; panel++) {
        write_panel(&page, panel);
    }
    fputs("unset multiplot\n", file);
    free(page.caption);
    return ferror(file) ? -1 : 0;
}
