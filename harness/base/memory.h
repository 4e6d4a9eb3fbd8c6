/*
 * The memory that there is, and how much of it a run uses.
 */
#ifndef HEADPROOF_HARNESS_BASE_MEMORY_H
#define HEADPROOF_HARNESS_BASE_MEMORY_H

/* Bytes of the machine's memory, or what the process may map (ulimit -v) where that is less;
 * infinite where the system does not say. */
double memory_there(void);

/* Bytes that may be used: those asked for, if any (> 0), else four fifths of what is there. */
double memory_room(double asked);

#endif
