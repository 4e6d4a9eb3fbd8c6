/*
 * Lists of token ids read whole, and cut into windows, which are inputs.
 */
#include "inputs.h"

#include "../../memory/need.h"
#include "../base/csv_read.h"
#include "../base/message.h"
#include "../base/shown.h"
#include "../base/text_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sequences of a model's tokens, and how they are cut.  Sequence s is tokens[start[s]] up to
 * start[s + 1], from a line of the file. */
typedef struct {
    const ModelFile *model;
    const WindowsAsked *asked;
    int64_t *tokens;
    size_t *start, *line; /* [count + 1], [count] */
    size_t count;
    size_t n, stride;
} Cut;

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

/* The ids of a line [length], as a sequence if there are any. */
static int take_line(Cut *cut, const char *line, size_t length, size_t number)
{
    bool comma = false;
    size_t vocabulary = cut->model->vocabulary, first = cut->start[cut->count], count = first;
    for (size_t at = 0; at < length || comma;) {
        if (at < length && is_blank(line[at])) {
            at++;
            continue;
        }
        size_t end = at;
        while (end < length && line[end] != ',' && !is_blank(line[end])) {
            end++;
        }
        int64_t id = read_id(line + at, end - at, vocabulary);
        if (id < 0) {
            Message message;
            message_token(&message, line + at, end - at, "expected a token id from 0 to %zu",
                          vocabulary - 1);
            return complain_message((Origin){.file = cut->asked->ids, .line = number}, &message);
        }
        cut->tokens[count++] = id;
        while (end < length && is_blank(line[end])) {
            end++;
        }
        comma = end < length && line[end] == ',';
        at = end + comma;
    }
    if (count > first) {
        cut->line[cut->count++] = number;
        cut->start[cut->count] = count;
    }
    return 0;
}

/* Refuses, by line and token, what is no id of the model's. */
static int read_sequences(Cut *cut)
{
    const char *path = cut->asked->ids;
    size_t size;
    char *bytes = file_text(&size, path);
    if (bytes == NULL) {
        int reason = errno;
        complain_of(path, NULL, NULL, "cannot be read: %s", strerror(reason));
        return file_fault(reason);
    }
    size = csv_plain(bytes, size);
    size_t lines = text_lines(bytes, size) + 1;
    cut->tokens = need_zeros(size + 1, sizeof *cut->tokens);
    cut->start = need_zeros(lines + 1, sizeof *cut->start);
    cut->line = need_zeros(lines + 1, sizeof *cut->line);
    int status = 0;
    for (size_t at = 0, number = 1; at < size && status == 0; number++) {
        const char *line = bytes + at, *end = memchr(line, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - line) : size - at;
        status = take_line(cut, line, length, number);
        at += length + 1;
    }
    free(bytes);
    return status != 0 || cut->count > 0
               ? status
               : complain_of(path, NULL, NULL, "is empty: expected a line of token ids");
}

static size_t windows_of(size_t length, const Cut *cut)
{
    return length <= cut->n ? 1 : 1 + (length - cut->n + cut->stride - 1) / cut->stride;
}

/* The window and the stride, or a message. */
static int decide_cut(Cut *cut)
{
    const ModelFile *model = cut->model;
    const WindowsAsked *asked = cut->asked;
    size_t first = cut->start[1], most = model->context > 0 ? model->context : first;
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
    const char *file = cut->asked->ids;
    const double room = cut->asked->room;
    const double gib = 1024.0 * 1024 * 1024;
    *count = 0;
    for (size_t s = 0; s < cut->count; s++) {
        size_t length = cut->start[s + 1] - cut->start[s];
        if (length < cut->n) {
            fprintf(stderr, "%s:%zu: %zu token%s: expected %zu or more, the window (--window)\n",
                    shown(file).text, cut->line[s], length, length == 1 ? "" : "s", cut->n);
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
    const size_t *start = cut->start + s, length = start[1] - start[0], n = cut->n;
    const int64_t *tokens = cut->tokens + start[0];
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
    for (size_t s = 0; s < cut->count; s++) {
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
    int status = read_sequences(&cut);
    status = status != 0 ? status : cut_sequences(inputs, &cut);
    free(cut.tokens);
    free(cut.start);
    free(cut.line);
    return status;
}
