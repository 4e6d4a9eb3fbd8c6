/*
 * How OpenBLAS is set up: which core's kernels it runs, without threads of its own, with its memory
 * taken beforehand.
 */
/* MAP_ANONYMOUS is not in POSIX of 2008. */
#define _DEFAULT_SOURCE

#include "blas.h"

#include <cblas.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* OpenBLAS reads the first when it is loaded.  The second tells the restarted program, and
 * its children, that the first is this program's doing: it then holds the same value. */
#define CORE_VARIABLE "OPENBLAS_CORETYPE"
#define GUARD_VARIABLE "HEADPROOF_CORRECTED_CORETYPE"
#define THREADS_VARIABLE "OPENBLAS_NUM_THREADS"

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcasecmp(name, *names) != 0) {
        names++;
    }
    return *names != NULL;
}

const char *blas_core_wanted(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd")) {
        return "SKYLAKEX";
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return "HASWELL";
    }
#endif
    return NULL;
}

/* Is this OpenBLAS core as fast as the CPU allows?  wide: those with kernels for 512-bit vectors;
 * fma: for 256-bit vectors with fused multiply-adds. */
static bool core_is_good_enough(const char *core, const char *wanted)
{
    static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids",
                                       "Zen4",     "Zen5",       NULL};
    static const char *const fma[] = {"Haswell", "Zen", "Zen2", "Zen3", NULL};
    return wanted == NULL || is_one_of(core, wide) ||
           (strcmp(wanted, "HASWELL") == 0 && is_one_of(core, fma));
}

static bool core_was_set_here(void)
{
    const char *core = getenv(CORE_VARIABLE), *guard = getenv(GUARD_VARIABLE);
    return core != NULL && guard != NULL && strcmp(core, guard) == 0;
}

/* Returns only when the program could not be restarted; errno says why. */
static void restart_with_core(char **argv, const char *core)
{
    if (setenv(CORE_VARIABLE, core, 1) == 0 && setenv(GUARD_VARIABLE, core, 1) == 0) {
        execv("/proc/self/exe", argv);
    }
    int reason = errno;
    unsetenv(CORE_VARIABLE);
    unsetenv(GUARD_VARIABLE);
    errno = reason;
}

static void say_core_is_slow(const char *why)
{
    fprintf(stderr, "headproof: OpenBLAS runs its %s kernels, this CPU can do %s: slow (%s)\n",
            blas_core(), blas_core_wanted(), why);
}

static bool is_limited(int resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* OpenBLAS starts threads of its own when it is loaded.  They are not used here, but they map
 * memory, try for ever where they get none, and are waited for at the end of the process: where
 * memory is limited, the program is started again without them. */
static void restart_without_threads(char **argv)
{
    const char *threads = getenv(THREADS_VARIABLE);
    bool alone = threads != NULL && strcmp(threads, "1") == 0;
    if (!alone && setenv(THREADS_VARIABLE, "1", 1) == 0) {
        execv("/proc/self/exe", argv);
    }
}

void blas_setup(char **argv)
{
    if (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA)) {
        restart_without_threads(argv); /* where it cannot: it goes on with them */
    }
    const char *wanted = blas_core_wanted();
    if (!core_is_good_enough(blas_core(), wanted)) {
        if (getenv(CORE_VARIABLE) == NULL) {
            restart_with_core(argv, wanted);
            say_core_is_slow(strerror(errno));
        } else if (core_was_set_here()) {
            say_core_is_slow("it ignores " CORE_VARIABLE);
        }
    }
    openblas_set_num_threads(1);
}

/* OpenBLAS's own functions for its buffers, which its shared library exports.  A buffer that is
 * given back stays with OpenBLAS, for the next call that needs one. */
extern void *blas_memory_alloc(int position) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

enum { RESERVED_MOST = 64 }; /* Debian's OpenBLAS has room for twice as many */

static bool can_map(size_t bytes)
{
    void *tried = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return tried != MAP_FAILED && munmap(tried, bytes) == 0;
}

bool blas_reserve(size_t threads)
{
    void *buffer[RESERVED_MOST];
    size_t count = threads < RESERVED_MOST ? threads : RESERVED_MOST;
    bool can = can_map(count * BLAS_THREAD_BYTES);
    if (can && blas_memory_alloc != NULL && blas_memory_free != NULL) {
        for (size_t i = 0; i < count; i++) {
            buffer[i] = blas_memory_alloc(0);
        }
        for (size_t i = 0; i < count; i++) {
            blas_memory_free(buffer[i]);
        }
    }
    return can;
}

const char *blas_core(void)
{
    return openblas_get_corename();
}

const char *blas_config(void)
{
    return openblas_get_config();
}

const char *blas_core_origin(void)
{
    if (core_was_set_here()) {
        return core_is_good_enough(blas_core(), blas_core_wanted()) ? "corrected" : "detected";
    }
    return getenv(CORE_VARIABLE) != NULL ? "set by the user" : "detected";
}
