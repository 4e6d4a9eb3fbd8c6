/*
 * The page docs/keys.md.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MANUAL_KEYS_PAGE_H
#define HEADPROOF_HARNESS_COMMANDS_MANUAL_KEYS_PAGE_H

#include <stdio.h>

/* A table of the keys that are read of a model, and a list of those that change nothing. */
void keys_page_write(FILE *file);

#endif
