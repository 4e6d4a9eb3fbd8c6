/*
 * A bundle of heads in a run (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_RUN_BUNDLE_H
#define HEADPROOF_REFERENCE_RUN_BUNDLE_H

#include "run.h"

/* run->scratch.delta, and e's, += the sum of the bundle's heads. */
void run_bundle(RefRun *run, const Bundle *bundle);

#endif
