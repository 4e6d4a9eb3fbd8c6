/*
 * Runs that are stopped at a system call.
 *
 * The functions below stand before the C library's of the same names: they count, stop where they
 * are told to, and make the system call themselves.
 */
/* syscall is not in POSIX. */
#define _GNU_SOURCE

#include "kill_points.h"

#include "../../harness/commands/commands.h"
#include "../unit.h"

#include <cblas.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 48 };

/* Shared with the process that is stopped. */
typedef struct {
    atomic_long calls;
    atomic_bool stopped;
} Counts;

static Counts *counts;
static Stop wanted;
static bool counting;

/* A signal that is waited for with a lock which this thread may hold ends the process a little
 * later: it goes on. */
static void stop_here(void)
{
    atomic_store(&counts->stopped, true);
    if (wanted.signal != 0) {
        (void)kill(getpid(), wanted.signal);
        (void)usleep(20000);
        return;
    }
    for (;;) {
        pause();
    }
}

/* True when this call is the one before which to stop. */
static bool is_last(void)
{
    return counting && atomic_fetch_add(&counts->calls, 1) + 1 == wanted.at;
}

static void count_call(void)
{
    if (is_last()) {
        stop_here();
    }
}

static int open_at(int directory, const char *path, int flags, mode_t mode)
{
    if ((flags & O_CREAT) != 0) {
        count_call();
    }
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_at(directory, path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    if (is_last()) {
        ssize_t half = syscall(SYS_write, fd, bytes, count / 2);
        stop_here();
        return half;
    }
    return syscall(SYS_write, fd, bytes, count);
}

/* A kill loses nothing that the system has: waiting for the disk would only take time. */
int fsync(int fd)
{
    count_call();
    return counting ? fcntl(fd, F_GETFD) & 0 : (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t length)
{
    count_call();
    return (int)syscall(SYS_ftruncate, fd, length);
}

int rename(const char *from, const char *to)
{
    count_call();
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    count_call();
    return (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, 0);
}

int mkdir(const char *path, mode_t mode)
{
    count_call();
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int unlinkat(int directory, const char *path, int flags)
{
    count_call();
    return (int)syscall(SYS_unlinkat, directory, path, flags);
}

int unlink(const char *path)
{
    count_call();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    count_call();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

/* ---- A command in a process of its own ---------------------------------------------------- */

static int run_words(int argc, char **argv)
{
    const CommandInfo *command = commands_find(argv[1]);
    Grid grid;
    RunOptions run;
    if (command->run == NULL) {
        return command->run_words(argc, argv);
    }
    int status = grid_read(&grid, &run, command, argc - 1, argv + 1);
    if (status == 0) {
        run.argc = argc;
        run.argv = argv;
        status = command->run(&grid, &run);
        grid_clear(&grid);
    }
    return status;
}

/* In the new process; does not return. */
static void become(const char *line, Stop stop, const char *said)
{
    char copy[2048], *argv[WORDS + 1] = {(char[]){"headproof"}}, *rest = copy, *word;
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    while ((word = strtok_r(rest, " ", &rest)) != NULL && argc < WORDS) {
        argv[argc++] = word;
    }
    if (freopen(said, "w", stdout) == NULL || dup2(STDOUT_FILENO, STDERR_FILENO) < 0) {
        _exit(126);
    }
    openblas_set_num_threads(1);
    wanted = stop;
    counting = true;
    int status = run_words(argc, argv);
    counting = false;
    _exit(fflush(stdout) != 0 ? 126 : status);
}

static pid_t start(const char *line, Stop stop, const char *said)
{
    if (counts == NULL) {
        counts =
            mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_true(counts != MAP_FAILED);
    }
    *counts = (Counts){0};
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        become(line, stop, said);
    }
    return child;
}

Ended run_until(const char *line, Stop stop, const char *said)
{
    int status;
    pid_t child = start(line, stop, said);
    assert_int_equal(waitpid(child, &status, 0), child);
    return (Ended){.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                   .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                   .calls = atomic_load(&counts->calls)};
}

pid_t start_until(const char *line, Stop stop, const char *said)
{
    pid_t child = start(line, stop, said);
    while (!atomic_load(&counts->stopped)) {
        int status;
        if (waitpid(child, &status, WNOHANG) == child) {
            return -1;
        }
        (void)usleep(1000);
    }
    return child;
}
