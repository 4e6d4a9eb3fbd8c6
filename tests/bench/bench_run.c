/*
 * Tools of all benchmarks.
 */
#include "bench_run.h"

#include "../../kernels/blas.h"
#include "../../reference/reference.h"

#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 7, TIMED_MOST = 8 };

_Noreturn void bench_fail(const char *reason)
{
    fprintf(stderr, "bench: %s\n", reason);
    exit(99);
}

void bench_start(BenchRun *run, int argc, char **argv, const char *columns)
{
    bool to_file = argc > 2 && strcmp(argv[1], "-o") == 0;
    int used = to_file ? 3 : 1;
    blas_setup(argv);
    ref_thread_setup();
    omp_set_num_threads(1);
    *run = (BenchRun){.argc = argc,
                      .count = argc - used,
                      .argv = argv,
                      .arguments = argv + used,
                      .known = argc == used};
    run->aims = open_memstream(&run->aims_text, &run->aims_size);
    if (run->aims == NULL) {
        bench_fail("memory is short");
    }
    if (to_file) {
        run->table.table = true;
        int status = atomic_file_open(&run->table, argv[2]);
        if (status != 0) {
            exit(status);
        }
        bench_row(run, "%s", columns);
    }
}

bool bench_wants(BenchRun *run, const char *part)
{
    bool wanted = run->count == 0 || strcmp(run->arguments[0], part) == 0;
    run->known = run->known || wanted;
    return wanted;
}

void bench_row(BenchRun *run, const char *format, ...)
{
    va_list arguments;
    if (run->table.file == NULL) {
        return;
    }
    va_start(arguments, format);
    vfprintf(run->table.file, format, arguments);
    va_end(arguments);
    fputc('\n', run->table.file);
}

void bench_aim(BenchRun *run, bool met, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(run->aims, "  %-7s ", met ? "met" : "MISSED");
    vfprintf(run->aims, format, arguments);
    fputc('\n', run->aims);
    va_end(arguments);
}

/* Errors of the writes before stay with the file, and committing finds them. */
static int finish_file(BenchRun *run)
{
    if (!run->known) {
        fprintf(stderr, "bench: '%s' is no part of it\n", run->arguments[0]);
        return 2;
    }
    if (run->table.file == NULL) {
        return 0;
    }
    if (ferror(run->table.file)) {
        fprintf(stderr, "bench: cannot write the table\n");
        return 99;
    }
    const RunRecord record = {.argc = run->argc, .argv = run->argv};
    bool whole = sidecar_publish(&run->table, &record) == 0;
    return whole ? 0 : atomic_file_failed(run->table.path);
}

int bench_finish(BenchRun *run)
{
    if (fclose(run->aims) != 0) {
        bench_fail("memory is short");
    }
    if (run->aims_size > 0) {
        printf("\naims\n%s", run->aims_text);
    }
    int status = finish_file(run);
    atomic_file_clear(&run->table);
    free(run->aims_text);
    ref_thread_clear();
    return status;
}

const char *bench_cell(char text[BENCH_CELL], double number)
{
    text[0] = '\0';
    if (!isnan(number)) {
        snprintf(text, BENCH_CELL, "%.4g", number);
    }
    return text;
}

Pair bench_pair(const CaseSpec *spec)
{
    Pair pair;
    const char *reason;
    if (case_build(&pair, &reason, spec) != CASE_OK) {
        bench_fail(reason);
    }
    return pair;
}

double bench_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_medians(double *seconds, int count, BenchTimed *timed, const void *context,
                   double enough)
{
    double taken[TIMED_MOST][RUNS], total[TIMED_MOST] = {0};
    int runs[TIMED_MOST] = {0};
    if (count > TIMED_MOST) {
        bench_fail("too many things to time");
    }
    for (int run = 0; run < RUNS; run++) {
        for (int which = 0; which < count; which++) {
            if (run == 0 || total[which] < enough) {
                double once = timed(context, which);
                taken[which][runs[which]++] = once;
                total[which] += once;
            }
        }
    }
    for (int which = 0; which < count; which++) {
        qsort(taken[which], (size_t)runs[which], sizeof **taken, bench_compare);
        seconds[which] = taken[which][runs[which] / 2];
    }
}
