/*
 * Tables as JSON: an array of objects, or an object a line.
 *
 * A cell is a number where a reader of doubles gets its value, with the digits that CSV has; a
 * blank one is null; all else is a string: words, nan, inf, numbers outside the doubles' range
 * ("1.5e-868"), integers from 2^53 on, and "<1.1e-16" of what is only an upper bound.
 */
#include "format.h"

#include "../base/shown.h"

#include <errno.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Integers below this are doubles, and no other integer is rounded to them. */
#define INTEGER_END 9007199254740992.0

/* Does a double hold the number, but for rounding its digits?  errno stays: it may be a write's. */
static bool double_holds(const char *text)
{
    int reason = errno;
    double value = fabs(strtod(text, NULL));
    errno = reason;
    if (text[strspn(text, "-0123456789")] == '\0') {
        return value < INTEGER_END;
    }
    bool zero = text[strspn(text, "-0.")] == '\0' || strchr("eE", text[strspn(text, "-0.")]);
    return isfinite(value) && (zero || value >= DBL_MIN);
}

/* before and the text as a string. */
static void write_string(FILE *file, const char *before, const char *text)
{
    char *seen = shown_copy(SHOWN_JSON, text);
    json_t *string = json_sprintf("%s%s", before, seen);
    (void)json_dumpf(string, file, JSON_ENCODE_ANY); /* the file tells */
    json_decref(string);
    free(seen);
}

static void write_object(const FormatTable *table)
{
    for (size_t i = 0; i < table->count; i++) {
        fputs(i == 0 ? "{" : ", ", table->file);
        const FormatCell *cell = &table->cells[i];
        write_string(table->file, "", cell->name);
        fputs(": ", table->file);
        bool number = !cell->words && !cell->bound && format_is_number(cell->text) &&
                      double_holds(cell->text);
        if (number || *cell->text == '\0') {
            fputs(number ? cell->text : "null", table->file);
        } else {
            write_string(table->file, cell->bound ? "<" : "", cell->text);
        }
    }
    putc('}', table->file);
}

static void array_row(FormatTable *table)
{
    fputs(table->rows == 0 ? "[\n" : ",\n", table->file);
    write_object(table);
}

static void array_end(FormatTable *table)
{
    fputs(table->rows == 0 ? "[\n]\n" : "\n]\n", table->file);
}

const Format format_json = {.name = "json", .row = array_row, .end = array_end};

static void lines_row(FormatTable *table)
{
    write_object(table);
    putc('\n', table->file);
}

const Format format_jsonl = {.name = "jsonl", .row = lines_row};
