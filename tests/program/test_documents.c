/*
 * The pages that users read first: every command in them is executed and its output compared
 * (tests/documents), and the README leads to every page.
 */
#include "../shell.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Executes a page, of the tree or of the scratch directory; code and text as of tests/documents.
 * False, and says so, where there is no terminal to be had. */
static bool execute(Output *output, const char *page)
{
    *output = shell("s=$PWD; cd $p && HEADPROOF=$h sh tests/documents %s", page);
    if (output->code == NOT_HERE) {
        print_message("there is no script: skipped\n");
        return false;
    }
    return true;
}

static void expect_page(const char *page)
{
    Output output;
    if (execute(&output, page)) {
        expect_output(output, 0, "");
    }
}

static void the_readme_is_right(void **state)
{
    expect_page("README.md");
}

static void the_tutorial_is_right(void **state)
{
    expect_page("docs/tutorial.md");
}

static void the_pages_of_commands_and_models_are_right(void **state)
{
    expect_page("docs/commands.md docs/models.md");
}

static void the_page_about_ci_is_right(void **state)
{
    expect_page("docs/ci.md");
}

/* All others, of which some have no command. */
static void the_other_pages_are_right(void **state)
{
    Output output = shell(
        "command -v script >/dev/null || exit 77\n"
        "cd $p && export HEADPROOF=$h\n"
        "pages=$(ls docs/*.md | grep -v -e /tutorial -e /commands -e /models -e /ci.md)\n"
        "sh tests/documents $pages | grep -v \"there is no command in it\" || echo all right");
    expect_output_or_skip(output, "all right\n", "script");
}

static void the_manual_s_examples_are_right(void **state)
{
    expect_page("manual");
}

static const struct {
    const char *text, *says;
} pages[] = {
    {"```\n$ echo a  b c\na\nb c\n```\n", ""},
    {"```\n$ echo 1 2 3 4 5\n1\n... 4 5\n```\n", ""},
    {"```\n$ echo 2.0e-12 takes 3 s, all 98 evaluated, to 2097150\n"
     "7.9e-12 takes 4 s, all 97 evaluated, to 2100000\n```\n",
     ""},
    {"```\n$ A=word\n$ echo $A \\\n   more\nword more\n```\n", ""},
    {"```\n$ echo \"m(T') 6.32e-35 1.7e-33,\"\nm(T') 7.68e-34 2.54e-32,\n```\n", ""},
    {"```\n$ echo \"r(T') 6.32e-35 1.7e-33,\"\nr(T') 6.32e-35 1.8e-33,\n```\n",
     "obtained:  r(T') 6.32e-35 1.7e-33,"},
    {"```\n$ echo 1.0e-12\n4.1e-12\n```\n", "obtained:  1.0e-12"},
    {"```\n$ echo 1.0e-20\n1.1e-20\n```\n", "obtained:  1.0e-20"},
    {"```\n$ echo 0.25\n0.26\n```\n", ".md:2: $ echo 0.25\nexpected:  0.26"},
    {"```\n$ echo 12\n13\n```\n", "obtained:  12"},
    {"```\n$ echo 0\n1.0e-12\n```\n", "obtained:  0"},
    {"```\n$ echo 1 2 3\n1 ... 4\n```\n", "obtained:  no such line"},
    {"```\n$ echo 1 2\n1\n```\n", "expected:  no more"},
    {"```\n$ echo 1\n1 2\n```\n", "obtained:  no such line"},
    {"one\n\n```sh\ntrue\nfalse\ntrue\n```\n", ".md:4: exit 1: true"},
    {"```sh\nmake nothing\n```\n", "there is no goal nothing"},
    {"```sh\nmake check run\n```\n", ""},
    {"```\nheadproof help\n```\n", ".md:2: a command that nobody executes"},
    {"    headproof help\n", ".md:1: a command that nobody executes"},
    {"```text\nbuild/release/headproof info\n```\n", "that nobody executes"},
    {"```\n$ wc -l <<END\nA\n$ B\nEND\n2\n```\n", ""},
    {"<!-- needs sh -->\n\n```sh\nfalse\n```\n", "exit 1: false"},
    {"<!-- needs nobodyhasthis -->\n\n```sh\nfalse\n```\n", ""},
    {"```\n$ echo rounding 1.0e-01, safety factor 3, error 1 from 3.165 to 65.24\n"
     "rounding 2.0e-01, safety factor 10, error 4 from 3.17 to 65\n```\n",
     ""},
    {"```\n$ echo construction 1.0e-01\nconstruction 1.1e-01\n```\n",
     "obtained:  construction 1.0e-01"},
    {"```\n$ echo from 3.165 up\nfrom 3.2 up\n```\n", "obtained:  from 3.165 up"},
    {"<!-- executed by tests/ci_examples -->\n\n```sh\nfalse\n```\n\n```sh\ntrue\n```\n", ""},
    {"no block\n", "there is no command in it"},
    {"<!-- long -->\n\n```sh\nfalse\n```\n", ""},
    {"<!-- long -->\n\nA word.\n\n```sh\nfalse\n```\n", "exit 1: false"},
    {"```\n$ exit 3\n```\n\n```\n$ echo 1\n1\n```\n", "was not executed: echo 1"},
    {"```\n$ echo 1\n1\n", "a block does not end"},
};

/* Executes all pages that are right, or all that are wrong, in one go; of the second each says what
 * is wrong, one after another. */
static void execute_pages(bool wrong)
{
    Output output;
    char list[1024] = "", name[32];
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        if ((*pages[i].says != '\0') == wrong) {
            snprintf(name, sizeof name, "page%02zu.md", i);
            shell_write(name, pages[i].text);
            snprintf(list + strlen(list), sizeof list - strlen(list), "$s/%s ", name);
        }
    }
    if (!execute(&output, list)) {
        return;
    }
    assert_int_equal(output.code, wrong);
    assert_true(wrong || *output.text == '\0');
    const char *at = output.text;
    for (size_t i = 0; wrong && i < sizeof pages / sizeof *pages; i++) {
        at = strstr(at, pages[i].says);
        if (at == NULL) {
            fail_msg("%s\nexpected: %s\n%s", pages[i].text, pages[i].says, output.text);
        }
        at += strlen(pages[i].says);
    }
}

/* A page's text, and what is said of it; "" where it is right. */
static void pages_that_are_wrong_are_caught(void **state)
{
    (void)unsetenv("HEADPROOF_NIGHTLY"); /* with which what is marked as long is executed */
    execute_pages(false);
    execute_pages(true);
}

/* Every page of docs/ has its line in the README, and so has what lies elsewhere. */
static void the_readme_has_every_page(void **state)
{
    Output output = shell("cd $p && for page in docs/*.md [A-Z]*.md */README.md */*/README.md; do "
                          "[ $page = README.md ] || grep -q \"^| .*\\[[^]]*\\]($page).* | .\" "
                          "README.md || echo $page\ndone | wc -l");
    expect_output(output, 0, "0\n");
}

/* A dash is no word, and commands stand beside the text. */
static void words_are_counted(void **state)
{
    shell_write("page.md", "One — two, 3.\n\n```sh\necho a\n```\n\n| four | |\n");
    expect_output(shell("sh $p/tests/tools/words page.md"), 0,
                  "     4      2  page.md\n     4      2  in all\n");
}

SUBJECT(documents)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(the_readme_is_right),
        SHELL_TEST(the_tutorial_is_right),
        SHELL_TEST(the_pages_of_commands_and_models_are_right),
        SHELL_TEST(the_page_about_ci_is_right),
        SHELL_TEST(the_other_pages_are_right),
        SHELL_TEST(the_manual_s_examples_are_right),
        SHELL_TEST(pages_that_are_wrong_are_caught),
        SHELL_TEST(the_readme_has_every_page),
        SHELL_TEST(words_are_counted),
    };
    return cmocka_run_group_tests_name("documents", tests, NULL, NULL);
}
