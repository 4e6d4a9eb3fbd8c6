/*
 * The page of a picture in a file.
 */
#include "script.h"

#include "caption.h"
#include "marks.h"
#include "searched.h"

#include "../../base/message.h"
#include "../../base/text_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pixels. */
enum {
    LEFT = 84,
    RIGHT = 24,
    RIGHT_OF_HEAT = 116,
    TITLE_ROW = 19,
    LEGEND_ROW = 18,
    SAMPLE = 44, /* of a curve, beside its words in the legend */
    PANEL_TITLE = 24,
    GAP = 16,
    GAP_OF_HEAT = 44,
    MARKS = 26,
    CAPTION_ROW = 15,
    BELOW = 14,
    WIDTH_LEAST = 190, /* of a panel beside another */
    HEIGHT_LEAST = 80,
    HEIGHT_MOST = 330
};
#define TITLE_CHARACTER 7.8
#define CAPTION_CHARACTER 5.6
/* How high a panel is for its width, where a width is wished. */
#define HIGH 0.65

/* The rows that the legend takes: its entries are as wide as the longest of them. */
static double count_legend_rows(const Page *page)
{
    char tolerance[CAPTION_LINE];
    caption_tolerance(tolerance, sizeof tolerance, page->picture);
    size_t count = page->tolerance || page->best, longest = count > 0 ? strlen(tolerance) : 0;
    for (size_t i = 0; i < page->picture->curve_count; i++) {
        size_t length = strlen(page->picture->curves[i].title);
        longest = length > longest ? length : longest;
        count += length > 0;
    }
    double width = SAMPLE + PAGE_CHARACTER * (double)longest;
    return ceil((double)count / fmax(1, floor((page->width - LEFT - page->right) / width)));
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
    return 14 + 0.58 * PAGE_CHARACTER * (double)longest;
}

/* *broken = a text in lines as wide as the page, to be freed; returns their number, or -1: memory
 * is short. */
static double break_lines(char **broken, const Page *page, const char *text, double character)
{
    size_t size, lines = 0;
    FILE *file = text == NULL ? NULL : text_stream(broken, &size);
    if (file == NULL) {
        return -1;
    }
    lines = caption_wrap(file, text, (size_t)((page->width - 2 * PAGE_EDGE) / character));
    return fclose(file) == 0 ? (double)lines : -1;
}

/* How panels lie, and how wide they and the page are. */
static void lay_panels(Page *page)
{
    static const double widths[] = {0, 560, 350, 290, 230};
    const Picture *picture = page->picture;
    size_t count = picture->panel_count;
    bool heat = picture->kind == PICTURE_HEAT;
    page->left = LEFT;
    page->right = heat ? RIGHT_OF_HEAT : RIGHT;
    page->gap = heat ? GAP_OF_HEAT : GAP;
    page->titles = count > 1 ? PANEL_TITLE : GAP;
    page->columns = picture->columns > 0       ? picture->columns
                    : count <= 3               ? count
                    : count == 4               ? 2
                    : count <= 6 || count == 9 ? 3
                                               : 4;
    page->panel_width = widths[page->columns];
    page->width = picture->wish.width;
    for (; page->width > 0; page->columns--) {
        double columns = (double)page->columns, gaps = (columns - 1) * page->gap;
        page->panel_width = (page->width - LEFT - page->right - gaps) / columns;
        if (page->panel_width >= WIDTH_LEAST || page->columns == 1) {
            break;
        }
    }
    page->rows = (count + page->columns - 1) / page->columns;
    page->width =
        LEFT + (double)page->columns * (page->panel_width + page->gap) - page->gap + page->right;
}

/* The height that the panels do not take. */
static int lay_words(Page *page)
{
    const Picture *picture = page->picture;
    char title[CAPTION_LINE], *caption = caption_make(picture, true);
    caption_title(title, sizeof title, picture);
    double titles = break_lines(&page->title, page, title, TITLE_CHARACTER);
    double lines = break_lines(&page->caption, page, caption, CAPTION_CHARACTER);
    free(caption);
    page->marks = picture->categories ? words_height(picture) : MARKS;
    page->legend = TITLE_ROW * titles + BELOW;
    page->top = page->legend + LEGEND_ROW * count_legend_rows(page);
    page->height = page->top + PAGE_X_TITLE + CAPTION_ROW * lines + BELOW;
    return titles >= 0 && lines >= 0 ? 0 : memory_fault();
}

int page_make(Page *page, const Picture *picture)
{
    static const double heights[] = {0, HEIGHT_MOST, 240, 210, 185};
    bool bars = picture->kind == PICTURE_BARS;
    page->picture = picture;
    page->best = bars && searched_signs(picture).best;
    page->tolerance = picture->kind != PICTURE_HEAT && picture->tolerance > picture->low &&
                      picture->tolerance < picture->high;
    lay_panels(page);
    if (lay_words(page) != 0) {
        return 99;
    }
    double rows = (double)page->rows, around = page->titles + page->marks;
    page->panel_height = picture->wish.height > 0
                             ? (picture->wish.height - page->height) / rows - around
                         : picture->wish.width > 0
                             ? fmin(HEIGHT_MOST, fmax(2 * HEIGHT_LEAST, HIGH * page->panel_width))
                             : heights[page->columns > 1 && page->rows > 4 ? 4 : page->columns];
    if (page->panel_height < HEIGHT_LEAST) {
        return complain((Origin){.flag = "size"}, NULL, "expected a height of %.0f or more",
                        ceil(page->height + rows * (around + HEIGHT_LEAST)));
    }
    page->bottom = page->top + rows * (around + page->panel_height);
    page->height += page->bottom - page->top;
    return 0;
}

void page_clear(Page *page)
{
    free(page->title);
    free(page->caption);
    *page = (Page){0};
}
