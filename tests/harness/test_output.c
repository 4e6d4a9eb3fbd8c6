/*
 * A results file appears complete or not at all, and is never damaged; CSV cells.
 */
#include "../fixture.h"

#include "../../harness/base/atomic_file.h"
#include "../../harness/base/info.h"
#include "../../harness/point/axes.h"
#include "../../harness/table/columns.h"
#include "../../harness/table/sink.h"
#include "../../harness/table/table.h"
#include "../unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char old_rows[] = "old rows\n";
static const char old_sidecar[] = "{\"schema\": 1, \"old\": true}\n";

static void write_old(const FileFixture *fixture)
{
    file_write(fixture->path, old_rows, strlen(old_rows));
    file_write(fixture->sidecar, old_sidecar, strlen(old_sidecar));
}

static void expect_file(FileFixture *fixture, const char *path, const char *content)
{
    assert_int_equal(file_read(fixture->text, path), (long)strlen(content));
    assert_string_equal(fixture->text, content);
}

static void expect_old(FileFixture *fixture)
{
    expect_file(fixture, fixture->path, old_rows);
    expect_file(fixture, fixture->sidecar, old_sidecar);
}

static void expect_no_partials(const FileFixture *fixture)
{
    assert_false(file_exists(fixture->partial) || file_exists(fixture->fresh));
    assert_false(file_exists(fixture->sidecar_fresh));
}

/* output_open that must fail with one message that names path. */
static void expect_refusal(FileFixture *fixture, const char *path, int expected)
{
    Output *output = NULL;
    stderr_hold(&fixture->scratch);
    int status = output_open(&output, path);
    stderr_take(fixture->text, &fixture->scratch);
    output_clear(output);
    if (status != expected || count_lines(fixture->text) != 1 ||
        strstr(fixture->text, path) == NULL) {
        fail_msg("%s: status %d, expected %d, message \"%s\"", path, status, expected,
                 fixture->text);
    }
}

static const CaseSpec written = {.construction = CONSTRUCTION_SILU,
                                 .n = 2,
                                 .d = 3,
                                 .d_ff = 12,
                                 .heads = 2,
                                 .depth = 1,
                                 .seed = 7};

static Output *opened(const char *path)
{
    Output *output;
    assert_int_equal(output_open(&output, path), 0);
    return output;
}

static int finish(FileFixture *fixture, Output *output)
{
    char *arguments[] = {"headproof", "sweep", "--omega", "caf\xC3\xA9 \xFF"};
    Point point = {.spec = written, .omega = 5, .reference = REFERENCE_SUBTRACT, .max_bits = 65536};
    char *section = "name";
    Grid grid = {.points = &point, .section = &section, .count = 1};
    double seconds = 0.125;
    stderr_hold(&fixture->scratch);
    int status = output_finish(
        output, &(RunRecord){.argc = 4, .argv = arguments, .grid = &grid, .seconds = &seconds});
    stderr_take(fixture->text, &fixture->scratch);
    return status;
}

/* Writes new rows where old ones are. */
static Output *begin_anew(const FileFixture *fixture)
{
    write_old(fixture);
    Output *output = opened(fixture->path);
    fputs("new rows\n", output_file(output));
    assert_int_equal(output_commit(output), 0);
    return output;
}

/* Until it is finished, a file is as it was. */
static void test_appears_complete(void **state)
{
    FileFixture *fixture = *state;
    Output *output = begin_anew(fixture);
    expect_old(fixture);
    expect_file(fixture, fixture->fresh, "new rows\n");
    assert_int_equal(finish(fixture, output), 0);
    assert_string_equal(fixture->text, "");
    output_clear(output);
    expect_file(fixture, fixture->path, "new rows\n");
    expect_no_partials(fixture);
}

static void test_sidecar(void **state)
{
    FileFixture *fixture = *state;
    Output *output = opened(fixture->path);
    assert_int_equal(finish(fixture, output), 0);
    output_clear(output);
    json_t *root = json_load_file(fixture->sidecar, 0, NULL);
    assert_non_null(root);
    assert_int_equal(json_integer_value(json_object_get(root, "schema")), 6);
    json_t *arguments = json_object_get(root, "argv");
    assert_int_equal(json_array_size(arguments), 4);
    assert_string_equal(json_string_value(json_array_get(arguments, 1)), "sweep");
    assert_string_equal(json_string_value(json_array_get(arguments, 3)), "caf\xc3\xa9 \\xff");
    json_t *point = json_array_get(json_object_get(root, "points"), 0);
    assert_string_equal(json_string_value(json_object_get(point, "section")), "name");
    assert_true(json_real_value(json_object_get(point, "seconds")) == 0.125);
    const char *command = json_string_value(json_object_get(point, "command"));
    assert_int_equal(strncmp(command, "headproof sweep --construction silu --n 2 --d 3", 47), 0);
    const char *date = json_string_value(json_object_get(root, "date"));
    assert_int_equal(strlen(date), strlen("2000-01-01T00:00:00Z"));
    Fact facts[FACTS_MOST];
    size_t count = facts_read(facts);
    assert_true(count >= 12 && count < FACTS_MOST);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(json_string_value(json_object_get(root, facts[i].name)), facts[i].text);
    }
    json_decref(root);
}

/* What has no points, a benchmark, says all else. */
static void test_sidecar_without_points(void **state)
{
    FileFixture *fixture = *state;
    char *arguments[] = {"bench"};
    Output *output = opened(fixture->path);
    assert_int_equal(output_finish(output, &(RunRecord){.argc = 1, .argv = arguments}), 0);
    output_clear(output);
    json_t *root = json_load_file(fixture->sidecar, 0, NULL);
    assert_non_null(root);
    assert_null(json_object_get(root, "points"));
    assert_string_equal(json_string_value(json_array_get(json_object_get(root, "argv"), 0)),
                        "bench");
    assert_non_null(json_object_get(root, "cpu"));
    assert_non_null(json_object_get(root, "date"));
    json_decref(root);
}

static void test_dropped(void **state)
{
    FileFixture *fixture = *state;
    Output *output = begin_anew(fixture);
    output_clear(output);
    output_clear(NULL);
    expect_old(fixture);
    expect_no_partials(fixture);
}

/* What an interrupted run left is overwritten, even where it is longer. */
static void test_stale_partial(void **state)
{
    static const char torn[] = "model,construction,kernel,omega,inputs,lay";
    FileFixture *fixture = *state;
    file_write(fixture->partial, OWN_MARK, strlen(OWN_MARK));
    file_write(fixture->fresh, torn, strlen(torn));
    file_write(fixture->sidecar_fresh, "{", 1);
    Output *output = opened(fixture->path);
    fputs("new\n", output_file(output));
    assert_int_equal(finish(fixture, output), 0);
    output_clear(output);
    expect_file(fixture, fixture->path, "new\n");
    expect_no_partials(fixture);
}

static void test_unwritable(void **state)
{
    FileFixture *fixture = *state;
    char path[SCRATCH_PATH], long_name[300];
    scratch_path(path, &fixture->scratch, "missing/out.csv");
    expect_refusal(fixture, path, 2);
    expect_refusal(fixture, fixture->scratch.directory, 2);
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    scratch_path(path, &fixture->scratch, long_name);
    expect_refusal(fixture, path, 2);
    /* Room for the rows' name, but not for the sidecar's. */
    long_name[247] = '\0';
    scratch_path(path, &fixture->scratch, long_name);
    expect_refusal(fixture, path, 2);
    strcat(path, ".partial");
    assert_false(file_exists(path));
    assert_int_equal(mkdir(fixture->sidecar, 0700), 0);
    expect_refusal(fixture, fixture->path, 2);
    expect_no_partials(fixture);
    assert_int_equal(rmdir(fixture->sidecar), 0);
    assert_int_equal(mkdir(fixture->partial, 0700), 0);
    expect_refusal(fixture, fixture->path, 2);
}

/* root may write everywhere, so it becomes somebody else for this, in a directory where anybody
 * may: what is refused is the file. */
static void test_no_permission(void **state)
{
    char directory[] = "/tmp/headproof-test.XXXXXX", path[SCRATCH_PATH];
    FileFixture *fixture = *state;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chmod(directory, 0777), 0);
    snprintf(path, sizeof path, "%s/out.csv", directory);
    file_write(path, old_rows, strlen(old_rows));
    assert_int_equal(chmod(path, 0444), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        Output *output;
        bool demoted = geteuid() != 0 || setuid(65534) == 0;
        _exit(demoted && freopen("/dev/null", "w", stderr) != NULL ? output_open(&output, path)
                                                                   : 77);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    expect_file(fixture, path, old_rows);
    assert_int_equal(unlink(path), 0);
    /* Nothing else is in it. */
    assert_int_equal(rmdir(directory), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
}

/* A full disk, as far as a test can have one: a limit on the size of files.  `limit` bytes, then
 * as many rows as it takes; sanitizers and cmocka must not write meanwhile. */
static void fill(FileFixture *fixture, rlim_t limit, bool expect_commit)
{
    struct rlimit old, low;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = (struct rlimit){limit, old.rlim_max};
    write_old(fixture);
    Output *output = opened(fixture->path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    for (int i = 0; i < 100; i++) {
        fputs("a row\n", output_file(output));
    }
    int committed = output_commit(output);
    int status = expect_commit ? 0 : 99;
    if (expect_commit) {
        char *arguments[] = {"headproof"};
        Grid grid = {0};
        stderr_hold(&fixture->scratch);
        status = output_finish(output, &(RunRecord){.argc = 1, .argv = arguments, .grid = &grid});
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        stderr_take(fixture->text, &fixture->scratch);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    output_clear(output);
    assert_int_equal(committed, expect_commit ? 0 : -1);
    assert_int_equal(status, 99);
    expect_old(fixture);
    expect_no_partials(fixture);
}

static void test_rows_do_not_fit(void **state)
{
    fill(*state, 64, false);
    fill(*state, 0, false);
}

/* 600 bytes of rows fit, the sidecar with its facts does not. */
static void test_sidecar_does_not_fit(void **state)
{
    fill(*state, 700, true);
}

static void test_devices(void **state)
{
    FileFixture *fixture = *state;
    Output *output = opened("/dev/full");
    fputs("a row\n", output_file(output));
    assert_int_equal(output_commit(output), -1);
    output_clear(output);
    output = opened("/dev/full");
    fputs("a row\n", output_file(output));
    assert_int_equal(finish(fixture, output), 99);
    assert_int_equal(count_lines(fixture->text), 1);
    assert_non_null(strstr(fixture->text, "/dev/full"));
    output_clear(output);
    assert_false(file_exists("/dev/full.json"));
    output = opened("/dev/null");
    fputs("a row\n", output_file(output));
    assert_int_equal(finish(fixture, output), 0);
    output_clear(output);
    output = opened(NULL);
    assert_ptr_equal(output_file(output), stdout);
    output_clear(output);
}

/* A link to a results file stays a link, and what it leads to is replaced. */
static void test_link(void **state)
{
    FileFixture *fixture = *state;
    char link_path[SCRATCH_PATH];
    struct stat found;
    write_old(fixture);
    scratch_path(link_path, &fixture->scratch, "link.csv");
    assert_int_equal(symlink("out.csv", link_path), 0);
    Output *output = opened(link_path);
    fputs("new rows\n", output_file(output));
    assert_int_equal(finish(fixture, output), 0);
    output_clear(output);
    expect_file(fixture, fixture->path, "new rows\n");
    assert_int_equal(lstat(link_path, &found), 0);
    assert_true(S_ISLNK(found.st_mode));
}

/* Two runs must not write the same file.  Nothing is written yet: what is there is nobody's, and
 * the lock alone can refuse it. */
static void test_one_writer(void **state)
{
    FileFixture *fixture = *state;
    Output *output = opened(fixture->path);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        Output *other;
        _exit(freopen("/dev/null", "w", stderr) != NULL ? output_open(&other, fixture->path) : 77);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
    fputs("first\n", output_file(output));
    assert_int_equal(finish(fixture, output), 0);
    output_clear(output);
    expect_file(fixture, fixture->path, "first\n");
}

static void set_cell(RefCell *cell, CellState cell_state, const char *value)
{
    cell->state = cell_state;
    mpfr_set_str(cell->value, value, 10, MPFR_RNDN);
}

static char *row_text(const Row *row)
{
    Point point = {.omega = 5,
                   .reference = REFERENCE_SUBTRACT,
                   .max_bits = 65536,
                   .arithmetic = ARITHMETIC_F64};
    point.spec = written;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    table_write_header(stream, false);
    table_write_row(stream, &point, row);
    assert_int_equal(fclose(stream), 0);
    return text;
}

/* The table of columns, the header and the words of --judge and --norm say the same. */
static void test_columns(void **state)
{
    size_t size, place = 0;
    char *text = NULL, *rest = NULL, name[64];
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    table_write_header(stream, false);
    assert_int_equal(fclose(stream), 0);
    for (char *word = strtok_r(text, ",\n", &rest); word != NULL; place++) {
        assert_int_equal(column_position(word), place);
        assert_int_not_equal(column_kind(word), COLUMN_UNKNOWN);
        word = strtok_r(NULL, ",\n", &rest);
    }
    free(text);
    for (size_t kind = 0; kind < ERROR_KINDS; kind++) {
        for (size_t norm = 0; norm < NORM_COUNT; norm++) {
            snprintf(name, sizeof name, "%s_%s", axis_info(AXIS_JUDGE)->domain.words[kind],
                     axis_info(AXIS_NORM)->domain.words[norm]);
            const Column *column = column_of_error((ErrorKind)kind, (Norm)norm);
            assert_string_equal(column->name, name);
            assert_ptr_equal(column_find(name), column);
        }
    }
    assert_int_equal(column_kind("median"), COLUMN_UNKNOWN);
    assert_true(column_position("median") == SIZE_MAX);
}

static void test_row(void **state)
{
    static const char expected[] =
        "construction,activation,mask,n,d,d_ff,heads,d_head,depth,omega,arithmetic,kernel,"
        "reference,weights,seed,options,layer,"
        "approximation_max,approximation_rms,approximation_rel,"
        "construction_max,construction_rms,construction_rel,"
        "rounding_max,rounding_rms,rounding_rel,native_max,native_rms,native_rel,"
        "total_max,total_rms,total_rel,observed_max,observed_rms,observed_rel,"
        "rounding_ulp,total_ulp,approximation_log10,construction_log10,rounding_log10,"
        "native_log10,total_log10,observed_log10,bounds,identical,"
        "bias_row_max,hidden_max,score_max,precision_bits,difference_bits,status\n"
        "silu,silu,none,2,3,,,,1,5,f64,dense,subtract,,7,,3,"
        "0,,,6.30000000000e-868,,,-1.00000000000e+00,,,inf,nan,,,,,,,,"
        ",,,-8.67200659450e+02,nan,inf,,,construction_max;construction_log10;score_max,"
        "0.25,,,1.00000000001e+00,3136,,unresolved\n";
    Row row;
    row_init(&row, &(Point){0});
    row.layer = 3;
    row.precision_bits = 3136;
    row.status = STATUS_UNRESOLVED;
    row.has_identical = true;
    row.identical = 0.25;
    set_cell(&row.errors.error[ERROR_APPROXIMATION][NORM_MAX], CELL_ZERO, "1");
    set_cell(&row.errors.error[ERROR_CONSTRUCTION][NORM_MAX], CELL_BOUND,
             "6.29999999999999991e-868");
    set_cell(&row.errors.error[ERROR_ROUNDING][NORM_MAX], CELL_VALUE, "-1");
    set_cell(&row.errors.error[ERROR_NATIVE][NORM_MAX], CELL_NONFINITE, "@Inf@");
    set_cell(&row.errors.error[ERROR_NATIVE][NORM_RMS], CELL_NONFINITE, "@NaN@");
    set_cell(&row.errors.scalar[SCALAR_SCORE], CELL_BOUND, "1.0000000000000000001");
    char *text = row_text(&row);
    assert_string_equal(text, expected);
    free(text);
    row_clear(&row);
}

static void test_table_fails_with_its_stream(void **state)
{
    Point point = {.omega = 5, .reference = REFERENCE_SUBTRACT, .max_bits = 65536};
    point.spec.n = point.spec.d = point.spec.depth = 1;
    Row row;
    row_init(&row, &point);
    FILE *file = fopen("/dev/full", "w");
    assert_non_null(file);
    setvbuf(file, NULL, _IONBF, 0);
    table_write_header(file, false);
    table_write_row(file, &point, &row);
    assert_true(ferror(file));
    fclose(file);
    row_clear(&row);
}

static void test_key_with_seeds(void **state)
{
    char *text = NULL;
    size_t size = 0;
    Point point = {.reference = REFERENCE_SUBTRACT, .max_bits = 65536};
    point.spec = written;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    table_write_key_header(stream, false);
    putc('\n', stream);
    table_write_key(stream, &point, false, "1;3");
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, "construction,activation,mask,n,d,d_ff,heads,d_head,depth,arithmetic,"
                              "kernel,reference,weights,seed,options\n"
                              "silu,silu,none,2,3,,,,1,none,,subtract,,1;3,");
    free(text);
}

static void test_statuses(void **state)
{
    assert_string_equal(status_name(STATUS_ERROR), "error");
    assert_string_equal(status_name(STATUS_OVERFLOW), "overflow");
    assert_string_equal(status_name(STATUS_FAIL), "fail");
    assert_string_equal(status_name(STATUS_VACUOUS), "vacuous");
    assert_string_equal(status_name(STATUS_UNRESOLVED), "unresolved");
    assert_string_equal(status_name(STATUS_OK), "ok");
}

SUBJECT(output)
{
    const struct CMUnitTest tests[] = {
        CSV_TEST(test_appears_complete),
        CSV_TEST(test_sidecar),
        CSV_TEST(test_sidecar_without_points),
        CSV_TEST(test_dropped),
        CSV_TEST(test_stale_partial),
        CSV_TEST(test_unwritable),
        CSV_TEST(test_no_permission),
        CSV_TEST(test_rows_do_not_fit),
        CSV_TEST(test_sidecar_does_not_fit),
        CSV_TEST(test_devices),
        CSV_TEST(test_link),
        CSV_TEST(test_one_writer),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_row),
        cmocka_unit_test(test_table_fails_with_its_stream),
        cmocka_unit_test(test_key_with_seeds),
        cmocka_unit_test(test_statuses),
    };
    return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
