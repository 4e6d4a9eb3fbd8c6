/*
 * Checkpoints: the states of evaluations that take long, in the directory FILE.csv.checkpoint.
 *
 * An evaluation (the plan of a case, its base trajectory, the rows of a point, ...) is one file,
 * which is replaced after a layer when it is worth it, whole or not at all.  Its head says whose it
 * is and of which version, machine and weights: anything else is not taken up.  Without a
 * directory that can be written a run goes on as well, and says so once.
 */
#ifndef HEADPROOF_HARNESS_TABLE_CHECKPOINT_H
#define HEADPROOF_HARNESS_TABLE_CHECKPOINT_H

#include "identity.h"

/* The directory beside a results file. */
#define CHECKPOINT_SUFFIX ".checkpoint"

/* Of a run; threads share it. */
typedef struct Checkpoints Checkpoints;

/* As the run's options say; *checkpoints is NULL where rows go to no regular file.  identity: of
 * its grid.  0, or 99 after a message. */
int checkpoints_open(Checkpoints **checkpoints, const RunOptions *run, const GridIdentity *identity)
    __attribute__((warn_unused_result));

/* Before any work: 0, or 2 after a message where something else than checkpoints is in the
 * directory or in its place.  This and the next three: NULL is fine. */
int checkpoints_claim(const Checkpoints *checkpoints) __attribute__((warn_unused_result));

/* The grid's point is committed: drops what it has left, and after the last point of its case what
 * that has. */
void checkpoints_commit(const Checkpoints *checkpoints, const Grid *grid, size_t index);

/* Drops all there are. */
void checkpoints_drop(const Checkpoints *checkpoints);

void checkpoints_clear(Checkpoints *checkpoints);

/* Of one owner in one thread: a point, or, with shared, what the points of its case share, whose
 * first this is.  last: when work began that is in no checkpoint; cost: seconds of the last one. */
typedef struct {
    Checkpoints *checkpoints;
    char *identity;
    char owner[DIGEST_TEXT];
    double last, cost;
    RefKeeper keeper;
} Checkpoint;

/* *checkpoint stays where it is until it is cleared.  checkpoints NULL: nothing is kept.  false:
 * memory is short. */
void checkpoint_init(Checkpoint *checkpoint, Checkpoints *checkpoints, const Point *point,
                     bool shared);
void checkpoint_clear(Checkpoint *checkpoint);

/* After so much work since the last checkpoint, which took `cost` seconds (0: there is none yet):
 * are a run's `seconds` over, or are they 0, and is a checkpoint a hundredth of that work? */
bool checkpoint_is_due(double seconds, double worked, double cost);

/* For what evaluates; NULL: nothing is kept. */
const RefKeeper *checkpoint_keeper(const Checkpoint *checkpoint);

#endif
