/*
 * Safetensors files: what a header says is found again, and numbers are read exactly, in every
 * format, or refused by their index.
 */
#include "safetensors_fixture.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a header says of its tensors and metadata is found again. */
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
    assert_string_equal(file->path, fixture->path);
    assert_int_equal(file->count, 3);
    assert_string_equal(file->tensors[0].name, "\xc3\xa9");
    assert_string_equal(file->tensors[1].name, "none");
    const SafetensorsTensor *tensor = tensor_named(file, "b");
    assert_ptr_equal(tensor, &file->tensors[2]);
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
    assert_int_equal(file->count, 0);
    assert_null(safetensors_metadata(file, "key"));
    safetensors_close(file);
}

/* A tensor "t" of `count` values of a dtype of `width` bytes, whose data the caller changes. */
static SafetensorsFile *open_values(Sample *sample, const char *dtype, size_t width, size_t count)
{
    char shape[32];
    SafetensorsFile *file;
    snprintf(shape, sizeof shape, "[%zu]", count);
    SampleTensor tensor = {"t", dtype, shape, width * count, 0};
    sample_build(sample, NULL, &tensor, 1);
    assert_int_equal(safetensors_open(&file, sample->path), 0);
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
    int status = safetensors_floats(&value, file, &file->tensors[0]);
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

static void check_random(const char *dtype, size_t width, int exponent_bits, int fraction_bits)
{
    Sample sample;
    SafetensorsFile *file = open_values(&sample, dtype, width, 1);
    uint64_t counter = 1, mask = width == 8 ? UINT64_MAX : 0xffffffff;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = drawn_word(&counter) & mask;
        uint64_t corner = drawn_word(&counter);
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
    check_random("F32", 4, 8, 23);
    check_random("F64", 8, 11, 52);
}

/* Data at every alignment in the file. */
static void test_alignment(void **state)
{
    static const unsigned char data[] = {0,    0, 0, 0,    0,    0,    0xf8,
                                         0xbf, 0, 0, 0xc0, 0x3f, 0xc0, 0x3f};
    for (size_t pad = 0; pad < 8; pad++) {
        char header[400];
        Sample sample;
        double value[3];
        snprintf(header, sizeof header,
                 "{\"a\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]},"
                 "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]},"
                 "\"c\":{\"dtype\":\"BF16\",\"shape\":[1,1],\"data_offsets\":[12,14]}}%*s",
                 (int)pad, "");
        sample_make(&sample, header, data, sizeof data);
        SafetensorsFile *file = open_file(sample.path);
        for (size_t i = 0; i < 3; i++) {
            const SafetensorsTensor *tensor = &file->tensors[i];
            assert_int_equal(safetensors_floats(&value[i], file, tensor), 0);
        }
        assert_true(value[0] == -1.5 && value[1] == 1.5 && value[2] == 1.5);
        safetensors_close(file);
        sample_clear(&sample);
    }
}

static const struct {
    const char *dtype;
    size_t width;
    uint64_t bits;
    int64_t value;
    const char *fault;
} wide[] = {
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

static void test_integers(void **state)
{
    FileFixture *fixture = *state;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        Sample sample;
        int64_t values[2] = {7, 7};
        SafetensorsFile *file = open_values(&sample, wide[i].dtype, wide[i].width, 2);
        put(&sample, wide[i].width, 1, wide[i].bits);
        hold(fixture);
        int status = safetensors_integers(values, file, &file->tensors[0]);
        if (wide[i].fault != NULL) {
            expect_message(fixture, status, sample.path, wide[i].fault);
        } else if (take(fixture)[0] != '\0' || status != 0 || values[0] != 0 ||
                   values[1] != wide[i].value) {
            fail_msg("%s %llx: status %d, %lld", wide[i].dtype, (unsigned long long)wide[i].bits,
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
        write_sample(fixture, &sample);
        file = open_file(fixture->path);
        hold(fixture);
        int status = safetensors_floats(values, file, &file->tensors[0]);
        expect_message(fixture, status, fixture->path, cases[i].culprit);
        safetensors_close(file);
    }
}

/* Tensors of more than one block, each value its own index. */
static void test_blocks(void **state)
{
    enum { COUNT = 20011 };
    static double values[COUNT], expected[COUNT];
    static int64_t integers[COUNT];
    static const char header[] = "{\"f\":{\"dtype\":\"F64\",\"shape\":[20011],"
                                 "\"data_offsets\":[0,160088]},\"i\":{\"dtype\":\"I64\","
                                 "\"shape\":[20011],\"data_offsets\":[160088,320176]}}";
    FileFixture *fixture = *state;
    Sample sample;
    sample_make(&sample, header, NULL, (size_t)16 * COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        expected[i] = (double)i;
        memcpy(sample.bytes + sample.size - (size_t)16 * COUNT + 8 * i, &expected[i], 8);
        put(&sample, 8, COUNT - i, i);
    }
    write_sample(fixture, &sample);
    SafetensorsFile *file = open_file(fixture->path);
    assert_int_equal(safetensors_floats(values, file, &file->tensors[0]), 0);
    assert_int_equal(safetensors_integers(integers, file, &file->tensors[1]), 0);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(values[i] == expected[i] && integers[i] == (int64_t)i);
    }
    safetensors_close(file);
}

/* Who shortens a file that is being read is told so, by a message and not by a signal; 20000 values
 * are read in several blocks. */
static void test_cut_short(void **state)
{
    enum { COUNT = 20000 };
    static double values[COUNT];
    static int64_t integers[COUNT];
    static const SampleTensor tensors[] = {{"t", "F64", "[20000]", 8 * COUNT, 0x3c},
                                           {"u", "I64", "[20000]", 8 * COUNT, 0}};
    FileFixture *fixture = *state;
    Sample sample;
    char culprit[64];
    sample_build(&sample, NULL, tensors, 2);
    size_t whole = sample.size, kept = whole - 8 * COUNT - 5;
    write_sample(fixture, &sample);
    SafetensorsFile *file = open_file(fixture->path);
    assert_int_equal(safetensors_floats(values, file, &file->tensors[0]), 0);
    assert_int_equal(truncate(fixture->path, (off_t)kept), 0);
    snprintf(culprit, sizeof culprit, "nothing at byte %zu: expected the %zu bytes there", kept,
             whole);
    hold(fixture);
    int status = safetensors_floats(values, file, &file->tensors[0]);
    expect_message(fixture, status, fixture->path, culprit);
    hold(fixture);
    status = safetensors_integers(integers, file, &file->tensors[1]);
    snprintf(culprit, sizeof culprit, "nothing at byte %zu: expected the %zu bytes there", kept + 5,
             whole);
    expect_message(fixture, status, fixture->path, culprit);
    safetensors_close(file);
}

SUBJECT(safetensors)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(test_accessors), MODEL_TEST(test_halves),    MODEL_TEST(test_floats),
        MODEL_TEST(test_alignment), MODEL_TEST(test_integers),  MODEL_TEST(test_not_finite),
        MODEL_TEST(test_blocks),    MODEL_TEST(test_cut_short),
    };
    return cmocka_run_group_tests_name("safetensors", tests, NULL, NULL);
}
