/*
 * Shards read and checked against each other: one grid, one version, each once.
 */
#include <stdio.h>

#include "merge.h"

#include "../../../memory/need.h"
#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../base/csv_read.h"
#include "../../base/text_stream.h"
#include "../../table/columns.h"
#include "../commands.h"
#include "../verify/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Missing shards that are named; the rest is counted. */
enum { MISSING_SHOWN = 10 };

static size_t get_count(const json_t *object, const char *of, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(json_object_get(object, of), key));
    return value > 0 ? (size_t)value : 0;
}

static int read_text(ShardFile *file)
{
    file->text = file_text(&file->size, file->path);
    if (file->text != NULL) {
        file->size = csv_plain(file->text, file->size);
        return 0;
    }
    int reason = errno;
    if (reason == ENOMEM) {
        return memory_fault();
    }
    complain_of(file->path, NULL, NULL, "cannot be read: %s", strerror(reason));
    return file_fault(reason);
}

static int read_shard(ShardFile *file)
{
    int status = read_text(file);
    if (status != 0) {
        return status;
    }
    status = sidecar_beside(&file->sidecar, file->path);
    if (status != 0) {
        return status;
    }
    if (!json_is_true(json_object_get(file->sidecar, "complete")) ||
        !json_is_array(json_object_get(file->sidecar, "points"))) {
        return complain_of(file->path, NULL, NULL, "no .json of a complete sweep is beside it");
    }
    char difference[DIFFERENCE_TEXT];
    if (!sidecar_schema_fits(difference, file->sidecar)) {
        return complain_of(file->path, NULL, NULL, "%s", difference);
    }
    if (!sidecar_is_of(file->sidecar, file->text, file->size)) {
        return merge_refuse_rows(file);
    }
    file->index = get_count(file->sidecar, "shard", "index");
    return 0;
}

/* Shards of one grid, from one version of the program. */
static int check_same(const Merge *merge, const ShardFile *file)
{
    static const char *const program_keys[] = {"version", "commit"};
    const ShardFile *first = &merge->files[0];
    if (!json_equal(json_object_get(file->sidecar, "grid"),
                    json_object_get(first->sidecar, "grid"))) {
        return complain_of(file->path, NULL, NULL, "of another grid than %s", first->path);
    }
    for (int i = 0; i < 2; i++) {
        const char *mine = sidecar_get(file->sidecar, program_keys[i]),
                   *theirs = sidecar_get(first->sidecar, program_keys[i]);
        if (strcmp(mine, theirs) != 0) {
            return complain_of(file->path, NULL, NULL, "of %s %s, %s of %s", program_keys[i], mine,
                               first->path, theirs);
        }
    }
    if (sidecar_digits(file->sidecar) != sidecar_digits(first->sidecar)) {
        return complain_of(file->path, NULL, NULL, "of %d digits, %s of %d",
                           sidecar_digits(file->sidecar), first->path,
                           sidecar_digits(first->sidecar));
    }
    if (get_count(file->sidecar, "shard", "count") != merge->shards || file->index == 0 ||
        file->index > merge->shards) {
        return complain_of(file->path, NULL, NULL, "shard %zu of %zu, %s is of %zu", file->index,
                           get_count(file->sidecar, "shard", "count"), first->path, merge->shards);
    }
    bool headed = file->size >= merge->header_length &&
                  memcmp(file->text, merge->header, merge->header_length) == 0;
    return headed ? 0 : merge_refuse_rows(file);
}

static const ShardFile *find_shard(const Merge *merge, size_t index, size_t before)
{
    for (size_t i = 0; i < before; i++) {
        if (merge->files[i].index == index) {
            return &merge->files[i];
        }
    }
    return NULL;
}

/* Each shard once. */
static int check_all_there(const Merge *merge)
{
    for (size_t i = 0; i < merge->file_count; i++) {
        const ShardFile *file = &merge->files[i], *twin = find_shard(merge, file->index, i);
        if (twin != NULL) {
            return complain_of(file->path, NULL, NULL, "shard %zu/%zu twice, also %s", file->index,
                               merge->shards, twin->path);
        }
    }
    size_t missing = merge->shards - merge->file_count, named = 0;
    for (size_t index = 1; missing > 0 && named < missing && named < MISSING_SHOWN; index++) {
        if (find_shard(merge, index, merge->file_count) == NULL) {
            fprintf(stderr, "%s %zu/%zu", named++ == 0 ? "headproof: missing: shard" : ",", index,
                    merge->shards);
        }
    }
    if (missing > named) {
        fprintf(stderr, ", and %zu more", missing - named);
    }
    if (missing > 0) {
        fputc('\n', stderr);
    }
    return missing > 0 ? 2 : 0;
}

/* Rows from different machines may differ in the machine's columns: said, and recorded. */
void merge_compare_machines(Merge *merge)
{
    const json_t *first = merge->files[0].sidecar;
    for (const char *const *key = sidecar_decisive; *key != NULL; key++) {
        for (size_t i = 1; i < merge->file_count; i++) {
            const char *mine = sidecar_get(merge->files[i].sidecar, *key);
            if (strcmp(mine, sidecar_get(first, *key)) != 0) {
                fprintf(stderr,
                        "headproof: warning: %s: %s %s, %s has %s: the machine's columns may "
                        "differ\n",
                        shown(merge->files[i].path).text, *key, shown(mine).text,
                        shown(merge->files[0].path).text, shown(sidecar_get(first, *key)).text);
                merge->mixed = true;
                break;
            }
        }
    }
}

int merge_refuse_verdict(const ShardFile *file, size_t point)
{
    return complain_of(file->path, NULL, NULL,
                       "its .json says another verdict for point %zu than its rows", point + 1);
}

int merge_refuse_rows(const ShardFile *file)
{
    return complain_of(file->path, NULL, NULL, "its rows are not those that its .json names");
}

/* Is the shards' header the expected one?  Else the first name that differs is said. */
static int compare_names(const Merge *merge, const char *expected)
{
    const char *got = merge->header;
    size_t length = strlen(expected);
    if (merge->header_length == length && memcmp(got, expected, length) == 0) {
        return 0;
    }
    while (*got != '\0' && strcspn(got, ",\n") == strcspn(expected, ",\n") &&
           memcmp(got, expected, strcspn(got, ",\n") + 1) == 0) {
        expected += strcspn(expected, ",\n") + 1;
        got += strcspn(got, ",\n") + 1;
    }
    char *name = need_copy_of(got, strcspn(got, ",\n"));
    complain((Origin){.file = merge->files[0].path, .line = 1}, name,
             "expected the column %.*s here, as this version writes tables",
             (int)strcspn(expected, ",\n"), expected);
    free(name);
    return 2;
}

bool merge_has_propagation(const Merge *merge)
{
    const char *name = column_at(column_count(true) - 1)->name;
    size_t length = strlen(name), header = merge->header_length - 1; /* the newline apart */
    return header > length && memcmp(merge->header + header - length, name, length) == 0;
}

/* The header is one that this program writes: columns are found by where they stand. */
static int check_header(const Merge *merge)
{
    const RunOptions asked = {.propagation = merge_has_propagation(merge)};
    char *text = NULL;
    size_t size = 0;
    FILE *file = text_stream(&text, &size);
    (merge_is_verify(merge) ? verify_write_header : sweep_write_header)(file, &asked);
    (void)text_close(file, &text);
    int status = compare_names(merge, text);
    free(text);
    return status;
}

int merge_gather(Merge *merge)
{
    int status = 0;
    size_t named = 0; /* points, by the sidecars */
    for (size_t i = 0; i < merge->file_count && status == 0; i++) {
        status = read_shard(&merge->files[i]);
        if (status == 0 && i == 0) {
            merge->point_count = get_count(merge->files[0].sidecar, "grid", "points");
            merge->shards = get_count(merge->files[0].sidecar, "shard", "count");
            merge->header = merge->files[0].text;
            merge->header_length = strcspn(merge->header, "\n") + 1;
            status = check_header(merge);
        }
        status = status != 0 ? status : check_same(merge, &merge->files[i]);
        named += json_array_size(json_object_get(merge->files[i].sidecar, "points"));
    }
    status = status != 0 ? status : check_all_there(merge);
    if (status == 0 && merge->point_count > named) {
        status = merge_refuse_rows(&merge->files[0]);
    }
    return status;
}
