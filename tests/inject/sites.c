/*
 * Allocations, counted by where in the program they come from.
 */
#define _GNU_SOURCE

#include "inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <unwind.h>

enum { SITES = 1 << 16 }; /* more than there are */

typedef struct {
    uint64_t site, count;
    uintptr_t caller; /* of its first */
} Site;

static Site sites[SITES];
static uint64_t beyond; /* allocations that found no room in the table */
static atomic_flag held = ATOMIC_FLAG_INIT;
static atomic_bool struck;
static atomic_uint_fast64_t named;  /* calls of the function that is asked for */
static uintptr_t base, first, last; /* of the program's instructions */

/* Unwinding allocates too.  Of the thread's own block, so that asking for it does not. */
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

/* The first that is listed is the program. */
static int find_program(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size, (void)context;
    base = object->dlpi_addr;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0) {
            first = base + part->p_vaddr;
            last = first + part->p_memsz;
        }
    }
    return 1;
}

void sites_begin(void)
{
    inside = true;
    dl_iterate_phdr(find_program, NULL);
    inside = false;
}

enum { CHAIN_SHOWN = 6 };

typedef struct {
    uint64_t hash;
    uintptr_t shown[CHAIN_SHOWN]; /* as addr2line has them */
    size_t frames;
} Chain;

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *frame, void *context)
{
    Chain *chain = context;
    uintptr_t address = _Unwind_GetIP(frame);
    if (address >= first && address < last) {
        if (chain->frames < request.depth) {
            chain->hash = (chain->hash ^ (address - base)) * UINT64_C(1099511628211);
        }
        if (chain->frames < CHAIN_SHOWN) {
            chain->shown[chain->frames] = address - base - 1;
        }
        chain->frames++;
    }
    return chain->frames < request.depth ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* With where it was called, beyond what makes a site. */
static void log_strike(const char *what)
{
    Chain chain = {0};
    size_t depth = request.depth;
    request.depth = CHAIN_SHOWN;
    _Unwind_Backtrace(add_frame, &chain);
    request.depth = depth;
    const uintptr_t *at = chain.shown;
    log_line("struck %s 0x%" PRIxPTR " 0x%" PRIxPTR " 0x%" PRIxPTR " 0x%" PRIxPTR " 0x%" PRIxPTR
             " 0x%" PRIxPTR "\n",
             what, at[0], at[1], at[2], at[3], at[4], at[5]);
}

static bool is_named(const char *what)
{
    size_t length = strlen(what);
    return strncmp(request.name, what, length) == 0 && request.name[length] == ':';
}

/* How many allocations the site has had, with this one. */
static uint64_t count_one(uint64_t site, uintptr_t caller)
{
    uint64_t count = 0;
    while (atomic_flag_test_and_set(&held)) {
    }
    for (size_t i = 0; i < SITES && count == 0; i++) {
        Site *entry = &sites[(site + i) % SITES];
        if (entry->count == 0 || entry->site == site) {
            entry->site = site;
            entry->caller = entry->count == 0 ? caller : entry->caller;
            count = ++entry->count;
        }
    }
    beyond += count == 0;
    atomic_flag_clear(&held);
    return count;
}

static bool is_of_openblas(const void *caller)
{
    Dl_info object;
    return dladdr(caller, &object) != 0 && strstr(object.dli_fname, "openblas") != NULL;
}

/* OpenBLAS tries for ever where no mapping succeeds: that is never reached, for the program first
 * tries to map as much itself (kernels/blas.c).  So it is let fail only once. */
bool inject_mapping(const void *caller)
{
    return (atomic_load(&struck) && is_of_openblas(caller)) ? false
                                                            : inject_allocation("mmap", caller);
}

void inject_note(const void *caller)
{
    int before = errno;
    inside = true;
    if (is_of_openblas(caller)) {
        log_line("by OpenBLAS\n");
    }
    inside = false;
    errno = before;
}

bool inject_allocation(const char *what, const void *caller)
{
    bool none = request.call != 0 || request.places;
    if (!request.on || inside || none || (request.name != NULL && !is_named(what)) ||
        (request.caller != 0 && (uintptr_t)caller != request.caller)) {
        return false;
    }
    if (atomic_load(&struck)) {
        return request.from;
    }
    inside = true;
    Chain chain = {.hash = UINT64_C(14695981039346656037)};
    if (request.name == NULL) {
        _Unwind_Backtrace(add_frame, &chain);
    }
    bool strikes = request.name != NULL ? atomic_fetch_add(&named, 1) + 1 == request.nth
                                        : count_one(chain.hash, (uintptr_t)caller) == request.nth &&
                                              chain.hash == request.site;
    if (strikes) {
        atomic_store(&struck, true);
        log_strike(what);
    }
    inside = false;
    return strikes;
}

void sites_print(void)
{
    for (size_t i = 0; i < SITES; i++) {
        if (sites[i].count > 0) {
            log_line("site %" PRIx64 " %" PRIu64 " %" PRIxPTR "\n", sites[i].site, sites[i].count,
                     sites[i].caller);
        }
    }
    if (beyond > 0) {
        log_line("beyond %" PRIu64 "\n", beyond);
    }
}
