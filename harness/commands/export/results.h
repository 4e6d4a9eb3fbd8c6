/*
 * The streams in an export (private to `headproof export`).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_EXPORT_RESULTS_H
#define HEADPROOF_HARNESS_COMMANDS_EXPORT_RESULTS_H

#include "export.h"

/* Adds the streams after each layer, and how exact they are. */
void export_results(Export *e);

#endif
