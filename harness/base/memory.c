/*
 * The memory that there is, as the system and its limits say.
 */
#include "memory.h"

#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

double memory_there(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    double bytes = pages > 0 && size > 0 ? (double)pages * (double)size : INFINITY;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        bytes = fmin(bytes, (double)limit.rlim_cur);
    }
    return bytes;
}

double memory_room(double asked)
{
    return asked > 0 ? asked : 0.8 * memory_there();
}
