/*
 * Syncs before a file gets its name, and a lock that is of the file it was meant for.
 *
 * fsync, rename and fcntl stand before the C library's here.  A file that is renamed, or that a
 * caller was told is on disk, must have been synced as it is; the directory must have been after
 * its names changed.
 */
/* syscall is not in POSIX. */
#define _GNU_SOURCE

#include "../fixture.h"

#include "../../harness/base/atomic_file.h"
#include "../../harness/table/journal.h"
#include "../../harness/table/sink.h"
#include "../unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SYNCED_MOST = 256 };

/* Files as they were when they were synced. */
static struct stat synced[SYNCED_MOST];
static size_t synced_count;
static bool renamed;                 /* since a directory was synced */
static bool looking;                 /* this subject is the one that is run */
static char unsynced[SCRATCH_PATH];  /* what was renamed without, if anything */
static char overtaken[SCRATCH_PATH]; /* renamed to the same without .partial before it is locked */

static bool is_synced(const struct stat *found)
{
    for (size_t i = 0; i < synced_count; i++) {
        const struct stat *s = &synced[i];
        if (s->st_ino == found->st_ino && s->st_dev == found->st_dev &&
            s->st_size == found->st_size && s->st_mtim.tv_sec == found->st_mtim.tv_sec &&
            s->st_mtim.tv_nsec == found->st_mtim.tv_nsec) {
            return true;
        }
    }
    return false;
}

int fsync(int fd)
{
    if (!looking) {
        return (int)syscall(SYS_fsync, fd);
    }
    assert_true(synced_count < SYNCED_MOST);
    assert_int_equal(fstat(fd, &synced[synced_count]), 0);
    renamed = renamed && !S_ISDIR(synced[synced_count].st_mode);
    synced_count++;
    return 0;
}

static void look_before_renaming(int directory, const char *from)
{
    struct stat found;
    renamed = true;
    if (looking && fstatat(directory, from, &found, 0) == 0 && !is_synced(&found)) {
        snprintf(unsynced, sizeof unsynced, "%s", from);
    }
}

int rename(const char *from, const char *to)
{
    look_before_renaming(AT_FDCWD, from);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    look_before_renaming(from_directory, from);
    return (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, 0);
}

/* Another run ends between the opening of a file and its lock. */
static void overtake(void)
{
    char path[SCRATCH_PATH];
    size_t length = strlen(overtaken);
    if (length > 0) {
        snprintf(path, sizeof path, "%.*s", (int)(length - strlen(".partial")), overtaken);
        (void)syscall(SYS_renameat2, AT_FDCWD, overtaken, AT_FDCWD, path, 0);
        *overtaken = '\0';
    }
}

int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (command == F_SETLK) {
        overtake();
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

static int set_up(void **state)
{
    synced_count = 0;
    renamed = false;
    *unsynced = *overtaken = '\0';
    return csv_set_up(state);
}

static void expect_synced(const char *path)
{
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    if (!is_synced(&found)) {
        fail_msg("%s is not on disk", path);
    }
}

static void expect_names_synced(void)
{
    assert_false(renamed);
    assert_string_equal(unsynced, "");
}

/* One point of a sweep that is never evaluated. */
typedef struct {
    Point point;
    Grid grid;
    char *section;
    size_t points[1];
    bool passed[1];
    SweepRecord sweep;
    RunRecord run;
    char *arguments[2];
} Made;

static void make(Made *made)
{
    *made = (Made){.section = "", .arguments = {"headproof", "sweep"}};
    made->point = (Point){.omega = 5, .reference = REFERENCE_SUBTRACT, .max_bits = 65536};
    made->point.spec = (CaseSpec){.construction = CONSTRUCTION_SILU, .n = 2, .d = 3, .depth = 1};
    made->grid = (Grid){.points = &made->point, .section = &made->section, .count = 1};
    made->sweep = (SweepRecord){
        .points = made->points, .count = 1, .shard = 1, .shards = 1, .passed = made->passed};
    made->run =
        (RunRecord){.argc = 2, .argv = made->arguments, .grid = &made->grid, .sweep = &made->sweep};
}

static void rows_are_on_disk(void **state)
{
    const FileFixture *fixture = *state;
    const JournalPoint point = {0, 4, "row\n", 1};
    Journal *journal;
    Made made;
    make(&made);
    assert_int_equal(journal_open(&journal, NULL, fixture->path, false, &made.run), 0);
    assert_int_equal(journal_begin(journal, &made.run), 0);
    expect_synced(fixture->partial);
    expect_synced(fixture->scratch.directory);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(journal_append(journal, &point), 0);
        assert_int_equal(journal_sync(journal), 0);
        expect_synced(fixture->partial);
    }
    assert_int_equal(journal_append(journal, &point), 0);
    synced_count = 0;
    assert_int_equal(journal_finish(journal, "header\n", &made.run), 0);
    expect_synced(fixture->path);
    expect_synced(fixture->sidecar);
    expect_names_synced();
    journal_clear(journal);
}

static void results_are_on_disk(void **state)
{
    const FileFixture *fixture = *state;
    AtomicFile file = {.table = true};
    Made made;
    make(&made);
    made.run.sweep = NULL;
    assert_int_equal(atomic_file_open(&file, fixture->path), 0);
    fputs("rows\n", file.file);
    assert_int_equal(sidecar_publish(&file, &made.run), 0);
    atomic_file_clear(&file);
    expect_synced(fixture->path);
    expect_synced(fixture->sidecar);
    expect_names_synced();
}

/* The lock is of a file that has its name by now: it is left as it is. */
static void a_lock_that_came_late(void **state)
{
    static const char rows[] = "{\"schema\": 6}\n";
    FileFixture *fixture = *state;
    for (int kept = 0; kept < 2; kept++) {
        AtomicFile file = {.kept = kept};
        file_write(fixture->partial, rows, strlen(rows));
        snprintf(overtaken, sizeof overtaken, "%s", fixture->partial);
        stderr_hold(&fixture->scratch);
        int status = atomic_file_open(&file, fixture->path);
        stderr_take(fixture->text, &fixture->scratch);
        assert_string_equal(overtaken, "");
        atomic_file_clear(&file);
        assert_int_equal(file_read(fixture->text, fixture->path), (long)strlen(rows));
        assert_string_equal(fixture->text, rows);
        assert_int_equal(status, 2);
        assert_int_equal(unlink(fixture->path), 0);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, fixture_tear_down)

SUBJECT(durable)
{
    looking = true;
    const struct CMUnitTest tests[] = {
        TEST(rows_are_on_disk),
        TEST(results_are_on_disk),
        TEST(a_lock_that_came_late),
    };
    return cmocka_run_group_tests_name("durable", tests, NULL, NULL);
}
