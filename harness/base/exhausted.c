/*
 * The ends that libraries would choose by themselves, replaced.
 */
#include "exhausted.h"

#include "../../memory/need.h"

#include <gmp.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef HAVE_FLINT
#include <flint/flint.h>
#endif

static atomic_bool over; /* exit is the program's own */

static void *allocate(size_t size)
{
    return need_room(size, 1);
}

static void *reallocate_sized(void *old, size_t old_size, size_t size)
{
    (void)old_size;
    return need_more(old, size, 1);
}

static void release_sized(void *old, size_t size)
{
    (void)size;
    free(old);
}

#ifdef HAVE_FLINT
static void *reallocate(void *old, size_t size)
{
    return need_more(old, size, 1);
}
#endif

/* libgomp says that it has no thread, or no memory, and calls exit(1). */
static void end_by_library(void)
{
    if (!atomic_load(&over)) {
        need_end("headproof: memory is short, or threads are: a library ended the run\n");
    }
}

void exhausted_setup(void)
{
    json_set_alloc_funcs(allocate, free);
    mp_set_memory_functions(allocate, reallocate_sized, release_sized);
#ifdef HAVE_FLINT
    __flint_set_memory_functions(allocate, need_zeros, reallocate, free);
#endif
    if (atexit(end_by_library) != 0) {
        need_is_short();
    }
}

void exhausted_over(void)
{
    atomic_store(&over, true);
}
