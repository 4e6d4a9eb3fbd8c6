/*
 * Pages of results: the verdict and its reason, the picture, the rows that fail and the commands
 * that repeat them; what is refused; and, where there is Chromium, how a browser takes the page.
 */
#include "../../harness/commands/report/section.h"
#include "../shell.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sweep of which two points of three are above the tolerance. */
#define SWEEP                                                                                      \
    "$h sweep --construction silu --n 2 --d 2 --omega 1,20,1e9 --tolerance 1e-12 --quiet "         \
    "-o s.csv 2>said; "
#define REPORT "$h report s.csv -o r.html && cat r.html"

static void expect_page(const char *says)
{
    expect_shell(SWEEP REPORT, 0, says);
}

static void test_a_sweep(void **state)
{
    expect_page("<title>FAIL: headproof report</title>");
    expect_page("FAIL: 2 of 3 points; 2 rows fail</p>");
    expect_page("<code>headproof sweep --construction silu --n 2 --d 2 --omega 1000000000 --seed 1 "
                "--tolerance 1e-12</code>");
    expect_page("<figure");
    expect_page("T is the model, T\u2032 its rewrite with attention heads alone");
    expect_page("<dt>openblas_core</dt>");
    expect_page("</footer>\n</body>\n</html>\n");
    expect_shell("$h report s.csv -o - >o.html 2>said && cmp r.html o.html && wc -c <said", 0,
                 "0\n");
    expect_shell("$h report s.csv -o /dev/stdout | cmp - r.html && echo same", 0, "same");
    expect_shell("$h report s.csv -o - >/dev/full", 99, "stdout: cannot be written");
    /* What a run left that was killed is its own; what another program wrote is not. */
    expect_shell("cp r.html q.html.partial; $h report s.csv -o q.html", 0, "report: q.html");
    expect_shell("echo mine >q.html.partial; $h report s.csv -o q.html", 2, "left itself");
    /* The command beside the failures is one that fails by itself. */
    expect_shell("$(grep -o \"headproof sweep --construction[^<]*\" r.html | sed -n 1p | "
                 "sed \"s|^headproof|$h|\") --quiet >/dev/null 2>&1",
                 1, "");
    expect_shell("$h sweep --construction silu --n 2 --d 2 --omega 20 --tolerance 1e-12 --quiet "
                 "-o s.csv; " REPORT,
                 0, "PASS: 1 point, 1 row");
}

/* Rows that fail come before those that pass, of which forty are shown. */
static void test_rows(void **state)
{
    expect_shell(SWEEP REPORT " | grep -c \"<td class=.fail.>fail\"", 0, "2\n");
    expect_shell("$h sweep --construction silu --n 2 --d 2 --omega 11:60 --quiet -o s.csv; " REPORT,
                 0, "40 of 50 rows");
    expect_shell(SWEEP "rm s.csv.json; " REPORT, 0, "FAIL: 2 of 3 rows; 2 rows fail");
    expect_shell("cat r.html", 0, "nothing is known of its run");
}

/* A page is green where something was judged, and where a digest says that nobody changed it. */
static void test_what_passes(void **state)
{
    expect_shell("$h sweep --construction silu --n 2 --d 2 --omega 1 --quiet -o s.csv; " REPORT, 0,
                 "<title>nothing judged: headproof report</title>");
    expect_shell("grep -c -e \"class=.pass\" -e \"verdict pass\" r.html", 1, "0\n");
    expect_shell("cat r.html", 0,
                 "verdict evaluated\">evaluated, nothing judged: no tolerance: 1 point, 1 row</p>");
    /* One of two tables, one of two points. */
    expect_shell(
        "printf \"[a]\\nconstruction=silu\\nn=2\\nd=2\\nomega=20\\n[b]\\nconstruction=silu\\n"
        "n=2\\nd=2\\nomega=20\\ntolerance=1e-9\\n\" >c.case; $h sweep c.case -q -o t.csv; "
        "$h report s.csv t.csv -o r.html; cat r.html",
        0, "<title>not all judged: headproof report</title>");
    expect_shell("cat r.html", 0, "PASS: 2 points, 2 rows, 1 without a tolerance</p>");
    /* Rows that fail, beside a sidecar that says all passed, and has no digest. */
    expect_shell("$h report t.csv -o r.html; cat r.html", 0,
                 "<title>PASS: headproof report</title>");
    expect_shell(
        "sed -i \"s/ok\\$/fail/\" t.csv; sed -i \"/digest.: .[0-9a-f]*.,\\$/{/^ .digest/d}\" "
        "t.csv.json; $h report t.csv -o r.html; cat r.html",
        0, "FAIL: 2 of 2 rows; 2 rows fail");
    expect_shell("sed -i \"s/fail\\$/ok/\" t.csv; $h report t.csv -o r.html; cat r.html", 0,
                 "no failure in 2 rows, but no sidecar with their digest says that they are as");
    expect_shell("rm t.csv.json; $h report t.csv -o r.html; cat r.html", 0,
                 "<title>nothing judged: headproof report</title>");
    /* A word that check has not, or that its findings belie. */
    expect_shell("printf \"{\\\"verdict\\\": \\\"fine\\\", \\\"findings\\\": []}\" >j; "
                 "$h report j -o r.html",
                 2, "expected a table");
    expect_shell("printf \"{\\\"verdict\\\": \\\"pass\\\", \\\"findings\\\": [{}]}\" >j; "
                 "$h report j -o r.html; cat r.html",
                 0, "<title>FAIL");
}

/* A point that was never judged (passed: null) has no verdict, and the rows are asked. */
static void test_unjudged_points(void **state)
{
    expect_shell(SWEEP "sed -i \"s/\\\"passed\\\": [a-z]*/\\\"passed\\\": null/\" s.csv.json; "
                       "grep -c \"passed.: null\" s.csv.json; " REPORT,
                 0, "2 rows fail</p>");
}

/* Three digits, as the C library rounds decimals: never ten before the point. */
static void test_numbers(void **state)
{
    static const char *const numbers[][2] = {{"9.9949e-03", "9.99e-03"},
                                             {"9.9951e-03", "1.00e-02"},
                                             {"9.999e-01", "1.00e+00"},
                                             {"-9.996e+99", "&minus;1.00e+100"},
                                             {"1.2345e-300", "1.23e-300"}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);
        assert_non_null(file);
        listing_value(file, numbers[i][0]);
        assert_int_equal(fclose(file), 0);
        assert_string_equal(text, numbers[i][1]);
        free(text);
    }
}

static void test_checks(void **state)
{
    expect_shell("printf \"[a]\\nconstruction=silu\\nn=2\\nd=2\\nomega=8,9\\n\" >c.case; "
                 "$h check c.case --save-baseline b.csv --quiet >said && "
                 "$h check c.case --baseline b.csv --json c.json --quiet >said; "
                 "$h report c.json b.csv -o r.html; cat r.html",
                 0, "PASS: every row is as good as the baseline");
    expect_shell("printf \"[a]\\nconstruction=silu\\nn=2\\nd=2\\nomega=8,9,10\\n\" >c.case; "
                 "$h check c.case --baseline b.csv --json c.json --quiet >said; "
                 "$h report c.json -o r.html; cat r.html",
                 0, "FAIL: 1 row, 1 finding; the first:");
    expect_shell("cat r.html", 0,
                 "<code>headproof sweep --construction silu --n 2 --d 2 --omega 10");
}

static void test_other_tables(void **state)
{
    expect_shell("$h min-omega --construction silu --n 2 --d 2 --tolerance 1e-6 --quiet -o m.csv; "
                 "$h report m.csv -o r.html; cat r.html",
                 0, "<th scope=\"row\">omega_min</th>");
    expect_shell("cat r.html", 0, "PASS: 1 point, 1 row");
}

/* Intervals of Omega are drawn as plot does, in text without gnuplot; searches in vain are not. */
static void test_searches(void **state)
{
    expect_shell("$h min-omega --construction silu,fused --n 2:4 --d 2 --tolerance 1e-6 --quiet "
                 "-o m.csv; PATH=/nowhere $h report m.csv -o r.html; "
                 "sed -n \"/<figure><pre>/,/<.pre>/p\" r.html | grep -c \"\\[=*\\*=*\\]\"",
                 0, "6\n");
    expect_shell("$h min-omega --construction silu --n 2 --d 2 --tolerance 1e-300 --quiet -o v.csv "
                 "2>said; $h report v.csv -o r.html 2>&1 | grep -c \"an omega\"",
                 1, "0\n");
    expect_output_or_skip(
        shell("command -v gnuplot >said || exit 77; $h report m.csv -o r.html; "
              "sed -n \"/<figure class=.broad.><svg/,/<.figure>/p\" r.html | grep -o -e \">silu<\" "
              "-e \">fused<\""),
        ">silu<\n>fused<\n", "gnuplot");
}

/* A table of many columns and a few rows has a line a column, which paper and telephones are wide
 * enough for; many rows have a line each. */
static void test_upright(void **state)
{
    expect_shell("$h min-omega --construction silu,fused --n 2 --d 2 --tolerance 1e-6 --quiet "
                 "-o m.csv; $h report m.csv -o r.html; grep \"row.>construction<\" r.html",
                 0, "<tr><th scope=\"row\">construction</th><td>silu</td><td>fused</td></tr>\n");
    expect_shell("$h min-omega --construction silu --n 2:6 --d 2 --tolerance 1e-6 --quiet "
                 "-o m.csv; $h report m.csv -o r.html; cat r.html",
                 0, "<th scope=\"col\">omega_min</th>");
}

/* What verify and min-omega found is found again by themselves, not by a sweep of random rows. */
static void test_commands_of_tables(void **state)
{
    expect_shell("$h min-omega --construction silu --n 2 --d 2 --tolerance 1e-300 --quiet -o m.csv "
                 "2>said; $h report m.csv -o r.html; cat r.html",
                 0,
                 " min-omega --construction silu --n 2 --d 2 --tolerance 1e-300 --quiet -o m.csv"
                 "</code></pre>");
    expect_shell("cat r.html", 0, "FAIL: 1 of 1 point; 1 row without an omega</p>");
    expect_shell(
        "m=$p/cases/models/modadd53-silu.safetensors; $h verify $m --tokens 0/0/53 --omega "
        "0.5 --tolerance 1e-9 --quiet -o v.csv >said 2>&1; $h report v.csv -o r.html; "
        "grep -A 1 Failures r.html",
        0, " --tokens 0/0/53 --omega 0.5 --tolerance 1e-9 --quiet -o v.csv</code></pre>");
}

/* No rule of the page lets a cell break between two letters, as the page's own text may. */
static void test_cells_on_paper(void **state)
{
    expect_page("table{border-collapse:collapse;font-size:.85rem;overflow-wrap:normal}");
    expect_shell("sed -n \"/^@media print/,/^<.style/p\" r.html | grep -c "
                 "\"th,td{white-space:normal\"",
                 1, "0\n");
    expect_shell("grep -c \"h2,h3,.verdict{break-after:avoid}\" r.html", 0, "1\n");
}

static void test_without_gnuplot(void **state)
{
    expect_shell(SWEEP "PATH=/nowhere $h report s.csv -o r.html; cat r.html", 0, "<figure><pre>");
}

static void test_refused(void **state)
{
    expect_shell("$h report", 2, "FILE... -o FILE.html");
    expect_shell(SWEEP "$h report s.csv", 2, "FILE... -o FILE.html");
    expect_shell("$h report s.csv --colour red -o r.html", 2, "--colour");
    expect_shell("$h report none.csv -o r.html", 2, "none.csv");
    expect_shell("printf \"a,b\\n1,2\\n\" >x.csv; $h report x.csv -o r.html", 2,
                 "expected a table");
    expect_shell("$h report s.csv.json -o r.html", 2, "expected a table");
    expect_shell("cp s.csv t; $h report s.csv -o s.csv; code=$?; cmp s.csv t && exit $code", 2,
                 "--output");
    expect_shell("$h report s.csv -o s.csv.json", 2, "--output");
    expect_shell("sed -i s/silu/fused/ s.csv; $h report s.csv -o r.html", 2,
                 "its rows are not those that its .json names");
    expect_shell(SWEEP "ln -s /dev/full full; $h report s.csv -o full", 99, "full");
    expect_shell("test ! -e r.html && echo none", 0, "none");
}

/* Cells and names are text, whatever they look like. */
static void test_text_is_text(void **state)
{
    expect_shell("printf \"construction,layer,construction_max,status\\n"
                 "<script>alert(1)</script>,1,1e-3,fail\\nsilu,1,1e-3,ok\\n\" >\"<b>.csv\"; "
                 "$h report \"<b>.csv\" -o r.html && ! grep -e \"<b>\" -e \"<script\" r.html && "
                 "cat r.html",
                 0, "&lt;script&gt;");
}

/* Two pictures on a page share no name. */
static void test_names_are_once(void **state)
{
    expect_shell(SWEEP "cp s.csv t.csv; $h report s.csv t.csv -o r.html; "
                       "grep -o \" id=[^ >]*\" r.html | sort | uniq -d | wc -l",
                 0, "0\n");
    expect_shell("grep -c -e \"<script\" -e \"src=\" -e \"@import\" r.html", 1, "0\n");
}

/* Both pictures have a curve for omega 20: the colour of its place among all that the page has. */
static void test_colours(void **state)
{
    expect_output_or_skip(
        shell("command -v gnuplot >said || exit 77; for o in 20,1000 8,20; do $h sweep "
              "--construction silu --n 2 --d 2 --depth 12 --omega $o -q -o s${o#*,}.csv; done; "
              "$h report s20.csv s1000.csv -o r.html >said; "
              "sed -n \"/<figure class=.broad/,/<.figure>/p\" r.html | "
              "grep -A 9 \"<title>omega 20<\" | grep -o \" color=.rgb([^)]*)\" | uniq -c"),
        "      2  color='rgb(  0, 114, 178)\n", "gnuplot");
}

/* Of one point the page has a sentence. */
static void test_one_point(void **state)
{
    expect_shell("$h sweep --construction silu --n 2 --d 2 --omega 20 -q -o s.csv; " REPORT, 0,
                 "<p>One point, of which there is no picture: total");
    expect_shell("grep -c \"<figure\" r.html", 1, "0\n");
}

/* A page that shows r.html in a frame of that width, and asks it how wide it would like to be: a
 * window of a browser's own is never narrower than 500 pixels. */
static void make_frame(const char *name, int width)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "<iframe src='r.html' style='border:0;width:%dpx;height:800px'></iframe><p id='says'></p>"
        "<script>onload = function () { var d = frames[0].document.documentElement;"
        "document.getElementById('says').textContent = d.clientWidth + ' ' + d.scrollWidth; }"
        "</script>\n",
        width);
    shell_write(name, text);
}

#define CHROMIUM                                                                                   \
    "HOME=$PWD timeout 300 chromium --headless --no-sandbox --disable-gpu "                        \
    "--user-data-dir=$PWD/.c --enable-logging=stderr --allow-file-access-from-files "

/* No message on the console, nothing wider than a telephone or a window, in both themes; and paper
 * takes it. */
static void test_browser(void **state)
{
    Output output = shell("command -v chromium");
    if (output.code != 0) {
        skip();
    }
    make_frame("375.html", 375);
    make_frame("1400.html", 1400);
    expect_shell(SWEEP
                 "$h min-omega --construction silu --n 2 --d 2 --tolerance 1e-6 --quiet "
                 "-o m.csv; $h report s.csv m.csv -o r.html; for width in 375 1400; do " CHROMIUM
                 "--hide-scrollbars --dump-dom file://$PWD/$width.html 2>&1 | grep -o -e CONSOLE.* "
                 "-e \"says.>[0-9]* [0-9]*<\"; done",
                 0, "r.html\nsays\">375 375<\nsays\">1400 1400<\n");
    expect_shell(CHROMIUM "--blink-settings=preferredColorScheme=0 --print-to-pdf=r.pdf "
                          "file://$PWD/r.html 2>&1 | grep -c CONSOLE; head -c 5 r.pdf; "
                          "rm -rf .c .cache .config .pki .local",
                 0, "0\n%PDF-");
}

SUBJECT(report)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(test_a_sweep),
        SHELL_TEST(test_rows),
        SHELL_TEST(test_what_passes),
        SHELL_TEST(test_unjudged_points),
        SHELL_TEST(test_numbers),
        SHELL_TEST(test_checks),
        SHELL_TEST(test_other_tables),
        SHELL_TEST(test_upright),
        SHELL_TEST(test_commands_of_tables),
        SHELL_TEST(test_cells_on_paper),
        SHELL_TEST(test_without_gnuplot),
        SHELL_TEST(test_refused),
        SHELL_TEST(test_text_is_text),
        SHELL_TEST(test_names_are_once),
        SHELL_TEST(test_browser),
        SHELL_TEST(test_colours),
        SHELL_TEST(test_one_point),
        SHELL_TEST(test_searches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
