/*
 * The words of a command that takes no grid: flags of its own, and files.
 */
#ifndef HEADPROOF_HARNESS_GRID_OWN_WORDS_H
#define HEADPROOF_HARNESS_GRID_OWN_WORDS_H

#include "flags.h"

enum { OWN_FLAGS_MOST = 16 };

typedef struct {
    const char *values[OWN_FLAGS_MOST]; /* of own_flags; NULL: not given; "": without a value */
    char **files;                       /* [file_count], pointers into argv */
    size_t file_count;
} OwnWords;

/* Reads argv[2..] into *words, which is empty ({0}) before; behind -- all are files.  0; 2 after a
 * message: a word that is none of them, a flag that is there twice or lacks its value, or no file;
 * 99.  Clear it in every case. */
int own_words_read(OwnWords *words, const CommandInfo *command, int argc, char **argv)
    __attribute__((warn_unused_result));
void own_words_clear(OwnWords *words);

/* No file is written over, nor its sidecar: 0, or 2 after a message; 99.  is_table: what is written
 * has a sidecar. */
int own_words_spare_files(const OwnWords *words, const char *output, bool is_table)
    __attribute__((warn_unused_result));

#endif
