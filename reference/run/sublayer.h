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
const ApMat *run_norm_record(const RefRun *run);

/* Reads run->input, which may be the stream, and writes the stream; an activation reads it too.
 * beside: of a network, whose outcome is added to delta, and that to the stream.
 * Scratch: run's delta, and a part of its record of direct_columns. */
void direct_operate(RefRun *run, const Direct *direct, bool beside);
size_t direct_columns(const Direct *direct, size_t rows, mpfr_prec_t bits);

/* run->scratch.delta, and e's, += the sum of the heads of the first bundle, and of those behind it
 * that are alike; returns how many bundles these are. */
size_t run_bundles(RefRun *run, const Bundle *bundles, size_t count);

#endif
