/*
 * gnuplot as a child process.
 *
 * The script is its stdin and its stdout a file without a name, so that no name passes through a
 * shell or through gnuplot.  What it writes is read and looked at before anything is made of it.
 */
#include "gnuplot.h"

#include "../../base/exhausted.h"
#include "../../base/interrupt.h"
#include "../../base/message.h"
#include "../../base/progress.h"
#include "../../base/shown.h"

#include <errno.h>
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

/* *text [*size] = all that is in a file.  0, or an error's number. */
static int read_all(char **text, size_t *size, FILE *file)
{
    long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (end < 0 || fseek(file, 0, SEEK_SET) != 0) {
        return errno;
    }
    *text = malloc((size_t)end + 1);
    if (*text == NULL) {
        return ENOMEM;
    }
    *size = fread(*text, 1, (size_t)end, file);
    (*text)[*size] = '\0';
    return *size == (size_t)end ? 0 : EIO;
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

/* Quotes gnuplot's complaint: its last line that is not blank. */
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

/* A signal that ends the run: the child is ended, and nothing else is there to be done. */
static void say_nothing(void *context, bool locked)
{
    (void)context;
    (void)locked;
}

static int run_with(char **picture, size_t *size, FILE *script, FILE *said, FILE *drawn,
                    double seconds)
{
    pid_t child = -1;
    int end = 0, status = start(&child, fileno(script), fileno(drawn), fileno(said));
    if (status == ENOENT) {
        fprintf(stderr, "headproof: gnuplot is not installed; it is in the package gnuplot-nox of "
                        "Debian and Ubuntu, gnuplot of others\n");
        return EXIT_ABSENT;
    }
    if (status != 0) {
        return failed("it cannot be started", status);
    }
    exhausted_take_child(child);
    status = wait_for_end(&end, child, clock_seconds() + seconds);
    exhausted_take_child(0);
    if (status == ETIMEDOUT) {
        fprintf(stderr, "headproof: gnuplot: no picture after %g s: it was ended\n", seconds);
        return 99;
    }
    status = status != 0 ? status : read_all(picture, size, drawn);
    if (status != 0) {
        return failed("its picture cannot be read", status);
    }
    if (!WIFEXITED(end) || WEXITSTATUS(end) != 0 || *size == 0) {
        quote_complaint(said);
        return 99;
    }
    return 0;
}

int gnuplot_run(char **picture, size_t *size, FILE *script, double seconds)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    *picture = NULL;
    *size = 0;
    if (fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0) {
        return failed("its script cannot be written", errno);
    }
    FILE *said = tmpfile(), *drawn = said == NULL ? NULL : tmpfile();
    Interrupt *interrupt = drawn == NULL ? NULL : interrupt_open(&lock, say_nothing, NULL);
    int status = drawn == NULL       ? failed("a file for what it says", errno)
                 : interrupt == NULL ? memory_fault()
                                     : run_with(picture, size, script, said, drawn, seconds);
    interrupt_close(interrupt);
    if (drawn != NULL) {
        (void)fclose(drawn); /* both were only read */
    }
    if (said != NULL) {
        (void)fclose(said);
    }
    return status;
}
