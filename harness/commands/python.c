/*
 * Commands whose part is in Python.
 */
#include "python.h"

#include "../../memory/need.h"
#include "../base/csv_read.h"
#include "../base/message.h"
#include "../base/team.h"
#include "../grid/own_words.h"
#include "../table/check_columns.h"
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All that is needed, by one command. */
#define INSTALL "apt-get install python3-matplotlib"

/* script = command.py, where it lies from the program, whose path is left in $HEADPROOF. */
static bool find_script(char script[PATH_MAX])
{
    static const char *const places[] = {"../lib/headproof/command.py", "../../python/command.py"};
    char program[PATH_MAX / 2];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash == NULL || setenv("HEADPROOF", program, 1) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(script, PATH_MAX, "%.*s/%s", (int)(slash - program), program, places[i]);
        if (access(script, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* What streams_open put in the place of closed streams stops Python; this fails as they do. */
static void open_closed_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        struct stat found;
        if (fstat(stream, &found) == 0 && S_ISDIR(found.st_mode)) {
            (void)close(stream);
            (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

int python_become(int argc, char **argv)
{
    char script[PATH_MAX], *own = getenv("HEADPROOF_PYTHON"), standard[] = "python3";
    char *python = own != NULL ? own : standard;
    if (!find_script(script)) {
        fprintf(stderr,
                "headproof: %s: its part in Python is not beside the program: make install "
                "puts it there\n",
                argv[1]);
        return EXIT_ABSENT;
    }
    char **line = need_zeros((size_t)argc + 2, sizeof *line); /* it ends in NULL */
    line[0] = python;
    line[1] = script;
    memcpy(line + 2, argv + 1, ((size_t)argc - 1) * sizeof *line);
    open_closed_streams();
    sigset_t interrupt; /* which command.py lets through: a Python that starts prints a traceback */
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &interrupt, NULL);
    (void)execvp(python, line);
    int error = errno;
    free(line);
    fprintf(stderr, "headproof: %s needs Python, and %s cannot be started (%s): " INSTALL "\n",
            argv[1], python, strerror(error));
    return error == ENOENT || error == EACCES ? EXIT_ABSENT : 99;
}

/* Are rows and cells what a table of the program has?  What is JSON has none.  0; 2 or 99 after a
 * message. */
static int check_table(const char *path)
{
    Csv csv = {0};
    FILE *file = fopen(path, "r");
    bool is_json = file != NULL && getc(file) == '{';
    if (file != NULL) {
        (void)fclose(file); /* it was only read */
    }
    int status = is_json ? 0 : csv_read(&csv, path);
    if (status == 0 && !is_json && csv_find(&csv, "omega_min") == csv.columns) {
        status = check_cells(&csv); /* which has no rules for searches */
    }
    csv_clear(&csv);
    return status;
}

int python_words(int argc, char **argv)
{
    const CommandInfo *command = commands_find(argv[1]);
    OwnWords words = {0};
    int status = own_words_read(&words, command, argc, argv);
    for (size_t flag = 0; flag < command->own_flag_count && status == 0; flag++) {
        const char *value = words.values[flag];
        bool writes = value != NULL && strcmp(command->own_flags[flag].name, "output") == 0;
        status =
            writes && strcmp(value, "-") != 0 ? own_words_spare_files(&words, value, false) : 0;
    }
    for (size_t i = 0; i < words.file_count && status == 0; i++) {
        status = check_table(words.files[i]);
    }
    own_words_clear(&words);
    if (status != 0) {
        return status;
    }
    team_leave();
    return python_become(argc, argv);
}
