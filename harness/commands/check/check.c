/*
 * The join: which row of the obtained table answers to which of the baseline.
 */
#include <stdio.h>

#include "check.h"

#include "../../../memory/need.h"
#include "../../base/message.h"
#include "../../base/text_stream.h"
#include "../../point/axes.h"
#include "../../table/columns.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- Findings ------------------------------------------------------------------------------- */

void check_find(Check *check, Finding finding)
{
    check->findings = need_next(check->findings, check->finding_count, sizeof *check->findings);
    Finding *added = &check->findings[check->finding_count];
    *added = finding;
    added->excess = finding.excess == 0 ? INFINITY : finding.excess;
    added->order = check->finding_count++;
}

void check_mention(Check *check, const char *format, ...)
{
    char *text;
    size_t size;
    FILE *file = text_stream(&text, &size);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    check->mentions = need_next(check->mentions, check->mention_count, sizeof *check->mentions);
    check->mentions[check->mention_count++] = text_close(file, &text);
}

void check_mention_conditions(Check *check)
{
    const SourceList *sources = &check->grid->sources;
    for (size_t i = 0; i < sources->count; i++) {
        char *text = model_source_conditions(sources->items[i]);
        check_mention(check, "%s", text);
        free(text);
    }
}

/* A row's findings, which were found together, stay together: the worst speaks for all. */
static void rank_findings(Check *check)
{
    for (size_t first = 0, end; first < check->finding_count; first = end) {
        double worst = 0;
        for (end = first; end < check->finding_count &&
                          finding_same_row(&check->findings[first], &check->findings[end]);
             end++) {
            worst = fmax(worst, check->findings[end].excess);
        }
        for (size_t i = first; i < end; i++) {
            check->findings[i].worst = worst;
        }
    }
}

/* Worst rows first, then as they were found. */
static int compare_findings(const void *a, const void *b)
{
    const Finding *left = a, *right = b;
    if (left->worst != right->worst) {
        return left->worst > right->worst ? -1 : 1;
    }
    return (left->order > right->order) - (left->order < right->order);
}

bool finding_same_row(const Finding *a, const Finding *b)
{
    return a->table == b->table && a->row == b->row;
}

/* ---- The join ------------------------------------------------------------------------------- */

/* A row and its key: the key's cells joined by commas, which no cell holds. */
typedef struct {
    char *key;
    size_t row;
} Keyed;

/* The rows of both tables by their keys, then as they stand; of each row of one table the first of
 * the other that has its key, or NO_ROW; and of an obtained row without one the baseline's row that
 * differs in what was asked of the same model alone, which is no other's then. */
typedef struct {
    Keyed *obtained, *baseline;
    size_t *others, *pairs, *back;
} Join;

static int compare_keys(const void *a, const void *b)
{
    const Keyed *left = a, *right = b;
    int order = strcmp(left->key, right->key);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

/* The table's rows, sorted.  without: roles of axes that the keys leave out. */
static Keyed *sorted_rows(const Csv *csv, unsigned without)
{
    Keyed *rows = need_zeros(csv->rows + 1, sizeof *rows);
    for (size_t row = 0; row < csv->rows; row++) {
        size_t size;
        FILE *key = text_stream(&rows[row].key, &size);
        for (size_t i = 0; column_key(i) != NULL; i++) {
            Axis axis = column_axis(column_key(i));
            bool left = axis < AXIS_COUNT && (axis_info(axis)->roles & without) != 0;
            fprintf(key, "%s,", left ? "" : csv_cell(csv, row, csv_find(csv, column_key(i))));
        }
        (void)text_close(key, &rows[row].key);
        rows[row].row = row;
    }
    qsort(rows, csv->rows, sizeof *rows, compare_keys);
    return rows;
}

static void rows_free(Keyed *rows, const Csv *csv)
{
    for (size_t i = 0; i < csv->rows; i++) {
        free(rows[i].key);
    }
    free(rows);
}

/* Of every one of rows [count] the first of others [other_count] that has its key. */
static size_t *find_others(const Keyed *rows, size_t count, const Keyed *others, size_t other_count)
{
    size_t *found = need_zeros(count + 1, sizeof *found);
    for (size_t i = 0, j = 0; i < count; i++) {
        while (j < other_count && strcmp(others[j].key, rows[i].key) < 0) {
            j++;
        }
        bool has = j < other_count && strcmp(others[j].key, rows[i].key) == 0;
        found[rows[i].row] = has ? others[j].row : NO_ROW;
    }
    return found;
}

static void join_make(Join *join, const Check *check)
{
    const unsigned edited = ROLE_OMEGA | ROLE_MACHINE | ROLE_REFERENCE;
    const size_t count = check->obtained.rows, other_count = check->baseline.rows;
    join->obtained = sorted_rows(&check->obtained, 0);
    join->baseline = sorted_rows(&check->baseline, 0);
    join->others = find_others(join->obtained, count, join->baseline, other_count);
    join->back = find_others(join->baseline, other_count, join->obtained, count);
    join->pairs = need_zeros(count + 1, sizeof *join->pairs);
    for (size_t row = 0; row < count; row++) {
        join->pairs[row] = NO_ROW;
    }
    Keyed *obtained = sorted_rows(&check->obtained, edited);
    Keyed *baseline = sorted_rows(&check->baseline, edited);
    for (size_t i = 0, j = 0; i < count && j < other_count;) {
        size_t left = obtained[i].row, right = baseline[j].row;
        int order = join->others[left] != NO_ROW  ? -1
                    : join->back[right] != NO_ROW ? 1
                                                  : strcmp(obtained[i].key, baseline[j].key);
        if (order == 0) {
            join->pairs[left] = right;
            join->back[right] = left;
        }
        i += order <= 0;
        j += order >= 0;
    }
    rows_free(obtained, &check->obtained);
    rows_free(baseline, &check->baseline);
}

/* Every row whose key an earlier one has. */
static void find_duplicates(Check *check, const char *reason, const Csv *csv, const Keyed *rows)
{
    for (size_t i = 1; i < csv->rows; i++) {
        if (strcmp(rows[i - 1].key, rows[i].key) == 0) {
            check_find(check, (Finding){.reason = reason, .table = csv, .row = rows[i].row});
        }
    }
}

/* ---- The verdict ---------------------------------------------------------------------------- */

/* columns [obtained's]: the baseline's column of the same name.  What only one table has is a
 * finding, or a mention. */
static void match_columns(Check *check, size_t *columns)
{
    const Csv *obtained = &check->obtained, *baseline = &check->baseline;
    for (size_t i = 0; i < obtained->columns; i++) {
        size_t found = csv_find(baseline, csv_name(obtained, i));
        columns[i] = found < baseline->columns ? found : NO_ROW;
        if (check->has_baseline && columns[i] == NO_ROW) {
            bool bounds = strcmp(csv_name(obtained, i), BOUNDS_COLUMN) == 0;
            check_mention(check, "the baseline has no column %s%s", csv_name(obtained, i),
                          bounds ? ", which names upper bounds: each of its cells is taken for a "
                                   "bound where the obtained cell is one"
                                 : "");
        }
    }
    for (size_t i = 0; i < baseline->columns; i++) {
        if (csv_find(obtained, csv_name(baseline, i)) == obtained->columns) {
            check_find(check, (Finding){.reason = "a column that is missing",
                                        .row = NO_ROW,
                                        .column = csv_name(baseline, i)});
        }
    }
}

static void judge_row(Check *check, size_t row, const Point *point, const Join *join,
                      const size_t *columns)
{
    size_t before = check->finding_count;
    size_t other = join->others[row], pair = join->pairs[row];
    bool added = check->has_baseline && other == NO_ROW && pair == NO_ROW;
    check->edited += pair != NO_ROW;
    check->added += added;
    if (added) {
        check_find(check, (Finding){.reason = "a row that the baseline does not have",
                                    .table = &check->obtained,
                                    .row = row,
                                    .point = point});
    }
    check_row(check, row, point, other, pair, columns);
    check->rows++;
    check->failed += check->finding_count > before;
}

/* Rows come in grid order, a point's layers together. */
static void judge_rows(Check *check, const size_t *columns, const Join *join)
{
    size_t row = 0;
    for (size_t p = 0; p < check->grid->count; p++) {
        const Point *point = &check->grid->points[p];
        for (size_t l = 0; l < point->spec.depth; l++, row++) {
            if (row == check->obtained.rows) {
                check_find(check, (Finding){.reason = "rows of the grid that were not obtained",
                                            .row = NO_ROW});
                return;
            }
            judge_row(check, row, point, join, columns);
        }
    }
}

/* Rows that only the baseline has. */
static void find_missing(Check *check, const Join *join)
{
    for (size_t i = 0; i < check->baseline.rows; i++) {
        size_t row = join->baseline[i].row;
        if (join->back[row] == NO_ROW) {
            check_find(check, (Finding){.reason = "a row that is missing",
                                        .table = &check->baseline,
                                        .row = row});
            check->rows++;
            check->gone++;
            check->failed++;
        }
    }
}

/* Where one table alone has rows, the case is another one. */
static void mention_change(Check *check)
{
    if (check->added + check->gone + check->edited == 0 || check->run->check.baseline == NULL) {
        return;
    }
    char edited[128] = "";
    if (check->edited > 0) {
        snprintf(edited, sizeof edited,
                 ", and in %zu omega, arithmetic, kernel or reference was edited", check->edited);
    }
    check_mention(
        check,
        "the case has changed since the baseline was saved: %zu of its rows are new, and %zu of "
        "the baseline's are gone%s%s",
        check->added, check->gone, edited,
        check->run->check.update ? "" : "; if that is meant, --update saves the baseline anew");
}

/* Rows of another model cannot be what they were. */
static void find_weights(Check *check)
{
    const char *now = check->weights, *before = check->baseline_weights;
    if (*now != '\0' && *before != '\0' && strcmp(now, before) != 0) {
        const SourceList *sources = &check->grid->sources;
        check_find(check, (Finding){.reason = "is not the baseline's (digest)",
                                    .row = NO_ROW,
                                    .column = sources->count == 1 ? sources->items[0]->path
                                                                  : "one of the weights files",
                                    .obtained = now,
                                    .baseline = before});
    }
}

void check_judge(Check *check)
{
    Join join;
    size_t *columns = need_zeros(check->obtained.columns, sizeof *columns);
    join_make(&join, check);
    find_weights(check);
    match_columns(check, columns);
    judge_rows(check, columns, &join);
    find_missing(check, &join);
    mention_change(check);
    find_duplicates(check, "a key that an earlier row has", &check->obtained, join.obtained);
    find_duplicates(check, "a key that an earlier row of the baseline has", &check->baseline,
                    join.baseline);
    if (check->rows == 0) {
        check_find(check, (Finding){.reason = "no rows", .row = NO_ROW});
    }
    if (check->has_baseline && check->baseline.rows == 0) {
        check_find(check, (Finding){.reason = "a baseline without rows", .row = NO_ROW});
    }
    rank_findings(check);
    if (check->finding_count > 1) {
        qsort(check->findings, check->finding_count, sizeof *check->findings, compare_findings);
    }
    rows_free(join.obtained, &check->obtained);
    rows_free(join.baseline, &check->baseline);
    free(join.others);
    free(join.pairs);
    free(join.back);
    free(columns);
}

bool check_passes(const Check *check)
{
    return check->finding_count == 0 && check->rows > 0 && check->cells > 0;
}

Conclusion check_conclude(const Check *check)
{
    return !check_passes(check)             ? CONCLUSION_FAIL
           : check->judged                  ? CONCLUSION_PASS
           : check->run->check.save != NULL ? CONCLUSION_SAVED
                                            : CONCLUSION_EVALUATED;
}

void check_clear(Check *check)
{
    for (size_t i = 0; i < check->mention_count; i++) {
        free(check->mentions[i]);
    }
    free(check->mentions);
    free(check->findings);
    free(check->seconds);
    json_decref(check->sidecar);
    csv_clear(&check->obtained);
    csv_clear(&check->baseline);
    *check = (Check){0};
}
