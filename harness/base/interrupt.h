/*
 * Signals that ask a run to end: SIGINT, SIGTERM, SIGHUP.
 *
 * A thread waits for them.  It takes the lock under which results are written, so that none is
 * torn, lets the caller say what is to be said, and lets the signal end the process as it does by
 * default.  Signals that were ignored at the start (nohup) stay ignored.
 */
#ifndef HEADPROOF_HARNESS_BASE_INTERRUPT_H
#define HEADPROOF_HARNESS_BASE_INTERRUPT_H

#include <pthread.h>
#include <stdbool.h>

typedef struct Interrupt Interrupt;

/* Called before the process ends.  locked: the calling thread holds the lock; it does not where
 * two seconds were not enough to get it (a disk that hangs), nor where it had it before, and
 * what the lock guards may be half done. */
typedef void LastWords(void *context, bool locked);

/* Makes the lock that interrupt_open is given.  A thread whose memory is short while it holds the
 * lock says its last words at once. */
void interrupt_lock_init(pthread_mutex_t *lock);

/* Call before the run's threads start; one that another is open around takes no signal.  Where
 * memory is short the last words of all of them are said, the newest first. */
Interrupt *interrupt_open(pthread_mutex_t *lock, LastWords *say, void *context)
    __attribute__((warn_unused_result));

/* From here on signals end the process at once.  NULL is fine. */
void interrupt_close(Interrupt *interrupt);

#endif
