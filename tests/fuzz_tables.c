/*
 * Tables cut into lines and cells, by other code than the program's.
 */
#include "fuzz_tables.h"

#include <string.h>

void fuzz_cut_lines(FuzzLines *lines, const FuzzText *text)
{
    const char *next = text->bytes, *end = next == NULL ? NULL : next + text->size;
    memset(lines, 0, sizeof *lines);
    while (next < end && lines->count < LINES_MOST) {
        const char *newline = memchr(next, '\n', (size_t)(end - next));
        lines->whole = newline != NULL;
        newline = newline == NULL ? end : newline;
        lines->line[lines->count] = next;
        lines->length[lines->count++] = (size_t)(newline - next);
        next = newline + 1;
    }
}

bool fuzz_same_line(const FuzzLines *a, size_t i, const FuzzLines *b, size_t j)
{
    return i < a->count && j < b->count && a->length[i] == b->length[j] &&
           memcmp(a->line[i], b->line[j], a->length[i]) == 0;
}

/* Cell `index` of a line. */
static const char *nth_cell(const FuzzLines *lines, size_t line, size_t index, size_t *length)
{
    const char *cell = lines->line[line], *end = cell + lines->length[line];
    for (;;) {
        const char *comma = memchr(cell, ',', (size_t)(end - cell));
        *length = (size_t)((comma == NULL ? end : comma) - cell);
        if (index-- == 0) {
            return cell;
        }
        if (comma == NULL) {
            return NULL;
        }
        cell = comma + 1;
    }
}

size_t fuzz_cell(const char **cell, const FuzzLines *lines, size_t line, const char *column)
{
    size_t length = 0;
    const char *name;
    *cell = NULL;
    if (line >= lines->count) {
        return 0;
    }
    for (size_t i = 0; (name = nth_cell(lines, 0, i, &length)) != NULL; i++) {
        if (length == strlen(column) && memcmp(name, column, length) == 0) {
            *cell = nth_cell(lines, line, i, &length);
            return *cell == NULL ? 0 : length;
        }
    }
    return 0;
}

void fuzz_cell_text(char text[32], const FuzzLines *lines, size_t line, const char *column)
{
    const char *cell;
    size_t length = fuzz_cell(&cell, lines, line, column);
    length = length < 31 ? length : 31;
    if (length > 0) {
        memcpy(text, cell, length);
    }
    text[length] = '\0';
}

int fuzz_join(const char *all[FUZZ_ARGUMENTS], const char *const *argv, const char *const *more)
{
    int count = 0;
    for (; *argv != NULL; argv++) {
        all[count++] = *argv;
    }
    for (; *more != NULL; more++) {
        all[count++] = *more;
    }
    fuzz_need(count < FUZZ_ARGUMENTS, "arguments");
    all[count] = NULL;
    return count;
}
