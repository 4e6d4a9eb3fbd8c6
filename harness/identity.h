/*
 * What a grid is, in two short texts: files of rows that agree in them can be put together.
 */
#ifndef HEADPROOF_HARNESS_IDENTITY_H
#define HEADPROOF_HARNESS_IDENTITY_H

#include "grid.h"

#include <stdint.h>

/* FNV-1a, 64 bits: no secret is kept by it, only accidents are found. */
#define DIGEST_START UINT64_C(0xCBF29CE484222325)
uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t count);

#define DIGEST_TEXT 17
void digest_print(char text[DIGEST_TEXT], uint64_t digest);

/* The digest of all that is in an open file, which is not moved in.  0, or -1 (errno). */
int digest_descriptor(char text[DIGEST_TEXT], int fd) __attribute__((warn_unused_result));

/* points: of the key columns of every point, in order, each followed by a newline.
 * weights: of the bytes of the files that weights come from, in order; "" without any. */
typedef struct {
    char points[DIGEST_TEXT], weights[DIGEST_TEXT];
} GridIdentity;

/* 0; 2 or 99 after one message when a file cannot be read or memory is short. */
int grid_identify(GridIdentity *identity, const Grid *grid) __attribute__((warn_unused_result));

#endif
