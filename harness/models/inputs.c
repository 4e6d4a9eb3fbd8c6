/*
 * The inputs of a trained model: tokens chosen and combined, and the streams they embed to.
 */
#include "inputs.h"

#include "../../cases/draw.h"
#include "../../memory/need.h"
#include "../base/digest.h"
#include "../base/message.h"
#include "../base/shown.h"
#include "../base/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void inputs_allocate(Inputs *inputs, size_t count, size_t n, size_t d, bool tokens)
{
    inputs->count = count;
    inputs->n = n;
    inputs->x = need_zeros(count, n * d * sizeof *inputs->x);
    if (tokens) {
        inputs->tokens = need_zeros(count, n * sizeof *inputs->tokens);
    }
}

void inputs_embed(double *x, const ModelFile *model, const int64_t *tokens, size_t n)
{
    size_t d = model->d;
    for (size_t i = 0; i < n; i++) {
        const double *token = model->W_E + (size_t)tokens[i] * d;
        for (size_t c = 0; c < d; c++) {
            double position = model->W_pos != NULL ? model->W_pos[i * d + c] : 0;
            x[i * d + c] = token[c] + position;
        }
    }
}

void inputs_embed_all(Inputs *inputs, const ModelFile *model)
{
    size_t n = inputs->n;
    for (size_t tuple = 0; tuple < inputs->count; tuple++) {
        inputs_embed(inputs->x + tuple * n * model->d, model, inputs->tokens + tuple * n, n);
    }
}

/* The tokens that each of *n positions may take: "LIST/LIST/...", or (text NULL) the whole
 * vocabulary at every position. */
static int choice_read(ValueList **positions, size_t *n, const ModelFile *model, const char *text)
{
    Domain domain = {.kind = DOMAIN_INTEGER, .most = model->vocabulary - 1};
    char all[32];
    *n = text == NULL ? model->context : 1;
    snprintf(all, sizeof all, "0:%zu", model->vocabulary - 1);
    for (const char *c = text; c != NULL && *c != '\0'; c++) {
        *n += *c == '/';
    }
    *positions = need_zeros(*n, sizeof **positions);
    char *copy = need_copy(text != NULL ? text : all), *rest = copy;
    int status = 0;
    for (size_t i = 0; i < *n && status == 0; i++) {
        char *end = text != NULL ? strchr(rest, '/') : NULL;
        Message message;
        if (end != NULL) {
            *end = '\0';
        }
        status = values_read(&(*positions)[i], &message, &domain, rest);
        if (status != 0) {
            complain_message((Origin){.flag = "tokens"}, &message);
        }
        rest = end != NULL ? end + 1 : rest;
    }
    free(copy);
    return status;
}

static int refuse_many(const char *path)
{
    fprintf(stderr,
            "headproof: %s: more than %d token tuples: choose some with --tokens (of verify, "
            "--tokens-file too), or add a tokens or an X tensor\n",
            shown(path).text, INPUTS_MOST);
    return 2;
}

/* Every combination of what the n positions may be, the last one fastest. */
static int combine(Inputs *inputs, const ModelFile *model, const ValueList *positions, size_t n,
                   const char *path)
{
    size_t count = 1;
    for (size_t i = 0; i < n; i++) {
        count *= positions[i].count;
        if (count > INPUTS_MOST) {
            return refuse_many(path);
        }
    }
    inputs_allocate(inputs, count, n, model->d, true);
    for (size_t tuple = 0; tuple < count; tuple++) {
        size_t rest = tuple;
        for (size_t i = n; i-- > 0;) {
            const ValueList *list = &positions[i];
            inputs->tokens[tuple * n + i] = (int64_t)list->values[rest % list->count].integer;
            rest /= list->count;
        }
    }
    inputs_embed_all(inputs, model);
    return 0;
}

/* Positions of a sample: all of a table's; a number in a config may be any. */
static size_t drawn_length(const ModelFile *model)
{
    bool all = model->W_pos != NULL || model->context < INPUTS_LENGTH;
    return all ? model->context : INPUTS_LENGTH;
}

/* A sample of the vocabulary's tuples, of which there are more. */
static void draw(Inputs *inputs, const ModelFile *model, uint64_t seed)
{
    const size_t n = drawn_length(model);
    const uint64_t name = draw_hash("tokens");
    inputs_allocate(inputs, INPUTS_DRAWN, n, model->d, true);
    for (size_t i = 0, row = 0; i < INPUTS_DRAWN; row++) {
        int64_t *tuple = inputs->tokens + i * n, last = (int64_t)model->vocabulary - 1;
        for (size_t p = 0; p < n; p++) {
            double share = draw_uniform(seed, name, 0, row, p);
            int64_t token = (int64_t)(share * (double)model->vocabulary);
            tuple[p] = token < last ? token : last;
        }
        bool same = false; /* as one of the tuples before */
        for (size_t j = 0; j < i && !same; j++) {
            same = memcmp(inputs->tokens + j * n, tuple, n * sizeof *tuple) == 0;
        }
        i += !same;
    }
    inputs_embed_all(inputs, model);
}

/* How many tuples the vocabulary has over the context, as text too. */
static double tuples_there_are(char text[sizeof((Inputs *)0)->of], const ModelFile *model)
{
    double count = pow((double)model->vocabulary, (double)drawn_length(model));
    bool shown = count < 1e12;
    snprintf(text, sizeof((Inputs *)0)->of, shown ? "%.0f" : "%.0f^%zu",
             shown ? count : (double)model->vocabulary, drawn_length(model));
    return count;
}

static int choose(Inputs *inputs, const ModelFile *model, const char *path, const char *text,
                  uint64_t seed)
{
    ValueList *positions;
    size_t n;
    bool asked = text != NULL;
    text = asked && strcmp(text, "all") == 0 ? NULL : text;
    if (model->W_E == NULL) {
        fprintf(stderr, "headproof: %s: no inputs: expected a tensor X, or embed.W_E%s\n",
                shown(path).text, text == NULL ? " with tokens" : "");
        return 2;
    }
    if (text == NULL && model->context == 0) {
        fprintf(
            stderr,
            "headproof: %s: no inputs: expected a tensor tokens, pos_embed.W_pos, or --tokens (of "
            "verify, --tokens-file)\n",
            shown(path).text);
        return 2;
    }
    if (!asked && tuples_there_are(inputs->of, model) > INPUTS_DRAWN) {
        draw(inputs, model, seed);
        return 0;
    }
    if (text == NULL && pow((double)model->vocabulary, (double)model->context) > INPUTS_MOST) {
        return refuse_many(path); /* lists of all their tokens may be larger than memory */
    }
    *inputs->of = '\0';
    int status = choice_read(&positions, &n, model, text);
    bool fits = model->context == 0 || n <= model->context;
    status = status != 0 ? status
             : !fits ? complain((Origin){.flag = "tokens"}, text, "expected at most %zu positions",
                                model->context)
                     : combine(inputs, model, positions, n, path);
    for (size_t i = 0; i < n; i++) {
        values_clear(&positions[i]);
    }
    free(positions);
    return status;
}

int inputs_make(Inputs *inputs, const ModelFile *model, const char *path, const char *choice,
                uint64_t seed)
{
    *inputs = (Inputs){0};
    if (choice == NULL && model->X != NULL) {
        inputs_allocate(inputs, 1, model->rows, model->d, false);
        memcpy(inputs->x, model->X, model->rows * model->d * sizeof *inputs->x);
        return 0;
    }
    if (choice == NULL && model->tokens != NULL) {
        inputs_allocate(inputs, model->tuples, model->length, model->d, true);
        memcpy(inputs->tokens, model->tokens,
               model->tuples * model->length * sizeof *inputs->tokens);
        inputs_embed_all(inputs, model);
        return 0;
    }
    return choose(inputs, model, path, choice, seed);
}

uint64_t inputs_digest(const Inputs *inputs)
{
    if (inputs->from == NULL) {
        return 0;
    }
    size_t tokens = inputs->count * inputs->n;
    uint64_t digest = digest_bytes(DIGEST_START, inputs->tokens, tokens * sizeof *inputs->tokens);
    digest = digest_bytes(digest, inputs->from, inputs->count * sizeof *inputs->from);
    return digest_bytes(digest, inputs->next, inputs->count * sizeof *inputs->next);
}

int inputs_take_shard(Inputs *inputs, size_t d, size_t shard, size_t shards)
{
    size_t kept = 0;
    if (shards > inputs->count) {
        char text[64];
        snprintf(text, sizeof text, "%zu/%zu", shard, shards);
        return complain((Origin){.flag = "shard"}, text,
                        "expected at most %zu parts: a part an input", inputs->count);
    }
    for (size_t i = shard - 1; i < inputs->count; i += shards, kept++) {
        memmove(inputs->x + kept * inputs->n * d, inputs->x + i * inputs->n * d,
                inputs->n * d * sizeof *inputs->x);
        if (inputs->tokens != NULL) {
            memmove(inputs->tokens + kept * inputs->n, inputs->tokens + i * inputs->n,
                    inputs->n * sizeof *inputs->tokens);
        }
        if (inputs->from != NULL) {
            inputs->from[kept] = inputs->from[i];
            inputs->next[kept] = inputs->next[i];
        }
    }
    inputs->count = kept;
    inputs->shard = shard;
    inputs->shards = shards;
    return 0;
}

size_t inputs_number(const Inputs *inputs, size_t i)
{
    return inputs->shards > 1 ? i * inputs->shards + inputs->shard : i + 1;
}

void inputs_clear(Inputs *inputs)
{
    free(inputs->x);
    free(inputs->tokens);
    free(inputs->from);
    free(inputs->next);
    *inputs = (Inputs){0};
}
