/*
 * The journal of a command's table: what an interrupted run left, what this one adds, and its last
 * words where it is interrupted, too.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_KEPT_H
#define HEADPROOF_HARNESS_COMMANDS_KEPT_H

#include "../base/interrupt.h"
#include "../base/progress.h"
#include "../table/sink.h"

/* what: "point" or "input"; of: how many there are in all, 0: it is not said.  points [count]: that
 * were left; there: with those that were added; unsynced: seconds that the last of them took;
 * error: errno, where one could not be written; refused: they cannot be gone on with. */
typedef struct {
    Sink *sink;
    const char *what;
    size_t of;
    JournalPoint *points;
    size_t count, there;
    double unsynced;
    int error;
    bool refused;
    Interrupt *interrupt;
    Progress progress;
    pthread_mutex_t lock; /* of all of it, and of what the command writes */
} Kept;

/* Before anything else; close it in every case. */
void kept_init(Kept *kept, Sink *sink, const char *what);

/* Takes what the sink's journal has, if it has one.  0; 2 after a message. */
int kept_open(Kept *kept) __attribute__((warn_unused_result));

/* Begins to write behind it, so that a signal leaves what is there.  0; 99 after a message. */
int kept_begin(Kept *kept) __attribute__((warn_unused_result));

/* A point is there; lazy: so many seconds' work may stay off the disk.  The lock is held.  false:
 * it could not be written. */
bool kept_add(Kept *kept, const JournalPoint *point, double lazy)
    __attribute__((warn_unused_result));

/* What is there is not the point that is expected.  Returns 2, after a message. */
int kept_refuse(Kept *kept, const JournalPoint *point);

/* 99 after a message where something could not be written, 2 where a point was refused; else 0. */
int kept_fault(const Kept *kept);

/* status: what the run ends with; after one that is not 0 it says how to go on. */
void kept_close(Kept *kept, int status);

#endif
