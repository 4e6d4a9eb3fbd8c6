/*
 * Texts and lists of token ids, read whole and cut into tokens.
 */
#include "windows.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/text_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *path;
    char *bytes;
    size_t size;
} File;

static int unreadable(const char *path, int reason)
{
    complain_of(path, NULL, NULL, "cannot be read: %s", strerror(reason));
    return file_fault(reason);
}

/* All of it, with a NUL behind it. */
static int file_take(File *file)
{
    file->bytes = file_text(&file->size, file->path);
    return file->bytes != NULL ? 0 : unreadable(file->path, errno);
}

/* Room for as many tokens, and as many lines. */
static void make_room(Sequences *sequences, size_t tokens, size_t lines)
{
    sequences->tokens = need_zeros(tokens + 1, sizeof *sequences->tokens);
    sequences->start = need_zeros(lines + 1, sizeof *sequences->start);
    sequences->line = need_zeros(lines + 1, sizeof *sequences->line);
}

void sequences_clear(Sequences *sequences)
{
    free(sequences->tokens);
    free(sequences->start);
    free(sequences->line);
    *sequences = (Sequences){0};
}

static int complain_empty(const char *path, const char *expected)
{
    return complain_of(path, NULL, NULL, "is empty: expected %s", expected);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* Where in the file. */
typedef struct {
    size_t line, column; /* from 1 */
} Place;

static int refuse_character(const File *file, Place place, const char *text, size_t length,
                            int64_t code, const Vocabulary *vocabulary)
{
    Message message;
    Origin origin = {.file = file->path, .line = place.line};
    if (code < 0) {
        message_token(&message, text, length, "column %zu: expected UTF-8", place.column);
    } else {
        message_token(&message, text, length,
                      "U+%04llX, column %zu: expected a character of %.1000s",
                      (unsigned long long)code, place.column, vocabulary->path);
    }
    return complain_message(origin, &message);
}

static int take_text(Sequences *sequences, const File *file, const Vocabulary *vocabulary)
{
    Place place = {1, 1};
    size_t count = 0, length;
    for (size_t at = 0; at < file->size; at += length) {
        const char *text = file->bytes + at;
        int64_t code = utf8_decode(&length, text, file->size - at);
        int64_t token = code >= 0 ? vocabulary_find(vocabulary, (uint32_t)code) : -1;
        if (token < 0) {
            return refuse_character(file, place, text, length, code, vocabulary);
        }
        sequences->tokens[count++] = token;
        place = code == '\n' ? (Place){place.line + 1, 1} : (Place){place.line, place.column + 1};
    }
    sequences->count = 1;
    sequences->line[0] = 1;
    sequences->start[1] = count;
    return 0;
}

int sequences_of_text(Sequences *sequences, const char *path, const Vocabulary *vocabulary)
{
    File file = {.path = path};
    *sequences = (Sequences){0};
    int status = file_take(&file);
    status = status != 0 || file.size > 0 ? status : complain_empty(path, "at least one character");
    if (status == 0) {
        make_room(sequences, file.size, 1);
        status = take_text(sequences, &file, vocabulary);
    }
    free(file.bytes);
    return status;
}

/* ---- Token ids ------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* text [length] as an id below tokens, or -1. */
static int64_t read_id(const char *text, size_t length, size_t tokens)
{
    size_t id = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || id >= tokens) {
            return -1;
        }
        id = 10 * id + (size_t)(text[i] - '0');
    }
    return length > 0 && id < tokens ? (int64_t)id : -1;
}

/* The ids of a line [length], behind the tokens so far. */
static int take_line(Sequences *sequences, size_t *count, const char *line, size_t length,
                     Origin origin, size_t tokens)
{
    bool comma = false;
    for (size_t at = 0; at < length || comma;) {
        if (at < length && is_blank(line[at])) {
            at++;
            continue;
        }
        size_t end = at;
        while (end < length && line[end] != ',' && !is_blank(line[end])) {
            end++;
        }
        int64_t id = read_id(line + at, end - at, tokens);
        if (id < 0) {
            Message message;
            message_token(&message, line + at, end - at, "expected a token id from 0 to %zu",
                          tokens - 1);
            return complain_message(origin, &message);
        }
        sequences->tokens[(*count)++] = id;
        while (end < length && is_blank(line[end])) {
            end++;
        }
        comma = end < length && line[end] == ',';
        at = end + comma;
    }
    return 0;
}

static int take_ids(Sequences *sequences, const File *file, size_t tokens)
{
    size_t count = 0, number = 1;
    int status = 0;
    for (size_t at = 0; at < file->size && status == 0; number++) {
        const char *line = file->bytes + at, *end = memchr(line, '\n', file->size - at);
        size_t length = end != NULL ? (size_t)(end - line) : file->size - at, before = count;
        Origin origin = {.file = file->path, .line = number};
        status = take_line(sequences, &count, line, length, origin, tokens);
        if (count > before) {
            sequences->line[sequences->count++] = number;
            sequences->start[sequences->count] = count;
        }
        at += length + 1;
    }
    return status;
}

int sequences_of_ids(Sequences *sequences, const char *path, size_t tokens)
{
    File file = {.path = path};
    size_t lines = 1;
    *sequences = (Sequences){0};
    int status = file_take(&file);
    for (size_t i = 0; status == 0 && i < file.size; i++) {
        lines += file.bytes[i] == '\n';
    }
    if (status == 0) {
        make_room(sequences, file.size, lines);
        status = take_ids(sequences, &file, tokens);
    }
    status =
        status != 0 || sequences->count > 0 ? status : complain_empty(path, "a line of token ids");
    free(file.bytes);
    return status;
}
