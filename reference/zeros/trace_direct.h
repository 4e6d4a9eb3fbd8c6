/*
 * What is known of a stream behind a direct operation (private to trace.c and trace_direct.c).
 */
#ifndef HEADPROOF_REFERENCE_ZEROS_TRACE_DIRECT_H
#define HEADPROOF_REFERENCE_ZEROS_TRACE_DIRECT_H

#include "trace.h"

/* One direct operation, from known into next. */
void trace_direct(Trace *trace, const Direct *direct);

#endif
