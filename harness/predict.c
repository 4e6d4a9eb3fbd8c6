#include "predict.h"

#include "evaluate.h"

#include <unistd.h>

int grid_predict(const Grid *grid, int *threads)
{
    double memory = 0.8 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const double gib = 1024.0 * 1024 * 1024;
    for (size_t i = 0; i < grid->count; i++) {
        const Point *point = &grid->points[i];
        const char *reason;
        double bytes, kernel;
        CaseStatus status = point_predict(&bytes, &kernel, &reason, point);
        if (status == CASE_REJECTED) {
            fprintf(stderr, "headproof: %s: ", reason);
            point_print_command(stderr, point);
            fputc('\n', stderr);
            return 2;
        }
        if (status == CASE_NO_MEMORY || bytes > memory) {
            bool dense = point->arithmetic != ARITHMETIC_NONE && point->kernel == KERNEL_DENSE &&
                         kernel > bytes / 2;
            fprintf(stderr,
                    "headproof: a point needs %.3g GiB, %.3g GiB may be used%s: ", bytes / gib,
                    memory / gib, dense ? " (--kernel structured needs less)" : "");
            point_print_command(stderr, point);
            fputc('\n', stderr);
            return 2;
        }
        while (*threads > 1 && bytes * *threads > memory) {
            --*threads;
        }
    }
    return 0;
}
