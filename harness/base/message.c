/*
 * Complaints about input, told in one line with file, line and token; and the distance between a
 * mistyped word and the names that there are.
 */
#include "message.h"

#include "shown.h"
#include "terminal.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TOKEN_SHOWN 400

static void compose(Message *message, const char *token, size_t length, const char *format,
                    va_list arguments)
{
    size_t used = 0, size = sizeof message->text;
    if (token != NULL) {
        size_t cut = length < TOKEN_SHOWN ? length : TOKEN_SHOWN;
        while (cut < length && ((unsigned char)token[cut] & 0xc0) == 0x80 &&
               cut > TOKEN_SHOWN - 4) {
            cut--; /* not within a character */
        }
        _Static_assert(sizeof message->text > 4 * TOKEN_SHOWN + 100, "a token of NULs fits");
        used = (size_t)sprintf(message->text, "token '");
        for (size_t i = 0; i < cut; i++) { /* what ends a string is seen, too */
            bool seen = token[i] != '\0';
            used += (size_t)sprintf(message->text + used, seen ? "%c" : "\\x00", token[i]);
        }
        used += (size_t)sprintf(message->text + used, cut < length ? "...': " : "': ");
    }
    vsnprintf(message->text + used, size - used, format, arguments);
}

void message_token(Message *message, const char *token, size_t length, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    compose(message, token, length, format, arguments);
    va_end(arguments);
}

int complain_message(Origin origin, const Message *message)
{
    Shown text = shown(message->text);
    if (origin.file != NULL) {
        fprintf(stderr, "%s:%zu: %s\n", shown(origin.file).text, origin.line, text.text);
    } else if (origin.flag != NULL) {
        fprintf(stderr, "headproof: --%s: %s\n", origin.flag, text.text);
    } else {
        fprintf(stderr, "headproof: %s\n", text.text);
    }
    return 2;
}

int complain(Origin origin, const char *token, const char *format, ...)
{
    Message message;
    va_list arguments;
    va_start(arguments, format);
    compose(&message, token, token != NULL ? strlen(token) : 0, format, arguments);
    va_end(arguments);
    return complain_message(origin, &message);
}

int complain_of(const char *file, const char *kind, const char *name, const char *format, ...)
{
    Message message;
    size_t size = sizeof message.text;
    int used = snprintf(message.text, size, "%.*s: ", TOKEN_SHOWN, file);
    if (name != NULL) {
        const char *end = strlen(name) > TOKEN_SHOWN ? "..." : "";
        used += snprintf(message.text + used, size - (size_t)used, "%s '%.*s%s': ", kind,
                         TOKEN_SHOWN, name, end);
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message.text + used, size - (size_t)used, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s\n", shown(message.text).text);
    return 2;
}

void print_command_line(int argc, char *const *argv, const char *extra)
{
    for (int i = 0; i < argc; i++) {
        fputs(i > 0 ? " " : "", stderr);
        shown_write(stderr, SHOWN_SHELL, argv[i]);
        if (i == 1 && extra != NULL) {
            fprintf(stderr, " %s", extra);
        }
    }
    fputc('\n', stderr);
}

int failure_say(const char *why, int argc, char *const *argv)
{
    if (!terminal_is_one()) {
        fprintf(stderr, "headproof: %s; reproduce: ", why);
        print_command_line(argc, argv, NULL);
    }
    return 1;
}

int memory_fault(void)
{
    fputs("headproof: memory is short\n", stderr);
    return 99;
}

int file_fault(int error)
{
    bool machine = error == EIO || error == ENOMEM || error == EMFILE || error == ENFILE ||
                   error == ENOSPC || error == EDQUOT;
    return machine ? 99 : 2;
}

/* ---- The name that a mistyped word was meant to be ------------------------------------------- */

#define NAME_MOST 32

static const char *undashed(const char *text)
{
    return text + strspn(text, "-");
}

/* Are letters the same here? */
static bool same(char a, char b)
{
    return (a == '_' ? '-' : tolower((unsigned char)a)) ==
           (b == '_' ? '-' : tolower((unsigned char)b));
}

/* The least number of insertions, deletions, replacements and swaps of neighbours that make a
 * of b, no letter touched twice; words longer than any name are far.  rows: the last three of the
 * table whose entry (i, j) is the distance of the first i letters from the first j. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][NAME_MOST + 1], of_a = strlen(a), of_b = strlen(b);
    if (of_a > NAME_MOST || of_b > NAME_MOST) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i <= of_a; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= of_b; j++) {
            size_t best = row[j - 1] + 1;
            if (i > 0) {
                size_t kept = above[j - 1] + !same(a[i - 1], b[j - 1]);
                best = above[j] + 1 < best ? above[j] + 1 : best;
                best = kept < best ? kept : best;
            }
            bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
            if (swapped && two_above[j - 2] + 1 < best) {
                best = two_above[j - 2] + 1;
            }
            row[j] = best;
        }
    }
    return rows[of_a % 3][of_b];
}

static bool begins(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] != '\0' && same(a[i], b[i])) {
        i++;
    }
    return i > 1 && a[i] == '\0';
}

/* The words of other programs, and the same here. */
static const char *const synonyms[][2] = {{"bfloat16", "bf16"},    {"float32", "f32"},
                                          {"float64", "f64"},      {"double", "f64"},
                                          {"float", "f32"},        {"single", "f32"},
                                          {"float16", "fp16"},     {"half", "fp16"},
                                          {"dtype", "arithmetic"}, {"layers", "depth"},
                                          {"n-layer", "depth"},    {"n-layers", "depth"},
                                          {"num-layers", "depth"}, {"n-head", "heads"},
                                          {"n-heads", "heads"},    {"num-heads", "heads"},
                                          {"d-model", "d"},        {"hidden-size", "d"},
                                          {"n-embd", "d"},         {"d-mlp", "d-ff"},
                                          {"n-ctx", "n"},          {"seq-len", "n"},
                                          {"context", "n"},        {"j", "threads"},
                                          {"jobs", "threads"},     {"model", "weights"},
                                          {"swish", "silu"},       {"layer-norm", "layernorm"},
                                          {"rms-norm", "rmsnorm"}};

/* The name of a thing that others call so, or NULL. */
static const char *synonym_of(const char *word, const char *const *names, size_t count)
{
    for (size_t s = 0; s < sizeof synonyms / sizeof *synonyms; s++) {
        for (size_t i = 0; edit_distance(word, synonyms[s][0]) == 0 && i < count; i++) {
            if (names[i] != NULL && strcmp(names[i], synonyms[s][1]) == 0) {
                return names[i];
            }
        }
    }
    return NULL;
}

const char *nearest_name(const char *token, const char *const *names, size_t count)
{
    const char *word = undashed(token);
    const char *nearest = synonym_of(word, names, count);
    if (nearest != NULL) {
        return nearest;
    }
    /* Two faults in four letters, one in fewer, and never as many as there are letters. */
    size_t length = strlen(word), least = length < 4 ? 2 : 3;
    least = length < least ? length : least;
    for (size_t i = 0; i < count; i++) {
        if (names[i] == NULL) {
            continue;
        }
        const char *name = undashed(names[i]);
        size_t distance = edit_distance(word, name);
        distance = distance > 1 && begins(word, name) ? 1 : distance;
        if (distance < least) {
            least = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

Suggestion suggest(const char *token, const char *const *names, size_t count)
{
    Suggestion suggestion = {""};
    const char *nearest = nearest_name(token, names, count);
    if (nearest != NULL) {
        snprintf(suggestion.text, sizeof suggestion.text, " (did you mean %s?)", nearest);
    }
    return suggestion;
}

int complain_unknown(Origin origin, const char *token, const char *what, const char *const *names,
                     size_t listed, size_t count)
{
    char list[512] = "";
    for (size_t i = 0, used = 0; i < listed && used < sizeof list; i++) {
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
    return complain(origin, *token == '\0' && what != NULL ? NULL : token,
                    "expected %s%sone of %s%s", what != NULL ? what : "", what != NULL ? ", " : "",
                    list, suggest(token, names, count).text);
}
