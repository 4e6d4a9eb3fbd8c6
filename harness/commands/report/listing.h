/*
 * The rows of a table in a report, as HTML.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_REPORT_LISTING_H
#define HEADPROOF_HARNESS_COMMANDS_REPORT_LISTING_H

#include "subject.h"

#include <stdio.h>

/* Writes the first rows, those that fail before others, in the columns that say something.  0, or
 * -1 when memory is short. */
int listing_write(FILE *file, const Subject *subject) __attribute__((warn_unused_result));

/* A cell's text: a number with an exponent has three digits, as on a terminal. */
void listing_value(FILE *file, const char *text);

#endif
