/*
 * A vocabulary of characters: which token each character of a text is.
 *
 * A JSON array of strings of one character each, in the order of the tokens: ["\n", " ", "a", ...].
 */
#ifndef HEADPROOF_HARNESS_MODELS_VOCABULARY_H
#define HEADPROOF_HARNESS_MODELS_VOCABULARY_H

#include <stddef.h>
#include <stdint.h>

/* A character in UTF-8, with a NUL behind it, and its code point. */
typedef struct {
    char text[5];
    uint32_t code;
    int64_t token;
} Character;

/* Of no tokens where there is none. */
typedef struct {
    Character *characters; /* [count] in the order of the tokens */
    Character *sorted;     /* [count] by code point */
    size_t count;
    char *path; /* of the list */
} Vocabulary;

/* The list at path, or (NULL) characters.json beside the model, for a model of so many tokens.  0;
 * 2 after a message, where it is no such list, has a character twice or another length; 99.
 * Cleared in any case by the caller. */
int vocabulary_read(Vocabulary *vocabulary, const char *path, const char *model, size_t tokens)
    __attribute__((warn_unused_result));
void vocabulary_clear(Vocabulary *vocabulary);

/* The token of a code point, or -1. */
int64_t vocabulary_find(const Vocabulary *vocabulary, uint32_t code);

/* The code point that text [size] begins with, and *length of its bytes; -1: it is not UTF-8. */
int64_t utf8_decode(size_t *length, const char *text, size_t size);

#endif
