/*
 * A kill before every system call that changes a file loses nothing and leaves nothing: the next
 * run, with or without --resume, gives the bytes of one that nothing happened to, and nothing
 * else lies beside them.
 */
#include "../fixture.h"
#include "../given.h"
#include "../interrupted.h"
#include "kill_points.h"
#include "../unit.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SWEEP "sweep --construction silu,fused --n 3 --d 2 --omega 5 --threads 1 --quiet"
#define VERIFY                                                                                     \
    "verify " GIVEN_TRAINED " --tokens 0:1/1:2/53 --omega 20,40 --positions 1,2 --threads 1 "      \
    "--quiet"

typedef struct {
    Scratch scratch;
    char said[SCRATCH_PATH];
} Fixture;

static int set_up(void **state)
{
    Fixture *fixture = fixture_make(sizeof *fixture);
    scratch_path(fixture->said, &fixture->scratch, "said");
    *state = fixture;
    return 0;
}

static void remove_in(const char *path)
{
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char name[2 * SCRATCH_PATH];
        bool itself = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (!itself && remove(name) != 0) {
            remove_in(name);
            assert_int_equal(rmdir(name), 0);
        }
    }
    closedir(directory);
}

/* Everything that runs have left. */
static void remove_all(const Fixture *fixture)
{
    remove_in(fixture->scratch.directory);
}

static int tear_down(void **state)
{
    remove_all(*state);
    return fixture_tear_down(state);
}

/* Every word that begins with a % begins with the scratch directory and a / instead. */
static void fill_in(char line[2048], const Fixture *fixture, const char *pattern)
{
    char place[SCRATCH_PATH];
    scratch_path(place, &fixture->scratch, "");
    scratch_fill(line, 2048, place, pattern);
}

static Ended run_line(const Fixture *fixture, const char *pattern, Stop stop)
{
    char line[2048];
    fill_in(line, fixture, pattern);
    return run_until(line, stop, fixture->said);
}

/* names: all that lies there, one behind the other, with a blank behind each; none is anything else
 * than `said`. */
static void expect_only(const Fixture *fixture, const char *names, const char *when, long at)
{
    DIR *directory = opendir(fixture->scratch.directory);
    assert_non_null(directory);
    size_t found = 0, expected = 0;
    for (const char *c = names; *c != '\0'; c++) {
        expected += *c == ' ';
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char name[300];
        snprintf(name, sizeof name, "%.255s ", entry->d_name);
        const char *at_name = strstr(names, name);
        bool known = at_name != NULL && (at_name == names || at_name[-1] == ' ');
        found += known;
        if (!known && entry->d_name[0] != '.' && strcmp(entry->d_name, "said") != 0) {
            fail_msg("%s, killed before call %ld: left %s", when, at, entry->d_name);
        }
    }
    closedir(directory);
    if (found != expected) {
        fail_msg("%s, killed before call %ld: not all of %s", when, at, names);
    }
}

static Output read_named(const Fixture *fixture, const char *name)
{
    return read_file(path_in(&fixture->scratch, name));
}

/* again: the command line behind the kill.  Returns the calls of a run. */
static long kill_at_every_call(const Fixture *fixture, const char *line, const char *again,
                               const char *name, const char *names)
{
    const Stop never = {0};
    Ended ended = run_line(fixture, line, never);
    assert_int_equal(ended.code, 0);
    Output whole = read_named(fixture, name);
    for (long at = 1;; at++) {
        remove_all(fixture);
        ended = run_line(fixture, line, (Stop){at, SIGKILL});
        if (ended.code == 0) {
            break;
        }
        assert_int_equal(ended.signal, SIGKILL);
        ended = run_line(fixture, again, never);
        if (ended.code != 0) {
            Output said = read_file(fixture->said);
            fail_msg("%s, killed before call %ld: then exit code %d, \"%s\"", line, at, ended.code,
                     said.text);
        }
        Output file = read_named(fixture, name);
        expect_same(&file, &whole, line);
        expect_only(fixture, names, line, at);
    }
    return ended.calls;
}

static void journals(void **state)
{
    const Fixture *fixture = *state;
    static const char *const lines[][2] = {
        {SWEEP " -o %x.csv", SWEEP " -o %x.csv"},
        {SWEEP " -o %x.csv", SWEEP " -o %x.csv --resume"},
        {SWEEP " --resume -o %x.csv", SWEEP " -o %x.csv"},
        {VERIFY " -o %x.csv", VERIFY " -o %x.csv"},
        {VERIFY " -o %x.csv", VERIFY " -o %x.csv --resume"},
        {VERIFY " --shard 2/2 -o %x.csv", VERIFY " --shard 2/2 --resume -o %x.csv"},
    };
    long calls = 0;
    size_t count = sizeof lines / sizeof *lines;
    for (size_t i = 0; i < count; i++) {
        remove_all(fixture);
        calls +=
            kill_at_every_call(fixture, lines[i][0], lines[i][1], "x.csv", "x.csv x.csv.json ");
    }
    print_message("%ld kills\n", calls);
    assert_true(calls > 50);
}

/* What was there is there, or what is new, at any moment. */
static void the_old_file_stays(void **state)
{
    const Fixture *fixture = *state;
    const Stop never = {0};
    assert_int_equal(run_line(fixture, SWEEP " --seed 2 -o %x.csv", never).code, 0);
    Output old = read_named(fixture, "x.csv");
    assert_int_equal(run_line(fixture, SWEEP " -o %x.csv", never).code, 0);
    Output new = read_named(fixture, "x.csv");
    for (long at = 1; at < 200; at++) {
        remove_all(fixture);
        assert_int_equal(run_line(fixture, SWEEP " --seed 2 -o %x.csv", never).code, 0);
        Ended ended = run_line(fixture, SWEEP " -o %x.csv", (Stop){at, SIGKILL});
        Output file = read_named(fixture, "x.csv");
        if (file.length != new.length || memcmp(file.text, new.text, new.length) != 0) {
            expect_same(&file, &old, "the old file");
        }
        if (ended.code == 0) {
            break;
        }
    }
}

static void other_commands(void **state)
{
    const Fixture *fixture = *state;
    static const char *const lines[][3] = {
        {"verify " GIVEN_TRAINED " --tokens 0/1/53 --omega 40 --quiet -o %v.csv", "v.csv",
         "v.csv v.csv.json "},
        {"cost -o %c.csv", "c.csv", "c.csv c.csv.json "},
        {"min-omega --construction silu --n 2 --d 2 --tolerance 1e-6 --quiet -o %m.csv", "m.csv",
         "m.csv m.csv.json "},
        {"export --construction silu --n 2 --d 2 --omega 9 -o %e.safetensors", "e.safetensors",
         "e.safetensors "},
        {"check --construction silu --n 2 --d 2 --omega 9 --tolerance 1 --junit-xml %j --markdown "
         "%d",
         "d", "j d "},
        {"check --construction silu --n 2 --d 2 --omega 9 --save-baseline %b.csv --force", "b.csv",
         "b.csv b.csv.json "},
    };
    long calls = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        remove_all(fixture);
        calls += kill_at_every_call(fixture, lines[i][0], lines[i][0], lines[i][1], lines[i][2]);
    }
    print_message("%ld kills\n", calls);
}

/* A signal leaves what another run goes on with. */
static void signals_keep_inputs(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    const Fixture *fixture = *state;
    const Stop never = {0};
    assert_int_equal(run_line(fixture, VERIFY " -o %x.csv", never).code, 0);
    Output whole = read_named(fixture, "x.csv");
    long kept = 0;
    for (long at = 1;; at += 2) {
        remove_all(fixture);
        Ended ended = run_line(fixture, VERIFY " -o %x.csv", (Stop){at, signals[at % 3]});
        assert_true(ended.code == 0 || ended.signal == signals[at % 3]);
        Output said = read_file(fixture->said);
        kept += strstr(said.text, " kept; go on with: ") != NULL;
        if (ended.signal != 0) {
            assert_int_equal(run_line(fixture, VERIFY " -o %x.csv --resume", never).code, 0);
        }
        Output file = read_named(fixture, "x.csv");
        expect_same(&file, &whole, "ended by a signal and resumed");
        expect_only(fixture, "x.csv x.csv.json ", "a signal", at);
        if (ended.calls < at) {
            break;
        }
    }
    assert_true(kept >= 3);
}

/* A signal leaves all of the files, or none. */
static void signals_remove(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    const Fixture *fixture = *state;
    long ended_early = 0;
    for (long at = 1;; at++) {
        remove_all(fixture);
        Ended ended = run_line(fixture, "cost -o %c.csv", (Stop){at, signals[at % 3]});
        bool whole = file_exists(path_in(&fixture->scratch, "c.csv"));
        expect_only(fixture, whole ? "c.csv c.csv.json " : "", "a signal", at);
        if (ended.calls < at) {
            break;
        }
        assert_true(ended.code == 0 || ended.signal == signals[at % 3]);
        ended_early += ended.signal != 0;
    }
    print_message("%ld runs ended by a signal\n", ended_early);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

SUBJECT(killed)
{
    const struct CMUnitTest tests[] = {
        TEST(journals),       TEST(the_old_file_stays),
        TEST(other_commands), TEST(signals_keep_inputs),
        TEST(signals_remove),
    };
    return cmocka_run_group_tests_name("killed", tests, NULL, NULL);
}
