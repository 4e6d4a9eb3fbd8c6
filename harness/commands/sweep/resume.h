/*
 * What an interrupted sweep left (private to `headproof sweep`).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_SWEEP_RESUME_H
#define HEADPROOF_HARNESS_COMMANDS_SWEEP_RESUME_H

#include "sweep.h"

/* True when the file is there already, of a run like this. */
bool sweep_is_complete(const Sweep *sweep);

/* Takes in the points that are in the file; *kept: bytes of their rows.  0; 2 after a
 * message when they are not this sweep's; 99 after one. */
int sweep_take_kept(Sweep *sweep, size_t *kept) __attribute__((warn_unused_result));

#endif
