/*
 * The sidecar: how a results file came about, as JSON.
 */
#include "sidecar.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/shown.h"
#include "../base/text_stream.h"
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PROGRAM_FACTS = 2 };
const char *const sidecar_decisive[] = {
    "version",         "commit",       "cpu",         "openblas_core",
    "openblas_config", "mpfr_runtime", "gmp_runtime", NULL};

static int digest_file(uint64_t *digest, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), status = 0;
    if (fd < 0 || digest_descriptor(digest, fd) != 0) {
        status = file_fault(errno);
        complain_of(path, NULL, NULL, "cannot be read: %s", strerror(errno));
    }
    (void)(fd >= 0 && close(fd)); /* it was only read */
    return status;
}

uint64_t identity_end(uint64_t points, bool propagation)
{
    static const char columns[] = "propagation\n";
    return propagation ? digest_bytes(points, columns, strlen(columns)) : points;
}

/* 0; 2 or 99 after one message when a file cannot be read. */
static int identify(GridIdentity *identity, const Grid *grid)
{
    uint64_t points = DIGEST_START, weights = DIGEST_START;
    int status = 0;
    for (size_t i = 0; i < grid->count; i++) {
        char *key = table_key(&grid->points[i]);
        points = digest_bytes(points, key, strlen(key));
        points = digest_bytes(points, "\n", 1);
        free(key);
    }
    bool propagation = grid->count > 0 && grid->points[0].propagation;
    digest_print(identity->points, identity_end(points, propagation));
    identity->weights[0] = '\0';
    for (size_t i = 0; i < grid->sources.count && status == 0; i++) {
        const ModelFile *file = grid->sources.items[i]->file;
        for (size_t p = 0; p < file->path_count && status == 0; p++) {
            status = digest_file(&weights, file->paths[p]);
        }
        digest_print(identity->weights, weights);
    }
    return status;
}

int sweep_record_open(SweepRecord *record, const Grid *grid, const RunOptions *run)
{
    size_t room = grid->count + 1;
    *record = (SweepRecord){.points = need_zeros(room, sizeof *record->points),
                            .passed = need_zeros(room, sizeof *record->passed),
                            .seconds = need_zeros(room, sizeof *record->seconds),
                            .count = grid->count,
                            .shard = run->shards > 0 ? run->shard : 1,
                            .shards = run->shards > 0 ? run->shards : 1};
    for (size_t i = 0; i < grid->count; i++) {
        record->points[i] = i;
        record->seconds[i] = -1;
    }
    return identify(&record->identity, grid);
}

void sweep_record_clear(SweepRecord *record)
{
    free(record->points);
    free(record->passed);
    free(record->seconds);
    json_decref(record->ranks);
    *record = (SweepRecord){0};
}

json_t *sidecar_text(const char *text)
{
    char *clean = shown_copy(SHOWN_JSON, text);
    json_t *value = json_string(clean);
    free(clean);
    return value;
}

json_t *sidecar_date(void)
{
    char text[32] = "unknown";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL) {
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    return json_string(text);
}

json_t *sidecar_arguments(int argc, char **argv)
{
    json_t *list = json_array();
    for (int i = 0; i < argc; i++) {
        json_array_append_new(list, sidecar_text(argv[i]));
    }
    return list;
}

static json_t *point_value(const RunRecord *run, size_t index)
{
    const SweepRecord *sweep = run->sweep;
    bool shard = sweep != NULL && sweep->shards > 1;
    double seconds = run->seconds != NULL ? run->seconds[index] : -1;
    char *command;
    size_t size;
    FILE *stream = text_stream(&command, &size);
    point_print_command(stream, &run->grid->points[index]);
    json_t *point = json_pack("{s:o*, s:o, s:o, s:o*, s:o*}", "index",
                              shard ? json_integer((json_int_t)index + 1) : NULL, "section",
                              sidecar_text(run->grid->section[index]), "command",
                              sidecar_text(text_close(stream, &command)), "seconds",
                              seconds >= 0 ? json_real(seconds) : NULL, "passed",
                              sweep != NULL ? json_boolean(sweep->passed[index]) : NULL);
    free(command);
    return point;
}

static json_t *points_value(const RunRecord *run)
{
    const SweepRecord *sweep = run->sweep;
    size_t count = sweep != NULL ? sweep->count : run->grid->count;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, point_value(run, sweep != NULL ? sweep->points[i] : i));
    }
    return list;
}

static int grid_digits(const Grid *grid)
{
    return grid->count > 0 ? point_digits(&grid->points[0]) : REF_DIGITS;
}

static void add_sweep(json_t *object, const RunRecord *run)
{
    const SweepRecord *sweep = run->sweep;
    json_object_set_new(object, "complete", json_boolean(sweep->complete));
    json_object_set_new(object, "digits", json_integer(grid_digits(run->grid)));
    json_object_set_new(object, "grid",
                        json_pack("{s:I, s:s, s:s}", "points", (json_int_t)run->grid->count,
                                  "digest", sweep->identity.points, "weights",
                                  sweep->identity.weights));
    json_object_set_new(object, "shard",
                        json_pack("{s:I, s:I}", "index", (json_int_t)sweep->shard, "count",
                                  (json_int_t)sweep->shards));
    json_object_set(object, "ranks", sweep->ranks); /* where there are some */
}

static void add_conditions(json_t *object, const Grid *grid)
{
    json_t *list = json_array();
    for (size_t i = 0; i < grid->sources.count; i++) {
        char *text = model_source_conditions(grid->sources.items[i]);
        json_array_append_new(list, sidecar_text(text));
        free(text);
    }
    json_object_set_new(object, "conditions", list);
}

json_t *sidecar_value(const RunRecord *run, const char *digest)
{
    json_t *facts = facts_read();
    if (facts == NULL) {
        return NULL;
    }
    json_t *object = json_object();
    json_object_set_new(object, "schema", json_integer(SIDECAR_SCHEMA));
    json_object_set_new(object, "argv", sidecar_arguments(run->argc, run->argv));
    json_object_set_new(object, "date", sidecar_date());
    json_object_update(object, facts);
    json_decref(facts);
    json_object_set_new(object, "digest", json_string(digest)); /* where there is one */
    if (run->sweep != NULL) {
        add_sweep(object, run);
    }
    if (run->grid != NULL && run->grid->sources.count > 0) {
        add_conditions(object, run->grid);
    }
    if (run->grid != NULL && (run->sweep == NULL || run->sweep->complete)) {
        json_object_set_new(object, "points", points_value(run));
    }
    return object;
}

/* With the digest of the table's bytes. */
static int write_sidecar(FILE *file, const RunRecord *run, uint64_t digest)
{
    char text[DIGEST_TEXT];
    digest_print(text, digest);
    json_t *object = run->made != NULL ? json_copy(run->made) : sidecar_value(run, text);
    json_object_set_new(object, "digest", json_string(text));
    bool written = object != NULL &&
                   json_dumpf(object, file, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0 &&
                   putc('\n', file) != EOF;
    json_decref(object);
    return written ? 0 : -1;
}

int sidecar_publish(AtomicFile *file, const RunRecord *run)
{
    uint64_t digest = DIGEST_START;
    if (file->sidecar != NULL && (atomic_file_flush(file->file) != 0 ||
                                  digest_descriptor(&digest, fileno(file->file)) != 0 ||
                                  write_sidecar(file->sidecar, run, digest) != 0)) {
        return -1;
    }
    return atomic_file_publish(file);
}

const char *sidecar_get(const json_t *sidecar, const char *key)
{
    const char *text = json_string_value(json_object_get(sidecar, key));
    return text != NULL ? text : "";
}

int sidecar_digits(const json_t *sidecar)
{
    json_int_t digits = json_integer_value(json_object_get(sidecar, "digits"));
    return digits >= 1 && digits <= REF_DIGITS_MOST ? (int)digits : REF_DIGITS_MOST;
}

void sidecar_weights(char text[DIGEST_TEXT], const json_t *sidecar)
{
    snprintf(text, DIGEST_TEXT, "%s", sidecar_get(json_object_get(sidecar, "grid"), "weights"));
}

bool sidecar_has_digest(const json_t *sidecar, uint64_t digest)
{
    char text[DIGEST_TEXT];
    digest_print(text, digest);
    return strcmp(sidecar_get(sidecar, "digest"), text) == 0;
}

bool sidecar_is_of(const json_t *sidecar, const char *bytes, size_t size)
{
    return sidecar_has_digest(sidecar, digest_bytes(DIGEST_START, bytes, size));
}

json_t *sidecar_load(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return NULL;
    }
    char mark[4] = "";
    if (fgets(mark, sizeof mark, file) == NULL || strcmp(mark, "\xEF\xBB\xBF") != 0) {
        rewind(file);
    }
    json_t *sidecar = json_loadf(file, 0, NULL);
    int reason = sidecar == NULL && ferror(file) ? EIO : 0;
    (void)fclose(file); /* it was only read */
    if (sidecar != NULL && !json_is_object(sidecar)) {
        json_decref(sidecar);
        sidecar = NULL;
    }
    errno = reason;
    return sidecar;
}

int sidecar_beside(json_t **sidecar, const char *table)
{
    char *name = atomic_file_name(table, ".json");
    *sidecar = sidecar_load(name);
    int reason = *sidecar == NULL ? errno : 0;
    free(name);
    if (file_fault(reason) == 99) {
        complain_of(table, NULL, NULL, "the .json beside it cannot be read: %s", strerror(reason));
        return 99;
    }
    return 0;
}

/* Of the decisive facts, those of the program, which are the first, or all. */
static bool facts_fit(char text[DIFFERENCE_TEXT], const json_t *sidecar, bool all)
{
    json_t *own = facts_read();
    bool same = own != NULL;
    *text = '\0';
    for (int k = 0; same && sidecar_decisive[k] != NULL && (all || k < PROGRAM_FACTS); k++) {
        const char *theirs = sidecar_get(sidecar, sidecar_decisive[k]);
        const char *mine = sidecar_get(own, sidecar_decisive[k]);
        same = strcmp(theirs, mine) == 0;
        if (!same) {
            snprintf(text, DIFFERENCE_TEXT, "%s %s, this is %s", sidecar_decisive[k],
                     *theirs != '\0' ? theirs : "unknown", mine);
        }
    }
    json_decref(own);
    return same;
}

bool sidecar_schema_fits(char text[DIFFERENCE_TEXT], const json_t *sidecar)
{
    json_int_t schema = json_integer_value(json_object_get(sidecar, "schema"));
    if (schema > 0) {
        snprintf(text, DIFFERENCE_TEXT, "schema %lld, this version reads schema %d",
                 (long long)schema, SIDECAR_SCHEMA);
    } else {
        snprintf(text, DIFFERENCE_TEXT, "no schema, this version reads schema %d", SIDECAR_SCHEMA);
    }
    return schema == SIDECAR_SCHEMA;
}

static bool sweep_fits(char text[DIFFERENCE_TEXT], const json_t *sidecar, const RunRecord *run)
{
    const SweepRecord *sweep = run->sweep;
    const json_t *grid = json_object_get(sidecar, "grid"),
                 *shard = json_object_get(sidecar, "shard");
    json_int_t points = json_integer_value(json_object_get(grid, "points"));
    json_int_t index = json_integer_value(json_object_get(shard, "index"));
    json_int_t count = json_integer_value(json_object_get(shard, "count"));
    if (!sidecar_schema_fits(text, sidecar)) {
        return false;
    }
    if (points != (json_int_t)run->grid->count) {
        snprintf(text, DIFFERENCE_TEXT, "a grid of %lld points, this one has %zu",
                 (long long)points, run->grid->count);
    } else if (strcmp(sidecar_get(grid, "digest"), sweep->identity.points) != 0) {
        snprintf(text, DIFFERENCE_TEXT, "other points (argv in the sidecar names them)");
    } else if (strcmp(sidecar_get(grid, "weights"), sweep->identity.weights) != 0) {
        snprintf(text, DIFFERENCE_TEXT, "other contents of the weights file");
    } else if (sidecar_digits(sidecar) != grid_digits(run->grid)) {
        snprintf(text, DIFFERENCE_TEXT, "%d digits, this is %d", sidecar_digits(sidecar),
                 grid_digits(run->grid));
    } else if (index != (json_int_t)sweep->shard || count != (json_int_t)sweep->shards) {
        snprintf(text, DIFFERENCE_TEXT, "shard %lld/%lld, this is %zu/%zu", (long long)index,
                 (long long)count, sweep->shard, sweep->shards);
    } else {
        return true;
    }
    return false;
}

bool sidecar_fits(char text[DIFFERENCE_TEXT], const json_t *sidecar, const RunRecord *run)
{
    return sweep_fits(text, sidecar, run) && facts_fit(text, sidecar, true);
}

bool sidecar_same_sweep(const json_t *sidecar, const RunRecord *run)
{
    char text[DIFFERENCE_TEXT];
    return sweep_fits(text, sidecar, run) && facts_fit(text, sidecar, false);
}
