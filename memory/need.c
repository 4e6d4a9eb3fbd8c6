/*
 * Allocations that succeed, and the end of a process where one cannot.
 */
#include "need.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_SHORT = 99 };

static atomic_flag ending = ATOMIC_FLAG_INIT;
static pthread_mutex_t last_lock = PTHREAD_MUTEX_INITIALIZER;
static NeedLast *newest;
static _Thread_local bool ends; /* the process, under last_lock */

void need_add_last(NeedLast *last)
{
    pthread_mutex_lock(&last_lock);
    last->before = newest;
    newest = last;
    pthread_mutex_unlock(&last_lock);
}

static void unlink_last(const NeedLast *last)
{
    NeedLast **at = &newest;
    while (*at != NULL && *at != last) {
        at = &(*at)->before;
    }
    if (*at != NULL) {
        *at = last->before;
    }
}

void need_take_last(const NeedLast *last)
{
    if (ends) { /* what is done last may clear what has something to do */
        unlink_last(last);
        return;
    }
    pthread_mutex_lock(&last_lock);
    unlink_last(last);
    pthread_mutex_unlock(&last_lock);
}

static void act_last(void)
{
    if (pthread_mutex_trylock(&last_lock) != 0) {
        return;
    }
    while (newest != NULL) {
        const NeedLast *last = newest;
        newest = last->before;
        last->act(last->context);
    }
}

/* Writes to stderr without stdio, whose lock another thread may hold, and which may want memory. */
static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* there is nobody else to tell */
}

/* What was printed is printed, unless another thread is about to print. */
static void flush_stdout(void)
{
    if (ftrylockfile(stdout) == 0) {
        (void)fflush(stdout);
        funlockfile(stdout);
    }
}

/* The first thread that gets here ends the process; others wait for that. */
void need_end(const char *message)
{
    if (ends) { /* what is done last has met with the same */
        _exit(EXIT_SHORT);
    }
    while (atomic_flag_test_and_set(&ending)) {
        pause();
    }
    ends = true;
    say(message);
    flush_stdout();
    act_last();
    _exit(EXIT_SHORT);
}

void need_is_short(void)
{
    need_end("headproof: memory is short\n");
}

static void *there(void *memory)
{
    if (memory == NULL) {
        need_is_short();
    }
    return memory;
}

/* Bytes of so many objects, one at least: of nothing an allocator may say NULL. */
static size_t bytes_of(size_t count, size_t size)
{
    if (size > 0 && count > SIZE_MAX / size) {
        need_is_short();
    }
    return count * size > 0 ? count * size : 1;
}

void *need_zeros(size_t count, size_t size)
{
    return there(calloc(bytes_of(count, size), 1));
}

void *need_room(size_t count, size_t size)
{
    return there(malloc(bytes_of(count, size)));
}

void *need_more(void *old, size_t count, size_t size)
{
    return there(realloc(old, bytes_of(count, size)));
}

void *need_next(void *old, size_t count, size_t size)
{
    bool full = (count & (count - 1)) == 0; /* the room was doubled then, or there is none yet */
    return full ? need_more(old, count > 0 ? 2 * count : 1, size) : old;
}

char *need_copy_of(const char *text, size_t length)
{
    return there(strndup(text, length));
}

char *need_copy(const char *text)
{
    return there(strdup(text));
}
