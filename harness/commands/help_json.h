/*
 * What `headproof help --json` prints.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_HELP_JSON_H
#define HEADPROOF_HARNESS_COMMANDS_HELP_JSON_H

#include "../grid/command.h"

#include <stddef.h>
#include <stdio.h>

/* Prints commands [count], axes, flags, columns and keys of models. */
void help_print_json(FILE *file, const CommandInfo *commands, size_t count);

#endif
