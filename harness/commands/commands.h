/*
 * The commands: one row each of a table (commands.c), and what runs them.
 *
 * Umbrella header: what runs a command is in the command's own file, help in JSON in help_json.c,
 * and what becomes Python in python.c.
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

/* --dry-run comes to those alone that foretell. */
RunCommand command_sweep; /* also `depth` */
RunCommand command_min_omega;
RunCommand command_growth;
RunCommand command_check;
RunCommand command_export;
RunCommand command_verify;
RunCommand command_convert;
RunCommand command_guarantee;
RunCommand command_cost;
RunCommand command_attribute;
RunCommand command_merge;
RunCommand command_python; /* `plot` and `report` */

void sweep_write_header(FILE *file, const RunOptions *run);
void growth_write_header(FILE *file, const RunOptions *run);

/* ---- Commands whose part is in Python ------------------------------------------------------- */

/* The exit code where something that is not part of the program is not installed. */
enum { EXIT_ABSENT = 77 };

/* What Python is told, up to a NULL: the command, its flags as --NAME or --NAME=VALUE, --, and
 * files.  Empty ({0}) before; clear it. */
typedef struct {
    char **words;
    size_t count;
} PythonWords;

void python_add(PythonWords *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
void python_clear(PythonWords *words);

/* Are rows and cells what a table of the program has?  What is JSON has none.  0; 2 or 99 after a
 * message. */
int python_check_table(const char *path) __attribute__((warn_unused_result));

/* Becomes Python.  Returns only where it cannot: the exit code, after a message. */
int python_become(const PythonWords *words) __attribute__((warn_unused_result));

#endif
