/*
 * Memory that a pair of models owns: taken piece by piece, released at once.
 */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct Chunk {
    struct Chunk *next;
    size_t numbers; /* that it consists of; 0: of something else */
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

double *arena_take_numbers(Arena *arena, size_t count, size_t each)
{
    double *taken =
        each > SIZE_MAX / sizeof *taken ? NULL : arena_take(arena, count, each * sizeof *taken);
    if (taken != NULL) {
        arena->chunks->numbers = count * each;
    }
    return taken;
}

void arena_each_number(Arena *arena,
                       void (*visit)(double *numbers, size_t count, const void *context),
                       const void *context)
{
    for (Chunk *chunk = arena->chunks; chunk != NULL; chunk = chunk->next) {
        if (chunk->numbers > 0) {
            visit((double *)(void *)chunk->data, chunk->numbers, context);
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
