/*
 * Texts made from the tables of commands, axes and flags: docs/columns.md, the manual page,
 * completion; and what `make install` puts somewhere, and `make uninstall` takes away.
 */
#include "../shell.h"

#include "../../harness/commands/commands.h"
#include "../../harness/commands/manual/manual.h"
#include "../../harness/grid/flags.h"
#include "../../harness/grid/help.h"
#include "../../harness/table/columns.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* False, and says so, where there is no such program. */
static bool has_program(const char *name)
{
    Output output = shell("command -v %s >/dev/null", name);
    bool has = output.code == 0;
    if (!has) {
        print_message("there is no %s: skipped\n", name);
    }
    return has;
}

static void the_page_of_columns_is_the_program_s(void **state)
{
    expect_shell("$h manual keys >new.md && diff $p/docs/keys.md new.md && echo the same", 0,
                 "the same");
    expect_shell("$h manual columns >new.md && diff $p/docs/columns.md new.md && echo the same", 0,
                 "the same");
}

/* An awk program's rule, which a shell quotes: the names in the first cell of such rows. */
#define NAMES(rows)                                                                                \
    rows "{split(\\$0, cell, \\\"|\\\"); k = split(cell[2], part, \\\"\\`\\\"); "                  \
         "for (j = 2; j < k; j += 2) print part[j]}\""

/* The first line that a command writes, against the names in its section, in order. */
static void a_page_has_every_column_in_order(void **state)
{
    static const struct {
        const char *command, *arguments;
    } tables[] = {
        {"sweep", "--construction silu --n 2 --d 2 --omega 5 --propagation"},
        {"min-omega", "--construction silu --n 2 --d 2 --tolerance 1 --judge construction"},
        {"cost", "--n 2 --d 2 --measure"},
        {"verify", "$p/cases/models/modadd53-silu.safetensors --tokens 0/0/53 --omega 20 "
                   "--format csv -q"},
        {"attribute", "$p/cases/models/modadd53-silu.safetensors --tokens 0/0/53 --omega 20 "
                      "--format csv -q"},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const char *command = tables[i].command;
        Output output = shell("$h %s %s 2>says | head -n 1 | tr , \"\\n\" >written\n"
                              "[ -s written ] || cat says\n"
                              "awk -F\"\\`\" \"/^## /{on=index(\\$0, \\\"\\`%s\\`\\\")} " NAMES(
                                  "on && /^\\| \\`/") " $p/docs/columns.md >said\n"
                                                      "diff written said && echo the same",
                              command, tables[i].arguments, command);
        expect_output(output, 0, "the same");
    }
}

/* The columns of words that the Python module names: all that the page has, without numpy. */
static void python_knows_the_columns_of_words(void **state)
{
    expect_shell(
        "awk -F\"\\`\" \"" NAMES(
            "/\\| (word|words|path|word or path) \\|/") " "
                                                        "$p/docs/columns.md | sort -u >page\n"
                                                        "sed -n \"/^WORDS/,/split/p\" "
                                                        "$p/python/headproof/tables.py | tr -c "
                                                        "a-z_- \"\\n\" | "
                                                        "sort -u >module\n"
                                                        "[ $(wc -l <page) -gt 10 ] && comm -23 "
                                                        "page module && echo no more",
        0, "no more");
    expect_shell("comm -23 page module | wc -l", 0, "0\n");
}

/* A column that nothing is said of is none that is said something about another. */
static void texts_are_of_their_columns(void **state)
{
    static const struct {
        const char *command, *name, *unit, *holds;
    } columns[] = {
        {"sweep", "construction_log10", "log10", "r(T′) − r(T∞)"},
        {"sweep", "total_ulp", "ulp of r(T)'s largest", "m(T′) − r(T): its largest entry"},
        {"verify", "native_max", "as the stream", "m(T) − r(T): its largest entry"},
        {"sweep", "d_ff", "integer", "`--d-ff`: "},
        {"cost", "dense_slowdown", "quotient", "T′'s seconds over T's"},
        {"min-omega", "seed", "integers", "searched together"},
        {"sweep", "seed", "integer", "`--seed`: "},
    };
    static const char *const unsaid[] = {"", "colour", "seeds", "_slowdow", "total_log2"};
    ColumnText text;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        assert_true(column_text(&text, columns[i].command, columns[i].name));
        assert_string_equal(text.unit, columns[i].unit);
        if (strstr(text.meaning, columns[i].holds) == NULL) {
            fail_msg("%s: %s", columns[i].name, text.meaning);
        }
    }
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++) {
        assert_false(column_text(&text, "sweep", unsaid[i]));
    }
}

static void the_manual_page_has_everything(void **state)
{
    Output page = shell("$h manual man | sed s/.-/-/g");
    expect_says(&page, 0, ".TH HEADPROOF 1");
    for (Command c = 0; c < COMMAND_COUNT; c++) {
        char name[64];
        snprintf(name, sizeof name, "\n\\fB%s\\fR", commands_get(c)->name);
        expect_says(&page, 0, name);
    }
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        char name[64];
        snprintf(name, sizeof name, "\n\\fB--%s\\fR\n", axis_info(axis)->name);
        expect_says(&page, 0, name);
    }
    for (const FlagInfo *flag = flag_table; flag->name != NULL; flag++) {
        char name[64];
        snprintf(name, sizeof name, "\\fB--%s\\fR", flag->name);
        expect_says(&page, 0, name);
    }
}

static void groff_takes_the_manual_page(void **state)
{
    if (has_program("groff")) {
        expect_shell("$h manual man | groff -ww -b -man -Tascii >page 2>faults\n"
                     "[ ! -s faults ] || { cat faults; exit 1; }\n"
                     "sed \"s/.\\x08//g\" page | grep -c EXIT",
                     0, "1");
    }
}

/* What bash offers for a line, whose words are as bash cuts them. */
static void bash_completes(void **state)
{
    static const struct {
        const char *words, *offers;
    } lines[] = {
        {"mi", "[min-omega]"},
        {"--v", "[--version]"},
        {"help att", "[attribute]"},
        {"help sweep --a", "[--all]"},
        {"sweep --construction ff", "[ffn3]"},
        {"sweep --construction silu,transformer", "[silu,transformer3 silu,transformer]"},
        {"sweep --norm r", "[rms rel]"},
        {"sweep --activation = g", "[gelu gelu_new]"},
        {"sweep --format j", "[json jsonl]"},
        {"sweep --propa", "[--propagation]"},
        {"cost --propa", "[]"},
        {"cost --preset gpt3", "[gpt3-6.7b gpt3]"},
        {"min-omega --ome", "[]"},
        {"check --baseline x", "[]"},
        {"sweep --omega 1", "[]"},
        {"manual z", "[zsh]"},
    };
    if (!has_program("bash")) {
        return;
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Output output = shell("$h manual bash >completion && bash -c \". ./completion\n"
                              "COMP_WORDS=(headproof %s)\n"
                              "COMP_CWORD=\\$((\\${#COMP_WORDS[@]} - 1))\n"
                              "_headproof; echo for %s: [\\${COMPREPLY[*]}]\"",
                              lines[i].words, lines[i].words);
        expect_output(output, 0, lines[i].offers);
    }
}

/* A command that reads its own flags: they are in its row, and in every text made of it. */
static void flags_of_a_command_alone_are_known(void **state)
{
    static const FlagInfo flags[] = {{"output", "FILE", "the picture", .letter = 'o'},
                                     {"error-norm", "NORM", "how errors are measured", .letter = 0},
                                     {"mask", "MASK", "whose", .letter = 0}};
    static const CommandInfo command = {
        .name = "draw",
        .summary = "a picture",
        .usage = "FILE.csv... [-o FILE.svg|png|pdf] [--x AXIS] [--error-norm NORM] [--tolerance T]",
        .own_flags = flags,
        .own_flag_count = sizeof flags / sizeof *flags};
    char text[SCRATCH_TEXT];
    const char *path = shell_path("page");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    completion_write_bash(file, &command, 1);
    completion_write_zsh(file, &command, 1);
    man_write(file, &command, 1);
    help_print_command(file, &command, true);
    assert_int_equal(fclose(file), 0);
    assert_true(file_read(text, path) > 0);
    assert_non_null(strstr(text, "    draw) flags='--output --error-norm --mask --help' ;;\n"));
    assert_non_null(strstr(text, "    draw)\n        _arguments -S \\\n"
                                 "        '--output=[the picture]:FILE:_files' \\\n"
                                 "        '--error-norm=[how errors are measured]:NORM:' \\\n"
                                 "        '--mask=[whose]:MASK:_headproof_words none causal "));
    assert_non_null(strstr(text, "a picture.\n.RS\n.TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR "
                                 "\\fIFILE\\fR\nthe picture\n"));
    assert_non_null(strstr(text, "\nusage: headproof draw FILE.csv... [-o FILE.svg|png|pdf] "
                                 "[--x AXIS]\n                      [--error-norm NORM] "
                                 "[--tolerance T]\n\na picture\n\nflags:\n"
                                 "  --output FILE        the picture (-o)\n"
                                 "  --error-norm NORM    how errors are measured\n"));
}

static void zsh_takes_its_completion(void **state)
{
    if (has_program("zsh")) {
        expect_shell("$h manual zsh >_headproof && zsh -n _headproof && echo taken", 0, "taken");
    }
}

static void other_pages_are_refused(void **state)
{
    expect_shell("$h manual", 2, "expected a page, one of man, bash, zsh, columns, keys");
    expect_shell("$h manual colums", 2, "(did you mean columns?)");
    expect_shell("$h manual man bash", 2, "token 'bash': expected one page");
    expect_shell("$h manual man >/dev/full", 99, "stdout");
}

/* Everything is there, works where it is, and goes; what others have put there stays. */
static void what_is_installed_goes_again(void **state)
{
    expect_shell(
        "root=\"$PWD/a root\"; trap \"rm -rf \\\"$root\\\"\" EXIT; mkdir -p "
        "\"$root/usr/share/man/man1\"\n"
        "touch \"$root/usr/share/man/man1/other.1\"\n"
        "export PREFIX=/usr PYTHONDIR=/usr/lib/py DESTDIR=\"$root\"\n"
        "(cd $p && sh tools/install install $h) || exit 3\n"
        "cd \"$root/usr\" && bin/headproof --version && cmp $h bin/headproof &&\n"
        "bin/headproof manual man | cmp - share/man/man1/headproof.1 &&\n"
        "bin/headproof manual bash | cmp - share/bash-completion/completions/headproof &&\n"
        "bin/headproof manual zsh | cmp - share/zsh/site-functions/_headproof &&\n"
        "for f in $p/python/headproof/*.*; do cmp $f lib/py/headproof/${f##*/} || exit 4; done\n"
        "cd share/doc/headproof && cmp $p/docs/columns.md docs/columns.md &&\n"
        "../../../bin/headproof sweep cases/omega.case --dry-run | tail -n 1 &&\n"
        "mkdir -p \"$root/usr/lib/py/headproof/__pycache__\" &&\n"
        "touch \"$root/usr/lib/py/headproof/__pycache__/tables.cpython-311.pyc\" &&\n"
        "(cd $p && sh tools/install uninstall $h) && cd \"$root\" && find . | sort",
        0,
        "\n.\n./usr\n./usr/share\n./usr/share/man\n./usr/share/man/man1\n"
        "./usr/share/man/man1/other.1\n");
    expect_shell("root=$PWD/clean; trap \"rm -rf $root\" EXIT; mkdir $root; export DESTDIR=$root\n"
                 "(cd $p && sh tools/install install $h && sh tools/install uninstall $h) &&\n"
                 "echo left: $(ls -A $root)",
                 0, "left:\n");
    /* Without a DESTDIR too, whoever asks for which directory of Python's. */
    expect_shell("root=$PWD/clean; trap \"rm -rf $root\" EXIT; mkdir -p $root/share/doc\n"
                 "unset DESTDIR; export PREFIX=$root; umask 077\n"
                 "(cd $p && PYTHONDIR=$root/py/3 sh tools/install install $h) || exit 3\n"
                 "find $root -type d ! -perm 755; cd $root; $h --version >bin/other\n"
                 "echo mine >share/doc/headproof/mine\n"
                 "(cd $p && sh tools/install install $h && sh tools/install uninstall $h && "
                 "sh tools/install uninstall $h) && find . | sort",
                 0,
                 "/manifest\n.\n./bin\n./bin/other\n./share\n./share/doc\n./share/doc/headproof\n"
                 "./share/doc/headproof/mine\n");
    expect_shell("cd $p && PREFIX=usr DESTDIR=/nowhere sh tools/install install $h", 2,
                 "PREFIX=usr: expected an absolute path");
}

/* Pictures and tables among them. */
static void what_installed_pages_name_is_there(void **state)
{
    expect_shell(
        "root=$PWD/root; trap \"rm -rf $root\" EXIT\n"
        "export DESTDIR=$root PREFIX=/usr\n"
        "(cd $p && sh tools/install install $h) && cd $root/usr/share/doc/headproof || exit 3\n"
        "for page in *.md */*.md */*/*.md; do\n"
        "grep -oE \"\\]\\([^)# ]+\" $page | sed \"s/^](//\" | grep -vE \"^[a-z]+:\" >links\n"
        "while read -r link; do [ -e $(dirname $page)/$link ] || echo $page: no $link; done "
        "<links\n"
        "done | grep no || echo all are there",
        0, "all are there\n");
}

/* --dry-run is refused by name, with the commands that have it, by those whose help has it not. */
static void a_dry_run_names_those_that_have_one(void **state)
{
    expect_shell(
        "all=$(for c in sweep depth min-omega growth check export verify convert guarantee "
        "cost attribute; do\n"
        "$h help $c --all | grep -q \"^  --dry-run\" && printf \"%s, \" $c; done)\n"
        "all=$(echo \"$all\" | sed \"s/, \\([a-z-]*\\), *\\$/ and \\1/\")\n"
        "for c in convert guarantee cost attribute; do\n"
        "$h $c $p/cases/models/modadd53-silu.safetensors --dry-run 2>said; echo $?\n"
        "grep -c \"expected a flag of $c, which has no --dry-run: $all have one\" said\n"
        "done; echo $all",
        0,
        "2\n1\n2\n1\n2\n1\n2\n1\n"
        "sweep, depth, min-omega, growth, check, export and verify\n");
}

/* make passes on what it was given; -n: it shows the command. */
static void make_installs(void **state)
{
    if (has_program("make")) {
        expect_shell(
            "cd $p && env -u MAKEFLAGS -u MAKELEVEL make -n uninstall PREFIX=/x DESTDIR=/y", 0,
            "PREFIX='/x' DESTDIR='/y' PYTHONDIR='' sh tools/install uninstall");
    }
}

/* What holds apt's lists, or dpkg, is waited for; another failure is not. */
static void another_apt_get_is_waited_for(void **state)
{
    expect_shell("mkdir bin && cat >bin/apt-get <<\"END\"\n"
                 "#!/bin/sh\n"
                 "case $* in\n"
                 "*update) [ $((count = $(cat count) - 1)) -lt 0 ] && exit 0\n"
                 "    echo $count >count; echo \"E: $(cat why)\" >&2; exit 100 ;;\n"
                 "*) echo $* ;;\n"
                 "esac\n"
                 "END\n"
                 "printf \"#!/bin/sh\\n:\\n\" >bin/sleep\n"
                 "printf \"#!/bin/sh\\nexec \\\"\\$@\\\"\\n\" >bin/sudo\n"
                 "chmod +x bin/*; export PROBED=$PWD PATH=$PWD/bin:$PATH\n"
                 "for why in \"Could not get lock L\" \"No such host\"; do\n"
                 "    echo $why >why; echo 2 >count\n"
                 "    sh $p/tools/deps programs nobodyhasthis some-package 2>&1; cat count\n"
                 "done | grep -v installing; rm -r bin",
                 0,
                 "deps: not found: some-package\n"
                 "deps: waiting for another apt-get\n"
                 "-q -y --no-install-recommends -o DPkg::Lock::Timeout=300 install some-package\n"
                 "0\n"
                 "deps: not found: some-package\n"
                 "E: No such host\n"
                 "-q -y --no-install-recommends -o DPkg::Lock::Timeout=300 install some-package\n"
                 "1\n");
}

SUBJECT(manual)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(the_page_of_columns_is_the_program_s),
        SHELL_TEST(a_page_has_every_column_in_order),
        SHELL_TEST(python_knows_the_columns_of_words),
        cmocka_unit_test(texts_are_of_their_columns),
        SHELL_TEST(the_manual_page_has_everything),
        SHELL_TEST(groff_takes_the_manual_page),
        SHELL_TEST(bash_completes),
        SHELL_TEST(flags_of_a_command_alone_are_known),
        SHELL_TEST(zsh_takes_its_completion),
        SHELL_TEST(other_pages_are_refused),
        SHELL_TEST(what_is_installed_goes_again),
        SHELL_TEST(another_apt_get_is_waited_for),
        SHELL_TEST(what_installed_pages_name_is_there),
        SHELL_TEST(a_dry_run_names_those_that_have_one),
        SHELL_TEST(make_installs),
    };
    return cmocka_run_group_tests_name("manual", tests, NULL, NULL);
}
