/*
 * What the program's tables hold, as JSON, for programs: `headproof help --json`.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_DUMP_H
#define HEADPROOF_HARNESS_COMMANDS_DUMP_H

#include <stdio.h>

/* Writes {"axes": [{"name", "column" (null: it stands in options), "default", "words" (are its
 * values words?), "help"}]}, in their order.  0, or 99 after a message. */
int dump_write(FILE *file) __attribute__((warn_unused_result));

#endif
