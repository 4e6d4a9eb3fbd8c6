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

/* Seats for parts that are numbered, any of which somebody may need. */
typedef struct {
    size_t count, free;    /* all, and those that nobody has; count 0: nobody needs one */
    size_t parts;          /* length of what follows */
    const bool *there;     /* the caller's: is it there, or on its way? */
    size_t *users;         /* the caller's: so many use it */
    size_t *waiting;       /* so many wait for it, or for a seat to use it */
    size_t *granted;       /* so many have a seat, and have not yet gone on */
    pthread_mutex_t *lock; /* the caller's, of all this */
    pthread_cond_t changed;
    pthread_key_t seated; /* of a thread: not NULL where it has a seat */
} Seats;

void seats_init(Seats *seats, pthread_mutex_t *lock, const bool *there, size_t *users,
                size_t parts);
void seats_destroy(Seats *seats);

/* There are so many seats, all free; 0: nobody needs one.  Called while nobody has a seat, without
 * the lock. */
void seats_set(Seats *seats, size_t count);

/* With the lock held, which others have while this waits: who calls it has a seat, and is a user of
 * the part.  Who has no seat waits for one; who has one, and needs what is not there, gives it up
 * and waits behind those who can work without. */
void seats_use(Seats *seats, size_t part);

/* The calling thread has no seat from here on.  With the lock held. */
void seats_give(Seats *seats);

#endif
