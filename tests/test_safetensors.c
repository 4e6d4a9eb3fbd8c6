/*
 * Safetensors files: numbers are read exactly, what is written is read back, and a file that is
 * wrong gets one message, however wrong it is.
 */
#include "safetensors_samples.h"
#include "fixture.h"

#include "../harness/safetensors.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void hold(FileFixture *fixture)
{
    stderr_hold(&fixture->scratch);
}

static const char *take(FileFixture *fixture)
{
    stderr_take(fixture->text, &fixture->scratch);
    return fixture->text;
}

/* One line that names the file and the culprit. */
static void expect_message(FileFixture *fixture, int status, const char *path, const char *culprit)
{
    const char *text = take(fixture);
    if (status != 2 || count_lines(text) != 1 || strncmp(text, path, strlen(path)) != 0 ||
        strstr(text, culprit) == NULL) {
        fail_msg("status %d, message \"%s\", expected \"%s\" in it", status, text, culprit);
    }
}

static void expect_refusal(FileFixture *fixture, const char *path, const char *culprit)
{
    SafetensorsFile *file;
    hold(fixture);
    int status = safetensors_open(&file, path);
    expect_message(fixture, status, path, culprit);
    assert_null(file);
}

static SafetensorsFile *open_file(const char *path)
{
    SafetensorsFile *file;
    assert_int_equal(safetensors_open(&file, path), 0);
    return file;
}

/* ---- Numbers ----------------------------------------------------------------------------- */

/* A tensor "t" of `count` values of a dtype of `width` bytes, whose data the caller changes. */
static SafetensorsFile *open_values(Sample *sample, const char *dtype, size_t width, size_t count)
{
    char shape[32];
    SafetensorsFile *file;
    snprintf(shape, sizeof shape, "[%zu]", count);
    SampleTensor tensor = {"t", dtype, shape, width * count, 0};
    sample_build(sample, NULL, &tensor, 1);
    assert_int_equal(safetensors_parse(&file, "values", sample->bytes, sample->size), 0);
    return file;
}

static void put(Sample *sample, size_t width, size_t from_end, uint64_t bits)
{
    unsigned char *bytes = sample->bytes + sample->size - from_end * width;
    for (size_t i = 0; i < width; i++) {
        bytes[i] = (unsigned char)(bits >> (8 * i) & 255);
    }
}

/* IEEE's definition: a sign, `exponent_bits` and `fraction_bits`, by ldexp alone. */
static double by_definition(uint64_t bits, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    uint64_t one = UINT64_C(1) << fraction_bits;
    int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    double fraction = (double)(bits & (one - 1));
    double value = exponent == 0 ? ldexp(fraction, 1 - bias - fraction_bits)
                                 : ldexp((double)one + fraction, exponent - bias - fraction_bits);
    if (exponent == (1 << exponent_bits) - 1) {
        value = fraction > 0 ? (double)NAN : (double)INFINITY;
    }
    return (bits >> (exponent_bits + fraction_bits) & 1) != 0 ? -value : value;
}

static void check_pattern(Sample *sample, const SafetensorsFile *file, size_t width, uint64_t bits,
                          double expected)
{
    double value = 0;
    put(sample, width, 1, bits);
    int status = safetensors_floats(&value, file, safetensors_tensor(file, 0));
    if (status != (isfinite(expected) ? 0 : 2) ||
        (status == 0 && memcmp(&value, &expected, sizeof value) != 0)) {
        fail_msg("%zu bytes %llx: status %d, %a, expected %a", width, (unsigned long long)bits,
                 status, value, expected);
    }
}

/* All 65536 patterns of both halves, also those that must be refused. */
static void test_halves(void **state)
{
    static const struct {
        const char *dtype;
        int exponent_bits, fraction_bits;
        size_t refused;
    } halves[] = {{"F16", 5, 10, 2048}, {"BF16", 8, 7, 256}};
    FileFixture *fixture = *state;
    for (size_t k = 0; k < 2; k++) {
        Sample sample;
        size_t lines = 0;
        SafetensorsFile *file = open_values(&sample, halves[k].dtype, 2, 1);
        for (uint64_t bits = 0; bits < 65536; bits++) {
            if (bits % 512 == 0) {
                hold(fixture);
            }
            check_pattern(&sample, file, 2, bits,
                          by_definition(bits, halves[k].exponent_bits, halves[k].fraction_bits));
            if (bits % 512 == 511) {
                lines += count_lines(take(fixture));
            }
        }
        assert_int_equal(lines, halves[k].refused);
        safetensors_close(file);
        sample_clear(&sample);
    }
}

static uint64_t draw(uint64_t *counter)
{
    uint64_t z = *counter += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void check_random(const char *dtype, size_t width, int exponent_bits, int fraction_bits)
{
    Sample sample;
    SafetensorsFile *file = open_values(&sample, dtype, width, 1);
    uint64_t counter = 1, mask = width == 8 ? UINT64_MAX : 0xffffffff;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = draw(&counter) & mask;
        uint64_t corner = draw(&counter);
        /* Zero, subnormal and nearly so. */
        bits = corner % 8 == 0 ? bits & ~((mask >> 3) & ~(mask >> (3 + exponent_bits))) : bits;
        bits = corner % 64 == 1 ? bits & (mask ^ mask >> 1) : bits;
        double expected = by_definition(bits, exponent_bits, fraction_bits);
        if (isfinite(expected)) {
            check_pattern(&sample, file, width, bits, expected);
        }
    }
    safetensors_close(file);
    sample_clear(&sample);
}

static void test_floats(void **state)
{
    (void)state;
    check_random("F32", 4, 8, 23);
    check_random("F64", 8, 11, 52);
}

/* Data and file at every alignment (the sanitizers watch). */
static void test_alignment(void **state)
{
    static const unsigned char data[] = {0,    0, 0, 0,    0,    0,    0xf8,
                                         0xbf, 0, 0, 0xc0, 0x3f, 0xc0, 0x3f};
    (void)state;
    for (size_t pad = 0; pad < 8; pad++) {
        for (size_t shift = 0; shift < 8; shift++) {
            char header[400];
            Sample sample;
            SafetensorsFile *file;
            double value[3];
            snprintf(header, sizeof header,
                     "{\"a\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]},"
                     "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]},"
                     "\"c\":{\"dtype\":\"BF16\",\"shape\":[1,1],\"data_offsets\":[12,14]}}%*s",
                     (int)pad, "");
            sample_make(&sample, header, data, sizeof data);
            unsigned char *moved = malloc(sample.size + shift);
            assert_non_null(moved);
            memcpy(moved + shift, sample.bytes, sample.size);
            assert_int_equal(safetensors_parse(&file, "moved", moved + shift, sample.size), 0);
            for (size_t i = 0; i < 3; i++) {
                const SafetensorsTensor *tensor = safetensors_tensor(file, i);
                assert_int_equal(safetensors_floats(&value[i], file, tensor), 0);
            }
            assert_true(value[0] == -1.5 && value[1] == 1.5 && value[2] == 1.5);
            safetensors_close(file);
            free(moved);
            sample_clear(&sample);
        }
    }
}

static void test_integers(void **state)
{
    static const struct {
        const char *dtype;
        size_t width;
        uint64_t bits;
        int64_t value;
        const char *fault;
    } cases[] = {
        {"I64", 8, UINT64_C(0x8000000000000000), INT64_MIN, NULL},
        {"I64", 8, UINT64_MAX, -1, NULL},
        {"I64", 8, UINT64_C(0x7fffffffffffffff), INT64_MAX, NULL},
        {"I32", 4, 0x80000000, INT32_MIN, NULL},
        {"I32", 4, 53, 53, NULL},
        {"I16", 2, 0xfffe, -2, NULL},
        {"I8", 1, 0x80, -128, NULL},
        {"I8", 1, 0x7f, 127, NULL},
        {"U64", 8, UINT64_C(0x7fffffffffffffff), INT64_MAX, NULL},
        {"U64", 8, UINT64_C(0x8000000000000000), 0, "index (1): expected an integer below 2^63"},
        {"U32", 4, 0xffffffff, UINT32_MAX, NULL},
        {"U16", 2, 0xffff, 65535, NULL},
        {"U8", 1, 0xff, 255, NULL},
        {"BOOL", 1, 1, 1, NULL},
        {"BOOL", 1, 2, 0, "index (1): expected 0 or 1"},
        {"F32", 4, 0, 0, "dtype F32: expected an integer one"},
    };
    FileFixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Sample sample;
        int64_t values[2] = {7, 7};
        SafetensorsFile *file = open_values(&sample, cases[i].dtype, cases[i].width, 2);
        put(&sample, cases[i].width, 1, cases[i].bits);
        hold(fixture);
        int status = safetensors_integers(values, file, safetensors_tensor(file, 0));
        if (cases[i].fault != NULL) {
            expect_message(fixture, status, "values: tensor 't': ", cases[i].fault);
        } else if (take(fixture)[0] != '\0' || status != 0 || values[0] != 0 ||
                   values[1] != cases[i].value) {
            fail_msg("%s %llx: status %d, %lld", cases[i].dtype, (unsigned long long)cases[i].bits,
                     status, (long long)values[1]);
        }
        safetensors_close(file);
        sample_clear(&sample);
    }
}

/* The index of what is not finite, and the wrong function for a dtype. */
static void test_not_finite(void **state)
{
    static const struct {
        const char *dtype, *shape;
        size_t width, position;
        uint64_t bits;
        const char *culprit;
    } cases[] = {
        {"F64", "[2,3,4]", 8, 23, UINT64_C(0x7ff8000000000000), "'t': index (1, 2, 3): NaN"},
        {"F64", "[2,3,4]", 8, 0, UINT64_C(0xfff0000000000000), "'t': index (0, 0, 0): infinity"},
        {"F32", "[2,3,4]", 4, 13, 0x7f800001, "'t': index (1, 0, 1): NaN"},
        {"F16", "[24]", 2, 17, 0x7c00, "'t': index (17): infinity"},
        {"BF16", "[4,6]", 2, 11, 0xff80, "'t': index (1, 5): infinity"},
        {"I32", "[24]", 4, 0, 0, "'t': dtype I32: expected F64, F32, F16 or BF16"},
    };
    FileFixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Sample sample;
        SafetensorsFile *file;
        double values[24];
        SampleTensor tensor = {"t", cases[i].dtype, cases[i].shape, 24 * cases[i].width, 0};
        sample_build(&sample, NULL, &tensor, 1);
        put(&sample, cases[i].width, 24 - cases[i].position, cases[i].bits);
        file_write(fixture->path, (const char *)sample.bytes, sample.size);
        file = open_file(fixture->path);
        hold(fixture);
        int status = safetensors_floats(values, file, safetensors_tensor(file, 0));
        expect_message(fixture, status, fixture->path, cases[i].culprit);
        safetensors_close(file);
        sample_clear(&sample);
    }
}

/* ---- Headers ----------------------------------------------------------------------------- */

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
    file_write(fixture->path, (const char *)sample.bytes, sample.size);
    SafetensorsFile *file = open_file(fixture->path);
    assert_string_equal(safetensors_path(file), fixture->path);
    assert_int_equal(safetensors_count(file), 3);
    assert_string_equal(safetensors_tensor(file, 0)->name, "\xc3\xa9");
    assert_string_equal(safetensors_tensor(file, 1)->name, "none");
    const SafetensorsTensor *tensor = safetensors_find(file, "b");
    assert_ptr_equal(tensor, safetensors_tensor(file, 2));
    assert_int_equal(tensor->dtype, SAFETENSORS_F32);
    assert_int_equal(tensor->rank, 1);
    assert_int_equal(tensor->shape[0], 2);
    assert_int_equal(tensor->count, 2);
    assert_int_equal(safetensors_find(file, "none")->count, 0);
    assert_null(safetensors_find(file, "__metadata__"));
    assert_null(safetensors_find(file, "B"));
    assert_string_equal(safetensors_metadata(file, "key"), "value");
    assert_string_equal(safetensors_metadata(file, "empty"), "");
    assert_null(safetensors_metadata(file, "absent"));
    safetensors_close(file);
    safetensors_close(NULL);
    sample_clear(&sample);
    sample_make(&sample, "{}", NULL, 0);
    file_write(fixture->path, (const char *)sample.bytes, sample.size);
    file = open_file(fixture->path);
    assert_int_equal(safetensors_count(file), 0);
    assert_null(safetensors_metadata(file, "key"));
    safetensors_close(file);
    sample_clear(&sample);
}

#define T(name, rest) "\"" name "\":{\"dtype\":\"F32\"," rest "}"
#define GOOD(name, begin, end) T(name, "\"shape\":[1],\"data_offsets\":[" begin "," end "]")

static void test_malformed_headers(void **state)
{
    static const struct {
        const char *header;
        size_t data;
        const char *culprit;
    } cases[] = {
        {"", 4, "expected '{' at byte 8"},
        {"[]", 0, "expected '{' at byte 8"},
        {" {}", 0, "expected '{' at byte 8"},
        {"{", 0, "header: byte 9: "},
        {"{}x", 0, "header: byte 11: "},
        {"{\"a\":\x01}", 0, "header: byte 14: "},
        {"{\"a\":\"\xff\"}", 0, "header: byte "},
        {"{" GOOD("a", "0", "4") "," GOOD("a", "4", "8") "}", 8,
         "duplicate object key near '\"a\"'"},
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
        {"{" GOOD("", "0", "4") "}", 4, "expected a name of 1 to 255 bytes"},
        {"{" GOOD("a\\nb", "0", "4") "}", 4, "'a\\x0ab': expected a name without control"},
        {"{" GOOD("a\\u009bb", "0", "4") "}", 4, "'a\\xc2\\x9bb': expected a name without control"},
        {"{" GOOD("a\\u0000", "0", "4") "}", 4, "header: byte "},
        {"{\"__metadata__\":[]}", 0, "key '__metadata__': expected an object"},
        {"{\"__metadata__\":{\"k\":1}}", 0, "metadata 'k': expected a string"},
        {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "duplicate object key near '\"k\"'"},
    };
    FileFixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Sample sample;
        sample_make(&sample, cases[i].header, NULL, cases[i].data);
        file_write(fixture->path, (const char *)sample.bytes, sample.size);
        expect_refusal(fixture, fixture->path, cases[i].culprit);
        sample_clear(&sample);
    }
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
        file_write(fixture->path, (const char *)sample.bytes, sample.size);
        if (length == 255) {
            safetensors_close(open_file(fixture->path));
        } else {
            expect_refusal(fixture, fixture->path, "expected a name of 1 to 255 bytes");
        }
        sample_clear(&sample);
    }
    strcpy(header, "{\"a\":");
    memset(header + 5, '[', 4000);
    header[4005] = '\0';
    sample_make(&sample, header, NULL, 0);
    file_write(fixture->path, (const char *)sample.bytes, sample.size);
    expect_refusal(fixture, fixture->path, "maximum parsing depth reached");
    sample_clear(&sample);
    free(header);
}

static void test_no_header(void **state)
{
    FileFixture *fixture = *state;
    char path[SCRATCH_PATH];
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
    scratch_path(path, &fixture->scratch, "missing");
    expect_refusal(fixture, path, "(No such file or directory)");
    expect_refusal(fixture, fixture->scratch.directory, "not a directory");
    expect_refusal(fixture, "/dev/null", "not a pipe or a device");
    scratch_path(path, &fixture->scratch, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refusal(fixture, path, "not a pipe or a device");
}

/* ---- Writing ----------------------------------------------------------------------------- */

/* The layout, byte by byte. */
static void test_written_bytes(void **state)
{
    static const char expected[] =
        "\220\0\0\0\0\0\0\0"
        "{\"__metadata__\":{\"k\":\"\xc3\xa9\\n\\\"\"},"
        "\"a\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},"
        "\"b\":{\"dtype\":\"I64\",\"shape\":[1,1],\"data_offsets\":[16,24]}}  "
        "\0\0\0\0\0\0\370\277\2\0\0\0\0\0\0\200\376\377\377\377\377\377\377\377";
    static const double a[] = {-1.5, -0x1p-1073};
    static const int64_t b[] = {-2};
    static const size_t shape_a[] = {2}, shape_b[] = {1, 1};
    FileFixture *fixture = *state;
    SafetensorsWriter *writer = safetensors_writer_make();
    assert_non_null(writer);
    assert_int_equal(safetensors_writer_floats(writer, "a", 1, shape_a, a), 0);
    assert_int_equal(safetensors_writer_integers(writer, "b", 2, shape_b, b), 0);
    assert_int_equal(safetensors_writer_metadata(writer, "k", "\xc3\xa9\n\""), 0);
    assert_int_equal(safetensors_writer_bytes(writer), sizeof expected - 1);
    assert_int_equal(safetensors_writer_finish(writer, fixture->path), 0);
    safetensors_writer_clear(writer);
    assert_int_equal(file_read(fixture->text, fixture->path), (long)sizeof expected - 1);
    assert_memory_equal(fixture->text, expected, sizeof expected - 1);
}

static void check_round_trip(const SafetensorsFile *file, const char *name, const double *values,
                             size_t count)
{
    const SafetensorsTensor *tensor = safetensors_find(file, name);
    assert_non_null(tensor);
    assert_int_equal(tensor->count, count);
    double *read = calloc(count + 1, sizeof *read);
    assert_non_null(read);
    assert_int_equal(safetensors_floats(read, file, tensor), 0);
    assert_memory_equal(read, values, count * sizeof *read);
    free(read);
}

static void test_round_trip(void **state)
{
    enum { MANY = 5000 };
    static const double corners[] = {0.0, -0.0, 0x1p-1074, -0x1p1023, 0x1.fffffffffffffp1023, 0.1};
    static const int64_t integers[] = {INT64_MIN, INT64_MAX, 0};
    static const size_t eight[] = {1, 2, 1, 3, 1, 1, 1, 1}, three[] = {3}, none[] = {4, 0},
                        many_shape[] = {50, 100};
    FileFixture *fixture = *state;
    double many[MANY];
    uint64_t counter = 3;
    int64_t read[3];
    for (size_t i = 0; i < MANY; i++) {
        many[i] = ldexp((double)(int64_t)draw(&counter), (int)(draw(&counter) % 2000) - 1060);
    }
    SafetensorsWriter *writer = safetensors_writer_make();
    assert_int_equal(safetensors_writer_metadata(writer, "long", fixture->path), 0);
    assert_int_equal(safetensors_writer_floats(writer, "corners", 8, eight, corners), 0);
    assert_int_equal(safetensors_writer_floats(writer, "many", 2, many_shape, many), 0);
    assert_int_equal(safetensors_writer_floats(writer, "one", 0, NULL, corners + 5), 0);
    assert_int_equal(safetensors_writer_floats(writer, "none", 2, none, NULL), 0);
    assert_int_equal(safetensors_writer_integers(writer, "integers", 1, three, integers), 0);
    assert_int_equal(safetensors_writer_finish(writer, fixture->path), 0);
    struct stat found;
    assert_int_equal(stat(fixture->path, &found), 0);
    assert_int_equal(found.st_size, safetensors_writer_bytes(writer));
    safetensors_writer_clear(writer);
    safetensors_writer_clear(NULL);
    SafetensorsFile *file = open_file(fixture->path);
    assert_int_equal(safetensors_count(file), 5);
    check_round_trip(file, "corners", corners, 6);
    check_round_trip(file, "many", many, MANY);
    check_round_trip(file, "one", corners + 5, 1);
    check_round_trip(file, "none", corners, 0);
    const SafetensorsTensor *tensor = safetensors_find(file, "integers");
    assert_int_equal(safetensors_integers(read, file, tensor), 0);
    assert_memory_equal(read, integers, sizeof integers);
    assert_string_equal(safetensors_metadata(file, "long"), fixture->path);
    assert_int_equal(safetensors_find(file, "corners")->shape[3], 3);
    safetensors_close(file);
}

static SafetensorsWriter *large_writer(const double *values, size_t count)
{
    SafetensorsWriter *writer = safetensors_writer_make();
    assert_non_null(writer);
    assert_int_equal(safetensors_writer_floats(writer, "a", 1, &count, values), 0);
    return writer;
}

/* An earlier file stays as it was, and nothing is left beside it. */
static void test_cannot_write(void **state)
{
    enum { COUNT = 4096 };
    FileFixture *fixture = *state;
    char path[SCRATCH_PATH];
    double *values = calloc(COUNT, sizeof *values);
    SafetensorsWriter *writer = large_writer(values, COUNT);
    struct rlimit old, low;
    file_write(fixture->path, "old", 3);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = (struct rlimit){10000, old.rlim_max};
    hold(fixture);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    int status = safetensors_writer_finish(writer, fixture->path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_non_null(strstr(take(fixture), fixture->path));
    assert_int_equal(status, 99);
    assert_int_equal(count_lines(fixture->text), 1);
    assert_int_equal(file_read(fixture->text, fixture->path), 3);
    assert_false(file_exists(fixture->partial));
    scratch_path(path, &fixture->scratch, "missing/model.safetensors");
    hold(fixture);
    status = safetensors_writer_finish(writer, path);
    expect_message(fixture, status, "headproof: --output: ", path);
    hold(fixture);
    assert_int_equal(safetensors_writer_finish(writer, "/dev/full"), 99);
    assert_int_equal(count_lines(take(fixture)), 1);
    assert_int_equal(safetensors_writer_finish(writer, "/dev/null"), 0);
    safetensors_writer_clear(writer);
    free(values);
}

/* The size of what nobody could hold is known before there is any of it; what no file could hold
 * is refused. */
static void test_predicted_size(void **state)
{
    static const size_t large[] = {1 << 20, 1 << 20}, absurd[] = {SIZE_MAX, SIZE_MAX},
                        rest[] = {(size_t)1 << 58};
    FileFixture *fixture = *state;
    SafetensorsWriter *writer = safetensors_writer_make();
    assert_int_equal(safetensors_writer_floats(writer, "a", 2, large, NULL), 0);
    uint64_t bytes = safetensors_writer_bytes(writer);
    assert_true(bytes > UINT64_C(8) << 40 && bytes < (UINT64_C(8) << 40) + 200);
    assert_int_equal(bytes % 8, 0);
    hold(fixture);
    int status = safetensors_writer_floats(writer, "b", 2, absurd, NULL);
    expect_message(fixture, status, "headproof: ", "tensor 'b'");
    assert_int_equal(safetensors_writer_floats(writer, "c", 1, rest, NULL), 0);
    hold(fixture);
    status = safetensors_writer_floats(writer, "d", 1, rest, NULL);
    expect_message(fixture, status, "headproof: ", "tensor 'd'");
    safetensors_writer_clear(writer);
}

static void test_header_too_long(void **state)
{
    FileFixture *fixture = *state;
    size_t length = SAFETENSORS_HEADER_MOST;
    char *text = malloc(length + 1);
    assert_non_null(text);
    memset(text, '7', length);
    text[length] = '\0';
    SafetensorsWriter *writer = safetensors_writer_make();
    assert_int_equal(safetensors_writer_metadata(writer, "exact", text), 0);
    hold(fixture);
    int status = safetensors_writer_finish(writer, fixture->path);
    expect_message(fixture, status, fixture->path, "header of 100000029 bytes");
    assert_false(file_exists(fixture->path));
    safetensors_writer_clear(writer);
    free(text);
}

/* What a program must not ask for aborts, with a message. */
static void test_writer_bugs(void **state)
{
    static const char *const names[] = {
        "", "a\"b", "a\\b", "a\nb", "caf\xc3\xa9", "__metadata__", "twice"};
    static const size_t one[] = {1};
    (void)state;
    for (size_t i = 0; i <= sizeof names / sizeof *names; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            SafetensorsWriter *writer = safetensors_writer_make();
            int status = freopen("/dev/null", "w", stderr) == NULL || writer == NULL ||
                         safetensors_writer_floats(writer, "twice", 1, one, NULL);
            if (status == 0 && i < sizeof names / sizeof *names) {
                status = safetensors_writer_floats(writer, names[i], 1, one, NULL);
            } else if (status == 0) {
                status = safetensors_writer_finish(writer, "/dev/null");
            }
            _exit(status);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

/* ---- Memory and damage --------------------------------------------------------------------- */

static size_t allocations_left;

static void *scarce_malloc(size_t size)
{
    if (allocations_left == 0) {
        return NULL;
    }
    allocations_left--;
    return malloc(size);
}

/* Whichever allocation of the JSON library fails: it does not always say why it gave up. */
static void test_memory_is_short(void **state)
{
    FileFixture *fixture = *state;
    Sample sample;
    SafetensorsFile *file = NULL;
    int status = 99;
    size_t refused = 0;
    assert_true(sample_model(&sample, 0));
    for (size_t many = 0; status != 0; many++) {
        assert_true(many < 2000);
        hold(fixture);
        allocations_left = many;
        json_set_alloc_funcs(scarce_malloc, free);
        status = safetensors_parse(&file, "scarce", sample.bytes, sample.size);
        json_set_alloc_funcs(malloc, free);
        const char *text = take(fixture);
        bool told = status == 2 || strcmp(text, "headproof: memory is short\n") == 0;
        refused += status == 99;
        if (count_lines(text) != (status != 0) || (status != 0 && (file != NULL || !told))) {
            fail_msg("allocation %zu: status %d, \"%s\"", many, status, text);
        }
    }
    assert_true(refused > 100);
    safetensors_close(file);
    sample_clear(&sample);
}

/* One change to bytes [*size], which have room for twice as many and 16 more. */
static void damage(unsigned char *bytes, size_t *size, size_t header, uint64_t *counter)
{
    static const char *const words[] = {"\"",      "{",           "}",        "[",       ",",
                                        ":",       "0",           "9",        "-",       "null",
                                        "\"F16\"", "99999999999", "blocks.1", "\\u0000", "ln1"};
    size_t at = (size_t)(draw(counter) % (draw(counter) % 4 == 0 ? *size : 8 + header));
    size_t span = (size_t)(draw(counter) % 9), rest = *size - at;
    const char *word = words[draw(counter) % (sizeof words / sizeof *words)];
    span = span < rest ? span : rest;
    switch (draw(counter) % 6) {
    case 0: bytes[at] ^= (unsigned char)(1 << draw(counter) % 8); break;
    case 1: bytes[at] = (unsigned char)draw(counter); break;
    case 2: /* leave out */
        memmove(bytes + at, bytes + at + span, rest - span);
        *size -= span;
        break;
    case 3: /* repeat */
        memmove(bytes + at + span, bytes + at, rest);
        *size += span;
        break;
    case 4: memcpy(bytes + at, word, strlen(word) < rest ? strlen(word) : rest); break;
    default: bytes[at] = (unsigned char)('0' + draw(counter) % 10); break;
    }
}

/* A short form of make fuzz-safetensors, the same in every run. */
static void test_damaged(void **state)
{
    enum { ROUNDS = 1500 };
    FileFixture *fixture = *state;
    Sample sample;
    uint64_t counter = 20240229;
    size_t refused = 0, models = 0, total = 0;
    for (size_t model = 0; sample_model(&sample, model); model++) {
        unsigned char *bytes = malloc(4 * sample.size + 64);
        size_t header = sample.bytes[8] == '{' ? sample.bytes[0] + 256U * sample.bytes[1] : 0;
        assert_non_null(bytes);
        for (int round = 0; round < ROUNDS; round++, total++) {
            size_t size = sample.size;
            SampleOutcome outcome;
            memcpy(bytes, sample.bytes, size);
            for (uint64_t many = draw(&counter) % 3 + 1; many > 0 && size > 8; many--) {
                damage(bytes, &size, header < size - 8 ? header : size - 8, &counter);
            }
            if (draw(&counter) % 2 == 0 && size > 8 + header) {
                /* Whatever became longer or shorter, it was the header. */
                size_t grown = header + size - sample.size;
                bytes[0] = (unsigned char)(grown & 255);
                bytes[1] = (unsigned char)(grown >> 8);
                memset(bytes + 2, 0, 6);
            }
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

#define TEST(function) cmocka_unit_test_setup_teardown(function, model_set_up, fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_halves),
        TEST(test_floats),
        TEST(test_alignment),
        TEST(test_integers),
        TEST(test_not_finite),
        TEST(test_accessors),
        TEST(test_malformed_headers),
        TEST(test_long_headers),
        TEST(test_no_header),
        TEST(test_written_bytes),
        TEST(test_round_trip),
        TEST(test_cannot_write),
        TEST(test_predicted_size),
        TEST(test_header_too_long),
        TEST(test_writer_bugs),
        TEST(test_memory_is_short),
        TEST(test_damaged),
    };
    return cmocka_run_group_tests_name("safetensors", tests, NULL, NULL);
}
