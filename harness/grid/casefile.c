/*
 * Case files read line by line, strictly, with the line of every fault.
 */
#include "flags.h"
#include "settings.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/shown.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 49
#define LINE_MOST 199

typedef struct {
    FILE *file;
    Origin origin; /* the file, and the line being read */
    const CommandInfo *command;
    SectionList *list;
    size_t first; /* sections of this file: list->sections[first ..] */
    bool has_key; /* in the section being read */
} Reader;

static int fail(const Reader *reader, const char *token, const char *expected)
{
    return complain(reader->origin, token, "expected %s", expected);
}

static Section *current(const Reader *reader)
{
    SectionList *list = reader->list;
    return list->count > reader->first ? &list->sections[list->count - 1] : NULL;
}

/* Refuses an empty section, where the next one or the file's end ends it. */
static int end_section(const Reader *reader)
{
    Section *section = current(reader);
    if (section == NULL || reader->has_key) {
        return 0;
    }
    return complain(section->origin, section->name, "expected a section with at least one key");
}

static int begin_section(Reader *reader, const char *line)
{
    size_t length = strcspn(line, "]"), rest = length + 1;
    if (line[length] == '\0' || line[rest + strspn(line + rest, " \t\r")] != '\0') {
        return fail(reader, line, "[name] and nothing after it");
    }
    if (length < 2 || length - 1 > NAME_MOST) {
        return fail(reader, line, "a section name of 1 to 49 characters");
    }
    if (end_section(reader) != 0) {
        return 2;
    }
    char name[NAME_MOST + 1] = "";
    memcpy(name, line + 1, length - 1);
    for (size_t i = reader->first; i < reader->list->count; i++) {
        if (strcmp(reader->list->sections[i].name, name) == 0) {
            return fail(reader, line, "every section once");
        }
    }
    reader->has_key = false;
    sections_add(reader->list, name, reader->origin);
    return 0;
}

/* Cuts the blanks at the end of text [length]. */
static void cut_blanks(char *text, size_t length)
{
    while (length > 0 && isspace((unsigned char)text[length - 1])) {
        length--;
    }
    text[length] = '\0';
}

/* key = value, or key: value. */
static int read_key(Reader *reader, char *line)
{
    size_t length = strcspn(line, "=:");
    Section *section = current(reader);
    if (line[length] == '\0') {
        return fail(reader, line, "[section] or key = value");
    }
    char *text = line + length + 1;
    text += strspn(text, " \t\r\f\v");
    cut_blanks(text, strlen(text));
    cut_blanks(line, length);
    if (section == NULL) {
        return fail(reader, line, "a [section] before the first key");
    }
    Axis axis = axis_find(line);
    if (axis == AXIS_COUNT) {
        return flag_unknown(reader->origin, line, line, reader->command);
    }
    reader->has_key = true;
    return setting_read(section, axis, reader->command, reader->origin, text);
}

/* Cuts a comment that begins the line or follows a blank. */
static void cut_comment(char *line)
{
    for (char *c = line; *c != '\0'; c++) {
        if ((*c == '#' || *c == ';') && (c == line || c[-1] == ' ' || c[-1] == '\t')) {
            *c = '\0';
            return;
        }
    }
}

static int take_line(Reader *reader, char *line)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    if (reader->origin.line == 1 && strncmp(line, byte_order_mark, 3) == 0) {
        line += 3;
    }
    cut_comment(line);
    size_t blanks = strspn(line, " \t\r\f\v");
    if (line[blanks] == '\0') {
        return 0;
    }
    if (blanks > 0) {
        return fail(reader, line + blanks, "a line that begins without blanks");
    }
    return *line == '[' ? begin_section(reader, line) : read_key(reader, line);
}

/* Reads and takes a line, if *more are there. */
static int read_line(Reader *reader, bool *more)
{
    char line[LINE_MOST + 1];
    size_t length = 0;
    int c = getc(reader->file);
    *more = c != EOF;
    if (c == EOF && ferror(reader->file)) {
        int reason = errno;
        fprintf(stderr, "%s: cannot be read: %s\n", shown(reader->origin.file).text,
                strerror(reason));
        return file_fault(reason);
    }
    reader->origin.line += *more;
    for (; c != EOF && c != '\n'; c = getc(reader->file)) {
        line[length] = '\0';
        if (c == '\0') {
            return fail(reader, line,
                        "text, found a NUL byte after it (a model is --weights FILE)");
        }
        if (length == LINE_MOST) {
            return complain(reader->origin, line, "expected a line of at most %d characters",
                            LINE_MOST);
        }
        line[length++] = (char)c;
    }
    line[length] = '\0';
    return take_line(reader, line);
}

int casefile_read(SectionList *list, const CommandInfo *command, const char *path)
{
    Reader reader = {.origin = {.file = path}, .command = command, .list = list};
    reader.first = list->count;
    reader.file = fopen(path, "r");
    if (reader.file == NULL) {
        int reason = errno;
        fprintf(stderr, "%s: cannot be opened: %s\n", shown(path).text, strerror(reason));
        return file_fault(reason);
    }
    int status = 0;
    for (bool more = true; more && status == 0;) {
        status = read_line(&reader, &more);
    }
    if (status == 0 && current(&reader) == NULL) {
        reader.origin.line += reader.origin.line == 0;
        status = fail(&reader, "", "at least one [section]");
    }
    status = status != 0 ? status : end_section(&reader);
    /* Only read from: nothing is lost if closing fails. */
    (void)fclose(reader.file);
    return status;
}
