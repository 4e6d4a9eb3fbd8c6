/*
 * The merged file and its sidecar.
 */
#include "write.h"

#include "../../base/message.h"
#include "../../table/output.h"

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
static json_t *merged_sidecar(const Merge *merge, int argc, char **argv)
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
        json_object_set_new(object, "argv", sidecar_arguments(argc, argv)) |
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

/* Point by point, so that a format takes them in as they come.  0, or -1 (errno). */
static int write_rows(const Merge *merge, Output *output)
{
    FILE *file = output_file(output);
    bool ok = fwrite(merge->header, 1, merge->header_length, file) == merge->header_length;
    if (merge->merged != NULL) {
        return ok && fputs(merge->merged, file) != EOF ? 0 : -1;
    }
    for (size_t i = 0; i < merge->point_count && ok; i++) {
        const MergedPoint *point = &merge->points[i];
        ok = fwrite(point->rows, 1, point->length, file) == point->length &&
             output_commit(output) == 0;
    }
    return ok ? 0 : -1;
}

int merge_write(const Merge *merge, int argc, char **argv)
{
    Output *output;
    int status = output_open_run(&output, &merge->options);
    if (status != 0) {
        return status;
    }
    json_t *sidecar = merged_sidecar(merge, argc, argv);
    if (sidecar == NULL) {
        status = memory_fault();
    } else if (write_rows(merge, output) != 0) {
        status = output_failed(merge->options.output);
    } else {
        status = output_finish_sidecar(output, sidecar);
    }
    json_decref(sidecar);
    output_clear(output);
    return status;
}
