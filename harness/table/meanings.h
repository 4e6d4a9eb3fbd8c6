/*
 * What every column of every command's table holds, in which unit: the text of docs/columns.md.
 */
#ifndef HEADPROOF_HARNESS_TABLE_MEANINGS_H
#define HEADPROOF_HARNESS_TABLE_MEANINGS_H

#include <stdbool.h>

typedef struct {
    char unit[48];
    char meaning[256];
} ColumnText;

/* Of the column of that name in the table of that command (`sweep`, `cost`, ...): errors in their
 * norms and units follow from columns.c, axes from their help, the others have a row of their own.
 * False: nothing is said of it, and a row is missing. */
bool column_text(ColumnText *text, const char *command, const char *name);

#endif
