/*
 * What `headproof attribute` writes and says (private to it).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_ATTRIBUTE_TERMS_H
#define HEADPROOF_HARNESS_COMMANDS_ATTRIBUTE_TERMS_H

#include "attribute.h"

extern const char attribute_header[];

/* The lines of one logit: sums [groups, rows], centred the same. */
void attribute_write_logit(FILE *file, const Attribution *attribution, size_t i,
                           const LogitSum *logit, mpfr_t *sums, mpfr_t *centred);
void attribute_print_model(const Attribution *attribution);
bool attribute_print_summary(const Attribution *attribution) __attribute__((warn_unused_result));

#endif
