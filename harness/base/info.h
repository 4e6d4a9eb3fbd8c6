/*
 * Facts about the build and the machine, for sidecars and `headproof info`.
 */
#ifndef HEADPROOF_HARNESS_BASE_INFO_H
#define HEADPROOF_HARNESS_BASE_INFO_H

#include <jansson.h>
#include <stdio.h>

#define FACT_TEXT 1024 /* of one, with its NUL */

/* Their names and texts, in order, an object; NULL (errno): the machine does not say what it is. */
json_t *facts_read(void) __attribute__((warn_unused_result));

/* Says so, for errno's reason; returns 99. */
int facts_fault(void);

/* Of this build: "0.1.0". */
const char *info_version(void);

/* Prints the facts, a line each: version, git commit, compiler and flags, CPU, OpenBLAS's core and
 * how it was chosen, versions of libraries (of their headers, and as loaded).  0, or
 * 99 after a message. */
int info_print(FILE *file);

#endif
