/*
 * Where a command's rows go: into a file that appears whole, with its sidecar, in CSV or another
 * format; onto stdout or a stream; or, where an interrupted run is gone on with, into a journal.
 *
 * A command says once how its table is written, and then puts rows.
 */
#ifndef HEADPROOF_HARNESS_TABLE_SINK_H
#define HEADPROOF_HARNESS_TABLE_SINK_H

#include "format.h"
#include "journal.h"
#include "sidecar.h"

/* A results file that is never damaged: rows go to FILE.partial, which becomes FILE when it is
 * complete and on disk, together with FILE.json (the sidecar).  A path that is not a regular file
 * (a pipe, /dev/full) is written directly and has no sidecar. */
typedef struct Output Output;

/* path NULL: stdout.  0, or 2 after a message when the path cannot be written, or 99. */
int output_open(Output **output, const char *path) __attribute__((warn_unused_result));

/* From here on what is written to output_file is CSV, and every commit turns its lines into rows of
 * the format.  table: what is said of it before its columns are known.  0, or 99 after a
 * message. */
void output_format(Output *output, const Format *format, FormatTable table);

/* Where a command says what is not the table: stdout, unless that was asked to be the table. */
FILE *output_report(const RunOptions *run);

/* The same for a stream that stays open.  0, or 99 after a message. */
void output_open_stream(Output **output, FILE *stream);

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

/* ---- Sinks ----------------------------------------------------------------------------------- */

/* The form that goes to stdout where neither -o nor --format asks for the table. */
typedef enum {
    BARE_TABLE,    /* it, all the same */
    BARE_TEXT,     /* a text for its reader, if it is a terminal; else it */
    BARE_EYES,     /* it as a table for eyes, if it is a terminal; else it */
    BARE_SENTENCES /* what the command says, and no table */
} Bare;

/* row: whatever the command calls one. */
typedef struct {
    Bare bare;
    bool kept; /* CSV is: a run that is interrupted leaves points, and another goes on with them */
    void (*write_header)(FILE *file, const RunOptions *run);
    void (*write_row)(FILE *file, const void *row);
    void (*print)(FILE *file, const void *row); /* BARE_TEXT's; NULL: the command does it itself */
    const char *between;                        /* two such texts */
} SinkKind;

/* output, journal: the one that is open; both NULL: no table is asked for. */
typedef struct {
    const SinkKind *kind;
    const RunOptions *run;
    const RunRecord *record;
    Output *output;
    Journal *journal;
    bool text;  /* a terminal gets a text for its reader */
    size_t put; /* rows */
} Sink;

/* As -o, --format, --resume and --expand say.  record: of the run, the caller's, asked at the end,
 * and by a journal at once.  0; 2 or 99 after a message.  Clear it in every case. */
int sink_open(Sink *sink, const SinkKind *kind, const RunOptions *run, const RunRecord *record)
    __attribute__((warn_unused_result));

/* Writes a row, behind the header if it is the first, or prints it; nothing where no table is asked
 * for.  0; 99 after a message. */
int sink_put(Sink *sink, const void *row) __attribute__((warn_unused_result));

/* Completes the file that rows were put into, and its sidecar.  0; 99 after a message. */
int sink_finish(Sink *sink) __attribute__((warn_unused_result));

/* Rows of a table that is not finished are dropped, or kept in a journal.  All zero is fine. */
void sink_clear(Sink *sink);

/* The same of lines of CSV, which may be kept back; -1 (errno). */
int sink_append(Sink *sink, const char *rows, size_t length) __attribute__((warn_unused_result));

/* Prints that it cannot be written, for errno's reason.  Returns 99. */
int sink_failed(const Sink *sink);

/* Is there anything that another run would go on with?  After what ends a run early: how to go on
 * where there is: what = "5 of 12 points are", or "1 input is". */
bool sink_keeps(const Sink *sink);
void sink_say_kept(const Sink *sink, const char *what);

/* Prints that a journal cannot be gone on with, at a place in its text (journal_line).  Returns
 * 2. */
int sink_refuse(const Sink *sink, const char *at, const char *why);

#endif
