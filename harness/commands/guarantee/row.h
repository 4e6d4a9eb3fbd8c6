/*
 * Proven bounds as rows of CSV, one a layer, and as a text for a terminal.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_GUARANTEE_ROW_H
#define HEADPROOF_HARNESS_COMMANDS_GUARANTEE_ROW_H

#include "bound.h"

/* row: a Proven (outcome.h). */
void guarantee_write_header(FILE *file, const RunOptions *run);
void guarantee_write_rows(FILE *file, const void *row);

/* The same for a reader, and the sentence. */
void guarantee_print(FILE *file, const void *row);

/* "sublayer 3, attention": where the largest part of the last layer's error is from. */
enum { GUARANTEE_FROM = 64 };
void guarantee_from(char text[GUARANTEE_FROM], const Proven *proven);

#endif
