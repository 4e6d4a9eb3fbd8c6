/*
 * Digests of bytes.
 */
#ifndef HEADPROOF_HARNESS_BASE_DIGEST_H
#define HEADPROOF_HARNESS_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a, 64 bits: no secret is kept by it, only accidents are found. */
#define DIGEST_START UINT64_C(0xCBF29CE484222325)
uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t count);

#define DIGEST_TEXT 17
void digest_print(char text[DIGEST_TEXT], uint64_t digest);

/* *digest goes on over all that is in an open file, which is not moved in.  0, or -1 (errno). */
int digest_descriptor(uint64_t *digest, int fd) __attribute__((warn_unused_result));

#endif
