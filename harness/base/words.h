/*
 * Flags among the words of a command that takes no grid.
 */
#ifndef HEADPROOF_HARNESS_BASE_WORDS_H
#define HEADPROOF_HARNESS_BASE_WORDS_H

/* The value of --name VALUE or --name=VALUE, "" where the line ends before it; NULL: argv[*i] is
 * another word.  -o is --output.  Moves *i to the last word read. */
const char *words_value(const char *name, int *i, int argc, char **argv);

#endif
