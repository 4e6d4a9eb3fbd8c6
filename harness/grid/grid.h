/*
 * The points of a sweep: axis flags and case files, read strictly, expanded and deduplicated.
 */
#ifndef HEADPROOF_HARNESS_GRID_GRID_H
#define HEADPROOF_HARNESS_GRID_GRID_H

#include "command.h"
#include "model_source.h"
#include "point.h"

#include <stdio.h>

/* points in grid order; section[i] is the case-file section of point i ("" for the command
 * line alone).  Two points are never the same. */
typedef struct Grid {
    Point *points;
    char **section;
    size_t count;
    SourceList sources; /* the files that weights come from; points refer to them */
} Grid;

/* Options of check: files, or NULL; factor 0: the default. */
typedef struct {
    const char *baseline, *save, *junit_xml, *markdown, *json;
    double factor;
    bool exact, force;
} CheckOptions;

/* After so many seconds of work an evaluation is kept, unless --checkpoint says otherwise. */
#define CHECKPOINT_SECONDS 10

/* Options that are not axes. */
typedef struct RunOptions {
    const char *output;      /* -o, --output; NULL: stdout */
    const char *output_flag; /* what output goes by in messages; NULL: output */
    FILE *stream;            /* where rows go instead, of check; or NULL */
    int threads;             /* --threads; 0: one a core */
    bool dry_run, quiet, verbose;
    const char *tokens;   /* --tokens, of verify and attribute: see inputs.h; or NULL */
    const char *form;     /* --form, of models: fused or three; or NULL */
    const char *by;       /* --by, of attribute: head, sublayer or kind; or NULL */
    const char *logits;   /* --logits, of attribute: all or predicted; or NULL */
    bool certify;         /* --certify: see Point */
    bool resume;          /* --resume: go on with what an interrupted run left */
    double checkpoint;    /* --checkpoint: see checkpoint.h */
    bool team;            /* the ranks of an MPI job share the points */
    size_t shard, shards; /* --shard: from 1; 0: all */
    double memory;        /* --memory: bytes that may be used; 0: the standard */
    bool ignore_extra;    /* tensors of unknown names in a weights file are skipped */
    const char *preset;   /* --preset, of cost: see preset.h; or NULL */
    bool measure;         /* --measure, of cost */
    bool file_only;       /* of sweep: says nothing of failures, and prints no summary */
    CheckOptions check;
} RunOptions;

/* Reads argv[1..] (argv[0] is the command's name) and the case files or the model it names.  A
 * command that searches Omega folds the seeds: it gets one Point per combination of the other axes
 * and seed.
 * 0, or 2 after one message on stderr that names file, line and token (or the flag and its
 * value) and what was expected; 99 when memory is short.  Nothing is evaluated.  */
int grid_read(Grid *grid, RunOptions *run, const CommandInfo *command, int argc, char **argv)
    __attribute__((warn_unused_result));

void grid_clear(Grid *grid);

/* The one command line that reproduces a point: "headproof sweep --construction ...". */
void point_print_command(FILE *file, const Point *point);

#endif
