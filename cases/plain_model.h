/*
 * Plain matrices as a Model (private to cases/).
 */
#ifndef HEADPROOF_CASES_PLAIN_MODEL_H
#define HEADPROOF_CASES_PLAIN_MODEL_H

#include "plain.h"

/* plain->model, from plain->sublayers and layer_end. */
void plain_model_make(PlainModel *plain);

#endif
