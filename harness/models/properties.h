/*
 * A model's properties beside its tensors, from metadata or a config.json: keys and words
 * (private to the reading of model files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_PROPERTIES_H
#define HEADPROOF_HARNESS_MODELS_PROPERTIES_H

#include <stddef.h>

enum { PROPERTIES_MOST = 32, PROPERTY_TEXT = 104 };

/* value is cut where it is longer than any that is known.  file, kind, name: who says it, for a
 * message: "FILE: metadata 'scale'". */
typedef struct {
    const char *key, *file, *kind, *name;
    char value[PROPERTY_TEXT];
} Property;

typedef struct {
    Property items[PROPERTIES_MOST];
    size_t count;
} Properties;

/* key and what says it stay the caller's; by's own value does not count.  0; 2 after a message
 * where another value was said before. */
int properties_add(Properties *properties, const Property *by, const char *value)
    __attribute__((warn_unused_result));

/* NULL: nobody says it. */
const Property *properties_find(const Properties *properties, const char *key);

#endif
