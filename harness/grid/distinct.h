/*
 * Files that a run reads and files that it writes are different ones.
 */
#ifndef HEADPROOF_HARNESS_GRID_DISTINCT_H
#define HEADPROOF_HARNESS_GRID_DISTINCT_H

#include "grid.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *flag; /* the flag that the path was given to; NULL: it is an operand */
    const char *path; /* NULL: not given */
    bool sidecar;     /* path.json is read or written too */
} NamedFile;

/* 0; 2 after a message when an output [outputs_count] is an input [inputs_count], another output,
 * or where stdout or stderr goes; 99.  Files are the same when they are one on disk, by whatever
 * names; an output that is not there yet is what its directory and its name make it.  What is no
 * regular file, a terminal or a pipe, may be named more than once. */
int distinct_check(const NamedFile *outputs, size_t outputs_count, const NamedFile *inputs,
                   size_t inputs_count) __attribute__((warn_unused_result));

/* The same for a command line: the operands [count] and the weights files of a grid are what is
 * read, besides a baseline. */
int distinct_check_run(const Grid *grid, const RunOptions *run, const CommandInfo *command,
                       char *const *operands, size_t count) __attribute__((warn_unused_result));

#endif
