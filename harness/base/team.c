/*
 * The processes of a run: MPI's ranks, or this one alone.
 */
#include "team.h"

#include "../../memory/need.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_MPI

#include <limits.h>
#include <mpi.h>
#include <time.h>

static int is_member(void)
{
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    return begun && !ended;
}

#define AMONG_OTHERS(call) (is_member() ? (void)(call) : (void)0)

void team_library(char text[TEAM_LIBRARY_TEXT])
{
    char whole[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(whole, &length);
    for (char *c = whole; *c != '\0'; c++) {
        *c = *c == '\t' ? ' ' : *c;
    }
    whole[strcspn(whole, ",\n")] = '\0';
    snprintf(text, TEAM_LIBRARY_TEXT, "%.*s", TEAM_LIBRARY_TEXT - 1, whole);
}

int team_join(void)
{
    /* What Open MPI, MPICH and Slurm set for processes that they start. */
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK",
                                        "PMIX_RANK"};
    int provided, started = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        started = started || getenv(names[i]) != NULL;
    }
    if (!started) {
        return 0;
    }
    /* Only one thread calls MPI; another may wait for signals. */
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_FUNNELED) {
        fputs("headproof: MPI does not start, or knows no threads\n", stderr);
        return 99;
    }
    return 0;
}

void team_send(int to, const void *bytes, size_t count)
{
    if (count > INT_MAX) {
        fprintf(stderr, "headproof: a message of %zu bytes is too long for MPI\n", count);
        team_abort(99);
    }
    MPI_Send(bytes, (int)count, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

int team_receive(char **bytes, size_t *count)
{
    MPI_Status status;
    int there = 0, length;
    /* MPI's own waiting spins, on a core that another rank could have. */
    for (long pause = 20000; !there; pause = pause < 1000000 ? 2 * pause : pause) {
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &status);
        if (!there) {
            nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
        }
    }
    MPI_Get_count(&status, MPI_BYTE, &length);
    *count = (size_t)length;
    *bytes = need_room(*count + 1, 1);
    MPI_Recv(*bytes, length, MPI_BYTE, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    (*bytes)[*count] = '\0';
    return status.MPI_SOURCE;
}

void team_abort(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

#else

#define AMONG_OTHERS(call) ((void)0)

void team_library(char text[TEAM_LIBRARY_TEXT])
{
    snprintf(text, TEAM_LIBRARY_TEXT, "none");
}

int team_join(void)
{
    return 0;
}

/* Alone, a process has nobody to talk to: that would be a bug. */
void team_send(int to, const void *bytes, size_t count)
{
    (void)to;
    (void)bytes;
    (void)count;
    abort();
}

int team_receive(char **bytes, size_t *count)
{
    *bytes = NULL;
    *count = 0;
    abort();
}

void team_abort(int code)
{
    exit(code);
}

#endif

void team_leave(void)
{
    AMONG_OTHERS(MPI_Finalize());
}

int team_rank(void)
{
    int rank = 0;
    AMONG_OTHERS(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    return rank;
}

int team_size(void)
{
    int size = 1;
    AMONG_OTHERS(MPI_Comm_size(MPI_COMM_WORLD, &size));
    return size;
}

int team_largest(int value)
{
    int largest = value;
    AMONG_OTHERS(MPI_Allreduce(&value, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    return largest;
}
