/*
 * Pictures of tables: what is read of a table, which picture is chosen, what its scripts and texts
 * hold, and what happens when gnuplot is missing, fails, or breaks off.
 *
 * Logarithms are those of the digits written here, worked out by hand.
 */
#include "../../harness/commands/plot/picture.h"
#include "../shell.h"
#include "../unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define HEADER "construction,omega,seed,options,layer,construction_max,total_max,native_max,bounds"

/* Writes a table of lines, each of which ends in a newline. */
static void make_table(const char *name, const char *header, const char *lines)
{
    char path[SCRATCH_PATH], text[4096];
    scratch_path(path, shell_scratch(), name);
    int length = snprintf(text, sizeof text, "%s\n%s", header, lines);
    assert_true(length < (int)sizeof text);
    file_write(path, text, (size_t)length);
}

/* A V curve over two seeds: the second one's errors are ten times the first one's. */
static void make_curve(void)
{
    make_table("v.csv", HEADER,
               "fused,8,1,,1,1e-3,1e-3,1e-16,\nfused,16,1,,1,2e-10,2e-10,1e-16,\n"
               "fused,1000,1,,1,2.5e-868,1e-14,1e-16,\nfused,1e6,1,,1,0,1e-9,1e-16,\n"
               "fused,8,2,,1,1e-2,1e-2,1e-16,\nfused,16,2,,1,2e-9,2e-9,1e-16,\n"
               "fused,1000,2,,1,2.5e-867,1e-13,1e-16,construction_max\n"
               "fused,1e6,2,,1,0,1e-8,1e-16,\n");
}

/* A table of two panels, and depth. */
static void make_depth(const char *size)
{
    char lines[1024];
    snprintf(lines, sizeof lines,
             "silu,8,1,,1,1e-5,1e-5,1e-16,,1e-5\nsilu,8,1,,2,1e-6,1e-6%s,1e-17,,1e-5\n"
             "silu,20,1,,1,1e-15,1e-15,1e-16,,1e-15\nsilu,20,1,,2,1e-16,1e-16,1e-17,,1e-15\n"
             "fused,8,1,,1,1e-5,1e-5,1e-16,,1e-5\nfused,8,1,,2,1e-5,1e-5,1e-16,,1e-5\n"
             "fused,20,1,,1,1e-15,1e-15,1e-16,,1e-15\nfused,20,1,,2,1e-15,1e-15,1e-16,,1e-15\n",
             size);
    make_table("depth.csv", HEADER ",total_rel", lines);
}

/* ---- What is read ---------------------------------------------------------------------------- */

/* The blocks of a script: a line is x, the median of two seeds, the smallest and the largest, and
 * the marks at both, of which 10 is an open triangle where the largest is a bound. */
#define DATA_OF(table) "$h plot " table " -o v.gp && sed -n \"/^.data/,/^curves/p\" v.gp"

static void test_logarithms_of_any_size(void **state)
{
    make_curve();
    expect_shell(DATA_OF("v.csv"), 0, "\n0.903089987 -2.5 -3 -2 0 0 0x");
    expect_shell("cat v.gp", 0, "\n3 -867.10206 -867.60206 -866.60206 0 10 0x0072B2\n");
    expect_shell("cat v.gp", 0, "\n6 NaN NaN NaN 0 0 0x");
    expect_shell("cat v.gp", 0, "-867");
}

/* As pandas writes what it has read: the size is 0.0, and its logarithm what it was; of a proven 0
 * that is blank. */
static void test_logarithms_of_others(void **state)
{
    make_table("v.csv", HEADER ",construction_log10",
               "fused,8,1,,1,0.001,0.001,1e-16,,-3.0\nfused,1000,1,,1,0.0,1e-14,1e-16,,-867.602\n"
               "fused,1e6,1,,1,0.0,1e-9,1e-16,,\n");
    expect_shell(DATA_OF("v.csv"), 0,
                 "\n3 -867.602 -867.602 -867.602 0 0 0x0072B2\n"
                 "6 NaN NaN NaN 0 0 0x");
    expect_shell("$h plot v.csv", 0, "The construction error is 0, which is proven, in 1 place");
    make_table("v.csv", HEADER ",construction_log10", "fused,8,1,,1,0.0,0.001,1e-16,,nan\n");
    expect_shell("$h plot v.csv", 2,
                 "token 'nan': expected a logarithm in the column construction_log10");
}

/* An exponent that is 8e16 times that of the smallest double. */
static void test_the_smallest_error(void **state)
{
    make_table("v.csv", HEADER,
               "fused,1,1,,1,1e-1,,,\nfused,1e17,1,,1,6.48e-86858896380650365,,,\n");
    expect_shell("$h plot v.csv -o v.gp && cat v.gp", 0, " -8.68588964e+16 ");
    expect_shell("$h plot v.csv", 0, "6.5e-86858896380650365");
}

static void test_refused_tables(void **state)
{
    make_table("bad.csv", HEADER, "fused,8,1,,1,1e-3,-1e-3,1e-16,\n");
    expect_shell("$h plot bad.csv", 2, "bad.csv:2: token '-1e-3'");
    make_table("bad.csv", HEADER, "fused,8,1,,1,1e-3,many,1e-16,\n");
    expect_shell("$h plot bad.csv", 2, "(column total_max)");
    make_table("bad.csv", HEADER, "fused,8,1,,1,1e-3,1e999,1e-16,\n");
    expect_shell("$h plot bad.csv", 2, "token '1e999': expected an error of doubles");
    make_table("bad.csv", HEADER, "fused,1e999,1,,1,1e-3,1e-3,1e-16,\n");
    expect_shell("$h plot bad.csv", 2, "token '1e999': expected a value of omega");
    make_table("bad.csv", HEADER, "fused,8,1,widht=3,1,1e-3,1e-3,1e-16,\n");
    expect_shell("$h plot bad.csv", 2, "expected axes of options");
    make_table("bad.csv", HEADER, "");
    expect_shell("$h plot bad.csv", 2, "expected rows below the header");
    make_table("bad.csv", "a,b", "1,2\n");
    expect_shell("$h plot bad.csv", 2, "expected a table of sweep, depth or min-omega");
    make_table("bad.csv", HEADER, "fused,8,1,,1,0,0,0,\n");
    expect_shell("$h plot bad.csv", 2, "expected a finite error above 0");
    expect_shell("$h plot none.csv", 2, "none.csv");
}

static void test_refused_words(void **state)
{
    make_curve();
    expect_shell("$h plot", 2, "FILE.csv...");
    expect_shell("$h plot v.csv --colour red", 2, "--colour");
    expect_shell("$h plot v.csv -o v.jpeg", 2, "ends in .svg, .png, .pdf");
    expect_shell("$h plot v.csv -o .svg", 2, "ends in .svg");
    expect_shell("$h plot v.csv --x depth", 2,
                 "an axis that varies in the table, one of omega, seed");
    expect_shell("$h plot v.csv --error none", 2, "--error");
    expect_shell("$h plot v.csv --norm l1", 2, "--norm");
    expect_shell("$h plot v.csv --x omega --x=seed", 2,
                 "--x: token \'seed\': expected the flag once");
    expect_shell("$h plot v.csv --tolerance 0", 2, "expected a number above 0");
    expect_shell("cp v.csv v.gp; $h plot v.gp -o v.gp; code=$?; cmp v.csv v.gp && exit $code", 2,
                 "--output");
    expect_shell("ln -s v.csv a.gp; $h plot v.csv -o a.gp", 2, "--output");
    expect_shell("touch v.csv.json; ln -s v.csv.json b.gp; $h plot v.csv -o b.gp", 2, "--output");
}

/* ---- What is chosen -------------------------------------------------------------------------- */

static void test_a_curve(void **state)
{
    make_curve();
    expect_shell("$h plot v.csv", 0, "The errors by omega; largest error of an entry");
    expect_shell("$h plot v.csv", 0, "Over 2 values of seed: the largest, and the median.");
    expect_shell("$h plot v.csv", 0, "falls below the picture, to 1e-867.");
    expect_shell("$h plot v.csv", 0, "is 0, which is proven, in 1 place,");
    expect_shell("$h plot v.csv --x seed", 0, "The total error by seed and omega");
    expect_shell("$h plot v.csv --error construction", 0, "The construction error by omega");
    expect_shell("$h plot v.csv --error construction", 0, "<2.5e-867");
}

/* T's own error is the same at every Omega: a floor. */
static void test_laws_are_lines(void **state)
{
    make_curve();
    expect_shell("$h plot v.csv --laws -o v.gp && sed -n \"/^.laws/,/^EOD/p\" v.gp", 0,
                 "\n0.903089987 -16 1\n1.20411998 -16 1\n3 -16 1\n6 -16 1\n\n");
    /* An error without a curve has no line. */
    make_table("p.csv", "construction,n,layer,construction_max,total_max,native_max",
               "fused,1,1,1e-12,1e-10,1e-16\nfused,2,1,2e-12,2e-10,1e-16\n"
               "fused,4,1,4e-12,4e-10,1e-16\n");
    expect_shell("$h plot p.csv --laws --error native -o p.gp; sed -n \"/^.laws/,/^EOD/p\" p.gp", 0,
                 "$laws << EOD\n1e300 1e300 0\n\n1 -16 1\n2 -16 1\n4 -16 1\n\nEOD\n");
    expect_shell("$h plot v.csv --laws -o v.gp && cat v.gp", 0, "$laws using ($3 == p ?");
    expect_shell("$h plot v.csv --laws -o v.gp && cat v.gp", 0,
                 "Thin black lines: laws of the medians.");
    expect_shell("$h plot v.csv -o v.gp && grep -c laws v.gp", 1, "0");
    expect_shell("$h plot v.csv --laws", 2, "--laws: expected --output with it");
}

/* The ends of the interval are values that meet the tolerance: 16 and 1000 for 5e-9. */
static void test_the_interval_that_meets(void **state)
{
    make_curve();
    expect_shell("$h plot v.csv --tolerance 5e-9 -o v.gp && cat v.gp", 0,
                 "\nleast[1] = 1.20411998\nmost[1] = 3\n");
    expect_shell("$h plot v.csv --tolerance 5e-9 -o v.gp && cat v.gp", 0,
                 "Shaded: every omega evaluated there has a total error within the tolerance.");
    expect_shell("$h plot v.csv --tolerance 5e-9 | grep -c -i -e shaded -e dashed -e band", 1, "0");
    expect_shell("$h plot v.csv --tolerance 1e-8 -o v.gp && cat v.gp", 0, "\nmost[1] = 6\n");
    expect_shell("$h plot v.csv --tolerance 1e-15 -o v.gp && cat v.gp", 0, "\nmost[1] = -1e+300\n");
    make_table("t.csv", HEADER,
               "fused,8,1,tolerance=1e-9,1,1e-3,1e-3,1e-16,\n"
               "fused,16,1,tolerance=1e-9,1,2e-10,2e-10,1e-16,\n");
    expect_shell("$h plot t.csv && $h plot t.csv | grep -c -i dash", 1, ", | tolerance 1e-09\n");
    expect_shell("$h plot t.csv -o t.gp; cat t.gp", 0, "title 'tolerance 1e-09'");
    expect_shell("$h plot t.csv --tolerance 1e-300", 0,
                 "The tolerance 1e-300 is below the picture.");
}

static void test_series_and_panels(void **state)
{
    make_depth("");
    expect_shell("$h plot depth.csv", 0, "The total error by omega and layer");
    expect_shell("$h plot depth.csv", 0, "a layer 1, b layer 2");
    expect_shell("$h plot depth.csv -o d.gp && grep \"^titles\" d.gp", 0,
                 "titles[1] = 'silu'\ntitles[2] = 'fused'\n");
}

/* A stream that shrinks: absolute errors shrink with it. */
static void test_relative_errors_where_streams_shrink(void **state)
{
    make_depth("");
    expect_shell("$h plot depth.csv", 0, "largest error of an entry");
    make_depth("1");
    expect_shell("$h plot depth.csv --norm max", 0, "largest error of an entry");
    expect_shell("$h plot depth.csv --norm rel", 2, "construction_rel");
    make_table("s.csv", "construction,layer,construction_max,total_max,construction_rel,total_rel",
               "silu,1,1e-20,1e-16,1e-20,1e-16\nsilu,2,1e-24,1e-20,1e-20,1e-16\n");
    expect_shell("$h plot s.csv", 0, "error relative to the result");
    make_table("s.csv", "construction,layer,construction_max,total_max,construction_rel,total_rel",
               "silu,1,1e-20,1e-16,1e-20,1e-16\nsilu,2,1e-22,1e-18,1e-20,1e-16\n");
    expect_shell("$h plot s.csv", 0, "largest error of an entry");
}

/* Many curves are a family from dark to light, of which the legend names some. */
static void test_a_family(void **state)
{
    char lines[2048];
    size_t used = 0;
    for (int n = 1; n <= 4; n++) {
        for (int d = 1; d <= 4; d++) {
            used += (size_t)snprintf(lines + used, sizeof lines - used,
                                     "fused,20,%d,%d,1,1e-20,1e-%d,1e-17\n", n, d, n + d);
        }
    }
    make_table("heat.csv", "construction,omega,n,d,layer,construction_max,total_max,native_max",
               lines);
    expect_shell("$h plot heat.csv", 0, "The total error by n and d");
    expect_shell("$h plot heat.csv -o h.gp && cat h.gp", 0,
                 "\n1 -3 -3 -3 0 0 0x365C8D\n2 -4 -4 -4 0 0 0x365C8D\n");
    expect_shell("grep -o -e \"^curves.*\" -e \"title .d 1.\" h.gp", 0,
                 "curves = 4\ntitle 'd 1'\n");
    /* Both were swept by themselves: no map, but the longer one, at the other's usual value. */
    make_table("cross.csv", "construction,omega,n,d,layer,construction_max,total_max,native_max",
               "fused,20,1,3,1,1e-20,1e-5,1e-17\nfused,20,2,3,1,1e-20,1e-6,1e-17\n"
               "fused,20,3,3,1,1e-20,1e-7,1e-17\nfused,20,4,3,1,1e-20,1e-8,1e-17\n"
               "fused,20,4,5,1,1e-20,1e-2,1e-17\nfused,20,4,7,1,1e-20,1e-1,1e-17\n");
    expect_shell("$h plot cross.csv", 0, "The errors by n");
    expect_shell("$h plot cross.csv", 0, "d 3");
    expect_shell("$h plot cross.csv", 0, "            4   1.0e-08");
}

/* Two tables of the same grid are told apart by their files, which may be named like flags. */
static void test_two_files(void **state)
{
    make_curve();
    expect_shell("cp v.csv ./-o; $h plot -o v.gp --size=500 -- -o && cat v.gp", 0, "From -o.");
    expect_shell("cp v.csv w.csv; $h plot v.csv w.csv", 0, "  w.csv\n");
}

/* Panels by two axes: a row a penalty, a column an arithmetic, in whatever order rows stand; with a
 * pair missing they follow each other. */
static void test_rows_and_columns(void **state)
{
    static const char *const words[] = {"bf16", "f64", "f32"};
    char lines[2048];
    size_t used = 0;
    for (int i = 0; i < 12; i++) {
        used += (size_t)snprintf(lines + used, sizeof lines - used, "silu,%s,%d,%s,1,1e-3,1e-3\n",
                                 words[i / 3 % 2 == 1 ? 2 - i % 3 : i % 3], i / 6 + 8,
                                 i / 3 % 2 == 1 ? "" : "penalty=negative");
    }
    make_table("g.csv", "construction,arithmetic,omega,options,layer,construction_max,total_max",
               lines);
    expect_shell("$h plot g.csv -o g.gp && sed -n \"s/^titles.* = .\\(.*\\)./\\1/p\" g.gp && "
                 "grep -o \"layout 2,3\" g.gp",
                 0,
                 "picture: g.gp\nbf16, penalty negative\nf64, penalty negative\n"
                 "f32, penalty negative\nbf16, penalty positive\nf64, penalty positive\n"
                 "f32, penalty positive\nlayout 2,3\n");
    expect_shell("grep -v \"f32,.,penalty\" g.csv >h.csv; $h plot h.csv -o h.gp && "
                 "grep -c \"^titles\" h.gp && grep -o \"layout .,.\" h.gp",
                 0, "5\nlayout 2,3\n");
}

/* Of one place there is no picture, but a sentence. */
static void test_one_point(void **state)
{
    make_table("1.csv", HEADER, "fused,8,1,,1,1e-3,2e-3,1e-16,\nfused,8,2,,1,1e-5,2e-5,1e-16,\n");
    expect_shell("$h plot 1.csv", 0,
                 "One point, of which there is no picture: total 2.0e-03 (2.0e-04), construction "
                 "1.0e-03 (1.0e-04), native 1.0e-16 (1.0e-16).\nconstruction fused, omega 8, layer "
                 "1.\nOver 2 values of seed: the largest, and the median.\n");
    expect_shell("$h plot 1.csv -o 1.svg; code=$?; test ! -e 1.svg && exit $code", 2,
                 "token '1.csv': expected rows of more than one point");
}

static void test_words_of_ones_own(void **state)
{
    make_curve();
    expect_shell("$h plot v.csv --title \"Mine <&>\" --caption none", 0, "Mine <&>; largest error");
    expect_shell("$h plot v.csv --caption none | tail -n 1 | grep -c omega", 1, "0\n");
    expect_shell("$h plot v.csv --caption \"It is so.\" -o v.gp; grep -c \"From v.csv\" v.gp; "
                 "grep -o \"It is so\" v.gp",
                 0, "0\nIt is so\n");
    expect_shell("$h plot v.csv --titel x", 2, "did you mean --title?");
    expect_shell("$h plot v.csv --title", 2, "--title: expected TEXT behind it");
}

/* The page has the size that is asked for, or says which it needs. */
static void test_sizes(void **state)
{
    make_depth("");
    expect_shell("$h plot depth.csv --size 800x600 -o d.gp; grep -e ^width -e ^height d.gp", 0,
                 "width = 800.0\nheight = 600.0\n");
    expect_shell("$h plot depth.csv --size=375 -o d.gp; grep -o -e ^width.* -e \"layout 2,1\" d.gp",
                 0, "width = 375.0\nlayout 2,1\n");
    expect_shell("need() { $h plot depth.csv --size 400x$1 -o d.gp 2>&1 | "
                 "sed -n \"s/.*--size: expected a height of \\([0-9]*\\) or more/\\1/p\"; }; "
                 "n=$(need 250); test $(need $((n - 1))) -eq $n && test -z \"$(need $n)\" && "
                 "grep -c \"height = $n.0\" d.gp",
                 0, "1\n");
    expect_shell("for s in 100 1e3 800x 800x600x1 x600 -800 99999; do $h plot depth.csv --size $s "
                 "-o d.gp; done 2>&1 | grep -c \"expected WIDTHxHEIGHT or WIDTH\"",
                 0, "7\n");
    expect_shell("$h plot depth.csv --size 800", 2, "--size: expected --output with it");
}

/* ---- Marks ----------------------------------------------------------------------------------- */

/* Writes a table of one construction by omega, whose values are the words of a list. */
static void make_omegas(const char *name, const char *omegas, const char *error)
{
    char lines[3072], word[32];
    size_t used = 0;
    for (int skip; sscanf(omegas, "%31s%n", word, &skip) == 1; omegas += skip) {
        used += (size_t)snprintf(lines + used, sizeof lines - used,
                                 "fused,%s,1,,1,1e-3,%s,1e-16,\n", word, error);
    }
    make_table(name, HEADER, lines);
}

#define MARKS_OF(table)                                                                            \
    "$h plot " table " -o m.gp && grep -e \"^set xtics .*[0-9]\" -e \"^set format x\" m.gp"

/* A logarithm is drawn, the value is said: log10 2 = 0.30103. */
static void test_marks_name_values(void **state)
{
    make_omegas("v.csv", "1 2 3 4 5 6 7 8 9 10 12 14 16 18 20 24", "1e-3");
    expect_shell(MARKS_OF("v.csv"), 0, "set xtics ('1' 0, '2' 0.301029996, '3' 0.477121255");
    make_omegas("v.csv", "1 2 3 4 5 6 7 8 9 1e3 1e6 1e9 1e12", "1e-3");
    expect_shell(MARKS_OF("v.csv"), 0, "\nset format x '10^{%.0f}'\n");
    expect_shell("grep -c -e \"^set xtics autofreq\" m.gp", 0, "1\n");
    make_omegas("v.csv", "1 2 3 4 5 6 7 8 9 1e3", "1e-3");
    expect_shell(MARKS_OF("v.csv"), 0, "set xtics 1\nset format x '10^{%.0f}'\n");
}

/* 500 lies 0.1 decades behind 400, of 6 on a panel of 560 pixels. */
static void test_marks_do_not_touch(void **state)
{
    make_omegas("v.csv", "1 8 400 500 1000000", "1e-3");
    expect_shell(MARKS_OF("v.csv") "; grep -c \".500. \" m.gp", 1,
                 "('1' 0, '8' 0.903089987, '400' 2.60205999, '1000000' 6)");
}

/* Of paths the names are marks, within the page; what differs at the end is not cut. */
static void test_marks_of_paths(void **state)
{
    make_table("w.csv", "construction,weights,layer,construction_max,total_max",
               "fused,/a/very/long/way/to/one.safetensors,1,1e-3,1e-3\n"
               "fused,/a/very/long/way/to/the_first_of_a_long_name.safetensors,1,1e-3,1e-3\n");
    expect_shell(MARKS_OF("w.csv"), 0, "('one' 0, 'the_fi...ng_name' 1)");
    expect_shell("$h plot w.csv", 0, "\n          one   1.0e-03");
    /* The help of --weights explains single values, and is no name of the axis. */
    expect_shell("grep \"^set label .weights\" m.gp", 0, "set label 'weights' noenhanced");
    make_table("w.csv", "construction,omega,weights,layer,construction_max,total_max",
               "fused,1,/a/very/very/long/way/to/somewhere/else/which/is/far/away/and/no/one/"
               "knows/where/it/lies/except/one.csv,1,1e-3,1e-3\n"
               "fused,2,/a/very/very/long/way/to/somewhere/else/which/is/far/away/and/no/one/"
               "knows/where/it/lies/except/two.csv,1,1e-3,1e-3\n"
               "fused,2,/a/very/very/long/way/to/somewhere/else/which/is/far/away/and/no/one/"
               "knows/where/it/lies/except/one.csv,1,1e-3,1e-3\n"
               "fused,1,/a/very/very/long/way/to/somewhere/else/which/is/far/away/and/no/one/"
               "knows/where/it/lies/except/two.csv,1,1e-3,1e-3\n");
    expect_shell("$h plot w.csv -o w.gp && grep -o \"^titles.*/a/very.*csv\" w.gp | "
                 "sed \"s/.*\\.\\.\\.//\"",
                 0, "re/it/lies/except/one.csv\nre/it/lies/except/two.csv\n");
}

/* ---- What is not there ----------------------------------------------------------------------- */

/* The scale spans 13 powers of ten: a cross lies 8 % of them above the largest error, and 4 % more
 * are free above it.  What is not known is no point, nor a 0. */
static void test_not_finite(void **state)
{
    make_table("i.csv", HEADER,
               "fused,8,1,,1,1e-3,1e-3,1e-16,\nfused,16,1,,1,1e-4,inf,1e-16,\n"
               "fused,32,1,,1,1e-4,,1e-16,\n");
    expect_shell("$h plot i.csv -o i.gp && grep -m 1 -A 1 \"^16 \" i.gp", 0,
                 "16 NaN NaN -1.96 0 2 0xAA0000\n32 NaN NaN NaN 0 0 0x");
    expect_shell("grep \"^set yrange .-\" i.gp", 0, "set yrange [-16.52:-1.4399999999999999]\n");
    expect_shell("$h plot i.csv", 0, "At the right end: not finite.");
    expect_shell("grep -o \"Crosses at the top: not finite\" i.gp; $h plot i.csv", 0,
                 "not finite  n");
    expect_shell("$h plot i.csv", 0, "\n           32           -  n");
}

/* What has no reference has an observed error alone. */
static void test_observed_alone(void **state)
{
    make_table("o.csv", "construction,omega,layer,construction_max,total_max,observed_max",
               "fused,8,1,,,1e-7\nfused,20,1,,,1e-15\n");
    expect_shell("$h plot o.csv", 0, "# observed");
}

/* Bounds that are not in the picture are no triangles in it. */
static void test_bounds_below(void **state)
{
    make_table(
        "b.csv", HEADER,
        "fused,8,1,,1,1e-3,1e-3,1e-16,\nfused,16,1,,1,1e-800,1e-14,1e-16,construction_max\n");
    expect_shell("$h plot b.csv -o b.gp && grep -c triangles b.gp", 1, "\n0\n");
    expect_shell("sed -i s/1e-800/1e-15/ b.csv; $h plot b.csv -o b.gp; cat b.gp", 0,
                 "Open triangles are");
}

/* All arithmetics of two constructions have panels of their own. */
static void test_a_panel_each(void **state)
{
    char lines[4096];
    size_t used = 0;
    static const char *const words[] = {"f64",        "f32",        "bf16",          "fp16",
                                        "bf16-flash", "fp16-flash", "bf16-autocast", "tf32"};
    for (int i = 0; i < 32; i++) {
        used += (size_t)snprintf(lines + used, sizeof lines - used, "%s,%s,%d,1,1e-3,1e-3\n",
                                 i < 16 ? "silu" : "fused", words[i % 8], i / 8 % 2 + 8);
    }
    make_table("a.csv", "construction,arithmetic,omega,layer,construction_max,total_max", lines);
    expect_shell("$h plot a.csv -o a.gp && grep -c \"^titles\" a.gp", 0, "16\n");
}

/* 80 columns, and no blank at the end of a line. */
static void test_text_fits(void **state)
{
    make_curve();
    make_depth("");
    expect_shell("for f in v.csv depth.csv; do $h plot $f; done >text; wc -L <text; "
                 "awk \"length > 80\" text | wc -l; grep -c \" $\" text",
                 1, "\n0\n0\n");
}

/* ---- gnuplot --------------------------------------------------------------------------------- */

/* A program in gnuplot's place. */
#define FAKE(script)                                                                               \
    "printf \"#!/bin/sh\\n" script "\\n\" >gnuplot; chmod +x gnuplot; "                            \
    "PATH=$PWD:$PATH $h plot v.csv -o v.svg; code=$?; test ! -e v.svg && exit $code"

static void test_gnuplot_fails(void **state)
{
    make_curve();
    expect_shell("PATH=/nowhere $h plot v.csv -o v.svg", 77, "package gnuplot-nox");
    expect_shell(FAKE("echo its reason >&2; exit 3"), 99, "gnuplot failed: its reason");
    expect_shell(FAKE("kill -9 \\$\\$"), 99, "gnuplot failed");
    expect_shell(FAKE("exit 0"), 99, "no whole picture");
    expect_shell(FAKE("exit 3"), 99, "nothing was said");
    expect_shell(FAKE("echo \\\"<svg>\\\""), 99, "no whole picture");
    expect_shell(FAKE("exec sed -n 1p /dev/zero/none"), 99, "gnuplot failed");
}

/* What comes in parts, each more than a pipe holds, arrives as a whole; without its end it is
 * none. */
static void test_gnuplot_writes_in_parts(void **state)
{
    make_curve();
    expect_shell(
        "printf \"#!/bin/sh\\necho \\\"<svg>\\\"; for i in 1 2 3; do sleep 0.1; "
        "head -c 300000 /dev/zero | tr \\\"\\\\000\\\" x; done; echo \\\"</svg>\\\"\\n\" "
        ">gnuplot; chmod +x gnuplot; PATH=$PWD:$PATH $h plot v.csv -o v.svg && wc -c <v.svg; "
        "rm v.svg",
        0, "picture: v.svg\n900013\n");
    expect_shell(FAKE("echo \\\"<svg>\\\"; echo \\\"</svg\\\""), 99, "no whole picture");
    expect_shell(FAKE("echo \\\"<svg></svg>x\\\""), 99, "no whole picture");
}

/* One that hangs, with and without its stdout, is ended: after a time, and by a signal. */
static void test_gnuplot_hangs(void **state)
{
    static const char *const scripts[] = {"exec sleep 600", "exec sleep 600 >&-"};
    char path[2 * SCRATCH_PATH], said[SCRATCH_TEXT], *text = NULL, *old = strdup(getenv("PATH"));
    Scratch scratch = *shell_scratch();
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        snprintf(said, sizeof said, "printf \"#!/bin/sh\\n%s\\n\" >gnuplot; chmod +x gnuplot",
                 scripts[i]);
        expect_shell(said, 0, "");
        snprintf(path, sizeof path, "%.500s:%.500s", scratch.directory, old);
        FILE *script = tmpfile();
        size_t size;
        assert_non_null(script);
        assert_int_equal(setenv("PATH", path, 1), 0);
        stderr_hold(&scratch);
        int status = render_script(&text, &size, script, 1);
        stderr_take(said, &scratch);
        assert_int_equal(setenv("PATH", old, 1), 0);
        assert_int_equal(status, 99);
        assert_string_equal(said, "headproof: gnuplot: no picture after 1 s: it was ended\n");
        fclose(script);
        free(text);
    }
    free(old);
    make_curve();
    expect_shell("printf \"#!/bin/sh\\necho \\$\\$ >pid; exec sleep 600\\n\" >gnuplot; "
                 "for c in \"plot v.csv -o v.svg\" \"report v.csv -o v.html\"; do rm -f pid; "
                 "$h sweep --n 2 --d 2 --omega 5,6 -q -o v.csv; "
                 "PATH=$PWD:$PATH $h $c & p=$!; until test -s pid; do sleep 0.1; done; "
                 "{ kill $p; wait $p; } 2>/dev/null; echo $?; sleep 0.2; "
                 "grep -q sleep /proc/$(cat pid)/cmdline 2>/dev/null || echo gone; done; "
                 "ls v.svg* v.html* 2>&1 | grep -c cannot",
                 0, "143\ngone\n143\ngone\n2\n");
}

/* Names mean nothing to a shell, nor to gnuplot. */
static void test_names_are_names(void **state)
{
    make_curve();
    expect_shell("n=\"a\\`touch pwned\\`\\$(touch pwned)\\\"@x.csv\"; cp v.csv \"$n\"; "
                 "$h plot \"$n\" -o n.gp && (gnuplot -d n.gp >n.svg 2>&1; test ! -e pwned) && "
                 "grep -c pwned n.gp",
                 0, "1");
}

static void test_full_disk(void **state)
{
    make_curve();
    expect_shell("ln -s /dev/full full.gp; $h plot v.csv -o full.gp", 99, "full.gp");
    expect_shell("$h plot v.csv >/dev/full", 99, "headproof");
    expect_shell("echo mine >v.gp.partial; $h plot v.csv -o v.gp", 2, "headproof left itself");
}

/* CPU seconds of a plot of so many rows, in no order, each with an omega of its own. */
static double plot_seconds(size_t rows)
{
    struct rusage before, after;
    char path[SCRATCH_PATH];
    scratch_path(path, shell_scratch(), "many.csv");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(HEADER "\n", file);
    for (size_t i = 0; i < rows; i++) {
        fprintf(file, "fused,%zu,1,,1,1e-3,1e-3,1e-16,\n", 7919 * i % rows + 1);
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &before), 0);
    expect_shell("$h plot many.csv >said && head -n 1 said", 0, "The errors by omega");
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &after), 0);
    return (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
           1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
}

/* Four times the rows take four times as long, and not sixteen. */
static void test_many_rows(void **state)
{
    double few = plot_seconds(20000), many = plot_seconds(80000);
    print_message("%.2f s and %.2f s\n", few, many);
    assert_true(many < 8 * few);
}

static bool has_gnuplot(void)
{
    Output output = shell("command -v gnuplot");
    return output.code == 0;
}

static void test_pictures(void **state)
{
    if (!has_gnuplot()) {
        skip();
    }
    make_curve();
    make_depth("");
    expect_shell("$h plot v.csv -o v.svg && head -c 500 v.svg", 0,
                 "<title>headproof plot: The errors by omega</title>");
    expect_shell("$h plot v.csv -o v.svg && tail -n 2 v.svg", 0, "</svg>");
    expect_shell("$h plot v.csv -o v.png && head -c 4 v.png", 0, "PNG");
    expect_shell("$h plot depth.csv -o v.pdf && head -c 5 v.pdf", 0, "%PDF-");
    expect_shell("$h plot v.csv -o v.gp && gnuplot -d v.gp 2>&1 >v.svg | wc -c", 0, "0");
    /* A name may be anything, and no name ends what XML has begun. */
    make_table("x.csv", "construction,weights,omega,layer,construction_max,total_max",
               "fused,]]><b>&amp;,8,1,1e-3,1e-3\nfused,b,8,1,1e-3,1e-3\n"
               "fused,]]><b>&amp;,9,1,1e-3,1e-3\nfused,b,9,1,1e-3,1e-3\n");
    expect_shell("$h plot x.csv -o x.svg && grep -e \"]]>\" -e \"<b>\" x.svg; "
                 "grep -c \"]] >&lt;b>&amp;amp;\" x.svg",
                 0, "picture: x.svg\n1\n");
    /* What a run left that was killed is its own. */
    expect_shell("$h plot v.csv -o v.svg && cp v.svg v.svg.partial && $h plot v.csv -o v.svg", 0,
                 "picture: v.svg");
    expect_shell("PATH=/nowhere $h plot v.csv -o v.svg; tail -n 2 v.svg", 0, "</svg>");
}

SUBJECT(plot)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(test_laws_are_lines),
        SHELL_TEST(test_logarithms_of_any_size),
        SHELL_TEST(test_logarithms_of_others),
        SHELL_TEST(test_the_smallest_error),
        SHELL_TEST(test_refused_tables),
        SHELL_TEST(test_refused_words),
        SHELL_TEST(test_a_curve),
        SHELL_TEST(test_the_interval_that_meets),
        SHELL_TEST(test_series_and_panels),
        SHELL_TEST(test_relative_errors_where_streams_shrink),
        SHELL_TEST(test_a_family),
        SHELL_TEST(test_two_files),
        SHELL_TEST(test_rows_and_columns),
        SHELL_TEST(test_one_point),
        SHELL_TEST(test_words_of_ones_own),
        SHELL_TEST(test_sizes),
        SHELL_TEST(test_marks_name_values),
        SHELL_TEST(test_marks_do_not_touch),
        SHELL_TEST(test_marks_of_paths),
        SHELL_TEST(test_not_finite),
        SHELL_TEST(test_observed_alone),
        SHELL_TEST(test_bounds_below),
        SHELL_TEST(test_a_panel_each),
        SHELL_TEST(test_text_fits),
        SHELL_TEST(test_gnuplot_fails),
        SHELL_TEST(test_gnuplot_writes_in_parts),
        SHELL_TEST(test_gnuplot_hangs),
        SHELL_TEST(test_many_rows),
        SHELL_TEST(test_names_are_names),
        SHELL_TEST(test_full_disk),
        SHELL_TEST(test_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
