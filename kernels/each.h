/*
 * Work cut into items, on several threads.
 *
 * What an item is depends on shapes alone, and no item writes what another one reads or writes.  So
 * results are the same, bit by bit, on any number of threads.
 */
#ifndef HEADPROOF_KERNELS_EACH_H
#define HEADPROOF_KERNELS_EACH_H

#include <stddef.h>

/* Work on one item; thread, below the number of threads, says whose scratch it may use. */
typedef void ItemWork(const void *context, size_t item, size_t thread);

/* Calls work for every item below count, in any order, on at most `threads` threads. */
void each(size_t count, size_t threads, ItemWork *work, const void *context);

/* The same, and after each item, on its thread, calls add.  The calls of add come one at a time and
 * in the items' order, so that what they sum is always summed in one order.  A thread's first item
 * is below `threads`. */
void each_added(size_t count, size_t threads, ItemWork *work, ItemWork *add, const void *context);

#endif
