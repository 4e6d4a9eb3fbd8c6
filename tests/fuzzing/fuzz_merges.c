/*
 * Shards, and merge.
 *
 * Input: parts s1.csv, s1.csv.json, s2.csv and s2.csv.json; one that is not there is as two shards
 * of the small sweep left it.  Parts s1.set and s2.set have lines NAME=JSON for the sidecars' keys.
 * These get the digests of changed shards, but where there is a part `unsealed`.
 * They are refused in one line, and nothing is written; or the file has the rows of both, each
 * once, and the verdict is that of its rows.  The shards stay as they are.
 */
#include "fuzz_tables.h"

#include "../../harness/commands/commands.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 4, LINE_TEXT = 1024 };

static const char *const names[] = {"s1.csv", "s1.csv.json", "s2.csv",   "s2.csv.json",
                                    "s1.set", "s2.set",      "unsealed", NULL};

typedef struct {
    FuzzText saved[FILES], given[FILES];
} Shards;

static void prepare(Fuzz *fuzz)
{
    Shards *shards = calloc(1, sizeof *shards);
    fuzz_need(shards != NULL, "calloc");
    for (size_t i = 0; i < FILES; i += 2) {
        const char *argv[FUZZ_ARGUMENTS];
        const char *const more[] = {"--shard", i == 0 ? "1/2" : "2/2", NULL};
        fuzz_join(argv, fuzz_small_sweep, more);
        for (size_t j = 0; argv[j] != NULL; j++) {
            argv[j] = strcmp(argv[j], "rows.csv") == 0 ? names[i] : argv[j];
        }
        fuzz_need(fuzz_sweep(fuzz, argv) == 0, "a shard");
        shards->saved[i] = fuzz_read(names[i]);
        shards->saved[i + 1] = fuzz_read(names[i + 1]);
    }
    fuzz->own = shards;
}

static void clear(Fuzz *fuzz)
{
    Shards *shards = fuzz->own;
    for (size_t i = 0; i < FILES; i++) {
        free(shards->saved[i].bytes);
    }
    free(shards);
}

/* Writes the sidecar with the keys that lines NAME=JSON have. */
static void write_edited(const char *name, const FuzzText *saved, const char *text, size_t size)
{
    json_t *object = json_loadb(saved->bytes, saved->size, 0, NULL);
    for (size_t length; size > 0; text += length, size -= length) {
        char line[LINE_TEXT];
        const char *newline = memchr(text, '\n', size);
        length = newline == NULL ? size : (size_t)(newline - text) + 1;
        if (length < sizeof line) {
            memcpy(line, text, length);
            line[newline == NULL ? length : length - 1] = '\0';
            char *value = strchr(line, '=');
            json_t *json = value == NULL ? NULL : json_loads(value + 1, JSON_DECODE_ANY, NULL);
            if (json != NULL) {
                *value = '\0';
                (void)json_object_set_new(object, line, json);
            }
        }
    }
    char *edited = json_dumps(object, JSON_INDENT(1));
    fuzz_need(edited != NULL, "json_dumps");
    fuzz_write(name, edited, strlen(edited));
    free(edited);
    json_decref(object);
}

static void write_shards(Shards *shards, const uint8_t *bytes, size_t size)
{
    FuzzParts parts = {.next = (const char *)bytes, .end = (const char *)bytes + size};
    bool sealed = true;
    for (size_t i = 0; i < FILES; i++) {
        fuzz_write(names[i], shards->saved[i].bytes, shards->saved[i].size);
    }
    while (fuzz_next_part(&parts, names)) {
        if (parts.name == names[6]) {
            sealed = false;
        } else if (parts.name != NULL && strstr(parts.name, ".set") != NULL) {
            size_t i = parts.name == names[4] ? 1 : 3;
            write_edited(names[i], &shards->saved[i], parts.text, parts.size);
        } else if (parts.name != NULL) {
            fuzz_write(parts.name, parts.text, parts.size);
        }
    }
    for (size_t i = 0; sealed && i < FILES; i += 2) {
        fuzz_seal(names[i], names[i + 1], &shards->saved[i]);
    }
    for (size_t i = 0; i < FILES; i++) {
        shards->given[i] = fuzz_read(names[i]);
    }
}

/* Each row of the shards is in the file once, and nothing else. */
static const char *expect_rows(Fuzz *fuzz, const FuzzLines *merged, const FuzzLines *shards)
{
    size_t rows = shards[0].count + shards[1].count - 2;
    bool used[2][LINES_MOST] = {{false}};
    if (merged->count != rows + 1 || !fuzz_same_line(merged, 0, &shards[0], 0)) {
        return fuzz_broken(fuzz, "merged: %zu lines of %zu, or another header", merged->count,
                           rows + 1);
    }
    for (size_t line = 1; line < merged->count; line++) {
        bool found = false;
        for (size_t s = 0; s < 2 && !found; s++) {
            for (size_t i = 1; i < shards[s].count && !found; i++) {
                found = !used[s][i] && fuzz_same_line(merged, line, &shards[s], i);
                used[s][i] = used[s][i] || found;
            }
        }
        if (!found) {
            return fuzz_broken(fuzz, "merged: line %zu is no shard's", line + 1);
        }
    }
    return NULL;
}

static const char *expect_merged(Fuzz *fuzz, const Shards *shards, int status)
{
    FuzzLines merged, lines[2];
    FuzzText out = fuzz_read("out.csv");
    fuzz_cut_lines(&merged, &out);
    fuzz_cut_lines(&lines[0], &shards->given[0]);
    fuzz_cut_lines(&lines[1], &shards->given[2]);
    const char *why = expect_rows(fuzz, &merged, lines);
    for (size_t i = 0; i < FILES && why == NULL; i += 2) {
        why = fuzz_sealed(&shards->given[i], &shards->given[i + 1])
                  ? NULL
                  : fuzz_broken(fuzz, "%s, whose sidecar was written with other bytes", names[i]);
    }
    for (size_t line = 1; why == NULL && status == 0 && line < merged.count; line++) {
        char text[32];
        fuzz_cell_text(text, &merged, line, "status");
        if (strcmp(text, "ok") != 0 && strcmp(text, "unresolved") != 0 &&
            strcmp(text, "vacuous") != 0) {
            why = fuzz_broken(fuzz, "exit 0, and line %zu has status %s", line + 1, text);
        }
    }
    free(out.bytes);
    return why;
}

static const char *expect_unchanged(Fuzz *fuzz, const Shards *shards)
{
    const char *why = NULL;
    for (size_t i = 0; i < FILES && why == NULL; i++) {
        FuzzText now = fuzz_read(names[i]);
        why = fuzz_same(&now, &shards->given[i]) ? NULL
                                                 : fuzz_broken(fuzz, "%s was changed", names[i]);
        free(now.bytes);
    }
    return why;
}

static const char *run(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    static const char *const left[] = {"s1.csv",  "s1.csv.json",  "s2.csv", "s2.csv.json",
                                       "out.csv", "out.csv.json", NULL};
    static const char *argv[] = {"headproof", "merge", "s1.csv", "s2.csv", "-o", "out.csv", NULL};
    const Grid grid = {.tables = (char **)(uintptr_t)(argv + 2), .table_count = 2};
    const RunOptions options = {.argc = 6, .argv = (char **)(uintptr_t)argv, .output = "out.csv"};
    Shards *shards = fuzz->own;
    write_shards(shards, bytes, size);
    fuzz_listen(fuzz);
    int status = command_merge(&grid, &options);
    fuzz_hear(fuzz);
    const char *why;
    if (status == 2) {
        bool missing = strstr(fuzz->said, "missing: shard") != NULL;
        why = fuzz_expect_refusal(fuzz, missing ? "missing: shard" : ".csv");
        if (why == NULL && file_exists("out.csv")) {
            why = fuzz_broken(fuzz, "refused, and out.csv is there");
        }
    } else {
        why = status == 0 || status == 1 ? expect_merged(fuzz, shards, status)
                                         : fuzz_broken(fuzz, "status %d: %s", status, fuzz->said);
    }
    why = why != NULL ? why : expect_unchanged(fuzz, shards);
    why = why != NULL ? why : fuzz_expect_files(fuzz, left);
    fuzz_remove("out.csv");
    fuzz_remove("out.csv.json");
    for (size_t i = 0; i < FILES; i++) {
        free(shards->given[i].bytes);
    }
    return why;
}

const FuzzSubject fuzz_merges = {
    .name = "merges", .prepare = prepare, .run = run, .clear = clear, .places = true};
