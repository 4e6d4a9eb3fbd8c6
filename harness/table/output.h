/*
 * A results file that is never damaged: rows go to FILE.partial, which becomes FILE when it is
 * complete and on disk, together with FILE.json (the sidecar).  A path that is not a regular
 * file (a pipe, /dev/full) is written directly and has no sidecar.
 */
#ifndef HEADPROOF_HARNESS_TABLE_OUTPUT_H
#define HEADPROOF_HARNESS_TABLE_OUTPUT_H

#include "format.h"
#include "sidecar.h"

typedef struct Output Output;

/* path NULL: stdout.  0, or 2 after a message when the path cannot be written, or 99. */
int output_open(Output **output, const char *path) __attribute__((warn_unused_result));

/* From here on what is written to output_file is CSV, and every commit turns its lines into rows of
 * the format.  table: what is said of it before its columns are known.  0, or 99 after a
 * message. */
int output_format(Output *output, const Format *format, FormatTable table)
    __attribute__((warn_unused_result));

/* Where a command says what is not the table: stdout, unless that was asked to be the table. */
FILE *output_report(const RunOptions *run);

/* The same for a stream that stays open.  0, or 99 after a message. */
int output_open_stream(Output **output, FILE *stream) __attribute__((warn_unused_result));

/* Where rows of CSV go. */
FILE *output_file(Output *output);

/* Flush after a point's rows; -1 (errno) when the disk is full or failing. */
int output_commit(Output *output) __attribute__((warn_unused_result));

/* Completes the file: sync, close, rename, and the run as its sidecar.  0, or 99 after a
 * message. */
int output_finish(Output *output, const RunRecord *run) __attribute__((warn_unused_result));

/* Drops what was written (an earlier FILE stays as it was) and frees.  NULL is fine; after
 * output_finish it only frees. */
void output_clear(Output *output);

#endif
