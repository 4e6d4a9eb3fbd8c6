/*
 * Slots of threads that go through parts in the same order: no more work than there are slots, and
 * with one slot each part is fetched once for all.  With more, one that is slow may come too late.
 */
#include "../../harness/base/slots.h"
#include "../unit.h"

#include <sched.h>
#include <stdlib.h>

enum { WORKERS = 7, PARTS = 5, PASSES = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Slots slots;
static bool there[PARTS];
static size_t users[PARTS], fetched[PARTS], working, most;

/* Lets others go first, and fetches the part, for which all go that nobody is in. */
static void enter(size_t part)
{
    pthread_mutex_lock(&lock);
    slots_acquire(&slots, part);
    if (!there[part]) {
        for (size_t p = 0; p < PARTS; p++) {
            there[p] = there[p] && users[p] > 0;
        }
        fetched[part]++;
    }
    there[part] = true;
    working++;
    most = working > most ? working : most;
    pthread_mutex_unlock(&lock);
}

static void leave(size_t part)
{
    pthread_mutex_lock(&lock);
    users[part]--;
    working--;
    pthread_mutex_unlock(&lock);
}

static void *work(void *context)
{
    (void)context;
    for (size_t i = 0; i < (size_t)PASSES * PARTS; i++) {
        enter(i % PARTS);
        sched_yield();
        leave(i % PARTS);
    }
    pthread_mutex_lock(&lock);
    slots_release(&slots);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* All workers wait for a slot before the first gets one; how often a part was fetched at most. */
static size_t run_workers(size_t count)
{
    pthread_t threads[WORKERS];
    size_t often = 0, waiting = 0;
    slots_set(&slots, count);
    slots.free = 0;
    for (size_t i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
    }
    while (waiting < WORKERS) {
        pthread_mutex_lock(&lock);
        waiting = slots.waiting[0];
        pthread_mutex_unlock(&lock);
        sched_yield();
    }
    pthread_mutex_lock(&lock);
    slots.free = count;
    slots_release(&slots);
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(slots.free, count);
    for (size_t p = 0; p < PARTS; p++) {
        often = fetched[p] > often ? fetched[p] : often;
        assert_int_equal(users[p], 0);
        fetched[p] = 0;
        there[p] = false;
    }
    return often;
}

static void a_part_is_fetched_once_for_all(void **state)
{
    slots_init(&slots, &lock, there, users, PARTS);
    for (size_t count = 1; count <= WORKERS; count++) {
        most = 0;
        size_t often = run_workers(count);
        assert_in_range(often, count == 1 ? PASSES : 1, count == 1 ? PASSES : PASSES * WORKERS);
        assert_in_range(most, 1, count);
    }
    slots_destroy(&slots);
}

SUBJECT(slots)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_fetched_once_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
