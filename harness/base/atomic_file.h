/*
 * A file that appears complete or not at all: what is written goes to PATH.partial, which becomes
 * PATH when it is complete and on disk.  A symbolic link stays one, and what it leads to is
 * replaced.  A path that is not a regular file (a pipe, /dev/full) is written directly.
 */
#ifndef HEADPROOF_HARNESS_BASE_ATOMIC_FILE_H
#define HEADPROOF_HARNESS_BASE_ATOMIC_FILE_H

#include "interrupt.h"

#include <stdbool.h>
#include <stdio.h>

/* A file on its way to being complete. */
typedef struct AtomicFile {
    const char *flag;          /* the flag that the path was given to, for messages; NULL: output */
    char *path;                /* PATH */
    char *partial;             /* PATH.partial; NULL: written directly, or complete */
    FILE *file;                /* open for writing */
    bool kept;                 /* PATH.partial outlives an interruption */
    Interrupt *interrupt;      /* a thread that removes PATH.partial when a signal ends the run */
    struct AtomicFile *beside; /* a file that is published, and removed, with this one, or NULL */
    pthread_mutex_t lock;      /* held by who changes a name, or what a signal is to remove */
} AtomicFile;

/* The path of the file that a path leads to, through links as opening takes them; free it.  NULL:
 * there is no way, or memory is short (errno). */
char *atomic_file_target(const char *given) __attribute__((warn_unused_result));

/* *file is empty ({0}) before, but for its flag, and stays where it is.  given: the path as typed.
 * 0; 2 after a message when it cannot be written, another process is writing it, or something is at
 * PATH.partial that is not the program's own (own_file.h); 99 when that is the machine's fault.
 * What an interrupted run left at PATH.partial is overwritten, but not a sweep's. */
int atomic_file_open(AtomicFile *file, const char *given) __attribute__((warn_unused_result));

/* The same, but what is at PATH.partial stays, to be read and written on, and stays after clear
 * unless kept is set false. */
int atomic_file_open_kept(AtomicFile *file, const char *given) __attribute__((warn_unused_result));

/* The same for a regular file beside another, which it stays with: path is other's and the suffix.
 * As nobody has named it, what is there must be the program's own too. */
int atomic_file_open_beside(AtomicFile *file, AtomicFile *other, const char *suffix,
                            const char *given) __attribute__((warn_unused_result));

bool atomic_file_is_direct(const AtomicFile *file);

/* Everything written so far is with the system; -1 (errno) when the disk is full or failing. */
int atomic_file_flush(FILE *file) __attribute__((warn_unused_result));

/* The same, and on disk, unless it is written directly. */
int atomic_file_sync(AtomicFile *file) __attribute__((warn_unused_result));

/* On disk too: the names in the directory that path is in. */
int atomic_file_sync_directory(const char *path) __attribute__((warn_unused_result));

/* After a sync: PATH.partial becomes PATH, and so does what was opened beside it; on disk too.
 * Nothing where it is written directly. */
int atomic_file_publish(AtomicFile *file) __attribute__((warn_unused_result));

/* After it is published: closing is what lets another run in. */
int atomic_file_close(AtomicFile *file) __attribute__((warn_unused_result));

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
