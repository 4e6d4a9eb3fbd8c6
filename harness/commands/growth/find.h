/*
 * Which laws a series follows: the arms and the floor along Omega, one law along any other axis.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_GROWTH_FIND_H
#define HEADPROOF_HARNESS_COMMANDS_GROWTH_FIND_H

#include "law.h"

/* Finds them (docs/growth.md, "What a law is").  0; 99 after a message. */
int laws_find(Laws *laws, const Series *series) __attribute__((warn_unused_result));

#endif
