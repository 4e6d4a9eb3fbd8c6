/*
 * Tools for tests of interrupted runs.
 */
#include "interrupted.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

Output read_file(const char *path)
{
    struct stat found = {0};
    Output file = {0};
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    int status = fstat(fileno(stream), &found);
    assert_int_equal(status, 0);
    file.length = (size_t)found.st_size;
    file.text = keep(calloc(1, file.length + 1));
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

/* FNV-1a: https://www.rfc-editor.org/rfc/rfc9923 */
static uint64_t fnv(uint64_t digest, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        digest = (digest ^ (unsigned char)bytes[i]) * 1099511628211u;
    }
    return digest;
}

/* The sidecar as it is before the last point; it ends with its brace. */
static Output begun_sidecar(const char *path, const char *partial)
{
    Output sidecar = read_file(access(path, F_OK) == 0 ? path : partial);
    char *complete = strstr(sidecar.text, "\"complete\": true"), *end = strstr(sidecar.text, "\n}");
    assert_non_null(end);
    sidecar.length = (size_t)(end + 2 - sidecar.text);
    if (complete != NULL) {
        char *value = complete + strlen("\"complete\": ");
        memmove(value + 5, value + 4, sidecar.length - (size_t)(value + 4 - sidecar.text));
        memcpy(value, "false", 5); /* over the newline behind the brace */
        sidecar.length++;
    }
    return sidecar;
}

void leave_interrupted(const char *path, const Output *whole, size_t length, size_t depth,
                       double seconds)
{
    char name[512], partial[512];
    snprintf(name, sizeof name, "%s.json", path);
    snprintf(partial, sizeof partial, "%s.json.partial", path);
    Output sidecar = begun_sidecar(name, partial);
    uint64_t seal = fnv(14695981039346656037u, sidecar.text, sidecar.length);
    FILE *file = fopen(partial, "w");
    assert_non_null(file);
    fprintf(file, "%.*s\n", (int)sidecar.length, sidecar.text);
    const char *header = memchr(whole->text, '\n', length);
    const char *from = header == NULL ? whole->text + length : header + 1, *next = from;
    for (size_t rows = 1; (next = memchr(next, '\n', length - (size_t)(next - whole->text)));
         rows++) {
        next++;
        if (rows % depth == 0) {
            seal = fnv(seal, from, (size_t)(next - from));
            fprintf(file, "%016llx %.3f\n", (unsigned long long)seal, seconds);
            from = next;
        }
    }
    assert_int_equal(fclose(file), 0);
    (void)unlink(path);
    (void)unlink(name);
    snprintf(partial, sizeof partial, "%s.partial", path);
    file = fopen(partial, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(whole->text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
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
