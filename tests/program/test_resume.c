/*
 * A sweep survives anything: killed at any moment, out of disk, told to stop, its file cut short
 * anywhere, it goes on with --resume, and the file, what is printed and the exit code are those of
 * a run that nothing happened to.
 */
#include "../check_fixture.h"
#include "../fixture.h"
#include "../interrupted.h"
#include "kill_points.h"
#include "../unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* 12 points of 3 layers in no time, some of which fail; 92 of 6 layers, which are stopped half way;
 * and 414 that take about a second. */
#define SMALL "--construction silu,fused --n 4 --d 3 --depth 3 --omega 5,20 --seed 1:3"
#define FAILING SMALL " --tolerance 1e-7"
#define SIX_LAYERS "--construction silu,fused --n 8 --d 6 --depth 6 --omega 8:30 "
#define HALTED SIX_LAYERS "--seed 1:2"
#define LONG SIX_LAYERS "--seed 1:9"

/* Sanitizers make the shorter one last as long. */
#ifdef HEADPROOF_CHECK
#define KILLED HALTED
#else
#define KILLED LONG
#endif

/* How often a run is killed at a random moment, at night: test_killed kills at every call. */
enum { KILLS = 200 };

/* "sweep GRID -o FILE REST". */
static Output sweep(const FileFixture *fixture, const char *grid, const char *rest)
{
    return run_formatted("sweep %s -o %s %s", grid, fixture->path, rest);
}

/* It ends with the code, and has said that. */
static Output expect_sweep(const FileFixture *fixture, const char *grid, const char *rest, int code,
                           const char *says)
{
    Output output = sweep(fixture, grid, rest);
    expect_says(&output, code, says);
    return output;
}

static void expect_clean(const FileFixture *fixture)
{
    assert_true(file_exists(fixture->path) && file_exists(fixture->sidecar));
    assert_false(file_exists(fixture->partial));
    assert_false(file_exists(fixture->fresh) || file_exists(fixture->sidecar_fresh));
}

/* The file has the same bytes. */
static void expect_file(const FileFixture *fixture, const Output *expected, const char *what)
{
    Output file = read_file(fixture->path);
    expect_same(&file, expected, what);
}

/* The journal that was left last. */
static Output left;

/* The points of the first `length` bytes of the whole file, as an interrupted run leaves them.  A
 * point has 3 layers. */
static void leave_partial(const FileFixture *fixture, const Output *whole, size_t length)
{
    leave_interrupted(fixture->path, whole, length, 3, 0.001);
    left = read_file(fixture->partial);
}

/* A sweep's file. */
static Output whole_sweep(const FileFixture *fixture, const char *grid, const char *rest)
{
    (void)sweep(fixture, grid, rest);
    return read_file(fixture->path);
}

/* A sweep that left half of its rows; the whole of them. */
static Output leave_half(const FileFixture *fixture, const char *grid, const char *rest)
{
    Output whole = whole_sweep(fixture, grid, rest);
    leave_partial(fixture, &whole, whole.length / 2);
    return whole;
}

/* It is as it was. */
static void expect_left(const FileFixture *fixture)
{
    Output now = read_file(fixture->partial);
    expect_same(&now, &left, "what was left");
}

/* Resumed, it is whole. */
static void resume_to(const FileFixture *fixture, const char *grid, const Output *whole)
{
    expect_sweep(fixture, grid, "--resume --quiet 2>&1", 0, "");
    expect_file(fixture, whole, "resumed");
}

static pid_t start(const char *grid, const char *path, const char *rest)
{
    char line[1536];
    assert_true(snprintf(line, sizeof line, "sweep %s -o %s %s", grid, path, rest) <
                (int)sizeof line);
    return start_program(line);
}

/* Runs until it is not killed, or has been often enough; returns the kills.  The longest wait
 * follows what the machine gains in it, so that a file takes some twenty. */
static int run_and_kill(const FileFixture *fixture, uint64_t *random, double *longest, int most)
{
    for (int kills = 0;; kills++) {
        off_t before = size_of(fixture->partial);
        int status;
        pid_t child = start(KILLED, fixture->path, "--resume --quiet --threads 2");
        if (kills < most) {
            pause_seconds(*longest * kill_share(random));
            (void)kill(child, SIGKILL);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status)) {
            assert_int_equal(WEXITSTATUS(status), 0);
            return kills;
        }
        *longest *= size_of(fixture->partial) > before ? 0.9 : 1.1;
    }
}

static void killed_at_random_moments(void **state)
{
    const FileFixture *fixture = *state;
    uint64_t random = kill_seed();
    double longest = 0.1;
    int kills = 0;
    if (!fixture_nightly()) {
        skip();
    }
    Output whole = whole_sweep(fixture, KILLED, "--quiet");
    while (kills < KILLS) {
        assert_int_equal(unlink(fixture->path), 0);
        assert_int_equal(unlink(fixture->sidecar), 0);
        kills += run_and_kill(fixture, &random, &longest, KILLS - kills);
        expect_file(fixture, &whole, "killed and resumed");
        expect_clean(fixture);
    }
    assert_int_equal(kills, KILLS);
}

/* Cut short after any number of bytes. */
static void resumes_from_any_prefix(void **state)
{
    FileFixture *fixture = *state;
    Output printed = sweep(fixture, FAILING, "2>/dev/null"), whole = read_file(fixture->path);
    const size_t step = fixture_nightly() ? 331 : SMALL_GRIDS ? 1201 : 601;
    assert_int_equal(printed.code, 1);
    for (size_t length = 1; length <= whole.length; length += length < 900 ? 149 : step) {
        leave_partial(fixture, &whole, length);
        Output again = sweep(fixture, FAILING, "--resume 2>/dev/null");
        expect_file(fixture, &whole, "the file");
        expect_same(&again, &printed, "what is printed");
        assert_int_equal(again.code, 1);
        expect_clean(fixture);
    }
    leave_partial(fixture, &whole, whole.length);
    Output last = sweep(fixture, FAILING, "--resume 2>/dev/null");
    expect_same(&last, &printed, "what is printed after the last point");
}

/* The complaints about points that fail are printed again. */
static void failures_are_counted_again(void **state)
{
    FileFixture *fixture = *state;
    Output first = sweep(fixture, FAILING, "--quiet 2>&1"), whole = read_file(fixture->path);
    expect_says(&first, 1, "headproof: fail at layer 1; reproduce: ");
    leave_partial(fixture, &whole, whole.length / 2);
    Output resumed = sweep(fixture, FAILING, "--resume --quiet 2>&1");
    assert_int_equal(resumed.code, 1);
    expect_same(&resumed, &first, "complaints");
}

static void complete_is_said(void **state)
{
    FileFixture *fixture = *state;
    Output first = sweep(fixture, FAILING, "2>/dev/null");
    Output whole = read_file(fixture->path);
    Output again = sweep(fixture, FAILING, "--resume 2>/dev/null");
    expect_same(&again, &first, "what is printed");
    assert_int_equal(again.code, 1);
    expect_sweep(fixture, FAILING, "--resume 2>&1 >/dev/null", 1, "is complete\n");
    file_write(fixture->partial, "{\"schema\":", 10); /* a run that was killed as it began */
    expect_sweep(fixture, FAILING, "--resume 2>&1 >/dev/null", 1, "is complete\n");
    expect_clean(fixture);
    expect_sweep(fixture, SMALL, "--resume 2>&1", 2, "it is complete, of other points");
    expect_clean(fixture);
    /* Stopped between the two renames: FILE is there, its sidecar has the other name. */
    Output sidecar = read_file(fixture->sidecar);
    leave_partial(fixture, &whole, whole.length);
    file_write(fixture->path, whole.text, whole.length);
    file_write(fixture->sidecar_fresh, sidecar.text, sidecar.length);
    again = sweep(fixture, FAILING, "--resume 2>/dev/null");
    expect_same(&again, &first, "what is printed");
    expect_clean(fixture);
    expect_file(fixture, &whole, "the file");
}

/* An edit of a journal's first line: the text of a key becomes another. */
static void edit_first_line(const FileFixture *fixture, const char *key, const char *value)
{
    char name[64];
    Output sidecar = read_file(fixture->partial);
    snprintf(name, sizeof name, "\"%s\":\"", key);
    char *at = strstr(sidecar.text, name);
    assert_non_null(at);
    at += strlen(name);
    FILE *file = fopen(fixture->partial, "w");
    assert_non_null(file);
    fprintf(file, "%.*s%s%s", (int)(at - sidecar.text), sidecar.text, value, strchr(at, '"'));
    assert_int_equal(fclose(file), 0);
}

static void expect_refused_line(const FileFixture *fixture, const char *grid, const char *rest,
                                const char *says)
{
    Output refused = expect_sweep(fixture, grid, rest, 2, says);
    assert_int_equal(lines(&refused), 1);
}

static void other_points_are_refused(void **state)
{
    static const char *const others[][2] = {
        {"--construction silu,fused --n 4 --d 3 --depth 3 --omega 5,21 --seed 1:3", "other points"},
        {"--construction silu,fused --n 4 --d 3 --depth 3 --omega 5 --seed 1:3", "12 points"},
    };
    FileFixture *fixture = *state;
    Output whole = whole_sweep(fixture, SMALL, "--quiet");
    for (size_t i = 0; i < 2; i++) {
        leave_partial(fixture, &whole, whole.length / 2);
        expect_refused_line(fixture, others[i][0], "--resume 2>&1", others[i][1]);
        expect_left(fixture);
    }
    /* A row in the middle that is of another point. */
    char *row = strchr(whole.text, '\n') + 1;
    row[strcspn(row, ",") + 6] ^= 1;
    leave_partial(fixture, &whole, whole.length);
    expect_refused_line(fixture, SMALL, "--resume 2>&1", ".partial:2: cannot be resumed");
}

static void other_machines_are_refused(void **state)
{
    static const char *const keys[] = {"version",        "commit",       "cpu",
                                       "openblas_core",  "mpfr_runtime", "gmp_runtime",
                                       "openblas_config"};
    FileFixture *fixture = *state;
    Output whole = whole_sweep(fixture, SMALL, "--quiet");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char says[64];
        leave_partial(fixture, &whole, whole.length / 2);
        edit_first_line(fixture, keys[i], "of yore");
        snprintf(says, sizeof says, "%s of yore, this is ", keys[i]);
        expect_refused_line(fixture, SMALL, "--resume 2>&1", says);
        assert_int_equal(unlink(fixture->partial), 0);
        (void)sweep(fixture, SMALL, "--quiet");
    }
}

static void nothing_to_resume_is_refused(void **state)
{
    FileFixture *fixture = *state;
    Output whole = whole_sweep(fixture, SMALL, "--quiet");
    leave_partial(fixture, &whole, whole.length);
    left.text[11] = '?';
    file_write(fixture->partial, left.text, left.length);
    expect_refused_line(fixture, SMALL, "--resume 2>&1", "its first line does not say");
    expect_line(2, "--resume: token 'stdout'", "sweep " SMALL " --resume");
    expect_line(2, "--resume: ", "min-omega --construction silu --tolerance 1e-9 --resume");
}

static void leftovers_without_resume(void **state)
{
    FileFixture *fixture = *state;
    Output whole = leave_half(fixture, SMALL, "--quiet");
    expect_sweep(fixture, SMALL, "--quiet 2>&1", 0, "--resume would have kept them");
    expect_file(fixture, &whole, "anew");
    /* A minute's work, going by what is said of 5 points. */
    leave_interrupted(fixture->path, &whole, whole.length / 2, 3, 61.0 / 5);
    left = read_file(fixture->partial);
    expect_sweep(fixture, SMALL, "--quiet 2>&1", 2, "--resume goes on with them, rm ");
    expect_left(fixture);
    resume_to(fixture, SMALL, &whole);
}

/* "sweep LONG -o FILE --threads 2 REST" in a process of its own. */
static Ended sweep_until(const FileFixture *fixture, const char *rest, Stop stop, const char *said)
{
    char line[2048];
    snprintf(line, sizeof line, "sweep " LONG " -o %s --threads 2 %s", fixture->path, rest);
    return run_until(line, stop, said);
}

/* The signal comes some twenty points in. */
static void signals_end_at_a_point(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    FileFixture *fixture = *state;
    const char *messages = path_in(&fixture->scratch, "messages");
    assert_int_equal(sweep_until(fixture, "--quiet", (Stop){0}, messages).code, 0);
    Output whole = read_file(fixture->path);
    assert_int_equal(unlink(fixture->path), 0);
    for (size_t i = 0; i < 3; i++) {
        Ended ended = sweep_until(fixture, "--quiet", (Stop){90, signals[i]}, messages);
        assert_int_equal(ended.signal, signals[i]);
        Output said = read_file(messages);
        size_t kept = points_left(fixture->path, &whole);
        assert_int_equal(lines(&said), 1);
        assert_non_null(strstr(said.text, " of 414 points are kept; go on with: "));
        assert_non_null(strstr(said.text, "headproof sweep --resume --construction silu,fused"));
        assert_true(kept > 5 && kept < 200);
        if (i < 2) { /* the last one goes on, as the others would */
            assert_int_equal(unlink(fixture->partial), 0);
            continue;
        }
        /* The command as it was printed. */
        char *command = strstr(said.text, "headproof sweep ") + strlen("headproof ");
        command[strcspn(command, "\n")] = '\0';
        ended = run_until(command, (Stop){0}, messages);
        assert_int_equal(ended.code, 0);
        expect_file(fixture, &whole, "resumed");
    }
}

/* Files may have as many blocks of 512 bytes as it takes for half of the points. */
static void full_disk(void **state)
{
    FileFixture *fixture = *state;
    char script[2048];
    Output whole = whole_sweep(fixture, HALTED, "--quiet");
    assert_int_equal(unlink(fixture->path), 0);
    snprintf(script, sizeof script,
             "-c 'ulimit -f %zu; \"$HEADPROOF\" sweep %s --quiet -o %s' 2>&1",
             whole.length / 512 / 2, HALTED, fixture->path);
    Output full = run_program("sh", script);
    expect_says(&full, 99, "out.csv: cannot be written: File too large\n");
    assert_int_equal(lines(&full), 2);
    assert_non_null(strstr(full.text, " points are kept; go on with: "));
    assert_true(points_left(fixture->path, &whole) > 20);
    resume_to(fixture, HALTED, &whole);
}

static void one_run_writes_a_file(void **state)
{
    FileFixture *fixture = *state;
    const char *messages = path_in(&fixture->scratch, "messages");
    char line[2048];
    int status;
    snprintf(line, sizeof line, "sweep " HALTED " -o %s --quiet --threads 1", fixture->path);
    pid_t child = start_until(line, (Stop){30, 0}, messages);
    assert_true(child > 0);
    expect_sweep(fixture, HALTED, "--resume --quiet 2>&1", 2, "expected no other run to write it");
    expect_sweep(fixture, HALTED, "--quiet 2>&1", 2, "expected no other run to write it");
    assert_true(file_exists(fixture->partial));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    expect_sweep(fixture, HALTED, "--quiet 2>&1", 0, "");
    expect_clean(fixture);
}

/* Where a row begins in a text; the first line is row 0. */
static char *row_at(const Output *text, size_t row)
{
    char *at = text->text;
    for (; row > 0; row--) {
        at = strchr(at, '\n') + 1;
    }
    return at;
}

/* A digit of a point in the middle becomes another: its rows are behind those of two others. */
static void change_a_point(const FileFixture *fixture)
{
    char *at = strstr(row_at(&left, 11), "e-") - 1;
    *at = *at == '5' ? '6' : '5';
    file_write(fixture->partial, left.text, left.length);
}

/* Where points were changed nobody knows how much work they are, and they stay. */
static void rows_of_unknown_age(void **state)
{
    FileFixture *fixture = *state;
    (void)leave_half(fixture, SMALL, "--quiet");
    change_a_point(fixture);
    expect_sweep(fixture, SMALL, "--quiet 2>&1", 2,
                 "6 rows of an interrupted run, nobody knows how "
                 "much work: rm /");
    expect_left(fixture);
}

/* Another command does not write over the rows of an interrupted sweep. */
static void rows_stay_for_a_sweep(void **state)
{
    FileFixture *fixture = *state;
    (void)leave_half(fixture, SMALL, "--quiet");
    expect_line(2, "out.csv.partial': expected no rows of an interrupted sweep", "cost -o %s",
                fixture->path);
    expect_left(fixture);
}

/* A run that is refused for what is beside the rows has not read them, and leaves them. */
static void rows_outlive_a_refusal(void **state)
{
    FileFixture *fixture = *state;
    Output whole = leave_half(fixture, SMALL, "--quiet");
    for (int i = 0; i < 6; i++) {
        const char *name = i / 2 == 2 ? fixture->sidecar_fresh : fixture->sidecar;
        if (i / 2 > 0) {
            assert_int_equal(mkdir(name, 0777), 0);
        } else {
            file_write(name, "notes\n", 6);
        }
        expect_sweep(fixture, SMALL, i % 2 == 0 ? "--resume 2>&1" : "2>&1", 2,
                     i / 2 > 0 ? "expected nothing there (it is a directory)"
                               : "expected nothing there (this run has not written it)");
        expect_left(fixture);
        assert_int_equal(remove(name), 0);
    }
    resume_to(fixture, SMALL, &whole);
}

static const char changed[] = ": cannot be resumed: the point's rows, or what is before them, were "
                              "changed since the run wrote them";

/* A digit, a verdict: what is not as the run wrote it is refused; a point that was left out, or the
 * last, which may be torn, is evaluated again. */
static void altered_rows_are_refused(void **state)
{
    FileFixture *fixture = *state;
    Output whole = whole_sweep(fixture, SMALL, "--quiet");
    leave_partial(fixture, &whole, whole.length);
    const Output complete = {.text = strdup(left.text), .length = left.length};
    for (size_t row = 2; row < 48; row += 9) { /* a point has 4 lines, behind the first */
        char *altered = strdup(complete.text), *at;
        left = (Output){.text = altered, .length = complete.length};
        at = strstr(row_at(&left, row), "e-");
        at[-1] = at[-1] == '5' ? '6' : '5';
        file_write(fixture->partial, left.text, left.length);
        if ((row - 1) / 4 < 11) {
            expect_refused_line(fixture, SMALL, "--resume --quiet 2>&1", changed);
            expect_left(fixture);
        } else {
            resume_to(fixture, SMALL, &whole);
            leave_partial(fixture, &whole, whole.length);
        }
        free(altered);
    }
    char *from = row_at(&complete, 9), *to = row_at(&complete, 13);
    memmove(from, to, strlen(to) + 1);
    file_write(fixture->partial, complete.text, strlen(complete.text));
    expect_sweep(fixture, SMALL, "--resume 2>&1 >/dev/null", 0,
                 "11 of 12 points are there already");
    expect_file(fixture, &whole, "a point left out");
    free(complete.text);
    whole = whole_sweep(fixture, FAILING, "--quiet 2>/dev/null");
    leave_partial(fixture, &whole, whole.length);
    memcpy(strstr(left.text, ",fail\n"), ",ok\n\n\n", 6);
    file_write(fixture->partial, left.text, left.length);
    expect_refused_line(fixture, FAILING, "--resume --quiet 2>&1", changed);
}

/* Points behind another run's first line are not taken, and bytes that are no point are dropped. */
static void points_say_whose_they_are(void **state)
{
    FileFixture *fixture = *state;
    Output whole = whole_sweep(fixture, SMALL, "--quiet");
    leave_partial(fixture, &whole, whole.length);
    char *from = row_at(&left, 17);
    memset(from, 'x', strlen(from));
    file_write(fixture->partial, left.text, left.length);
    expect_sweep(fixture, SMALL, "--resume 2>&1 >/dev/null", 0, "4 of 12 points are there already");
    expect_file(fixture, &whole, "behind four points");
    leave_partial(fixture, &whole, whole.length / 2);
    edit_first_line(fixture, "date", "2001-01-01T00:00:00Z");
    expect_sweep(fixture, SMALL, "--resume --quiet 2>&1", 2,
                 ".partial:2: cannot be resumed: the "
                 "point's rows");
}

/* Rows are read by the columns of this version: under another header none is taken. */
static void another_header_is_refused(void **state)
{
    FileFixture *fixture = *state;
    Output whole = whole_sweep(fixture, SMALL, "--quiet");
    char *name = strstr(whole.text, "score_max");
    assert_non_null(name);
    memcpy(name, "score_min", strlen("score_min"));
    file_write(fixture->path, whole.text, whole.length);
    seal_table(fixture->path);
    expect_sweep(fixture, SMALL, "--quiet --resume 2>&1", 2,
                 "out.csv:1: cannot be resumed: the row is not the one expected");
    expect_file(fixture, &whole, "what was refused");
}

/* Rows with and without the columns of --propagation do not stand in one file. */
static void other_columns_are_refused(void **state)
{
    static const char *const flags[] = {"--quiet", "--quiet --propagation"};
    FileFixture *fixture = *state;
    for (int with = 0; with < 2; with++) {
        char rest[64];
        (void)sweep(fixture, SMALL, flags[with]);
        Output whole = read_file(fixture->path);
        leave_partial(fixture, &whole, whole.length / 2);
        snprintf(rest, sizeof rest, "%s --resume 2>&1", flags[!with]);
        expect_sweep(fixture, SMALL, rest, 2, "other points");
        snprintf(rest, sizeof rest, "%s --resume 2>&1", flags[with]);
        Output resumed = sweep(fixture, SMALL, rest), again = read_file(fixture->path);
        assert_int_equal(resumed.code, 0);
        expect_same(&again, &whole, "resumed");
    }
}

/* However little memory there is, the bytes are the same; what does not fit alone is refused. */
static void memory_is_a_budget(void **state)
{
    FileFixture *fixture = *state;
    Output whole = whole_sweep(fixture, SMALL, "--quiet");
    expect_line(2, " GiB, 9.54e-06 GiB may be used",
                "sweep " SMALL " --memory 10KiB"); /* 10 2^-20 */
    expect_line(2, " GiB, 9.54e-06 GiB may be used", "sweep " SMALL " --memory 10KiB --dry-run");
    expect_line(2, "--memory: token '10KB'", "sweep " SMALL " --memory 10KB");
    /* Doubled until a point fits: there it fits barely, and bases come and go. */
    int fitting = 0;
    for (int kib = 16; kib <= 4096 && fitting < 3; kib += kib / 2) {
        char rest[64];
        snprintf(rest, sizeof rest, "--quiet --threads 2 --memory %dKiB 2>/dev/null", kib);
        Output tight = sweep(fixture, SMALL, rest);
        if (tight.code == 0) {
            expect_file(fixture, &whole, rest);
            fitting++;
        }
    }
    assert_int_equal(fitting, 3);
}

SUBJECT(resume)
{
    const struct CMUnitTest tests[] = {
        CSV_TEST(resumes_from_any_prefix),
        CSV_TEST(failures_are_counted_again),
        CSV_TEST(complete_is_said),
        CSV_TEST(other_points_are_refused),
        CSV_TEST(other_machines_are_refused),
        CSV_TEST(nothing_to_resume_is_refused),
        CSV_TEST(leftovers_without_resume),
        CSV_TEST(signals_end_at_a_point),
        CSV_TEST(full_disk),
        CSV_TEST(one_run_writes_a_file),
        CSV_TEST(rows_of_unknown_age),
        CSV_TEST(rows_stay_for_a_sweep),
        CSV_TEST(rows_outlive_a_refusal),
        CSV_TEST(altered_rows_are_refused),
        CSV_TEST(points_say_whose_they_are),
        CSV_TEST(another_header_is_refused),
        CSV_TEST(other_columns_are_refused),
        CSV_TEST(memory_is_a_budget),
        CSV_TEST(killed_at_random_moments),
    };
    return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}
