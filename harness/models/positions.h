/*
 * Which positions of an input are looked at: what `--positions` says.
 */
#ifndef HEADPROOF_HARNESS_MODELS_POSITIONS_H
#define HEADPROOF_HARNESS_MODELS_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Of inputs of n tokens.  once: every one, but of windows that share some each in its first. */
typedef struct {
    size_t n, count;
    size_t *index; /* [n] the place of each among those that are looked at, or count */
    bool once;
} Positions;

/* "all", "last", or a list of positions, from 0 or, negative, from behind the last, and of ranges
 * of them, both ends included: "0", "-1", "2,5:7".  0; 2 after a message. */
int positions_check(const char *text) __attribute__((warn_unused_result));

/* Those of inputs of n tokens, each once; text as above, and has been checked; of: what it is that
 * has n tokens, for messages.  0; 2 after a message.  Clear them in every case. */
int positions_make(Positions *positions, const char *text, size_t n, const char *of)
    __attribute__((warn_unused_result));
void positions_clear(Positions *positions);

#endif
