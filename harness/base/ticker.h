/*
 * A thread that has progress told while one unit of work takes long: from the first second, and
 * once a minute where there is no terminal.
 */
#ifndef HEADPROOF_HARNESS_BASE_TICKER_H
#define HEADPROOF_HARNESS_BASE_TICKER_H

#include "progress.h"

#include <pthread.h>

typedef struct Ticker Ticker;

/* From here until ticker_close the progress is touched under the lock alone.  NULL: there is
 * nothing to tell, or no thread to be had; progress is then told when units are done. */
Ticker *ticker_open(pthread_mutex_t *lock, Progress *progress);

/* The lock is not held by the caller. */
void ticker_close(Ticker *ticker);

#endif
