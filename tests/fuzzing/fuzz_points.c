/*
 * Of a grid that was read: the one command line that reproduces a point does.
 */
#include "fuzz.h"

#include "../../harness/point/point.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MOST = 4, ARGUMENTS_MOST = 2 * AXIS_COUNT + 8 };

/* Cuts a line as a shell does that knows single quotes alone. */
static int cut_words(char **words, char *line)
{
    int count = 0;
    while (*line != '\0' && count < ARGUMENTS_MOST - 1) {
        bool quoted = *line == '\'';
        char *end;
        line += quoted;
        words[count++] = line;
        end = line + strcspn(line, quoted ? "'" : " ");
        line = *end == '\0' ? end : end + 1 + (quoted && end[1] == ' ');
        *end = '\0';
    }
    words[count] = NULL;
    return count;
}

static const char *expect_point(Fuzz *fuzz, const Point *point)
{
    char *line = NULL, *copy, *words[ARGUMENTS_MOST] = {NULL};
    size_t size = 0;
    Grid grid;
    RunOptions run;
    FILE *stream = open_memstream(&line, &size);
    fuzz_need(stream != NULL, "open_memstream");
    point_print_command(stream, point);
    fuzz_need(fclose(stream) == 0, "open_memstream");
    copy = strdup(line);
    fuzz_need(copy != NULL, "strdup");
    int count = cut_words(words, copy);
    Command command = strcmp(words[1], "min-omega") == 0 ? COMMAND_MIN_OMEGA : COMMAND_SWEEP;
    const char *why = NULL;
    fuzz_listen(fuzz);
    int status = grid_read(&grid, &run, commands_get(command), count - 1, words + 1);
    fuzz_hear(fuzz);
    if (status != 0) {
        why = fuzz_broken(fuzz, "'%s' is refused: %s", line, fuzz->said);
    } else if (grid.count != 1 || point_compare(&grid.points[0], point) != 0) {
        why = fuzz_broken(fuzz, "'%s' is another point", line);
    }
    if (status == 0) {
        grid_clear(&grid);
    }
    free(copy);
    free(line);
    return why;
}

const char *fuzz_expect_reproduced(Fuzz *fuzz, const Grid *grid)
{
    const char *why = NULL;
    for (size_t i = 0; i < grid->count && i < POINTS_MOST && why == NULL; i++) {
        /* The last ones too. */
        why = expect_point(fuzz, &grid->points[i % 2 == 0 ? i / 2 : grid->count - 1 - i / 2]);
    }
    return why;
}
