/*
 * Two equal tables of a small sweep, for rules that are tested by a violation planted in one.
 */
#include "check_fixture.h"

#include "fixture.h"
#include "program.h"

#include "../harness/commands/commands.h"
#include "../harness/table/sidecar.h"
#include "unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRID                                                                                       \
    "--construction", "silu,attention", "--n", "3", "--d", "2", "--depth", "2", "--mask",          \
        "causal", "--omega", "2,20,1e6", "--digits", "17"
#define GRID_TEXT                                                                                  \
    "--construction silu,attention --n 3 --d 2 --depth 2 --mask causal --omega 2,20,1e6 --digits " \
    "17"

int check_set_up_all(void **state)
{
    CheckFixture *f = fixture_make(sizeof *f);
    scratch_path(f->path, &f->scratch, "table.csv");
    expect_run(0, "sweep %s --quiet -o '%s'", GRID_TEXT, f->path);
    *state = f;
    return 0;
}

int check_set_up(void **state)
{
    static const char *const argv[] = {"check", GRID};
    CheckFixture *f = *state;
    assert_int_equal(grid_read(&f->grid, &f->run, commands_get(COMMAND_CHECK),
                               sizeof argv / sizeof *argv, (char **)(uintptr_t)argv),
                     0);
    f->check.grid = &f->grid;
    f->check.run = &f->run;
    assert_int_equal(csv_read(&f->check.obtained, f->path), 0);
    assert_int_equal(csv_read(&f->check.baseline, f->path), 0);
    assert_int_equal(f->check.obtained.rows, ROWS);
    f->check.has_baseline = true;
    return 0;
}

int check_tear_down(void **state)
{
    CheckFixture *f = *state;
    check_clear(&f->check);
    grid_clear(&f->grid);
    return 0;
}

void set_text(Csv *csv, size_t row, const char *column, const char *text)
{
    size_t found = csv_find(csv, column);
    assert_true(found < csv->columns && row < csv->rows);
    csv->cells[(row + 1) * csv->columns + found] = text;
}

const char *text_at(const Csv *csv, size_t row, const char *column)
{
    return csv_cell(csv, row, csv_find(csv, column));
}

double number_of(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    assert_true(end != text && *end == '\0');
    return value;
}

bool judge(CheckFixture *f)
{
    check_judge(&f->check);
    return check_passes(&f->check);
}

void expect_finding(CheckFixture *f, size_t row, const char *column, const char *reason)
{
    assert_false(judge(f));
    assert_int_equal(f->check.finding_count, 1);
    const Finding *finding = &f->check.findings[0];
    assert_string_equal(finding->reason, reason);
    assert_int_equal(finding->row, row);
    if (column != NULL) {
        assert_string_equal(finding->column, column);
    } else {
        assert_null(finding->column);
    }
}

void expect_cells(CheckFixture *f, size_t row, const char *column, const char *obtained,
                  const char *baseline, const char *reason)
{
    if (obtained != NULL) {
        set_text(&f->check.obtained, row, column, obtained);
    }
    if (baseline != NULL) {
        set_text(&f->check.baseline, row, column, baseline);
    }
    if (reason != NULL) {
        expect_finding(f, row, column, reason);
    } else {
        assert_true(judge(f));
    }
    again(f);
}

void seal_table(const char *path)
{
    char name[SCRATCH_PATH + 8], text[32];
    uint64_t digest = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int c = getc(file); c != EOF; c = getc(file)) {
        digest = (digest ^ (unsigned char)c) * UINT64_C(0x100000001B3);
    }
    assert_int_equal(fclose(file), 0);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)digest);
    snprintf(name, sizeof name, "%s.json", path);
    json_t *sidecar = json_load_file(name, 0, NULL);
    sidecar = sidecar != NULL ? sidecar
                              : json_pack("{s:i, s:b}", "schema", SIDECAR_SCHEMA, "complete", 1);
    assert_int_equal(json_object_set_new(sidecar, "digest", json_string(text)), 0);
    assert_int_equal(json_dump_file(sidecar, name, 0), 0);
    json_decref(sidecar);
}

void again(CheckFixture *f)
{
    void *state = f;
    check_tear_down(&state);
    check_set_up(&state);
}
