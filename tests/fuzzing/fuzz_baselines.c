/*
 * Baselines, and the sidecars beside them.
 *
 * Input: parts baseline.csv and baseline.csv.json; a part that is not there is as it was saved.
 * The sidecar gets the digest of the changed baseline, but where there is a part `unsealed`.
 * `check` refuses them in one line, fails, or passes, and then a second judge, which knows rows and
 * columns by their names alone, finds nothing either.  The baseline stays as it is.
 */
#include "fuzz_tables.h"

#include "../../harness/commands/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASELINE "baseline.csv"
#define SIDECAR "baseline.csv.json"

/* Errors of the small sweep that no rule weighs: below 4u of what it computes. */
#define FLOOR 1e-13L
#define FACTOR 4
#define AGREE 1e-11L

static const char *const part_names[] = {BASELINE, SIDECAR, "unsealed", NULL};

static bool begins(const char *text, const char *const *prefixes)
{
    while (*prefixes != NULL && strncmp(text, *prefixes, strlen(*prefixes)) != 0) {
        prefixes++;
    }
    return *prefixes != NULL;
}

/* A cell that let a check pass, against the one that was obtained. */
static bool is_fair(const char *column, const char *obtained, const char *baseline)
{
    static const char *const machine[] = {"rounding_", "native_", "total_", "observed_", NULL};
    static const char *const exact[] = {"approximation_", "construction_", "bias_row_",
                                        "hidden_",        "score_",        NULL};
    char *end;
    long double o = strtold(obtained, NULL), b = strtold(baseline, &end);
    bool number = end != baseline && *end == '\0' && isfinite(b);
    if (!begins(column, machine) && !begins(column, exact)) {
        return true;
    }
    if (begins(column, machine) && strstr(column, "_log10") != NULL) { /* blank: of an error of 0 */
        o = *obtained == '\0' ? 0 : powl(10, o);
        b = *baseline == '\0' ? 0 : powl(10, b);
        return (*baseline == '\0' || number) &&
               (o <= FLOOR || o <= FACTOR * b * 1.000001L || strncmp(column, "observed_", 9) == 0);
    }
    if ((*obtained == '\0') != (*baseline == '\0') || (*baseline != '\0' && !number)) {
        return false;
    }
    if (begins(column, exact)) {
        return fabsl(o - b) <= AGREE * fabsl(o);
    }
    return b >= 0 && (o <= FLOOR || strstr(column, "_ulp") != NULL || o <= FACTOR * b * 1.000001L ||
                      strncmp(column, "observed_", 9) == 0);
}

static const char *expect_fair_row(Fuzz *fuzz, const FuzzLines *obtained, size_t row,
                                   const FuzzLines *baseline, size_t other)
{
    char column[64], mine[64], theirs[64];
    const char *name = obtained->line[0], *end = name + obtained->length[0], *cell;
    while (name < end) {
        size_t length = strcspn(name, ",\n");
        snprintf(column, sizeof column, "%.*s", (int)length, name);
        size_t size = fuzz_cell(&cell, obtained, row, column);
        snprintf(mine, sizeof mine, "%.*s", (int)size, cell == NULL ? "" : cell);
        size = fuzz_cell(&cell, baseline, other, column);
        if (cell != NULL) {
            snprintf(theirs, sizeof theirs, "%.*s", (int)size, cell);
            if (!is_fair(column, mine, theirs)) {
                return fuzz_broken(fuzz, "PASS, and %s is %s against the baseline's %s", column,
                                   mine, theirs);
            }
        }
        name += length + 1;
    }
    return NULL;
}

/* The row of the baseline that has these key columns; 0: none, or two. */
static size_t find_row(const FuzzLines *obtained, size_t row, const FuzzLines *baseline)
{
    static const char *const keys[] = {"construction", "n", "d", "depth", "omega", "layer", NULL};
    size_t found = 0;
    for (size_t i = 1; i < baseline->count; i++) {
        bool same = true;
        for (const char *const *key = keys; *key != NULL; key++) {
            const char *mine, *theirs;
            size_t length = fuzz_cell(&mine, obtained, row, *key);
            same = same && fuzz_cell(&theirs, baseline, i, *key) == length &&
                   (length == 0 || memcmp(mine, theirs, length) == 0);
        }
        if (same && found > 0) {
            return 0;
        }
        found = same ? i : found;
    }
    return found;
}

static const char *expect_fair(Fuzz *fuzz, const FuzzText *text)
{
    FuzzLines obtained, baseline;
    fuzz_cut_lines(&obtained, &fuzz->rows);
    fuzz_cut_lines(&baseline, text);
    if (obtained.count != baseline.count || !baseline.whole) {
        return fuzz_broken(fuzz, "PASS against %zu lines, of %zu", baseline.count, obtained.count);
    }
    for (size_t row = 1; row < obtained.count; row++) {
        size_t other = find_row(&obtained, row, &baseline);
        const char *why = other == 0 ? fuzz_broken(fuzz, "PASS without a row like row %zu", row)
                                     : expect_fair_row(fuzz, &obtained, row, &baseline, other);
        if (why != NULL) {
            return why;
        }
    }
    return NULL;
}

static int check(Fuzz *fuzz)
{
    static const char *const more[] = {"--baseline", BASELINE, NULL};
    const char *argv[FUZZ_ARGUMENTS];
    Grid grid;
    RunOptions run;
    int argc = fuzz_join(argv, fuzz_small_sweep, more) - 4;
    /* Without -o rows.csv, which is check's own affair. */
    memmove(argv + argc, argv + argc + 2, 3 * sizeof *argv);
    fuzz_listen(fuzz);
    fuzz_grid(&grid, &run, COMMAND_CHECK, argv);
    int status = command_check(&grid, &run);
    grid_clear(&grid);
    fuzz_hear(fuzz);
    return status;
}

static void write_baseline(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    FuzzParts parts = {.next = (const char *)bytes, .end = (const char *)bytes + size};
    bool sealed = true;
    fuzz_write(BASELINE, fuzz->rows.bytes, fuzz->rows.size);
    fuzz_write(SIDECAR, fuzz->sidecar.bytes, fuzz->sidecar.size);
    while (fuzz_next_part(&parts, part_names)) {
        if (parts.name == part_names[2]) {
            sealed = false;
        } else if (parts.name != NULL) {
            fuzz_write(parts.name, parts.text, parts.size);
        }
    }
    if (sealed) {
        fuzz_seal(BASELINE, SIDECAR, &fuzz->rows);
    }
}

static const char *run(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    static const char *const left[] = {BASELINE, SIDECAR, BASELINE ".obtained",
                                       BASELINE ".obtained.json", NULL};
    write_baseline(fuzz, bytes, size);
    FuzzText before = fuzz_read(BASELINE), sidecar = fuzz_read(SIDECAR);
    int status = check(fuzz);
    FuzzText after = fuzz_read(BASELINE);
    const char *why = status == 0   ? expect_fair(fuzz, &before)
                      : status == 1 ? NULL
                      : status == 2 ? fuzz_expect_refusal(fuzz, "baseline.csv")
                                    : fuzz_broken(fuzz, "status %d: %s", status, fuzz->said);
    if (why == NULL && !fuzz_same(&before, &after)) {
        why = fuzz_broken(fuzz, "the baseline was changed");
    }
    if (why == NULL && status != 2 && !fuzz_sealed(&before, &sidecar)) {
        why = fuzz_broken(fuzz, "status %d, and its sidecar was written with other bytes", status);
    }
    why = why != NULL ? why : fuzz_expect_files(fuzz, left);
    for (size_t i = 0; left[i] != NULL; i++) {
        fuzz_remove(left[i]);
    }
    free(before.bytes);
    free(sidecar.bytes);
    free(after.bytes);
    return why;
}

const FuzzSubject fuzz_baselines = {.name = "baselines", .run = run, .places = true};
