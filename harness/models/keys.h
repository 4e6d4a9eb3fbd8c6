/*
 * A model's keys: from a config.json beside it, the metadata of its files and the command line, key
 * by key (private to the reading of model files).
 *
 * One key means one thing wherever it stands.  A key that has no row is refused by name.
 *
 * Umbrella header: for known_keys.c, the table of keys that a config.json or the metadata of a file
 * may have.
 */
#ifndef HEADPROOF_HARNESS_MODELS_KEYS_H
#define HEADPROOF_HARNESS_MODELS_KEYS_H

#include "model_check.h"

typedef enum {
    KEY_EXTENT, /* an integer from 1 on: that extent of the model */
    KEY_DEPTH,  /* an integer from 1 on: how many layers there are */
    KEY_WORD,   /* a word: the property, as it stands or under another name */
    KEY_NUMBER, /* a number above 0: the property; 0 says nothing where `fits` has that */
    KEY_BOOL,   /* false or true: the property is words[0] or words[1] */
    KEY_OBJECT, /* an object of keys that rope_keys has */
    KEY_NAMES,  /* a word, or an array of words: those of `fits` alone */
    KEY_FITS    /* one value alone fits */
} KeyKind;

/* A key that is absent, or null, says nothing, unless it is told below. */
typedef struct {
    const char *key;
    KeyKind kind;
    Extent extent;
    const char *property; /* as metadata of headproof's own files call it: "scale" */
    const char *words[8]; /* KEY_WORD: pairs of a word and what the property calls it, or NULL */
    /* KEY_BOOL: where "model_type" is there the property is words[1] without the key too, which
     * exists to switch it off. */
    bool by_type;
    const char *null;   /* what the property is where the key is there as null; NULL: nothing */
    const char *fits;   /* KEY_FITS: as JSON, NULL: none; KEY_NAMES: words, with blanks between */
    const char *why;    /* of both: what another value means */
    const char *yields; /* it is not read where this key stands, unless that is true */
} KnownKey;

/* Up to a key of NULL: those of a file, and those of an object of rotary positions in it. */
extern const KnownKey known_keys[], rope_keys[];

/* Keys that change nothing that a model computes, up to NULL. */
extern const char *const idle_keys[];

/* Reads all that is said: sizes of the model, its depth, and properties.  Refuses keys that are not
 * known, in one message for all of a file; of a model with a witness they become its `doubts`
 * instead.  0; 2 after one message. */
int keys_read(Reading *reading) __attribute__((warn_unused_result));

#endif
