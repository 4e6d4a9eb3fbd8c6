/*
 * The command `merge`: rows of a sweep, each point's from one shard; the merged file with its
 * sidecar, and the verdict.
 */
#include <stdio.h>

#include "merge.h"

#include "../../../memory/need.h"
#include "../../base/conclusion.h"
#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../evaluate/verdict.h"
#include "../../table/sink.h"
#include "../../table/table.h"
#include "../commands.h"

#include <stdlib.h>
#include <string.h>

/* Failing points whose reproducing command is printed; the rest is counted. */
enum { FAILURES_SHOWN = 10 };

/* ---- Rows of a sweep ----------------------------------------------------------------------- */

/* The point whose rows are at text [size], layers 1 to its depth, and whether they pass; false:
 * there is none. */
static bool read_point(MergedPoint *merged, const char *text, size_t size, bool propagation)
{
    Point point;
    Row row;
    size_t length = table_read_key(&point, text);
    char *key = need_copy_of(text, length);
    *merged = (MergedPoint){.rows = text, .key = length, .passed = true};
    row_init(&row, &point);
    for (size_t layer = 1; layer <= point.spec.depth && length > 0; layer++) {
        length = table_read_row(&row, text + merged->length, size - merged->length, key, layer,
                                propagation);
        merged->passed = merged->passed && row_passes(&point, &row);
        merged->length += length;
    }
    row_clear(&row);
    free(key);
    return length > 0 && merged->length > 0;
}

/* Puts a shard's points where they belong in the grid. */
static int take_points(Merge *merge, const ShardFile *file)
{
    json_t *facts = json_object_get(file->sidecar, "points"), *fact;
    const char *next = file->text + merge->header_length, *end = file->text + file->size;
    size_t i;
    json_array_foreach(facts, i, fact)
    {
        json_int_t number = merge->shards > 1 ? json_integer_value(json_object_get(fact, "index"))
                                              : (json_int_t)i + 1;
        MergedPoint point;
        if (!read_point(&point, next, (size_t)(end - next), merge_has_propagation(merge)) ||
            number < 1 || number > (json_int_t)merge->point_count ||
            merge->points[number - 1].rows != NULL) {
            return merge_refuse_rows(file);
        }
        if (point.passed != json_is_true(json_object_get(fact, "passed"))) {
            return merge_refuse_verdict(file, (size_t)number - 1);
        }
        point.fact = fact;
        merge->points[number - 1] = point;
        next += point.length;
    }
    return next == end ? 0 : merge_refuse_rows(file);
}

/* All points are there, and their keys are the grid's. */
static int check_grid(const Merge *merge)
{
    uint64_t digest = DIGEST_START;
    char text[DIGEST_TEXT] = "";
    bool there = true;
    for (size_t i = 0; i < merge->point_count && there; i++) {
        const MergedPoint *point = &merge->points[i];
        there = point->rows != NULL;
        digest = digest_bytes(digest, point->rows, point->key);
        digest = digest_bytes(digest, "\n", 1);
    }
    digest_print(text, identity_end(digest, merge_has_propagation(merge)));
    const json_t *grid = json_object_get(merge->files[0].sidecar, "grid");
    bool same = there && strcmp(text, sidecar_get(grid, "digest")) == 0;
    return same ? 0 : merge_refuse_rows(&merge->files[0]);
}

/* Every point's rows from the shard that has it.  0, 2 or 99 after a message. */
static int merge_points(Merge *merge)
{
    int status = 0;
    for (size_t i = 0; i < merge->file_count && status == 0; i++) {
        status = take_points(merge, &merge->files[i]);
    }
    return status != 0 ? status : check_grid(merge);
}

/* ---- The file ------------------------------------------------------------------------------ */

/* The first shard's, with what is the whole's. */
static json_t *merged_sidecar(const Merge *merge)
{
    json_t *object = json_copy(merge->files[0].sidecar), *shards = json_array(),
           *points = json_array();
    for (size_t i = 0; i < merge->file_count; i++) {
        const ShardFile *file = &merge->files[i];
        json_t *shard = json_object();
        json_object_set_new(shard, "file", sidecar_text(file->path));
        json_object_set(shard, "argv", json_object_get(file->sidecar, "argv"));
        json_object_set(shard, "date", json_object_get(file->sidecar, "date"));
        for (const char *const *key = sidecar_decisive; *key != NULL; key++) {
            json_object_set(shard, *key, json_object_get(file->sidecar, *key)); /* if it is there */
        }
        json_array_append_new(shards, shard);
    }
    for (size_t i = 0; i < merge->point_count; i++) {
        json_t *fact = json_copy(merge->points[i].fact);
        (void)json_object_del(fact, "index"); /* a single shard has none */
        json_array_append_new(points, fact);
    }
    json_object_set_new(object, "argv",
                        sidecar_arguments(merge->options.argc, merge->options.argv));
    json_object_set_new(object, "date", sidecar_date());
    json_object_set_new(object, "shard", json_pack("{s:i, s:i}", "index", 1, "count", 1));
    json_object_set_new(object, "machines_differ", json_boolean(merge->mixed));
    json_object_set_new(object, "shards", shards);
    json_object_set_new(object, "points", points);
    return object;
}

/* Rows as the shards have them, and what makes them last: point by point, so that a format takes
 * them in as they come. */
static bool put(Sink *sink, const char *rows, size_t length)
{
    return fwrite(rows, 1, length, sink->lines) == length && sink_commit(sink) == 0;
}

/* The rows in the format asked for, with their sidecar.  0; 2 or 99 after a message. */
static int write_merged(const Merge *merge)
{
    static const SinkKind kind = {.bare = BARE_TABLE};
    Sink sink;
    RunRecord record = {0};
    int status = sink_open(&sink, &kind, &merge->options, &record);
    record.made = merged_sidecar(merge);
    if (status == 0) {
        size_t length = merge->header_length;
        bool ok = fwrite(merge->header, 1, length, sink.lines) == length;
        if (merge->merged != NULL) {
            ok = ok && put(&sink, merge->merged, strlen(merge->merged));
        }
        for (size_t i = 0; merge->merged == NULL && i < merge->point_count && ok; i++) {
            ok = put(&sink, merge->points[i].rows, merge->points[i].length);
        }
        status = ok ? 0 : sink_failed(&sink);
    }
    status = status != 0 ? status : sink_finish(&sink);
    json_decref(record.made);
    sink_clear(&sink);
    return status;
}

/* ---- The command --------------------------------------------------------------------------- */

/* The verdict is one run's. */
static int conclude(const Merge *merge)
{
    FILE *file = output_report(&merge->options);
    const char *path = merge->options.output != NULL ? merge->options.output : "stdout";
    size_t failures = 0, index;
    const json_t *condition;
    for (size_t i = 0; i < merge->point_count; i++) {
        const json_t *fact = merge->points[i].fact;
        if (!merge->points[i].passed && ++failures <= FAILURES_SHOWN && merge->merged == NULL) {
            fprintf(stderr, "headproof: fails; reproduce: %s\n",
                    shown(sidecar_get(fact, "command")).text);
        }
    }
    if (failures > FAILURES_SHOWN && merge->merged == NULL) {
        fprintf(stderr, "headproof: and %zu more points fail\n", failures - FAILURES_SHOWN);
    }
    fprintf(file, "%zu point%s of %zu shard%s in %s\n", merge->point_count,
            merge->point_count == 1 ? "" : "s", merge->shards, merge->shards == 1 ? "" : "s",
            shown(path).text);
    if (merge->merged != NULL) {
        Conclusion conclusion = failures > 0    ? CONCLUSION_FAIL
                                : merge->judged ? CONCLUSION_PASS
                                                : CONCLUSION_EVALUATED;
        fprintf(file, "verdict: %s\n", conclusions[conclusion].words);
    }
    json_array_foreach(json_object_get(merge->files[0].sidecar, "conditions"), index, condition)
    {
        if (json_is_string(condition)) {
            fprintf(file, "%s\n", shown(json_string_value(condition)).text);
        }
    }
    if (failures > 0 && merge->merged != NULL) {
        return failure_say("the shards' verdict is FAIL", merge->options.argc, merge->options.argv);
    }
    return failures > 0;
}

int command_merge(const Grid *grid, const RunOptions *run)
{
    Merge merge = {.options = *run, .file_count = grid->table_count};
    merge.options.on_stdout = run->output == NULL; /* without -o the table goes there */
    merge.files = need_zeros(merge.file_count + 1, sizeof *merge.files);
    for (size_t i = 0; i < merge.file_count; i++) {
        merge.files[i].path = grid->tables[i];
    }
    int status = merge_gather(&merge);
    if (status == 0) {
        merge.points = need_zeros(merge.point_count + 1, sizeof *merge.points);
        status = (merge_is_verify(&merge) ? merge_verify : merge_points)(&merge);
    }
    if (status == 0) {
        merge_compare_machines(&merge);
    }
    status = status != 0 ? status : write_merged(&merge);
    status = status != 0 ? status : conclude(&merge);
    for (size_t i = 0; i < merge.file_count; i++) {
        free(merge.files[i].text);
        json_decref(merge.files[i].sidecar);
    }
    free(merge.files);
    free(merge.points);
    free(merge.merged);
    return status;
}
