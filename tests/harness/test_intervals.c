/*
 * Tables of min-omega as pictures: bars from the smallest Omega to the largest, ends that are open,
 * searches that found nothing.
 */
#include "../shell.h"
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#define HEADER                                                                                     \
    "construction,n,seed,options,omega_below,omega_min,omega_max,omega_above,omega_best,status\n"

/* Ends at powers of ten: one interval that is closed, one open above, one below, and none. */
#define TABLE                                                                                      \
    HEADER "silu,2,1,tolerance=1e-09,9,10,100000,200000,1000,ok\n"                                 \
           "silu,4,1,tolerance=1e-09,99,100,1.7976931e+308,,1000,ok\n"                             \
           "silu,8,1,tolerance=1e-09,,1e-300,1000,1001,,ok\n"                                      \
           "silu,16,1,tolerance=1e-09,,,,,5,none\n"

/* The scale is that of the ends that are closed, 10 and 1e5, to whole powers of ten with room
 * beyond: 1 to 1e6.  A strip has 44 places, so that 100 has place 2 / 6 of 43, which is 14. */
static void a_terminal_shows_ends(void **state)
{
    shell_write("t.csv", TABLE);
    expect_shell("$h plot t.csv | sed -n 1,7p", 0,
                 "The omegas that meet the tolerance, by n; omega\n"
                 "Strips from 1e0 to 1e6: [=] meets it, * the smallest error, < > it goes on\n"
                 "\n"
                 "            n\n"
                 "            2         10 to 1e+05         [==============*=============]\n"
                 "            4              100 up                [=======*====================>\n"
                 "            8            to 1e+03  <=====================]\n");
    expect_shell("$h plot t.csv | sed -n 8,20p", 0,
                 "           16                none\n"
                 "\n"
                 "construction silu, seed 1, tolerance 1e-09.\n");
}

/* Logarithms: x, the best, and the ends, of which open ones lie 2 % within the scale; then their
 * marks: an end (1), an arrow up (9) or down (11), or a cross (2) where there is none. */
static void scripts_have_the_ends(void **state)
{
    shell_write("t.csv", TABLE);
    expect_shell(
        "$h plot t.csv -o t.gp >/dev/null; sed -n \"/<< END/,/^END/p\" t.gp | grep -v 1e300", 0,
        "$data << END\n\n0 3 1 5 1 1 0x0072B2\n1 3 2 5.88 1 9 0x0072B2\n"
        "2 NaN 0.12 3 11 1 0x0072B2\n3 NaN NaN 0.24 0 2 0xAA0000\n\n\nEND\n");
    expect_shell("grep -o \"as far as was tried or numbers reach\" t.gp", 0,
                 "as far as was tried or numbers reach\n");
}

/* Where an arithmetic overflows a search ends, which is no place for a scale to reach to. */
static void overflow_is_an_arrow(void **state)
{
    shell_write("t.csv", HEADER "silu,2,1,,9,10,1000,1001,20,ok\n"
                                "silu,3,1,,9,10,8.99e307,8.991e307,20,ok\n");
    expect_shell(
        "$h plot t.csv | sed -n 2,6p", 0,
        "Strips from 1e0 to 1e4: [=] meets it, * the smallest error, < > it goes on\n\n"
        "            n\n"
        "            2         10 to 1e+03             [==*=================]\n"
        "            3     10 to 8.99e+307             [==*============================>\n");
}

/* A second number's intervals stand side by side; several seeds leave what all of them meet. */
static void bars_stand_side_by_side(void **state)
{
    shell_write("t.csv", HEADER "silu,2,1,tolerance=0.1,9,10,1000,1001,20,ok\n"
                                "silu,2,2,tolerance=0.1,99,100,10000,10001,300,ok\n"
                                "silu,4,1,tolerance=0.1,9,10,20,21,15,ok\n"
                                "silu,4,2,tolerance=0.1,99,100,10000,10001,300,ok\n"
                                "silu,2,1,tolerance=0.2,9,10,1000,1001,20,ok\n"
                                "silu,4,1,tolerance=0.2,9,10,1000,1001,20,ok\n"
                                "silu,8,1,tolerance=0.1,9,10,1000,1001,20,ok\n"
                                "silu,8,1,tolerance=0.2,9,10,1000,1001,20,ok\n");
    expect_shell("$h plot t.csv -o t.gp >/dev/null; "
                 "sed -n \"/^.data/,/^END/p\" t.gp | grep -v 1e300",
                 0,
                 "$data << END\n\n-0.175 NaN 2 3 1 1 0xD55E00\n0.825 NaN NaN 0.16 0 2 "
                 "0xAA0000\n1.825 1.30103 1 3 1 1 0xD55E00\n");
    expect_shell("$h plot t.csv | grep \" [ab] \" | tail -n +2", 0,
                 "            2 a      100 to 1e+03");
}

static void others_are_refused(void **state)
{
    shell_write("t.csv", TABLE);
    expect_shell("$h plot t.csv --tolerance 1e-3", 2,
                 "headproof: --tolerance: token 't.csv': expected it with tables of sweeps");
    expect_shell("$h plot t.csv --error total", 2, "--error: token 't.csv'");
    expect_shell("$h sweep --construction silu --n 2 --d 2 -q -o s.csv; $h plot s.csv t.csv", 2,
                 "t.csv:1: token 'construction': expected tables of searches alone");
    expect_shell("$h plot t.csv s.csv", 2, "s.csv:1: token 'construction'");
    shell_write("t.csv", HEADER "silu,2,1,,,,,,5,none\n");
    expect_shell("$h plot t.csv", 2, "expected a search that found an omega");
    shell_write("t.csv", HEADER "silu,2,1,,,-3,5,,5,ok\n");
    expect_shell("$h plot t.csv", 2,
                 "t.csv:2: token '-3': expected an omega in the column omega_min");
    shell_write("t.csv", HEADER "silu,2,1,,,3,nan,,5,ok\n");
    expect_shell("$h plot t.csv", 2, "token 'nan': expected an omega in the column omega_max");
    shell_write("t.csv", HEADER "silu,2,1,,,1e-900,5,,5,ok\n");
    expect_shell("$h plot t.csv", 2, "token '1e-900': expected an omega in the column omega_min");
    shell_write("t.csv", HEADER "silu,2,1,,,3,1e900,,5,ok\n");
    expect_shell("$h plot t.csv", 2, "token '1e900': expected an omega in the column omega_max");
    shell_write("t.csv", HEADER "silu,2,1,,,5,3,,4,ok\n");
    expect_shell("$h plot t.csv", 2, "t.csv:2: token '3': expected omega_min or more");
}

/* All that was tried, of whatever size. */
static void everything_may_be_open(void **state)
{
    shell_write("t.csv", HEADER "silu,2,1,,,1e-300,1e300,,,ok\nsilu,3,1,,,1e-300,1e300,,,ok\n");
    expect_shell("$h plot t.csv | sed -n 5,6p", 0, "all tried  <=====");
    expect_shell("$h plot t.csv | sed -n 2p", 0, "Strips from 1e-1 to 1e2: ");
    shell_write("t.csv",
                HEADER "silu,2,1,,9.999,10,10,10.001,10,ok\nfused,2,1,,9.999,10,10,10.001,10,ok\n");
    expect_shell("$h plot t.csv | sed -n 5p", 0, "         silu            10 to 10");
    shell_write("t.csv", HEADER "silu,2,1,tolerance=0.1,9.999,10,10,10.001,10,ok\n");
    expect_shell("$h plot t.csv", 0,
                 "One point, of which there is no picture: omega 10 to 10.\n"
                 "construction silu, n 2, seed 1, tolerance 0.1.\n");
}

/* Until 2026 they had a column for the logarithm of each error, too. */
static void tables_of_earlier_versions_are_read(void **state)
{
    shell_write("old.csv",
                "construction,n,seed,options,omega_below,omega_min,error_below,error_min,"
                "omega_max,omega_above,omega_best,error_below_log10,error_min_log10,bounds,"
                "status\n"
                "silu,2,1,tolerance=0.1,9,10,0.2,0.1,100,101,20,-0.69,-1,error_min;"
                "error_min_log10,ok\n"
                "silu,4,1,tolerance=0.1,9,10,0.2,0.1,100,101,20,-0.69,-1,,ok\n");
    expect_shell("$h plot old.csv | sed -n 5p", 0,
                 "            2           10 to 100                [====*=========]\n");
    expect_shell("$h report old.csv -o r.html && grep -c below_log10 r.html", 1,
                 "report: r.html\n0\n");
}

static void gnuplot_draws_what_the_program_finds(void **state)
{
    expect_shell(
        "$h min-omega --construction silu,fused --n 2,3 --d 2 --tolerance 1e-6,1e-9 "
        "--penalty positive,negative --kernel structured -q >m.csv; $h plot m.csv | grep -c up; "
        "command -v gnuplot >/dev/null || { echo picture; exit; }; for f in svg png pdf; "
        "do $h plot m.csv -o m.$f || exit 3; done; grep -c \"</svg>\" m.svg",
        0, "8\npicture");
}

SUBJECT(intervals)
{
    const struct CMUnitTest tests[] = {
        SHELL_TEST(a_terminal_shows_ends),
        SHELL_TEST(scripts_have_the_ends),
        SHELL_TEST(overflow_is_an_arrow),
        SHELL_TEST(bars_stand_side_by_side),
        SHELL_TEST(others_are_refused),
        SHELL_TEST(everything_may_be_open),
        SHELL_TEST(tables_of_earlier_versions_are_read),
        SHELL_TEST(gnuplot_draws_what_the_program_finds),
    };
    return cmocka_run_group_tests_name("intervals", tests, NULL, NULL);
}
