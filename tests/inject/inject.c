/*
 * The replaced functions: main's caller, and every one that allocates or starts a thread.
 */
#define _GNU_SOURCE

#include "inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* glibc's own names of what is replaced. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

typedef int Main(int argc, char **argv, char **environment);
typedef int StartMain(Main *program, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void *stack_end);
typedef int CreateThread(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                         void *argument);

Request request;

static Main *program_main;
static CreateThread *create_thread;
static int log_file = -1;

void log_line(const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (log_file >= 0 && length > 0) {
        inject_raw(SYS_write, log_file, (long)line, length, 0, 0, 0);
    }
}

static void read_request(const char *asked)
{
    const char *log = getenv("HEADPROOF_INJECT_LOG"), *depth = getenv("HEADPROOF_INJECT_DEPTH");
    char *end;
    request.depth = depth != NULL ? strtoul(depth, NULL, 10) : 1;
    if (strncmp(asked, "call:", 5) == 0) {
        request.call = strtoull(asked + 5, NULL, 10);
    } else if (strncmp(asked, "end:", 4) == 0) {
        request.call = strtoull(asked + 4, &end, 10);
        request.signal = (int)strtol(end + 1, NULL, 10);
    } else if (strncmp(asked, "at:", 3) == 0) {
        request.places = true;
        request.place = strtoull(asked + 3, NULL, 10);
    } else if (strcmp(asked, "count") != 0) {
        const char *colon = strchr(asked, ':');
        request.site = strtoull(asked, &end, 16);
        request.name = end != colon ? asked : NULL;
        request.nth = colon != NULL ? strtoull(colon + 1, &end, 10) : 1;
        request.from = *end == '+';
        request.caller = *end == '@' ? (uintptr_t)strtoull(end + 1, NULL, 16) : 0;
    }
    log_file = log != NULL ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    request.on = true;
}

static pid_t running;

static void end_running(int signal)
{
    (void)signal;
    kill(running, SIGKILL);
}

/* Returns in every child, with what is asked of it; not in the process that forks. */
static void fork_at_main(char asked[INJECT_LINE])
{
    signal(SIGALRM, end_running);
    for (;;) {
        int status = 0;
        ssize_t length = read(INJECT_ASKED, asked, INJECT_LINE - 1);
        running = length > 0 ? fork() : -1;
        if (running < 0) {
            _exit(length > 0 ? 126 : 0);
        }
        asked[length] = '\0';
        if (running == 0) {
            break;
        }
        alarm(INJECT_SECONDS);
        while (waitpid(running, &status, 0) < 0) {
        }
        alarm(0);
        if (write(INJECT_ENDED, &status, sizeof status) != sizeof status) {
            _exit(126);
        }
    }
    signal(SIGALRM, SIG_DFL);
    close(INJECT_ASKED);
    close(INJECT_ENDED);
    for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++) {
        if (ftruncate(stream, 0) != 0 || lseek(stream, 0, SEEK_SET) != 0) {
            _exit(126);
        }
    }
}

static int injected_main(int argc, char **argv, char **environment)
{
    static char asked[INJECT_LINE];
    fork_at_main(asked);
    read_request(asked);
    sites_begin();
    calls_begin();
    int status = program_main(argc, argv, environment);
    request.on = false;
    if (request.nth == 0 && request.call == 0 && !request.places) {
        sites_print();
        calls_print();
    }
    return status;
}

int __libc_start_main(Main *program, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void *stack_end)
{
    StartMain *start;
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    *(void **)&create_thread = dlsym(RTLD_NEXT, "pthread_create");
    program_main = program;
    return start(injected_main, argc, argv, init, fini, loader_fini, stack_end);
}

#define CALLER __builtin_return_address(0)

static bool short_of_memory(const char *what, const void *caller)
{
    bool fails = inject_allocation(what, caller);
    errno = fails ? ENOMEM : errno;
    return fails;
}

void *malloc(size_t size)
{
    if (short_of_memory("malloc", CALLER)) {
        inject_note(CALLER);
        return NULL;
    }
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return short_of_memory("calloc", CALLER) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return short_of_memory("realloc", CALLER) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return short_of_memory("aligned_alloc", CALLER) ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return short_of_memory("memalign", CALLER) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    int before = errno;
    void *made =
        inject_allocation("posix_memalign", CALLER) ? NULL : __libc_memalign(alignment, size);
    errno = before;
    *memory = made != NULL ? made : *memory;
    return made != NULL ? 0 : ENOMEM;
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset)
{
    if (inject_mapping(CALLER)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    if (create_thread == NULL) { /* before main: OpenBLAS has threads from the start */
        *(void **)&create_thread = dlsym(RTLD_NEXT, "pthread_create");
    }
    return inject_allocation("pthread_create", CALLER)
               ? EAGAIN
               : create_thread(thread, attributes, run, argument);
}
