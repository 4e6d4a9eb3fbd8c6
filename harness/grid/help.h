/*
 * Help, generated from the tables that the flags are read by.
 */
#ifndef HEADPROOF_HARNESS_GRID_HELP_H
#define HEADPROOF_HARNESS_GRID_HELP_H

#include "grid.h"

#include <stddef.h>

typedef struct {
    const char *name, *summary;
} CommandInfo;

/* What the program does, and its commands. */
void help_print_overview(FILE *file, const CommandInfo *commands, size_t count);

/* The flags of a command. */
void help_print_command(FILE *file, Command command, const CommandInfo *info);

#endif
