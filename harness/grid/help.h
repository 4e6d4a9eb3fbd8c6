/*
 * Help, generated from the tables that the flags are read by.
 */
#ifndef HEADPROOF_HARNESS_GRID_HELP_H
#define HEADPROOF_HARNESS_GRID_HELP_H

#include "command.h"

#include <stddef.h>
#include <stdio.h>

/* Prints the program's purpose and its commands. */
void help_print_overview(FILE *file, const CommandInfo *commands, size_t count);

/* The values of an axis, and its default: "one of silu, relu, gelu; default silu". */
#define HELP_TEXT (VALUE_TEXT + 512)
void help_axis_values(char text[HELP_TEXT], const CommandInfo *command, Axis axis);

/* The flags of a command, by what they are about: all, or what is common and the names of the rest,
 * where they are many. */
void help_print_command(FILE *file, const CommandInfo *command, bool all);

#endif
