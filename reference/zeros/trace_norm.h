/*
 * What a layer norm leaves of what is known of a stream (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_ZEROS_TRACE_NORM_H
#define HEADPROOF_REFERENCE_ZEROS_TRACE_NORM_H

#include "trace.h"

/* flags [rows, columns]: those of norm(x), where x has trace->known; none of a row that is lost. */
void trace_norm(const Trace *trace, const LayerNorm *norm, unsigned char *flags);

#endif
