/*
 * Files that interrupted and complete runs leave, and the runs that go on with them.
 *
 * Input of `journals`: parts rows.csv.json.partial, the sidecar of an interrupted run, and
 * rows.csv.partial, its rows, which become its journal (where there is a part `unsealed`, the
 * latter as it is); rows.csv and rows.csv.json, whose sidecar gets the digest of a changed table,
 * but for that part; and a part `anew`: without --resume.  Input of `sidecars`: rows.csv.json,
 * beside a complete table.
 *
 * The run is the small sweep.  It is refused in one line, and then every file is as it was; or its
 * table has the header and the rows of an uninterrupted run, but for rows that were there with
 * their digest, which stay as they were.
 */
#include "fuzz_tables.h"

#include "../../harness/base/info.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 3 };

static const char *const names[] = {
    "rows.csv.partial", "rows.csv", "rows.csv.json", "rows.csv.json.partial", "anew",
    "unsealed",         NULL};

/* Is the line one of those that were there? */
static bool was_there(const FuzzLines *now, size_t i, const FuzzLines *before)
{
    bool there = false;
    for (size_t j = 0; j < before->count; j++) {
        there = there || fuzz_same_line(now, i, before, j);
    }
    return there;
}

static const char *expect_survivors(Fuzz *fuzz, const FuzzText given[FILES], bool resume)
{
    FuzzLines truth, now, before[2];
    FuzzText rows = fuzz_read("rows.csv");
    const char *why = NULL;
    fuzz_cut_lines(&truth, &fuzz->rows);
    fuzz_cut_lines(&now, &rows);
    fuzz_cut_lines(&before[0], &given[0]);
    fuzz_cut_lines(&before[1], &given[1]);
    if (now.count != truth.count || !now.whole || !fuzz_same_line(&now, 0, &truth, 0)) {
        why = fuzz_broken(fuzz, "%zu lines of %zu, or another header", now.count, truth.count);
    }
    for (size_t i = 1; i < now.count && why == NULL; i++) {
        bool kept = resume && (was_there(&now, i, &before[0]) || was_there(&now, i, &before[1]));
        if (!kept && !fuzz_same_line(&now, i, &truth, i)) {
            why = fuzz_broken(fuzz, "line %zu is neither evaluated nor what was there", i + 1);
        }
    }
    /* A complete table that was taken for the run's. */
    bool taken = resume && given[0].bytes == NULL && fuzz_same(&rows, &given[1]);
    if (why == NULL && taken && !fuzz_same(&rows, &fuzz->rows) && !fuzz_sealed(&rows, &given[2])) {
        why = fuzz_broken(fuzz, "taken up, and its sidecar was written with other bytes");
    }
    free(rows.bytes);
    return why;
}

static const char *expect_untouched(Fuzz *fuzz, const FuzzText given[FILES])
{
    const char *why = NULL;
    for (size_t i = 0; i < FILES; i++) {
        FuzzText now = fuzz_read(names[i]);
        if (why == NULL && !fuzz_same(&now, &given[i])) {
            why = fuzz_broken(fuzz, "refused, and %s is not as it was", names[i]);
        }
        free(now.bytes);
    }
    return why;
}

/* Nothing of its own is left; what is of another run stays as it is. */
static const char *expect_no_partial(Fuzz *fuzz, const FuzzText given[FILES])
{
    FuzzText now = fuzz_read(names[0]);
    bool left = now.bytes != NULL && !fuzz_same(&now, &given[0]);
    free(now.bytes);
    return left ? fuzz_broken(fuzz, "it ended, and left a %s of its own", names[0]) : NULL;
}

/* With what was given in the files; *refused: the run was. */
static const char *run_sweep(Fuzz *fuzz, const FuzzText given[FILES], bool resume, bool *refused)
{
    static const char *const more[] = {"--resume", NULL};
    static const char *const left[] = {"rows.csv.partial", "rows.csv", "rows.csv.json", NULL};
    const char *argv[FUZZ_ARGUMENTS];
    fuzz_join(argv, fuzz_small_sweep, resume ? more : more + 1);
    int status = fuzz_sweep(fuzz, argv);
    const char *why;
    *refused = status == 2;
    if (status == 2) {
        why = fuzz_expect_refusal(fuzz, "rows.csv");
        why = why != NULL ? why : expect_untouched(fuzz, given);
    } else {
        why = status == 0 || status == 1 ? expect_survivors(fuzz, given, resume)
                                         : fuzz_broken(fuzz, "status %d: %s", status, fuzz->said);
        why = why != NULL ? why : expect_no_partial(fuzz, given);
    }
    return why != NULL ? why : fuzz_expect_files(fuzz, left);
}

static const char *run_files(Fuzz *fuzz, bool resume, bool *refused)
{
    FuzzText given[FILES];
    for (size_t i = 0; i < FILES; i++) {
        given[i] = fuzz_read(names[i]);
    }
    const char *why = run_sweep(fuzz, given, resume, refused);
    for (size_t i = 0; i < FILES; i++) {
        free(given[i].bytes);
        fuzz_remove(names[i]);
    }
    return why;
}

static const char *run_journal(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    FuzzParts parts = {.next = (const char *)bytes, .end = (const char *)bytes + size};
    FuzzText rows = {0}, first = {0};
    bool resume = true, sealed = true, refused;
    while (fuzz_next_part(&parts, names)) {
        const FuzzText text = {(char *)(uintptr_t)parts.text, parts.size};
        resume = resume && parts.name != names[FILES + 1];
        sealed = sealed && parts.name != names[FILES + 2];
        rows = parts.name == names[0] ? text : rows;
        first = parts.name == names[FILES] ? text : first;
        if (parts.name == names[1] || parts.name == names[2]) {
            fuzz_write(parts.name, parts.text, parts.size);
        }
    }
    if (sealed) {
        fuzz_seal(names[1], names[2], &fuzz->rows);
    }
    if (sealed && (first.size > 0 || rows.size > 0)) {
        fuzz_write_journal(names[0], &first, &rows);
    } else if (rows.size > 0) {
        fuzz_write(names[0], rows.bytes, rows.size);
    }
    return run_files(fuzz, resume, &refused);
}

/* A sidecar that is believed says what this build and machine say, and that it is complete. */
static const char *expect_own(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    static const char *const decisive[] = {"version", "commit", "cpu", "openblas_core", NULL};
    Fact facts[FACTS_MOST];
    size_t count = facts_read(facts);
    json_t *sidecar = json_loadb((const char *)bytes, size, 0, NULL);
    const char *why = sidecar == NULL ? fuzz_broken(fuzz, "believed, and it is no JSON") : NULL;
    for (size_t i = 0; i < count && why == NULL; i++) {
        for (const char *const *name = decisive; *name != NULL; name++) {
            const char *text = json_string_value(json_object_get(sidecar, *name));
            if (strcmp(facts[i].name, *name) == 0 &&
                (text == NULL || strcmp(text, facts[i].text) != 0)) {
                why = fuzz_broken(fuzz, "believed, and its %s is %s", *name,
                                  text != NULL ? text : "not there");
            }
        }
    }
    json_decref(sidecar);
    return why;
}

static const char *run_sidecar(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    fuzz_write("rows.csv", fuzz->rows.bytes, fuzz->rows.size);
    fuzz_write("rows.csv.json", bytes, size);
    bool refused;
    const char *why = run_files(fuzz, true, &refused);
    return why == NULL && !refused ? expect_own(fuzz, bytes, size) : why;
}

const FuzzSubject fuzz_journals = {.name = "journals", .run = run_journal, .places = true};
const FuzzSubject fuzz_sidecars = {.name = "sidecars", .run = run_sidecar, .places = true};
