/*
 * Sequences of tokens cut into windows, which are inputs.
 */
#include "windows.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    int status = sequences_of_ids(&cut.sequences, asked->ids, model->vocabulary);
    status = status != 0 ? status : cut_sequences(inputs, &cut);
    sequences_clear(&cut.sequences);
    return status;
}
