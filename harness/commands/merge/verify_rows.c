/*
 * Rows of verify: those of positions in the order of their inputs, and of layers each the worst of
 * all shards' rows of the same model, Omega and layer.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "merge.h"

#include "../../../memory/need.h"
#include "../../base/message.h"
#include "../../base/text_stream.h"
#include "../../table/bounds.h"
#include "../../evaluate/verdict.h"
#include "../../table/check_columns.h"
#include "../../table/columns.h"
#include "../../table/options_cell.h"
#include "../verify/positions.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

/* The cells of a line of a shard. */
typedef struct {
    const char *cell[VERIFY_COLUMNS];
    size_t length[VERIFY_COLUMNS];
} Cells;

/* Shards on their way into one table: lines [merge->file_count], where each is; rows, the row of
 * each that is at hand; means: of positions since the last layer; worst: of all rows so far. */
typedef struct {
    FILE *file;
    Merge *merge;
    const char **lines;
    Cells *rows;
    size_t count; /* shards */
    PositionMeans means;
    Status worst;
} Join;

/* Moves *line behind its newline; false: it has not as many cells as that. */
static bool take_line(Cells *cells, const char **line)
{
    const char *next = *line;
    for (int c = 0; c < VERIFY_COLUMNS; c++) {
        cells->cell[c] = next;
        cells->length[c] = strcspn(next, ",\n");
        next += cells->length[c];
        if (*next++ != (c + 1 < VERIFY_COLUMNS ? ',' : '\n')) {
            return false;
        }
    }
    *line = next;
    return true;
}

static bool same_cell(const Cells *a, const Cells *b, int c)
{
    return a->length[c] == b->length[c] && memcmp(a->cell[c], b->cell[c], a->length[c]) == 0;
}

/* Of the same model, Omega, layer and whatever else decides a row. */
static bool same_row(const Cells *a, const Cells *b)
{
    bool same = same_cell(a, b, VERIFY_LAYER);
    for (int c = 0; c <= VERIFY_OPTIONS; c++) {
        same = same && same_cell(a, b, c);
    }
    return same;
}

static bool cell_is_bound(const Cells *cells, const char *name)
{
    return bounds_has(cells->cell[VERIFY_BOUNDS], name);
}

static bool has_logits(const Cells *cells)
{
    return cells->length[VERIFY_MARGIN] > 0;
}

static size_t count_of(const Cells *cells, int c)
{
    return strtoul(cells->cell[c], NULL, 10);
}

/* A cell as verify had it when it wrote it, with as many digits; a bound of a size is a power of
 * two, rounded up to them. */
static void read_cell(RefCell *cell, const Cells *cells, int c)
{
    const char *text = cells->cell[c];
    bool bound = cell_is_bound(cells, verify_column((size_t)c));
    bool size = c < VERIFY_LOGS || c >= VERIFY_BOUNDS;
    cell->state = CELL_ABSENT;
    if (cells->length[c] == 0) {
        return;
    }
    mpfr_strtofr(cell->value, text, NULL, 10, bound ? MPFR_RNDD : MPFR_RNDN);
    cell->state = mpfr_zero_p(cell->value)      ? CELL_ZERO
                  : !mpfr_number_p(cell->value) ? CELL_NONFINITE
                  : bound                       ? CELL_BOUND
                                                : CELL_VALUE;
    cell->digits = 0;
    for (; *text != 'e' && *text != ',' && *text != '\n'; text++) {
        cell->digits += *text >= '0' && *text <= '9';
    }
    if (cell->state == CELL_BOUND && size) {
        mpfr_set_ui_2exp(cell->value, 1, mpfr_get_exp(cell->value) - 1, MPFR_RNDN);
    }
}

static void read_figures(Figure *figures, const Cells *cells, int first, int count)
{
    RefCell cell;
    ref_cell_init(&cell, REF_DIGITS);
    for (int i = 0; i < count; i++) {
        read_cell(&cell, cells, first + i);
        figures[i] = figure_of(&cell);
    }
    ref_cell_clear(&cell);
}

static void read_layer(LayerWorst *layer, const Cells *cells)
{
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        read_cell(&layer->worst[kind], cells, VERIFY_ERRORS + kind);
        read_cell(&layer->logs[kind], cells, VERIFY_LOGS + kind);
    }
    layer->log2_judged = strtod(cells->cell[VERIFY_JUDGED_LOG2], NULL);
    layer->judged_bound = cell_is_bound(cells, verify_column(VERIFY_JUDGED_LOG2));
    layer->inputs = count_of(cells, VERIFY_INPUTS);
    layer->worst_input = count_of(cells, VERIFY_WORST_INPUT);
    layer->status = status_find(cells->cell[VERIFY_STATUS], cells->length[VERIFY_STATUS]);
}

/* The logits' cells: the largest error (not a number wins), the smallest margin. */
static void put_logits(VerifyRow *row, const Join *join)
{
    const Cells *rows = join->rows;
    double error = 0, margin = INFINITY;
    size_t changed = 0;
    for (size_t i = 0; i < join->count; i++) {
        error = worse(strtod(rows[i].cell[VERIFY_LOGIT_ERROR], NULL), error);
        margin = fmin(margin, strtod(rows[i].cell[VERIFY_MARGIN], NULL));
        changed += count_of(&rows[i], VERIFY_CHANGED);
    }
    verify_row_logits(row, error, margin, changed);
}

/* ---- Positions ------------------------------------------------------------------------------- */

static bool is_position(const Cells *cells)
{
    return cells->length[VERIFY_POSITION] > 0;
}

/* The shard whose row of a position is the first in the order of inputs; count: none is at one. */
static size_t first_position(const Join *join)
{
    const Cells *rows = join->rows;
    size_t first = join->count;
    for (size_t i = 0; i < join->count; i++) {
        bool its = is_position(&rows[i]);
        bool before = first == join->count ||
                      count_of(&rows[i], VERIFY_INPUT) < count_of(&rows[first], VERIFY_INPUT);
        first = its && before ? i : first;
    }
    return first;
}

/* Moves a shard to its next row.  0, or 2 after a message: that is none of verify. */
static int next_row(Join *join, size_t i)
{
    return take_line(&join->rows[i], &join->lines[i]) ? 0
                                                      : merge_refuse_rows(&join->merge->files[i]);
}

/* The rows of positions that the shards are at, in the order of their inputs, as they are; they are
 * added to the means.  The rows at hand are then those behind them.  0, or 2 after a message. */
static int copy_positions(Join *join)
{
    int status = 0;
    for (size_t i = 0; i < join->count && status == 0; i++) {
        status = next_row(join, i);
    }
    while (status == 0) {
        size_t first = first_position(join);
        if (first == join->count) {
            break;
        }
        Figure loss[LOSSES], kl[AGAINST_COUNT];
        const Cells *row = &join->rows[first];
        const char *line = row->cell[0];
        read_figures(loss, row, VERIFY_LOSS, LOSSES);
        read_figures(kl, row, VERIFY_KL, AGAINST_COUNT);
        position_means_add(&join->means, loss, kl);
        fprintf(join->file, "%.*s", (int)(join->lines[first] - line), line);
        status = next_row(join, first);
    }
    return status;
}

/* Where no positions are listed, the largest divergences of the shards. */
static void take_largest(Join *join)
{
    PositionMeans *means = &join->means;
    for (size_t i = 0; i < join->count && means->kl[0].count == 0; i++) {
        Figure most[AGAINST_COUNT];
        read_figures(most, &join->rows[i], VERIFY_KL_MAX, AGAINST_COUNT);
        for (int k = 0; k < AGAINST_COUNT; k++) {
            means->most[k] = figure_is_worse(&most[k], &means->most[k]) ? most[k] : means->most[k];
        }
    }
}

/* ---- Layers ---------------------------------------------------------------------------------- */

/* One row from that of every shard. */
static void write_row(Join *join)
{
    const Cells *rows = join->rows;
    const char *key = rows[0].cell[0];
    VerifyRow row = {0};
    LayerWorst all, one;
    layer_init(&all);
    layer_init(&one);
    for (size_t i = 0; i < join->count; i++) {
        read_layer(&one, &rows[i]);
        layer_join(&all, &one);
    }
    verify_row_layer(&row, count_of(&rows[0], VERIFY_LAYER), &all);
    join->worst = all.status < join->worst ? all.status : join->worst;
    layer_clear(&all);
    layer_clear(&one);
    if (has_logits(&rows[0])) {
        put_logits(&row, join);
        take_largest(join);
        position_means_put(&row, &join->means, join->means.kl[0].count > 0);
    }
    fprintf(join->file, "%.*s", (int)(rows[0].cell[VERIFY_INPUTS] - key - 1), key);
    verify_row_write(join->file, &row);
}

/* The next row of a layer, and those of positions before it, which the last layer's row sums up. */
static int take_layer(Join *join)
{
    Merge *merge = join->merge;
    const Cells *rows = join->rows;
    int status = copy_positions(join);
    for (size_t i = 0; i < join->count && status == 0; i++) {
        status = same_row(&rows[i], &rows[0]) ? 0 : merge_refuse_rows(&merge->files[i]);
    }
    if (status != 0) {
        return status;
    }
    write_row(join);
    merge->judged = merge->judged ||
                    options_judge(rows[0].cell[VERIFY_OPTIONS], rows[0].length[VERIFY_OPTIONS]);
    if (has_logits(&rows[0])) {
        position_means_clear(&join->means);
        position_means_init(&join->means);
    }
    return 0;
}

/* All rows.  0; 2 or 99 after a message. */
static int write_rows(Join *join)
{
    const Merge *merge = join->merge;
    int status = 0;
    for (size_t i = 0; i < join->count; i++) {
        const ShardFile *shard = &merge->files[i];
        if (shard->size < merge->header_length ||
            memcmp(shard->text, merge->header, merge->header_length) != 0) {
            return merge_refuse_rows(shard);
        }
        join->lines[i] = shard->text + merge->header_length;
    }
    if (*join->lines[0] == '\0') {
        return merge_refuse_rows(&merge->files[0]);
    }
    while (*join->lines[0] != '\0' && status == 0) {
        status = take_layer(join);
    }
    for (size_t i = 0; i < join->count && status == 0; i++) {
        bool all = join->lines[i] == merge->files[i].text + merge->files[i].size;
        status = all ? 0 : merge_refuse_rows(&merge->files[i]);
    }
    return status;
}

/* A point passes where all shards say so; not all do where a row failed. */
static int take_verdicts(Merge *merge, Status worst)
{
    bool all = true;
    for (size_t s = 0; s < merge->file_count; s++) {
        const json_t *facts = json_object_get(merge->files[s].sidecar, "points");
        if (json_array_size(facts) != merge->point_count) {
            return merge_refuse_rows(&merge->files[s]);
        }
        for (size_t i = 0; i < merge->point_count; i++) {
            json_t *fact = json_array_get(facts, i);
            if (s == 0 || !json_is_true(json_object_get(fact, "passed"))) {
                merge->points[i].fact = fact;
            }
        }
    }
    for (size_t i = 0; i < merge->point_count; i++) {
        MergedPoint *point = &merge->points[i];
        point->passed = json_is_true(json_object_get(point->fact, "passed"));
        all = all && point->passed;
    }
    if (all && worst <= STATUS_FAIL) {
        return merge_refuse_verdict(&merge->files[0], 0);
    }
    return 0;
}

bool merge_is_verify(const Merge *merge)
{
    const char *first = verify_column(0);
    size_t length = strlen(first);
    return strncmp(merge->header, first, length) == 0 && merge->header[length] == ',';
}

int merge_verify(Merge *merge, MergedPoint *points)
{
    size_t size = 0;
    Join join = {.merge = merge,
                 .count = merge->file_count,
                 .lines = need_zeros(merge->file_count, sizeof *join.lines),
                 .rows = need_zeros(merge->file_count, sizeof *join.rows),
                 .worst = STATUS_OK};
    join.file = text_stream(&merge->merged, &size);
    position_means_init(&join.means);
    merge->points = points;
    int status = write_rows(&join);
    (void)text_close(join.file, &merge->merged);
    position_means_clear(&join.means);
    free((void *)join.lines);
    free(join.rows);
    return status != 0 ? status : take_verdicts(merge, join.worst);
}
