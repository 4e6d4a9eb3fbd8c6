/*
 * Digests of bytes: FNV-1a, 64 bits.
 */
#include "digest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t count)
{
    const unsigned char *next = bytes;
    for (size_t i = 0; i < count; i++) {
        digest = (digest ^ next[i]) * UINT64_C(0x100000001B3);
    }
    return digest;
}

void digest_print(char text[DIGEST_TEXT], uint64_t digest)
{
    snprintf(text, DIGEST_TEXT, "%016" PRIx64, digest);
}

int digest_descriptor(uint64_t *digest, int fd)
{
    char block[1 << 16];
    ssize_t got = 1;
    for (off_t place = 0; got > 0; place += got) {
        got = pread(fd, block, sizeof block, place);
        if (got < 0 && errno == EINTR) {
            got = 1; /* once more, from the same place */
            place -= got;
        } else if (got > 0) {
            *digest = digest_bytes(*digest, block, (size_t)got);
        }
    }
    return got < 0 ? -1 : 0;
}
