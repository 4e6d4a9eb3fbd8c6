/*
 * Slots for threads that are more than may work at once.
 */
#include "slots.h"

#include "../../memory/need.h"

#include <stdlib.h>

void slots_init(Slots *slots, pthread_mutex_t *lock, const bool *there, size_t *users, size_t parts)
{
    *slots = (Slots){.lock = lock, .there = there, .users = users, .parts = parts};
    slots->waiting = need_zeros(parts, sizeof *slots->waiting);
    slots->granted = need_zeros(parts, sizeof *slots->granted);
    pthread_cond_init(&slots->changed, NULL);
    if (pthread_key_create(&slots->holds, NULL) != 0) {
        need_is_short();
    }
}

void slots_destroy(Slots *slots)
{
    pthread_key_delete(slots->holds);
    pthread_cond_destroy(&slots->changed);
    free(slots->waiting);
    free(slots->granted);
}

void slots_set(Slots *slots, size_t count)
{
    pthread_mutex_lock(slots->lock);
    slots->count = slots->free = count;
    pthread_mutex_unlock(slots->lock);
}

static bool has_slot(const Slots *slots)
{
    return pthread_getspecific(slots->holds) != NULL;
}

/* The part whose waiters get a slot next: one that is there, else the one that most wait for;
 * parts: nobody waits. */
static size_t next_of(const Slots *slots)
{
    size_t most = slots->parts;
    for (size_t part = 0; part < slots->parts; part++) {
        if (slots->waiting[part] > 0 && slots->there[part]) {
            return part;
        }
        bool more = most == slots->parts || slots->waiting[part] > slots->waiting[most];
        most = slots->waiting[part] > 0 && more ? part : most;
    }
    return most;
}

/* Gives the free slots to threads that wait.  They are users from then on, before anybody finds
 * that their part has none. */
static void grant(Slots *slots)
{
    size_t part;
    while (slots->free > 0 && (part = next_of(slots)) < slots->parts) {
        slots->waiting[part]--;
        slots->granted[part]++;
        slots->users[part]++;
        slots->free--;
    }
    pthread_cond_broadcast(&slots->changed);
}

void slots_acquire(Slots *slots, size_t part)
{
    bool holds = has_slot(slots), others = next_of(slots) < slots->parts;
    bool behind = holds && !slots->there[part] && others;
    if (slots->count == 0 || (holds && !behind)) {
        slots->users[part]++;
        return;
    }
    slots->waiting[part]++;
    slots->free += holds;
    grant(slots);
    while (slots->granted[part] == 0) {
        pthread_cond_wait(&slots->changed, slots->lock);
    }
    slots->granted[part]--;
    if (pthread_setspecific(slots->holds, slots) != 0) { /* it goes on without a slot */
        slots->free++;
        grant(slots);
    }
}

void slots_release(Slots *slots)
{
    slots->free += has_slot(slots);
    (void)pthread_setspecific(slots->holds, NULL);
    grant(slots);
}
