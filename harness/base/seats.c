/*
 * Workers that are more than may work at once.
 */
#include "seats.h"

struct SeatsWaiter {
    SeatsWaiter *next;
    size_t what;
    bool seated;
};

/* Has the thread a seat? */
static _Thread_local bool seated;

void seats_init(Seats *seats, pthread_mutex_t *lock, const bool *there, size_t *users)
{
    *seats = (Seats){.lock = lock, .there = there, .users = users};
    seats->last = &seats->first;
    pthread_cond_init(&seats->changed, NULL);
}

void seats_destroy(Seats *seats)
{
    pthread_cond_destroy(&seats->changed);
}

void seats_set(Seats *seats, size_t count)
{
    pthread_mutex_lock(seats->lock);
    seats->count = seats->free = count;
    pthread_mutex_unlock(seats->lock);
}

/* Where the next to be seated stands: the first who can work with what is there, else the first. */
static SeatsWaiter **next_of(Seats *seats)
{
    for (SeatsWaiter **at = &seats->first; *at != NULL; at = &(*at)->next) {
        if (seats->there[(*at)->what]) {
            return at;
        }
    }
    return &seats->first;
}

/* Gives the seats that are free to those who wait. */
static void seat(Seats *seats)
{
    while (seats->free > 0 && seats->first != NULL) {
        SeatsWaiter **at = next_of(seats), *waiter = *at;
        *at = waiter->next;
        seats->last = *at == NULL ? at : seats->last;
        waiter->seated = true;
        seats->users[waiter->what]++; /* before anybody finds that it has none */
        seats->waiting--;
        seats->free--;
    }
    pthread_cond_broadcast(&seats->changed);
}

void seats_use(Seats *seats, size_t what)
{
    bool behind = seated && !seats->there[what] && seats->first != NULL;
    if (seats->count == 0 || (seated && !behind)) {
        seats->users[what]++;
        return;
    }
    SeatsWaiter own = {.what = what};
    *seats->last = &own;
    seats->last = &own.next;
    seats->waiting++;
    seats->free += seated;
    seat(seats);
    while (!own.seated) {
        pthread_cond_wait(&seats->changed, seats->lock);
    }
    seated = true;
}

void seats_give(Seats *seats)
{
    seats->free += seated;
    seated = false;
    seat(seats);
}
