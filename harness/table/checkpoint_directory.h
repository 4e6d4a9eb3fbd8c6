/*
 * The directory that checkpoints lie in (private to checkpoint.c): what may be in it, and what is
 * removed from it.
 */
#ifndef HEADPROOF_HARNESS_TABLE_CHECKPOINT_DIRECTORY_H
#define HEADPROOF_HARNESS_TABLE_CHECKPOINT_DIRECTORY_H

#include <stddef.h>

/* The beginning of every checkpoint, in any version. */
#define CHECKPOINT_BEGINNING "headproof checkpoint "

/* 0 where path is no directory of checkpoints' way: nothing, or a directory that is no link and
 * holds checkpoints alone.  Else 2 (99: the machine's fault) after a message with the flag's name
 * (NULL: output) that quotes what is in the way. */
int checkpoint_directory_claim(const char *flag, const char *path)
    __attribute__((warn_unused_result));

/* Removes the checkpoints whose name begins so. */
void checkpoint_directory_remove(const char *path, const char *prefix);

/* Opens it; -1 (errno).  The second makes it where it is not there. */
int checkpoint_directory_open(const char *path) __attribute__((warn_unused_result));
int checkpoint_directory_make(const char *path) __attribute__((warn_unused_result));

/* A new file in an open directory: its descriptor, and name [size] = path's and a suffix of its
 * own, whatever threads or ranks write at the same time; or -1 (errno). */
int checkpoint_directory_create(int directory, char *name, size_t size, const char *path)
    __attribute__((warn_unused_result));

#endif
