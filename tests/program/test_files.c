/*
 * A command line's effect on files that are not its own, and on streams that are not there:
 * nothing that somebody has is changed, nothing hangs, and nothing is called a success that did
 * not arrive.
 */
#include "../fixture.h"
#include "../given.h"
#include "../interrupted.h"
#include "../shell.h"
#include "../unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define POINT "--construction silu --n 2 --d 2 --omega 9"

static const char precious[] = "precious\n";

/* A table alone: every line has the header's number of commas. */
static void expect_table(const char *name)
{
    Output table = read_file(shell_path(name));
    size_t wanted = 0, commas = 0, line = 0;
    for (const char *c = table.text; *c != '\0'; c++) {
        commas += *c == ',';
        if (*c == '\n') {
            wanted = line++ == 0 ? commas : wanted;
            if (commas != wanted || wanted == 0) {
                fail_msg("%s: line %zu has %zu commas, the header %zu", name, line, commas, wanted);
            }
            commas = 0;
        }
    }
    assert_true(line > 1);
}

/* ---- Streams ------------------------------------------------------------------------------ */

static void closed_streams(void **state)
{
    static const struct {
        const char *line, *file;
        int code;
    } lines[] = {
        {"$h sweep " POINT " -o p.csv --verbose >/dev/null 2>&-", "p.csv", 0},
        {"$h sweep " POINT " -o q.csv --verbose <&- >&- 2>&-", "q.csv", 99},
        {"$h sweep " POINT " -o r.csv --quiet <&- >&- 2>&-", "r.csv", 0},
        {"$h verify $p/" GIVEN_TRAINED " --tokens 0/1/53 --omega 40 -o v.csv <&- >&- 2>&-", "v.csv",
         99},
        {"$h attribute $p/" GIVEN_TRAINED " --tokens 0/1/53 --omega 40 -o a.csv <&- >&-", "a.csv",
         99},
        {"$h cost -o c.csv <&- >&- 2>&-", "c.csv", 0},
        {"$h check " POINT " --save-baseline b.csv <&- >&- 2>&-", "b.csv", 99},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        expect_shell(lines[i].line, lines[i].code, "");
        expect_table(lines[i].file);
    }
    expect_shell("$h sweep " POINT " >&-", 99, "stdout: cannot be written: ");
    expect_shell("$h info >&-", 99, "stdout: cannot be written: ");
    /* As /dev/stdout is: it stays the link that it is. */
    expect_shell("ln -s /proc/self/fd/1 out; $h sweep " POINT " -o out >&-", 2,
                 "--output: token 'out'");
    expect_shell("test -h out && $h sweep " POINT " -o out | head -c 12", 0, "construction");
}

/* Runs the line with a stdout that nobody reads; what it says on stderr goes to a file. */
static int run_unread(const char *line, const char *said, bool ignored)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        bool ready = fd >= 0 && dup2(fd, STDERR_FILENO) >= 0 && dup2(ends[1], STDOUT_FILENO) >= 0 &&
                     close(ends[0]) == 0 && close(ends[1]) == 0 &&
                     signal(SIGPIPE, ignored ? SIG_IGN : SIG_DFL) != SIG_ERR;
        if (ready) {
            execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        }
        _exit(126);
    }
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* A pipe that nobody reads ends a run as it ends other programs, when what goes into files is
 * there. */
static void closed_pipes(void **state)
{
    static const char *const lines[] = {
        "exec \"$HEADPROOF\" sweep " POINT " -o \"$D/p.csv\"",
        "exec \"$HEADPROOF\" sweep " POINT,
        "exec \"$HEADPROOF\" cost",
        "exec \"$HEADPROOF\" info",
        "exec \"$HEADPROOF\" check " POINT " --tolerance 1 --json \"$D/r.json\"",
        "exec \"$HEADPROOF\" verify " GIVEN_TRAINED " --tokens 0/1/53 --omega 40 -o \"$D/v.csv\"",
    };
    const char *said = shell_path("said");
    assert_int_equal(setenv("D", shell_scratch()->directory, 1), 0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        int code = run_unread(lines[i], said, false);
        if (code != -SIGPIPE || size_of(said) != 0) {
            fail_msg("%s: exit code %d, %ld bytes on stderr", lines[i], code, (long)size_of(said));
        }
    }
    expect_table("p.csv");
    expect_table("v.csv");
    expect_shell("ls r.json p.csv.json && ls | grep -c partial", 1, "0");
    /* Who ignores the signal wants to be told. */
    assert_int_equal(run_unread(lines[0], said, true), 99);
    assert_true(size_of(said) > 0);
    expect_shell("{ $h sweep " POINT ",10:3000; echo code $? >code; } | head -n 1; cat code", 0,
                 "code 141");
}

/* ---- A machine that is small ---- */

static void small_stacks(void **state)
{
    expect_shell("ulimit -s 64; $h sweep " POINT, 99, "headproof: the stack is small: 1 MiB is");
    expect_shell("ulimit -s 1024; $h sweep " POINT " -o x.csv", 0, "1 point in x.csv");
}

/* For OpenBLAS, which would end the process by a signal, and for OpenMP; root has no such limit,
 * and sanitizers take threads, too. */
static void no_thread(void **state)
{
    for (int threads = 1; threads < 4; threads++) {
        expect_output_or_skip(
            shell("case $h in */debug/* | */doors/*) exit 77 ;; esac\n"
                  "unset OPENBLAS_NUM_THREADS OMP_NUM_THREADS; test $(id -u) != 0 || as=\"setpriv "
                  "--reuid 60123 --clear-groups\"; "
                  "cp $h /tmp/headproof.$$ && $as prlimit true && test $(nproc) -gt 1 || exit 77; "
                  "(exec $as prlimit --nproc=%d /tmp/headproof.$$ sweep " POINT
                  ",10 --threads 2 -o /dev/null) 2>said; "
                  "code=$?; rm /tmp/headproof.$$; cat said; exit $((code == 99 ? 0 : 1))",
                  threads),
            "thread", "setpriv and prlimit, or a second core");
    }
}

/* ---- Other people's files ----------------------------------------------------------------- */

/* What the program makes beside a file that was named. */
static const struct {
    const char *line, *name;
} beside[] = {
    {"$h sweep " POINT " -o x.csv", "x.csv.partial"},
    {"$h sweep " POINT " -o x.csv", "x.csv.json"},
    {"$h sweep " POINT " -o x.csv", "x.csv.new"},
    {"$h sweep " POINT " -o x.csv", "x.csv.json.new"},
    {"$h sweep " POINT " --resume -o x.csv", "x.csv.json.new"},
    {"$h sweep " POINT " --resume -o x.csv", "x.csv.partial"},
    {"$h cost -o x.csv", "x.csv.partial"},
    {"$h cost -o x.csv", "x.csv.json"},
    {"$h cost -o x.csv", "x.csv.new"},
    {"$h cost -o x.csv", "x.csv.json.new"},
    {"$h export " POINT " -o x.safetensors", "x.safetensors.partial"},
    {"$h export " POINT " -o x.safetensors", "x.safetensors.new"},
    {"$h check " POINT " --tolerance 1 --json x", "x.partial"},
    {"$h check " POINT " --save-baseline x", "x.json"},
    {"$h check " POINT " --save-baseline x", "x.obtained"},
    {"$h check " POINT " --save-baseline x", "x.obtained.json"},
    {"$h check " POINT " --save-baseline x", "x.obtained.partial"},
};

static void others_files(void **state)
{
    /* A link, another name, a file, a pipe, a directory, an empty file; N is the name. */
    static const char *const made[] = {"ln -s precious N", "ln precious N", "cp precious N",
                                       "mkfifo N",         "mkdir N",       ": >N"};
    shell_write("precious", precious);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        for (size_t j = 0; j < sizeof made / sizeof *made; j++) {
            char script[512];
            snprintf(
                script, sizeof script,
                "N=%s; %.*s$N && { timeout 60 %s; code=$?; ls | grep -v -e $N -e precious; "
                "cat precious; test -e $N || code=98; test -p $N -o -d $N || cat $N; rm -rf $N; "
                "exit $code; }",
                beside[i].name, (int)strlen(made[j]) - 1, made[j], beside[i].line);
            Output output = shell("%s", script);
            char says[128];
            snprintf(says, sizeof says, "'%s': expected", beside[i].name);
            size_t copies = count_words(output.text, precious);
            if (output.code != 2 || strstr(output.text, says) == NULL || lines(&output) > 3 ||
                copies != (j < 3 ? 2 : 1)) {
                fail_msg("%s: exit code %d, \"%s\"", script, output.code, output.text);
            }
        }
    }
}

/* What a killed run left is taken for what it is: F.partial says whose the others are. */
static void own_files(void **state)
{
    static const char *const linesof[][2] = {
        {"$h verify $p/" GIVEN_TRAINED " --tokens 0/1/53 --omega 40 --quiet -o F", "F"},
        {"$h attribute $p/" GIVEN_TRAINED " --tokens 0/1/53 --omega 40 --quiet -o F", "F"},
        {"$h cost -o F", "F"},
        {"$h min-omega --construction silu --n 2 --d 2 --tolerance 1e-6 --quiet -o F", "F"},
        {"$h convert $p/" GIVEN_TRAINED " --omega 40 -o F --quiet", "F"},
        {"$h export " POINT " -o F", "F"},
        {"$h check " POINT " --tolerance 1 --json F", "F"},
        {"$h check " POINT " --tolerance 1 --junit-xml F", "F"},
        {"$h check " POINT " --tolerance 1 --markdown F", "F"},
    };
    for (size_t i = 0; i < sizeof linesof / sizeof *linesof; i++) {
        char script[1024];
        snprintf(script, sizeof script,
                 "%s && { mv F %s.new; test ! -e F.json || mv F.json %s.json.new; "
                 "printf {\\\"schema\\\": >F.partial; %s; } && ls && rm -f F F.json",
                 linesof[i][0], linesof[i][1], linesof[i][1], linesof[i][0]);
        Output output = shell("%s", script);
        if (output.code != 0 || strstr(output.text, "partial") != NULL ||
            strstr(output.text, "new") != NULL) {
            fail_msg("%s: exit code %d, \"%s\"", script, output.code, output.text);
        }
        (void)shell("rm -rf F*");
    }
}

/* A link that leads nowhere is not replaced; one to a file stays, and the file is replaced. */
static void links(void **state)
{
    expect_shell("ln -s nowhere x.csv; $h sweep " POINT " -o x.csv", 2, "--output: token 'x.csv'");
    expect_shell("test -h x.csv && ls | wc -l", 0, "1\n");
    expect_shell("mkdir d; echo old >d/y; ln -s d/y y; $h check " POINT
                 " --save-baseline y --force --quiet && test -h y && ls d && rm -r d",
                 0, "y\ny.json\n");
}

static const char *const scripts[] = {
    "$h check " POINT " --baseline b --json b",
    "$h check " POINT " --baseline b --junit-xml ./b",
    "$h check " POINT " --baseline b --markdown link",
    "$h check " POINT " --baseline b --markdown b.json",
    "$h check " POINT " --baseline b --json b.obtained",
    "$h check " POINT " --tolerance 1 --json r --markdown r",
    "$h check " POINT " --tolerance 1 --json r --markdown ../${PWD##*/}/r",
    "$h check " POINT " --tolerance 1 --json r --markdown r.partial",
    "$h check c.case --tolerance 1 --json c.case",
    "$h check " POINT " --save-baseline n --json n",
    "$h check " POINT " --save-baseline n --json n.json",
    "$h sweep c.case -o c.case",
    "$h sweep c.case -o hard",
    "$h depth c.case -o c.case --depth 2",
    "$h min-omega o.case --tolerance 1 -o o.case",
    "$h export c.case -o c.case",
    "$h convert ./m --omega 40 -o m",
    "$h convert ./m --omega 40 -o $PWD/m",
    "$h verify ./m -o m",
    "$h attribute ./m -o m",
    "$h cost ./m -o m",
    "$h sweep --weights ./m --omega 40 -o m",
    "$h min-omega --weights ./m --tolerance 1 -o m",
    "$h export --weights ./m --omega 40 -o m",
    "$h merge s1 s2 -o s1",
    "$h merge s1 s2 -o s2.json",
    "$h sweep " POINT " -o t >t",
    "$h sweep " POINT " -o t 2>t; code=$?; cat t; rm t; exit $code",
    "$h sweep /dev/stdin -o c.case <c.case",
};

/* ---- Outputs that are inputs --------------------------------------------------------------- */

static void outputs_that_are_inputs(void **state)
{
    expect_shell("printf \"[a]\\nconstruction = silu\\nn = 2\\nd = 2\\nomega = 9\\n\" >c.case; "
                 "grep -v omega c.case >o.case; cp $p/" GIVEN_TRAINED " m; ln c.case hard; "
                 "$h check c.case --save-baseline b --quiet && ln -s b link && "
                 "$h sweep " POINT ",10 --shard 1/2 -o s1 --quiet && "
                 "$h sweep " POINT ",10 --shard 2/2 -o s2 --quiet && rm -f t; ls; cksum * >../$$; "
                 "mv ../$$ sums",
                 0, "c.case");
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        Output output = shell("%s", scripts[i]);
        if (output.code != 2 || lines(&output) > 1) {
            fail_msg("%s: exit code %d, \"%s\"", scripts[i], output.code, output.text);
        }
        expect_shell("rm -f t; cksum $(ls | grep -v sums) | cmp - sums && echo same", 0, "same");
    }
    /* A terminal or a device may be named twice. */
    expect_shell("$h check " POINT " --tolerance 1 --quiet --json /dev/null --markdown /dev/null",
                 0, "");
}

/* ---- Advice ------------------------------------------------------------------------------- */

/* Without a baseline nothing is left, and what is advised gives the same verdict. */
static void check_by_tolerance(void **state)
{
    expect_shell("mkdir tmp; TMPDIR=$PWD/tmp $h check " POINT " --tolerance 1e-9 >said", 1, "");
    expect_shell("ls -A tmp | wc -l", 0, "0\n");
    expect_shell("$(sed -n \"s/.*reproduce: headproof/$(echo $h | sed \"s/\\//\\\\\\\\\\//g\")/p\" "
                 "said) --quiet",
                 1, "fail");
    if (!OPENMP_WRITES) {
        expect_shell("trap \"\" XFSZ; ulimit -f 0; TMPDIR=$PWD/tmp $h check " POINT
                     ",10:20 --tolerance 1 --quiet",
                     0, "");
    }
    expect_shell("ls -A tmp | wc -l", 0, "0\n");
    expect_shell("$h check " POINT " --tolerance 1 --resume", 2, "expected --baseline FILE");
    expect_shell("rmdir tmp", 0, "");
}

static int empty(void **state)
{
    (void)shell("rm -rf ./*");
    return shell_tear_down(state);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, shell_set_up, empty)

SUBJECT(files)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(small_stacks),
        SHELL_TEST(no_thread),
        TEST(closed_streams),
        TEST(closed_pipes),
        TEST(others_files),
        TEST(own_files),
        TEST(links),
        TEST(outputs_that_are_inputs),
        TEST(check_by_tolerance),
    };
    return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
