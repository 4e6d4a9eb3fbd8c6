/*
 * Files that are read in any order, or as a whole: no pipes.
 */
#include "regular_file.h"

#include "../base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_file_unreadable(const char *path, int error)
{
    complain_of(path, NULL, NULL, "expected a file that can be read (%s)", strerror(error));
    return file_fault(error);
}

/* *size: of fd, which is path. */
static int measure(uintmax_t *size, int fd, const char *path)
{
    struct stat found;
    if (fstat(fd, &found) != 0) {
        return regular_file_unreadable(path, errno);
    }
    if (!S_ISREG(found.st_mode)) {
        return complain_of(path, NULL, NULL, "expected a regular file, not %s",
                           S_ISDIR(found.st_mode) ? "a directory" : "a pipe or a device");
    }
    *size = found.st_size > 0 ? (uintmax_t)found.st_size : 0;
    return 0;
}

int regular_file_open(int *fd, uintmax_t *size, const char *path, bool optional)
{
    /* Without O_NONBLOCK, opening a pipe would wait for its writer. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0) {
        return optional && errno == ENOENT ? 0 : regular_file_unreadable(path, errno);
    }
    int status = measure(size, *fd, path);
    if (status != 0) {
        close(*fd);
        *fd = -1;
    }
    return status;
}
