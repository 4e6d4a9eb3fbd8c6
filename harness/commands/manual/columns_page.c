/*
 * The columns of every command's table as a page of Markdown, from the headers that the commands
 * write.
 */
#include "manual.h"

#include "../../base/message.h"
#include "../../base/text_stream.h"
#include "../../grid/grid.h"
#include "../../table/columns.h"

#include <stdlib.h>
#include <string.h>

/* The header of a command's table as it writes it, without its newline. */
static char *header_of(const CommandInfo *command)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = text_stream(&text, &size);
    const RunOptions all = {.propagation = true, .measure = true};
    command->write_header(file, &all);
    (void)text_close(file, &text);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* Commands that share a table share a section. */
static bool is_first(const CommandInfo *commands, size_t i)
{
    size_t first = 0;
    while (commands[first].write_header != commands[i].write_header) {
        first++;
    }
    return first == i;
}

static void write_title(FILE *file, const CommandInfo *commands, size_t count, size_t i)
{
    fprintf(file, "\n## `%s`", commands[i].name);
    for (size_t other = i + 1; other < count; other++) {
        if (commands[other].write_header == commands[i].write_header) {
            fprintf(file, ", `%s`", commands[other].name);
        }
    }
    fputs("\n\n| column | unit | holds |\n|---|---|---|\n", file);
}

static bool has_column(const char *header, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = header; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/* Did an earlier table have the column, with this text? */
static bool is_above(const CommandInfo *commands, size_t i, const char *name,
                     const ColumnText *text)
{
    bool above = false;
    for (size_t before = 0; before < i && !above; before++) {
        ColumnText other;
        if (commands[before].write_header != NULL &&
            column_text(&other, commands[before].name, name) &&
            strcmp(other.unit, text->unit) == 0 && strcmp(other.meaning, text->meaning) == 0) {
            char *header = header_of(&commands[before]);
            above = header != NULL && has_column(header, name);
            free(header);
        }
    }
    return above;
}

/* Of "construction, ...: its largest entry" the last part; NULL: the text has none. */
static const char *measure_of(const ColumnText *text)
{
    const char *its = strstr(text->meaning, ": its ");
    return its == NULL ? NULL : its + strlen(": its ");
}

/* Columns that stand in one row of the page, by what they share. */
typedef enum { ALONE, ABOVE, ALIKE, ONE_ERROR, ONE_MEASURE } Shared;

static Shared shared_by(const ColumnText *a, const ColumnText *b)
{
    const char *of_a = measure_of(a), *of_b = measure_of(b);
    bool errors = of_a != NULL && of_b != NULL;
    if (strcmp(a->unit, b->unit) == 0 && strcmp(a->meaning, b->meaning) == 0) {
        return ALIKE;
    }
    if (errors && of_a - a->meaning == of_b - b->meaning &&
        strncmp(a->meaning, b->meaning, (size_t)(of_a - a->meaning)) == 0) {
        return ONE_ERROR;
    }
    return errors && strcmp(a->unit, b->unit) == 0 && strcmp(of_a, of_b) == 0 ? ONE_MEASURE : ALONE;
}

/* The texts of a line of the page: those of its first column, and what further columns add. */
typedef struct {
    Shared shared;
    ColumnText last;
    char unit[96], meaning[320];
} Together;

static void append(char *text, size_t size, const char *between, const char *more)
{
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", between, more);
}

/* Takes a further column into the row; false: it stands in one of its own. */
static bool join(Together *row, const ColumnText *text, bool above)
{
    Shared shared = row->shared == ABOVE && above   ? ABOVE
                    : row->shared == ABOVE || above ? ALONE
                                                    : shared_by(&row->last, text);
    if (shared == ALONE || (row->shared != ALONE && row->shared != shared)) {
        return false;
    }
    if (shared == ONE_ERROR) {
        if (strcmp(row->last.unit, text->unit) != 0) {
            append(row->unit, sizeof row->unit, "; ", text->unit);
        }
        append(row->meaning, sizeof row->meaning, ", ", measure_of(text));
    } else if (shared == ONE_MEASURE) {
        snprintf(row->meaning, sizeof row->meaning, "the error's %s", measure_of(text));
    }
    row->shared = shared;
    row->last = *text;
    return true;
}

static Together begin(const ColumnText *text, bool above)
{
    Together row = {.shared = above ? ABOVE : ALONE, .last = *text};
    append(row.unit, sizeof row.unit, "", above ? "" : text->unit);
    append(row.meaning, sizeof row.meaning, "", above ? "as above" : text->meaning);
    return row;
}

static int write_rows(FILE *file, const CommandInfo *commands, size_t i, char *header)
{
    Together row = {.shared = ALONE};
    for (char *name = header, *next; name != NULL; name = next) {
        ColumnText text;
        next = strchr(name, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (!column_text(&text, commands[i].name, name)) {
            return complain((Origin){0}, name, "expected a text for this column of %s",
                            commands[i].name);
        }
        bool above = is_above(commands, i, name, &text), first = name == header;
        if (!first && join(&row, &text, above)) {
            fprintf(file, ", `%s`", name);
            continue;
        }
        if (!first) {
            fprintf(file, " | %s | %s |\n", row.unit, row.meaning);
        }
        row = begin(&text, above);
        fprintf(file, "| `%s`", name);
    }
    fprintf(file, " | %s | %s |\n", row.unit, row.meaning);
    return 0;
}

int columns_page_write(FILE *file, const CommandInfo *commands, size_t count)
{
    fputs(
        "# Columns\n"
        "\n"
        "Every column of every table that `headproof` writes, in order, made by `headproof manual\n"
        "columns` (`make manual`) from the tables that the program itself goes by. The\n"
        "[README](../README.md) explains the errors, [commands](commands.md) cells and statuses.\n"
        "\n"
        "A cell is blank where its column means nothing to the row. A `word` is one of those that\n"
        "`headproof help COMMAND --all` lists. A size \"as the stream\" has the unit of the "
        "model's\n"
        "own numbers. What a table shares with one before it is \"as above\".\n",
        file);
    for (size_t i = 0; i < count; i++) {
        if (commands[i].write_header == NULL || !is_first(commands, i)) {
            continue;
        }
        char *header = header_of(&commands[i]);
        write_title(file, commands, count, i);
        int status = write_rows(file, commands, i, header);
        free(header);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}
