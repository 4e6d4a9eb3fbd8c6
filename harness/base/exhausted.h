/*
 * Libraries that cannot go on: GMP and MPFR without memory, OpenMP without a thread;
 * OpenBLAS without one ends the process before main, by SIGINT, and a small stack ends it by
 * SIGSEGV.
 *
 * None of them can say so to its caller: by themselves they abort, or call exit(1), which here
 * would mean a numerical failure.  (Jansson could, but blames what it reads.)  Instead the run ends
 * as it does where the program itself is short of memory (memory/need.h).
 */
#ifndef HEADPROOF_HARNESS_BASE_EXHAUSTED_H
#define HEADPROOF_HARNESS_BASE_EXHAUSTED_H

/* First in main, before any number is made. */
void exhausted_setup(void);

/* The program itself has come to its end: from here on exit is what it asks for. */
void exhausted_over(void);

#endif
