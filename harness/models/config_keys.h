/*
 * What a config.json says of a model: a table with a row for each key that matters (private to the
 * reading of model files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_CONFIG_KEYS_H
#define HEADPROOF_HARNESS_MODELS_CONFIG_KEYS_H

#include "model_names.h"

typedef enum {
    CONFIG_EXTENT, /* an integer from 1 on: that extent of the model */
    CONFIG_DEPTH,  /* an integer from 1 on: how many layers there are */
    CONFIG_WORD,   /* a word: the property, as it stands or under another name */
    CONFIG_NUMBER, /* a number above 0: the property */
    CONFIG_BOOL,   /* false or true: the property is words[0] or words[1] */
    CONFIG_FITS    /* one value alone fits */
} ConfigKind;

/* A key that is absent, or null, says nothing. */
typedef struct {
    const char *key;
    ConfigKind kind;
    Extent extent;
    const char *property; /* as metadata call it: "scale" */
    const char *words[4]; /* CONFIG_WORD: pairs of a word and what the property calls it, or NULL */
    /* CONFIG_BOOL: where "model_type" is there the property is words[1] without the key too, which
     * exists to switch it off. */
    bool by_type;
    const char *fits; /* CONFIG_FITS: as JSON; NULL: none */
    const char *why;  /* CONFIG_FITS: what another value means */
} ConfigKey;

#endif
