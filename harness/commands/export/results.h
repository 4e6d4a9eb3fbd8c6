/*
 * The streams in an export (private to `headproof export`).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_EXPORT_RESULTS_H
#define HEADPROOF_HARNESS_COMMANDS_EXPORT_RESULTS_H

#include "export.h"

/* What the weights and the input become, layer by layer, and how exact that is. */
int export_results(Export *e) __attribute__((warn_unused_result));

#endif
