/*
 * Tools for tests of interrupted runs.
 */
#include "interrupted.h"
#include "unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* FNV-1a: https://www.rfc-editor.org/rfc/rfc9923 */
static uint64_t fnv(uint64_t digest, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        digest = (digest ^ (unsigned char)bytes[i]) * 1099511628211u;
    }
    return digest;
}

/* The first line of a journal: of one that is there, or of the sidecar's run; free it. */
static char *first_line(const char *partial, const char *sidecar)
{
    if (access(sidecar, F_OK) != 0) {
        Output left = read_file(partial);
        return strndup(left.text, strcspn(left.text, "\n"));
    }
    json_t *object = json_load_file(sidecar, 0, NULL);
    assert_non_null(object);
    (void)json_object_del(object, "digest");
    (void)json_object_del(object, "points");
    assert_int_equal(json_object_set_new(object, "complete", json_false()), 0);
    char *line = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    assert_non_null(line);
    return line;
}

void leave_interrupted(const char *path, const Output *whole, size_t length, size_t depth,
                       double seconds)
{
    char sidecar[512], partial[512], line[64];
    snprintf(sidecar, sizeof sidecar, "%s.json", path);
    snprintf(partial, sizeof partial, "%s.partial", path);
    char *first = first_line(partial, sidecar);
    FILE *file = fopen(partial, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", first);
    uint64_t seed = fnv(fnv(14695981039346656037u, first, strlen(first)), "\n", 1);
    const char *rows = strchr(whole->text, '\n') + 1, *end = whole->text + length;
    for (size_t point = 0; rows < end; point++) {
        const char *next = rows;
        for (size_t row = 0; row < depth; row++) {
            next = strchr(next, '\n') + 1;
        }
        size_t size = (size_t)(next - rows), there = next <= end ? size : (size_t)(end - rows);
        int told = snprintf(line, sizeof line, " %zu %zu %.3f\n", point, size, seconds);
        fprintf(file, "%016llx%s",
                (unsigned long long)fnv(fnv(seed, line, (size_t)told), rows, size), line);
        assert_int_equal(fwrite(rows, 1, there, file), there);
        rows = next;
    }
    assert_int_equal(fclose(file), 0);
    free(first);
    (void)unlink(path);
    (void)unlink(sidecar);
}
