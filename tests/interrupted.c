/*
 * What tests of interrupted runs share.
 */
#include "interrupted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

Output read_file(const char *path)
{
    struct stat found = {0};
    Output file = {0};
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    int status = fstat(fileno(stream), &found);
    assert_int_equal(status, 0);
    file.length = (size_t)found.st_size;
    file.text = calloc(1, file.length + 1);
    assert_non_null(file.text);
    assert_int_equal(fread(file.text, 1, file.length, stream), file.length);
    fclose(stream);
    return file;
}

void expect_same(const Output *a, const Output *b, const char *what)
{
    if (a->length != b->length || memcmp(a->text, b->text, a->length) != 0) {
        fail_msg("%s: %zu bytes and %zu bytes differ", what, a->length, b->length);
    }
}

off_t size_of(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 ? found.st_size : 0;
}

pid_t start_program(const char *arguments)
{
    char line[2048];
    assert_true(snprintf(line, sizeof line, "exec \"$HEADPROOF\" %s", arguments) <
                (int)sizeof line);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(126);
    }
    return child;
}

void pause_seconds(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

uint64_t kill_seed(void)
{
    const char *given = getenv("TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    print_message("rerun with TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

double kill_share(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}
