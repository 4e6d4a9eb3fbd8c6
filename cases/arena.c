/*
 * Memory that a pair of models owns: taken piece by piece, released at once.
 */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct Chunk {
    struct Chunk *next;
    _Alignas(max_align_t) unsigned char data[];
} Chunk;

struct Arena {
    Chunk *chunks;
    size_t bytes;
};

Arena *arena_create(void)
{
    return calloc(1, sizeof(Arena));
}

void *arena_take(Arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - sizeof(Chunk)) / size) {
        return NULL;
    }
    Chunk *chunk = calloc(1, sizeof(Chunk) + count * size);
    if (chunk == NULL) {
        return NULL;
    }
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->bytes += count * size;
    return chunk->data;
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
