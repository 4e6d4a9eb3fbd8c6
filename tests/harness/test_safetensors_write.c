/*
 * Writing safetensors files: byte by byte as the format has it, complete or not at all; what
 * numbers a file gets is tests/program/test_safetensors.py's.
 */
#include "../../harness/models/safetensors.h"
#include "../../harness/models/safetensors_write.h"
#include "../fixture.h"
#include "../program.h"
#include "../unit.h"

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
        "\"b\":{\"dtype\":\"F64\",\"shape\":[1,1],\"data_offsets\":[16,24]}}  "
        "\0\0\0\0\0\0\370\277\2\0\0\0\0\0\0\200\0\0\0\0\0\0\0\300";
    static const double a[] = {-1.5, -0x1p-1073};
    static const signed char b[] = {-2};
    static const size_t shape_a[] = {2}, shape_b[] = {1, 1};
    FileFixture *fixture = *state;
    SafetensorsWriter *writer = safetensors_writer_make();
    assert_int_equal(safetensors_writer_floats(writer, "a", 1, shape_a, NULL, a), 0);
    assert_int_equal(safetensors_writer_small(writer, "b", 2, shape_b, b), 0);
    safetensors_writer_metadata(writer, "k", "\xc3\xa9\n\"");
    assert_int_equal(safetensors_writer_finish(writer, fixture->path), 0);
    safetensors_writer_clear(writer);
    assert_int_equal(file_read(fixture->text, fixture->path), (long)sizeof expected - 1);
    assert_memory_equal(fixture->text, expected, sizeof expected - 1);
}

/* What was held is one line that begins so and has the culprit in it. */
static void expect_message(FileFixture *fixture, const char *begin, const char *culprit)
{
    stderr_take(fixture->text, &fixture->scratch);
    assert_int_equal(count_lines(fixture->text), 1);
    assert_int_equal(strncmp(fixture->text, begin, strlen(begin)), 0);
    assert_non_null(strstr(fixture->text, culprit));
}

/* An earlier file stays as it was, and nothing is left beside it. */
static void test_cannot_write(void **state)
{
    enum { COUNT = 4096 };
    static const double values[COUNT];
    static const size_t shape[] = {COUNT};
    FileFixture *fixture = *state;
    const char *path = path_in(&fixture->scratch, "missing/model.safetensors");
    SafetensorsWriter *writer = safetensors_writer_make();
    struct rlimit old, low;
    assert_int_equal(safetensors_writer_floats(writer, "a", 1, shape, NULL, values), 0);
    file_write(fixture->path, "old", 3);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = (struct rlimit){10000, old.rlim_max};
    stderr_hold(&fixture->scratch);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    int status = safetensors_writer_finish(writer, fixture->path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    expect_message(fixture, "", fixture->path);
    assert_int_equal(status, 99);
    assert_int_equal(file_read(fixture->text, fixture->path), 3);
    assert_false(file_exists(fixture->partial));
    stderr_hold(&fixture->scratch);
    assert_int_equal(safetensors_writer_finish(writer, path), 2);
    expect_message(fixture, "headproof: --output: ", path);
    stderr_hold(&fixture->scratch);
    assert_int_equal(safetensors_writer_finish(writer, "/dev/full"), 99);
    expect_message(fixture, "", "/dev/full");
    assert_int_equal(safetensors_writer_finish(writer, "/dev/null"), 0);
    safetensors_writer_clear(writer);
}

/* The size of what nobody could hold is known before there is any of it; what no file could hold
 * is refused. */
static void test_predicted_size(void **state)
{
    static const size_t large[] = {1 << 20, 1 << 20}, absurd[] = {SIZE_MAX, SIZE_MAX},
                        rest[] = {(size_t)1 << 58};
    FileFixture *fixture = *state;
    SafetensorsWriter *writer = safetensors_writer_make();
    assert_int_equal(safetensors_writer_floats(writer, "a", 2, large, NULL, NULL), 0);
    stderr_hold(&fixture->scratch);
    int status = safetensors_writer_floats(writer, "b", 2, absurd, NULL, NULL);
    assert_int_equal(status, 2);
    expect_message(fixture, "headproof: ", "tensor 'b'");
    safetensors_writer_metadata(writer, "later", "x");
    assert_int_equal(safetensors_writer_finish(writer, fixture->path), status);
    assert_false(file_exists(fixture->path));
    safetensors_writer_clear(writer);
    writer = safetensors_writer_make();
    assert_int_equal(safetensors_writer_floats(writer, "a", 2, large, NULL, NULL), 0);
    assert_int_equal(safetensors_writer_floats(writer, "c", 1, rest, NULL, NULL), 0);
    stderr_hold(&fixture->scratch);
    status = safetensors_writer_floats(writer, "d", 1, rest, NULL, NULL);
    assert_int_equal(status, 2);
    expect_message(fixture, "headproof: ", "tensor 'd'");
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
    stderr_hold(&fixture->scratch);
    int status = safetensors_writer_finish(writer, fixture->path);
    assert_int_equal(status, 2);
    expect_message(fixture, fixture->path, "header of 100000029 bytes");
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
                         safetensors_writer_floats(writer, "twice", 1, one, NULL, NULL);
            if (status == 0 && i < sizeof names / sizeof *names) {
                status = safetensors_writer_floats(writer, names[i], 1, one, NULL, NULL);
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
        MODEL_TEST(test_written_bytes),  MODEL_TEST(test_cannot_write),
        MODEL_TEST(test_predicted_size), MODEL_TEST(test_header_too_long),
        MODEL_TEST(test_writer_bugs),
    };
    return cmocka_run_group_tests_name("safetensors_write", tests, NULL, NULL);
}
