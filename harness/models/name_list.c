/*
 * Names brought together for one message.
 */
#include "name_list.h"

#include "../../memory/need.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void name_list_add(NameList *list, const char *name)
{
    size_t room = sizeof list->text - list->used;
    list->count++;
    if (strlen(name) + 5 < room && list->shown + 1 == list->count) {
        list->used += (size_t)snprintf(list->text + list->used, room, "%s'%s'",
                                       list->shown == 0 ? "" : ", ", name);
        list->shown = list->count;
    }
}

const char *name_list_more(char *more, size_t size, const NameList *list)
{
    more[0] = '\0';
    if (list->shown < list->count) {
        snprintf(more, size, " and %zu more", list->count - list->shown);
    }
    return more;
}

char *name_list_text(const NameList *list)
{
    char more[40];
    size_t size = list->used + sizeof more + 1;
    char *text = need_room(size, 1);
    snprintf(text, size, "%s%s", list->text, name_list_more(more, sizeof more, list));
    return text;
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
