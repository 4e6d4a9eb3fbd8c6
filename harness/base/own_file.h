/*
 * Files that are the program's own.
 *
 * Beside a file that a user names the program makes others: FILE.json, FILE.partial, ...  What it
 * finds under such a name it replaces or removes only when its first bytes prove that the program
 * wrote it.  A link, a pipe, a file that has another name too, or somebody else's is left alone.
 */
#ifndef HEADPROOF_HARNESS_BASE_OWN_FILE_H
#define HEADPROOF_HARNESS_BASE_OWN_FILE_H

#include <stdbool.h>

/* What a new file begins with, until it is written over: a run that is killed before that leaves
 * no empty file, which could be anybody's.  It is the beginning of a table's header. */
#define OWN_FILE_MARK "construction,"

/* NULL when an open file is the program's own; else what it is instead, for a message.
 * errno is 0, or why that could not be found out; after own_file_doubt_at_name too. */
const char *own_file_doubt(int fd);

/* "it is a link", or the like, of a path that cannot be the program's own, as it is no regular
 * file; else NULL.  It is not opened. */
const char *own_file_doubt_at_name(const char *path);

/* True for rows of a sweep, which a run may go on with. */
bool own_file_has_rows(int fd);

/* 0 where nothing is in the way of a file of the program's own at path; else 2 (99: the machine's
 * fault), after a message with the flag's name (NULL: output) that quotes path. */
int own_file_claim(const char *flag, const char *path) __attribute__((warn_unused_result));

/* The message of own_file_claim, behind a doubt and its errno; returns 2, or 99. */
int own_file_refuse(const char *flag, const char *path, const char *doubt);

/* Makes a file at path, where none is, that begins with the mark, and never is there without it
 * where the file system can do so; at offset 0.  Its descriptor, or -1 (errno). */
int own_file_make(const char *path) __attribute__((warn_unused_result));

/* Writes the mark over the first bytes; 0, or -1 (errno). */
int own_file_mark(int fd) __attribute__((warn_unused_result));

/* Makes a file at path, which takes the place of a leftover of the program's own: its descriptor,
 * or -1 (errno). */
int own_file_create(const char *path) __attribute__((warn_unused_result));

#endif
