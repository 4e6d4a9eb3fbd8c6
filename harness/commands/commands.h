/*
 * The commands: one row each of a table (commands.c), and what runs them.
 *
 * Umbrella header: what runs a command is in the command's own file, help in JSON in help_json.c.
 *
 * A new one is a file of its own, its name and prototype here, and a row in commands.c.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_COMMANDS_H
#define HEADPROOF_HARNESS_COMMANDS_COMMANDS_H

#include "../grid/grid.h"

/* In the order of the help. */
typedef enum {
    COMMAND_SWEEP,
    COMMAND_DEPTH,
    COMMAND_MIN_OMEGA,
    COMMAND_GROWTH,
    COMMAND_CHECK,
    COMMAND_EXPORT,
    COMMAND_VERIFY,
    COMMAND_CONVERT,
    COMMAND_GUARANTEE,
    COMMAND_COST,
    COMMAND_ATTRIBUTE,
    COMMAND_MERGE,
    COMMAND_PLOT,
    COMMAND_REPORT,
    COMMAND_INFO,
    COMMAND_HELP,
    COMMAND_COUNT
} Command;

/* command < COMMAND_COUNT. */
const CommandInfo *commands_get(Command command);

/* The command of that name, or NULL. */
const CommandInfo *commands_find(const char *name);

/* 2, after a message that names them all. */
int commands_unknown(const char *name);

/* Prints `headproof help COMMAND`. */
void commands_print_help(const CommandInfo *command, bool all);

/* `headproof help --json`: prints commands [count], axes, flags, columns and keys of models. */
void help_print_json(FILE *file, const CommandInfo *commands, size_t count);

/* --dry-run: prints the command line of each of the shard's points, and on stderr, unless it is to
 * be quiet, how long all of them and the largest will take, and with how much memory.  Nothing is
 * evaluated.  0; 2 or 99 after a message. */
int dry_run(const CommandInfo *command, const Grid *grid, const RunOptions *run)
    __attribute__((warn_unused_result));

/* The commands that take a grid get it read and checked; each returns an exit code.  --dry-run
 * comes to those alone that foretell. */

/* Rows of every point, as CSV (or a table on a terminal).  Also `depth`. */
int command_sweep(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

/* The smallest, largest and best Omega of every point for its tolerance. */
int command_min_omega(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

/* The laws by which errors grow, of a grid's rows or of tables. */
int command_growth(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));
void growth_write_header(FILE *file, const RunOptions *run);

/* A command that is in Python, on grid->tables (python.h). */
int command_python(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

/* The verdict on the grid's rows against a baseline or tolerances (check.h). */
int command_check(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

/* The one point's weights, input and results, as a safetensors file (export.h). */
int command_export(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

/* The rewrite of a trained model over all its inputs, and what it does to predictions. */
int command_verify(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

/* The attention-only model of a trained one, as plain heads in a safetensors file. */
int command_convert(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

/* How far the rewrite can be from an infinite Omega's, proven for every input (guarantee/). */
int command_guarantee(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

/* The attention-only model's logits as sums over heads and source tokens (attribute.h). */
int command_attribute(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

/* Heads, parameters and arithmetic of a point's sizes, as CSV or text (docs/convert.md). */
int command_cost(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

/* Puts the shards of a sweep together, which are grid->tables: the bytes of one run's file, and its
 * verdict.  Shards of other grids or versions, missing and doubled ones are refused; other machines
 * are said and recorded. */
int command_merge(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

#endif
