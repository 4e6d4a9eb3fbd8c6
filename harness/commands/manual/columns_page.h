/*
 * The page docs/columns.md.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MANUAL_COLUMNS_PAGE_H
#define HEADPROOF_HARNESS_COMMANDS_MANUAL_COLUMNS_PAGE_H

#include "../../grid/command.h"

#include <stdio.h>

/* A table of columns for every table that commands [count] write.  0; 2 after a message where a
 * column has no text (table/meanings.c), 99 after one where memory is short. */
int columns_page_write(FILE *file, const CommandInfo *commands, size_t count)
    __attribute__((warn_unused_result));

#endif
