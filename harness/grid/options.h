/*
 * A command line read: axes, other flags, and the operands among them.
 */
#ifndef HEADPROOF_HARNESS_GRID_OPTIONS_H
#define HEADPROOF_HARNESS_GRID_OPTIONS_H

#include "settings.h"

/* Reads argv[1..] into *axes, *run and operands [argc], *count of them.  0; 2 or 99 after one
 * message. */
int options_read(Section *axes, RunOptions *run, char **operands, size_t *count,
                 const CommandInfo *command, int argc, char **argv)
    __attribute__((warn_unused_result));

#endif
