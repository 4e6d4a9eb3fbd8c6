/*
 * A long point survives as a sweep does: killed within a layer, it goes on behind the last one that
 * was kept, and its rows are the bytes of a run that nothing happened to.
 */
#include "../fixture.h"
#include "../interrupted.h"
#include "kill_points.h"

#include "../../harness/table/checkpoint.h"
#include "../../harness/table/checkpoint_directory.h"
#include "../unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef HEADPROOF_CHECK /* the debug build is some twenty times slower */
enum { DEPTH = 6, KILLS = 5 };
#else
enum { DEPTH = 24, KILLS = 10 };
#endif

#define POINT "--construction transformer --n 10 --d 16 --mask causal --omega 20"

typedef struct {
    Scratch scratch;
    char path[SCRATCH_PATH], whole[SCRATCH_PATH], kept[SCRATCH_PATH], said[SCRATCH_PATH];
} Fixture;

static int set_up(void **state)
{
    Fixture *fixture = fixture_make(sizeof *fixture);
    scratch_path(fixture->path, &fixture->scratch, "out.csv");
    scratch_path(fixture->whole, &fixture->scratch, "whole.csv");
    scratch_path(fixture->kept, &fixture->scratch, "out.csv.checkpoint");
    scratch_path(fixture->said, &fixture->scratch, "said");
    *state = fixture;
    return 0;
}

/* Checkpoints that are there; path (or NULL): the last of them.  With torn also those that a kill
 * left half written, under names with a dot. */
static int count_files(const Fixture *fixture, char *path, bool torn)
{
    DIR *directory = opendir(fixture->kept);
    const struct dirent *entry;
    int count = 0;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.' && (torn || strchr(entry->d_name, '.') == NULL)) {
            count++;
            if (path != NULL) {
                snprintf(path, 2 * SCRATCH_PATH, "%s/%s", fixture->kept, entry->d_name);
            }
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
    return count;
}

static int count_kept(const Fixture *fixture, char *path)
{
    return count_files(fixture, path, false);
}

static void remove_kept(const Fixture *fixture)
{
    char path[2 * SCRATCH_PATH];
    while (count_files(fixture, path, true) > 0) {
        assert_int_equal(unlink(path), 0);
    }
    (void)rmdir(fixture->kept);
}

static int tear_down(void **state)
{
    Fixture *fixture = *state;
    remove_kept(fixture);
    return fixture_tear_down(state);
}

static void sweep_line(char line[2048], const char *grid, int depth, const char *path,
                       const char *rest)
{
    assert_true(snprintf(line, 2048, "sweep %s --depth %d -o %s %s", grid, depth, path, rest) <
                2048);
}

/* By the program itself. */
static Output sweep_program(const char *grid, int depth, const char *path, const char *rest)
{
    char line[2048];
    sweep_line(line, grid, depth, path, rest);
    return run(line);
}

/* In a process of its own, as everything that takes up what another left: code and all messages. */
static Output sweep(const Fixture *fixture, const char *grid, int depth, const char *path,
                    const char *rest)
{
    char line[2048];
    sweep_line(line, grid, depth, path, rest);
    Ended ended = run_until(line, (Stop){0}, fixture->said);
    assert_true(ended.code >= 0);
    Output said = read_file(fixture->said);
    said.code = ended.code;
    return said;
}

/* Resumes the sweep with a checkpoint after every layer, until it stops. */
static Ended sweep_until(const Fixture *fixture, const char *grid, int depth, Stop stop)
{
    char line[2048];
    sweep_line(line, grid, depth, fixture->path, "--resume --checkpoint 0 --certify");
    Ended ended = run_until(line, stop, fixture->said);
    assert_true(stop.at > 0 || ended.code == 0);
    return ended;
}

/* Layers that a run took up of one evaluation, whose file's name this is. */
typedef struct {
    char name[64];
    long layers;
} Taken;

enum { EVALUATIONS = 16 };

/* The layers that the last run did not evaluate, over all that it took up, which goes into taken.
 * Of no evaluation are they fewer than a run before it had. */
static long layers_taken_up(const Fixture *fixture, Taken taken[EVALUATIONS])
{
    Output said = read_file(fixture->said);
    long sum = 0;
    assert_null(strstr(said.text, "warning"));
    char *rest, *line = strtok_r(said.text, "\n", &rest);
    for (; line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char name[64];
        long layers;
        size_t i = 0;
        const char *slash = strrchr(line, '/');
        if (slash == NULL ||
            sscanf(slash, "/%63[^:]: goes on behind layer %ld", name, &layers) != 2) {
            continue;
        }
        while (i < EVALUATIONS - 1 && *taken[i].name != '\0' && strcmp(taken[i].name, name) != 0) {
            i++;
        }
        assert_true(layers >= taken[i].layers);
        memcpy(taken[i].name, name, sizeof name);
        taken[i].layers = layers;
        sum += layers;
    }
    return sum;
}

/* So many kills, the first behind a checkpoint, the others anywhere among so many calls, then to
 * the end.  Returns the kills.  *layers: the most that a run took up. */
static int kill_until_done(const Fixture *fixture, const char *grid, int depth, int kills,
                           long calls, uint64_t *random, long *layers)
{
    Taken taken[EVALUATIONS] = {0};
    int killed = 0;
    *layers = 0;
    for (int i = 0; i <= kills; i++) {
        Stop stop = {STOP_CALL, 1 + (long)((double)calls * kill_share(random)), SIGKILL};
        stop = i == 0 ? (Stop){STOP_CHECKPOINT, depth, SIGKILL} : i < kills ? stop : (Stop){0};
        killed += sweep_until(fixture, grid, depth, stop).signal == SIGKILL;
        long now = layers_taken_up(fixture, taken);
        *layers = now > *layers ? now : *layers;
    }
    return killed;
}

static void expect_undisturbed(const Fixture *fixture, const Output *whole)
{
    Output file = read_file(fixture->path);
    expect_same(&file, whole, "killed and resumed");
    assert_false(file_exists(fixture->kept));
}

/* Every kind of evaluation: r(T') by its difference and by itself, a plan for one Omega, both
 * kernels and none, a base of its own at more bits, heads and direct operations. */
static void killed_within_a_point(void **state)
{
    static const char *const grids[] = {
        POINT,
        "--construction transformer --n 8 --d 12 --omega 3 --reference subtract",
        "--construction fused --n 8 --d 12 --omega 0.5 --mask causal --kernel structured",
        "--construction attention --n 8 --d 12 --omega 20 --arithmetic none --d-head 4",
        "--construction linear --linear clear --n 8 --d 12 --omega 20 --bias random",
        "--construction transformer3 --n 6 --d 8 --omega 10,20 --activation relu",
        "--construction fused --n 6 --d 8 --omega 10 --reference-form dense",
        "--construction transformer3 --n 6 --d 8 --omega 12 --propagation",
    };
    const Fixture *fixture = *state;
    uint64_t random = kill_seed();
    int kills = 0;
    long kept = 0;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        int depth = i == 6 ? DEPTH / 6 : DEPTH;
        long most;
        Ended first = sweep_until(fixture, grids[i], depth, (Stop){0});
        assert_int_equal(rename(fixture->path, fixture->whole), 0);
        Output whole = read_file(fixture->whole);
        kills += kill_until_done(fixture, grids[i], depth, i == 0 ? KILLS : 5, first.calls / 2,
                                 &random, &most);
        expect_undisturbed(fixture, &whole);
        kept += most;
        assert_int_equal(unlink(fixture->path), 0);
    }
    print_message("%d kills; runs took up to %ld layers up\n", kills, kept);
    assert_true(kills >= (int)(sizeof grids / sizeof *grids) && kept >= DEPTH);
}

/* Runs until something is kept, and stops there. */
static void interrupt_late(const Fixture *fixture, const char *grid, int signal)
{
    Ended ended = sweep_until(fixture, grid, DEPTH, (Stop){STOP_CHECKPOINT, DEPTH, signal});
    assert_int_equal(ended.signal, signal);
    assert_true(count_kept(fixture, NULL) > 0);
}

static void damage_is_found(void **state)
{
    const Fixture *fixture = *state;
    char path[2 * SCRATCH_PATH];
    Output first = sweep(fixture, POINT, DEPTH, fixture->whole, "--quiet");
    Output whole = read_file(fixture->whole);
    assert_int_equal(first.code, 0);
    for (int damage = 0; damage < 4; damage++) {
        interrupt_late(fixture, POINT, SIGKILL);
        assert_true(count_kept(fixture, path) > 0);
        Output state_kept = read_file(path);
        size_t length = state_kept.length;
        switch (damage) {
        case 0: length -= 1; break;                       /* torn */
        case 1: length = 5; break;                        /* next to nothing */
        case 2: state_kept.text[length / 2] ^= 1; break;  /* a bit */
        default: state_kept.text[length - 1] ^= 1; break; /* of the digest */
        }
        file_write(path, state_kept.text, length);
        Output again = sweep(fixture, POINT, DEPTH, fixture->path, "--resume --quiet");
        expect_says(&again, 0, "ignored: it is damaged");
        expect_undisturbed(fixture, &whole);
        assert_int_equal(unlink(fixture->path), 0);
    }
}

/* A file that is whole, but of another point. */
static void anothers_is_not_taken_up(void **state)
{
    const Fixture *fixture = *state;
    char ours[2 * SCRATCH_PATH], theirs[2 * SCRATCH_PATH];
    (void)sweep(fixture, POINT " --seed 2", DEPTH, fixture->whole, "--quiet");
    Output whole = read_file(fixture->whole);
    interrupt_late(fixture, POINT, SIGKILL);
    assert_true(count_kept(fixture, theirs) > 0);
    Output of_theirs = read_file(theirs);
    remove_kept(fixture);
    /* As long as there is one, it is of the same evaluation. */
    Ended ended =
        sweep_until(fixture, POINT " --seed 2", DEPTH, (Stop){STOP_CHECKPOINT, 1, SIGKILL});
    assert_int_equal(ended.signal, SIGKILL);
    assert_int_equal(count_kept(fixture, ours), 1);
    file_write(ours, of_theirs.text, of_theirs.length);
    Output again = sweep(fixture, POINT " --seed 2", DEPTH, fixture->path, "--resume --quiet");
    expect_says(&again, 0, "ignored: it is of another version, machine, weights file or point");
    expect_undisturbed(fixture, &whole);
}

/* A disk that takes the rows and no checkpoint: said once, and the run goes on. */
static void full_disk(void **state)
{
    const Fixture *fixture = *state;
    char script[2048];
    (void)sweep_program(POINT " --seed 1:2", DEPTH, fixture->whole, "--quiet");
    Output whole = read_file(fixture->whole);
    snprintf(script, sizeof script,
             "-c 'ulimit -f %zu; \"$HEADPROOF\" sweep " POINT
             " --seed 1:2 --depth %d --checkpoint 0 --quiet -o %s' 2>&1",
             whole.length / 512 + 16, DEPTH, fixture->path);
    Output full = run_program("sh", script);
    expect_says(&full, 0, ".checkpoint: cannot be written: File too large; the run goes on");
    assert_int_equal(lines(&full), 1);
    expect_undisturbed(fixture, &whole);
}

/* A signal before the first point says how to go on; a run that does not drops what is there,
 * unless it took a minute. */
static void leftovers(void **state)
{
    const Fixture *fixture = *state;
    char sidecar[SCRATCH_PATH], rows[SCRATCH_PATH];
    (void)sweep(fixture, POINT, DEPTH, fixture->whole, "--quiet");
    Output whole = read_file(fixture->whole);
    scratch_path(sidecar, &fixture->scratch, "out.csv.json.partial");
    interrupt_late(fixture, POINT, SIGTERM);
    Output said = read_file(fixture->said);
    expect_says(&said, 0, "0 of 1 points are kept; go on with: ");
    const struct timespec times[2] = {{.tv_sec = time(NULL) - 70}, {.tv_sec = time(NULL) - 70}};
    scratch_path(rows, &fixture->scratch, "out.csv.partial");
    /* The checkpoint alone is of now. */
    assert_int_equal(utimensat(AT_FDCWD, sidecar, times, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, rows, times, 0), 0);
    Output refused = sweep(fixture, POINT, DEPTH, fixture->path, "--quiet");
    expect_says(&refused, 2, "1 minutes of work: --resume goes on with them");
    assert_true(count_kept(fixture, NULL) > 0);
    assert_int_equal(utimensat(AT_FDCWD, rows, NULL, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, sidecar, NULL, 0), 0);
    Output anew = sweep(fixture, POINT, DEPTH, fixture->path, "");
    assert_int_equal(anew.code, 0);
    assert_null(strstr(anew.text, "goes on behind"));
    expect_undisturbed(fixture, &whole);
}

/* What takes less than the time that was asked for leaves nothing. */
static void short_points_cost_nothing(void **state)
{
    const Fixture *fixture = *state;
    char line[2048];
    sweep_line(line, POINT, DEPTH, fixture->path, "--checkpoint 3600");
    Ended ended = run_until(line, (Stop){STOP_CHECKPOINT, 1, SIGKILL}, fixture->said);
    assert_int_equal(ended.code, 0);
    assert_false(file_exists(fixture->kept));
    Output bad = run("sweep --checkpoint -1 2>&1");
    expect_says(&bad, 2, "--checkpoint: token '-1'");
}

/* Once its seconds are over, and a hundredth of the work since the last at most; always with 0. */
static void as_often_as_is_worth_it(void **state)
{
    static const struct {
        double seconds, worked, cost;
        bool due;
    } cases[] = {
        {10, 9.9, 0, false},    {10, 10, 0, true},     {10, 10, 0.1, true}, {10, 10, 0.11, false},
        {10, 50, 0.49, true},   {10, 50, 0.51, false}, {10, 99, 1, false},  {10, 101, 1, true},
        {3600, 1000, 1, false}, {0, 0, 0, true},       {0, 1, 1000, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(checkpoint_is_due(cases[i].seconds, cases[i].worked, cases[i].cost),
                         cases[i].due);
    }
}

static void expect_no_sweep(const Fixture *fixture, const char *rest, const char *says)
{
    Output refused = sweep(fixture, POINT, 1, fixture->path, rest);
    expect_says(&refused, 2, says);
}

/* What is not a checkpoint is neither removed nor followed, before any work. */
static void others_are_left_alone(void **state)
{
    static const char *const rests[] = {"--quiet", "--quiet --resume"};
    const Fixture *fixture = *state;
    char home[SCRATCH_PATH], thesis[2 * SCRATCH_PATH], torn[2 * SCRATCH_PATH];
    scratch_path(home, &fixture->scratch, "home");
    snprintf(thesis, sizeof thesis, "%s/thesis.tex", home);
    assert_int_equal(mkdir(home, 0700), 0);
    file_write(thesis, "a\n", 2);
    for (int i = 0; i < 2; i++) {
        /* A link, a file, a directory with a file, one of a checkpoint's name, a pipe, a link. */
        assert_int_equal(symlink(home, fixture->kept), 0);
        expect_no_sweep(fixture, rests[i], "out.csv.checkpoint': expected nothing there but");
        assert_int_equal(unlink(fixture->kept), 0);
        file_write(fixture->kept, "b\n", 2);
        expect_no_sweep(fixture, rests[i], "out.csv.checkpoint': expected nothing there but");
        assert_int_equal(unlink(fixture->kept), 0);
        for (int kind = 0; kind < 4; kind++) {
            snprintf(torn, sizeof torn, "%s/%s", fixture->kept,
                     kind == 0 ? "thesis.tex" : "0123456789abcdef-base-53");
            assert_int_equal(mkdir(fixture->kept, 0700), 0);
            if (kind == 2) {
                assert_int_equal(mkfifo(torn, 0600), 0);
            } else if (kind == 3) {
                assert_int_equal(symlink(thesis, torn), 0);
            } else {
                file_write(torn, "head of a thesis\n", 17);
            }
            expect_no_sweep(fixture, rests[i], kind == 3 ? strerror(ELOOP) : "it is no checkpoint");
            assert_int_equal(unlink(torn), 0);
            assert_int_equal(rmdir(fixture->kept), 0);
        }
    }
    assert_false(file_exists(fixture->path));
    assert_int_equal(unlink(thesis), 0);
    assert_int_equal(rmdir(home), 0);
}

/* What somebody put there while a run went on stays when it ends. */
static void only_checkpoints_are_removed(void **state)
{
    const Fixture *fixture = *state;
    char own[2 * SCRATCH_PATH], other[2 * SCRATCH_PATH];
    snprintf(own, sizeof own, "%s/0123456789abcdef-base-53", fixture->kept);
    snprintf(other, sizeof other, "%s/0123456789abcdef-thesis", fixture->kept);
    assert_int_equal(mkdir(fixture->kept, 0700), 0);
    file_write(own, "headproof checkpoint 1\n", 23);
    file_write(other, "headproof checkpoint 1\n", 23);
    checkpoint_directory_remove(fixture->kept, "0123456789abcdef");
    assert_false(file_exists(own));
    assert_true(file_exists(other));
}

/* A run that comes later to a complete file removes what a kill before it was complete left. */
static void left_behind_a_complete_file(void **state)
{
    static const char *const rests[] = {"--quiet", "--quiet --resume"};
    const Fixture *fixture = *state;
    for (int i = 0; i < 2; i++) {
        char path[2 * SCRATCH_PATH];
        (void)sweep(fixture, POINT, 1, fixture->path, "--quiet");
        snprintf(path, sizeof path, "%s/0123456789abcdef-base-53.0a1b2c", fixture->kept);
        assert_int_equal(mkdir(fixture->kept, 0700), 0);
        file_write(path, "headproof check", 15);
        Output again = sweep(fixture, POINT, 1, fixture->path, rests[i]);
        assert_int_equal(again.code, 0);
        assert_false(file_exists(fixture->kept));
    }
}

/* The directory lies beside what a link leads to, as everything else does. */
static void beside_a_links_target(void **state)
{
    const Fixture *fixture = *state;
    char link_path[SCRATCH_PATH], line[2048];
    scratch_path(link_path, &fixture->scratch, "link.csv");
    file_write(fixture->path, "old\n", 4);
    assert_int_equal(symlink("out.csv", link_path), 0);
    sweep_line(line, POINT, DEPTH, link_path, "--checkpoint 0 --quiet");
    Ended ended = run_until(line, (Stop){STOP_CHECKPOINT, 1, SIGKILL}, fixture->said);
    assert_int_equal(ended.signal, SIGKILL);
    assert_int_equal(count_kept(fixture, NULL), 1);
}

/* Where a layer of --propagation starts from is kept: killed behind every layer of the rows,
 * which come behind those of r(T) and of m(T). */
static void propagation_goes_on(void **state)
{
    enum { LAYERS = 4, STAGES_BEFORE = 2 };
    static const char grid[] = "--construction transformer3 --n 4 --d 6 --omega 12 --precision 256 "
                               "--propagation";
    const Fixture *fixture = *state;
    (void)sweep_until(fixture, grid, LAYERS, (Stop){0});
    assert_int_equal(rename(fixture->path, fixture->whole), 0);
    Output whole = read_file(fixture->whole);
    for (int layer = 1; layer < LAYERS; layer++) {
        char says[64];
        Stop stop = {STOP_CHECKPOINT, STAGES_BEFORE * LAYERS + layer, SIGKILL};
        assert_int_equal(sweep_until(fixture, grid, LAYERS, stop).signal, SIGKILL);
        (void)sweep_until(fixture, grid, LAYERS, (Stop){0});
        Output said = read_file(fixture->said);
        snprintf(says, sizeof says, "-propagation-256: goes on behind layer %d", layer);
        assert_non_null(strstr(said.text, says));
        expect_undisturbed(fixture, &whole);
        assert_int_equal(unlink(fixture->path), 0);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

SUBJECT(checkpoint)
{
    const struct CMUnitTest tests[] = {
        TEST(killed_within_a_point),
        TEST(propagation_goes_on),
        TEST(damage_is_found),
        TEST(anothers_is_not_taken_up),
        TEST(full_disk),
        TEST(leftovers),
        TEST(short_points_cost_nothing),
        cmocka_unit_test(as_often_as_is_worth_it),
        TEST(others_are_left_alone),
        TEST(only_checkpoints_are_removed),
        TEST(left_behind_a_complete_file),
        TEST(beside_a_links_target),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
