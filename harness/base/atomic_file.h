/*
 * A file that appears complete or not at all, and whose the files beside it are.
 *
 * PATH.partial is made first, by O_EXCL, and locked: it keeps other runs out, and its first bytes
 * say that the program made it.  What is written goes to PATH.new, which becomes PATH when it is
 * complete and on disk, and a table's sidecar through PATH.json.new to PATH.json.  A run that is
 * killed leaves PATH.partial, and so the next one knows the names with .new for the program's own.
 * What else is at one of these names, a link, a pipe, a file with a second name, is refused.
 *
 * A symbolic link stays one, and what it leads to is replaced.  A path that is not a regular file
 * (a pipe, /dev/full) is written directly.
 */
#ifndef HEADPROOF_HARNESS_BASE_ATOMIC_FILE_H
#define HEADPROOF_HARNESS_BASE_ATOMIC_FILE_H

#include "interrupt.h"

#include <stdbool.h>
#include <stdio.h>

/* How sidecars, and files with .partial, begin. */
#define OWN_MARK "{\"schema\":"

/* A file on its way to being complete.  All zero but for flag, table and kept before. */
typedef struct {
    const char *flag;     /* the flag that the path was given to, for messages; NULL: output */
    bool table;           /* it gets a sidecar */
    bool kept;            /* PATH.partial outlives an interruption */
    char *path;           /* PATH */
    char *fresh;          /* PATH.new */
    char *beside;         /* PATH.json */
    char *beside_fresh;   /* PATH.json.new */
    char *partial;        /* PATH.partial; NULL: written directly, or complete */
    int held;             /* it, open and locked; 0: it is not */
    bool found;           /* it was there */
    FILE *file, *sidecar; /* open for writing */
    Interrupt *interrupt; /* a thread that removes them when a signal ends the run */
    pthread_mutex_t lock; /* held while a name changes, or what a signal is to remove */
} AtomicFile;

/* The path of the file that a path leads to, through links as opening takes them; free it.  NULL:
 * there is no way, or memory is short (errno). */
char *atomic_file_target(const char *given) __attribute__((warn_unused_result));

/* What is at path, which is not followed, waited for or changed, if it cannot be the program's own,
 * for a message; NULL where it can be, or nothing is there.  errno is 0, or why that could not be
 * found out.  *there: something is. */
const char *atomic_file_doubt(bool *there, const char *path);

/* 0 where nothing is in the way of a sidecar of the program's own at path; else 2 (99: the
 * machine's fault), after a message with the flag's name (NULL: output) that quotes path. */
int atomic_file_claim(const char *flag, const char *path) __attribute__((warn_unused_result));

/* The same message, behind what is wrong (NULL: that it is nobody's) and errno. */
int atomic_file_refuse(const char *flag, const char *path, const char *doubt);

/* *file stays where it is.  given: the path as typed.  0; 2 after a message when it cannot be
 * written, another process is writing it, or something is beside it that is not the program's own;
 * 99 when that is the machine's fault.  What is to be kept is not begun yet; else what an
 * interrupted run left is overwritten, but not a sweep's rows. */
int atomic_file_open(AtomicFile *file, const char *given) __attribute__((warn_unused_result));

/* All that is in PATH.partial, with a NUL behind; free it.  NULL (errno): it cannot be read. */
char *atomic_file_text(const AtomicFile *file, size_t *size) __attribute__((warn_unused_result));

/* Opens what is written; 0, or -1 (errno). */
int atomic_file_begin(AtomicFile *file) __attribute__((warn_unused_result));

/* Everything written so far is with the system; -1 (errno) when the disk is full or failing. */
int atomic_file_flush(FILE *file) __attribute__((warn_unused_result));

/* On disk: the names in the directory that path is in. */
int atomic_file_sync_directory(const char *path) __attribute__((warn_unused_result));

/* What was written is on disk under its name, or was written directly, and is closed; -1
 * (errno). */
int atomic_file_publish(AtomicFile *file) __attribute__((warn_unused_result));

/* The end of a file that all was written to, or not: complete, on disk and closed, or dropped.  0;
 * 99 after a message about given.  Clears. */
int atomic_file_finish(AtomicFile *file, bool written, const char *given)
    __attribute__((warn_unused_result));

/* path and suffix in one string; free it. */
char *atomic_file_name(const char *path, const char *suffix) __attribute__((warn_unused_result));

/* Prints that path cannot be written, for errno's reason; returns 99. */
int atomic_file_failed(const char *path);

/* Drops what was not published (an earlier PATH stays as it was) and frees what *file holds. */
void atomic_file_clear(AtomicFile *file);

#endif
