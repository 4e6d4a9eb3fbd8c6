#include "atomic_file.h"
#include "commands.h"
#include "message.h"
#include "sidecar.h"
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Failing points whose reproducing command is printed; the rest is counted. */
enum { FAILURES_SHOWN = 10 };

/* The columns before `layer`, and among them that of `depth`, from 0. */
enum { KEY_COLUMNS = 16, DEPTH_COLUMN = 8 };

/* text [size]: the file, with a NUL behind. */
typedef struct {
    const char *path;
    char *text;
    size_t size;
    json_t *sidecar;
    size_t index;
} ShardFile;

/* The rows of a point of the grid, in a shard's text; fact: what the shard's sidecar says of it. */
typedef struct {
    const char *rows;
    size_t length;
    json_t *fact;
} MergedPoint;

typedef struct {
    ShardFile *files;
    size_t file_count;
    MergedPoint *points;
    size_t point_count, shards;
    const char *header;
    size_t header_length;
    bool mixed; /* machines differ */
} Merge;

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
        complain_of(file->path, NULL, NULL, "cannot be read: %s", strerror(errno));
        if (stream != NULL) {
            (void)fclose(stream); /* nothing was read */
        }
        return 2;
    }
    file->size = (size_t)found.st_size;
    file->text = malloc(file->size + 1);
    bool read = file->text != NULL && fread(file->text, 1, file->size, stream) == file->size;
    (void)fclose(stream); /* it was only read */
    if (file->text == NULL) {
        return memory_fault();
    }
    file->text[file->size] = '\0';
    if (!read) {
        complain_of(file->path, NULL, NULL, "cannot be read");
    }
    return read ? 0 : 2;
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
    free(name);
    if (!json_is_true(json_object_get(file->sidecar, "complete")) ||
        !json_is_array(json_object_get(file->sidecar, "points"))) {
        complain_of(file->path, NULL, NULL, "no .json of a complete sweep is beside it");
        return 2;
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
    size_t missing = 0;
    for (size_t i = 0; i < merge->file_count; i++) {
        const ShardFile *file = &merge->files[i], *twin = find_shard(merge, file->index, i);
        if (twin != NULL) {
            complain_of(file->path, NULL, NULL, "shard %zu/%zu twice, also %s", file->index,
                        merge->shards, twin->path);
            return 2;
        }
    }
    for (size_t index = 1; index <= merge->shards; index++) {
        if (find_shard(merge, index, merge->file_count) == NULL) {
            fprintf(stderr, "%s %zu/%zu", missing++ == 0 ? "headproof: missing: shard" : ",", index,
                    merge->shards);
        }
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
                        merge->files[i].path, *key, mine, merge->files[0].path,
                        sidecar_get(first, *key));
                merge->mixed = true;
                break;
            }
        }
    }
}

/* A column of a line, from 0; no key holds a comma.  NULL: there are not that many. */
static const char *column(const char *line, size_t wanted)
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

/* The length of the point's rows at text: layers 1 to depth; 0: they are not there. */
static size_t point_length(const char *text)
{
    const char *line = text, *depth_text = column(text, DEPTH_COLUMN);
    size_t depth = depth_text == NULL ? 0 : strtoul(depth_text, NULL, 10);
    for (size_t layer = 1; layer <= depth; layer++) {
        const char *cell = column(line, KEY_COLUMNS), *newline = strchr(line, '\n');
        if (cell == NULL || newline == NULL || strtoul(cell, NULL, 10) != layer) {
            return 0;
        }
        line = newline + 1;
    }
    return (size_t)(line - text);
}

static int refuse_rows(const ShardFile *file)
{
    complain_of(file->path, NULL, NULL, "its rows are not those that its .json names");
    return 2;
}

/* Puts a shard's points where they belong in the grid. */
static int take_points(Merge *merge, const ShardFile *file)
{
    json_t *facts = json_object_get(file->sidecar, "points"), *fact;
    const char *next = file->text + merge->header_length, *end = file->text + file->size;
    size_t i;
    if (file->size < merge->header_length ||
        memcmp(file->text, merge->header, merge->header_length) != 0) {
        return refuse_rows(file);
    }
    json_array_foreach(facts, i, fact)
    {
        json_int_t number = merge->shards > 1 ? json_integer_value(json_object_get(fact, "index"))
                                              : (json_int_t)i + 1;
        size_t length = point_length(next);
        if (length == 0 || number < 1 || number > (json_int_t)merge->point_count ||
            merge->points[number - 1].rows != NULL) {
            return refuse_rows(file);
        }
        merge->points[number - 1] = (MergedPoint){next, length, fact};
        next += length;
    }
    return next == end ? 0 : refuse_rows(file);
}

/* All points are there, and their keys are the grid's. */
static int check_grid(const Merge *merge)
{
    uint64_t digest = DIGEST_START;
    char text[DIGEST_TEXT];
    for (size_t i = 0; i < merge->point_count; i++) {
        const char *rows = merge->points[i].rows;
        if (rows == NULL) {
            return refuse_rows(&merge->files[0]);
        }
        digest = digest_bytes(digest, rows, (size_t)(column(rows, KEY_COLUMNS) - rows) - 1);
        digest = digest_bytes(digest, "\n", 1);
    }
    digest_print(text, digest);
    const json_t *grid = json_object_get(merge->files[0].sidecar, "grid");
    return strcmp(text, sidecar_get(grid, "digest")) == 0 ? 0 : refuse_rows(&merge->files[0]);
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
        }
        if (status == 0) {
            status = check_same(merge, &merge->files[i]);
        }
    }
    return status != 0 ? status : check_all_there(merge);
}

/* points [point_count + 1], cleared: the merge's from here on. */
static int gather_points(Merge *merge, MergedPoint *points)
{
    int status = points == NULL ? memory_fault() : 0;
    merge->points = points;
    for (size_t i = 0; i < merge->file_count && status == 0; i++) {
        status = take_points(merge, &merge->files[i]);
    }
    return status != 0 ? status : check_grid(merge);
}

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
    for (size_t i = 0; i < merge->point_count && ok; i++) {
        const MergedPoint *point = &merge->points[i];
        ok = fwrite(point->rows, 1, point->length, file) == point->length;
    }
    return ok ? 0 : -1;
}

static int write_sidecar(const Merge *merge, FILE *file, int argc, char **argv)
{
    json_t *object = merged_sidecar(merge, argc, argv);
    int status = -1;
    if (object != NULL) {
        status = json_dumpf(object, file, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
        status = status == 0 && putc('\n', file) != EOF ? 0 : -1;
    }
    json_decref(object);
    return status;
}

static int write_files(const Merge *merge, const char *path, int argc, char **argv)
{
    AtomicFile rows = {0}, sidecar = {0};
    int status = atomic_file_open(&rows, path);
    bool direct = status == 0 && atomic_file_is_direct(&rows);
    if (status == 0 && !direct) {
        status = atomic_file_open_beside(&sidecar, &rows, ".json", path);
    }
    if (status == 0) {
        bool ok = write_rows(merge, rows.file) == 0 && atomic_file_sync(&rows) == 0;
        ok = ok && (direct || (write_sidecar(merge, sidecar.file, argc, argv) == 0 &&
                               atomic_file_sync(&sidecar) == 0));
        ok = ok && atomic_file_publish(&rows) == 0 && atomic_file_publish(&sidecar) == 0;
        ok = ok && atomic_file_close(&rows) == 0 && atomic_file_close(&sidecar) == 0;
        status = ok ? 0 : atomic_file_failed(path);
    }
    atomic_file_clear(&rows);
    atomic_file_clear(&sidecar);
    return status;
}

/* The verdict is one run's. */
static int conclude(const Merge *merge, const char *path)
{
    size_t failures = 0;
    for (size_t i = 0; i < merge->point_count; i++) {
        const json_t *fact = merge->points[i].fact;
        if (!json_is_true(json_object_get(fact, "passed")) && ++failures <= FAILURES_SHOWN) {
            fprintf(stderr, "headproof: fails; reproduce: %s\n", sidecar_get(fact, "command"));
        }
    }
    if (failures > FAILURES_SHOWN) {
        fprintf(stderr, "headproof: and %zu more points fail\n", failures - FAILURES_SHOWN);
    }
    printf("%zu points of %zu shards in %s\n", merge->point_count, merge->shards, path);
    return failures > 0 ? 1 : 0;
}

/* -o FILE or --output FILE or --output=FILE once; the rest are shards. */
static int read_arguments(Merge *merge, const char **output, int argc, char **argv)
{
    bool ok = true;
    for (int i = 2; i < argc && ok; i++) {
        const char *value = NULL;
        if (strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0) {
            value = ++i < argc ? argv[i] : "";
        } else if (strncmp(argv[i], "--output=", 9) == 0) {
            value = argv[i] + 9;
        } else if (argv[i][0] == '-') {
            complain((Origin){0}, argv[i], "expected SHARD.csv... -o FILE.csv");
            return 2;
        } else {
            merge->files[merge->file_count++].path = argv[i];
        }
        ok = value == NULL || (*output == NULL && *value != '\0');
        *output = value != NULL ? value : *output;
    }
    if (!ok || *output == NULL || merge->file_count == 0) {
        complain((Origin){0}, "merge", "expected SHARD.csv... -o FILE.csv");
        return 2;
    }
    return 0;
}

static void clear(Merge *merge)
{
    for (size_t i = 0; merge->files != NULL && i < merge->file_count; i++) {
        free(merge->files[i].text);
        json_decref(merge->files[i].sidecar);
    }
    free(merge->files);
    free(merge->points);
}

int command_merge(int argc, char **argv)
{
    Merge merge = {0};
    const char *output = NULL;
    merge.files = calloc((size_t)argc + 1, sizeof *merge.files);
    if (merge.files == NULL) {
        return memory_fault();
    }
    int status = read_arguments(&merge, &output, argc, argv);
    if (status == 0) {
        status = gather_shards(&merge);
    }
    if (status == 0) {
        status = gather_points(&merge, calloc(merge.point_count + 1, sizeof *merge.points));
    }
    if (status == 0) {
        compare_machines(&merge);
        status = write_files(&merge, output, argc, argv);
    }
    if (status == 0) {
        status = conclude(&merge, output);
    }
    clear(&merge);
    return status;
}
