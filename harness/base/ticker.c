/*
 * The thread that tells of progress: it sleeps, a fraction of a second at a time.
 */
#include "ticker.h"

#include "../../memory/need.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { TICK_NANOSECONDS = 250000000, SECOND = 1000000000 };

struct Ticker {
    pthread_t thread;
    pthread_mutex_t *lock;
    pthread_cond_t stop;
    bool stopped;
    Progress *progress;
};

static void *tick(void *argument)
{
    Ticker *ticker = argument;
    pthread_mutex_lock(ticker->lock);
    while (!ticker->stopped) {
        struct timespec until; /* waits until it is stopped, or a tick has passed */
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK_NANOSECONDS;
        until.tv_sec += until.tv_nsec / SECOND;
        until.tv_nsec %= SECOND;
        (void)pthread_cond_timedwait(&ticker->stop, ticker->lock, &until);
        if (!ticker->stopped) {
            progress_tick(ticker->progress);
        }
    }
    pthread_mutex_unlock(ticker->lock);
    return NULL;
}

Ticker *ticker_open(pthread_mutex_t *lock, Progress *progress)
{
    Ticker *ticker = progress->sink.stream != NULL ? need_zeros(1, sizeof *ticker) : NULL;
    if (ticker == NULL) {
        return NULL;
    }
    ticker->lock = lock;
    ticker->progress = progress;
    pthread_cond_init(&ticker->stop, NULL);
    sigset_t all, before; /* signals are for the threads that were there before */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&ticker->thread, NULL, tick, ticker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started) {
        pthread_cond_destroy(&ticker->stop);
        free(ticker);
        return NULL;
    }
    return ticker;
}

void ticker_close(Ticker *ticker)
{
    if (ticker == NULL) {
        return;
    }
    pthread_mutex_lock(ticker->lock);
    ticker->stopped = true;
    pthread_cond_signal(&ticker->stop);
    pthread_mutex_unlock(ticker->lock);
    pthread_join(ticker->thread, NULL);
    pthread_cond_destroy(&ticker->stop);
    free(ticker);
}
