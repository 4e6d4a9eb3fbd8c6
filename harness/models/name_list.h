/*
 * Lists of names: for a message, as many as fit, and how many there are; and in a text.
 */
#ifndef HEADPROOF_HARNESS_MODELS_NAME_LIST_H
#define HEADPROOF_HARNESS_MODELS_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char text[1000]; /* "'a', 'b'" */
    size_t used, shown, count;
} NameList;

void name_list_add(NameList *list, const char *name);

/* The end of the text: "", or " and 3 more"; more [size]. */
const char *name_list_more(char *more, size_t size, const NameList *list);

/* Both, to be freed. */
char *name_list_text(const NameList *list) __attribute__((warn_unused_result));

/* Is the word in a text of words with that separator?  NULL is the empty one, and no word. */
bool list_has(const char *list, char separator, const char *word);

#endif
