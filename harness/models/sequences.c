/*
 * Lists of token ids, read whole.
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

void sequences_clear(Sequences *sequences)
{
    free(sequences->tokens);
    free(sequences->start);
    free(sequences->line);
    *sequences = (Sequences){0};
}

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

static int take_ids(Sequences *sequences, const char *path, const char *bytes, size_t size,
                    size_t tokens)
{
    size_t count = 0, number = 1;
    for (size_t at = 0; at < size; number++) {
        const char *line = bytes + at, *end = memchr(line, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - line) : size - at, before = count;
        Origin origin = {.file = path, .line = number};
        int status = take_line(sequences, &count, line, length, origin, tokens);
        if (status != 0) {
            return status;
        }
        if (count > before) {
            sequences->line[sequences->count++] = number;
            sequences->start[sequences->count] = count;
        }
        at += length + 1;
    }
    return sequences->count > 0
               ? 0
               : complain_of(path, NULL, NULL, "is empty: expected a line of token ids");
}

int sequences_of_ids(Sequences *sequences, const char *path, size_t tokens)
{
    size_t size, lines = 1;
    *sequences = (Sequences){0};
    char *bytes = file_text(&size, path);
    if (bytes == NULL) {
        int reason = errno;
        complain_of(path, NULL, NULL, "cannot be read: %s", strerror(reason));
        return file_fault(reason);
    }
    for (size_t i = 0; i < size; i++) {
        lines += bytes[i] == '\n';
    }
    sequences->tokens = need_zeros(size + 1, sizeof *sequences->tokens);
    sequences->start = need_zeros(lines + 1, sizeof *sequences->start);
    sequences->line = need_zeros(lines + 1, sizeof *sequences->line);
    int status = take_ids(sequences, path, bytes, size, tokens);
    free(bytes);
    return status;
}
