/*
 * The commands that evaluate.  Each gets a grid that is read and checked, and the program's
 * arguments as typed (for the sidecar); each returns an exit code.  --dry-run never comes here.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_H
#define HEADPROOF_HARNESS_COMMANDS_H

#include "grid.h"

/* Rows of every point, as CSV (or a table on a terminal).  Also `depth`. */
int command_sweep(const Grid *grid, const RunOptions *run, int argc, char **argv)
    __attribute__((warn_unused_result));

/* The smallest, largest and best Omega of every point for its tolerance. */
int command_min_omega(const Grid *grid, const RunOptions *run, int argc, char **argv)
    __attribute__((warn_unused_result));

#endif
