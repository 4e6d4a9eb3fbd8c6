#include "identity.h"

#include "message.h"
#include "table.h"

#include "../cases/fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
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

int digest_descriptor(char text[DIGEST_TEXT], int fd)
{
    char block[1 << 16];
    uint64_t digest = DIGEST_START;
    ssize_t got = 1;
    for (off_t place = 0; got > 0; place += got) {
        got = pread(fd, block, sizeof block, place);
        if (got < 0 && errno == EINTR) {
            got = 1; /* once more, from the same place */
            place -= got;
        } else if (got > 0) {
            digest = digest_bytes(digest, block, (size_t)got);
        }
    }
    digest_print(text, digest);
    return got < 0 ? -1 : 0;
}

static int digest_file(uint64_t *digest, const char *path)
{
    char block[1 << 16];
    size_t count;
    FILE *file = fopen(path, "rb");
    if (file != NULL) {
        while ((count = fread(block, 1, sizeof block, file)) > 0) {
            *digest = digest_bytes(*digest, block,
                                   FAULT("weights-read-in-part", count < 8 ? count : 8, count));
        }
    }
    int reason = file == NULL ? errno : ferror(file) ? EIO : 0;
    if (file != NULL) {
        (void)fclose(file); /* it was only read */
    }
    if (reason != 0) {
        complain_of(path, NULL, NULL, "cannot be read: %s", strerror(reason));
    }
    return reason != 0 ? file_fault(reason) : 0;
}

int grid_identify(GridIdentity *identity, const Grid *grid)
{
    uint64_t points = DIGEST_START, weights = DIGEST_START;
    int status = 0;
    for (size_t i = 0; i < grid->count; i++) {
        char *key = table_key(&grid->points[i]);
        if (key == NULL) {
            return memory_fault();
        }
        points = digest_bytes(points, key, strlen(key));
        points = digest_bytes(points, "\n", 1);
        free(key);
    }
    digest_print(identity->points, points);
    identity->weights[0] = '\0';
    for (size_t i = 0; i < grid->sources.count && status == 0; i++) {
        status = digest_file(&weights, grid->sources.items[i]->path);
        digest_print(identity->weights, weights);
    }
    return status;
}
