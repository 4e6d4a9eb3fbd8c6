/*
 * The processes of a run: this one, or the ranks of an MPI job.
 *
 * Built without MPI, or started without mpirun, a process is alone: rank 0 of 1.  A fault of MPI
 * ends the whole job, as MPI's own handler does.
 */
#ifndef HEADPROOF_HARNESS_BASE_TEAM_H
#define HEADPROOF_HARNESS_BASE_TEAM_H

#include <stddef.h>

/* The MPI library and its version, "none" in a build without. */
#define TEAM_LIBRARY_TEXT 256
void team_library(char text[TEAM_LIBRARY_TEXT]);

/* Joins the job, where mpirun or srun started this process as part of one; leaves it at the end.
 * 0; 99 after a message. */
int team_join(void) __attribute__((warn_unused_result));
void team_leave(void);

int team_rank(void);
int team_size(void);

/* The largest of all ranks' values, on every rank.  Every rank must call it. */
int team_largest(int value);

void team_send(int to, const void *bytes, size_t count);

/* Waits, without using the processor, for a message from any rank: *bytes, to be freed, with a NUL
 * behind.  Returns the rank. */
int team_receive(char **bytes, size_t *count);

/* Ends every process of the job now. */
void team_abort(int code);

#endif
