/*
 * Rows for a terminal: which columns there is room for, and their lines.
 */
#include "live.h"

#include "columns.h"
#include "eyes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "<1.23e-16", the longest status, and the names over them. */
enum { FIGURE_WIDTH = 9, STATUS_WIDTH = 10, LAYER_WIDTH = 5, PARTS = PROPAGATION_COUNT / 2 };

/* The errors that --propagation splits. */
static const ErrorKind split[] = {ERROR_CONSTRUCTION, ERROR_ROUNDING};

static const char *figure_name(const Live *live, size_t figure)
{
    static const char *const parts[PARTS] = {"injected", "inherited", "gain"};
    size_t part = figure % (1 + PARTS);
    if (live->propagation && part > 0) {
        return parts[part - 1];
    }
    size_t kind = live->propagation ? split[figure / (1 + PARTS)] : figure;
    return axis_info(AXIS_JUDGE)->domain.words[kind];
}

/* Where a row of the table has it. */
static const Column *figure_column(const Live *live, size_t figure)
{
    size_t part = figure % (1 + PARTS), error = figure / (1 + PARTS);
    if (!live->propagation) {
        return column_of_error((ErrorKind)figure, live->relative ? NORM_REL : NORM_MAX);
    }
    return part > 0 ? column_of_part(error * PARTS + part - 1)
                    : column_of_error(split[error], NORM_MAX);
}

static bool is_exact(ErrorKind kind)
{
    return kind == ERROR_APPROXIMATION || kind == ERROR_CONSTRUCTION;
}

/* Its place among them, but for an error that no point has, or one that is judged. */
static int rank_of(const Grid *grid, const size_t *points, size_t count, ErrorKind kind, int place)
{
    bool exists = false, judged = false;
    for (size_t i = 0; i < count; i++) {
        const Point *point = &grid->points[points[i]];
        bool evaluated = is_exact(kind) || point->arithmetic != ARITHMETIC_NONE;
        bool compared = kind == ERROR_OBSERVED || point->reference != REFERENCE_NONE;
        exists = exists || (evaluated && compared);
        judged = judged || (point->judged && point->judge == kind);
    }
    return !exists ? RANK_UNSEEN : judged ? RANK_KEPT : place;
}

/* As many as fit into the room, those that are judged in any case. */
static void choose_figures(Live *live, const Grid *grid, const size_t *points, size_t count,
                           size_t room)
{
    SeenColumn seen[LIVE_FIGURES] = {{0}};
    double most = 1; /* errors of exact mathematics become as small as e^(-2 Omega) is */
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, grid->points[points[i]].omega);
    }
    size_t exact = strlen("<1.23e-") + (size_t)fmax(2, 1 + floor(log10(most)));
    for (size_t i = 0; i < live->figures; i++) {
        const size_t figure = live->propagation ? i : errors_by_use[i];
        ErrorKind kind = live->propagation ? split[i / (1 + PARTS)] : errors_by_use[i];
        size_t own = is_exact(kind) ? exact : FIGURE_WIDTH,
               name = strlen(figure_name(live, figure));
        int place = 1 + (int)i, rank = rank_of(grid, points, count, kind, place);
        seen[figure].width = 2 + (own > name ? own : name);
        seen[figure].rank = live->propagation && rank == RANK_KEPT ? place : rank;
    }
    (void)columns_fit(seen, live->figures, room);
    for (size_t i = 0; i < live->figures; i++) {
        live->widths[i] = seen[i].taken ? seen[i].width - 2 : 0;
    }
}

void live_open(Live *live, const Grid *grid, const size_t *points, size_t count, size_t line)
{
    size_t rows = 0;
    *live = (Live){.line = line, .sizes = STREAM_SIZES_NONE};
    for (size_t i = 0; i < count; i++) {
        const Point *point = &grid->points[points[i]];
        live->has_layer = live->has_layer || point->spec.depth > 1;
        rows += point->spec.depth;
        live->propagation = live->propagation || point->propagation;
    }
    live->many = count > 1 && rows > ROWS_SEEN;
    live->figures = live->propagation ? LIVE_FIGURES : ERROR_KINDS;
    axis_columns_find(&live->axes, grid, points, count, false);
    size_t fixed = 2 + STATUS_WIDTH + (live->has_layer ? 2 + LAYER_WIDTH : 0);
    live->axes.folded = live->axes.width + fixed + 2 * (2 + strlen("construction")) > line;
    size_t used = fixed + (live->axes.folded ? 0 : live->axes.width);
    size_t room = line > used ? line - used : 0;
    choose_figures(live, grid, points, count, room);
}

Color live_status_color(const char *status, bool judged)
{
    bool ok = strcmp(status, status_name(STATUS_OK)) == 0;
    bool doubtful = strcmp(status, status_name(STATUS_UNRESOLVED)) == 0 ||
                    strcmp(status, status_name(STATUS_VACUOUS)) == 0;
    return ok ? (judged ? COLOR_GOOD : COLOR_NONE) : doubtful ? COLOR_DOUBTFUL : COLOR_BAD;
}

/* Of a deep stack the first layers and every eighth are shown; of several the layers that the short
 * table has, where all rows are more than a terminal has. */
static bool is_shown(const Live *live, size_t layer)
{
    size_t depth = live->point->spec.depth, layers[SUMMARY_LAYERS];
    if (!live->many) {
        return depth <= 24 || layer <= 4 || layer % 8 == 0 || layer == depth;
    }
    int count = summary_layers(layers, depth);
    while (count > 0 && layers[count - 1] != layer) {
        count--;
    }
    return count > 0;
}

static const FormatCell *cell_of(const FormatTable *table, const char *column)
{
    return &table->cells[format_column(table, column)]; /* a sweep's table has it */
}

/* The row at hand, or the columns' names. */
static void print_line(const FormatTable *table, const Live *live, bool names)
{
    FILE *file = table->file;
    const char *between = live->axes.folded || live->axes.count == 0 ? "" : "  ";
    axis_columns_print(file, &live->axes, names ? NULL : live->point, 0, live->line);
    if (live->has_layer) {
        const char *layer = names ? LAYER_COLUMN : cell_of(table, LAYER_COLUMN)->text;
        fprintf(file, "%s%*s", between, LAYER_WIDTH, layer);
        between = "  ";
    }
    for (size_t i = 0; i < live->figures; i++) {
        char text[SHORT_TEXT] = "-";
        const FormatCell *cell = cell_of(table, figure_column(live, i)->name);
        if (live->widths[i] == 0) {
            continue;
        }
        if (*cell->text != '\0') {
            format_short(text, cell);
        }
        const char *figure = names ? figure_name(live, i) : text;
        fprintf(file, "%s%*s", between, (int)live->widths[i], figure);
        between = "  ";
    }
    const char *name = column_name(COLUMN_STATUS), *status = cell_of(table, name)->text;
    Color color = live_status_color(status, live->point->judged);
    fputs(between, file);
    terminal_write(file, live->colors && !names ? color : COLOR_NONE, names ? name : status);
    putc('\n', file);
}

void live_take(Live *live, const Point *point, StreamSizes sizes)
{
    live->point = point;
    if (!live->propagation) {
        stream_sizes_join(&live->sizes, sizes);
    }
}

static void live_row(FormatTable *table)
{
    Live *live = table->state;
    size_t layer = strtoul(cell_of(table, LAYER_COLUMN)->text, NULL, 10);
    bool relative = stream_sizes_norm(live->sizes, live->has_layer) == NORM_REL;
    if (!live->begun || relative != live->relative) {
        live->begun = true;
        live->relative = relative;
        fputs(relative ? "relative to r(T):\n" : "", table->file);
        print_line(table, live, true);
    }
    if (is_shown(live, layer)) {
        print_line(table, live, false);
    } else {
        live->hidden++;
    }
}

const Format format_live = {.name = "live", .row = live_row};
