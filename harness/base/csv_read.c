/*
 * A table read back whole, cut into cells, with strict rules.
 */
#include <stdio.h>

#include "csv_read.h"

#include "../../memory/need.h"
#include "digest.h"
#include "message.h"
#include "text_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int csv_unreadable(const char *path, int error)
{
    complain((Origin){0}, path, "expected a table that can be read (%s)", strerror(error));
    return file_fault(error);
}

static int reject(const Csv *csv, size_t line, const char *token, const char *expected)
{
    return complain((Origin){.file = csv->path, .line = line}, token, "expected %s", expected);
}

size_t csv_plain(char *text, size_t length)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t from = length >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0, kept = 0;
    for (; from < length; from++) {
        if (!(text[from] == '\r' && text[from + 1] == '\n')) {
            text[kept++] = text[from];
        }
    }
    text[kept] = '\0';
    return kept;
}

/* Refuses what no cell may hold, and a last line without its newline. */
static int check_text(const Csv *csv, size_t length)
{
    size_t whole = strlen(csv->text), line = text_lines(csv->text, whole) + 1;
    const char *stray = strpbrk(csv->text, "\"\r");
    if (length == 0) {
        return reject(csv, 1, "", "a header line");
    }
    if (whole < length) {
        return reject(csv, line, "\\0", "text, not a zero byte");
    }
    if (stray != NULL) {
        line = text_lines(csv->text, (size_t)(stray - csv->text)) + 1;
        return reject(csv, line, *stray == '"' ? "\"" : "\\r",
                      "cells without quotes, and lines that end in newlines");
    }
    if (csv->text[length - 1] != '\n') {
        const char *last = csv->text + length;
        while (last > csv->text && strchr(",\n", last[-1]) == NULL) {
            last--;
        }
        return reject(csv, line, last, "a newline at the end: the last line is torn");
    }
    return 0;
}

static int cut_lines(Csv *csv, size_t lines)
{
    char *next = csv->text;
    for (size_t i = 0; i < lines; i++) {
        const char **cells = csv->cells + i * csv->columns;
        size_t cut = 0;
        for (bool more = true; more; cut++) {
            char *end = next + strcspn(next, ",\n");
            if (cut < csv->columns) {
                cells[cut] = next;
            }
            more = *end == ',';
            *end = '\0';
            next = end + 1;
        }
        if (cut != csv->columns) {
            char expected[64];
            snprintf(expected, sizeof expected, "%zu cells, not %zu", csv->columns, cut);
            return reject(csv, i + 1, cells[(cut < csv->columns ? cut : csv->columns) - 1],
                          expected);
        }
    }
    return 0;
}

int csv_take(Csv *csv, const char *name, char *text, size_t length)
{
    csv->text = text;
    csv->path = need_copy(name);
    length = csv_plain(text, length);
    csv->digest = digest_bytes(DIGEST_START, text, length);
    int status = check_text(csv, length);
    if (status != 0) {
        return status;
    }
    size_t lines = text_lines(csv->text, length);
    csv->columns = 1;
    for (const char *c = csv->text; *c != '\n'; c++) {
        csv->columns += *c == ',';
    }
    csv->cells = need_zeros(lines * csv->columns, sizeof *csv->cells);
    csv->rows = lines - 1;
    status = cut_lines(csv, lines);
    for (size_t i = 0; i < csv->columns && status == 0; i++) {
        if (*csv_name(csv, i) == '\0' || csv_find(csv, csv_name(csv, i)) < i) {
            status = reject(csv, 1, csv_name(csv, i), "columns with names, each once");
        }
    }
    return status;
}

int csv_read(Csv *csv, const char *path)
{
    size_t length;
    char *text = file_text(&length, path);
    return text != NULL ? csv_take(csv, path, text, length) : csv_unreadable(path, errno);
}

void csv_clear(Csv *csv)
{
    free(csv->path);
    free(csv->text);
    free(csv->cells);
    *csv = (Csv){0};
}

const char *csv_name(const Csv *csv, size_t column)
{
    return csv->cells[column];
}

size_t csv_find(const Csv *csv, const char *name)
{
    size_t column = 0;
    while (column < csv->columns && strcmp(csv_name(csv, column), name) != 0) {
        column++;
    }
    return column;
}

const char *csv_cell(const Csv *csv, size_t row, size_t column)
{
    return csv->cells[(row + 1) * csv->columns + column];
}

size_t csv_line(size_t row)
{
    return row + 2;
}
