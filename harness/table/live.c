/*
 * Rows for a terminal: which columns there is room for, and their lines.
 */
#include "live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "<1.23e-16", the longest status, and the names over them. */
enum { FIGURE_WIDTH = 9, STATUS_WIDTH = 10, LAYER_WIDTH = 5, PARTS = PROPAGATION_COUNT / 2 };

/* The errors in the order of use, where there is not room for all. */
static const ErrorKind by_use[ERROR_KINDS] = {ERROR_TOTAL,    ERROR_CONSTRUCTION,
                                              ERROR_NATIVE,   ERROR_ROUNDING,
                                              ERROR_OBSERVED, ERROR_APPROXIMATION};

static const char *figure_name(const Live *live, size_t figure)
{
    static const char *const parts[PARTS] = {"injected", "inherited", "gain"};
    static const ErrorKind split[] = {ERROR_CONSTRUCTION, ERROR_ROUNDING};
    size_t part = figure % (1 + PARTS);
    if (live->propagation && part > 0) {
        return parts[part - 1];
    }
    size_t kind = live->propagation ? split[figure / (1 + PARTS)] : figure;
    return axis_info(AXIS_JUDGE)->domain.words[kind];
}

/* Errors of exact mathematics become as small as e^(-2 Omega) is. */
static size_t exact_width(const Point *const *points, size_t count)
{
    double most = 1;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, points[i]->omega);
    }
    return strlen("<1.23e-") + (size_t)fmax(2, 1 + floor(log10(most)));
}

/* Has any of the points the error? */
static bool exists(const Point *const *points, size_t count, ErrorKind kind)
{
    for (size_t i = 0; i < count; i++) {
        bool machine = points[i]->arithmetic != ARITHMETIC_NONE;
        bool reference = points[i]->reference != REFERENCE_NONE;
        bool exact = kind == ERROR_APPROXIMATION || kind == ERROR_CONSTRUCTION;
        if ((machine || exact) && (reference || kind == ERROR_OBSERVED)) {
            return true;
        }
    }
    return false;
}

static bool is_judged(const Point *const *points, size_t count, ErrorKind kind)
{
    for (size_t i = 0; i < count; i++) {
        if (points[i]->judged && points[i]->judge == kind) {
            return true;
        }
    }
    return false;
}

/* *room: columns that are left; always: even where they are too few. */
static void take(Live *live, size_t figure, size_t width, size_t *room, bool always)
{
    size_t name = strlen(figure_name(live, figure)), own = width > name ? width : name;
    if (live->widths[figure] == 0 && (always || own + 2 <= *room)) {
        live->widths[figure] = own;
        *room -= own + 2 < *room ? own + 2 : *room;
    }
}

static void choose_figures(Live *live, const Point *const *points, size_t count, size_t room)
{
    size_t exact = exact_width(points, count);
    for (int judged = 1; judged >= 0; judged--) {
        for (size_t i = 0; i < ERROR_KINDS; i++) {
            ErrorKind kind = by_use[i];
            bool of_reference = kind == ERROR_APPROXIMATION || kind == ERROR_CONSTRUCTION;
            if (exists(points, count, kind) && (!judged || is_judged(points, count, kind))) {
                take(live, kind, of_reference ? exact : FIGURE_WIDTH, &room, judged);
            }
        }
    }
}

static void choose_parts(Live *live, const Point *const *points, size_t count, size_t room)
{
    size_t exact = exact_width(points, count);
    for (size_t figure = 0; figure < live->figures; figure++) {
        bool of_reference = figure <= PARTS;
        if (of_reference || exists(points, count, ERROR_ROUNDING)) {
            take(live, figure, of_reference ? exact : FIGURE_WIDTH, &room, false);
        }
    }
}

int live_open(Live *live, const Grid *grid, const size_t *points, size_t count, size_t line)
{
    const Point **taken = calloc(count + 1, sizeof *taken);
    if (taken == NULL) {
        return -1;
    }
    *live = (Live){.line = line, .sizes = stream_sizes_none()};
    for (size_t i = 0; i < count; i++) {
        taken[i] = &grid->points[points[i]];
        live->has_layer = live->has_layer || taken[i]->spec.depth > 1;
        live->propagation = live->propagation || taken[i]->propagation;
    }
    live->figures = live->propagation ? LIVE_FIGURES : ERROR_KINDS;
    axis_columns_find(&live->axes, taken, count, false);
    size_t fixed = 2 + STATUS_WIDTH + (live->has_layer ? 2 + LAYER_WIDTH : 0);
    axis_columns_fit(&live->axes, fixed + 2 * (2 + strlen("construction")), line);
    size_t used = fixed + (live->axes.folded ? 0 : live->axes.width);
    size_t room = line > used ? line - used : 0;
    if (live->propagation) {
        choose_parts(live, taken, count, room);
    } else {
        choose_figures(live, taken, count, room);
    }
    free(taken);
    return 0;
}

static const char *between(bool *first, const Live *live)
{
    const char *text = *first && (live->axes.folded || live->axes.count == 0) ? "" : "  ";
    *first = false;
    return text;
}

static void print_header(FILE *file, const Live *live)
{
    bool first = true;
    fputs(live->relative ? "relative to r(T):\n" : "", file);
    axis_columns_print_names(file, &live->axes, 0);
    if (live->has_layer) {
        fprintf(file, "%s%*s", between(&first, live), LAYER_WIDTH, "layer");
    }
    for (size_t i = 0; i < live->figures; i++) {
        if (live->widths[i] > 0) {
            fprintf(file, "%s%*s", between(&first, live), (int)live->widths[i],
                    figure_name(live, i));
        }
    }
    fprintf(file, "%sstatus\n", between(&first, live));
}

/* Copies the next word of a line; moves behind it. */
static void next_word(char word[64], const char **text)
{
    size_t length = strcspn(*text, " \n");
    snprintf(word, 64, "%.*s", (int)length, *text);
    *text += length + ((*text)[length] == ' ');
}

Color live_status_color(const char *status, bool judged)
{
    bool ok = strcmp(status, status_name(STATUS_OK)) == 0;
    bool doubtful = strcmp(status, status_name(STATUS_UNRESOLVED)) == 0 ||
                    strcmp(status, status_name(STATUS_VACUOUS)) == 0;
    return ok ? (judged ? COLOR_GOOD : COLOR_NONE) : doubtful ? COLOR_DOUBTFUL : COLOR_BAD;
}

static const char *skip_words(const char *text, size_t count)
{
    char word[64];
    for (size_t i = 0; i < count; i++) {
        next_word(word, &text);
    }
    return text;
}

/* Takes in the sizes that a row's words end with, before the status. */
static void take_sizes(Live *live, const char *text)
{
    char least[64], most[64];
    text = skip_words(text, 1 + 2 * ERROR_KINDS);
    next_word(least, &text);
    next_word(most, &text);
    stream_sizes_join(&live->sizes, (StreamSizes){strtod(least, NULL), strtod(most, NULL)});
}

static void print_line(FILE *file, const Live *live, const Point *point, const char *text)
{
    char word[64];
    bool first = true;
    axis_columns_print(file, &live->axes, point, 0, live->line);
    next_word(word, &text);
    if (live->has_layer) {
        fprintf(file, "%s%*s", between(&first, live), LAYER_WIDTH, word);
    }
    text = skip_words(text, live->relative ? ERROR_KINDS : 0);
    for (size_t i = 0; i < live->figures; i++) {
        next_word(word, &text);
        if (live->widths[i] > 0) {
            fprintf(file, "%s%*s", between(&first, live), (int)live->widths[i], word);
        }
    }
    size_t others = live->propagation ? 0 : 2 + (live->relative ? 0 : (size_t)ERROR_KINDS);
    text = skip_words(text, others);
    next_word(word, &text);
    fputs(between(&first, live), file);
    terminal_write(file, live->colors ? live_status_color(word, point->judged) : COLOR_NONE, word);
    putc('\n', file);
}

void live_print(FILE *file, Live *live, const Point *point, const char *text, size_t length)
{
    const char *end = text + length;
    for (const char *line = text; !live->propagation && line < end; line = strchr(line, '\n') + 1) {
        take_sizes(live, line);
    }
    bool relative = stream_sizes_norm(live->sizes, live->has_layer) == NORM_REL;
    if (!live->begun || relative != live->relative) {
        live->begun = true;
        live->relative = relative;
        print_header(file, live);
    }
    for (; text < end; text = strchr(text, '\n') + 1) {
        print_line(file, live, point, text);
    }
}
