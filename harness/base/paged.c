/*
 * Numbers in parts that come and go, at addresses that stay.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */

#include "paged.h"

#include "../../memory/need.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    void *at;
    size_t bytes;
} Piece;

typedef enum { PART_ABSENT, PART_FILLING, PART_THERE } PartState;

typedef struct {
    Piece *pieces; /* [count], in the order in which they were taken */
    size_t count, taken;
    double bytes;
    PartState state;
    size_t users;
    bool kept; /* for good */
} Part;

struct Paged {
    Part *parts; /* [count] */
    size_t count;
    double room; /* bytes that may still be kept */
    PagedFill *fill;
    void *context;
    pthread_mutex_t lock; /* of what parts are */
    pthread_cond_t changed;
};

Paged *paged_make(size_t parts, double kept, PagedFill *fill, void *context)
{
    Paged *paged = need_zeros(1, sizeof *paged);
    *paged = (Paged){.count = parts, .room = kept, .fill = fill, .context = context};
    paged->parts = need_zeros(parts + 1, sizeof *paged->parts);
    pthread_mutex_init(&paged->lock, NULL);
    pthread_cond_init(&paged->changed, NULL);
    return paged;
}

void paged_clear(Paged *paged)
{
    if (paged == NULL) {
        return;
    }
    for (size_t p = 0; p < paged->count; p++) {
        Part *part = &paged->parts[p];
        for (size_t i = 0; i < part->count; i++) {
            munmap(part->pieces[i].at, part->pieces[i].bytes);
        }
        free(part->pieces);
    }
    pthread_cond_destroy(&paged->changed);
    pthread_mutex_destroy(&paged->lock);
    free(paged->parts);
    free(paged);
}

/* Zeros that can be written there, or nothing that can be read.  false: memory is short. */
static bool map_part(const Part *part, int protection)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    flags |= protection == PROT_NONE ? MAP_NORESERVE : 0;
    for (size_t i = 0; i < part->count; i++) {
        const Piece *piece = &part->pieces[i];
        if (mmap(piece->at, piece->bytes, protection, flags, -1, 0) == MAP_FAILED) {
            return false;
        }
        (void)madvise(piece->at, piece->bytes, MADV_HUGEPAGE); /* a wish */
    }
    return true;
}

double *paged_take(Paged *paged, size_t p, size_t count)
{
    Part *part = &paged->parts[p];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), most = (size_t)-1 / sizeof(double) - page;
    size_t bytes = count > most ? 0 : (count * sizeof(double) + page - 1) / page * page;
    if (part->state == PART_FILLING) {
        bool same = part->taken < part->count && part->pieces[part->taken].bytes == bytes;
        if (!same) {
            fprintf(stderr, "headproof: bug: %s:%d: part %zu is filled as it was not made\n",
                    __FILE__, __LINE__, p);
            abort();
        }
        return part->pieces[part->taken++].at;
    }
    part->pieces = need_more(part->pieces, part->count + 1, sizeof *part->pieces);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *at = bytes == 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_NONE, flags, -1, 0);
    if (at == MAP_FAILED) {
        need_is_short();
    }
    part->pieces[part->count++] = (Piece){at, bytes};
    part->bytes += (double)bytes;
    return at;
}

bool paged_has(const Paged *paged, size_t p, const double *number)
{
    const Part *part = &paged->parts[p];
    bool has = false;
    for (size_t i = 0; i < part->count && !has; i++) {
        const char *at = part->pieces[i].at, *byte = (const char *)number;
        has = byte >= at && byte < at + part->pieces[i].bytes;
    }
    return has;
}

/* Called and left with the lock held, which others have meanwhile. */
static void fill_part(Paged *paged, size_t p)
{
    Part *part = &paged->parts[p];
    part->state = PART_FILLING;
    part->taken = 0;
    pthread_mutex_unlock(&paged->lock);
    bool ok = map_part(part, PROT_READ | PROT_WRITE) && paged->fill(paged->context, p);
    pthread_mutex_lock(&paged->lock);
    part->state = ok ? PART_THERE : PART_ABSENT;
    if (ok && !part->kept && part->bytes <= paged->room) {
        part->kept = true;
        paged->room -= part->bytes;
    }
    if (!ok) {
        (void)map_part(part, PROT_NONE);
    }
    pthread_cond_broadcast(&paged->changed);
}

bool paged_enter(Paged *paged, size_t p)
{
    Part *part = &paged->parts[p];
    pthread_mutex_lock(&paged->lock);
    while (part->state == PART_FILLING) {
        pthread_cond_wait(&paged->changed, &paged->lock);
    }
    if (part->state == PART_ABSENT) {
        fill_part(paged, p);
    }
    bool there = part->state == PART_THERE;
    part->users += there;
    pthread_mutex_unlock(&paged->lock);
    return there;
}

void paged_leave(Paged *paged, size_t p)
{
    Part *part = &paged->parts[p];
    pthread_mutex_lock(&paged->lock);
    part->users--;
    if (part->users == 0 && !part->kept) { /* absent, too, where half of it stays */
        (void)map_part(part, PROT_NONE);
        part->state = PART_ABSENT;
    }
    pthread_mutex_unlock(&paged->lock);
}

double paged_bytes(const Paged *paged)
{
    double bytes = 0;
    for (size_t p = 0; p < paged->count; p++) {
        bytes += paged->parts[p].bytes;
    }
    return bytes;
}
