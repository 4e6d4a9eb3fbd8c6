/*
 * The streams in an export (private to `headproof export`).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_EXPORT_RESULTS_H
#define HEADPROOF_HARNESS_COMMANDS_EXPORT_RESULTS_H

#include "export.h"

/* Adds the streams after each layer, and how exact they are. */
int export_results(Export *e) __attribute__((warn_unused_result));

#endif
