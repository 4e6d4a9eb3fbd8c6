/*
 * The command `merge`: shards read, checked against each other, and their verdict.
 */
#include <stdio.h>

#include "merge.h"

#include "../base/atomic_file.h"
#include "commands.h"
#include "../grid/distinct.h"
#include "../base/message.h"
#include "../base/text_stream.h"
#include "../table/output.h"
#include "../base/shown.h"
#include "../table/table.h"
#include "verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Failing points whose reproducing command is printed; the rest is counted. */
enum { FAILURES_SHOWN = 10, MISSING_SHOWN = 10 };

static size_t get_count(const json_t *object, const char *of, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(json_object_get(object, of), key));
    return value > 0 ? (size_t)value : 0;
}

static int read_text(ShardFile *file)
{
    struct stat found;
    FILE *stream = fopen(file->path, "r");
    if (stream == NULL || fstat(fileno(stream), &found) != 0) {
        int reason = errno;
        complain_of(file->path, NULL, NULL, "cannot be read: %s", strerror(reason));
        if (stream != NULL) {
            (void)fclose(stream); /* nothing was read */
        }
        return file_fault(reason);
    }
    file->size = (size_t)found.st_size;
    file->text = malloc(file->size + 1);
    bool read = file->text != NULL && fread(file->text, 1, file->size, stream) == file->size;
    bool failed = ferror(stream) != 0;
    (void)fclose(stream); /* it was only read */
    if (file->text == NULL) {
        return memory_fault();
    }
    file->text[file->size] = '\0';
    if (!read) {
        complain_of(file->path, NULL, NULL, "cannot be read");
    }
    return read ? 0 : failed ? 99 : 2;
}

static int read_shard(ShardFile *file)
{
    int status = read_text(file);
    if (status != 0) {
        return status;
    }
    char *name = atomic_file_name(file->path, ".json");
    if (name == NULL) {
        return memory_fault();
    }
    file->sidecar = sidecar_load(name);
    int reason = file->sidecar == NULL ? errno : 0;
    free(name);
    if (file_fault(reason) == 99) {
        complain_of(file->path, NULL, NULL, "the .json beside it cannot be read: %s",
                    strerror(reason));
        return 99;
    }
    if (!json_is_true(json_object_get(file->sidecar, "complete")) ||
        !json_is_array(json_object_get(file->sidecar, "points"))) {
        complain_of(file->path, NULL, NULL, "no .json of a complete sweep is beside it");
        return 2;
    }
    char difference[DIFFERENCE_TEXT];
    if (!sidecar_schema_fits(difference, file->sidecar)) {
        complain_of(file->path, NULL, NULL, "%s", difference);
        return 2;
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
    static const char *const grid_keys[] = {"digest", "weights"};
    static const char *const program_keys[] = {"version", "commit"};
    const ShardFile *first = &merge->files[0];
    const json_t *grid = json_object_get(file->sidecar, "grid"),
                 *other = json_object_get(first->sidecar, "grid");
    bool same = get_count(file->sidecar, "grid", "points") == merge->point_count;
    for (int i = 0; i < 2; i++) {
        same =
            same && strcmp(sidecar_get(grid, grid_keys[i]), sidecar_get(other, grid_keys[i])) == 0;
    }
    if (!same) {
        complain_of(file->path, NULL, NULL, "of another grid than %s", first->path);
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        const char *mine = sidecar_get(file->sidecar, program_keys[i]),
                   *theirs = sidecar_get(first->sidecar, program_keys[i]);
        if (strcmp(mine, theirs) != 0) {
            complain_of(file->path, NULL, NULL, "of %s %s, %s of %s", program_keys[i], mine,
                        first->path, theirs);
            return 2;
        }
    }
    if (get_count(file->sidecar, "shard", "count") != merge->shards || file->index == 0 ||
        file->index > merge->shards) {
        complain_of(file->path, NULL, NULL, "shard %zu of %zu, %s is of %zu", file->index,
                    get_count(file->sidecar, "shard", "count"), first->path, merge->shards);
        return 2;
    }
    return 0;
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
            complain_of(file->path, NULL, NULL, "shard %zu/%zu twice, also %s", file->index,
                        merge->shards, twin->path);
            return 2;
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
static void compare_machines(Merge *merge)
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

const char *merge_column(const char *line, size_t wanted)
{
    for (; wanted > 0; wanted--) {
        line += strcspn(line, ",\n");
        if (*line != ',') {
            return NULL;
        }
        line++;
    }
    return line;
}

int merge_refuse_verdict(const ShardFile *file, size_t point)
{
    complain_of(file->path, NULL, NULL,
                "its .json and its rows contradict each other: did point %zu pass?", point + 1);
    return 2;
}

int merge_refuse_rows(const ShardFile *file)
{
    complain_of(file->path, NULL, NULL, "its rows are not those that its .json names");
    return 2;
}

/* No more points than the sidecars name. */
static int check_points(const Merge *merge)
{
    size_t named = 0;
    for (size_t i = 0; i < merge->file_count; i++) {
        named += json_array_size(json_object_get(merge->files[i].sidecar, "points"));
    }
    return merge->point_count > named ? merge_refuse_rows(&merge->files[0]) : 0;
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
    char *name = strndup(got, strcspn(got, ",\n"));
    if (name == NULL) {
        return memory_fault();
    }
    complain((Origin){.file = merge->files[0].path, .line = 1}, name,
             "expected the column %.*s here, as this version writes tables",
             (int)strcspn(expected, ",\n"), expected);
    free(name);
    return 2;
}

/* The header is one that this program writes: columns are found by where they stand. */
static int check_header(const Merge *merge)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = text_stream(&text, &size);
    if (file == NULL) {
        return memory_fault();
    }
    int status = merge_is_verify(merge) ? verify_write_header(file) : table_write_header(file);
    if (fclose(file) != 0 || status != 0) {
        free(text);
        return memory_fault();
    }
    status = compare_names(merge, text);
    free(text);
    return status;
}

static int gather_shards(Merge *merge)
{
    int status = 0;
    for (size_t i = 0; i < merge->file_count && status == 0; i++) {
        status = read_shard(&merge->files[i]);
        if (status == 0 && i == 0) {
            merge->point_count = get_count(merge->files[0].sidecar, "grid", "points");
            merge->shards = get_count(merge->files[0].sidecar, "shard", "count");
            merge->header = merge->files[0].text;
            merge->header_length = strcspn(merge->header, "\n") + 1;
            status = check_header(merge);
        }
        if (status == 0) {
            status = check_same(merge, &merge->files[i]);
        }
    }
    if (status == 0) {
        status = check_all_there(merge);
    }
    return status != 0 ? status : check_points(merge);
}

/* The verdict is one run's. */
static int conclude(const Merge *merge)
{
    FILE *file = output_report(&merge->options);
    const char *path = merge->options.output != NULL ? merge->options.output : "stdout";
    size_t failures = 0;
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
    fprintf(file, "%zu points of %zu shards in %s\n", merge->point_count, merge->shards,
            shown(path).text);
    if (merge->merged != NULL) {
        fprintf(file, "verdict: %s\n", failures > 0 ? "FAIL" : "PASS");
    }
    return failures > 0 ? 1 : 0;
}

/* The value of --name VALUE or --name=VALUE, or NULL: argv[*i] is another word.  Moves *i to the
 * last word read. */
static const char *flag_value(const char *name, int *i, int argc, char **argv)
{
    const char *word = argv[*i];
    size_t length = strlen(name);
    if (strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, length) == 0) {
        word += 2 + length;
    } else if (strcmp(name, "output") == 0 && strcmp(word, "-o") == 0) {
        word += 2;
    } else {
        return NULL;
    }
    if (*word == '=') {
        return word + 1;
    }
    return *word != '\0' ? NULL : ++*i < argc ? argv[*i] : "";
}

static int refuse_words(const char *word)
{
    complain((Origin){0}, word, "expected %s", commands_get(COMMAND_MERGE)->usage);
    return 2;
}

/* -o FILE and --format FORMAT once each, one of them at least; the rest are shards. */
static int read_arguments(Merge *merge, int argc, char **argv)
{
    RunOptions *options = &merge->options;
    bool ok = true;
    for (int i = 2; i < argc && ok; i++) {
        char *word = argv[i];
        const char *output = flag_value("output", &i, argc, argv);
        const char *format = output == NULL ? flag_value("format", &i, argc, argv) : NULL;
        if (output != NULL) {
            ok = options->output == NULL && *output != '\0';
            options->output = output;
        } else if (format != NULL) {
            ok = options->format == NULL && *format != '\0';
            options->format = format;
        } else if (word[0] == '-') {
            return refuse_words(word);
        } else {
            merge->files[merge->file_count++].path = word;
        }
    }
    if (!ok || (options->output == NULL && options->format == NULL) || merge->file_count == 0) {
        return refuse_words("merge");
    }
    options->on_stdout = options->output == NULL || strcmp(options->output, "-") == 0;
    options->output = options->on_stdout ? NULL : options->output;
    return format_check(options);
}

static void clear(Merge *merge)
{
    for (size_t i = 0; merge->files != NULL && i < merge->file_count; i++) {
        free(merge->files[i].text);
        json_decref(merge->files[i].sidecar);
    }
    free(merge->files);
    free(merge->points);
    free(merge->merged);
}

/* No shard is written over. */
static int check_files(const Merge *merge, const char *output)
{
    const NamedFile written = {"output", output, true};
    NamedFile *shards = calloc(merge->file_count + 1, sizeof *shards);
    if (shards == NULL) {
        return memory_fault();
    }
    for (size_t i = 0; i < merge->file_count; i++) {
        shards[i] = (NamedFile){NULL, merge->files[i].path, true};
    }
    int status = distinct_check(&written, 1, shards, merge->file_count);
    free(shards);
    return status;
}

int command_merge(int argc, char **argv)
{
    Merge merge = {0};
    merge.files = calloc((size_t)argc + 1, sizeof *merge.files);
    if (merge.files == NULL) {
        return memory_fault();
    }
    int status = read_arguments(&merge, argc, argv);
    if (status == 0) {
        status = check_files(&merge, merge.options.output);
    }
    if (status == 0) {
        status = gather_shards(&merge);
    }
    if (status == 0) {
        MergedPoint *points = calloc(merge.point_count + 1, sizeof *points);
        status =
            merge_is_verify(&merge) ? merge_verify(&merge, points) : merge_points(&merge, points);
    }
    if (status == 0) {
        compare_machines(&merge);
        status = merge_write(&merge, argc, argv);
    }
    if (status == 0) {
        status = conclude(&merge);
    }
    clear(&merge);
    return status;
}
