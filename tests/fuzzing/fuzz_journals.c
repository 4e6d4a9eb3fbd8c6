/*
 * Files that interrupted and complete runs leave, and the runs that go on with them.
 *
 * Input of `journals`: parts rows.csv.partial, rows.csv.json.partial, rows.csv and rows.csv.json,
 * which are not there where there is none, and a part `anew`: without --resume.  The sidecar of a
 * changed table gets its digest, but where there is a part `unsealed`; that of an interrupted one
 * the seals of the undisturbed points.  Input of `sidecars`: rows.csv.json, beside a complete
 * table.
 *
 * The run is the small sweep.  It is refused in one line, and then every file is as it was; or its
 * table has the header and the rows of an uninterrupted run, but for rows that were there with
 * their digest, which stay as they were, up to the first that it evaluated.
 */
#include "fuzz_tables.h"

#include "../../harness/base/info.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 4 };

static const char *const names[] = {"rows.csv.partial",
                                    "rows.csv.json.partial",
                                    "rows.csv",
                                    "rows.csv.json",
                                    "anew",
                                    "unsealed",
                                    NULL};

/* text: of a file that was there. */
static const char *expect_survivors(Fuzz *fuzz, const FuzzText given[FILES], bool resume)
{
    FuzzLines truth, now, before[2];
    FuzzText rows = fuzz_read("rows.csv");
    const char *why = NULL;
    fuzz_cut_lines(&truth, &fuzz->rows);
    fuzz_cut_lines(&now, &rows);
    fuzz_cut_lines(&before[0], &given[0]);
    fuzz_cut_lines(&before[1], &given[2]);
    if (now.count != truth.count || !now.whole || !fuzz_same_line(&now, 0, &truth, 0)) {
        why = fuzz_broken(fuzz, "%zu lines of %zu, or another header", now.count, truth.count);
    }
    bool kept[2] = {resume && fuzz_sealed(&given[0], &given[1]), resume};
    for (size_t i = 1; i < now.count && why == NULL; i++) {
        for (size_t f = 0; f < 2; f++) {
            kept[f] = kept[f] && fuzz_same_line(&now, i, &before[f], i);
        }
        if (!kept[0] && !kept[1] && !fuzz_same_line(&now, i, &truth, i)) {
            why = fuzz_broken(fuzz, "line %zu is neither evaluated nor what was there", i + 1);
        }
    }
    /* A complete table that was taken for the run's. */
    bool taken = resume && given[0].bytes == NULL && fuzz_same(&rows, &given[2]);
    if (why == NULL && taken && !fuzz_same(&rows, &fuzz->rows) &&
        !(fuzz_sealed(&rows, &given[1]) && fuzz_sealed(&rows, &given[3]))) {
        why = fuzz_broken(fuzz, "taken up, and its sidecar was written with other bytes");
    }
    free(rows.bytes);
    return why;
}

/* A run that was stopped between its two renames may have had its second one. */
static bool is_renamed(const FuzzText given[FILES], const FuzzText now[FILES])
{
    return given[1].bytes != NULL && now[1].bytes == NULL && fuzz_same(&given[1], &now[3]);
}

static const char *expect_untouched(Fuzz *fuzz, const FuzzText given[FILES])
{
    FuzzText now[FILES];
    const char *why = NULL;
    for (size_t i = 0; i < FILES; i++) {
        now[i] = fuzz_read(names[i]);
    }
    bool renamed = is_renamed(given, now);
    for (size_t i = 0; i < FILES; i++) {
        bool empty = i == 0 && given[i].size == 0 && now[i].size == 0;
        if (why == NULL && !(renamed && i % 2 == 1) && !empty && !fuzz_same(&now[i], &given[i])) {
            why = fuzz_broken(fuzz, "refused, and %s is not as it was", names[i]);
        }
        free(now[i].bytes);
    }
    return why;
}

/* Nothing of its own is left; what is of another run stays as it is. */
static const char *expect_no_partial(Fuzz *fuzz, const FuzzText given[FILES])
{
    const char *why = NULL;
    for (size_t i = 0; i < 2 && why == NULL; i++) {
        FuzzText now = fuzz_read(names[i]);
        if (now.bytes != NULL && !fuzz_same(&now, &given[i])) {
            why = fuzz_broken(fuzz, "it ended, and left a %s of its own", names[i]);
        }
        free(now.bytes);
    }
    return why;
}

/* With what was given in the files; *refused: the run was. */
static const char *run_sweep(Fuzz *fuzz, const FuzzText given[FILES], bool resume, bool *refused)
{
    static const char *const more[] = {"--resume", NULL};
    static const char *const left[] = {"rows.csv.partial", "rows.csv.json.partial", "rows.csv",
                                       "rows.csv.json", NULL};
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
    bool resume = true, sealed = true, refused;
    while (fuzz_next_part(&parts, names)) {
        if (parts.name == names[FILES]) {
            resume = false;
        } else if (parts.name == names[FILES + 1]) {
            sealed = false;
        } else if (parts.name != NULL) {
            fuzz_write(parts.name, parts.text, parts.size);
        }
    }
    for (size_t i = 1; sealed && i < FILES; i += 2) {
        fuzz_seal(names[2], names[i], &fuzz->rows);
    }
    if (sealed) {
        fuzz_seal_points(names[1], &fuzz->rows);
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
