/*
 * Memory that a pair of models owns: taken piece by piece, released at once.
 */
#define _DEFAULT_SOURCE /* madvise */

#include "arena.h"

#include "../memory/need.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

typedef struct Chunk {
    struct Chunk *next;
    double *numbers; /* [count] that it consists of, or that lie elsewhere; NULL: something else */
    size_t count;
    _Alignas(max_align_t) unsigned char data[];
} Chunk;

struct Arena {
    Chunk *chunks;
    size_t bytes;
    ArenaPlace place;
};

Arena *arena_create(void)
{
    return need_zeros(1, sizeof(Arena));
}

/* Large pages for much memory, where they are to be had: else each column of a large matrix is on a
 * page of its own. */
static void wish_pages(void *from, size_t bytes)
{
    enum { PAGE = 4096, MUCH = 1 << 22 };
#ifdef MADV_HUGEPAGE
    uintptr_t skipped = -(uintptr_t)from % PAGE;
    if (bytes >= MUCH) {
        (void)madvise((char *)from + skipped, bytes - skipped, MADV_HUGEPAGE);
    }
#else
    (void)from, (void)bytes;
#endif
}

/* A chunk of so many bytes more, the newest. */
static Chunk *add_chunk(Arena *arena, size_t bytes)
{
    Chunk *chunk = need_zeros(1, sizeof(Chunk) + bytes);
    wish_pages(chunk, sizeof(Chunk) + bytes);
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->bytes += bytes;
    return chunk;
}

void *arena_take(Arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - sizeof(Chunk)) / size) {
        need_is_short();
    }
    return add_chunk(arena, count * size)->data;
}

/* Numbers of a layer, which lie where its place says; they are noted where they can be visited. */
static double *take_placed(Arena *arena, size_t count)
{
    const ArenaPlace *place = &arena->place;
    double *taken = place->layers->take(place->layers, place->layer, count);
    if (place->hollow) {
        return taken;
    }
    Chunk *chunk = add_chunk(arena, 0);
    chunk->numbers = taken;
    chunk->count = count;
    return taken;
}

double *arena_take_numbers(Arena *arena, size_t count, size_t each)
{
    if (each > SIZE_MAX / sizeof(double) ||
        (each > 0 && count > SIZE_MAX / sizeof(double) / each)) {
        need_is_short();
    }
    if (arena->place.layers != NULL && count * each > 0) {
        return take_placed(arena, count * each);
    }
    double *taken = arena_take(arena, count, each * sizeof *taken);
    arena->chunks->numbers = taken;
    arena->chunks->count = count * each;
    return taken;
}

void arena_set_place(Arena *arena, ArenaPlace place)
{
    arena->place = place;
}

bool arena_is_hollow(const Arena *arena)
{
    return arena->place.hollow;
}

void arena_each_number(Arena *arena,
                       void (*visit)(double *numbers, size_t count, const void *context),
                       const void *context)
{
    for (Chunk *chunk = arena->chunks; chunk != NULL; chunk = chunk->next) {
        if (chunk->numbers != NULL) {
            visit(chunk->numbers, chunk->count, context);
        }
    }
}

size_t arena_bytes(const Arena *arena)
{
    return arena->bytes;
}

void arena_release(Arena *arena)
{
    if (arena == NULL) {
        return;
    }
    for (Chunk *chunk = arena->chunks; chunk != NULL;) {
        Chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(arena);
}
