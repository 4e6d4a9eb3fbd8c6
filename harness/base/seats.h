/*
 * Workers that are more than may work at once: a worker has a seat while it works.
 *
 * Who needs something that is not there, and that others can work without, gives its seat to one of
 * them and waits behind them: so all come to need it together, and it is fetched once for all.
 */
#ifndef HEADPROOF_HARNESS_BASE_SEATS_H
#define HEADPROOF_HARNESS_BASE_SEATS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct SeatsWaiter SeatsWaiter;

typedef struct {
    size_t count, free;         /* all, and those that nobody has; none: seats do not count */
    SeatsWaiter *first, **last; /* who waits, longest first */
    size_t waiting;             /* so many */
    pthread_mutex_t *lock;      /* the caller's, of this and of what is there */
    /* The caller's, of all that may be needed: is it there, or on its way, and how many use it? */
    const bool *there;
    size_t *users;
    pthread_cond_t changed;
} Seats;

void seats_init(Seats *seats, pthread_mutex_t *lock, const bool *there, size_t *users);
void seats_destroy(Seats *seats);

/* From here on there are so many, all free; 0: they do not count.  Nobody works, or holds the
 * lock. */
void seats_set(Seats *seats, size_t count);

/* With the lock held, which others have while this waits: who calls it has a seat, and is a user of
 * that.  Who has no seat waits for one; who has one, and needs what is not there, gives it up and
 * waits behind those who can work without. */
void seats_use(Seats *seats, size_t what);

/* Who has a seat has none, with the lock held. */
void seats_give(Seats *seats);

#endif
