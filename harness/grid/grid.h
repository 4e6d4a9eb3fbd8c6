/*
 * A command line read: the points it asks for, expanded from flags and case files, and its options.
 */
#ifndef HEADPROOF_HARNESS_GRID_GRID_H
#define HEADPROOF_HARNESS_GRID_GRID_H

#include "command.h"
#include "../point/model_source.h"
#include "../point/point.h"

#include <stdio.h>

typedef struct Grid {
    Point *points;  /* [count], in grid order; no two are the same */
    char **section; /* [count], the case-file section of each; "": the command line alone */
    size_t count;
    uint64_t listed; /* the axes that were given, or that a point's key tells */
    uint64_t idle;   /* those that flags give, and no point has */
    char **tables;   /* the operands, of which [table_count] are files of rows */
    size_t table_count;
    SourceList sources; /* the files that weights come from; points refer to them */
} Grid;

/* Options of growth, or NULL: a file, and an axis with its values as "depth=192,384".  norm: that
 * of --norm, which points without a tolerance forget; NORM_COUNT: none. */
typedef struct {
    const char *check, *predict;
    size_t evaluations; /* --evaluations; 0: every point */
    Norm norm;
} GrowthOptions;

/* Options of check. */
typedef struct {
    const char *baseline, *save, *junit_xml, *markdown, *json; /* files, or NULL */
    double factor;                                             /* 0: the default */
    bool exact, force, update;
} CheckOptions;

/* Options of plot, as text: what Python reads; NULL: not given. */
typedef struct {
    const char *x, *error, *norm, *tolerance, *size, *title, *caption;
    bool laws;
} PlotOptions;

/* Options that are not axes. */
typedef struct RunOptions {
    int argc; /* the program's arguments as typed, for the sidecar; the caller's of grid_read */
    char **argv;
    const char *output;      /* -o, --output; NULL: stdout */
    const char *format;      /* --format: see table/format.h; NULL: csv */
    const char *output_flag; /* what output goes by in messages; NULL: output */
    FILE *stream;            /* where rows go instead, of check; or NULL */
    double *seconds;         /* of check, [points]: that each takes in a sweep; or NULL */
    const char *tokens;      /* --tokens, of verify and attribute: see inputs.h; or NULL */
    const char *tokens_file; /* --tokens-file, of verify: a file, or NULL */
    size_t window, stride;   /* --window, --stride, of those; 0: as standard */
    const char *positions;   /* --positions: see models/positions.h; or NULL */
    const char *network;     /* --network, of models: fused or three; or NULL */
    const char *layout;      /* --layout, of convert: plain or shared; or NULL */
    const char *by;          /* --by, of attribute: head, sublayer or kind; or NULL */
    const char *logits;      /* --logits, of attribute: all or predicted; or NULL */
    size_t shard, shards;    /* --shard: from 1; 0: all */
    double memory;           /* --memory: bytes that may be used; 0: the standard */
    const char *preset;      /* --preset, of cost: see preset.h; or NULL */
    size_t threads;          /* --threads; 0: one a core (run_threads) */
    size_t digits;           /* --digits: of every error in a table; 0: REF_DIGITS */
    const char *color;       /* --color: auto, always or never; NULL: auto */
    bool dry_run, quiet, verbose;
    bool on_stdout;       /* -o -, or --format alone: stdout is the table, and no more */
    bool resume;          /* --resume: go on with what an interrupted run left */
    bool team;            /* the ranks of an MPI job share the points */
    ModelFileFlags model; /* --ignore-extra, --ignore-config, --position-embedding, --blocks,
                             --witness: what is said of weights files */
    double input_norm;    /* --input-norm, of guarantees; 0: it was not given */
    const char *over;     /* --over, of min-omega: omega or tau; NULL: omega */
    bool every_input;     /* --every-input, of verify, min-omega and check */
    bool measure;         /* --measure, of cost */
    bool certify;         /* --certify: say how many cells are only bounds */
    bool propagation;     /* --propagation, of sweep and depth: every point has it too */
    bool expand;          /* --expand, of sweep and depth: see table/table.h */
    bool file_only;       /* of sweep: says nothing of failures, and prints no summary */
    CheckOptions check;
    GrowthOptions growth;
    PlotOptions plot;
} RunOptions;

/* Is it tau that is searched, at an Omega? */
bool run_is_over_tau(const RunOptions *run);

/* How many threads it has: as many as --threads says, or one a core; of a rank of MPI, one. */
int run_threads(const RunOptions *run);

/* Reads argv[1..] (argv[0] is the command's name) and the case files or the model it names.  For a
 * command that searches Omega, points have no Omega; those that differ in their seed alone are
 * searched together by it.  0, or 2 after one message on stderr that names file, line and token (or
 * the flag and its value) and what was expected; 99.  Nothing is evaluated. */
int grid_read(Grid *grid, RunOptions *run, const CommandInfo *command, int argc, char **argv)
    __attribute__((warn_unused_result));

/* The first point that a tolerance judges; NULL: there is none. */
const Point *grid_first_judged(const Grid *grid);

void grid_clear(Grid *grid);

#endif
