/*
 * Intervals of Omega on a terminal.
 */
#include "intervals.h"

#include "searched.h"

#include <math.h>
#include <string.h>

static int strip_place(const Picture *picture, double value, int strip)
{
    double share = (value - picture->low) / (picture->high - picture->low);
    int place = (int)floor(share * (strip - 1) + 0.5);
    return place < 0 ? 0 : place >= strip ? strip - 1 : place;
}

static void omega_text(char text[16], PlotCell cell)
{
    double value = cell.mantissa * pow(10, (double)cell.exponent);
    snprintf(text, 16, "%.3g", value);
}

/* "13.6 to 2.1e+06", with what is not known left away. */
static void print_figures(FILE *file, const PlotCell *cells)
{
    char low[16], high[16], text[48];
    omega_text(low, cells[SEARCH_MIN]);
    omega_text(high, cells[SEARCH_MAX]);
    bool down = cells[SEARCH_MIN].bound, up = cells[SEARCH_MAX].bound;
    if (!searched_found(cells)) {
        snprintf(text, sizeof text, "%s", searched_none(cells) ? "none" : "-");
    } else if (down && up) {
        snprintf(text, sizeof text, "all tried");
    } else if (up) {
        snprintf(text, sizeof text, "%s up", low);
    } else {
        snprintf(text, sizeof text, "%s to %s", down ? "" : low, high);
    }
    fprintf(file, "%*s", INTERVAL_FIGURES, text + (*text == ' '));
}

void intervals_print(FILE *file, const Picture *picture, size_t panel, size_t y, size_t x,
                     int strip)
{
    const PlotCell *cells = picture_cell(picture, panel, y, x);
    print_figures(file, cells);
    if (!searched_found(cells)) {
        return;
    }
    bool down = cells[SEARCH_MIN].bound, up = cells[SEARCH_MAX].bound;
    int first = down ? 0 : strip_place(picture, cells[SEARCH_MIN].log10, strip);
    int last = up ? strip - 1 : strip_place(picture, cells[SEARCH_MAX].log10, strip);
    int best = isnan(cells[SEARCH_BEST].log10)
                   ? -1
                   : strip_place(picture, cells[SEARCH_BEST].log10, strip);
    fprintf(file, "  %*s", first, "");
    for (int i = first; i <= last; i++) {
        bool end = i == first || i == last;
        putc(i == best              ? '*'
             : i == first && down   ? '<'
             : i == last && up      ? '>'
             : end && first == last ? '|'
             : i == first           ? '['
             : i == last            ? ']'
                                    : '=',
             file);
    }
}
