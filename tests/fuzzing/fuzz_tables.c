/*
 * Tables cut into lines and cells, by other code than the program's.
 */
#include "fuzz_tables.h"

#include <stdio.h>
#include <stdlib.h>
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

enum { SEAL = 16 };

/* FNV-1a. */
#define FNV UINT64_C(0xCBF29CE484222325)

static uint64_t fnv(uint64_t digest, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        digest = (digest ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001B3);
    }
    return digest;
}

/* In hexadecimal digits. */
static void print_seal(char seal[SEAL + 1], const FuzzText *table)
{
    uint64_t digest = fnv(FNV, table->bytes, table->size);
    snprintf(seal, SEAL + 1, "%016llx", (unsigned long long)digest);
}

static char *find_seal(const FuzzText *sidecar, const char *seal)
{
    for (size_t i = 0; i + SEAL <= sidecar->size; i++) {
        if (memcmp(sidecar->bytes + i, seal, SEAL) == 0) {
            return sidecar->bytes + i;
        }
    }
    return NULL;
}

bool fuzz_sealed(const FuzzText *table, const FuzzText *sidecar)
{
    char seal[SEAL + 1];
    print_seal(seal, table);
    return table->bytes == NULL || sidecar->bytes == NULL || find_seal(sidecar, seal) != NULL;
}

void fuzz_seal(const char *table, const char *sidecar, const FuzzText *saved)
{
    char old[SEAL + 1], seal[SEAL + 1], *found;
    FuzzText rows = fuzz_read(table), text = fuzz_read(sidecar);
    print_seal(old, saved);
    print_seal(seal, &rows);
    found = rows.bytes == NULL ? NULL : find_seal(&text, old);
    if (found != NULL && strcmp(old, seal) != 0) {
        memcpy(found, seal, SEAL);
        fuzz_write(sidecar, text.bytes, text.size);
    }
    free(rows.bytes);
    free(text.bytes);
}

void fuzz_write_journal(const char *path, const FuzzText *first, const FuzzText *rows)
{
    FuzzLines lines;
    size_t size = first->size, room = size + rows->size + 80 * LINES_MOST;
    char *journal = malloc(room), line[64];
    fuzz_need(journal != NULL, "malloc");
    while (size > 0 && first->bytes[size - 1] == '\n') {
        size--;
    }
    for (size_t i = 0; i < size; i++) {
        journal[i] = (char)(first->bytes[i] == '\n' ? ' ' : first->bytes[i]);
    }
    journal[size++] = '\n';
    const uint64_t seed = fnv(FNV, journal, size);
    fuzz_cut_lines(&lines, rows);
    for (size_t i = 1; i < lines.count; i++) {
        size_t length = lines.length[i] + 1;
        bool torn = i + 1 == lines.count && !lines.whole;
        int told = snprintf(line, sizeof line, " %zu %zu 0.001\n", i - 1, length);
        uint64_t digest = fnv(fnv(seed, line, (size_t)told), lines.line[i], length - torn);
        size += (size_t)snprintf(journal + size, room - size, "%016llx%s",
                                 (unsigned long long)digest, line);
        memcpy(journal + size, lines.line[i], length - torn);
        size += length - torn;
    }
    fuzz_write(path, journal, size);
    free(journal);
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
