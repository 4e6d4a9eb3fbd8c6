/*
 * What T' leaves where there should be nothing (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_COMPARE_LEAKS_H
#define HEADPROOF_REFERENCE_COMPARE_LEAKS_H

#include "compared_streams.h"

/* The largest entries of the bias row, of the columns that the layer clears, and of the block that
 * tells rows apart, into the errors' scalars. */
void leaks_compare(RefErrors *errors, const Known *known);

#endif
