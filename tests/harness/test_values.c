/*
 * Value lists: exact on the decimals, rounded once, strict.  Expected values are literals, which
 * the compiler rounds, or integers.
 */
#include "../../harness/base/decimal.h"
#include "../../harness/base/shown.h"
#include "../../harness/base/values.h"
#include "../unit.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"auto", "never"};
static const Domain positive = {.kind = DOMAIN_POSITIVE};
static const Domain size = {.kind = DOMAIN_INTEGER, .least = 1, .most = 1000000000};
static const Domain seed = {.kind = DOMAIN_INTEGER, .least = 0, .most = UINT64_MAX};
static const Domain width = {.kind = DOMAIN_INTEGER, .least = 1, .most = 100, .unit = 'D'};
static const Domain choice = {.kind = DOMAIN_WORDS, .words = words, .word_count = 2, .all = true};
static const Domain paths = {.kind = DOMAIN_WORDS, .words = words, .word_count = 2, .paths = true};
static const Domain bits = {
    .kind = DOMAIN_INTEGER, .least = 64, .most = 128, .words = words, .word_count = 1};

static void expect_reals(const char *text, const double *expected, size_t count)
{
    ValueList list = {0};
    Message message = {""};
    int status = values_read(&list, &message, &positive, text);
    if (status != 0) {
        fail_msg("%s: %s", text, message.text);
    }
    if (list.count != count) {
        fail_msg("%s: %zu values, expected %zu", text, list.count, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (list.values[i].form != FORM_REAL || list.values[i].real != expected[i]) {
            fail_msg("%s: value %zu is %a, expected %a", text, i, list.values[i].real, expected[i]);
        }
    }
    values_clear(&list);
}

#define EXPECT_REALS(text, ...)                                                                    \
    expect_reals(text, (const double[]){__VA_ARGS__},                                              \
                 sizeof(const double[]){__VA_ARGS__} / sizeof(double))

static void test_lists(void **state)
{
    EXPECT_REALS("1000", 1000);
    EXPECT_REALS("8,10:50:5,64:4096:*2", 8, 10, 15, 20, 25, 30, 35, 40, 45, 50, 64, 128, 256, 512,
                 1024, 2048, 4096);
    EXPECT_REALS("3:6", 3, 4, 5, 6);
    EXPECT_REALS("5:5", 5);
    EXPECT_REALS(" 1 ,\t2 ", 1, 2);
    EXPECT_REALS("0.5:2.5", 0.5, 1.5, 2.5);
    EXPECT_REALS("1:2:0.3", 1, 1.3, 1.6, 1.9);
    EXPECT_REALS("1:100:*7", 1, 7, 49);
    EXPECT_REALS("1e3,.5,5.,+2,1E-2", 1000, 0.5, 5, 2, 0.01);
    EXPECT_REALS("2^-3,2^0,2^10", 0.125, 1, 1024);
    EXPECT_REALS("2^-1022:2^-1020:*2", DBL_MIN, 2 * DBL_MIN, 4 * DBL_MIN);
}

static void test_ends_are_exact(void **state)
{
    EXPECT_REALS("0.1:1:0.1", 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0);
    EXPECT_REALS("0.1:0.8:*2", 0.1, 0.2, 0.4, 0.8);
    EXPECT_REALS("1e-300:1e300:*1e100", 1e-300, 1e-200, 1e-100, 1, 1e100, 1e200, 1e300);
    EXPECT_REALS("1:1.331:*1.1", 1, 1.1, 1.21, 1.331);
    EXPECT_REALS("1e17:1e17", 1e17);
}

static void test_rounded_once(void **state)
{
    EXPECT_REALS("9007199254740993", 9007199254740992.0);
    EXPECT_REALS("9007199254740993.00000000000000000000000001", 9007199254740994.0);
    EXPECT_REALS("9007199254740995", 9007199254740996.0);
    EXPECT_REALS("17976931348623157e292", DBL_MAX);
    /* Half an ulp above DBL_MAX is 1.797693134862315807937...e308. */
    EXPECT_REALS("1.7976931348623158e308", DBL_MAX);
    EXPECT_REALS("2.2250738585072014e-308", DBL_MIN);
}

static void test_long_range(void **state)
{
    ValueList list = {0};
    Message message;
    assert_int_equal(values_read(&list, &message, &size, "1:1000000"), 0);
    assert_int_equal(list.count, 1000000);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(list.values[i].integer, i + 1);
    }
    values_clear(&list);
}

static void expect_one(const Domain *domain, const char *text, ValueForm form, uint64_t integer)
{
    ValueList list = {0};
    Message message = {""};
    if (values_read(&list, &message, domain, text) != 0) {
        fail_msg("%s: %s", text, message.text);
    }
    assert_int_equal(list.count, 1);
    assert_int_equal(list.values[0].form, form);
    assert_true(list.values[0].integer == integer);
    values_clear(&list);
}

static void test_forms(void **state)
{
    expect_one(&seed, "0", FORM_INTEGER, 0);
    expect_one(&seed, "18446744073709551615", FORM_INTEGER, UINT64_MAX);
    expect_one(&size, "1e3", FORM_INTEGER, 1000);
    expect_one(&width, "4D", FORM_MULTIPLE, 4);
    expect_one(&width, "4", FORM_INTEGER, 4);
    expect_one(&bits, "auto", FORM_WORD, 0);
    expect_one(&bits, "64", FORM_INTEGER, 64);
    expect_one(&choice, "never", FORM_WORD, 1);
    ValueList list = {0};
    Message message;
    assert_int_equal(values_read(&list, &message, &choice, "all"), 0);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.values[1].integer, 1);
    values_clear(&list);
}

/* The message quotes token exactly and then says `says`. */
static void expect_fault(const Domain *domain, const char *text, const char *token,
                         const char *says)
{
    ValueList list = {0};
    Message message = {""};
    char quoted[256];
    int status = values_read(&list, &message, domain, text);
    values_clear(&list);
    snprintf(quoted, sizeof quoted, "token '%s': expected ", token);
    if (status != 2 || strncmp(message.text, quoted, strlen(quoted)) != 0 ||
        strstr(message.text, says) == NULL) {
        fail_msg("'%s': status %d, message \"%s\"; expected \"%s...%s\"", text, status,
                 message.text, quoted, says);
    }
}

static void test_faults_of_numbers(void **state)
{
    static const char *const junk[] = {"nan", "NaN",  "inf", "-inf", "5x", "x5",  "1.2.3", "1e",
                                       "1e+", "0x10", "1_0", ".",    "e5", "--5", "1 2",   "+"};
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        expect_fault(&positive, junk[i], junk[i], "a finite decimal number");
    }
    expect_fault(&positive, "1e400", "1e400", "overflow");
    expect_fault(&positive, "1,1e99999999999999999999", "1e99999999999999999999", "overflow");
    expect_fault(&positive, "1.7976931348623159e308", "1.7976931348623159e308", "overflow");
    expect_fault(&positive, "1e-320", "1e-320", "underflow");
    expect_fault(&positive, "1e-99999999999", "1e-99999999999", "underflow");
    expect_fault(&positive, "2.225073858507201e-308", "2.225073858507201e-308", "underflow");
    expect_fault(&positive, "0", "0", "above 0");
    expect_fault(&positive, "-1", "-1", "above 0");
    expect_fault(&positive, "0:5", "0:5", "above 0");
    expect_fault(&positive, "1,-0.0", "-0.0", "above 0");
}

static void test_faults_of_lists(void **state)
{
    expect_fault(&positive, "", "", "a value");
    expect_fault(&positive, "  ", "", "a value");
    expect_fault(&positive, "1,,2", "", "a value");
    expect_fault(&positive, "1,", "", "a value");
    expect_fault(&positive, ",1", "", "a value");
    expect_fault(&positive, "1,2,1", "1,2,1", "1 is repeated");
    expect_fault(&positive, "10:50:5,20", "10:50:5,20", "20 is repeated");
    expect_fault(&positive, "1,2,3,2,1", "1,2,3,2,1", "2 is repeated"); /* the first that is */
    expect_fault(&positive, "1,1.00000000000000000001", "1,1.00000000000000000001", "repeated");
    expect_fault(&choice, "auto,all", "auto,all", "auto is repeated");
    expect_fault(&width, "4D,4D", "4D,4D", "4D is repeated");
    expect_fault(&size, "1:1000001", "1:1000001", "at most 1000000");
    expect_fault(&size, "1:600000,600001:1200000", "600001:1200000", "at most 1000000");
    expect_fault(&positive, "1:1e300:*1.0001", "1:1e300:*1.0001", "fewer values");
}

static void test_faults_of_ranges(void **state)
{
    expect_fault(&positive, "10:5", "10:5", "ascends");
    expect_fault(&positive, "1,10:5:1", "10:5:1", "ascends");
    expect_fault(&positive, "1:5:0", "1:5:0", "not zero");
    expect_fault(&positive, "1:5:-1", "1:5:-1", "above zero");
    expect_fault(&positive, "1:5:*1", "1:5:*1", "above 1");
    expect_fault(&positive, "1:5:*0", "1:5:*0", "above 1");
    expect_fault(&positive, "1:5:*-2", "1:5:*-2", "above 1");
    expect_fault(&positive, "0:5:*2", "0:5:*2", "start above zero");
    expect_fault(&positive, "1:", "1:", "a:b");
    expect_fault(&positive, ":", ":", "a:b");
    expect_fault(&positive, "1:5:", "1:5:", "a:b");
    expect_fault(&positive, "1:5:*", "1:5:*", "a:b");
    expect_fault(&positive, "1:5x", "5x", "decimal");
    expect_fault(&positive, "1:2:3:4", "1:2:3:4", "a:b");
    expect_fault(&size, "1:5:0.5", "1:5:0.5", "an integer from 1 to 1000000000");
    expect_fault(&size, "1:10:*1.5", "1:10:*1.5", "an integer");
}

static void test_faults_of_domains(void **state)
{
    expect_fault(&size, "0", "0", "an integer from 1");
    expect_fault(&size, "2.5", "2.5", "an integer from 1");
    expect_fault(&size, "1000000001", "1000000001", "to 1000000000");
    expect_fault(&seed, "-1", "-1", "from 0");
    expect_fault(&seed, "18446744073709551616", "18446744073709551616", "18446744073709551615");
    expect_fault(&width, "0D", "0D", "an integer from 1");
    expect_fault(&width, "D", "D", "decimal");
    expect_fault(&width, "2.5D", "2.5D", "an integer");
    expect_fault(&size, "4D", "4D", "decimal");
    expect_fault(&choice, "maybe", "maybe", "one of auto, never, all");
    expect_fault(&bits, "all", "all", "auto or an integer");
    expect_fault(&bits, "63", "63", "auto or an integer from 64 to 128");
}

/* A path and its NUL fit VALUE_TEXT bytes. */
static void test_longest_path(void **state)
{
    char text[VALUE_TEXT + 1];
    Message message = {""};
    for (size_t length = VALUE_TEXT - 1; length <= VALUE_TEXT; length++) {
        ValueList list = {0};
        memset(text, '/', length);
        text[length] = '\0';
        int status = values_read(&list, &message, &paths, text);
        assert_int_equal(status, length < VALUE_TEXT ? 0 : 2);
        if (status == 0) {
            assert_int_equal(list.count, 1);
            assert_string_equal(list.values[0].path, text);
        } else {
            assert_non_null(strstr(message.text, "a path of at most 4095 bytes"));
        }
        values_clear(&list);
    }
}

/* A path stands in a cell, among options that semicolons part, and between a shell's quotes. */
static void test_paths_that_part_nothing(void **state)
{
    static const char unsaid[] = "expected a path of at most 4095 bytes without quotes, semicolons "
                                 "and control characters";
    static const char other[] = "or the path of a file (one that is not there yet has a / or ";
    static const char *const faults[][2] = {
        {"a;b/c", unsaid}, {"a\"b/c", unsaid},      {"a'b/c", unsaid},
        {"a`b/c", unsaid}, {"a\nb/c", unsaid},      {"a\177b/c", unsaid},
        {"folder", other}, {"m.index.json", other}, {"m.safetensors.json", other}};
    static const char *const good[] = {"a b=c/d:e.safetensors", "folder/", "m.safetensors",
                                       "m.safetensors.index.json"};
    ValueList list = {0};
    Message message = {""};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_int_equal(values_read(&list, &message, &paths, faults[i][0]), 2);
        assert_non_null(strstr(message.text, faults[i][1]));
        values_clear(&list);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(values_read(&list, &message, &paths, good[i]), 0);
        assert_int_equal(list.count, 1);
        assert_string_equal(list.values[0].path, good[i]);
        values_clear(&list);
    }
}

static void test_messages_are_one_line(void **state)
{
    char text[4096];
    ValueList list = {0};
    Message message;
    memset(text, '\n', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(values_read(&list, &message, &positive, text), 2);
    const Shown line = shown(message.text);
    assert_null(strchr(line.text, '\n'));
    assert_non_null(strstr(line.text, "\\x0a"));
    assert_non_null(strstr(line.text, "...': expected a finite decimal number"));
    values_clear(&list);
}

static void test_print_is_shortest(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {1000, "1000"},
                 {1e17, "1e+17"},
                 {0.30000000000000004, "0.30000000000000004"},
                 {1.0 / 3, "0.3333333333333333"},
                 {DBL_MAX, "1.7976931348623157e+308"},
                 {5e-324, "4.94065645841247e-324"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[DECIMAL_TEXT];
        decimal_print(text, cases[i].value);
        assert_string_equal(text, cases[i].text);
        assert_true(strtod(text, NULL) == cases[i].value);
    }
}

SUBJECT(values)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_ends_are_exact),
        cmocka_unit_test(test_rounded_once),
        cmocka_unit_test(test_long_range),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_faults_of_numbers),
        cmocka_unit_test(test_faults_of_lists),
        cmocka_unit_test(test_faults_of_ranges),
        cmocka_unit_test(test_faults_of_domains),
        cmocka_unit_test(test_longest_path),
        cmocka_unit_test(test_paths_that_part_nothing),
        cmocka_unit_test(test_messages_are_one_line),
        cmocka_unit_test(test_print_is_shortest),
    };
    return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
