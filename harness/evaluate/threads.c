/*
 * Work over threads, each of which is set up for the reference and may start others.
 */
#include "threads.h"

#include "../../reference/reference.h"

#include <omp.h>

int threads_over(size_t items, int threads)
{
    int over = items < (size_t)threads ? (int)items : threads;
    return over > 1 ? over : 1;
}

bool threads_each(size_t items, int threads, int inner, ThreadsWork *work, void *context)
{
    int before = omp_get_max_threads();
    bool ok = true;
    omp_set_max_active_levels(omp_get_active_level() + 2);
    if (threads == 1) { /* without a team, so that those within keep their threads */
        ref_thread_setup();
        omp_set_num_threads(inner);
        for (size_t i = 0; ok && i < items; i++) {
            ok = work(context, i);
        }
        omp_set_num_threads(before);
        return ok;
    }
#pragma omp parallel num_threads(threads) reduction(&& : ok)
    {
        ref_thread_setup();
        omp_set_num_threads(inner);
#pragma omp for schedule(dynamic) nowait
        for (size_t i = 0; i < items; i++) {
            ok = ok && work(context, i);
        }
        if (omp_get_level() > 1 && omp_get_thread_num() > 0) { /* it ends with a team in a team */
            ref_thread_clear();
        }
    }
    return ok;
}
