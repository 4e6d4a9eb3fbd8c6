/*
 * The ends that libraries would choose by themselves, replaced.
 */
#include "exhausted.h"

#include "../../memory/need.h"

#include <gmp.h>
#include <jansson.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

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

/* libgomp says that it has no thread, or no memory, and calls exit(1), in several threads at once:
 * each call of exit takes the next function from the list, and without one ends the process. */
enum { ENDS_AT_ONCE = 256 };

static void end_by_library(void)
{
    if (!atomic_load(&over)) {
        need_end("headproof: memory is short, or threads are: a library ended the run\n");
    }
}

/* Some functions' own variables take 100 KiB, and JSON may be nested 2048 deep. */
#define STACK_LEAST ((rlim_t)1 << 20)

static struct sigaction interrupt_before;

/* A process's own SIGINT is OpenBLAS's, which found no thread when it was loaded. */
static void end_loading(int signal, siginfo_t *information, void *interrupted)
{
    (void)interrupted;
    if (information->si_pid == getpid()) {
        need_end("headproof: no thread is to be had (ulimit -u)\n");
    }
    (void)sigaction(SIGINT, &interrupt_before, NULL);
    (void)raise(signal);
}

static void check_loading(void)
{
    struct rlimit stack;
    struct sigaction end = {.sa_sigaction = end_loading, .sa_flags = SA_SIGINFO};
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < STACK_LEAST) {
        need_end("headproof: the stack is small: 1 MiB is needed (ulimit -s 1024)\n");
    }
    (void)sigaction(SIGINT, &end, &interrupt_before);
}

/* Before libraries set themselves up; but behind sanitizers, which replace what it calls. */
typedef void Loading(void);
#if defined HEADPROOF_CHECK || defined HEADPROOF_TSAN
__attribute__((constructor(101))) static void check_late(void)
{
    check_loading();
}
#else
__attribute__((section(".preinit_array"), used)) static Loading *const before_libraries =
    check_loading;
#endif

void exhausted_setup(void)
{
    (void)sigaction(SIGINT, &interrupt_before, NULL);
    json_set_alloc_funcs(allocate, free);
    mp_set_memory_functions(allocate, reallocate_sized, release_sized);
    for (int i = 0; i < ENDS_AT_ONCE; i++) {
        if (atexit(end_by_library) != 0) {
            need_is_short();
        }
    }
}

void exhausted_over(void)
{
    atomic_store(&over, true);
}
