/*
 * Commands whose part is in Python: `headproof NAME` becomes python3, on command.py of the folder
 * where the program's Python lies; that calls run(WORDS) of the module headproof.command_NAME, with
 * the flags and files that the program has read.
 *
 * That folder is ../lib/headproof of the program's own, where `make install` puts it, or python/ of
 * the source tree.  $HEADPROOF_PYTHON is another python3; $HEADPROOF tells the module which program
 * to ask for rows.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PYTHON_H
#define HEADPROOF_HARNESS_COMMANDS_PYTHON_H

#include <stddef.h>

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
