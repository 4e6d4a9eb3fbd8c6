/*
 * The command `growth`: its line, its tables and its output.  The laws are found in Python
 * (python/headproof/command_growth.py), which reads the tables, or asks for rows of the grid's
 * points: it starts this command with the same words, with $HEADPROOF_ROWS, sweep or min-omega, and
 * the numbers of the points on stdin.
 */
#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/text_stream.h"
#include "../base/values.h"
#include "../table/columns.h"
#include "../table/table.h"
#include "commands.h"
#include "outcome.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The table ------------------------------------------------------------------------------- */

void growth_write_header(FILE *file, const RunOptions *run)
{
    (void)run; /* whatever is asked */
    axes_write(file, NULL, AXES_KEY_WITHOUT(AXIS_SEED));
    fputs("," OPTIONS_COLUMN
          ",norm,kind,axis,law,why,from,to,points,seeds,censored,constant,slope,slope_error,"
          "end_slope,residual,residual_max,other_residual,seeds_below,seeds_above,theory_least,"
          "theory_most,theory,at,seed,low_log10,predicted_log10,high_log10,"
          "measured_log10," BOUNDS_COLUMN ",status\n",
          file);
}

static void write_line(FILE *file, const void *line)
{
    fputs(line, file);
}

static const OutcomeKind growth_outcome = {
    .table = {BARE_EYES, .write_header = growth_write_header, .write_row = write_line}};

/* ---- Rows for Python ------------------------------------------------------------------------- */

/* Rows of the points whose numbers stand on stdin, as that command writes them; a search is without
 * an Omega of its own. */
static int write_rows(const Grid *grid, const RunOptions *run, bool searches)
{
    Grid some = *grid;
    RunOptions rows = *run;
    size_t place;
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* nobody else waits for them */
    rows.output = rows.format = NULL;
    rows.on_stdout = true;
    some.count = 0;
    some.points = need_zeros(grid->count + 1, sizeof *some.points);
    while (some.count < grid->count && scanf("%zu", &place) == 1 && place < grid->count) {
        Point *point = &some.points[some.count++];
        *point = grid->points[place];
        point->omega = searches ? 0 : point->omega;
        point->asked &= searches ? ~AXIS_BIT(AXIS_OMEGA) : UINT64_MAX;
    }
    int status = (searches ? command_min_omega : command_sweep)(&some, &rows);
    free(some.points);
    return status;
}

/* ---- What Python is told --------------------------------------------------------------------- */

/* --predict: an axis, and its values one by one, of tau numbers alone.  0; 2 or 99 after a
 * message. */
static int add_predict(PythonWords *words, const char *text)
{
    static const struct {
        const char *name;
        Axis like;
    } axes[] = {{"omega", AXIS_OMEGA}, {"tau", AXIS_OMEGA},   {"n", AXIS_N},
                {"d", AXIS_D},         {"depth", AXIS_DEPTH}, {LAYER_COLUMN, AXIS_DEPTH}};
    const Origin origin = {.flag = "predict"};
    const size_t length = strcspn(text, "=");
    enum { AXES = sizeof axes / sizeof *axes };
    Message message;
    ValueList list = {0};
    char *values;
    size_t i = 0, size;
    while (i < AXES && (strncmp(axes[i].name, text, length) != 0 || axes[i].name[length] != '\0')) {
        i++;
    }
    if (i == AXES || text[length] == '\0') {
        return complain(origin, text, "expected omega, tau, n, d, depth or layer, = and a list");
    }
    const Domain *domain = &axis_info(axes[i].like)->domain;
    int status = values_read(&list, &message, domain, text + length + 1);
    FILE *out = text_stream(&values, &size);
    for (size_t k = 0; k < list.count; k++) {
        char value[VALUE_TEXT];
        value_print(value, domain, list.values[k]);
        fprintf(out, "%s%s", k == 0 ? axes[i].name : "", k == 0 ? "=" : ",");
        fputs(value, out);
    }
    python_add(words, "--predict=%s", text_close(out, &values));
    free(values);
    values_clear(&list);
    return status == 2 ? complain_message(origin, &message) : status;
}

/* 0; 2 or 99 after a message. */
static int find_words(PythonWords *words, const Grid *grid, const RunOptions *run)
{
    python_add(words, "growth");
    if (run->growth.norm != NORM_COUNT) {
        python_add(words, "--norm=%s", axis_info(AXIS_NORM)->domain.words[run->growth.norm]);
    }
    if (run->growth.check != NULL) {
        python_add(words, "--check=%s", run->growth.check);
    }
    if (run->growth.evaluations > 0) {
        python_add(words, "--evaluations=%zu", run->growth.evaluations);
    }
    if (run->quiet) {
        python_add(words, "--quiet");
    }
    int status = run->growth.predict != NULL ? add_predict(words, run->growth.predict) : 0;
    python_add(words, "--");
    for (size_t i = 0; i < grid->table_count; i++) {
        python_add(words, "%s", grid->tables[i]);
    }
    for (int i = 1; i < run->argc && grid->table_count == 0; i++) {
        python_add(words, "%s", run->argv[i]);
    }
    return status;
}

/* ---- The run --------------------------------------------------------------------------------- */

/* Python's exit code where errors are outside their bands: its own failures end with 1. */
enum { OUTSIDE = 3 };

/* The points as commands, for Python's stdin. */
static FILE *list_points(const Grid *grid)
{
    FILE *points = tmpfile();
    for (size_t i = 0; points != NULL && i < grid->count; i++) {
        point_print_command(points, &grid->points[i]);
        putc('\n', points);
    }
    if (points != NULL && (fflush(points) != 0 || ferror(points) || fseek(points, 0, SEEK_SET))) {
        (void)fclose(points);
        return NULL;
    }
    return points;
}

/* Starts Python, with a stdin; *rows: its stdout.  Its process, or -1 (errno). */
static pid_t start(FILE **rows, FILE *points, const PythonWords *words)
{
    int ends[2];
    sigset_t none;
    if (points == NULL || pipe(ends) != 0) {
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        sigemptyset(&none); /* those that wait for a file's last words are blocked */
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (dup2(fileno(points), STDIN_FILENO) >= 0 && dup2(ends[1], STDOUT_FILENO) >= 0 &&
            close(ends[0]) == 0 && close(ends[1]) == 0) {
            _exit(python_become(words));
        }
        _exit(99);
    }
    (void)close(ends[1]);
    *rows = child > 0 ? fdopen(ends[0], "r") : NULL;
    return child;
}

/* The rows of Python go where the table goes; *last: its last line, "# " and what is to be said
 * once they are all there.  Its exit code, 99 after a message. */
static int find_laws(Outcome *outcome, char **last, const Grid *grid, const PythonWords *words)
{
    FILE *rows = NULL, *points = list_points(grid);
    pid_t child = start(&rows, points, words);
    size_t size = 0;
    int status = 0, ended = 0;
    if (points != NULL) {
        (void)fclose(points);
    }
    if (rows == NULL) {
        fprintf(stderr, "headproof: growth: Python cannot be started: %s\n", strerror(errno));
        return 99;
    }
    while (status == 0 && getline(last, &size, rows) > 0 && **last != '#') {
        status = sink_put(&outcome->sink, *last);
    }
    (void)fclose(rows); /* who writes on ends */
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
    }
    int code = WIFEXITED(ended) ? WEXITSTATUS(ended) : 1;
    if (status == 0 && code == 1) {
        fputs("headproof: growth: its part in Python failed\n", stderr);
    }
    return status != 0 ? status : code == 1 ? 99 : code;
}

int command_growth(const Grid *grid, const RunOptions *run)
{
    const char *asked = getenv("HEADPROOF_ROWS");
    Outcome outcome;
    PythonWords words = {0};
    char *last = NULL;
    if (asked != NULL) {
        return write_rows(grid, run, strcmp(asked, "min-omega") == 0);
    }
    int status = outcome_open(&outcome, &growth_outcome, grid, run, NULL);
    outcome.record.grid = NULL; /* rows are of laws, and no point's */
    status = status != 0 ? status : find_words(&words, grid, run);
    if (status == 0 && run->growth.check != NULL) {
        status = python_check_table(run->growth.check);
    }
    for (size_t i = 0; i < grid->table_count && status == 0; i++) {
        status = python_check_table(grid->tables[i]);
    }
    status = status != 0 ? status : find_laws(&outcome, &last, grid, &words);
    outcome.failed = status == OUTSIDE;
    status = outcome_end(&outcome, status == OUTSIDE ? 0 : status);
    python_clear(&words);
    if (status <= 1 && last != NULL && *last == '#') {
        fputs(last + 2, stderr);
    }
    free(last);
    if (status == 1) {
        (void)failure_say("errors are outside the bands of their laws", run->argc, run->argv);
    }
    return status;
}
