/*
 * Items of work over threads, cut by shape alone, so that bytes do not depend on how many
 * threads there are.
 */
#include "each.h"

#include <omp.h>

void each(size_t count, size_t threads, ItemWork *work, const void *context)
{
    if (threads <= 1 || count <= 1) {
        for (size_t item = 0; item < count; item++) {
            work(context, item, 0);
        }
        return;
    }
#pragma omp parallel for num_threads((int)(count < threads ? count : threads)) schedule(dynamic)
    for (size_t item = 0; item < count; item++) {
        work(context, item, (size_t)omp_get_thread_num());
    }
}

void each_added(size_t count, size_t threads, ItemWork *work, ItemWork *add, const void *context)
{
    if (threads <= 1 || count <= 1) {
        for (size_t item = 0; item < count; item++) {
            work(context, item, 0);
            add(context, item, 0);
        }
        return;
    }
#pragma omp parallel for num_threads((int)(count < threads ? count : threads)) schedule(static, 1) \
    ordered
    for (size_t item = 0; item < count; item++) {
        size_t thread = (size_t)omp_get_thread_num();
        work(context, item, thread);
#pragma omp ordered
        add(context, item, thread);
    }
}
