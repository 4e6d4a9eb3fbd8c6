/*
 * The memory that there is, as the system and its limits say.
 */
#include "memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

/* An evaluation takes several times as much as a layer's weights, so most of the room is for it. */
double memory_held(double bytes, double room)
{
    const char *said = getenv("HEADPROOF_HELD");
    if (room > 0 && said != NULL) {
        return fmax(1, strtod(said, NULL));
    }
    return room > 0 && bytes > room / 4 ? room / 32 : 0;
}

const char *memory_print(char text[MEMORY_TEXT], double bytes)
{
    const double mib = 1024.0 * 1024;
    bool small = bytes < 512 * mib;
    snprintf(text, MEMORY_TEXT, small ? "%.0f MiB" : "%.2g GiB",
             small ? fmax(1, bytes / mib) : bytes / mib / 1024);
    return text;
}
