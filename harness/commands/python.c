/*
 * Commands whose part is in Python: `headproof NAME` becomes python3, on command.py of the folder
 * where the program's Python lies; that calls run(WORDS) of the module headproof.command_NAME, with
 * the flags and files that the program has read.
 *
 * That folder is ../lib/headproof of the program's own, where `make install` puts it, or python/ of
 * the source tree.  $HEADPROOF_PYTHON is another python3; $HEADPROOF tells the module which program
 * to ask for rows.
 */
#include "commands.h"

#include "../../memory/need.h"
#include "../base/csv_read.h"
#include "../base/message.h"
#include "../base/team.h"
#include "../base/text_stream.h"
#include "../grid/flags.h"
#include "../table/check_columns.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
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

void python_add(PythonWords *words, const char *format, ...)
{
    char *word;
    size_t size;
    va_list values;
    FILE *text = text_stream(&word, &size);
    va_start(values, format);
    vfprintf(text, format, values);
    va_end(values);
    words->words = need_more(words->words, words->count + 2, sizeof *words->words);
    words->words[words->count++] = text_close(text, &word);
    words->words[words->count] = NULL;
}

void python_clear(PythonWords *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->words[i]);
    }
    free(words->words);
}

int python_become(const PythonWords *words)
{
    char script[PATH_MAX], *own = getenv("HEADPROOF_PYTHON"), standard[] = "python3";
    char *python = own != NULL ? own : standard, *name = words->words[0];
    if (!find_script(script)) {
        fprintf(stderr,
                "headproof: %s: its part in Python is not beside the program: make install "
                "puts it there\n",
                name);
        return EXIT_ABSENT;
    }
    char **line = need_zeros(words->count + 3, sizeof *line); /* it ends in NULL */
    line[0] = python;
    line[1] = script;
    memcpy(line + 2, words->words, words->count * sizeof *line);
    open_closed_streams();
    sigset_t interrupt; /* which command.py lets through: a Python that starts prints a traceback */
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &interrupt, NULL);
    (void)execvp(python, line);
    int error = errno;
    free(line);
    fprintf(stderr, "headproof: %s needs Python, and %s cannot be started (%s): " INSTALL "\n",
            name, python, strerror(error));
    return error == ENOENT || error == EACCES ? EXIT_ABSENT : 99;
}

int python_check_table(const char *path)
{
    Csv csv = {0};
    FILE *file = fopen(path, "r");
    bool json = file != NULL && getc(file) == '{';
    if (file != NULL) {
        (void)fclose(file); /* it was only read */
    }
    if (json) {
        return 0;
    }
    int status = csv_read(&csv, path);
    if (status == 0 && csv_find(&csv, "omega_min") == csv.columns) {
        status = check_cells(&csv); /* which has no rules for searches */
    }
    csv_clear(&csv);
    return status;
}

/* The command's flags that were given, and its files. */
static void add_line(PythonWords *words, const Grid *grid, const RunOptions *run)
{
    const CommandInfo *command = commands_find(run->argv[1]);
    python_add(words, "%s", command->name);
    for (const FlagInfo *flag = flag_table; flag->name != NULL; flag++) {
        const char *place = (const char *)run + flag->place;
        const char *const *value = (const char *const *)(const void *)place;
        if (!command_takes_flag(command, flag)) {
            continue;
        }
        if (flag->argument == NULL ? *(const bool *)place : *value != NULL) {
            python_add(words, "--%s%s%s", flag->name, flag->argument != NULL ? "=" : "",
                       flag->argument != NULL ? *value : "");
        }
    }
    if (run->on_stdout) {
        python_add(words, "--output=-");
    }
    python_add(words, "--");
    for (size_t i = 0; i < grid->table_count; i++) {
        python_add(words, "%s", grid->tables[i]);
    }
}

int command_python(const Grid *grid, const RunOptions *run)
{
    PythonWords words = {0};
    for (size_t i = 0; i < grid->table_count; i++) {
        int status = python_check_table(grid->tables[i]);
        if (status != 0) {
            return status;
        }
    }
    add_line(&words, grid, run);
    team_leave();
    int status = python_become(&words);
    python_clear(&words);
    return status;
}
