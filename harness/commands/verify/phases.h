/*
 * The phases of `headproof verify`, and how long each takes (private to it).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_PHASES_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_PHASES_H

#include "verify.h"

/* Of one input at one Omega, whose base there is: its rows, and its logits. */
double verify_rows_seconds(const Verify *verify);

/* Of every input so many uses of so many seconds, with the bases that are made anew; uses 0: of the
 * phase that makes what is kept. */
double verify_phase_seconds(const Verify *verify, double uses, double seconds);

/* Begins a phase that uses every input so many times (more than once: about), at this many seconds
 * a use beside what is made anew; uses 0: the phase that makes what is kept. */
void verify_phase(Verify *verify, const char *label, double uses, double seconds);

#endif
