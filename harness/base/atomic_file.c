/*
 * Files that appear complete or not at all.
 */
/* realpath is not in POSIX itself. */
#define _XOPEN_SOURCE 700

#include "atomic_file.h"

#include "../../memory/need.h"
#include "message.h"
#include "own_file.h"
#include "shown.h"
#include "streams.h"

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
    char *joined = need_room(size, 1);
    snprintf(joined, size, "%s%s", path, suffix);
    return joined;
}

#define OUTPUT_FLAG "output"

static int unwritable(const char *flag, const char *path, int error)
{
    complain((Origin){.flag = flag}, path, "expected a file that can be written (%s)",
             strerror(error));
    return file_fault(error);
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

/* An open file under the temporary name: a new one, or what is there, which may vanish. */
static int open_temporary(const char *path)
{
    enum { ATTEMPTS = 100 };
    int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, fd = -1;
    for (int i = 0; i < ATTEMPTS && fd < 0; i++) {
        fd = own_file_make(path);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
        fd = open(path, flags);
        if (fd < 0 && errno != ENOENT) {
            return fd;
        }
    }
    return fd;
}

/* A sweep's rows, with the sidecar that is written before them. */
static bool is_unfinished_sweep(const AtomicFile *file, int fd)
{
    struct stat found = {0};
    char *sidecar = atomic_file_name(file->path, ".json.partial");
    bool there = lstat(sidecar, &found) == 0 && found.st_size > 0;
    free(sidecar);
    return there && own_file_has_rows(fd);
}

/* Refuses to go on from a file that is not the program's own, or is another run's; 0, or 2 after a
 * message. */
static int claim_temporary(const AtomicFile *file, int fd, const char *given)
{
    const char *doubt = own_file_doubt(fd);
    if (doubt != NULL) {
        return own_file_refuse(file->flag, file->partial, doubt);
    }
    if (!lock(fd, file->partial)) {
        return complain((Origin){.flag = file->flag}, given, "expected no other run to write it");
    }
    if (!file->kept && is_unfinished_sweep(file, fd)) {
        return complain(
            (Origin){.flag = file->flag}, file->partial,
            "expected no rows of an interrupted sweep (it goes on with --resume; without that "
            "file it begins anew)");
    }
    return 0;
}

/* Opens file->partial; the rows of an interrupted run there are overwritten, unless they are kept.
 * given: the path as typed. */
static int open_partial(AtomicFile *file, const char *given)
{
    struct stat old;
    if (stat(file->path, &old) == 0 && !S_ISREG(old.st_mode)) {
        return unwritable(file->flag, given, S_ISDIR(old.st_mode) ? EISDIR : EINVAL);
    }
    if (access(file->path, F_OK) == 0 && access(file->path, W_OK) != 0) {
        return unwritable(file->flag, given, errno);
    }
    const char *doubt = own_file_doubt_at_name(file->partial);
    if (doubt != NULL) {
        return own_file_refuse(file->flag, file->partial, doubt);
    }
    int fd = open_temporary(file->partial);
    if (fd < 0) {
        return unwritable(file->flag, given, errno);
    }
    int status = claim_temporary(file, fd, given);
    if (status != 0) {
        close(fd);
        return status;
    }
    if (file->kept || (ftruncate(fd, 1) == 0 && own_file_mark(fd) == 0)) {
        file->file = fdopen(fd, "r+");
    }
    if (file->file == NULL) {
        int error = errno;
        close(fd);
        return unwritable(file->flag, given, error);
    }
    return 0;
}

/* path is malloc'ed, and *file's from here on. */
static void take_path(AtomicFile *file, char *path)
{
    file->path = path;
    file->partial = atomic_file_name(path, ".partial");
}

/* Removes the files of a run that a signal ends.  Without the lock a name may be about to change:
 * then the file stays.  A file that is not open yet may be another run's: it stays too. */
static void remove_partials(void *context, bool locked)
{
    const AtomicFile *file = context, *beside = file->beside;
    if (locked && file->file != NULL && file->partial != NULL) {
        (void)unlink(file->partial);
    }
    if (locked && beside != NULL && beside->partial != NULL) {
        (void)unlink(beside->partial);
    }
}

static void hold(AtomicFile *file)
{
    if (file->interrupt != NULL) {
        pthread_mutex_lock(&file->lock);
    }
}

static void release(AtomicFile *file)
{
    if (file->interrupt != NULL) {
        pthread_mutex_unlock(&file->lock);
    }
}

/* The same, with a thread that removes PATH.partial when a signal ends the run. */
static int open_watched(AtomicFile *file, char *path, const char *given)
{
    if (!file->kept) {
        pthread_mutex_init(&file->lock, NULL);
        file->interrupt = interrupt_open(&file->lock, remove_partials, file);
    }
    take_path(file, path);
    hold(file);
    int status = open_partial(file, given);
    release(file);
    return status;
}

int atomic_file_open_beside(AtomicFile *file, AtomicFile *other, const char *suffix,
                            const char *given)
{
    file->flag = other->flag;
    take_path(file, atomic_file_name(other->path, suffix));
    int status = own_file_claim(file->flag, file->path);
    hold(other);
    status = status != 0 ? status : open_partial(file, given);
    other->beside = status == 0 ? file : NULL;
    release(other);
    if (status != 0) {
        atomic_file_clear(file);
    }
    return status;
}

static int open_direct(AtomicFile *file, const char *given)
{
    file->path = atomic_file_name(given, "");
    file->file = fopen(given, "w");
    return file->file == NULL ? unwritable(file->flag, given, errno) : 0;
}

int atomic_file_open_kept(AtomicFile *file, const char *given)
{
    file->kept = true;
    return atomic_file_open(file, given);
}

char *atomic_file_target(const char *given)
{
    struct stat found;
    /* A link that leads nowhere would be replaced by the file; realpath says that it does. */
    bool there = lstat(given, &found) == 0;
    return there ? realpath(given, NULL) : atomic_file_name(given, "");
}

int atomic_file_open(AtomicFile *file, const char *given)
{
    struct stat found;
    bool exists = stat(given, &found) == 0;
    file->flag = file->flag != NULL ? file->flag : OUTPUT_FLAG;
    int status = streams_outlive_readers() != 0 ? unwritable(file->flag, given, errno) : 0;
    if (status != 0) {
        return status;
    }
    if (exists && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) {
        status = open_direct(file, given);
    } else {
        char *real = atomic_file_target(given);
        status =
            real == NULL ? unwritable(file->flag, given, errno) : open_watched(file, real, given);
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
    if (atomic_file_is_direct(file)) {
        return 0;
    }
    off_t written = ftello(file->file);
    bool within = written >= 0 && written < (off_t)strlen(OWN_FILE_MARK);
    if (within && ftruncate(fileno(file->file), written) != 0) {
        return -1;
    }
    return fsync(fileno(file->file));
}

int atomic_file_sync_directory(const char *path)
{
    char *directory = atomic_file_name(path, "");
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

static int rename_partial(AtomicFile *file)
{
    if (rename(file->partial, file->path) != 0) {
        return -1;
    }
    free(file->partial);
    file->partial = NULL;
    return 0;
}

int atomic_file_publish(AtomicFile *file)
{
    AtomicFile *beside = file->beside;
    if (file->partial == NULL) {
        return 0;
    }
    hold(file);
    int status = rename_partial(file);
    status = status != 0 || beside == NULL ? status : rename_partial(beside);
    release(file);
    return status != 0 ? status : atomic_file_sync_directory(file->path);
}

int atomic_file_close(AtomicFile *file)
{
    FILE *stream = file->file;
    file->file = NULL;
    return stream == NULL ? 0 : fclose(stream);
}

int atomic_file_failed(const char *path)
{
    fprintf(stderr, "headproof: %s: cannot be written: %s\n", shown(path).text, strerror(errno));
    return 99;
}

void atomic_file_clear(AtomicFile *file)
{
    if (file->interrupt != NULL) {
        interrupt_close(file->interrupt);
        pthread_mutex_destroy(&file->lock);
    }
    if (file->file != NULL && file->partial != NULL && !file->kept) {
        (void)unlink(file->partial);
    }
    if (file->file != NULL) {
        /* Its bytes are unwanted, or synced already. */
        (void)fclose(file->file);
    }
    free(file->partial);
    free(file->path);
    *file = (AtomicFile){0};
}

int atomic_file_finish(AtomicFile *file, bool written, const char *given)
{
    bool whole = written && !ferror(file->file) && atomic_file_sync(file) == 0 &&
                 atomic_file_publish(file) == 0 && atomic_file_close(file) == 0;
    int status = whole ? 0 : atomic_file_failed(given);
    atomic_file_clear(file);
    return status;
}
