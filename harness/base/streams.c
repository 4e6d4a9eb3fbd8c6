/*
 * The standard streams.
 *
 * A program may be started with stdin, stdout or stderr closed.  Then the first file that it opens
 * would get that number, and what is printed would go into it.
 */
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int streams_open(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        /* A directory can neither be read nor written: a table for a closed stdout fails, where
         * /dev/null would swallow it, under the name /dev/stdout too. */
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            int opened = open("/", O_RDONLY | O_DIRECTORY);
            if (opened != fd) {
                return 99;
            }
        }
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    return sigaction(SIGXFSZ, &ignore, NULL) == 0 ? 0 : 99;
}

/* Not SIG_IGN, which would hide that the signal was not ignored before. */
static void note_nothing(int signal)
{
    (void)signal;
}

int streams_outlive_readers(void)
{
    struct sigaction now, note = {.sa_handler = note_nothing, .sa_flags = SA_RESTART};
    if (sigaction(SIGPIPE, NULL, &now) != 0) {
        return -1;
    }
    return now.sa_handler == SIG_DFL ? sigaction(SIGPIPE, &note, NULL) : 0;
}

/* True when stdout is a pipe without a reader, and the parent process has not asked, by
 * ignoring the signal, that this be an error like any other. */
static bool reader_is_gone(void)
{
    struct sigaction now;
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler != SIG_IGN &&
           poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

int streams_stdout_failed(void)
{
    if (!reader_is_gone()) {
        fprintf(stderr, "headproof: stdout: cannot be written: %s\n",
                strerror(errno != 0 ? errno : EIO));
    }
    return 99;
}

int streams_finish(int status)
{
    errno = 0;
    bool failed = fflush(stdout) != 0 || ferror(stdout);
    return failed && status != 99 ? streams_stdout_failed() : status;
}

void streams_end(void)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    if (ferror(stdout) && reader_is_gone()) {
        (void)sigaction(SIGPIPE, &standard, NULL);
        (void)raise(SIGPIPE);
    }
}
