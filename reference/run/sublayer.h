/*
 * One sublayer of a run (private to reference/).
 *
 * Umbrella header: for what a sublayer is made of, bundle.c and direct.c.
 */
#ifndef HEADPROOF_REFERENCE_RUN_SUBLAYER_H
#define HEADPROOF_REFERENCE_RUN_SUBLAYER_H

#include "run.h"

#include "../heads/heads.h"

/* x, and e beside it, go through the sublayer run->next.sublayer. */
void run_sublayer(RefRun *run, const Sublayer *sublayer);

/* The record of its norm. */
const NormRecord *run_norm_record(const RefRun *run);

/* Reads x, which may be the stream, and writes the stream; delta, of its shape, and work, [rows,
 * direct_columns] each, are scratch.  An activation reads the stream. */
void direct_operate(Evaluator *ev, const Direct *direct, const ApMat *x, ApMat *stream,
                    ApMat *delta, RecordPart *work);
size_t direct_columns(const Direct *direct, size_t rows, mpfr_prec_t bits);

/* run->scratch.delta, and e's, += the sum of the bundle's heads. */
void run_bundle(RefRun *run, const Bundle *bundle);

#endif
