/*
 * Files that appear complete or not at all, and whose the files beside them are.
 */
/* O_TMPFILE is Linux's. */
#define _GNU_SOURCE

#include "atomic_file.h"

#include "../../memory/need.h"
#include "message.h"
#include "shown.h"
#include "streams.h"
#include "text_stream.h"

#include <errno.h>
#include <fcntl.h>
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

static int unwritable(const char *flag, const char *path, int error)
{
    complain((Origin){.flag = flag}, path, "expected a file that can be written (%s)",
             strerror(error));
    return file_fault(error);
}

/* ---- Whose a file is ------------------------------------------------------------------------- */

#define NOT_OURS "this run has not written it"

const char *atomic_file_doubt(bool *there, const char *path)
{
    struct stat found;
    *there = lstat(path, &found) == 0;
    if (!*there) {
        return errno == ENOENT ? NULL : strerror(errno);
    }
    errno = 0;
    return S_ISLNK(found.st_mode)    ? "it is a link"
           : S_ISDIR(found.st_mode)  ? "it is a directory"
           : !S_ISREG(found.st_mode) ? "it is no regular file"
           : found.st_nlink > 1      ? "it has a second name"
                                     : NULL;
}

/* Does an open file begin as sidecars do, however they are indented? */
static bool begins_as_ours(int fd)
{
    char head[64] = "", *next = head + 1;
    ssize_t got = pread(fd, head, sizeof head - 1, 0);
    errno = got < 0 ? errno : 0;
    next += strspn(next, " \n\r\t");
    return *head == OWN_MARK[0] && strncmp(next, &OWN_MARK[1], sizeof OWN_MARK - 2) == 0;
}

int atomic_file_refuse(const char *flag, const char *path, const char *doubt)
{
    int status = file_fault(errno);
    complain((Origin){.flag = flag != NULL ? flag : "output"}, path,
             "expected nothing there (%s): move it, or choose another name for the output",
             doubt != NULL ? doubt : NOT_OURS);
    return status;
}

int atomic_file_claim(const char *flag, const char *path)
{
    bool there, ours = false;
    const char *doubt = atomic_file_doubt(&there, path);
    if (there && doubt == NULL) {
        int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        ours = fd >= 0 && begins_as_ours(fd);
        int reason = errno;
        doubt = ours ? NULL : reason != 0 ? strerror(reason) : NOT_OURS;
        (void)(fd >= 0 && close(fd)); /* it was only read */
        errno = reason;
    }
    return doubt == NULL ? 0 : atomic_file_refuse(flag, path, doubt);
}

/* Is a name free for what this run writes, or does an interrupted one's PATH.partial name it? */
static int claim_fresh(const AtomicFile *file, const char *name)
{
    bool there;
    const char *doubt = atomic_file_doubt(&there, name);
    if (errno == ENAMETOOLONG && doubt != NULL) {
        return complain((Origin){.flag = file->flag}, file->path,
                        "expected that %s can be written beside it", name);
    }
    doubt = doubt == NULL && there && !file->found ? NOT_OURS : doubt;
    return doubt == NULL ? 0 : atomic_file_refuse(file->flag, name, doubt);
}

/* ---- PATH.partial ---------------------------------------------------------------------------- */

/* Opens the directory of path, or a file in it that has no name yet. */
static int open_directory(const char *path, int flags)
{
    char *directory = atomic_file_name(path, "");
    char *slash = strrchr(directory, '/');
    if (slash != NULL) {
        slash[1] = '\0';
    }
    int fd = open(slash != NULL ? directory : ".", flags | O_CLOEXEC, 0666);
    free(directory);
    return fd;
}

static bool write_mark(int fd)
{
    return write(fd, OWN_MARK, strlen(OWN_MARK)) == (ssize_t)strlen(OWN_MARK);
}

/* Makes a file at path, where none is, that begins with the mark, and never is there without it
 * where the file system can do so and /proc is there.  Its descriptor, or -1 (errno). */
static int make_marked(const char *path)
{
    char name[64];
    int fd = open_directory(path, O_RDWR | O_TMPFILE);
    bool nameless = fd >= 0, unnamed = !nameless;
    if (nameless) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        if (write_mark(fd) && linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0) {
            return fd;
        }
        unnamed = errno == ENOENT;
    }
    if (unnamed) {
        (void)(nameless && close(fd)); /* nobody wants it */
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 || write_mark(fd)) {
            return fd;
        }
    }
    int reason = errno;
    (void)close(fd); /* nobody wants it */
    if (unnamed) {
        (void)unlink(path);
    }
    errno = reason;
    return -1;
}

/* Opens PATH.partial: a new one, or what is there, which may vanish. */
static int open_partial(AtomicFile *file)
{
    enum { ATTEMPTS = 100 };
    int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, fd = -1;
    for (int i = 0; i < ATTEMPTS && fd < 0; i++) {
        fd = make_marked(file->partial);
        file->found = fd < 0;
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
        fd = open(file->partial, flags);
        if (fd < 0 && errno != ENOENT) {
            return fd;
        }
    }
    return fd;
}

/* True when fd is locked for this process and is still the file of that name: another run may
 * have removed it between opening and locking. */
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

char *atomic_file_text(const AtomicFile *file, size_t *size)
{
    char block[1 << 14], *text;
    FILE *copy = text_stream(&text, size);
    ssize_t got;
    for (off_t at = 0; (got = pread(file->held, block, sizeof block, at)) > 0; at += got) {
        fwrite(block, 1, (size_t)got, copy);
    }
    int reason = errno;
    text_close(copy, &text);
    if (got < 0) {
        free(text);
        text = NULL;
        errno = reason;
    }
    return text;
}

/* *rows: are there some of a sweep, behind the line that says of which?  false (errno): it cannot
 * be read. */
static bool find_rows(bool *rows, const AtomicFile *file)
{
    size_t size;
    char *text = atomic_file_text(file, &size);
    const char *newline = text != NULL ? strchr(text, '\n') : NULL;
    *rows = newline != NULL && newline[1] != '\0';
    free(text);
    return text != NULL;
}

/* Lets another run in.  0, or -1 (errno). */
static int close_held(AtomicFile *file)
{
    int fd = file->held;
    file->held = 0;
    return fd > 0 ? close(fd) : 0;
}

/* Locks PATH.partial, which is open, and refuses what is not this run's to write over. */
static int hold_partial(AtomicFile *file, const char *given)
{
    bool rows = false;
    if (!begins_as_ours(file->held)) {
        return atomic_file_refuse(file->flag, file->partial, errno != 0 ? strerror(errno) : NULL);
    }
    if (!lock(file->held, file->partial)) {
        return complain((Origin){.flag = file->flag}, given, "expected no other run to write it");
    }
    if (!file->kept && !find_rows(&rows, file)) {
        return unwritable(file->flag, given, errno);
    }
    if (rows) {
        return complain(
            (Origin){.flag = file->flag}, file->partial,
            "expected no rows of an interrupted sweep (it goes on with --resume; without that "
            "file it begins anew)");
    }
    int status = claim_fresh(file, file->fresh);
    if (status == 0 && file->table) {
        status = claim_fresh(file, file->beside_fresh);
        status = status != 0 ? status : atomic_file_claim(file->flag, file->beside);
    }
    return status;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* given: the path as typed. */
static int open_held(AtomicFile *file, const char *given)
{
    bool there;
    const char *doubt = atomic_file_doubt(&there, file->partial);
    if (there && doubt != NULL) {
        return atomic_file_refuse(file->flag, file->partial, doubt);
    }
    int fd = open_partial(file);
    if (fd < 0) {
        return unwritable(file->flag, given, errno);
    }
    file->held = fd;
    int status = hold_partial(file, given);
    if (status != 0) {
        if (!file->found) {
            (void)unlink(file->partial);
        }
        (void)close_held(file); /* it was only read */
    }
    return status;
}

/* Opens a file with .new, which an interrupted run may have left; NULL (errno). */
static FILE *open_fresh(const AtomicFile *file, const char *name)
{
    int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = open(name, flags, 0666);
    if (fd < 0 && errno == EEXIST && file->found && unlink(name) == 0) {
        fd = open(name, flags, 0666);
    }
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "r+");
    if (fd >= 0 && stream == NULL) {
        int reason = errno;
        (void)close(fd); /* nothing is in it */
        (void)unlink(name);
        errno = reason;
    }
    return stream;
}

int atomic_file_begin(AtomicFile *file)
{
    file->file = open_fresh(file, file->fresh);
    if (file->file != NULL && file->table) {
        file->sidecar = open_fresh(file, file->beside_fresh);
    }
    return file->file == NULL || (file->table && file->sidecar == NULL) ? -1 : 0;
}

static bool remove_one(const char *name)
{
    return unlink(name) == 0 || errno == ENOENT;
}

/* Removes what is not complete: the files of a run that a signal ends, too, and with PATH.partial
 * what an interrupted run left beside it, as nothing else says whose that is.  Without the lock a
 * name may be about to change: then the file stays. */
static void remove_unfinished(void *context, bool locked)
{
    const AtomicFile *file = context;
    if (!locked || file->partial == NULL || file->held == 0) {
        return;
    }
    bool left = file->found && !file->kept, gone = true;
    if (file->file != NULL || left) {
        gone = remove_one(file->fresh);
    }
    if (file->sidecar != NULL || (left && file->table)) {
        gone = remove_one(file->beside_fresh) && gone;
    }
    if (!file->kept && gone) {
        (void)unlink(file->partial);
    }
}

/* path is malloc'ed, and *file's from here on. */
static int open_path(AtomicFile *file, char *path, const char *given)
{
    file->path = path;
    file->partial = atomic_file_name(path, ".partial");
    file->fresh = atomic_file_name(path, ".new");
    file->beside = atomic_file_name(path, ".json");
    file->beside_fresh = atomic_file_name(path, ".json.new");
    interrupt_lock_init(&file->lock);
    if (!file->kept) {
        file->interrupt = interrupt_open(&file->lock, remove_unfinished, file);
    }
    pthread_mutex_lock(&file->lock);
    int status = open_held(file, given);
    if (status == 0 && !file->kept && atomic_file_begin(file) != 0) {
        status = unwritable(file->flag, given, errno);
    }
    pthread_mutex_unlock(&file->lock);
    return status;
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
    bool exists = stat(given, &found) == 0, regular = exists && S_ISREG(found.st_mode);
    file->flag = file->flag != NULL ? file->flag : "output";
    int status = 0;
    if (streams_outlive_readers() != 0 || (regular && access(given, W_OK) != 0)) {
        status = unwritable(file->flag, given, errno);
    } else if (exists && S_ISDIR(found.st_mode)) {
        status = unwritable(file->flag, given, EISDIR);
    } else if (exists && !regular) {
        file->path = atomic_file_name(given, "");
        file->file = fopen(given, "w");
        status = file->file == NULL ? unwritable(file->flag, given, errno) : 0;
    } else {
        char *real = atomic_file_target(given);
        status = real == NULL ? unwritable(file->flag, given, errno) : open_path(file, real, given);
    }
    if (status != 0) {
        atomic_file_clear(file);
    }
    return status;
}

/* ---- Its end --------------------------------------------------------------------------------- */

int atomic_file_flush(FILE *file)
{
    errno = 0;
    bool failed = fflush(file) != 0 || ferror(file);
    errno = failed && errno == 0 ? EIO : errno;
    return failed ? -1 : 0;
}

int atomic_file_sync_directory(const char *path)
{
    int fd = open_directory(path, O_RDONLY | O_DIRECTORY);
    int status = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0) {
        (void)close(fd); /* nothing was written through it */
    }
    /* Some file systems cannot sync a directory, and need not. */
    return status != 0 && errno != EINVAL && errno != EACCES ? -1 : 0;
}

/* 0; -1 (errno).  *file is NULL then. */
static int close_stream(FILE **file)
{
    FILE *stream = *file;
    *file = NULL;
    return stream == NULL ? 0 : fclose(stream);
}

static int sync_stream(FILE *file)
{
    return file == NULL ? 0 : atomic_file_flush(file) != 0 ? -1 : fsync(fileno(file));
}

static int give_names(AtomicFile *file)
{
    if (rename(file->fresh, file->path) != 0 ||
        (file->sidecar != NULL && rename(file->beside_fresh, file->beside) != 0) ||
        atomic_file_sync_directory(file->path) != 0) {
        return -1;
    }
    (void)unlink(file->partial); /* what stays is the program's own */
    free(file->partial);
    file->partial = NULL;
    return 0;
}

int atomic_file_publish(AtomicFile *file)
{
    if (file->partial == NULL) {
        return atomic_file_flush(file->file) != 0 ? -1 : close_stream(&file->file);
    }
    if (sync_stream(file->file) != 0 || sync_stream(file->sidecar) != 0) {
        return -1;
    }
    pthread_mutex_lock(&file->lock);
    int status = give_names(file);
    pthread_mutex_unlock(&file->lock);
    if (status != 0 || close_stream(&file->file) != 0 || close_stream(&file->sidecar) != 0) {
        return -1;
    }
    return close_held(file);
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
    }
    remove_unfinished(file, true);
    /* Bytes that are in them are unwanted, or synced already. */
    (void)close_stream(&file->file);
    (void)close_stream(&file->sidecar);
    (void)close_held(file);
    free(file->path);
    free(file->fresh);
    free(file->beside);
    free(file->beside_fresh);
    free(file->partial);
    *file = (AtomicFile){0};
}

int atomic_file_finish(AtomicFile *file, bool written, const char *given)
{
    bool whole = written && !ferror(file->file) && atomic_file_publish(file) == 0;
    int status = whole ? 0 : atomic_file_failed(given);
    atomic_file_clear(file);
    return status;
}
