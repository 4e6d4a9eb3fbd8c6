/*
 * headproof check, run as a program in a scratch directory, with what it reads and leaves there.
 */
#include "check_program.h"

#include "../check_fixture.h"
#include "../fixture.h"
#include "../unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Output check_run(const Scratch *scratch, const char *arguments)
{
    char line[2048];
    scratch_fill(line, sizeof line, scratch->directory, arguments);
    return run_formatted("%s 2>&1", line);
}

void check_expect(const Scratch *scratch, const char *arguments, int code, const char *said)
{
    Output output = check_run(scratch, arguments);
    if (output.code != code || (said != NULL && strstr(output.text, said) == NULL)) {
        fail_msg("headproof %s: exit %d, expected %d and \"%s\":\n%s", arguments, output.code, code,
                 said != NULL ? said : "", output.text);
    }
}

bool check_made(const Scratch *scratch, const char *name)
{
    return file_exists(path_in(scratch, name));
}

char *check_text(const Scratch *scratch, const char *name)
{
    char *text = malloc(SCRATCH_TEXT);
    assert_non_null(text);
    assert_true(file_read(text, path_in(scratch, name)) > 0);
    return text;
}

json_t *check_json(const Scratch *scratch, const char *name)
{
    json_error_t error;
    json_t *value = json_load_file(path_in(scratch, name), 0, &error);
    if (value == NULL) {
        fail_msg("%s: %s", name, error.text);
    }
    return value;
}

const char *json_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

void check_write_table(const Csv *csv, const Scratch *scratch, const char *name)
{
    const char *path = path_in(scratch, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < (csv->rows + 1) * csv->columns; i++) {
        fprintf(file, "%s%c", csv->cells[i], (i + 1) % csv->columns == 0 ? '\n' : ',');
    }
    assert_int_equal(fclose(file), 0);
    seal_table(path);
}

void check_read_table(Csv *csv, const Scratch *scratch, const char *name)
{
    assert_int_equal(csv_read(csv, path_in(scratch, name)), 0);
}
