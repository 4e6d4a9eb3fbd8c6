/*
 * The ends that libraries would choose by themselves, replaced.
 */
#include "exhausted.h"

#include <gmp.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_FLINT
#include <flint/flint.h>
#endif

static atomic_bool over; /* exit is the program's own */
static atomic_flag ending = ATOMIC_FLAG_INIT;
static pthread_mutex_t end_lock = PTHREAD_MUTEX_INITIALIZER;
static ExhaustedEnd *end_first;
static void *end_context;

void exhausted_at_end(ExhaustedEnd *end, void *context)
{
    pthread_mutex_lock(&end_lock);
    end_first = end;
    end_context = context;
    pthread_mutex_unlock(&end_lock);
}

/* Writes to stderr without stdio, whose lock another thread may hold, and which may want memory. */
static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* there is nobody else to tell */
}

/* The first thread that gets here ends the process; others wait for that. */
_Noreturn static void end_run(const char *message)
{
    static _Thread_local bool here;
    if (here) { /* what is done at the end has met with the same */
        _exit(99);
    }
    here = true;
    while (atomic_flag_test_and_set(&ending)) {
        pause();
    }
    say(message);
    if (pthread_mutex_trylock(&end_lock) == 0 && end_first != NULL) {
        end_first(end_context);
    }
    _exit(99);
}

_Noreturn static void end_without_memory(void)
{
    end_run("headproof: memory is short\n");
}

static void *allocate(size_t size)
{
    void *made = malloc(size > 0 ? size : 1);
    if (made == NULL) {
        end_without_memory();
    }
    return made;
}

static void *reallocate(void *old, size_t size)
{
    void *made = realloc(old, size > 0 ? size : 1);
    if (made == NULL) {
        end_without_memory();
    }
    return made;
}

static void *reallocate_sized(void *old, size_t old_size, size_t size)
{
    (void)old_size;
    return reallocate(old, size);
}

static void release_sized(void *old, size_t size)
{
    (void)size;
    free(old);
}

#ifdef HAVE_FLINT
static void *allocate_zeroed(size_t count, size_t size)
{
    void *made = count > 0 && size > 0 ? calloc(count, size) : calloc(1, 1);
    if (made == NULL) {
        end_without_memory();
    }
    return made;
}
#endif

/* libgomp says that it has no thread, or no memory, and calls exit(1). */
static void end_by_library(void)
{
    if (!atomic_load(&over)) {
        end_run("headproof: memory is short, or threads are: a library ended the run\n");
    }
}

void exhausted_setup(void)
{
    json_set_alloc_funcs(allocate, free);
    mp_set_memory_functions(allocate, reallocate_sized, release_sized);
#ifdef HAVE_FLINT
    __flint_set_memory_functions(allocate, allocate_zeroed, reallocate, free);
#endif
    if (atexit(end_by_library) != 0) {
        end_without_memory();
    }
}

void exhausted_over(void)
{
    atomic_store(&over, true);
}
