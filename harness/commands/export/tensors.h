/*
 * The model in an export (private to `headproof export`).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_EXPORT_TENSORS_H
#define HEADPROOF_HARNESS_COMMANDS_EXPORT_TENSORS_H

#include "export.h"

/* The weights and the input, and the metadata a model has. */
void export_model(Export *e);

#endif
