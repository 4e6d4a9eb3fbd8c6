/* realpath is not in POSIX itself. */
#define _XOPEN_SOURCE 700

#include "atomic_file.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *atomic_file_name(const char *path, const char *suffix)
{
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *joined = malloc(size);
    if (joined != NULL) {
        snprintf(joined, size, "%s%s", path, suffix);
    }
    return joined;
}

#define OUTPUT_FLAG "output"

static int unwritable(const char *flag, const char *path, int error)
{
    complain((Origin){.flag = flag}, path, "expected a file that can be written (%s)",
             strerror(error));
    return file_fault(error);
}

int atomic_file_keep_signals(const char *given)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (sigaction(SIGXFSZ, &ignore, NULL) != 0 || sigaction(SIGPIPE, &ignore, NULL) != 0) {
        return unwritable(OUTPUT_FLAG, given, errno);
    }
    return 0;
}

/* True when fd is locked for this process and is still the file of that name: another run may
 * have renamed it between opening and locking. */
static bool lock(int fd, const char *path)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_SETLK, &whole) != 0) {
        /* Some file systems have no locks: then there is nothing to find out. */
        return errno != EACCES && errno != EAGAIN;
    }
    struct stat held, named;
    bool same = fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_dev == named.st_dev &&
                held.st_ino == named.st_ino;
    errno = same ? errno : EAGAIN;
    return same;
}

/* What an interrupted run left at file->partial is overwritten, unless it is kept.  given: the
 * path as typed. */
static int open_partial(AtomicFile *file, const char *given)
{
    struct stat old;
    if (stat(file->path, &old) == 0 && !S_ISREG(old.st_mode)) {
        return unwritable(file->flag, given, S_ISDIR(old.st_mode) ? EISDIR : EINVAL);
    }
    if (access(file->path, F_OK) == 0 && access(file->path, W_OK) != 0) {
        return unwritable(file->flag, given, errno);
    }
    int fd = open(file->partial, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        return unwritable(file->flag, given, errno);
    }
    if (!lock(fd, file->partial)) {
        close(fd);
        complain((Origin){.flag = file->flag}, given, "expected no other run to write it");
        return 2;
    }
    if (file->kept || ftruncate(fd, 0) == 0) {
        file->file = fdopen(fd, "r+");
    }
    if (file->file == NULL) {
        int error = errno;
        close(fd);
        return unwritable(file->flag, given, error);
    }
    return 0;
}

/* Takes path. */
static int open_regular(AtomicFile *file, char *path, const char *given)
{
    file->path = path;
    file->partial = path == NULL ? NULL : atomic_file_name(path, ".partial");
    return file->partial == NULL ? memory_fault() : open_partial(file, given);
}

int atomic_file_open_beside(AtomicFile *file, const AtomicFile *other, const char *suffix,
                            const char *given)
{
    file->flag = other->flag;
    int status = open_regular(file, atomic_file_name(other->path, suffix), given);
    if (status != 0) {
        atomic_file_clear(file);
    }
    return status;
}

static int open_direct(AtomicFile *file, const char *given)
{
    file->path = atomic_file_name(given, "");
    if (file->path == NULL) {
        return memory_fault();
    }
    file->file = fopen(given, "w");
    return file->file == NULL ? unwritable(file->flag, given, errno) : 0;
}

int atomic_file_open_kept(AtomicFile *file, const char *given)
{
    file->kept = true;
    return atomic_file_open(file, given);
}

int atomic_file_open(AtomicFile *file, const char *given)
{
    struct stat found;
    bool exists = stat(given, &found) == 0;
    file->flag = file->flag != NULL ? file->flag : OUTPUT_FLAG;
    int status = atomic_file_keep_signals(given);
    if (status != 0) {
        return status;
    }
    if (exists && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) {
        status = open_direct(file, given);
    } else {
        char *real = exists ? realpath(given, NULL) : atomic_file_name(given, "");
        status =
            real == NULL ? unwritable(file->flag, given, errno) : open_regular(file, real, given);
    }
    if (status != 0) {
        atomic_file_clear(file);
    }
    return status;
}

bool atomic_file_is_direct(const AtomicFile *file)
{
    return file->partial == NULL;
}

int atomic_file_flush(FILE *file)
{
    errno = 0;
    bool failed = fflush(file) != 0 || ferror(file);
    errno = failed && errno == 0 ? EIO : errno;
    return failed ? -1 : 0;
}

int atomic_file_sync(AtomicFile *file)
{
    if (atomic_file_flush(file->file) != 0) {
        return -1;
    }
    return atomic_file_is_direct(file) ? 0 : fsync(fileno(file->file));
}

int atomic_file_sync_directory(const char *path)
{
    char *directory = atomic_file_name(path, "");
    if (directory == NULL) {
        errno = ENOMEM;
        return -1;
    }
    char *slash = strrchr(directory, '/');
    if (slash != NULL) {
        slash[slash == directory ? 1 : 0] = '\0';
    }
    int fd = open(slash != NULL ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0) {
        (void)close(fd); /* nothing was written through it */
    }
    free(directory);
    /* Some file systems cannot sync a directory, and need not. */
    return status != 0 && errno != EINVAL && errno != EACCES ? -1 : 0;
}

int atomic_file_publish(AtomicFile *file)
{
    if (file->partial == NULL) {
        return 0;
    }
    if (rename(file->partial, file->path) != 0) {
        return -1;
    }
    free(file->partial);
    file->partial = NULL;
    return 0;
}

int atomic_file_close(AtomicFile *file)
{
    FILE *stream = file->file;
    file->file = NULL;
    return stream == NULL ? 0 : fclose(stream);
}

int atomic_file_failed(const char *path)
{
    fprintf(stderr, "headproof: %s: cannot be written: %s\n", path, strerror(errno));
    return 99;
}

void atomic_file_clear(AtomicFile *file)
{
    if (file->file != NULL && file->partial != NULL && !file->kept) {
        (void)unlink(file->partial);
    }
    if (file->file != NULL) {
        /* What it held is unwanted, or synced already. */
        (void)fclose(file->file);
    }
    free(file->partial);
    free(file->path);
    *file = (AtomicFile){0};
}
