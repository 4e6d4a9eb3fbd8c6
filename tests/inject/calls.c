/*
 * System calls on files, counted and made to fail or to be the last, those that libraries make too.
 *
 * A seccomp filter turns each into a signal.  Its handler makes the call itself, from the one
 * instruction that the filter lets pass, or gives back an error instead.
 */
#define _GNU_SOURCE

#include "inject.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { CALLS_LISTED = 1 << 14 };

typedef struct {
    long number;
    int error;
    const char *name;
} Watched;

static const Watched watched[] = {
#ifdef SYS_open
    {SYS_open, EIO, "open"},           {SYS_rename, EIO, "rename"},
    {SYS_mkdir, ENOSPC, "mkdir"},      {SYS_unlink, EIO, "unlink"},
    {SYS_rmdir, EIO, "rmdir"},
#endif
#ifdef SYS_renameat
    {SYS_renameat, EIO, "rename"},
#endif
    {SYS_openat, EIO, "open"},         {SYS_read, EIO, "read"},
    {SYS_pread64, EIO, "read"},        {SYS_write, ENOSPC, "write"},
    {SYS_pwrite64, ENOSPC, "write"},   {SYS_writev, ENOSPC, "write"},
    {SYS_fsync, EIO, "fsync"},         {SYS_fdatasync, EIO, "fsync"},
    {SYS_renameat2, EIO, "rename"},    {SYS_close, EIO, "close"},
    {SYS_mkdirat, ENOSPC, "mkdir"},    {SYS_unlinkat, EIO, "unlink"},
    {SYS_ftruncate, EIO, "ftruncate"},
};
enum { WATCHED = sizeof watched / sizeof *watched };

static unsigned char listed[CALLS_LISTED];
static atomic_uint_fast64_t made;

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
extern const char inject_allowed[];
__asm__(".text\n"
        ".globl inject_raw\n"
        ".hidden inject_raw\n"
        "inject_raw:\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    mov %rdx, %rsi\n"
        "    mov %rcx, %rdx\n"
        "    mov %r8, %r10\n"
        "    mov %r9, %r8\n"
        "    mov 8(%rsp), %r9\n"
        "    syscall\n"
        ".globl inject_allowed\n"
        ".hidden inject_allowed\n"
        "inject_allowed:\n"
        "    ret\n");

static long *registers(ucontext_t *context, long arguments[6])
{
    greg_t *r = context->uc_mcontext.gregs;
    const long given[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    memcpy(arguments, given, sizeof given);
    return (long *)&r[REG_RAX];
}
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
extern const char inject_allowed[];
__asm__(".text\n"
        ".globl inject_raw\n"
        ".hidden inject_raw\n"
        "inject_raw:\n"
        "    mov x8, x0\n"
        "    mov x0, x1\n"
        "    mov x1, x2\n"
        "    mov x2, x3\n"
        "    mov x3, x4\n"
        "    mov x4, x5\n"
        "    mov x5, x6\n"
        "    svc #0\n"
        ".globl inject_allowed\n"
        ".hidden inject_allowed\n"
        "inject_allowed:\n"
        "    ret\n");

static long *registers(ucontext_t *context, long arguments[6])
{
    unsigned long long *r = context->uc_mcontext.regs;
    for (int i = 0; i < 6; i++) {
        arguments[i] = (long)r[i];
    }
    return (long *)&r[0];
}
#endif

#ifdef ARCHITECTURE

static bool is_a(size_t which, const char *name)
{
    return strcmp(watched[which].name, name) == 0;
}

static bool changes_a_file(size_t which, const long arguments[6])
{
    long flags = arguments[watched[which].number == SYS_openat ? 2 : 1];
    return !is_a(which, "read") && !is_a(which, "close") &&
           (!is_a(which, "open") || (flags & O_CREAT) != 0);
}

/* The K-th call, from 1; 0 for what is said on stderr, which must arrive, and for what does not
 * count. */
static uint64_t count_call(size_t which, const long arguments[6])
{
    bool said = is_a(which, "write") && arguments[0] == 2;
    if (said || !request.on || (request.signal != 0 && !changes_a_file(which, arguments))) {
        return 0;
    }
    uint64_t k = atomic_fetch_add(&made, 1) + 1;
    if (k < CALLS_LISTED) {
        listed[k] = (unsigned char)which;
    }
    return k;
}

static bool is_place(size_t which, const long arguments[6])
{
    uint64_t first = (uint64_t)arguments[3], count = (uint64_t)arguments[2];
    return request.places && watched[which].number == SYS_pread64 && request.place >= first &&
           request.place - first < count;
}

static long call(size_t which, const long arguments[6])
{
    return inject_raw(watched[which].number, arguments[0], arguments[1], arguments[2], arguments[3],
                      arguments[4], arguments[5]);
}

/* Half of a write is made before the signal comes, any other call behind it.  A signal that is
 * waited for by a thread which may want a lock of this one ends the process a little later. */
static long call_and_end(size_t which, long arguments[6])
{
    bool writes = is_a(which, "write");
    long half = 0;
    if (writes) {
        arguments[2] /= 2;
        half = call(which, arguments);
    }
    (void)kill(getpid(), request.signal);
    (void)usleep(20000);
    return writes ? half : call(which, arguments);
}

static void make_call(int signal, siginfo_t *information, void *interrupted)
{
    long arguments[6], *result = registers(interrupted, arguments);
    size_t which = 0;
    (void)signal;
    while (which < WATCHED - 1 && watched[which].number != information->si_syscall) {
        which++;
    }
    uint64_t k = count_call(which, arguments);
    bool strikes = k != 0 && (k == request.call || is_place(which, arguments));
    if (strikes) {
        log_line("struck %s\n", watched[which].name);
    }
    if (strikes && request.signal != 0) {
        *result = call_and_end(which, arguments);
    } else if (request.signal != 0 && is_a(which, "fsync")) {
        *result = 0; /* a killed program loses nothing that the system has: nobody waits for it */
    } else if (!strikes || is_a(which, "close")) { /* which also closes where it reports an error */
        *result = call(which, arguments);
    }
    if (strikes && request.signal == 0) {
        *result = -watched[which].error;
    }
}

static size_t add_filter(struct sock_filter *filter)
{
    uint64_t allowed = (uint64_t)(uintptr_t)inject_allowed;
    size_t at = 0, field = offsetof(struct seccomp_data, instruction_pointer);
#define LOAD(offset) ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset)))
#define UNLESS(value, skipped)                                                                     \
    ((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, skipped))
#define END(action) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action))
    filter[at++] = LOAD(offsetof(struct seccomp_data, arch));
    filter[at++] = UNLESS(ARCHITECTURE, 3);
    filter[at++] = LOAD(field);
    filter[at++] = UNLESS(allowed, 2);
    filter[at++] = LOAD(field + 4);
    filter[at] = UNLESS(allowed >> 32, 1);
    filter[1].jf = (unsigned char)(at - 1); /* to END */
    at++;
    filter[at++] = END(SECCOMP_RET_ALLOW);
    filter[3].jf = (unsigned char)(at - 4);
    filter[at++] = LOAD(offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < WATCHED; i++) {
        filter[at++] = UNLESS(watched[i].number, 1);
        filter[at++] = END(SECCOMP_RET_TRAP);
    }
    filter[at++] = END(SECCOMP_RET_ALLOW);
    return at;
}

void calls_begin(void)
{
    struct sock_filter filter[16 + 2 * WATCHED];
    struct sock_fprog program = {.len = (unsigned short)add_filter(filter), .filter = filter};
    struct sigaction action = {.sa_sigaction = make_call,
                               .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGSYS, &action, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        log_line("no calls\n");
    }
}

#else
long inject_raw(long number, long a, long b, long c, long d, long e, long f)
{
    return syscall(number, a, b, c, d, e, f);
}

void calls_begin(void)
{
    log_line("no calls\n");
}
#endif

void calls_print(void)
{
    for (uint64_t k = 1; k <= atomic_load(&made); k++) {
        log_line("call %d %s\n", (int)k, k < CALLS_LISTED ? watched[listed[k]].name : "unknown");
    }
}
