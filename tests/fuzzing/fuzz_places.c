/*
 * Places in inputs: what hangs on the build and the machine is filled in when an input is run, so
 * that a committed corpus fits them all.
 */
#include "fuzz.h"

#include "../../harness/base/info.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const fuzz_small_sweep[] = {
    "--construction", "silu",         "--n",          "2",   "--d",       "1",
    "--omega",        "1:3",          "--arithmetic", "f64", "--threads", "1",
    "--quiet",        (const char *)0};

enum { WORDS_MOST = 12, WORD_TEXT = 256 };

/* Line `index` of the table; NULL: there is none. */
static const char *find_line(const Fuzz *fuzz, size_t index, size_t *length)
{
    const char *line = fuzz->saved[0].rows.bytes;
    for (; index > 0 && line != NULL; index--) {
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    *length = line == NULL ? 0 : strcspn(line, "\n");
    return *length == 0 ? NULL : line;
}

/* The value that words "NAME=TEXT" have for a name, or NULL. */
static const char *find_value(char *const *words, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(words[i], name, length) == 0 && words[i][length] == '=') {
            return words[i] + length + 1;
        }
    }
    return NULL;
}

/* Row `index` with the cells that words change. */
static void put_row(FILE *out, const Fuzz *fuzz, size_t index, char *const *words, size_t count)
{
    size_t left, named;
    const char *name = find_line(fuzz, 0, &named), *cell = find_line(fuzz, index, &left);
    while (cell != NULL) {
        size_t width = strcspn(name, ",\n"), length = strcspn(cell, ",\n");
        const char *value = find_value(words, count, name, width);
        if (value != NULL) {
            fputs(value, out);
        } else {
            fwrite(cell, 1, length, out);
        }
        bool more = cell[length] == ',' && name[width] == ',';
        fputs(more ? "," : "", out);
        cell = more ? cell + length + 1 : NULL;
        name += width + 1;
    }
}

/* A sidecar with the keys that words change. */
static void put_sidecar(FILE *out, const FuzzText *sidecar, size_t layout, char *const *words,
                        size_t count)
{
    json_t *object = json_loadb(sidecar->bytes, sidecar->size, 0, NULL);
    fuzz_need(object != NULL, "the small sweep's sidecar");
    for (size_t i = 0; i < count; i++) {
        char *value = strchr(words[i], '=');
        json_t *json = value == NULL ? NULL : json_loads(value + 1, JSON_DECODE_ANY, NULL);
        if (value != NULL) {
            *value = '\0';
            (void)(json == NULL ? json_object_del(object, words[i])
                                : json_object_set_new(object, words[i], json));
            *value = '=';
        }
    }
    fuzz_need(json_dumpf(object, out, layout) == 0, "json_dumpf");
    json_decref(object);
}

static bool put_fact(FILE *out, const char *name)
{
    json_t *facts = facts_read(), *text = json_object_get(facts, name);
    bool there = text != NULL;
    fuzz_need(!there || json_dumpf(text, out, JSON_ENCODE_ANY) == 0, "json_dumpf");
    json_decref(facts);
    return there;
}

/* False: it is no place. */
static bool put_place(FILE *out, const Fuzz *fuzz, char *const *words, size_t count)
{
    size_t length, index = count > 1 ? strtoul(words[1], NULL, 10) : 0;
    const char *header = find_line(fuzz, 0, &length);
    if (strcmp(words[0], "table") == 0) {
        fwrite(fuzz->saved[0].rows.bytes, 1, fuzz->saved[0].rows.size, out);
    } else if (strcmp(words[0], "header") == 0) {
        fwrite(header, 1, length, out);
    } else if (strcmp(words[0], "row") == 0 && index >= 1 && index <= FUZZ_ROWS) {
        put_row(out, fuzz, index, words + 2, count - 2);
    } else if (strcmp(words[0], "sidecar") == 0) {
        size_t shard = index < FUZZ_SAVED ? index : 0;
        put_sidecar(out, &fuzz->saved[shard].sidecar, JSON_INDENT(1), words + 1, count - 1);
        fputc('\n', out);
    } else if (strcmp(words[0], "journal") == 0) {
        put_sidecar(out, &fuzz->saved[0].sidecar, JSON_COMPACT, words + 1, count - 1);
    } else {
        return strcmp(words[0], "fact") == 0 && count > 1 && put_fact(out, words[1]);
    }
    return true;
}

/* The place at the beginning of text: its length, both @ included; 0: there is none. */
static size_t fill_place(FILE *out, const Fuzz *fuzz, const char *text, size_t size)
{
    char copy[WORD_TEXT], *words[WORDS_MOST], *word;
    size_t length = 1, count = 0;
    while (length < size && length < sizeof copy && text[length] != '@' && text[length] != '\n') {
        length++;
    }
    if (length == 1 || length >= size || length >= sizeof copy || text[length] != '@') {
        return 0;
    }
    memcpy(copy, text + 1, length - 1);
    copy[length - 1] = '\0';
    char *rest = copy;
    while (count < WORDS_MOST && (word = strtok_r(rest, " ", &rest)) != NULL) {
        words[count++] = word;
    }
    return count > 0 && put_place(out, fuzz, words, count) ? length + 1 : 0;
}

FuzzText fuzz_fill(const Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    FuzzText text;
    const char *input = (const char *)bytes;
    FILE *out = open_memstream(&text.bytes, &text.size);
    fuzz_need(out != NULL, "open_memstream");
    for (size_t i = 0; i < size; i++) {
        size_t length = 0;
        if (fuzz->saved[0].rows.bytes != NULL && input[i] == '@') {
            length = fill_place(out, fuzz, input + i, size - i);
        }
        if (length > 0) {
            i += length - 1;
        } else {
            fputc(input[i], out);
        }
    }
    fuzz_need(fclose(out) == 0, "open_memstream");
    return text;
}

bool fuzz_next_part(FuzzParts *parts, const char *const *names)
{
    const char *line = parts->next;
    size_t left = (size_t)(parts->end - line);
    const char *newline = memchr(line, '\n', left);
    if (left < 3 || strncmp(line, "== ", 3) != 0 || newline == NULL) {
        return false;
    }
    parts->name = NULL;
    for (; *names != NULL && parts->name == NULL; names++) {
        bool same = strlen(*names) == (size_t)(newline - line) - 3 &&
                    memcmp(line + 3, *names, strlen(*names)) == 0;
        parts->name = same ? *names : NULL;
    }
    parts->text = parts->next = newline + 1;
    while (parts->next < parts->end && (strncmp(parts->next, "== ", 3) != 0)) {
        newline = memchr(parts->next, '\n', (size_t)(parts->end - parts->next));
        parts->next = newline == NULL ? parts->end : newline + 1;
    }
    parts->size = (size_t)(parts->next - parts->text);
    return true;
}
