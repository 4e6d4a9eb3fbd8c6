/*
 * A picture as the bytes of a file.
 *
 * gnuplot's stdin is the script and its stdout a pipe, so that no name passes through a shell or
 * through gnuplot.  It does not look whether what it writes arrives: into a file on a full disk it
 * may lose a part, and end well.  A pipe takes all of it, or ends it by a signal.
 */
#include "picture.h"

#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../base/text_stream.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long gnuplot may take; what a child ends with that is none. */
enum { GNUPLOT_SECONDS = 300, CODE_ABSENT = 127, CODE_FAILED = 126 };

static int failed(const char *what, int error)
{
    fprintf(stderr, "headproof: gnuplot: %s: %s\n", what, strerror(error));
    return 99;
}

/* ---- gnuplot --------------------------------------------------------------------------------- */

/* Becomes gnuplot with these streams, for so many seconds, and no longer than its parent; signals
 * are as a program expects them at its start. */
static void become_gnuplot(FILE *script, const int out[2], FILE *said, unsigned seconds)
{
    static const int signals[] = {SIGPIPE, SIGXFSZ, SIGALRM};
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigemptyset(&none);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        (void)sigaction(signals[i], &standard, NULL);
    }
    bool ready = sigprocmask(SIG_SETMASK, &none, NULL) == 0 &&
                 prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && dup2(fileno(script), STDIN_FILENO) >= 0 &&
                 dup2(out[1], STDOUT_FILENO) >= 0 && dup2(fileno(said), STDERR_FILENO) >= 0 &&
                 close(out[0]) == 0 && close(out[1]) == 0;
    (void)alarm(seconds);
    if (ready) {
        execlp("gnuplot", "gnuplot", "-d", (char *)NULL); /* nobody's ~/.gnuplot */
    }
    _exit(ready && errno == ENOENT ? CODE_ABSENT : CODE_FAILED);
}

/* Takes all that comes through the pipe.  0, or an error's number. */
static int take_all(FILE *drawn, int pipe)
{
    char part[65536];
    for (;;) {
        ssize_t got = read(pipe, part, sizeof part);
        if (got == 0) {
            return 0;
        }
        if (got < 0 && errno != EINTR) {
            return errno;
        }
        if (got > 0 && fwrite(part, 1, (size_t)got, drawn) != (size_t)got) {
            return ENOMEM;
        }
    }
}

/* Reports how gnuplot ended; of its complaint the last line that is not blank. */
static int judge(int end, FILE *said, unsigned seconds)
{
    char line[512], last[512] = "nothing was said";
    if (WIFEXITED(end) && WEXITSTATUS(end) == 0) {
        return 0;
    }
    if (WIFEXITED(end) && WEXITSTATUS(end) == CODE_ABSENT) {
        fprintf(stderr, "headproof: gnuplot is not installed; it is in the package gnuplot-nox of "
                        "Debian and Ubuntu, gnuplot of others\n");
        return EXIT_ABSENT;
    }
    if (WIFSIGNALED(end) && WTERMSIG(end) == SIGALRM) {
        fprintf(stderr, "headproof: gnuplot: no picture after %u s: it was ended\n", seconds);
        return 99;
    }
    rewind(said);
    while (fgets(line, sizeof line, said) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[strspn(line, " \t^")] != '\0') {
            memcpy(last, line, sizeof last);
        }
    }
    fprintf(stderr, "headproof: gnuplot failed: %s\n", shown(last).text);
    return 99;
}

static int run_gnuplot(FILE *drawn, FILE *script, FILE *said, unsigned seconds)
{
    int out[2], end = 0;
    if (pipe(out) != 0) {
        return failed("no pipe", errno);
    }
    pid_t child = fork();
    if (child == 0) {
        become_gnuplot(script, out, said, seconds);
    }
    int error = child < 0 ? errno : 0;
    (void)close(out[1]); /* the child has its own */
    int lost = child > 0 ? take_all(drawn, out[0]) : 0;
    (void)close(out[0]); /* what it still writes ends it */
    while (child > 0 && waitpid(child, &end, 0) < 0 && errno == EINTR) {
    }
    return error != 0  ? failed("it cannot be started", error)
           : lost != 0 ? failed("its picture cannot be read", lost)
                       : judge(end, said, seconds);
}

int render_script(char **drawn, size_t *size, FILE *script, unsigned seconds)
{
    *drawn = NULL;
    *size = 0;
    if (ferror(script) || fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0) {
        return failed("its script cannot be written", errno);
    }
    FILE *said = tmpfile();
    if (said == NULL) {
        return failed("a file for what it says", errno);
    }
    FILE *stream = text_stream(drawn, size);
    int status = run_gnuplot(stream, script, said, seconds);
    if (fclose(stream) != 0 && status == 0) {
        status = memory_fault();
    }
    (void)fclose(said); /* it was only read */
    return status;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

/* Does a picture end as it has to?  Else gnuplot broke off. */
static bool is_whole(const char *text, size_t size, Target target)
{
    static const char *const marks[] = {
        [TARGET_SVG] = "</svg>", [TARGET_PNG] = "IEND\xae\x42\x60\x82", [TARGET_PDF] = "%%EOF"};
    size_t length = strlen(marks[target]);
    while (size > 0 && text[size - 1] == '\n') {
        size--;
    }
    return size >= length && memcmp(text + size - length, marks[target], length) == 0;
}

/* Puts words for the picture in the place of gnuplot's own in an SVG, "<title>Gnuplot</title>\n
 * <desc>...</desc>": readers of screens read those, and they tell whose file it is. */
static void describe_svg(char **text, size_t *size, const Picture *picture)
{
    char *old = strstr(*text, "<title>"), *rest = strstr(*text, "</desc>"), *described = NULL;
    if (old == NULL || rest == NULL || rest < old) {
        return;
    }
    char *caption = words_caption(picture, true);
    FILE *file = text_stream(&described, size);
    for (char *c = caption; *c != '\0'; c++) {
        *c = *c == '\n' ? ' ' : *c;
    }
    fprintf(file, "%.*s<title>headproof plot: ", (int)(old - *text), *text);
    shown_write(file, SHOWN_XML, words_title(picture).text);
    fputs("</title>\n<desc>", file);
    shown_write(file, SHOWN_XML, caption);
    fputs(rest, file);
    free(caption);
    free(*text);
    *text = text_close(file, &described);
}

int render(char **text, size_t *size, const Picture *picture, Target target)
{
    bool drawn = target != TARGET_SCRIPT;
    FILE *script = drawn ? tmpfile() : text_stream(text, size);
    if (script == NULL) {
        return failed("no temporary file can be made", errno);
    }
    fputs("# Written by headproof plot; gnuplot THIS >picture.svg draws it.\n", script);
    int status = script_write(script, picture, target);
    if (status == 0 && drawn) {
        status = render_script(text, size, script, GNUPLOT_SECONDS);
    }
    if (fclose(script) != 0 && status == 0 && !drawn) {
        status = memory_fault();
    }
    if (status == 0 && drawn && !is_whole(*text, *size, target)) {
        fputs("headproof: gnuplot made no whole picture\n", stderr);
        status = 99;
    }
    if (status == 0 && target == TARGET_SVG) {
        describe_svg(text, size, picture);
    }
    return status;
}
