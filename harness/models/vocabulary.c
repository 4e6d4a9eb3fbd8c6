/*
 * Lists of characters read from JSON, and characters found in them.
 */
#include "vocabulary.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/shown.h"
#include "tensor_set.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STANDARD "characters.json"

int64_t utf8_decode(size_t *length, const char *text, size_t size)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    unsigned char lead = size > 0 ? (unsigned char)text[0] : 0xFF;
    size_t more = lead < 0x80 ? 0 : lead < 0xC0 ? 4 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    *length = 1;
    if (more == 4 || lead >= 0xF8 || more >= size) {
        return -1;
    }
    uint32_t code = more == 0 ? lead : lead & (0x3FU >> more);
    for (size_t i = 1; i <= more; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < 0x80 || byte >= 0xC0) {
            return -1;
        }
        code = code << 6 | (byte & 0x3FU);
    }
    if (code < least[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        return -1;
    }
    *length = more + 1;
    return (int64_t)code;
}

static int by_code(const void *a, const void *b)
{
    uint32_t x = ((const Character *)a)->code, y = ((const Character *)b)->code;
    return x < y ? -1 : x > y;
}

int64_t vocabulary_find(const Vocabulary *vocabulary, uint32_t code)
{
    Character wanted = {.code = code};
    const Character *found =
        bsearch(&wanted, vocabulary->sorted, vocabulary->count, sizeof wanted, by_code);
    return found != NULL ? found->token : -1;
}

/* characters.json in the folder of a model's files. */
static char *beside(const char *model)
{
    char *folder = model_folder(model);
    char *path = path_beside(folder, STANDARD);
    free(folder);
    return path;
}

/* The file as JSON, or a message. */
static int read_json(json_t **list, const char *path)
{
    json_error_t error;
    errno = 0;
    FILE *file = fopen(path, "r");
    int reason = errno;
    if (file == NULL) {
        complain_of(path, NULL, NULL,
                    "cannot be read: %s: expected a list of characters (--characters)",
                    strerror(reason));
        return file_fault(reason);
    }
    *list = json_loadf(file, JSON_ALLOW_NUL, &error);
    reason = ferror(file) ? errno : 0;
    (void)fclose(file);
    if (reason != 0) {
        complain_of(path, NULL, NULL, "cannot be read: %s", strerror(reason));
        return file_fault(reason);
    }
    if (!json_is_array(*list)) {
        bool parsed = *list != NULL;
        return complain_of(path, NULL, NULL, "%s%s: expected a JSON array of characters",
                           parsed ? "another value" : "no JSON, ",
                           parsed ? "" : shown(error.text).text);
    }
    return 0;
}

/* Entry i of the list. */
static int take_character(Vocabulary *vocabulary, const json_t *list, size_t i)
{
    const json_t *entry = json_array_get(list, i);
    const char *text = json_string_value(entry);
    size_t size = text != NULL ? json_string_length(entry) : 0, length = 0;
    int64_t code = size > 0 ? utf8_decode(&length, text, size) : -1;
    Character *character = &vocabulary->characters[i];
    if (code < 0 || length != size) {
        return complain_of(vocabulary->path, NULL, NULL,
                           "entry %zu: expected a string of one character", i + 1);
    }
    memcpy(character->text, text, length);
    character->code = (uint32_t)code;
    character->token = (int64_t)i;
    return 0;
}

static int check_twice(const Vocabulary *vocabulary)
{
    for (size_t i = 1; i < vocabulary->count; i++) {
        const Character *a = &vocabulary->sorted[i - 1], *b = &vocabulary->sorted[i];
        if (a->code == b->code) {
            return complain_of(vocabulary->path, "character", a->text,
                               "tokens %lld and %lld: expected every character once",
                               (long long)(a->token < b->token ? a->token : b->token),
                               (long long)(a->token < b->token ? b->token : a->token));
        }
    }
    return 0;
}

static int take_list(Vocabulary *vocabulary, const json_t *list, size_t tokens)
{
    size_t count = json_array_size(list), bytes = count * sizeof(Character);
    int status = 0;
    if (count != tokens) {
        return complain_of(vocabulary->path, NULL, NULL,
                           "%zu characters: expected as many as the model has tokens, %zu", count,
                           tokens);
    }
    vocabulary->characters = need_zeros(count + 1, sizeof(Character));
    vocabulary->sorted = need_zeros(count + 1, sizeof(Character));
    for (size_t i = 0; i < count && status == 0; i++) {
        status = take_character(vocabulary, list, i);
    }
    if (status != 0) {
        return status;
    }
    vocabulary->count = count;
    memcpy(vocabulary->sorted, vocabulary->characters, bytes);
    qsort(vocabulary->sorted, count, sizeof(Character), by_code);
    return check_twice(vocabulary);
}

int vocabulary_read(Vocabulary *vocabulary, const char *path, const char *model, size_t tokens)
{
    json_t *list = NULL;
    *vocabulary = (Vocabulary){.path = path != NULL ? need_copy(path) : beside(model)};
    int status = read_json(&list, vocabulary->path);
    status = status != 0 ? status : take_list(vocabulary, list, tokens);
    json_decref(list);
    return status;
}

void vocabulary_clear(Vocabulary *vocabulary)
{
    free(vocabulary->characters);
    free(vocabulary->sorted);
    free(vocabulary->path);
    *vocabulary = (Vocabulary){0};
}
