/*
 * Commands whose part is in Python: `headproof NAME` becomes python3, on command.py of the folder
 * where the program's Python lies; that calls run(WORDS) of the module headproof.command_NAME, with
 * argv[2..].
 *
 * That folder is ../lib/headproof of the program's own, where `make install` puts it, or python/ of
 * the source tree.  $HEADPROOF_PYTHON is another python3; $HEADPROOF tells the module which program
 * to ask for rows.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PYTHON_H
#define HEADPROOF_HARNESS_COMMANDS_PYTHON_H

/* The exit code where something that is not part of the program is not installed. */
enum { EXIT_ABSENT = 77 };

/* Runs a command that takes no grid, once its words are read: unknown flags, and an output that is
 * an input, are refused here. */
int python_words(int argc, char **argv) __attribute__((warn_unused_result));

/* Becomes Python, for the command argv[1].  Returns only where it cannot: the exit code, after a
 * message. */
int python_become(int argc, char **argv) __attribute__((warn_unused_result));

#endif
