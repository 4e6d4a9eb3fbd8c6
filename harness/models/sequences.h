/*
 * Sequences of tokens from files: a text, or lines of token ids.
 */
#ifndef HEADPROOF_HARNESS_MODELS_SEQUENCES_H
#define HEADPROOF_HARNESS_MODELS_SEQUENCES_H

#include "vocabulary.h"

/* Sequence s is tokens[start[s]] up to start[s + 1], from a line of the file. */
typedef struct {
    int64_t *tokens;
    size_t *start, *line; /* [count + 1], [count] */
    size_t count;
} Sequences;

/* One sequence: the file's characters, line ends too.  Refused, by line and column: what is not
 * UTF-8, and a character that the vocabulary has not; and an empty file. */
int sequences_of_text(Sequences *sequences, const char *path, const Vocabulary *vocabulary)
    __attribute__((warn_unused_result));

/* A sequence a line: ids below `tokens`, with blanks or a comma between them; lines without any are
 * skipped.  Refused, by line and token: what is none. */
int sequences_of_ids(Sequences *sequences, const char *path, size_t tokens)
    __attribute__((warn_unused_result));

/* Both: 0; 2 or 99 after one message.  Cleared in any case by the caller. */
void sequences_clear(Sequences *sequences);

#endif
