/*
 * What may be said of a model beside its tensors: a table with a row for each key that a
 * config.json or the metadata of a file may have (private to the reading of model files).
 *
 * One key means one thing wherever it stands.  A key that has no row is refused by name.
 */
#ifndef HEADPROOF_HARNESS_MODELS_KNOWN_KEYS_H
#define HEADPROOF_HARNESS_MODELS_KNOWN_KEYS_H

#include "model_names.h"

typedef enum {
    KEY_EXTENT, /* an integer from 1 on: that extent of the model */
    KEY_DEPTH,  /* an integer from 1 on: how many layers there are */
    KEY_WORD,   /* a word: the property, as it stands or under another name */
    KEY_NUMBER, /* a number above 0: the property */
    KEY_BOOL,   /* false or true: the property is words[0] or words[1] */
    KEY_FITS    /* one value alone fits */
} KeyKind;

/* A key that is absent, or null, says nothing. */
typedef struct {
    const char *key;
    KeyKind kind;
    Extent extent;
    const char *property; /* as metadata of headproof's own files call it: "scale" */
    const char *words[6]; /* KEY_WORD: pairs of a word and what the property calls it, or NULL */
    /* KEY_BOOL: where "model_type" is there the property is words[1] without the key too, which
     * exists to switch it off. */
    bool by_type;
    const char *fits; /* KEY_FITS: as JSON; NULL: none */
    const char *why;  /* KEY_FITS: what another value means */
} KnownKey;

/* Up to a key of NULL. */
extern const KnownKey known_keys[];

/* Keys that change nothing that a model computes, up to NULL. */
extern const char *const idle_keys[];

/* Is it in either? */
bool key_is_known(const char *key);

#endif
