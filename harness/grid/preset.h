/*
 * Sizes of known models by name.
 */
#ifndef HEADPROOF_HARNESS_GRID_PRESET_H
#define HEADPROOF_HARNESS_GRID_PRESET_H

#include "settings.h"

enum { PRESET_COUNT = 6, PRESET_AXES = 5 };

typedef struct {
    const char *name;
    const char *values[PRESET_AXES]; /* of n, d, heads, d-head and depth, as text */
    size_t vocabulary; /* tokens that have an embedding, which no construction touches */
} Preset;

void preset_names(const char *names[PRESET_COUNT]);

/* NULL after a message when there is none of that name. */
const Preset *preset_find(const char *name);

/* Sets what the flags leave open.  0; 2 or 99 after one message. */
int preset_apply(Section *section, const Section *flags, const Preset *preset,
                 const CommandInfo *command) __attribute__((warn_unused_result));

#endif
