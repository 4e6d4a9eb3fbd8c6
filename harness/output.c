/* realpath is not in POSIX itself. */
#define _XOPEN_SOURCE 700

#include "output.h"

#include "message.h"
#include "settings.h"
#include "sidecar.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One file in the making: rows or sidecar go to partial, which is renamed to path. */
typedef struct {
    char *path, *partial;
    FILE *file;
} Draft;

/* direct: stdout, or a path that is not a regular file; then only rows.file is used. */
struct Output {
    bool direct;
    Draft rows, sidecar;
};

static char *join(const char *path, const char *suffix)
{
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *joined = malloc(size);
    if (joined != NULL) {
        snprintf(joined, size, "%s%s", path, suffix);
    }
    return joined;
}

static int unwritable(const char *path, int error)
{
    Origin origin = {.flag = "output"};
    bool machine = error == ENOSPC || error == EDQUOT || error == EIO || error == ENOMEM ||
                   error == EMFILE || error == ENFILE;
    complain(origin, path, "expected a file that can be written (%s)", strerror(error));
    return machine ? 99 : 2;
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

/* What an interrupted run left at draft->partial is overwritten.  given: the path as typed. */
static int draft_open(Draft *draft, const char *given)
{
    struct stat old;
    if (stat(draft->path, &old) == 0 && !S_ISREG(old.st_mode)) {
        return unwritable(given, S_ISDIR(old.st_mode) ? EISDIR : EINVAL);
    }
    if (access(draft->path, F_OK) == 0 && access(draft->path, W_OK) != 0) {
        return unwritable(given, errno);
    }
    int fd = open(draft->partial, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        return unwritable(given, errno);
    }
    if (!lock(fd, draft->partial)) {
        close(fd);
        complain((Origin){.flag = "output"}, given, "expected no other run to write it");
        return 2;
    }
    if (ftruncate(fd, 0) == 0) {
        draft->file = fdopen(fd, "w");
    }
    if (draft->file == NULL) {
        int error = errno;
        close(fd);
        return unwritable(given, error);
    }
    return 0;
}

static int draft_make(Draft *draft, const char *given, const char *path, const char *suffix)
{
    draft->path = join(path, suffix);
    draft->partial = draft->path == NULL ? NULL : join(draft->path, ".partial");
    return draft->partial == NULL ? memory_fault() : draft_open(draft, given);
}

/* Everything written is in the file and on disk. */
static int draft_sync(Draft *draft)
{
    errno = 0;
    bool failed =
        fflush(draft->file) != 0 || ferror(draft->file) || fsync(fileno(draft->file)) != 0;
    errno = failed && errno == 0 ? EIO : errno;
    return failed ? -1 : 0;
}

static int draft_publish(Draft *draft)
{
    if (rename(draft->partial, draft->path) != 0) {
        return -1;
    }
    free(draft->partial);
    draft->partial = NULL;
    return 0;
}

/* Closing releases the lock, so it comes after the renaming. */
static int draft_close(Draft *draft)
{
    FILE *file = draft->file;
    draft->file = NULL;
    return file == NULL ? 0 : fclose(file);
}

static void draft_clear(Draft *draft)
{
    if (draft->file != NULL && draft->partial != NULL) {
        (void)unlink(draft->partial);
    }
    /* What it held is unwanted, or synced already. */
    (void)draft_close(draft);
    free(draft->partial);
    free(draft->path);
}

static int open_direct(Output *output, const char *path)
{
    output->direct = true;
    if (path == NULL) {
        output->rows.file = stdout;
        return 0;
    }
    output->rows.path = join(path, "");
    if (output->rows.path == NULL) {
        return memory_fault();
    }
    output->rows.file = fopen(path, "w");
    return output->rows.file == NULL ? unwritable(path, errno) : 0;
}

static int open_path(Output *output, const char *path)
{
    struct stat found;
    bool exists = path != NULL && stat(path, &found) == 0;
    if (path == NULL || (exists && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode))) {
        return open_direct(output, path);
    }
    /* A symbolic link stays one: what it leads to is replaced. */
    char *real = exists ? realpath(path, NULL) : join(path, "");
    if (real == NULL) {
        return unwritable(path, errno);
    }
    int status = draft_make(&output->rows, path, real, "");
    if (status == 0) {
        status = draft_make(&output->sidecar, path, real, ".json");
    }
    free(real);
    return status;
}

int output_open(Output **output, const char *path)
{
    /* A limit on file sizes, or a reader that went away, must be an error, not a death. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (sigaction(SIGXFSZ, &ignore, NULL) != 0 || sigaction(SIGPIPE, &ignore, NULL) != 0) {
        return unwritable(path != NULL ? path : "stdout", errno);
    }
    *output = calloc(1, sizeof **output);
    if (*output == NULL) {
        return memory_fault();
    }
    int status = open_path(*output, path);
    if (status != 0) {
        output_clear(*output);
        *output = NULL;
    }
    return status;
}

FILE *output_file(Output *output)
{
    return output->rows.file;
}

int output_commit(Output *output)
{
    errno = 0;
    bool failed = fflush(output->rows.file) != 0 || ferror(output->rows.file);
    errno = failed && errno == 0 ? EIO : errno;
    return failed ? -1 : 0;
}

static int failed_write(const char *path)
{
    fprintf(stderr, "headproof: %s: cannot be written: %s\n", path, strerror(errno));
    return 99;
}

static int finish_direct(Output *output)
{
    const char *path = output->rows.path;
    int status = output_commit(output);
    if (path != NULL && status == 0) {
        status = draft_close(&output->rows);
    }
    return status == 0 ? 0 : failed_write(path != NULL ? path : "stdout");
}

int output_finish(Output *output, int argc, char **argv, const Grid *grid, const double *seconds)
{
    Draft *rows = &output->rows, *sidecar = &output->sidecar;
    if (output->direct) {
        return finish_direct(output);
    }
    if (draft_sync(rows) != 0) {
        return failed_write(rows->path);
    }
    if (sidecar_write(sidecar->file, argc, argv, grid, seconds) != 0 || draft_sync(sidecar) != 0) {
        return failed_write(sidecar->path);
    }
    if (draft_publish(rows) != 0) {
        return failed_write(rows->path);
    }
    if (draft_publish(sidecar) != 0) {
        return failed_write(sidecar->path);
    }
    if (draft_close(rows) != 0 || draft_close(sidecar) != 0) {
        return failed_write(rows->path);
    }
    return 0;
}

void output_clear(Output *output)
{
    if (output == NULL) {
        return;
    }
    if (output->rows.file == stdout) {
        output->rows.file = NULL;
    }
    draft_clear(&output->rows);
    draft_clear(&output->sidecar);
    free(output);
}
