/*
 * Broken promises and memory, for all backends.
 */
#define _DEFAULT_SOURCE /* madvise */

#include "internal.h"

#include "../../memory/need.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define LARGE (HUGE_PAGE / 2)
#define SMALL ((size_t)16 << 10)

/* Arrays that were let go, for the next of about their size: malloc has those of SPARE bytes and
 * more from the system, which would fill the pages of each with zeros, and that takes longer than
 * packing a block of weights. */
#define SPARE ((size_t)128 << 10)
enum { SPARES = 8 };
static struct {
    pthread_mutex_t lock;
    void *array[SPARES];
    int next; /* makes room where there is none */
} spare = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A spare of `bytes` at least, and not of many more; or NULL. */
static void *spare_take(size_t bytes)
{
    void *taken = NULL;
    pthread_mutex_lock(&spare.lock);
    for (int i = 0; taken == NULL && i < SPARES; i++) {
        size_t held = malloc_usable_size(spare.array[i]);
        if (held >= bytes && held / 2 < bytes) {
            taken = spare.array[i];
            spare.array[i] = NULL;
        }
    }
    pthread_mutex_unlock(&spare.lock);
    return taken;
}

void array_free(void *array)
{
    if (malloc_usable_size(array) >= SPARE) {
        pthread_mutex_lock(&spare.lock);
        int at = 0;
        while (at < SPARES && spare.array[at] != NULL) {
            at++;
        }
        if (at == SPARES) {
            at = spare.next;
            spare.next = (at + 1) % SPARES;
        }
        void *oldest = spare.array[at];
        spare.array[at] = array;
        array = oldest;
        pthread_mutex_unlock(&spare.lock);
    }
    free(array);
}

/* false: there was none. */
static bool spares_drop(void)
{
    bool any = false;
    pthread_mutex_lock(&spare.lock);
    for (int i = 0; i < SPARES; i++) {
        any |= spare.array[i] != NULL;
        free(spare.array[i]);
        spare.array[i] = NULL;
    }
    pthread_mutex_unlock(&spare.lock);
    return any;
}

void product_bug(const char *file, int line, const char *condition)
{
    fprintf(stderr, "headproof: %s:%d: bug: not so: %s\n", file, line, condition);
    abort();
}

/* Residues and digits are written once and read a few times: fresh pages of 4 KB would cost as much
 * as the arithmetic, and so would, in the smallest products, alignment. */
void *array_alloc(size_t count, size_t size)
{
    void *p = NULL;
    if (count > (PTRDIFF_MAX - HUGE_PAGE) / size) {
        need_is_short();
    }
    bool large = count * size >= LARGE;
    if (count * size < SMALL) {
        return need_room(count * size + 1, 1);
    }
    if (count * size >= SPARE && (p = spare_take(count * size)) != NULL) {
        return p;
    }
    while (posix_memalign(&p, large ? HUGE_PAGE : 64, count * size + 1) != 0) {
        if (!spares_drop()) {
            need_is_short();
        }
    }
#ifdef MADV_HUGEPAGE
    if (large) {
        (void)madvise(p, count * size, MADV_HUGEPAGE); /* a wish */
    }
#endif
    return p;
}
