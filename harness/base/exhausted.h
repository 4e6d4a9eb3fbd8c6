/*
 * Libraries that cannot go on: GMP, MPFR and FLINT without memory, OpenMP without a thread.
 *
 * None of them can say so to who called it: by themselves they abort, or call exit(1), which here
 * would mean a numerical failure.  (Jansson could, but blames what it reads.)  Instead the run ends
 * at once as an interrupted one does, with a message, what is on disk as it is, and 99.
 */
#ifndef HEADPROOF_HARNESS_BASE_EXHAUSTED_H
#define HEADPROOF_HARNESS_BASE_EXHAUSTED_H

#include <stdbool.h>

/* First in main, before any number is made. */
void exhausted_setup(void);

/* The program itself has come to its end: from here on exit is what it asks for. */
void exhausted_over(void);

/* Says and does the last things before such an end.  It is called once, in any thread, while any
 * lock may be held. */
typedef void ExhaustedEnd(void *context);
/* Names it, with its context; NULL: nothing is to be done. */
void exhausted_at_end(ExhaustedEnd *end, void *context);

#endif
