/*
 * The residual streams of a case (private to cases/).
 */
#ifndef HEADPROOF_CASES_LAYOUT_H
#define HEADPROOF_CASES_LAYOUT_H

#include "case.h"

/* The streams of T and of T', and the hidden columns of the latter. */
Layout case_original_layout(const CaseSpec *spec);
Layout case_converted_layout(const CaseSpec *spec);
size_t case_hidden_columns(const CaseSpec *spec);

#endif
