/*
 * Case files read line by line, strictly, with the line of every fault.
 */
#include "flags.h"
#include "settings.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/shown.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* inih cuts longer section names without a word. */
#define NAME_MOST 49
/* inih's own buffer holds at least this much, in every version. */
#define LINE_MOST 199
/* inih's answer when memory is short. */
#define INI_NO_MEMORY (-2)

typedef struct {
    FILE *file;
    Origin origin; /* the file, and the line being read */
    const CommandInfo *command;
    SectionList *list;
    size_t first; /* sections of this file: list->sections[first ..] */
    bool has_key; /* in the section being read */
    bool pending; /* a line was handed to inih that should have been a key */
    char pending_text[LINE_MOST + 1];
    int status;
} Reader;

static void fail(Reader *reader, const char *token, const char *expected)
{
    complain(reader->origin, token, "expected %s", expected);
    reader->status = 2;
}

static Section *current(Reader *reader)
{
    SectionList *list = reader->list;
    return list->count > reader->first ? &list->sections[list->count - 1] : NULL;
}

/* Refuses an empty section, where the next one or the file's end ends it. */
static void end_section(Reader *reader)
{
    Section *section = current(reader);
    if (section != NULL && !reader->has_key) {
        reader->origin.line = section->origin.line;
        fail(reader, section->name, "a section with at least one key");
    }
}

static void begin_section(Reader *reader, const char *line)
{
    size_t length = strcspn(line, "]"), rest = length + 1;
    if (line[length] == '\0' || line[rest + strspn(line + rest, " \t\r")] != '\0') {
        fail(reader, line, "[name] and nothing after it");
        return;
    }
    if (length < 2 || length - 1 > NAME_MOST) {
        fail(reader, line, "a section name of 1 to 49 characters");
        return;
    }
    size_t line_number = reader->origin.line;
    end_section(reader);
    if (reader->status != 0) {
        return;
    }
    char name[NAME_MOST + 1] = "";
    memcpy(name, line + 1, length - 1);
    for (size_t i = reader->first; i < reader->list->count; i++) {
        if (strcmp(reader->list->sections[i].name, name) == 0) {
            fail(reader, line, "every section once");
            return;
        }
    }
    reader->origin.line = line_number;
    reader->has_key = false;
    sections_add(reader->list, name, reader->origin);
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

/* Rejects what inih would let through. */
static void check_line(Reader *reader, char *line)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    if (reader->origin.line == 1 && strncmp(line, byte_order_mark, 3) == 0) {
        memmove(line, line + 3, strlen(line + 3) + 1);
    }
    cut_comment(line);
    size_t blanks = strspn(line, " \t\r\f\v");
    if (line[blanks] == '\0') {
        return;
    }
    if (blanks > 0) {
        fail(reader, line + blanks, "a line that begins without blanks");
    } else if (*line == '[') {
        begin_section(reader, line);
    } else {
        reader->pending = true;
        snprintf(reader->pending_text, sizeof reader->pending_text, "%s", line);
    }
}

static void check_pending(Reader *reader)
{
    if (reader->pending) {
        fail(reader, reader->pending_text, "[section] or key = value");
    }
}

/* One line into buffer, without its newline; false at the end of the file or after a fault. */
static bool read_line(Reader *reader, char *buffer, size_t size)
{
    size_t length = 0;
    int c = getc(reader->file);
    if (c == EOF) {
        if (ferror(reader->file)) {
            fprintf(stderr, "%s: cannot be read: %s\n", shown(reader->origin.file).text,
                    strerror(errno));
            reader->status = file_fault(errno);
        }
        return false;
    }
    reader->origin.line++;
    for (; c != EOF && c != '\n'; c = getc(reader->file)) {
        buffer[length] = '\0';
        if (c == '\0') {
            fail(reader, buffer, "text, found a NUL byte after it (a model is --weights FILE)");
            return false;
        }
        if (length == LINE_MOST || length + 1 == size) {
            char expected[64];
            snprintf(expected, sizeof expected, "a line of at most %d characters", LINE_MOST);
            fail(reader, buffer, expected);
            return false;
        }
        buffer[length++] = (char)c;
    }
    buffer[length] = '\0';
    return true;
}

/* inih's reader, as fgets. */
static char *next_line(char *buffer, int size, void *context)
{
    Reader *reader = context;
    if (reader->status == 0) {
        check_pending(reader);
    }
    if (reader->status != 0 || !read_line(reader, buffer, (size_t)size)) {
        return NULL;
    }
    check_line(reader, buffer);
    return reader->status == 0 ? buffer : NULL;
}

static int unknown_key(const Reader *reader, const char *name)
{
    const char *names[AXIS_COUNT], *instead = flag_gone(name);
    if (instead != NULL) {
        return complain(reader->origin, name, "this key is gone: %s", instead);
    }
    axis_names(names);
    const char *nearest = nearest_name(name, strlen(name), names, AXIS_COUNT);
    return complain(reader->origin, name, "expected the name of an axis (%s%s%s)",
                    nearest ? "did you mean " : "see headproof help ",
                    nearest ? nearest : reader->command->name, nearest ? "?" : "");
}

static int read_key(void *context, const char *section_name, const char *name, const char *text)
{
    Reader *reader = context;
    Section *section = current(reader);
    (void)section_name;
    reader->pending = false;
    if (section == NULL) {
        fail(reader, name, "a [section] before the first key");
        return 0;
    }
    Axis axis = axis_find(name);
    if (axis == AXIS_COUNT) {
        reader->status = unknown_key(reader, name);
        return 0;
    }
    reader->has_key = true;
    reader->status = setting_read(section, axis, reader->command, reader->origin, text);
    return reader->status == 0;
}

static void read_sections(Reader *reader)
{
    int fault = ini_parse_stream(next_line, reader, read_key, reader);
    if (reader->status == 0) {
        check_pending(reader);
    }
    if (reader->status == 0) {
        end_section(reader);
    }
    if (reader->status == 0 && current(reader) == NULL) {
        reader->origin.line = reader->origin.line > 0 ? reader->origin.line : 1;
        fail(reader, "", "at least one [section]");
    }
    if (reader->status == 0 && fault == INI_NO_MEMORY) {
        need_is_short();
    }
    if (reader->status == 0 && fault != 0) {
        fprintf(stderr, "%s:%d: cannot be parsed\n", shown(reader->origin.file).text, fault);
        reader->status = 2;
    }
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
    read_sections(&reader);
    /* Only read from: nothing is lost if closing fails. */
    (void)fclose(reader.file);
    return reader.status;
}
