/*
 * Headers of safetensors files: what is right is found again, and a file that is wrong gets one
 * message, however wrong it is.
 */
#include "../program.h"
#include "safetensors_fixture.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_accessors(void **state)
{
    static const char header[] =
        "{\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]},"
        "\"__metadata__\":{\"key\":\"value\",\"empty\":\"\"},"
        "\"\xc3\xa9\":{\"data_offsets\":[0,8],\"shape\":[1,1],\"dtype\":\"I64\"},"
        "\"none\":{\"dtype\":\"F16\",\"shape\":[3,0,5],\"data_offsets\":[8,8]}}  \n ";
    FileFixture *fixture = *state;
    Sample sample;
    sample_make(&sample, header, NULL, 16);
    write_sample(fixture, &sample);
    SafetensorsFile *file = open_file(fixture->path);
    assert_string_equal(safetensors_path(file), fixture->path);
    assert_int_equal(safetensors_count(file), 3);
    assert_string_equal(safetensors_tensor(file, 0)->name, "\xc3\xa9");
    assert_string_equal(safetensors_tensor(file, 1)->name, "none");
    const SafetensorsTensor *tensor = tensor_named(file, "b");
    assert_ptr_equal(tensor, safetensors_tensor(file, 2));
    assert_int_equal(tensor->dtype, SAFETENSORS_F32);
    assert_int_equal(tensor->rank, 1);
    assert_int_equal(tensor->shape[0], 2);
    assert_int_equal(tensor->count, 2);
    assert_int_equal(tensor_named(file, "none")->count, 0);
    assert_null(tensor_named(file, "__metadata__"));
    assert_null(tensor_named(file, "B"));
    assert_string_equal(safetensors_metadata(file, "key"), "value");
    assert_string_equal(safetensors_metadata(file, "empty"), "");
    assert_null(safetensors_metadata(file, "absent"));
    safetensors_close(file);
    safetensors_close(NULL);
    sample_make(&sample, "{}", NULL, 0);
    write_sample(fixture, &sample);
    file = open_file(fixture->path);
    assert_int_equal(safetensors_count(file), 0);
    assert_null(safetensors_metadata(file, "key"));
    safetensors_close(file);
}

#define T(name, rest) "\"" name "\":{\"dtype\":\"F32\"," rest "}"
#define GOOD(name, begin, end) T(name, "\"shape\":[1],\"data_offsets\":[" begin "," end "]")

typedef struct {
    const char *header;
    size_t data;
    const char *culprit;
} Malformed;

static void expect_refusals(FileFixture *fixture, const Malformed *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Sample sample;
        sample_make(&sample, cases[i].header, NULL, cases[i].data);
        write_sample(fixture, &sample);
        expect_refusal(fixture, fixture->path, cases[i].culprit);
    }
}

/* What is no header at all. */
static void test_malformed_json(void **state)
{
    static const Malformed cases[] = {
        {"", 4, "expected '{' at byte 8"},
        {"[]", 0, "expected '{' at byte 8"},
        {" {}", 0, "expected '{' at byte 8"},
        {"{", 0, "header: byte 9: "},
        {"{}x", 0, "header: byte 11: "},
        {"{\"a\":\x01}", 0, "header: byte 14: "},
        {"{\"a\":\"\xff\"}", 0, "header: byte "},
        {"{" GOOD("a", "0", "4") "," GOOD("a", "4", "8") "}", 8,
         "duplicate object key near '\"a\"'"},
    };
    expect_refusals(*state, cases, sizeof cases / sizeof *cases);
}

/* What a tensor lacks or has too much of. */
static void test_malformed_tensors(void **state)
{
    static const Malformed cases[] = {
        {"{\"a\":3}", 0, "tensor 'a': expected an object"},
        {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
         "'a': key 'dtype': expected to be there"},
        {"{" T("a", "\"data_offsets\":[0,4]") "}", 4, "'a': key 'shape': expected to be there"},
        {"{" T("a", "\"shape\":[1]") "}", 4, "'a': key 'data_offsets': expected to be there"},
        {"{" T("a", "\"shape\":[1],\"data_offsets\":[0,4],\"x\":1") "}", 4,
         "'a': key 'x': expected dtype"},
        {"{\"a\":{\"dtype\":7,\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
         "'a': dtype '(not a string)'"},
        {"{\"a\":{\"dtype\":\"F8\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
         "'a': dtype 'F8': expected F64"},
        {"{" T("a", "\"shape\":1,\"data_offsets\":[0,4]") "}", 4,
         "'a': key 'shape': expected an array"},
        {"{" T("a", "\"shape\":[-1],\"data_offsets\":[0,4]") "}", 4,
         "'a': key 'shape': expected integers >= 0"},
        {"{" T("a", "\"shape\":[1.0],\"data_offsets\":[0,4]") "}", 4,
         "'a': key 'shape': expected integers >= 0"},
        {"{" T("a", "\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]") "}", 4, "at most 8"},
        {"{" T("a", "\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]") "}", 4,
         "'a': key 'shape': expected extents whose product"},
        {"{" T("a", "\"shape\":[4611686018427387904],\"data_offsets\":[0,0]") "}", 0,
         "'a': key 'shape': expected extents whose product"},
        {"{" T("a", "\"shape\":[4294967296,0,4294967296],\"data_offsets\":[0,0]") "}", 0,
         "'a': key 'shape': expected extents whose product"},
        {"{" T("a", "\"shape\":[99999999999999999999],\"data_offsets\":[0,4]") "}", 4,
         "too big integer"},
        {"{" T("a", "\"shape\":[1],\"data_offsets\":4") "}", 4,
         "'a': key 'data_offsets': expected an array of two"},
        {"{" T("a", "\"shape\":[1],\"data_offsets\":[0,4,4]") "}", 4,
         "'a': key 'data_offsets': expected an array of two"},
        {"{" T("a", "\"shape\":[1],\"data_offsets\":[0]") "}", 4,
         "'a': key 'data_offsets': expected an array of two"},
        {"{" T("a", "\"shape\":[1],\"data_offsets\":[-4,0]") "}", 4,
         "'a': key 'data_offsets': expected an array of two"},
    };
    expect_refusals(*state, cases, sizeof cases / sizeof *cases);
}

/* Where the data of tensors are. */
static void test_malformed_layouts(void **state)
{
    static const Malformed cases[] = {
        {"{" GOOD("a", "4", "0") "}", 4, "'a': data_offsets [4, 0]: expected a range within"},
        {"{" GOOD("a", "0", "4") "}", 3,
         "'a': data_offsets [0, 4]: expected a range within the data, 0 to 3"},
        {"{" GOOD("a", "0", "8") "}", 8,
         "'a': data_offsets [0, 8]: expected a range of 4 bytes for shape [1] of F32"},
        {"{" GOOD("a", "0", "4") "," GOOD("b", "2", "6") "}", 6,
         "'b': data_offsets [2, 6]: expected to begin at 4, after 'a' (an overlap)"},
        {"{" GOOD("a", "0", "4") "," GOOD("b", "0", "4") "}", 4,
         "'b': data_offsets [0, 4]: expected to begin at 4"},
        {"{" GOOD("a", "0", "4") "," GOOD("b", "6", "10") "}", 10,
         "'b': data_offsets [6, 10]: expected to begin at 4, after 'a' (a hole)"},
        {"{" GOOD("a", "1", "5") "}", 5,
         "'a': data_offsets [1, 5]: expected to begin at 0, after 'the header' (a hole)"},
        {"{" GOOD("a", "0", "4") "}", 5, "data of 5 bytes: expected 4"},
    };
    expect_refusals(*state, cases, sizeof cases / sizeof *cases);
}

/* Names and metadata. */
static void test_malformed_names(void **state)
{
    static const Malformed cases[] = {
        {"{" GOOD("", "0", "4") "}", 4, "expected a name of 1 to 255 bytes"},
        {"{" GOOD("a\\nb", "0", "4") "}", 4, "'a\\x0ab': expected a name without control"},
        {"{" GOOD("a\\u009bb", "0", "4") "}", 4, "'a\\u{9b}b': expected a name without control"},
        {"{" GOOD("a\\u0000", "0", "4") "}", 4, "header: byte "},
        {"{\"__metadata__\":[]}", 0, "key '__metadata__': expected an object"},
        {"{\"__metadata__\":{\"k\":1}}", 0, "metadata 'k': expected a string"},
        {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "duplicate object key near '\"k\"'"},
    };
    expect_refusals(*state, cases, sizeof cases / sizeof *cases);
}

/* A name, and a nesting, too long for a literal. */
static void test_long_headers(void **state)
{
    FileFixture *fixture = *state;
    Sample sample;
    char *header = malloc(5000);
    assert_non_null(header);
    char name[300];
    memset(name, 'n', sizeof name);
    for (int length = 255; length <= 256; length++) {
        sprintf(header, "{\"%.*s\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
                length, name);
        sample_make(&sample, header, NULL, 1);
        write_sample(fixture, &sample);
        if (length == 255) {
            safetensors_close(open_file(fixture->path));
        } else {
            expect_refusal(fixture, fixture->path, "expected a name of 1 to 255 bytes");
        }
    }
    strcpy(header, "{\"a\":");
    memset(header + 5, '[', 4000);
    header[4005] = '\0';
    sample_make(&sample, header, NULL, 0);
    write_sample(fixture, &sample);
    expect_refusal(fixture, fixture->path, "maximum parsing depth reached");
    free(header);
}

static void test_no_header(void **state)
{
    FileFixture *fixture = *state;
    const char *pipe = path_in(&fixture->scratch, "pipe");
    file_write(fixture->path, "", 0);
    expect_refusal(fixture, fixture->path, "it is empty");
    file_write(fixture->path, "\2\0\0\0\0\0\0", 7);
    expect_refusal(fixture, fixture->path, "7 bytes: expected at least 8");
    file_write(fixture->path, "\0\0\0\0\0\0\0\0", 8);
    expect_refusal(fixture, fixture->path, "expected '{' at byte 8");
    file_write(fixture->path, "\0\0\0\0\0\0\0\0{", 9);
    expect_refusal(fixture, fixture->path, "expected '{' at byte 8");
    file_write(fixture->path, "\3\0\0\0\0\0\0\0{}", 10);
    expect_refusal(fixture, fixture->path, "header of 3 bytes: expected at most 2");
    file_write(fixture->path, "\377\377\377\377\377\377\377\377{}", 10);
    expect_refusal(fixture, fixture->path, "header of 18446744073709551615 bytes: expected");
    file_write(fixture->path, "\2\0\0\0\0\0\0\200{}", 10);
    expect_refusal(fixture, fixture->path, "expected at most 2");
    /* A file that is large enough, without its blocks. */
    file_write(fixture->path, "\1\341\365\5\0\0\0\0{}", 10);
    assert_int_equal(truncate(fixture->path, 200000000), 0);
    expect_refusal(fixture, fixture->path, "header of 100000001 bytes: expected at most 100000000");
    expect_refusal(fixture, path_in(&fixture->scratch, "missing"), "(No such file or directory)");
    expect_refusal(fixture, fixture->scratch.directory, "not a directory");
    expect_refusal(fixture, "/dev/null", "not a pipe or a device");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    expect_refusal(fixture, pipe, "not a pipe or a device");
}

/* ---- Damage -------------------------------------------------------------------------------- */

/* One change to bytes [*size], which have room for twice as many and 16 more. */
static void damage(unsigned char *bytes, size_t *size, size_t header, uint64_t *counter)
{
    static const char *const words[] = {"\"",      "{",           "}",        "[",       ",",
                                        ":",       "0",           "9",        "-",       "null",
                                        "\"F16\"", "99999999999", "blocks.1", "\\u0000", "ln1"};
    size_t at = (size_t)(drawn_word(counter) % (drawn_word(counter) % 4 == 0 ? *size : 8 + header));
    size_t span = (size_t)(drawn_word(counter) % 9), rest = *size - at;
    const char *word = words[drawn_word(counter) % (sizeof words / sizeof *words)];
    span = span < rest ? span : rest;
    switch (drawn_word(counter) % 6) {
    case 0: bytes[at] ^= (unsigned char)(1 << drawn_word(counter) % 8); break;
    case 1: bytes[at] = (unsigned char)drawn_word(counter); break;
    case 2: /* leave out */
        memmove(bytes + at, bytes + at + span, rest - span);
        *size -= span;
        break;
    case 3: /* repeat */
        memmove(bytes + at + span, bytes + at, rest);
        *size += span;
        break;
    case 4: memcpy(bytes + at, word, strlen(word) < rest ? strlen(word) : rest); break;
    default: bytes[at] = (unsigned char)('0' + drawn_word(counter) % 10); break;
    }
}

/* bytes = the sample's, damaged in one to three places, mostly in its header; their count. */
static size_t damage_sample(unsigned char *bytes, const Sample *sample, uint64_t *counter)
{
    size_t header = sample->bytes[8] == '{' ? sample->bytes[0] + 256U * sample->bytes[1] : 0;
    size_t size = sample->size;
    memcpy(bytes, sample->bytes, size);
    for (uint64_t many = drawn_word(counter) % 3 + 1; many > 0 && size > 8; many--) {
        damage(bytes, &size, header < size - 8 ? header : size - 8, counter);
    }
    if (drawn_word(counter) % 2 == 0 && size > 8 + header) {
        /* Whatever became longer or shorter, it was the header. */
        size_t grown = header + size - sample->size;
        bytes[0] = (unsigned char)(grown & 255);
        bytes[1] = (unsigned char)(grown >> 8);
        memset(bytes + 2, 0, 6);
    }
    return size;
}

/* A short form of make fuzz, the same in every run. */
static void test_damaged(void **state)
{
    enum { ROUNDS = 1500 };
    FileFixture *fixture = *state;
    Sample sample;
    uint64_t counter = 20240229;
    size_t refused = 0, models = 0, total = 0;
    for (size_t model = 0; sample_model(&sample, model); model++) {
        unsigned char *bytes = malloc(4 * sample.size + 64);
        assert_non_null(bytes);
        for (int round = 0; round < ROUNDS; round++, total++) {
            SampleOutcome outcome;
            size_t size = damage_sample(bytes, &sample, &counter);
            hold(fixture);
            bool fine = sample_exercise(&outcome, bytes, size);
            const char *text = take(fixture);
            refused += !outcome.file;
            models += outcome.model;
            if (!fine || count_lines(text) != outcome.lines) {
                fail_msg("model %zu, round %d: %zu messages expected: \"%s\"", model, round,
                         outcome.lines, text);
            }
        }
        free(bytes);
        sample_clear(&sample);
    }
    print_message("%zu damaged files: %zu refused, %zu still a model\n", total, refused, models);
    assert_true(total >= 4000 && refused > total / 2 && refused < total && models > 100);
}

SUBJECT(safetensors_header)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(test_accessors),         MODEL_TEST(test_malformed_json),
        MODEL_TEST(test_malformed_tensors), MODEL_TEST(test_malformed_layouts),
        MODEL_TEST(test_malformed_names),   MODEL_TEST(test_long_headers),
        MODEL_TEST(test_no_header),         MODEL_TEST(test_damaged),
    };
    return cmocka_run_group_tests_name("safetensors_header", tests, NULL, NULL);
}
