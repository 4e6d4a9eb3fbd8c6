/*
 * Properties of a model, which all that say them must agree on.
 */
#include "model_check.h"

#include "../base/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const Property *properties_find(const Properties *properties, const char *key)
{
    for (size_t i = 0; i < properties->count; i++) {
        if (strcmp(properties->items[i].key, key) == 0) {
            return &properties->items[i];
        }
    }
    return NULL;
}

int properties_add(Properties *properties, const Property *by, const char *value)
{
    Property said = *by;
    const Property *before = properties_find(properties, said.key);
    snprintf(said.value, sizeof said.value, "%.*s", PROPERTY_TEXT - 1, value);
    if (before != NULL && strcmp(before->value, said.value) != 0) {
        return complain_of(said.file, said.kind, said.name,
                           "'%s': expected '%s', as %s '%.100s' of '%.255s' says", said.value,
                           before->value, before->kind, before->name, before->file);
    }
    if (before == NULL) {
        if (properties->count == PROPERTIES_MOST) {
            abort();
        }
        properties->items[properties->count++] = said;
    }
    return 0;
}
