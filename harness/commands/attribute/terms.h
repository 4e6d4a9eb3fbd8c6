/*
 * What `headproof attribute` writes and says (private to it).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_ATTRIBUTE_TERMS_H
#define HEADPROOF_HARNESS_COMMANDS_ATTRIBUTE_TERMS_H

#include "attribute.h"

/* The table's header, and rows that are text (a char) already: 0, or -1 when the stream failed. */
int attribute_write_header(FILE *file, const RunOptions *run) __attribute__((warn_unused_result));
int attribute_write_rows(FILE *file, const void *text) __attribute__((warn_unused_result));

/* The lines of one logit: sums [groups, rows], centred the same. */
void attribute_write_logit(FILE *file, const Attribution *attribution, size_t i,
                           const LogitSum *logit, mpfr_t *sums, mpfr_t *centred);
void attribute_print_model(const Attribution *attribution);
bool attribute_print_summary(const Attribution *attribution) __attribute__((warn_unused_result));

#endif
