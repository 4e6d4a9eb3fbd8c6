/*
 * Grids that tests read from flags and case files, and the rows of their points.
 */
#include "given.h"

#include "fixture.h"

#include "../harness/evaluate/evaluate.h"
#include "../harness/table/table.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS 48

int given_set_up(void **state)
{
    Given *given = fixture_make(sizeof *given);
    scratch_path(given->file, &given->scratch, "given.case");
    ref_thread_setup();
    *state = given;
    return 0;
}

int given_tear_down(void **state)
{
    Given *given = *state;
    grid_clear(&given->grid);
    ref_thread_clear();
    return fixture_tear_down(state);
}

int given_read(Given *given, Command command, const char *line)
{
    char *arguments[ARGUMENTS + 1] = {(char[]){"command"}}, place[SCRATCH_PATH];
    int count = 1;
    scratch_path(place, &given->scratch, "");
    scratch_fill(given->words, sizeof given->words, place, line);
    char *rest = given->words;
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL && count < ARGUMENTS; count++) {
        arguments[count] = strcmp(word, "FILE") == 0 ? given->file : word;
    }
    grid_clear(&given->grid);
    stderr_hold(&given->scratch);
    int status = grid_read(&given->grid, &given->run, commands_get(command), count, arguments);
    stderr_take(given->message, &given->scratch);
    return status;
}

const Point *given_points(Given *given, const char *line, size_t count)
{
    int status = given_read(given, COMMAND_SWEEP, line);
    if (status != 0 || given->message[0] != '\0') {
        fail_msg("%s: status %d: %s", line, status, given->message);
    }
    if (given->grid.count != count) {
        fail_msg("%s: %zu points, expected %zu", line, given->grid.count, count);
    }
    return given->grid.points;
}

/* The first 16 columns and `layer` are the key; no cell here has a comma in it. */
static void write_row(FILE *to, bool with_key, const Point *point, const Row *row)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    table_write_row(file, point, row);
    assert_int_equal(fclose(file), 0);
    const char *rest = text;
    for (int column = 0; !with_key && column < 16; column++) {
        rest = strchr(rest, ',') + 1;
    }
    fputs(rest, to);
    free(text);
}

char *given_rows(const Point *point, bool with_key)
{
    char *text = NULL;
    size_t size = 0;
    Shared *shared = shared_make(&point, 1, 0);
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    assert_non_null(shared);
    Row *rows = point_evaluate(shared, point, NULL, NULL);
    assert_non_null(rows);
    for (size_t l = 0; l < point->spec.depth; l++) {
        write_row(file, with_key, point, &rows[l]);
    }
    point_rows_free(rows, point);
    shared_clear(shared);
    assert_int_equal(fclose(file), 0);
    return text;
}
