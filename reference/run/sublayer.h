/*
 * One sublayer of a run (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_RUN_SUBLAYER_H
#define HEADPROOF_REFERENCE_RUN_SUBLAYER_H

#include "run.h"

/* x, and e beside it, go through the sublayer run->next.sublayer. */
void run_sublayer(RefRun *run, const Sublayer *sublayer);

/* The record of its norm. */
const NormRecord *run_norm_record(const RefRun *run);

#endif
