/*
 * `--dry-run`: the points, and what they will take.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_DRY_RUN_H
#define HEADPROOF_HARNESS_COMMANDS_DRY_RUN_H

#include "commands.h"

/* Prints the command line of each of the shard's points, and on stderr, unless it is to be quiet,
 * how long all of them and the largest will take, and with how much memory.  Nothing is evaluated.
 * 0; 2 or 99 after a message. */
int dry_run(const CommandInfo *command, const Grid *grid, const RunOptions *run)
    __attribute__((warn_unused_result));

#endif
