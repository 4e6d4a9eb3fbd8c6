/*
 * Workers that are more than may work at once.
 */
#include "seats.h"

#include "../../memory/need.h"

#include <stdlib.h>

void seats_init(Seats *seats, pthread_mutex_t *lock, const bool *there, size_t *users, size_t parts)
{
    *seats = (Seats){.lock = lock, .there = there, .users = users, .parts = parts};
    seats->waiting = need_zeros(parts, sizeof *seats->waiting);
    seats->granted = need_zeros(parts, sizeof *seats->granted);
    pthread_cond_init(&seats->changed, NULL);
    if (pthread_key_create(&seats->seated, NULL) != 0) {
        need_is_short();
    }
}

void seats_destroy(Seats *seats)
{
    pthread_key_delete(seats->seated);
    pthread_cond_destroy(&seats->changed);
    free(seats->waiting);
    free(seats->granted);
}

void seats_set(Seats *seats, size_t count)
{
    pthread_mutex_lock(seats->lock);
    seats->count = seats->free = count;
    pthread_mutex_unlock(seats->lock);
}

/* Has the thread a seat? */
static bool is_seated(const Seats *seats)
{
    return pthread_getspecific(seats->seated) != NULL;
}

/* The part whose waiters are seated next: one that is there, else one that most wait for; parts:
 * nobody waits. */
static size_t next_of(const Seats *seats)
{
    size_t most = seats->parts;
    for (size_t part = 0; part < seats->parts; part++) {
        if (seats->waiting[part] > 0 && seats->there[part]) {
            return part;
        }
        bool more = most == seats->parts || seats->waiting[part] > seats->waiting[most];
        most = seats->waiting[part] > 0 && more ? part : most;
    }
    return most;
}

/* Gives the seats that are free to those who wait, who are users from then on: before anybody finds
 * that their part has none. */
static void seat(Seats *seats)
{
    size_t part;
    while (seats->free > 0 && (part = next_of(seats)) < seats->parts) {
        seats->waiting[part]--;
        seats->granted[part]++;
        seats->users[part]++;
        seats->free--;
    }
    pthread_cond_broadcast(&seats->changed);
}

void seats_use(Seats *seats, size_t part)
{
    bool seated = is_seated(seats), others = next_of(seats) < seats->parts;
    bool behind = seated && !seats->there[part] && others;
    if (seats->count == 0 || (seated && !behind)) {
        seats->users[part]++;
        return;
    }
    seats->waiting[part]++;
    seats->free += seated;
    seat(seats);
    while (seats->granted[part] == 0) {
        pthread_cond_wait(&seats->changed, seats->lock);
    }
    seats->granted[part]--;
    if (pthread_setspecific(seats->seated, seats) !=
        0) { /* goes on without, as it could not tell */
        seats->free++;
        seat(seats);
    }
}

void seats_give(Seats *seats)
{
    seats->free += is_seated(seats);
    (void)pthread_setspecific(seats->seated, NULL);
    seat(seats);
}
