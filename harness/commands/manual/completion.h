/*
 * Completion of command lines by bash and by zsh.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MANUAL_COMPLETION_H
#define HEADPROOF_HARNESS_COMMANDS_MANUAL_COMPLETION_H

#include "../../grid/command.h"

#include <stdio.h>

/* A file that the shell reads once: commands [count], the flags of each, and the words that a flag
 * may have, lists included.  Whether the stream failed is its own. */
void completion_write_bash(FILE *file, const CommandInfo *commands, size_t count);
void completion_write_zsh(FILE *file, const CommandInfo *commands, size_t count);

#endif
