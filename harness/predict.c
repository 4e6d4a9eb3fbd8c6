#include "predict.h"

#include "evaluate.h"

#include <unistd.h>

double memory_standard(void)
{
    return 0.8 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static int refuse(const Point *point, const char *reason)
{
    fprintf(stderr, "headproof: %s: ", reason);
    point_print_command(stderr, point);
    fputc('\n', stderr);
    return 2;
}

int grid_predict(const Grid *grid, double memory, int *threads)
{
    const double gib = 1024.0 * 1024 * 1024;
    memory = memory > 0 ? memory : memory_standard();
    for (size_t i = 0; i < grid->count; i++) {
        const Point *point = &grid->points[i];
        const char *reason;
        PointBytes bytes;
        CaseStatus status = point_predict(&bytes, &reason, point);
        double all = bytes.base + bytes.kernel + bytes.run;
        if (status == CASE_REJECTED) {
            return refuse(point, reason);
        }
        if (status == CASE_NO_MEMORY || all > memory) {
            bool dense = point->arithmetic != ARITHMETIC_NONE && point->kernel == KERNEL_DENSE &&
                         bytes.kernel > all / 2;
            char text[128];
            snprintf(text, sizeof text, "a point needs %.3g GiB, %.3g GiB may be used%s", all / gib,
                     memory / gib, dense ? " (--kernel structured needs less)" : "");
            return refuse(point, text);
        }
        while (threads != NULL && *threads > 1 && all * *threads > memory) {
            --*threads;
        }
    }
    return 0;
}
