/*
 * One direct operation of an original model (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_RUN_DIRECT_H
#define HEADPROOF_REFERENCE_RUN_DIRECT_H

#include "../heads/heads.h"

/* Reads x, which may be the stream, and writes the stream; delta, of its shape, and work, [rows,
 * direct_columns] each, are scratch.  An activation reads the stream. */
void direct_operate(Evaluator *ev, const Direct *direct, const ApMat *x, ApMat *stream,
                    ApMat *delta, RecordPart *work);
size_t direct_columns(const Direct *direct, size_t rows, mpfr_prec_t bits);

#endif
