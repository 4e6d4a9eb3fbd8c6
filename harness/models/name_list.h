/*
 * Lists of names: for a message, as many as fit, and how many there are; in a text; and in a table.
 */
#ifndef HEADPROOF_HARNESS_MODELS_NAME_LIST_H
#define HEADPROOF_HARNESS_MODELS_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char text[1040]; /* "'a', 'b' and 3 more" */
    size_t used, shown, count;
} NameList;

void name_list_add(NameList *list, const char *name);

/* Is the word in a text of words with that separator?  NULL is the empty one, and no word. */
bool list_has(const char *list, char separator, const char *word);

/* Is it one of those up to NULL? */
bool is_listed(const char *const *names, const char *name);

#endif
