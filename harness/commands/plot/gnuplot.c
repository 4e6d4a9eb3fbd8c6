/*
 * gnuplot as a child process.
 *
 * The script is its stdin and a pipe its stdout, so that no name of a file passes through a shell
 * or through gnuplot, and that every write to a disk is the program's own, and checked.
 */
#include "gnuplot.h"

#include "../../base/exhausted.h"
#include "../../base/interrupt.h"
#include "../../base/message.h"
#include "../../base/progress.h"
#include "../../base/shown.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int failed(const char *what, int error)
{
    fprintf(stderr, "headproof: gnuplot: %s: %s\n", what, strerror(error));
    return 99;
}

/* stdin, stdout and stderr of the child, and no other descriptor. */
static int set_streams(posix_spawn_file_actions_t *actions, int in, int out, int err)
{
    int status = posix_spawn_file_actions_adddup2(actions, in, STDIN_FILENO);
    status = status != 0 ? status : posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
    return status != 0 ? status : posix_spawn_file_actions_adddup2(actions, err, STDERR_FILENO);
}

/* Signals as a program expects them at its start: this one may hold some of them back. */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, standard;
    sigemptyset(&none);
    sigemptyset(&standard);
    sigaddset(&standard, SIGPIPE);
    sigaddset(&standard, SIGXFSZ);
    int status = posix_spawnattr_setsigmask(attributes, &none);
    status = status != 0 ? status : posix_spawnattr_setsigdefault(attributes, &standard);
    return status != 0 ? status
                       : posix_spawnattr_setflags(attributes,
                                                  POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* Starts it with these streams.  0, or an error's number. */
static int start(pid_t *child, int in, int out, int err)
{
    char name[] = "gnuplot", option[] = "-d"; /* nobody's ~/.gnuplot */
    char *const words[] = {name, option, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int status = posix_spawn_file_actions_init(&actions);
    if (status != 0) {
        return status;
    }
    status = posix_spawnattr_init(&attributes);
    if (status == 0) {
        status = set_streams(&actions, in, out, err);
        status = status != 0 ? status : set_signals(&attributes);
        status =
            status != 0 ? status : posix_spawnp(child, name, &actions, &attributes, words, environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return status;
}

/* Waits for bytes in the pipe.  0, or an error's number: ETIMEDOUT once it is too late. */
static int wait_for_bytes(int pipe_end, double until)
{
    struct pollfd out = {.fd = pipe_end, .events = POLLIN};
    double left = until - clock_seconds();
    int got = left > 0 ? poll(&out, 1, (int)fmin(1000 * left + 1, INT_MAX)) : 0;
    return got > 0 || (got < 0 && errno == EINTR) ? 0 : got == 0 ? ETIMEDOUT : errno;
}

/* *text [*size] = all that comes out of the pipe.  0, or an error's number. */
static int read_all(char **text, size_t *size, int pipe_end, double until)
{
    size_t room = 1 << 16;
    *size = 0;
    *text = malloc(room);
    if (*text == NULL) {
        return ENOMEM;
    }
    for (ssize_t got = 1; got != 0;) {
        if (room - *size < room / 2) {
            char *longer = realloc(*text, room *= 2);
            if (longer == NULL) {
                return ENOMEM; /* what there is, is the caller's */
            }
            *text = longer;
        }
        int status = wait_for_bytes(pipe_end, until);
        if (status != 0) {
            return status;
        }
        got = read(pipe_end, *text + *size, room - *size - 1);
        if (got < 0 && errno != EINTR) {
            return errno;
        }
        *size += got > 0 ? (size_t)got : 0;
        got = got < 0 ? 1 : got;
    }
    (*text)[*size] = '\0';
    return 0;
}

/* How the child ends.  0, or an error's number: it is ended where it does not in time. */
static int wait_for_end(int *end, pid_t child, double until)
{
    const struct timespec moment = {0, 1000000};
    int status = 0;
    for (pid_t got = 0; got != child;) {
        got = waitpid(child, end, status == 0 ? WNOHANG : 0);
        if (got < 0 && errno != EINTR) {
            return errno;
        }
        if (got == 0 && clock_seconds() >= until) {
            status = ETIMEDOUT;
            (void)kill(child, SIGKILL);
        } else if (got == 0) {
            nanosleep(&moment, NULL);
        }
    }
    return status;
}

/* What it said, its last line that is not blank. */
static void quote_complaint(FILE *said)
{
    char line[512], last[512] = "nothing was said";
    rewind(said);
    while (fgets(line, sizeof line, said) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[strspn(line, " \t^")] != '\0') {
            memcpy(last, line, sizeof last);
        }
    }
    fprintf(stderr, "headproof: gnuplot failed: %s\n", shown(last).text);
}

/* Collects what the child prints and how it ends. */
static int finish(char **picture, size_t *size, pid_t child, int pipe_end, FILE *said,
                  double seconds)
{
    double until = clock_seconds() + seconds;
    int status = read_all(picture, size, pipe_end, until), end = 0;
    (void)close(pipe_end); /* a child that still writes ends by it */
    int waited = wait_for_end(&end, child, status == 0 ? until : 0);
    if (status == ETIMEDOUT || (status == 0 && waited == ETIMEDOUT)) {
        fprintf(stderr, "headproof: gnuplot: no picture after %g s: it was ended\n", seconds);
        return 99;
    }
    if (status != 0 || waited != 0) {
        return failed("its picture cannot be read", status != 0 ? status : waited);
    }
    if (!WIFEXITED(end) || WEXITSTATUS(end) != 0 || *size == 0) {
        quote_complaint(said);
        return 99;
    }
    return 0;
}

/* A signal that ends the run: the child is ended, and nothing else is there to be done. */
static void say_nothing(void *context, bool locked)
{
    (void)context;
    (void)locked;
}

static int run_with(char **picture, size_t *size, FILE *script, FILE *said, double seconds)
{
    int ends[2];
    pid_t child = -1;
    if (pipe(ends) != 0) {
        return failed("a pipe", errno);
    }
    int status =
        fcntl(ends[0], F_SETFD, FD_CLOEXEC) != 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) != 0
            ? errno
            : start(&child, fileno(script), ends[1], fileno(said));
    (void)close(ends[1]); /* it is the child's */
    if (status == 0) {
        exhausted_take_child(child);
        status = finish(picture, size, child, ends[0], said, seconds);
        exhausted_take_child(0);
        return status;
    }
    (void)close(ends[0]);
    if (status != ENOENT) {
        return failed("it cannot be started", status);
    }
    fprintf(stderr, "headproof: gnuplot is not installed; it is in the package gnuplot-nox of "
                    "Debian and Ubuntu, gnuplot of others\n");
    return EXIT_ABSENT;
}

int gnuplot_run(char **picture, size_t *size, FILE *script, double seconds)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    *picture = NULL;
    *size = 0;
    if (fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0) {
        return failed("its script cannot be written", errno);
    }
    FILE *said = tmpfile();
    if (said == NULL) {
        return failed("a file for what it says", errno);
    }
    Interrupt *interrupt = interrupt_open(&lock, say_nothing, NULL);
    int status =
        interrupt == NULL ? memory_fault() : run_with(picture, size, script, said, seconds);
    interrupt_close(interrupt);
    (void)fclose(said); /* it was only read */
    return status;
}
