/*
 * Writing safetensors files: byte by byte as the format has it, read back as written, complete or
 * not at all.
 */
#include "safetensors_fixture.h"
#include "../program.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
    assert_int_equal(safetensors_writer_floats(writer, "a", 1, shape_a, a), 0);
    assert_int_equal(safetensors_writer_integers(writer, "b", 2, shape_b, b), 0);
    safetensors_writer_metadata(writer, "k", "\xc3\xa9\n\"");
    assert_int_equal(safetensors_writer_finish(writer, fixture->path), 0);
    safetensors_writer_clear(writer);
    assert_int_equal(file_read(fixture->text, fixture->path), (long)sizeof expected - 1);
    assert_memory_equal(fixture->text, expected, sizeof expected - 1);
}

/* Data begin at a multiple of 8 whatever the header's length: of names of eight lengths. */
static void test_data_are_aligned(void **state)
{
    static const char name[] = "abcdefgh";
    static const size_t shape[] = {1};
    static const double number[] = {1};
    FileFixture *fixture = *state;
    for (size_t length = 1; length <= 8; length++) {
        SafetensorsWriter *writer = safetensors_writer_make();
        const char *called = name + sizeof name - 1 - length;
        assert_int_equal(safetensors_writer_floats(writer, called, 1, shape, number), 0);
        assert_int_equal(safetensors_writer_finish(writer, fixture->path), 0);
        safetensors_writer_clear(writer);
        long bytes = file_read(fixture->text, fixture->path);
        assert_true(bytes > 0 && bytes % 8 == 0);
        assert_memory_equal(fixture->text + bytes - 8, number, 8);
    }
}

static void check_round_trip(const SafetensorsFile *file, const char *name, const double *values,
                             size_t count)
{
    const SafetensorsTensor *tensor = tensor_named(file, name);
    assert_non_null(tensor);
    assert_int_equal(tensor->count, count);
    double *read = calloc(count + 1, sizeof *read);
    assert_non_null(read);
    assert_int_equal(safetensors_floats(read, file, tensor), 0);
    assert_memory_equal(read, values, count * sizeof *read);
    free(read);
}

/* [2, 3, 2], a matrix of two columns out of four, and a vector, out of one block of numbers. */
static void test_strides(void **state)
{
    static const size_t shape[] = {2, 3, 2}, stride[] = {1, 8, 4};
    static const double expected[] = {0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21};
    static const double columns[] = {1, 2, 5, 6, 9, 10}, every[] = {3, 10, 17};
    static const size_t of_columns[] = {3, 2}, of_rows[] = {4, 1}, three[] = {3}, seven[] = {7};
    double numbers[24];
    FileFixture *fixture = *state;
    for (size_t i = 0; i < 24; i++) {
        numbers[i] = (double)i;
    }
    SafetensorsWriter *writer = safetensors_writer_make();
    assert_int_equal(safetensors_writer_strided(writer, "a", 3, shape, stride, numbers), 0);
    assert_int_equal(safetensors_writer_strided(writer, "b", 2, of_columns, of_rows, numbers + 1),
                     0);
    assert_int_equal(safetensors_writer_strided(writer, "c", 1, three, seven, numbers + 3), 0);
    assert_int_equal(safetensors_writer_bytes(writer), 8 * (12 + 6 + 3));
    assert_int_equal(safetensors_writer_finish(writer, fixture->path), 0);
    safetensors_writer_clear(writer);
    SafetensorsFile *file = open_file(fixture->path);
    check_round_trip(file, "a", expected, 12);
    check_round_trip(file, "b", columns, 6);
    check_round_trip(file, "c", every, 3);
    safetensors_close(file);
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
        many[i] =
            ldexp((double)(int64_t)drawn_word(&counter), (int)(drawn_word(&counter) % 2000) - 1060);
    }
    SafetensorsWriter *writer = safetensors_writer_make();
    safetensors_writer_metadata(writer, "long", fixture->path);
    assert_int_equal(safetensors_writer_floats(writer, "corners", 8, eight, corners), 0);
    assert_int_equal(safetensors_writer_floats(writer, "many", 2, many_shape, many), 0);
    assert_int_equal(safetensors_writer_floats(writer, "one", 0, NULL, corners + 5), 0);
    assert_int_equal(safetensors_writer_floats(writer, "none", 2, none, NULL), 0);
    assert_int_equal(safetensors_writer_integers(writer, "integers", 1, three, integers), 0);
    assert_int_equal(safetensors_writer_finish(writer, fixture->path), 0);
    safetensors_writer_clear(writer);
    safetensors_writer_clear(NULL);
    SafetensorsFile *file = open_file(fixture->path);
    assert_int_equal(file->count, 5);
    check_round_trip(file, "corners", corners, 6);
    check_round_trip(file, "many", many, MANY);
    check_round_trip(file, "one", corners + 5, 1);
    check_round_trip(file, "none", corners, 0);
    const SafetensorsTensor *tensor = tensor_named(file, "integers");
    assert_int_equal(safetensors_integers(read, file, tensor), 0);
    assert_memory_equal(read, integers, sizeof integers);
    assert_string_equal(safetensors_metadata(file, "long"), fixture->path);
    assert_int_equal(tensor_named(file, "corners")->shape[3], 3);
    safetensors_close(file);
}

static SafetensorsWriter *large_writer(const double *values, size_t count)
{
    SafetensorsWriter *writer = safetensors_writer_make();
    assert_int_equal(safetensors_writer_floats(writer, "a", 1, &count, values), 0);
    return writer;
}

/* An earlier file stays as it was, and nothing is left beside it. */
static void test_cannot_write(void **state)
{
    enum { COUNT = 4096 };
    FileFixture *fixture = *state;
    const char *path = path_in(&fixture->scratch, "missing/model.safetensors");
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
    hold(fixture);
    int status = safetensors_writer_floats(writer, "b", 2, absurd, NULL);
    expect_message(fixture, status, "headproof: ", "tensor 'b'");
    safetensors_writer_metadata(writer, "later", "x");
    assert_int_equal(safetensors_writer_finish(writer, fixture->path), status);
    assert_false(file_exists(fixture->path));
    safetensors_writer_clear(writer);
    writer = safetensors_writer_make();
    assert_int_equal(safetensors_writer_floats(writer, "a", 2, large, NULL), 0);
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
    safetensors_writer_metadata(writer, "exact", text);
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
    for (size_t i = 0; i <= sizeof names / sizeof *names; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            SafetensorsWriter *writer = safetensors_writer_make();
            int status = freopen("/dev/null", "w", stderr) == NULL ||
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

SUBJECT(safetensors_write)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(test_strides),        MODEL_TEST(test_written_bytes),
        MODEL_TEST(test_round_trip),     MODEL_TEST(test_cannot_write),
        MODEL_TEST(test_predicted_size), MODEL_TEST(test_header_too_long),
        MODEL_TEST(test_writer_bugs),    MODEL_TEST(test_data_are_aligned),
    };
    return cmocka_run_group_tests_name("safetensors_write", tests, NULL, NULL);
}
