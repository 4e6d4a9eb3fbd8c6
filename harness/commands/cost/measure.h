/*
 * Passes of a point timed on this machine.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_COST_MEASURE_H
#define HEADPROOF_HARNESS_COMMANDS_COST_MEASURE_H

#include "cost.h"

/* Times each form that can be timed here: *times; why the other forms cannot is said on stderr.  2
 * after that when it is none of them, 99 after a message when memory is short. */
int cost_measure(Cost *cost) __attribute__((warn_unused_result));

#endif
