/*
 * Rows of verify: those of positions in the order of their inputs, and of layers each the worst of
 * all shards' rows of the same model, Omega and layer.
 */
#include "merge.h"

#include "../../base/text_stream.h"

#include <string.h>

/* Moves a shard to its next row.  0, or 2 after a message: it has not as many cells as that. */
static int next_row(ShardFile *shard)
{
    bool read = verify_row_cut(&shard->row, shard->cell, 0, VERIFY_COLUMNS, &shard->next);
    return read ? 0 : merge_refuse_rows(shard);
}

/* Of the same model, Omega, layer and whatever else decides a row. */
static bool same_row(const ShardFile *a, const ShardFile *b)
{
    bool same = strcmp(a->cell[VERIFY_LAYER], b->cell[VERIFY_LAYER]) == 0;
    for (int c = 0; c <= VERIFY_OPTIONS; c++) {
        same = same && strcmp(a->cell[c], b->cell[c]) == 0;
    }
    return same;
}

/* The first cells of its row, as many, with a comma between two. */
static void write_cells(FILE *file, const ShardFile *shard, int count)
{
    for (int c = 0; c < count; c++) {
        fprintf(file, "%s%s", c > 0 ? "," : "", shard->cell[c]);
    }
}

/* The shard whose row of a position is the first in the order of inputs; file_count: none is at
 * one. */
static size_t first_position(const Merge *merge)
{
    const ShardFile *shards = merge->files;
    size_t count = merge->file_count, first = count;
    for (size_t i = 0; i < count; i++) {
        bool its = *shards[i].cell[VERIFY_POSITION] != '\0';
        bool before = first == count || verify_count(&shards[i].row, VERIFY_INPUT) <
                                            verify_count(&shards[first].row, VERIFY_INPUT);
        first = its && before ? i : first;
    }
    return first;
}

/* The rows of positions that the shards are at, in the order of their inputs, as they are; they are
 * added to the means.  The rows at hand are then those behind them.  0, or 2 after a message. */
static int copy_positions(Merge *merge)
{
    int status = 0;
    for (size_t i = 0; i < merge->file_count && status == 0; i++) {
        status = next_row(&merge->files[i]);
    }
    for (size_t first; status == 0; status = next_row(&merge->files[first])) {
        Figure figures[POSITION_MEANS];
        first = first_position(merge);
        if (first == merge->file_count) {
            break;
        }
        verify_figures(figures, &merge->files[first].row, VERIFY_LOSS, POSITION_MEANS);
        position_means_add(&merge->means, figures);
        write_cells(merge->file, &merge->files[first], VERIFY_COLUMNS);
        fputc('\n', merge->file);
    }
    return status;
}

/* One row from that of every shard. */
static void write_row(Merge *merge)
{
    VerifyRow all = {0};
    for (size_t i = 0; i < merge->file_count; i++) {
        verify_row_join(&all, &merge->files[i].row);
    }
    if (merge->means.mean[POSITION_KL].count > 0) { /* the positions are listed */
        position_means_put(&all, &merge->means, true);
        position_means_clear(&merge->means);
        position_means_init(&merge->means);
    }
    Status status = verify_status(&all);
    merge->worst = status < merge->worst ? status : merge->worst;
    write_cells(merge->file, &merge->files[0], VERIFY_INPUTS);
    verify_row_write(merge->file, &all, VERIFY_COLUMNS);
}

/* All rows: of each layer, with those of positions before it, which the last layer's sums up.  0; 2
 * after a message. */
static int write_rows(Merge *merge)
{
    const ShardFile *shards = merge->files;
    do {
        int status = copy_positions(merge);
        for (size_t i = 0; i < merge->file_count && status == 0; i++) {
            status = same_row(&shards[i], &shards[0]) ? 0 : merge_refuse_rows(&merge->files[i]);
        }
        if (status != 0) {
            return status;
        }
        const char *options = shards[0].cell[VERIFY_OPTIONS];
        merge->judged = merge->judged || strncmp(options, "tolerance=", 10) == 0 ||
                        strstr(options, ";tolerance=") != NULL;
        write_row(merge);
    } while (*shards[0].next != '\0');
    for (size_t i = 0; i < merge->file_count; i++) {
        if (shards[i].next != merge->files[i].text + merge->files[i].size) {
            return merge_refuse_rows(&merge->files[i]);
        }
    }
    return 0;
}

/* A point passes where all shards say so; not all do where a row failed. */
static int take_verdicts(Merge *merge)
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
    if (all && merge->worst <= STATUS_FAIL) {
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

int merge_verify(Merge *merge)
{
    size_t size = 0;
    for (size_t i = 0; i < merge->file_count; i++) {
        merge->files[i].next = merge->files[i].text + merge->header_length;
    }
    merge->worst = STATUS_OK;
    merge->file = text_stream(&merge->merged, &size);
    position_means_init(&merge->means);
    int status = write_rows(merge);
    (void)text_close(merge->file, &merge->merged);
    position_means_clear(&merge->means);
    return status != 0 ? status : take_verdicts(merge);
}
