/*
 * Work cut into items, on several threads.  What an item is depends on shapes alone, and no item
 * writes what another one reads or writes, so that bytes do not depend on the number of threads.
 */
#ifndef HEADPROOF_KERNELS_EACH_H
#define HEADPROOF_KERNELS_EACH_H

#include <stddef.h>

/* thread < threads: whose scratch the item may use. */
typedef void ItemWork(const void *context, size_t item, size_t thread);

/* work(context, item, .) for every item < count, in any order, on at most threads threads. */
void each(size_t count, size_t threads, ItemWork *work, const void *context);

/* The same, each item followed, on its thread, by add(context, item, thread): item after item in
 * their order, so that what add sums is summed in one order.  A thread's first item is below
 * threads. */
void each_added(size_t count, size_t threads, ItemWork *work, ItemWork *add, const void *context);

#endif
