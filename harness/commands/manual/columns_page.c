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

/* The header of a command's table as it writes it, without its newline; NULL: memory is short. */
static char *header_of(const CommandInfo *command)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = text_stream(&text, &size);
    const RunOptions all = {.propagation = true, .measure = true};
    int status = file == NULL ? -1 : command->write_header(file, &all);
    if (text_close(file, &text, status) != NULL) {
        text[strcspn(text, "\n")] = '\0';
    }
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

static int write_rows(FILE *file, const char *command, char *header)
{
    for (char *name = header, *next; name != NULL; name = next) {
        ColumnText text;
        next = strchr(name, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (!column_text(&text, command, name)) {
            return complain((Origin){0}, name, "expected a text for this column of %s", command);
        }
        fprintf(file, "| `%s` | %s | %s |\n", name, text.unit, text.meaning);
    }
    return 0;
}

int columns_page_write(FILE *file, const CommandInfo *commands, size_t count)
{
    fputs(
        "# Columns\n"
        "\n"
        "Every column of every table that `headproof` writes, in order. This page is made by\n"
        "`headproof manual columns` (`make manual`) from the tables that the program itself goes\n"
        "by. The errors are explained in the [README](../README.md), cells and statuses in\n"
        "[commands](commands.md).\n"
        "\n"
        "A cell is blank where its column means nothing to the row. A `word` is one of those\n"
        "that `headproof help COMMAND --all` lists. A size \"as the stream\" has the unit of the\n"
        "model's own numbers.\n",
        file);
    for (size_t i = 0; i < count; i++) {
        if (commands[i].write_header == NULL || !is_first(commands, i)) {
            continue;
        }
        char *header = header_of(&commands[i]);
        if (header == NULL) {
            return memory_fault();
        }
        write_title(file, commands, count, i);
        int status = write_rows(file, commands[i].name, header);
        free(header);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}
