/*
 * Text of others, as it is shown on terminals, in reports and in commands to be pasted: every code
 * point, every byte, and what the program makes of files with such names.
 */
#include "../../harness/base/message.h"
#include "../../harness/base/shown.h"
#include "../fixture.h"
#include "../program.h"
#include "../unit.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { POINTS = 0x110000, BLOCK = 256 };

static const ShownPlace places[] = {SHOWN_TERMINAL, SHOWN_JSON, SHOWN_XML, SHOWN_MARKDOWN};

static bool is_surrogate(uint32_t point)
{
    return point >= 0xd800 && point < 0xe000;
}

static size_t encode(char *text, uint32_t point)
{
    if (point < 0x80) {
        text[0] = (char)point;
        return 1;
    }
    size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, point >>= 6) {
        text[i] = (char)(0x80 | (point & 0x3f));
    }
    text[0] = (char)((0xf00 >> length & 0xff) | point);
    return length;
}

/* The next code point of text that is known to be UTF-8. */
static uint32_t next_point(const char **text)
{
    const unsigned char *bytes = (const unsigned char *)*text;
    size_t length = *bytes < 0x80 ? 1 : *bytes < 0xe0 ? 2 : *bytes < 0xf0 ? 3 : 4;
    uint32_t point = length == 1 ? *bytes : *bytes & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        point = point << 6 | (bytes[i] & 0x3fu);
    }
    *text += length;
    return point;
}

/* What no reader should get: controls, separators of lines, marks and overrides of direction, tags,
 * private use, noncharacters; outside of XML 1.0's characters, too. */
static bool is_dangerous(uint32_t p)
{
    return p < 0x20 || (p >= 0x7f && p < 0xa0) || p == 0x61c || (p >= 0x200b && p <= 0x200f) ||
           (p >= 0x2028 && p <= 0x202e) || (p >= 0x2060 && p <= 0x206f) || p == 0xfeff ||
           (p >= 0xe000 && p <= 0xf8ff) || (p >= 0xfdd0 && p <= 0xfdef) || (p & 0xffff) >= 0xfffe ||
           (p >= 0xe0000 && p < 0xe1000) || p >= 0xf0000;
}

/* Scripts that people write, and what they point with. */
static bool is_plain(uint32_t p)
{
    return (p >= 0x30 && p < 0x3a) || (p >= 0x41 && p < 0x5b) || (p >= 0xc0 && p < 0x250) ||
           (p >= 0x391 && p < 0x600) || (p >= 0x4e00 && p < 0xa000) ||
           (p >= 0xac00 && p < 0xd7a4) || (p >= 0x1f300 && p < 0x1f600) ||
           (p >= 0x20000 && p < 0x2a6d0);
}

/* UTF-8 without danger, by a library's word and the above. */
static void expect_harmless(const char *text, ShownPlace place)
{
    json_t *value = json_string(text);
    if (value == NULL) {
        fail_msg("place %d: not UTF-8: %s", place, text);
    }
    json_decref(value);
    while (*text != '\0') {
        uint32_t point = next_point(&text);
        if (is_dangerous(point) || (place == SHOWN_XML && point == '<')) {
            fail_msg("place %d shows U+%04X", place, (unsigned)point);
        }
    }
}

static void expect_part_harmless(ShownPlace place, const char *text, size_t length)
{
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);
    assert_non_null(file);
    shown_write_part(file, place, text, length);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(strlen(out), size);
    expect_harmless(out, place);
    free(out);
}

static void every_code_point(void **state)
{
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        for (uint32_t first = 0; first < POINTS; first += BLOCK) {
            char text[4 * BLOCK + 1];
            size_t length = 0;
            for (uint32_t point = first; point < first + BLOCK; point++) {
                length += is_surrogate(point) ? 0 : encode(text + length, point);
            }
            expect_part_harmless(places[p], text, length);
        }
    }
    for (uint32_t point = 1; point < POINTS; point++) {
        char text[5] = "", expected[16];
        if (is_plain(point) || is_dangerous(point)) {
            size_t length = encode(text, point);
            if (is_plain(point)) {
                strcpy(expected, text);
            } else {
                snprintf(expected, sizeof expected, length == 1 ? "\\x%02x" : "\\u{%x}", point);
            }
            assert_string_equal(shown(text).text, expected);
        }
    }
}

static void every_byte(void **state)
{
    uint64_t random = 1;
    char text[8] = "";
    for (int a = 1; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            text[0] = (char)a;
            text[1] = (char)b;
            text[2] = '\0';
            expect_harmless(shown(text).text, SHOWN_TERMINAL);
        }
    }
    /* Surrogates, too long and too large, torn, continuations alone. */
    assert_string_equal(shown("\xed\xa0\x80").text, "\\xed\\xa0\\x80");
    assert_string_equal(shown("\xc0\xaf|\xe0\x80\xaf").text, "\\xc0\\xaf|\\xe0\\x80\\xaf");
    assert_string_equal(shown("\xf4\x90\x80\x80").text, "\\xf4\\x90\\x80\\x80");
    assert_string_equal(shown("\xf0\x9f\x98").text, "\\xf0\\x9f\\x98");
    assert_string_equal(shown("caf\xc3\xa9 \xff").text, "caf\xc3\xa9 \\xff");
    for (int i = 0; i < 100000; i++) {
        for (size_t k = 0; k < 7; k++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            text[k] = (char)(random >> 56 | (random >> 40 & 0x80));
        }
        expect_part_harmless(places[i % 4], text, 7);
    }
}

/* A place's own syntax, and what is cut. */
static void every_place(void **state)
{
    static const char text[] = "a<b>&\"'|`*_[x](y)\\ \x1b";
    char *copy, longest[2 * sizeof(Shown)];
    copy = shown_copy(SHOWN_XML, text);
    assert_string_equal(copy, "a&lt;b&gt;&amp;&quot;'|`*_[x](y)\\ \\x1b");
    free(copy);
    copy = shown_copy(SHOWN_MARKDOWN, text);
    assert_string_equal(copy, "a\\<b\\>\\&\"'\\|\\`\\*\\_\\[x\\]\\(y\\)\\\\ \\\\x1b");
    free(copy);
    copy = shown_copy(SHOWN_JSON, text);
    assert_string_equal(copy, "a<b>&\"'|`*_[x](y)\\ \\x1b");
    free(copy);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_string_equal(shown(longest).text + sizeof(Shown) - 4, "...");
    strcpy(longest + sizeof(Shown) - 7, "\x1b");
    assert_string_equal(shown(longest).text + sizeof(Shown) - 8, "x...");
}

/* Words that a shell reads back: sh those in plain quotes, bash all. */
static void expect_read_back(const char *shell, const char *const *words, size_t count)
{
    char *script = NULL, *expected = NULL, path[] = "/tmp/headproof-test.XXXXXX", line[64];
    size_t size = 0, length = 0;
    FILE *bytes = open_memstream(&expected, &length);
    int fd = mkstemp(path);
    FILE *file = open_memstream(&script, &size);
    assert_true(bytes != NULL && file != NULL && fd >= 0);
    fputs("printf '%s\\n'", file);
    for (size_t i = 0; i < count; i++) {
        putc(' ', file);
        shown_write(file, SHOWN_SHELL, words[i]);
        fprintf(bytes, "%s\n", words[i]);
    }
    putc('\n', file);
    assert_int_equal(fclose(file) | fclose(bytes), 0);
    assert_int_equal(write(fd, script, size), size);
    snprintf(line, sizeof line, "LC_ALL=C %s %s", shell, path);
    Output output = run_program("env", line);
    assert_int_equal(output.code, 0);
    assert_int_equal(output.length, length);
    assert_memory_equal(output.text, expected, length);
    assert_int_equal(close(fd) | unlink(path), 0);
    free(script);
    free(expected);
}

static void shells_read_words_back(void **state)
{
    static const char *const seen[] = {"",         "plain.csv",       "it's", "-x",
                                       "a b",      "$HOME",           "`id`", "a\\n\"b",
                                       "\xc3\xa9", "*?[]{}~#&;|<>()", "~",    "~root/x"};
    char each[255][4];
    const char *all[255 + 3];
    expect_read_back("sh", seen, sizeof seen / sizeof *seen);
    for (int i = 1; i < 256; i++) {
        snprintf(each[i - 1], sizeof each[0], "%c'1", i);
        all[i - 1] = each[i - 1];
    }
    all[255] = "\xe2\x80\xae"
               "gpj.exe";
    all[256] = "\xef\xbf\xbf\xee\x80\x80";
    all[257] = "two\nlines\\";
    Output found = run_program("sh", "-c 'command -v bash'");
    if (found.code == 0) {
        expect_read_back("bash", all, 258);
    }
}

/* ---- The program ----------------------------------------------------------------------------- */

#define EVIL                                                                                       \
    "\xef\x80\x80\xef\xbf\xbf\xff\x1b[2J\xe2\x80\xae\xc2\x9b"                                      \
    "a'b|<&"

static void messages_are_one_harmless_line(void **state)
{
    FileFixture *f = *state;
    stderr_hold(&f->scratch);
    complain((Origin){.file = "f" EVIL "\n", .line = 3}, "t" EVIL "\n", "of %s", EVIL "\n");
    complain_of("f" EVIL "\n", "tensor", "n" EVIL "\n", "of %s", EVIL "\n");
    complain((Origin){0},
             EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL
                 EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL EVIL,
             "cut");
    stderr_take(f->text, &f->scratch);
    assert_int_equal(count_lines(f->text), 3);
    char *rest;
    for (char *line = strtok_r(f->text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        expect_harmless(line, SHOWN_TERMINAL);
    }
}

/* headproof ARGUMENTS, % standing for the scratch directory; both streams. */
static Output say(const Scratch *scratch, const char *arguments)
{
    char line[2048];
    scratch_fill(line, sizeof line, scratch->directory, arguments);
    return run_formatted("%s 2>&1", line);
}

static void expect_said(const Scratch *scratch, const char *arguments, int code)
{
    Output output = say(scratch, arguments);
    if (output.code != code) {
        fail_msg("%s: exit code %d: %s", arguments, output.code, output.text);
    }
    char *rest;
    for (char *line = strtok_r(output.text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        expect_harmless(line, SHOWN_TERMINAL);
    }
}

/* As a shell takes it. */
#define EVIL_QUOTED                                                                                \
    "\xef\x80\x80\xef\xbf\xbf\xff\x1b[2J\xe2\x80\xae\xc2\x9b"                                      \
    "a'\\''b|<&"

static void names_of_files_do_no_harm(void **state)
{
    const FileFixture *f = *state;
    expect_said(&f->scratch, "sweep --n 2 --d 2 -o '%/" EVIL_QUOTED ".csv'", 0);
    expect_said(&f->scratch, "sweep --n 2 --d 2 --resume -o '%/" EVIL_QUOTED ".csv'", 0);
    expect_said(&f->scratch, "sweep --n 2 --d 3 --resume -o '%/" EVIL_QUOTED ".csv'", 2);
    expect_said(&f->scratch, "merge '%/" EVIL_QUOTED ".csv' -o '%/m" EVIL_QUOTED ".csv'", 0);
    expect_said(&f->scratch, "merge '%/" EVIL_QUOTED "' -o '%/m'", 2);
    expect_said(&f->scratch, "sweep '%/" EVIL_QUOTED ".case'", 2);
    expect_said(&f->scratch, "sweep -o '%/" EVIL_QUOTED "/no.csv'", 2);
    expect_said(&f->scratch, "verify '%/" EVIL_QUOTED ".safetensors'", 2);
    expect_said(&f->scratch, "sweep --n '" EVIL_QUOTED "'", 2);
    expect_said(&f->scratch, "sweep --'" EVIL_QUOTED "'", 2);
    expect_said(&f->scratch, "'" EVIL_QUOTED "'", 2);
}

/* A hint that is pasted removes the file that it is about. */
static void hints_can_be_pasted(void **state)
{
    static const char *const names[] = {"it's.csv", "-x.csv", "a b.csv"};
    static const char *const hints[] = {"rm 'it'\\''s.csv.partial' discards",
                                        "rm -- -x.csv.partial ", "rm 'a b.csv.partial' "};
    const FileFixture *f = *state;
    static const char rows[] = "{\"schema\": 2}\nrow\n";
    char command[1024], path[SCRATCH_PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(command, sizeof command, "%s.partial", names[i]);
        scratch_path(path, &f->scratch, command);
        file_write(path, rows, strlen(rows));
        snprintf(command, sizeof command,
                 "-c 'h=$(realpath \"$HEADPROOF\") && cd %s && "
                 "\"$h\" sweep --n 2 --d 2 --output=\"%s\" 2>&1'",
                 f->scratch.directory, i == 0 ? "it'\\''s.csv" : names[i]);
        Output output = run_program("sh", command);
        if (output.code != 2 || strstr(output.text, hints[i]) == NULL) {
            fail_msg("%d: %s", output.code, output.text);
        }
    }
}

SUBJECT(shown)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point),
        cmocka_unit_test(every_byte),
        cmocka_unit_test(every_place),
        cmocka_unit_test(shells_read_words_back),
        CSV_TEST(messages_are_one_harmless_line),
        CSV_TEST(names_of_files_do_no_harm),
        CSV_TEST(hints_can_be_pasted),
    };
    return cmocka_run_group_tests_name("shown", tests, NULL, NULL);
}
