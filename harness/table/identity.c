/*
 * The identity of a grid: digests of its keys and of the weights files that it reads.
 */
#include "identity.h"

#include "../base/message.h"
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int digest_file(uint64_t *digest, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), status = 0;
    if (fd < 0 || digest_descriptor(digest, fd) != 0) {
        status = file_fault(errno);
        complain_of(path, NULL, NULL, "cannot be read: %s", strerror(errno));
    }
    (void)(fd >= 0 && close(fd)); /* it was only read */
    return status;
}

uint64_t identity_end(uint64_t points, bool propagation)
{
    static const char columns[] = "propagation\n";
    return propagation ? digest_bytes(points, columns, strlen(columns)) : points;
}

int grid_identify(GridIdentity *identity, const Grid *grid)
{
    uint64_t points = DIGEST_START, weights = DIGEST_START;
    int status = 0;
    for (size_t i = 0; i < grid->count; i++) {
        char *key = table_key(&grid->points[i]);
        points = digest_bytes(points, key, strlen(key));
        points = digest_bytes(points, "\n", 1);
        free(key);
    }
    bool propagation = grid->count > 0 && grid->points[0].propagation;
    digest_print(identity->points, identity_end(points, propagation));
    identity->weights[0] = '\0';
    for (size_t i = 0; i < grid->sources.count && status == 0; i++) {
        const ModelFile *file = grid->sources.items[i]->file;
        for (size_t p = 0; p < file->path_count && status == 0; p++) {
            status = digest_file(&weights, file->paths[p]);
        }
        digest_print(identity->weights, weights);
    }
    return status;
}
