/*
 * Random draws as pure functions: the same bits on every machine.
 *
 * A draw depends on (seed, tensor name, head, row, column) and on nothing else, so a larger
 * tensor holds the smaller one's draws as a block.  Philox4x64-10 (Salmon et al., "Parallel
 * random numbers: as easy as 1, 2, 3", SC 2011), keyed by the seed and FNV-1a of the name;
 * the normal quantile is AS 241 (Wichura, Applied Statistics 37, 1988), with a logarithm of
 * its own, because libm's differs between machines.
 */
#ifndef HEADPROOF_CASES_DRAW_H
#define HEADPROOF_CASES_DRAW_H

#include <stddef.h>
#include <stdint.h>

/* One block of Philox4x64-10. */
void draw_philox(uint64_t out[4], const uint64_t counter[4], const uint64_t key[2]);

/* FNV-1a, 64 bits. */
uint64_t draw_hash(const char *name);

/* Uniform in (0, 1): an odd multiple of 2^-53. */
double draw_uniform(uint64_t seed, uint64_t name_hash, size_t head, size_t row, size_t column);

/* Standard normal: draw_quantile of the uniform draw. */
double draw_normal(uint64_t seed, uint64_t name_hash, size_t head, size_t row, size_t column);

/* draw_normal of columns 0, ..., count - 1 of a row, several at a time. */
typedef struct {
    uint64_t seed, name_hash;
    size_t head, row;
} DrawRow;

void draw_normals(double *normal, const DrawRow *of, size_t count);

/* The normal quantile of p in (0, 1); relative error about 1e-15 of the exact one. */
double draw_quantile(double p);

#endif
