/*
 * What a format makes of a table's lines: honest about what no double holds, and for eyes.
 */
#include "../../harness/table/format.h"
#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every kind of cell: words, one of them like a number; integers; the largest that a double holds,
 * and one more; a value of 17 digits; one that no double holds; a bound; a proven zero; nothing;
 * what is no number. */
static const char sample[] =
    "construction,weights,n,seed,construction_max,total_max,native_max,rounding_max,"
    "observed_max,hidden_max,bounds,status\n"
    "fused,17,9007199254740991,9007199254740993,2.5171234567890123e-14,4.1e-868588,"
    "1.1102230246251565e-16,0,nan,,native_max,ok\n"
    "a|b \"c\",./x.safetensors,007,-3,2.2e-308,1e-10,inf,-1.5,2.3e-308,,,fail\n";

/* The lines as the format has them, whole or what is for eyes; free it. */
static char *formatted(const char *name, bool whole, const char *lines)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    FormatTable table = {
        .format = format_find(name), .file = stream, .whole = whole, .brief = !whole};
    assert_non_null(table.format);
    assert_int_equal(format_take(&table, lines), 0);
    assert_int_equal(format_end(&table), 0);
    format_clear(&table);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void expect_text(const char *name, bool whole, const char *lines, const char *expected)
{
    char *text = formatted(name, whole, lines);
    assert_string_equal(text, expected);
    free(text);
}

static void expect_formatted(const char *name, const char *lines, const char *expected)
{
    expect_text(name, false, lines, expected);
}

#define FIRST                                                                                      \
    "{\"construction\": \"fused\", \"weights\": \"17\", \"n\": 9007199254740991, "                 \
    "\"seed\": \"9007199254740993\", \"construction_max\": 2.5171234567890123e-14, "               \
    "\"total_max\": \"4.1e-868588\", \"native_max\": \"<1.1102230246251565e-16\", "                \
    "\"rounding_max\": 0, \"observed_max\": \"nan\", \"hidden_max\": null, "                       \
    "\"bounds\": \"native_max\", \"status\": \"ok\"}"
#define SECOND                                                                                     \
    "{\"construction\": \"a|b \\\"c\\\"\", \"weights\": \"./x.safetensors\", \"n\": \"007\", "     \
    "\"seed\": -3, \"construction_max\": \"2.2e-308\", \"total_max\": 1e-10, "                     \
    "\"native_max\": \"inf\", \"rounding_max\": -1.5, \"observed_max\": 2.3e-308, "                \
    "\"hidden_max\": null, \"bounds\": null, \"status\": \"fail\"}"

static void json_is_honest(void **state)
{
    expect_formatted("json", sample, "[\n" FIRST ",\n" SECOND "\n]\n");
    expect_formatted("jsonl", sample, FIRST "\n" SECOND "\n");
}

/* hidden_max is blank in every row; numbers with more than three digits and an exponent are cut,
 * the bound upwards. */
static void tables_are_for_eyes(void **state)
{
    static const char lines[] = "construction,n,hidden_max,native_max,total_max,bounds\n"
                                "fused,3,,1.1102230246251565e-16,1.2345678e-868,native_max\n"
                                "a|b,20,,1e-7,nan,\n";
    expect_text("table", true, lines,
                "construction   n  native_max  total_max  bounds\n"
                "fused          3   <1.12e-16  1.23e-868  native_max\n"
                "a|b           20        1e-7        nan\n");
    expect_formatted("table", lines,
                     "construction   n  native_max  total_max\n"
                     "fused          3   <1.12e-16  1.23e-868\n"
                     "a|b           20        1e-7        nan\n");
    expect_formatted("markdown", lines,
                     "| construction |   n | native\\_max | total\\_max |\n"
                     "| ------------ | --: | ----------: | ---------: |\n"
                     "| fused        |   3 |   <1.12e-16 |  1.23e-868 |\n"
                     "| a\\|b         |  20 |        1e-7 |        nan |\n");
}

/* To five digits, the bound upwards; eight, or a whole number, stay. */
static void long_fractions_are_cut(void **state)
{
    static const char lines[] =
        "n,low_log10,at,slope,total_max,bounds\n"
        "3,-17.3231958064,10.927387,0.012345678912,1.20000000001,total_max\n"
        "12345678901234,-868,1e-7,1.21,0.5,\n";
    expect_formatted("table", lines,
                     "             n  low_log10         at     slope  total_max\n"
                     "             3    -17.323  10.927387  0.012346    <1.2001\n"
                     "12345678901234       -868       1e-7      1.21        0.5\n");
}

/* Keys that do not vary, other norms and units, leaks, bits and what every row's options have are
 * for programs. */
static void what_says_nothing_is_left_out(void **state)
{
    static const char lines[] =
        "construction,mask,n,d_ff,omega,seed,options,layer,construction_max,construction_rms,"
        "construction_rel,total_max,total_ulp,total_log10,bounds,identical,score_max,"
        "precision_bits,status\n"
        "fused,none,3,8,5,1,bias=none;penalty=positive;tolerance=1,1,1e-7,2,3,4,5,6,"
        "construction_max;planned,1,2,64,ok\n"
        "silu,none,3,,5,1,bias=none;penalty=negative;tolerance=1,1,2e-7,2,3,4,5,6,,1,2,64,fail\n"
        "silu,none,3,,5,1,bias=random;tolerance=1,1,2e-7,2,3,4,5,6,total_max,1,2,64,ok\n";
    expect_formatted(
        "table", lines,
        "construction  options                     construction_max  total_max  status\n"
        "fused         bias=none;penalty=positive             <1e-7          4  ok\n"
        "silu          bias=none;penalty=negative              2e-7          4  fail\n"
        "silu          bias=random                             2e-7         <4  ok\n");
}

/* A row alone says what every command says of its point, and its options. */
static void a_row_alone_says_what_it_is(void **state)
{
    expect_formatted("table",
                     "construction,mask,n,d,omega,seed,options,layer,total_max,total_rms,status\n"
                     "silu,none,3,2,5,1,penalty=negative,1,1e-7,2e-8,ok\n",
                     "construction  n  d  omega  seed  options           total_max  status\n"
                     "silu          3  2      5     1  penalty=negative       1e-7  ok\n");
}

/* Streams of several layers that shrink by more than 1000 have relative errors. */
static void errors_of_streams_that_shrink_are_relative(void **state)
{
    static const char lines[] = "omega,layer,construction_max,construction_rel,native_max,"
                                "native_rel,total_max,total_rel\n"
                                "5,1,1e-7,1e-7,1e-16,1e-16,2e-7,3e-7\n"
                                "5,2,%s,1e-7,%s,1e-16,4e-11,5e-7\n";
    char text[512];
    snprintf(text, sizeof text, lines, "0.9e-10", "1e-19");
    expect_formatted("table", text,
                     "omega  layer  construction_rel  native_rel  total_rel\n"
                     "    5      1              1e-7       1e-16       3e-7\n"
                     "    5      2              1e-7       1e-16       5e-7\n");
    snprintf(text, sizeof text, lines, "1.1e-10", "1.1e-19");
    expect_formatted("table", text,
                     "omega  layer  construction_max  native_max  total_max\n"
                     "    5      1              1e-7       1e-16       2e-7\n"
                     "    5      2           1.1e-10     1.1e-19      4e-11\n");
}

/* No line is longer than 100 columns: errors that are looked for last go; then few rows stand
 * upright.  Markdown has all of them. */
static void tables_are_narrow(void **state)
{
    static const char header[] = "weights,approximation_max,construction_max,rounding_max,"
                                 "native_max,total_max,observed_max,status\n";
    char lines[1024], *text;
    for (int wide = 0; wide < 2; wide++) {
        snprintf(lines, sizeof lines, "%s./%*d,1,2,3,4,5,6,ok\n./b,1,2,3,4,5,6,ok\n", header,
                 wide ? -60 : -20, 1);
        text = formatted("table", false, lines);
        assert_int_equal(strncmp(text, "weights ", 8), 0);
        assert_null(strstr(text, "approximation"));
        assert_int_equal(strstr(text, "observed") == NULL, wide);
        assert_non_null(strstr(text, wide ? "construction_max  total_max  status\n"
                                          : "construction_max  rounding_max  native_max  "
                                            "total_max  observed_max  status\n"));
        assert_true(strcspn(text, "\n") <= 100);
        assert_non_null(strstr(text, wide ? "2 of 2 rows, without 4 columns; -o FILE.csv writes"
                                          : "2 of 2 rows, without 1 columns; -o FILE.csv writes"));
        free(text);
        text = formatted("markdown", false, lines);
        assert_non_null(strstr(text, "| approximation\\_max | construction\\_max |"));
        free(text);
    }
    snprintf(lines, sizeof lines, "%s./%*d,1,2,3,4,5,6,ok\n./b,7,8,9,10,11,12,fail\n", header, -80,
             1);
    text = formatted("table", false, lines);
    assert_non_null(strstr(text, "\napproximation_max  "));
    assert_non_null(strstr(text, " 12\nstatus"));
    assert_null(strstr(text, "-o FILE")); /* nothing is left out */
    free(text);
}

static void empty_tables(void **state)
{
    expect_formatted("json", "n,d\n", "[\n]\n");
    expect_formatted("jsonl", "n,d\n", "");
    expect_formatted("table", "n,d\n", "");
    expect_formatted("json", "", "");
}

/* A line that is no row of the table is not made one. */
static void torn_lines(void **state)
{
    static const char *const torn[] = {"n,d\n1\n", "n,d\n1,2,3\n"};
    for (size_t i = 0; i < 2; i++) {
        FormatTable table = {.format = format_find("jsonl"), .file = stderr};
        assert_int_equal(format_take(&table, torn[i]), -1);
        format_clear(&table);
    }
}

static void expect_no_space(const char *name, size_t room)
{
    char buffer[1024];
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_int_equal(setvbuf(full, buffer, _IOFBF, room), 0);
    FormatTable table = {.format = format_find(name), .file = full};
    errno = 0;
    int status = format_take(&table, sample);
    status = status == 0 ? format_end(&table) : status;
    status = status == 0 ? fflush(full) : status;
    int reason = errno;
    format_clear(&table);
    (void)fclose(full);
    if (status != -1 || reason != ENOSPC) {
        fail_msg("%s, after %zu bytes: %d, %s", name, room, status, strerror(reason));
    }
}

/* A write that fails says why, whatever is formatted after it: wherever in a row that is. */
static void the_reason_is_kept(void **state)
{
    static const char *const names[] = {"table", "json", "jsonl", "markdown"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t room = 8; room <= 1024; room++) {
            expect_no_space(names[i], room);
        }
    }
}

static void numbers(void **state)
{
    static const char *const yes[] = {"0", "-0", "10", "1.5", "2e5", "2.5E-7", "0.1e+3"};
    static const char *const no[] = {"",    "-",   "01",   "1.",  ".5", "+1",   "1e", "1e+",
                                     "nan", "inf", "0x1p", "1;2", "1 ", "1:20", "<1"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        assert_true(format_is_number(yes[i]));
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        assert_false(format_is_number(no[i]));
    }
}

SUBJECT(formats)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_honest),
        cmocka_unit_test(tables_are_for_eyes),
        cmocka_unit_test(long_fractions_are_cut),
        cmocka_unit_test(what_says_nothing_is_left_out),
        cmocka_unit_test(a_row_alone_says_what_it_is),
        cmocka_unit_test(errors_of_streams_that_shrink_are_relative),
        cmocka_unit_test(tables_are_narrow),
        cmocka_unit_test(empty_tables),
        cmocka_unit_test(torn_lines),
        cmocka_unit_test(the_reason_is_kept),
        cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
