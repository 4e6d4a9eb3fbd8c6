/*
 * Lists of token ids read whole, and cut into windows, which are inputs.
 */
#include "inputs.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/shown.h"
#include "../base/text_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sequence s is tokens[start[s]] up to start[s + 1], from a line of the file. */
typedef struct {
    int64_t *tokens;
    size_t *start, *line; /* [count + 1], [count] */
    size_t count;
} Sequences;

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

/* Refuses, by line and token, what is no id below `tokens`. */
static int read_sequences(Sequences *sequences, const char *path, size_t tokens)
{
    size_t size;
    char *bytes = file_text(&size, path);
    if (bytes == NULL) {
        int reason = errno;
        complain_of(path, NULL, NULL, "cannot be read: %s", strerror(reason));
        return file_fault(reason);
    }
    size_t lines = text_lines(bytes, size) + 1;
    sequences->tokens = need_zeros(size + 1, sizeof *sequences->tokens);
    sequences->start = need_zeros(lines + 1, sizeof *sequences->start);
    sequences->line = need_zeros(lines + 1, sizeof *sequences->line);
    int status = take_ids(sequences, path, bytes, size, tokens);
    free(bytes);
    return status;
}

/* The model, and how its sequences are cut. */
typedef struct {
    const ModelFile *model;
    const WindowsAsked *asked;
    Sequences sequences;
    size_t n, stride;
} Cut;

static size_t windows_of(size_t length, const Cut *cut)
{
    return length <= cut->n ? 1 : 1 + (length - cut->n + cut->stride - 1) / cut->stride;
}

/* The window and the stride, or a message. */
static int decide_cut(Cut *cut)
{
    const ModelFile *model = cut->model;
    const WindowsAsked *asked = cut->asked;
    size_t first = cut->sequences.start[1], most = model->context > 0 ? model->context : first;
    char text[32];
    if (asked->window > most) {
        snprintf(text, sizeof text, "%zu", asked->window);
        return complain((Origin){.flag = "window"}, text,
                        model->context > 0 ? "expected at most %zu, the context length"
                                           : "expected at most %zu, the tokens there are",
                        most);
    }
    cut->n = asked->window > 0 ? asked->window : most;
    cut->n = cut->n < first ? cut->n : first;
    cut->stride = asked->stride > 0 ? asked->stride : cut->n;
    if (asked->stride > cut->n) {
        snprintf(text, sizeof text, "%zu", asked->stride);
        return complain((Origin){.flag = "stride"}, text, "expected at most %zu, the window",
                        cut->n);
    }
    return 0;
}

/* *count windows of all sequences, if none is too short and their streams fit. */
static int count_windows(size_t *count, const Cut *cut)
{
    const Sequences *sequences = &cut->sequences;
    const char *file = cut->asked->ids;
    const double room = cut->asked->room;
    const double gib = 1024.0 * 1024 * 1024;
    *count = 0;
    for (size_t s = 0; s < sequences->count; s++) {
        size_t length = sequences->start[s + 1] - sequences->start[s];
        if (length < cut->n) {
            fprintf(stderr, "%s:%zu: %zu token%s: expected %zu or more, the window (--window)\n",
                    shown(file).text, sequences->line[s], length, length == 1 ? "" : "s", cut->n);
            return 2;
        }
        *count += windows_of(length, cut);
    }
    double bytes = (double)*count * (double)cut->n * (double)(cut->model->d + 1) * sizeof(double);
    if (*count > INPUTS_MOST || bytes > room) {
        fprintf(stderr,
                "headproof: %s: %zu windows need %.3g GiB, %.3g GiB may be used, and at most %d: "
                "expected fewer tokens, or a longer --window or --stride\n",
                shown(file).text, *count, bytes / gib, room / gib, INPUTS_MOST);
        return 2;
    }
    return 0;
}

/* The windows of sequence s, from input `at` on. */
static void cut_sequence(Inputs *inputs, size_t *at, const Cut *cut, size_t s)
{
    const size_t *start = cut->sequences.start + s, length = start[1] - start[0], n = cut->n;
    const int64_t *tokens = cut->sequences.tokens + start[0];
    size_t done = 0; /* positions that a window has had */
    for (size_t w = 0; w < windows_of(length, cut); w++, ++*at) {
        size_t last = length - n, begin = w * cut->stride;
        if (begin > last) {
            inputs->moved = begin - last > inputs->moved ? begin - last : inputs->moved;
            begin = last;
        }
        memcpy(inputs->tokens + *at * n, tokens + begin, n * sizeof *tokens);
        inputs->from[*at] = done - begin;
        done = begin + n;
        inputs->next[*at] = done < length ? tokens[done] : -1;
    }
}

static int cut_sequences(Inputs *inputs, Cut *cut)
{
    size_t count, at = 0;
    int status = decide_cut(cut);
    status = status != 0 ? status : count_windows(&count, cut);
    if (status != 0) {
        return status;
    }
    inputs_allocate(inputs, count, cut->n, cut->model->d, true);
    inputs->stride = cut->stride;
    inputs->from = need_zeros(count, sizeof *inputs->from);
    inputs->next = need_zeros(count, sizeof *inputs->next);
    for (size_t s = 0; s < cut->sequences.count; s++) {
        cut_sequence(inputs, &at, cut, s);
    }
    inputs_embed_all(inputs, cut->model);
    return 0;
}

int windows_read(Inputs *inputs, const ModelFile *model, const char *path,
                 const WindowsAsked *asked)
{
    Cut cut = {.model = model, .asked = asked};
    *inputs = (Inputs){0};
    if (model->W_E == NULL) {
        fprintf(stderr, "headproof: %s: no inputs: expected embed.W_E with tokens\n",
                shown(path).text);
        return 2;
    }
    int status = read_sequences(&cut.sequences, asked->ids, model->vocabulary);
    status = status != 0 ? status : cut_sequences(inputs, &cut);
    free(cut.sequences.tokens);
    free(cut.sequences.start);
    free(cut.sequences.line);
    return status;
}
