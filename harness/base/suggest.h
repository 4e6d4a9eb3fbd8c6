/*
 * Suggestions: the name that a mistyped word was probably meant to be.
 */
#ifndef HEADPROOF_HARNESS_BASE_SUGGEST_H
#define HEADPROOF_HARNESS_BASE_SUGGEST_H

#include "message.h"

/* The name of what others call by token [length]; else that closest to it, or that it begins, when
 * it is close enough to be meant, else NULL.  The distance is the number of letters to insert,
 * delete, replace or swap with their neighbour; case does not count, nor do dashes in front, and _
 * is -.  names [count]; NULL entries are skipped. */
const char *nearest_name(const char *token, size_t length, const char *const *names, size_t count);

/* " (did you mean NAME?)", or nothing: what a message about the token ends with. */
typedef struct {
    char text[64];
} Suggestion;

Suggestion suggest(const char *token, size_t length, const char *const *names, size_t count);

/* The complaint about a token that is none of names [count]: "expected WHAT, one of ...", where the
 * first listed of the names are named and all are suggested.  what: NULL: "expected one of ...". */
int complain_unknown(Origin origin, const char *token, const char *what, const char *const *names,
                     size_t listed, size_t count);

#endif
