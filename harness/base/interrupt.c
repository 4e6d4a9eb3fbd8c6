/*
 * Signals that end a run, taken by a thread of their own under the lock of the results.
 */
#include "interrupt.h"

#include "../../memory/need.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

struct Interrupt {
    sigset_t watched, mask_before;
    pthread_t thread;
    pthread_mutex_t *lock;
    LastWords *say;
    void *context;
    NeedLast last; /* the same words where memory is short */
    atomic_bool closed;
};

enum { LOCK_SECONDS = 2, WAKE = SIGUSR1 }; /* WAKE goes to the waiting thread alone */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* A library's thread (OpenBLAS has some from the start) that does not block the signal passes it
 * on to the process, and blocks it from then on, so that it reaches the thread that waits. */
static void pass_on(int signal, siginfo_t *information, void *interrupted)
{
    ucontext_t *context = interrupted;
    (void)information;
    sigaddset(&context->uc_sigmask, signal);
    (void)kill(getpid(), signal);
}

static void end_by(int signal)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    (void)sigaction(signal, &standard, NULL);
    (void)pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    (void)raise(signal);
    _exit(128 + signal); /* not reached: by default these signals end the process */
}

static void say_last(void *context)
{
    const Interrupt *interrupt = context;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LOCK_SECONDS;
    bool locked = pthread_mutex_timedlock(interrupt->lock, &until) == 0;
    interrupt->say(interrupt->context, locked);
}

static void *wait_for_signal(void *argument)
{
    Interrupt *interrupt = argument;
    sigset_t waited = interrupt->watched;
    int signal = -1;
    sigaddset(&waited, WAKE);
    while (signal < 0 || signal == WAKE) {
        if (atomic_load(&interrupt->closed)) {
            return NULL;
        }
        signal = sigwaitinfo(&waited, NULL);
    }
    if (!atomic_load(&interrupt->closed)) {
        say_last(interrupt);
        end_by(signal);
    }
    return NULL;
}

static void watch(Interrupt *interrupt)
{
    struct sigaction old, route = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&route.sa_mask);
    sigemptyset(&interrupt->watched);
    for (int i = 0; i < SIGNALS; i++) {
        bool known = sigaction(signals[i], NULL, &old) == 0;
        if (known && old.sa_handler == SIG_DFL) {
            (void)sigaction(signals[i], &route, NULL);
            sigaddset(&interrupt->watched, signals[i]);
        }
    }
    sigset_t blocked = interrupt->watched;
    sigaddset(&blocked, WAKE);
    pthread_sigmask(SIG_BLOCK, &blocked, &interrupt->mask_before);
}

static void unwatch(const Interrupt *interrupt)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int i = 0; i < SIGNALS; i++) {
        if (sigismember(&interrupt->watched, signals[i]) == 1) {
            (void)sigaction(signals[i], &standard, NULL);
        }
    }
    pthread_sigmask(SIG_SETMASK, &interrupt->mask_before, NULL);
}

void interrupt_lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    /* A second lock by one thread fails with EDEADLK. */
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

Interrupt *interrupt_open(pthread_mutex_t *lock, LastWords *say, void *context)
{
    Interrupt *interrupt = need_zeros(1, sizeof *interrupt);
    interrupt->lock = lock;
    interrupt->say = say;
    interrupt->context = context;
    watch(interrupt);
    if (pthread_create(&interrupt->thread, NULL, wait_for_signal, interrupt) != 0) {
        need_end("headproof: no thread is to be had (ulimit -u)\n");
    }
    interrupt->last = (NeedLast){.act = say_last, .context = interrupt};
    need_add_last(&interrupt->last);
    return interrupt;
}

void interrupt_close(Interrupt *interrupt)
{
    if (interrupt == NULL) {
        return;
    }
    need_take_last(&interrupt->last);
    atomic_store(&interrupt->closed, true);
    (void)pthread_kill(interrupt->thread, WAKE);
    pthread_join(interrupt->thread, NULL);
    unwatch(interrupt);
    free(interrupt);
}
