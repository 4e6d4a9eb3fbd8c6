/*
 * Tools for tests of safetensors files.
 */
#include "safetensors_fixture.h"
#include "../unit.h"

#include <string.h>

void hold(FileFixture *fixture)
{
    stderr_hold(&fixture->scratch);
}

const char *take(FileFixture *fixture)
{
    stderr_take(fixture->text, &fixture->scratch);
    return fixture->text;
}

void expect_message(FileFixture *fixture, int status, const char *path, const char *culprit)
{
    const char *text = take(fixture);
    if (status != 2 || count_lines(text) != 1 || strncmp(text, path, strlen(path)) != 0 ||
        strstr(text, culprit) == NULL) {
        fail_msg("status %d, message \"%s\", expected \"%s\" in it", status, text, culprit);
    }
}

SafetensorsFile *open_file(const char *path)
{
    SafetensorsFile *file;
    assert_int_equal(safetensors_open(&file, path), 0);
    return file;
}

void write_sample(const FileFixture *fixture, Sample *sample)
{
    file_write(fixture->path, (const char *)sample->bytes, sample->size);
    sample_clear(sample);
}
