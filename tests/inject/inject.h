/*
 * A shared object for LD_PRELOAD that lets a program's allocations, threads and system calls fail,
 * one at a time, from main on.  The program forks at main for every line that it reads from
 * INJECT_ASKED, a child goes on, on streams that begin anew, and into INJECT_ENDED goes its status
 * as of waitpid.  A line says what fails in the child:
 *
 *                          "count": none; "SITE:K": the K-th allocation at a site, "SITE:K+": that
 *                          and every later one anywhere; "SITE:1@CALLER": the first, by who asks
 *                          for memory, which is quicker;  "call:K": the K-th system call; "at:K":
 *                          every pread of the byte number K of any file;
 *                          "NAME:K": the K-th call of that function, as "pthread_create:1";
 *                          "end:K:SIGNAL": none, but before the K-th system call that changes a
 *                          file, of a write behind its first half, the program sends itself that
 *                          signal, and goes on if it lives
 *
 * And the environment of all:
 *
 *   HEADPROOF_INJECT_LOG   a file that gets a line when the fault has struck, "struck WHAT", and
 *                          where from, and "by OpenBLAS" where that asked for memory; "count":
 *                          "site SITE COUNT CALLER" and "call K NAME" each
 *
 * A site is the chain of calls within the program itself (not its libraries) that led to the
 * allocation, as a hash of the return addresses: HEADPROOF_INJECT_DEPTH of them, 1 when unset.
 */
#ifndef HEADPROOF_TESTS_INJECT_INJECT_H
#define HEADPROOF_TESTS_INJECT_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INJECT_ASKED = 198, INJECT_ENDED, INJECT_LINE = 64, INJECT_SECONDS = 60 };

/* What a line asks for. */
typedef struct {
    bool on, from;
    uint64_t site, nth; /* site 0: none */
    uintptr_t caller;   /* of the first allocation at the site; 0: not known */
    uint64_t call;      /* 0: none */
    int signal;         /* sent there; 0: the call fails */
    bool places;        /* bytes that are read fail: */
    uint64_t place;
    const char *name; /* NULL: none */
    size_t depth;
} Request;

extern Request request;

/* True when the allocation about to be made, asked for at caller, is to fail. */
bool inject_allocation(const char *what, const void *caller);

/* The same for a mapping, asked for at caller. */
bool inject_mapping(const void *caller);

/* Into the log, where it is so: "by OpenBLAS". */
void inject_note(const void *caller);

/* From here on allocations and calls are counted.  main: any address within the program. */
void sites_begin(void);
void calls_begin(void);

/* Into the log. */
void sites_print(void);
void calls_print(void);
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The system call itself, past the filter. */
long inject_raw(long number, long a, long b, long c, long d, long e, long f);

#endif
