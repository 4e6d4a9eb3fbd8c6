/*
 * Memory that lives as long as a pair: many allocations, one release.
 */
#ifndef HEADPROOF_CASES_ARENA_H
#define HEADPROOF_CASES_ARENA_H

#include "model.h"

typedef struct Arena Arena;

Arena *arena_create(void) __attribute__((warn_unused_result));

/* count zeroed objects of size bytes each, aligned for any type. */
void *arena_take(Arena *arena, size_t count, size_t size)
    __attribute__((returns_nonnull, warn_unused_result));

/* The same of doubles, [count, each], which arena_each_number visits. */
double *arena_take_numbers(Arena *arena, size_t count, size_t each)
    __attribute__((returns_nonnull, warn_unused_result));

/* Where numbers are taken from: a layer's own place, or, layers NULL, the arena itself.  hollow: it
 * is not there yet, and the caller writes no numbers. */
typedef struct {
    ModelLayers *layers;
    size_t layer;
    bool hollow;
} ArenaPlace;

void arena_set_place(Arena *arena, ArenaPlace place);
bool arena_is_hollow(const Arena *arena);

/* Calls visit for every array of them that can be written. */
void arena_each_number(Arena *arena,
                       void (*visit)(double *numbers, size_t count, const void *context),
                       const void *context);

/* Bytes taken so far. */
size_t arena_bytes(const Arena *arena);

/* Releases everything; NULL is fine. */
void arena_release(Arena *arena);

#endif
