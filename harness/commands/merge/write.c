/*
 * The merged file and its sidecar.
 */
#include "write.h"

#include "../../base/message.h"
#include "../../table/sink.h"

#include <string.h>

/* A shard's entry in the merged sidecar. */
static json_t *shard_value(const ShardFile *file)
{
    json_t *value = json_object();
    int status = json_object_set_new(value, "file", sidecar_text(file->path)) |
                 json_object_set(value, "argv", json_object_get(file->sidecar, "argv")) |
                 json_object_set(value, "date", json_object_get(file->sidecar, "date"));
    for (const char *const *key = sidecar_decisive; *key != NULL; key++) {
        json_t *fact = json_object_get(file->sidecar, *key);
        status |= fact == NULL ? 0 : json_object_set(value, *key, fact);
    }
    if (status != 0) {
        json_decref(value);
        return NULL;
    }
    return value;
}

/* The first shard's, with what is the whole's. */
static json_t *merged_sidecar(const Merge *merge)
{
    json_t *object = json_copy(merge->files[0].sidecar), *shards = json_array(),
           *points = json_array();
    int status = 0;
    for (size_t i = 0; i < merge->file_count; i++) {
        status |= json_array_append_new(shards, shard_value(&merge->files[i]));
    }
    for (size_t i = 0; i < merge->point_count; i++) {
        json_t *fact = json_copy(merge->points[i].fact);
        (void)json_object_del(fact, "index"); /* a single shard has none */
        status |= json_array_append_new(points, fact);
    }
    status |=
        json_object_set_new(object, "argv",
                            sidecar_arguments(merge->options.argc, merge->options.argv)) |
        json_object_set_new(object, "date", sidecar_date()) |
        json_object_set_new(object, "shard", json_pack("{s:i, s:i}", "index", 1, "count", 1)) |
        json_object_set_new(object, "machines_differ", json_boolean(merge->mixed)) |
        json_object_set_new(object, "shards", shards) |
        json_object_set_new(object, "points", points);
    if (status != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* Rows as the shards have them, and what makes them last: point by point, so that a format takes
 * them in as they come. */
static bool put(Sink *sink, const char *rows, size_t length)
{
    return sink_append(sink, rows, length, 0) == 0 && sink_sync(sink) == 0;
}

/* 0; 99 after a message. */
static int write_rows(const Merge *merge, Sink *sink)
{
    bool ok = sink_append(sink, merge->header, merge->header_length, 0) == 0;
    if (merge->merged != NULL) {
        ok = ok && put(sink, merge->merged, strlen(merge->merged));
    }
    for (size_t i = 0; merge->merged == NULL && i < merge->point_count && ok; i++) {
        ok = put(sink, merge->points[i].rows, merge->points[i].length);
    }
    return ok ? 0 : sink_failed(sink);
}

int merge_write(const Merge *merge)
{
    static const SinkKind kind = {.bare = BARE_TABLE};
    Sink sink;
    RunRecord record = {0};
    int status = sink_open(&sink, &kind, &merge->options, &record);
    record.made = merged_sidecar(merge);
    status = status != 0 ? status : record.made == NULL ? memory_fault() : write_rows(merge, &sink);
    status = status != 0 ? status : sink_finish(&sink);
    json_decref(record.made);
    sink_clear(&sink);
    return status;
}
