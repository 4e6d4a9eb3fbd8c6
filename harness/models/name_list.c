/*
 * Names brought together for one message.
 */
#include "name_list.h"

#include <stdio.h>
#include <string.h>

void name_list_add(NameList *list, const char *name)
{
    enum { MORE = 40 }; /* of the text, for the number of those that are not shown */
    size_t room = sizeof list->text - list->used;
    list->count++;
    if (strlen(name) + 5 + MORE < room && list->shown + 1 == list->count) {
        list->used += (size_t)snprintf(list->text + list->used, room, "%s'%s'",
                                       list->shown == 0 ? "" : ", ", name);
        list->shown = list->count;
    }
    if (list->shown < list->count) {
        snprintf(list->text + list->used, room, " and %zu more", list->count - list->shown);
    }
}

bool list_has(const char *list, char separator, const char *word)
{
    size_t length = word != NULL ? strlen(word) : 0;
    for (const char *item = list, *next; item != NULL && length > 0; item = next) {
        const char *end = strchr(item, separator);
        next = end != NULL ? end + 1 : NULL;
        size_t size = end != NULL ? (size_t)(end - item) : strlen(item);
        if (size == length && strncmp(item, word, length) == 0) {
            return true;
        }
    }
    return false;
}

bool is_listed(const char *const *names, const char *name)
{
    while (*names != NULL && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}
