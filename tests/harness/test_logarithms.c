/*
 * Every error of every table has its logarithm, which is the one of what stands beside it: blank
 * where that is 0 or blank, a bound where that is one, and a number wherever a double would read 0.
 */
#include "../../harness/base/csv_read.h"
#include "../../harness/table/bounds.h"

#include "../shell.h"
#include "../unit.h"

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

/* What was seen in a table. */
typedef struct {
    size_t numbers, blanks, bounds, tiny, strange; /* tiny: sizes below every double */
} Seen;

/* The error that a column of logarithms is of. */
static size_t error_of(const Csv *csv, const char *log)
{
    char name[64];
    size_t stem = strlen(log) - strlen("_log10");
    snprintf(name, sizeof name, "%.*s_max", (int)stem, log);
    size_t column = csv_find(csv, name);
    name[stem] = '\0';
    column = column < csv->columns ? column : csv_find(csv, name);
    assert_true(column < csv->columns);
    return column;
}

/* |log - log10(size)| is at most what 12 digits of either leave open: half a unit, and of a bound,
 * which is rounded up, a whole one. */
static void expect_log(const char *log, const char *size, bool bound, Seen *seen)
{
    mpfr_t value, said, room;
    mpfr_inits2(256, value, said, room, (mpfr_ptr)0);
    assert_int_equal(mpfr_set_str(said, log, 10, MPFR_RNDN), 0);
    assert_int_equal(mpfr_set_str(value, size, 10, MPFR_RNDN), 0);
    seen->tiny += mpfr_cmp_d(value, 1e-308) < 0;
    mpfr_log10(value, value, MPFR_RNDN);
    mpfr_abs(room, value, MPFR_RNDU);
    mpfr_add_d(room, room, 0.5, MPFR_RNDU);
    mpfr_mul_d(room, room, bound ? 1.02e-11 : 5.1e-12, MPFR_RNDU);
    mpfr_sub(value, said, value, MPFR_RNDN);
    assert_true(mpfr_cmpabs(value, room) <= 0);
    assert_true(!bound || mpfr_sgn(value) > 0 || mpfr_cmpabs(value, room) <= 0);
    seen->numbers++;
    mpfr_clears(value, said, room, (mpfr_ptr)0);
}

static void look_at_row(const Csv *csv, size_t row, Seen *seen)
{
    size_t list = csv_find(csv, BOUNDS_COLUMN);
    for (size_t c = 0; c < csv->columns; c++) {
        const char *name = csv_name(csv, c), *end = strstr(name, "_log10");
        if (end == NULL) {
            continue;
        }
        size_t error = error_of(csv, name);
        const char *log = csv_cell(csv, row, c), *size = csv_cell(csv, row, error);
        bool bound = bounds_has(csv_cell(csv, row, list), csv_name(csv, error));
        assert_true(!bound || bounds_has(csv_cell(csv, row, list), name));
        seen->bounds += bound;
        if (*size == '\0' || strcmp(size, "0") == 0) {
            assert_string_equal(log, "");
            seen->blanks++;
        } else if (strcmp(size, "nan") == 0 || strcmp(size, "inf") == 0) {
            assert_string_equal(log, size);
            seen->strange++;
        } else {
            expect_log(log, size, bound, seen);
        }
    }
}

/* The table that a script leaves in t.csv, with so many columns of logarithms. */
static Seen look_at(const char *script, size_t columns)
{
    Seen seen = {0};
    Csv csv = {0};
    (void)shell("%s", script);
    assert_int_equal(csv_read(&csv, shell_path("t.csv")), 0);
    size_t logs = 0;
    for (size_t c = 0; c < csv.columns; c++) {
        logs += strstr(csv_name(&csv, c), "_log10") != NULL;
    }
    assert_int_equal(logs, columns);
    for (size_t row = 0; row < csv.rows; row++) {
        look_at_row(&csv, row, &seen);
    }
    csv_clear(&csv);
    return seen;
}

static void sweeps(void **state)
{
    Seen seen = look_at("$h sweep --construction silu,fused,masked --n 3 --d 2 --depth 2 "
                        "--omega 1,1000,1e16 --arithmetic f64,bf16,none -q -o t.csv",
                        6);
    assert_true(seen.numbers > 100 && seen.blanks > 50 && seen.tiny >= 12);
    seen = look_at("$h sweep --construction fused --n 3 --d 2 --omega 1e300,20 --arithmetic "
                   "bf16,f32 --precision 256 -q -o t.csv",
                   6);
    assert_true(seen.bounds >= 2 && seen.strange >= 4);
    seen = look_at("$h sweep --construction silu --n 3 --d 2 --omega 5,20 --reference none "
                   "-q -o t.csv",
                   6);
    assert_true(seen.numbers == 2 && seen.blanks == 10);
    seen = look_at("$h sweep --construction silu --activation gelu --n 3 --d 2 --omega 5 -q "
                   "-o t.csv",
                   6);
    assert_true(seen.numbers == 6);
}

static void propagations(void **state)
{
    Seen seen = look_at("$h depth --construction silu --n 3 --d 2 --depth 3 --omega 1000 "
                        "--propagation -q -o t.csv",
                        10);
    assert_true(seen.tiny >= 8 && seen.blanks >= 2);
}

#define VERIFY "$h verify $p/cases/models/modadd53-silu.safetensors --tokens 0:2/3/53 --omega 9 -q "

/* Of layers and of positions, and merged: each shard has the worst of some errors. */
static void trained_models(void **state)
{
    Seen one = look_at(VERIFY "--positions all -o t.csv", 6);
    assert_true(one.numbers == 10 * 5 && one.blanks == 10);
    Seen seen = look_at("for i in 1 2 3; do " VERIFY "--shard $i/3 -o s$i.csv; done; " VERIFY
                        "-o whole.csv; $h merge s1.csv s2.csv s3.csv -o t.csv",
                        6);
    assert_true(seen.numbers == 5 && seen.blanks == 1);
    expect_shell("cmp t.csv whole.csv && echo the same", 0, "the same");
    expect_shell("$h merge s1.csv s2.csv s3.csv -o t.csv | grep verdict", 0,
                 "verdict: evaluated, nothing judged: no tolerance\n");
    expect_shell("for i in 1 2 3; do " VERIFY "--tolerance 1 --shard $i/3 -o s$i.csv; done; "
                 "$h merge s1.csv s2.csv s3.csv -o t.csv | grep verdict",
                 0, "verdict: PASS\n");
    seen = look_at(VERIFY "--reference subtract --max-bits 64 -o t.csv", 6);
    assert_true(seen.bounds >= 1);
}

SUBJECT(logarithms)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(sweeps),
        SHELL_TEST(propagations),
        SHELL_TEST(trained_models),
    };
    return cmocka_run_group_tests_name("logarithms", tests, NULL, NULL);
}
