/*
 * The command `convert`: the attention-only model itself, as a safetensors file.
 */
#include "commands.h"
#include "../evaluate/evaluate.h"
#include "../base/memory.h"
#include "../base/message.h"
#include "../models/plain_file.h"
#include "../evaluate/predict.h"
#include "../base/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

/* Bytes that a file at path may have: what its directory's disk has free for us, and no more than
 * the process may write (ulimit -f).  INFINITY where neither is known: the writer finds out. */
static double disk_room(const char *directory)
{
    struct statvfs disk;
    struct rlimit limit;
    double bytes = INFINITY;
    if (statvfs(directory, &disk) == 0) {
        bytes = (double)disk.f_bavail * (double)disk.f_frsize;
    }
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        bytes = fmin(bytes, (double)limit.rlim_cur);
    }
    return bytes;
}

/* Refuses, before it starts, what memory or the disk would not hold. */
static int check_room(const Pair *pair, const Point *point, const RunOptions *run)
{
    const double gib = 1024.0 * 1024 * 1024;
    double bytes = plain_bytes(case_converted(pair, point->penalty), point_omega(point), true);
    const char *path = run->output;
    char *directory = strdup(path);
    if (directory == NULL) {
        return memory_fault();
    }
    char *slash = strrchr(directory, '/');
    *(slash != NULL ? slash : directory) = '\0';
    double memory = memory_room(run->memory);
    double disk = disk_room(slash == NULL ? "." : *directory == '\0' ? "/" : directory);
    free(directory);
    if (bytes > memory || bytes > disk) {
        fprintf(stderr,
                "headproof: %s: the converted model takes %.3g GiB; %.3g GiB of memory and %.3g "
                "GiB of disk may be used\n",
                path, bytes / gib, memory / gib, disk / gib);
        return 2;
    }
    return 0;
}

static int write_plain(const Pair *pair, const Point *point, const RunOptions *run)
{
    PlainModel plain;
    const char *reason;
    CaseStatus built =
        plain_build(&plain, &reason, case_converted(pair, point->penalty), point_omega(point), true,
                    pair->converted_x, pair->bias_row_content);
    if (built != CASE_OK) {
        fprintf(stderr, "headproof: %s: %s\n", shown(point->source->path).text, reason);
        return built == CASE_NO_MEMORY ? 99 : 2;
    }
    const char *form = construction_names[point->spec.construction];
    int status = plain_file_write(run->output, &plain, &pair->final_norm, form);
    if (status == 0 && !run->quiet) {
        printf("%s: %zu sublayers of %zu heads of rank %zu on a stream of %zu rows and %zu "
               "columns; %s\n",
               shown(run->output).text, plain.sublayer_count, plain.sublayers[0].heads,
               plain.sublayers[0].rank, plain.rows, plain.width,
               plain.inexact == NULL ? "exact" : plain.inexact);
    }
    plain_clear(&plain);
    return status;
}

int command_convert(const Grid *grid, const RunOptions *run, int argc, char **argv)
{
    Pair pair;
    const char *reason;
    int threads = 1;
    (void)argc;
    (void)argv;
    if (run->output == NULL || grid->count != 1) {
        complain((Origin){0}, "convert",
                 run->output == NULL ? "expected --output FILE"
                                     : "expected one omega and one form");
        return 2;
    }
    int status = grid_predict(grid, run->memory, &threads);
    if (status != 0) {
        return status;
    }
    Point point = grid->points[0];
    CaseStatus built = case_build(&pair, &reason, &point.spec);
    if (built != CASE_OK) {
        fprintf(stderr, "headproof: %s: %s\n", shown(point.source->path).text, reason);
        return built == CASE_NO_MEMORY ? 99 : 2;
    }
    status = check_room(&pair, &point, run);
    if (status == 0) {
        status = write_plain(&pair, &point, run);
    }
    case_clear(&pair);
    return status;
}
