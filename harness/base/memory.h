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

/* Of layers' weights that take so many bytes in all: those that may stay in memory, of `room` that
 * may be used (0: any), where others are made or read when they are needed; 0: all of them.
 * HEADPROOF_HELD in the environment is the bytes that stay, of any model. */
double memory_held(double bytes, double room);

/* "2.4 GiB", "12 MiB", at least "1 MiB". */
enum { MEMORY_TEXT = 32 };
const char *memory_print(char text[MEMORY_TEXT], double bytes);

#endif
