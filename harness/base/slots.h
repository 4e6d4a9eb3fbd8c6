/*
 * Slots for threads that are more than may work at once.
 *
 * A thread holds a slot while it works on a part.  If the part that it needs next is absent, it
 * releases the slot to a thread whose part is there and queues: so all come to need the absent part
 * together, and it is fetched once for all.
 */
#ifndef HEADPROOF_HARNESS_BASE_SLOTS_H
#define HEADPROOF_HARNESS_BASE_SLOTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Parts are numbered, and any thread may need any of them. */
typedef struct {
    size_t count, free;    /* slots in all, and those that no thread holds; count 0: no limit */
    size_t parts;          /* length of what follows */
    const bool *there;     /* the caller's: is the part there, or on its way? */
    size_t *users;         /* the caller's: so many threads use the part */
    size_t *waiting;       /* so many wait for it, or for a slot to use it */
    size_t *granted;       /* so many got a slot, and have not yet gone on */
    pthread_mutex_t *lock; /* the caller's, of all this */
    pthread_cond_t changed;
    pthread_key_t holds; /* of a thread: not NULL while it holds a slot */
} Slots;

void slots_init(Slots *slots, pthread_mutex_t *lock, const bool *there, size_t *users,
                size_t parts);
void slots_destroy(Slots *slots);

/* There are so many slots, all free; 0: no limit.  Called while no thread holds one, without the
 * lock. */
void slots_set(Slots *slots, size_t count);

/* Called with the lock, which is given up while the thread waits.  On return the thread holds a
 * slot and is a user of the part.  If the part is absent, and others can go on, it releases its
 * slot and queues. */
void slots_acquire(Slots *slots, size_t part);

/* The calling thread holds no slot any more.  Called with the lock. */
void slots_release(Slots *slots);

#endif
