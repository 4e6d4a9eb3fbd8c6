/*
 * The program's own pages: its manual page, completion, and two pages of docs/.
 *
 * Umbrella header: for man.c, completion.c, columns_page.c and keys_page.c, a function or two each.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MANUAL_MANUAL_H
#define HEADPROOF_HARNESS_COMMANDS_MANUAL_MANUAL_H

#include "../../grid/command.h"

#include <stdio.h>

/* The manual page headproof(1): commands [count], axes and flags as man(7) has them.  Whether the
 * stream failed is its own. */
void man_write(FILE *file, const CommandInfo *commands, size_t count);

/* Completion of command lines by bash and by zsh: a file that the shell reads once: commands
 * [count], the flags of each, and the words that a flag may have, lists included.  Whether the
 * stream failed is its own. */
void completion_write_bash(FILE *file, const CommandInfo *commands, size_t count);
void completion_write_zsh(FILE *file, const CommandInfo *commands, size_t count);

/* The page docs/keys.md: a table of the keys that are read of a model, and a list of those that
 * change nothing. */
int keys_page_write(FILE *file) __attribute__((warn_unused_result));

/* The page docs/columns.md: a table of columns for every table that commands [count] write.  0; 2
 * after a message where a column has no text (table/meanings.c), 99 after one where memory is
 * short. */
int columns_page_write(FILE *file, const CommandInfo *commands, size_t count)
    __attribute__((warn_unused_result));

#endif
