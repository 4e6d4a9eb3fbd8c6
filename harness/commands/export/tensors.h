/*
 * The model in an export (private to `headproof export`).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_EXPORT_TENSORS_H
#define HEADPROOF_HARNESS_COMMANDS_EXPORT_TENSORS_H

#include "export.h"

/* The weights and the input, and the metadata a model has.  0; 2 or 99 after one message. */
int export_model(Export *e) __attribute__((warn_unused_result));

#endif
