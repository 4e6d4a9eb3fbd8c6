/*
 * The program itself, named by the environment variable HEADPROOF: bad input gives one line that
 * names file, line and token, the right exit code, and leaves a results file as it was.
 */
#include "../fixture.h"

#include "../../harness/commands/commands.h"
#include "../../harness/grid/flags.h"
#include "../unit.h"

#include <fcntl.h>
#include <gmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS 24

static const char old_rows[] = "old,rows\n1,2\n", old_sidecar[] = "{\"schema\": 1}\n";

typedef struct {
    Scratch scratch;
    char results[SCRATCH_PATH], sidecar[SCRATCH_PATH], case_file[SCRATCH_PATH];
    char printed[SCRATCH_PATH];   /* where stdout goes */
    char complaint[SCRATCH_TEXT]; /* what came on stderr */
    char text[SCRATCH_TEXT];
} Fixture;

static int set_up(void **state)
{
    Fixture *fixture = fixture_make(sizeof *fixture);
    scratch_path(fixture->results, &fixture->scratch, "results.csv");
    scratch_path(fixture->sidecar, &fixture->scratch, "results.csv.json");
    scratch_path(fixture->case_file, &fixture->scratch, "bad.case");
    scratch_path(fixture->printed, &fixture->scratch, "stdout");
    *state = fixture;
    return 0;
}

/* Becomes the program; stderr goes to the pipe, files may have limit bytes. */
static void become(char **arguments, const char *stdout_path, int pipe_end, rlim_t limit)
{
    const char *program = getenv("HEADPROOF");
    struct rlimit size = {limit, limit};
    const char *temporary = getenv("TMPDIR");
    /* Coverage data is not part of what a limit is about. */
    if (temporary != NULL && limit != RLIM_INFINITY) {
        setenv("GCOV_PREFIX", temporary, 1);
    }
    int out = open(stdout_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (program != NULL && out >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(pipe_end, STDERR_FILENO) >= 0 &&
        (limit == RLIM_INFINITY || setrlimit(RLIMIT_FSIZE, &size) == 0)) {
        execv(program, arguments);
    }
    _exit(126);
}

/* Runs the program; line: arguments separated by blanks, FILE for the case file, OUT for the
 * results.  Returns its exit code; a program that a signal ended is a failure. */
static int run_limited(Fixture *fixture, const char *line, const char *stdout_path, rlim_t limit)
{
    char copy[1024], *arguments[ARGUMENTS + 1] = {(char[]){"headproof"}};
    snprintf(copy, sizeof copy, "%s", line);
    char *rest = copy;
    int count = 1, ends[2], status;
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL && count < ARGUMENTS; count++) {
        arguments[count] = strcmp(word, "FILE") == 0  ? fixture->case_file
                           : strcmp(word, "OUT") == 0 ? fixture->results
                                                      : word;
    }
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        become(arguments, stdout_path, ends[1], limit);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got = 1; got > 0 && length < SCRATCH_TEXT - 1; length += (size_t)got) {
        got = read(ends[0], fixture->complaint + length, SCRATCH_TEXT - 1 - length);
        assert_true(got >= 0);
    }
    fixture->complaint[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) {
        fail_msg("'%s' was ended by signal %d", line, WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

static int run(Fixture *fixture, const char *line)
{
    return run_limited(fixture, line, fixture->printed, RLIM_INFINITY);
}

static void write_results(const Fixture *fixture)
{
    file_write(fixture->results, old_rows, strlen(old_rows));
    file_write(fixture->sidecar, old_sidecar, strlen(old_sidecar));
}

static void expect_results_unchanged(Fixture *fixture, const char *what)
{
    char partial[SCRATCH_PATH];
    if (file_read(fixture->text, fixture->results) != (long)strlen(old_rows) ||
        strcmp(fixture->text, old_rows) != 0 ||
        file_read(fixture->text, fixture->sidecar) != (long)strlen(old_sidecar)) {
        fail_msg("%s: the results file was changed", what);
    }
    scratch_path(partial, &fixture->scratch, "results.csv.partial");
    assert_false(file_exists(partial));
    scratch_path(partial, &fixture->scratch, "results.csv.json.partial");
    assert_false(file_exists(partial));
}

static void expect_complaint(const Fixture *fixture, const char *what, int code, int expected,
                             const char *says)
{
    if (code != expected || count_lines(fixture->complaint) != 1 ||
        strstr(fixture->complaint, says) == NULL) {
        fail_msg("'%s': exit code %d, expected %d; message \"%s\", expected \"%s\"", what, code,
                 expected, fixture->complaint, says);
    }
}

/* The line of a case file, and what its message must hold after the file's name: of each room that
 * refuses one; what values and files are refused at all is test_values' and test_grid's. */
static const struct {
    const char *key, *says;
} bad_keys[] = {
    {"omgea = 3", ":3: token 'omgea': "},
    {"omega = 10:5", ":3: token '10:5': "},
    {"omega =", ":3: token '': "},
    {"omega = NaN", ":3: token 'NaN': "},
    {"d = 2000000000", ":3: token '2000000000': "},
    {"tolerance = nan", ":3: token 'nan': "},
    {"construction = linaer", ":3: token 'linaer': "},
    {"heads = 1\nheads = 2", ":4: token '2': "},
    {"mask = causal\nbias-row = last", ":4: token 'last': "},
    {"[other]", ":3: token 'other': "},
    {"junk", ":3: token 'junk': "},
};

static void test_bad_case_files(void **state)
{
    static const char *const commands[] = {"sweep FILE -o OUT", "depth FILE -o OUT",
                                           "sweep FILE --dry-run"};
    Fixture *fixture = *state;
    write_results(fixture);
    for (size_t i = 0; i < sizeof bad_keys / sizeof *bad_keys; i++) {
        char text[256], says[SCRATCH_PATH + 64];
        snprintf(text, sizeof text, "[good]\nreference = subtract\n%s\n", bad_keys[i].key);
        snprintf(says, sizeof says, "%s%s", fixture->case_file, bad_keys[i].says);
        file_write(fixture->case_file, text, strlen(text));
        for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
            int code = run(fixture, commands[c]);
            expect_complaint(fixture, bad_keys[i].key, code, 2, says);
            assert_int_equal(file_read(fixture->text, fixture->printed), 0);
            expect_results_unchanged(fixture, bad_keys[i].key);
        }
    }
}

static void test_bad_flags(void **state)
{
    static const char *const flags[][2] = {
        {"--omgea 3", "token '--omgea'"},
        {"--omega 10:5", "--omega: token '10:5'"},
        {"--n 2000000000 --construction attention --d 1000000000", "--n: token '2000000000'"},
        {"--omega 1 --omega 1", "--omega: token '1'"},
        {"--n", "token '--n'"},
        {"missing.case", "missing.case: "},
        {".", ".: cannot be read"},
    };
    Fixture *fixture = *state;
    write_results(fixture);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        char line[256];
        snprintf(line, sizeof line, "sweep -o OUT %s", flags[i][0]);
        expect_complaint(fixture, line, run(fixture, line), 2, flags[i][1]);
        expect_results_unchanged(fixture, line);
    }
}

static void test_bad_commands(void **state)
{
    Fixture *fixture = *state;
    for (Command c = 0; c < COMMAND_COUNT; c++) {
        expect_complaint(fixture, "", run(fixture, ""), 2, commands_get(c)->name);
    }
    expect_complaint(fixture, "", run(fixture, ""), 2,
                     "headproof: expected a command, one of sweep");
    expect_complaint(fixture, "swep", run(fixture, "swep"), 2, "token 'swep'");
    expect_complaint(fixture, "help swep", run(fixture, "help swep"), 2, "did you mean sweep?");
    expect_complaint(fixture, "verison", run(fixture, "verison"), 2, "did you mean --version?");
    expect_complaint(fixture, "--verison", run(fixture, "--verison"), 2,
                     "(did you mean --version?");
    expect_complaint(fixture, "--version x", run(fixture, "--version x"), 2,
                     "token 'x': expected nothing after --version");
    expect_complaint(fixture, "-h x", run(fixture, "-h x"), 2, "expected nothing after -h");
    expect_complaint(fixture, "info x", run(fixture, "info x"), 2, "token 'x'");
    expect_complaint(fixture, "min-omega", run(fixture, "min-omega"), 2, "tolerance");
    expect_complaint(fixture, "min-omega --omega", run(fixture, "min-omega --omega 3"), 2,
                     "--omega");
}

static void expect_printed(Fixture *fixture, const char *line, const char *says)
{
    assert_int_equal(run(fixture, line), 0);
    assert_string_equal(fixture->complaint, "");
    assert_true(file_read(fixture->text, fixture->printed) > 0);
    if (strstr(fixture->text, says) == NULL) {
        fail_msg("%s printed \"%s\", expected \"%s\"", line, fixture->text, says);
    }
}

/* As a flag, or as an axis of that name. */
static bool takes(const CommandInfo *command, const char *name)
{
    const FlagInfo *flag = flag_find(command, name, strlen(name));
    Axis axis = axis_find(name);
    return (flag != NULL && command_takes_flag(command, flag)) ||
           (axis < AXIS_COUNT && command_takes(command, axis));
}

/* Nothing on a terminal of 80 columns wraps, and no command shows another's flags. */
static void test_help_of_commands(void **state)
{
    Fixture *fixture = *state;
    for (Command c = 0; c < COMMAND_COUNT; c++) {
        const CommandInfo *command = commands_get(c);
        char line[64];
        snprintf(line, sizeof line, "help %s --all", command->name);
        expect_printed(fixture, line, "usage: headproof ");
        for (char *next = fixture->text; *next != '\0'; next += strcspn(next, "\n") + 1) {
            if (strcspn(next, "\n") > 80) {
                fail_msg("%s: more than 80 columns: %.*s", line, (int)strcspn(next, "\n"), next);
            }
        }
        for (const FlagInfo *flag = flag_table; flag->name != NULL; flag++) {
            bool taken = takes(command, flag->name);
            snprintf(line, sizeof line, "\n  --%s ", flag->name);
            assert_true((strstr(fixture->text, line) != NULL) == taken);
        }
    }
}

/* Is the flag explained, or else named? */
static void expect_flag(Fixture *fixture, const char *name, bool taken)
{
    char text[64];
    snprintf(text, sizeof text, "--%s", name);
    const char *at = strstr(fixture->text, text);
    while (at != NULL && at[strlen(text)] > ' ') { /* the beginning of a longer one */
        at = strstr(at + 1, text);
    }
    if ((at != NULL) != taken) {
        fail_msg("%s%s is there, expected otherwise: %s", text, taken ? " not" : "", fixture->text);
    }
}

/* What is common stands on two screens, by what it is about; everything else is named. */
static void test_short_help(void **state)
{
    Fixture *fixture = *state;
    for (Command c = 0; c < COMMAND_COUNT; c++) {
        const CommandInfo *command = commands_get(c);
        char line[64];
        snprintf(line, sizeof line, "help %s", command->name);
        expect_printed(fixture, line, "usage: headproof ");
        assert_true(count_lines(fixture->text) <= 80);
        for (Axis axis = 0; axis < AXIS_COUNT && command_takes_axes(command); axis++) {
            expect_flag(fixture, axis_info(axis)->name, command_takes(command, axis));
        }
        for (const FlagInfo *flag = flag_table; flag->name != NULL; flag++) {
            bool taken = takes(command, flag->name);
            expect_flag(fixture, flag->name, taken);
        }
    }
    expect_printed(fixture, "help sweep", "\n  --tolerance          largest error");
    assert_null(strstr(fixture->text, "\n  --eps"));
    expect_printed(fixture, "help sweep --all", "\n  --eps                eps: what a norm");
    expect_printed(fixture, "help sweep --all",
                   "\nthe machine (flags, and keys of case files):\n  --arithmetic ");
    expect_printed(fixture, "help verify", "\n  --gelu               heads that imitate");
    assert_null(strstr(fixture->text, "\n  --d-ff ")); /* which the model's file has */
    expect_printed(fixture, "help check --all", "reports:\n  --baseline FILE ");
    expect_complaint(fixture, "help sweep --al", run(fixture, "help sweep --al"), 2, "--all");
    expect_complaint(fixture, "help sweep --all x", run(fixture, "help sweep --all x"), 2, "'x'");
}

static void test_help(void **state)
{
    Fixture *fixture = *state;
    char line[80];
    expect_printed(fixture, "help", "min-omega");
    assert_true(count_lines(fixture->text) <= 12 + COMMAND_COUNT);
    expect_printed(fixture, "--help", "exit codes");
    expect_printed(fixture, "help sweep", "--bias-row-content");
    expect_printed(fixture, "sweep --help", "--omega");
    expect_printed(fixture, "depth --help", "default 96");
    expect_printed(fixture, "help min-omega", "--tolerance");
    assert_non_null(strstr(fixture->text, "--over "));
    expect_printed(fixture, "help merge", "usage: headproof merge SHARD.csv... [-o FILE.csv] [");
    expect_printed(fixture, "info --help", "usage: headproof info\n\nthe build, the machine");
    expect_printed(fixture, "--version", "headproof ");
    expect_printed(fixture, "info", "mpfr_runtime");
    snprintf(line, sizeof line, "gmp_header            %d.%d.%d\n", __GNU_MP_VERSION,
             __GNU_MP_VERSION_MINOR, __GNU_MP_VERSION_PATCHLEVEL);
    assert_non_null(strstr(fixture->text, line));
    expect_printed(fixture, "sweep --construction silu --omega 5 --dry-run --quiet",
                   "headproof sweep --construction silu --n 20 --d 30 --omega 5 --seed 1\n");
}

/* Small enough to be evaluated in no time. */
#define TINY "sweep --quiet --construction silu --n 2 --d 2 --omega 5"
static const char tiny_dry_run[] = TINY " --dry-run";

static void test_unwritable_output(void **state)
{
    Fixture *fixture = *state;
    char line[SCRATCH_PATH + 128];
    snprintf(line, sizeof line, TINY " -o %s/missing/out.csv", fixture->scratch.directory);
    expect_complaint(fixture, line, run(fixture, line), 2, "missing/out.csv");
    snprintf(line, sizeof line, TINY " -o %s", fixture->scratch.directory);
    expect_complaint(fixture, line, run(fixture, line), 2, fixture->scratch.directory);
    expect_complaint(fixture, "-o=", run(fixture, TINY " --output="), 2, "--output: token ''");
}

static void test_full_disk(void **state)
{
    static const char *const printing[] = {TINY, tiny_dry_run, "info", "help", "--version"};
    Fixture *fixture = *state;
    write_results(fixture);
    if (!OPENMP_WRITES) {
        int code = run_limited(fixture, TINY " -o OUT", "/dev/null", 64);
        expect_complaint(fixture, "-o OUT, files of 64 bytes", code, 99, fixture->results);
        expect_results_unchanged(fixture, "files of 64 bytes");
    }
    expect_complaint(fixture, "-o /dev/full", run(fixture, TINY " -o /dev/full"), 99, "/dev/full");
    for (size_t i = 0; i < sizeof printing / sizeof *printing; i++) {
        int code = run_limited(fixture, printing[i], "/dev/full", RLIM_INFINITY);
        expect_complaint(fixture, printing[i], code, 99, "stdout");
        code = OPENMP_WRITES ? 99 : run_limited(fixture, printing[i], fixture->printed, 1);
        expect_complaint(fixture, printing[i], code, 99,
                         OPENMP_WRITES ? "stdout" : "stdout: cannot be written: File too");
    }
    expect_results_unchanged(fixture, "/dev/full");
}

/* The good case, so that the checks above cannot pass for a program that always fails. */
static void test_results_are_replaced(void **state)
{
    Fixture *fixture = *state;
    write_results(fixture);
    assert_int_equal(run(fixture, TINY " -o OUT"), 0);
    assert_string_equal(fixture->complaint, "");
    assert_int_equal(file_read(fixture->text, fixture->printed), 0);
    assert_true(file_read(fixture->text, fixture->results) > 0);
    assert_int_equal(count_lines(fixture->text), 2);
    assert_int_equal(strncmp(fixture->text, "construction,activation,", 24), 0);
    assert_true(file_read(fixture->text, fixture->sidecar) > 3);
    assert_non_null(strstr(fixture->text, "\"schema\": 6"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, fixture_tear_down)

SUBJECT(cli)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bad_case_files),       TEST(test_bad_flags),
        TEST(test_bad_commands),         TEST(test_help),
        TEST(test_help_of_commands),     TEST(test_short_help),
        TEST(test_unwritable_output),    TEST(test_full_disk),
        TEST(test_results_are_replaced),
    };
    if (getenv("HEADPROOF") == NULL) {
        fputs("test_cli: the environment variable HEADPROOF must name the program\n", stderr);
        return 2;
    }
    return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
