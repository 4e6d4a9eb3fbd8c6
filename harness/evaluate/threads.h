/*
 * Work over threads, and within each where there are few.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_THREADS_H
#define HEADPROOF_HARNESS_EVALUATE_THREADS_H

#include <stdbool.h>
#include <stddef.h>

/* Work on item i; called from several threads at once.  false: nothing else is worth beginning. */
typedef bool ThreadsWork(void *context, size_t i);

/* How many of the threads work on so many items at once: at least 1. */
int threads_over(size_t items, int threads);

/* Begins the items in order, on so many threads, each of which may start `inner` within.  false:
 * one of them was. */
bool threads_each(size_t items, int threads, int inner, ThreadsWork *work, void *context);

#endif
