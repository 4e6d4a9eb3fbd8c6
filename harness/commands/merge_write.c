/*
 * The merged file and its sidecar.
 */
#include "merge.h"

#include "../base/atomic_file.h"

/* What the merged sidecar says of a shard. */
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

static int write_rows(const Merge *merge, FILE *file)
{
    bool ok = fwrite(merge->header, 1, merge->header_length, file) == merge->header_length;
    if (merge->merged != NULL) {
        return ok && fputs(merge->merged, file) != EOF ? 0 : -1;
    }
    for (size_t i = 0; i < merge->point_count && ok; i++) {
        const MergedPoint *point = &merge->points[i];
        ok = fwrite(point->rows, 1, point->length, file) == point->length;
    }
    return ok ? 0 : -1;
}

static int write_sidecar(const Merge *merge, FILE *file, const char *digest, int argc, char **argv)
{
    json_t *object = merged_sidecar(merge, argc, argv);
    int status = -1;
    if (object != NULL && json_object_set_new(object, "digest", json_string(digest)) == 0) {
        status = json_dumpf(object, file, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
        status = status == 0 && putc('\n', file) != EOF ? 0 : -1;
    }
    json_decref(object);
    return status;
}

int merge_write(const Merge *merge, const char *path, int argc, char **argv)
{
    AtomicFile rows = {0}, sidecar = {0};
    char digest[DIGEST_TEXT];
    int status = atomic_file_open(&rows, path);
    bool direct = status == 0 && atomic_file_is_direct(&rows);
    if (status == 0 && !direct) {
        status = atomic_file_open_beside(&sidecar, &rows, ".json", path);
    }
    if (status == 0) {
        bool ok = write_rows(merge, rows.file) == 0 && atomic_file_sync(&rows) == 0;
        ok = ok && (direct || (digest_descriptor(digest, fileno(rows.file)) == 0 &&
                               write_sidecar(merge, sidecar.file, digest, argc, argv) == 0 &&
                               atomic_file_sync(&sidecar) == 0));
        ok = ok && atomic_file_publish(&rows) == 0;
        ok = ok && atomic_file_close(&rows) == 0 && atomic_file_close(&sidecar) == 0;
        status = ok ? 0 : atomic_file_failed(path);
    }
    atomic_file_clear(&rows);
    atomic_file_clear(&sidecar);
    return status;
}
