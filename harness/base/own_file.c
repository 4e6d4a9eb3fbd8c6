/*
 * Files that are the program's own: how they begin, and how a new one is made.
 */
/* O_TMPFILE is Linux's. */
#define _GNU_SOURCE

#include "own_file.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SWEEP_TABLE "construction,activation,mask,n,d,d_ff,heads,d_head,depth,omega,"

#define REPORT_PAGE                                                                                \
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"                      \
    "<meta name=\"generator\" content=\"headproof report\">"

/* How tables and reports begin, apart from those in JSON; and began, where files of an older
 * program are around, so that a table with other columns gets a line of its own here. */
static const char *const beginnings[] = {
    SWEEP_TABLE,
    "construction,activation,mask,n,d,d_ff,heads,d_head,depth,arithmetic,", /* of min-omega */
    "preset,construction,activation,n,d,",                                  /* of cost */
    "model,construction,arithmetic,kernel,omega,options,inputs,",           /* of verify */
    "model,construction,kernel,omega,inputs,",                              /* and as it was */
    "input,tokens,logit,kind,layer,sublayer,",                              /* of attribute */
    "evaluation,construction,", /* these two of the benchmarks */
    "operation,m,k,n,weights,bits,",
    "### headproof ",
    "# Written by headproof plot", /* gnuplot's script */
    REPORT_PAGE,
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite",
};

/* The first bytes of a file, enough to know every beginning by. */
typedef struct {
    char bytes[512];
    size_t size;
} FileHead;

static bool read_head(FileHead *head, int fd)
{
    ssize_t got = pread(fd, head->bytes, sizeof head->bytes, 0);
    head->size = got > 0 ? (size_t)got : 0;
    return got >= 0;
}

/* Does it begin so?  A file that was torn within its beginning has the first bytes of it. */
static bool begins(const char *bytes, size_t size, const char *beginning)
{
    size_t length = strlen(beginning);
    return memcmp(bytes, beginning, size < length ? size : length) == 0;
}

/* Is it a sidecar or a report?  They begin with "schema", however they are indented. */
static bool is_json(const FileHead *head)
{
    size_t skipped = 1;
    while (skipped < head->size && strchr(" \n\r\t", head->bytes[skipped]) != NULL) {
        skipped++;
    }
    return head->bytes[0] == '{' &&
           begins(head->bytes + skipped, head->size - skipped, "\"schema\"");
}

/* Does it name us, from its byte `from` on? */
static bool is_named(const FileHead *head, size_t from, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = from; i + length <= head->size; i++) {
        if (memcmp(head->bytes + i, name, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Is it a picture of `plot`?  Its title says so. */
static bool is_picture(const FileHead *head)
{
    return begins(head->bytes, head->size, "<?xml ") && is_named(head, 6, "<title>headproof plot");
}

/* Is it a model that was converted or exported?  It begins with 8 bytes of size and metadata, soon
 * with our name in them. */
static bool is_safetensors(const FileHead *head)
{
    return is_named(head, 8, "headproof") &&
           begins(head->bytes + 8, head->size - 8, "{\"__metadata__\":{");
}

const char *own_file_doubt(int fd)
{
    struct stat found;
    FileHead head;
    if (fstat(fd, &found) != 0) {
        return strerror(errno);
    }
    if (!S_ISREG(found.st_mode)) {
        errno = 0;
        return "it is no regular file";
    }
    if (found.st_nlink > 1) {
        errno = 0;
        return "it has another name too";
    }
    if (!read_head(&head, fd)) {
        return strerror(errno);
    }
    errno = 0;
    if (head.size == 0) {
        return "it is empty, and headproof leaves none so";
    }
    bool own = is_json(&head) || is_safetensors(&head) || is_picture(&head);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings && !own; i++) {
        own = begins(head.bytes, head.size, beginnings[i]);
    }
    return own ? NULL : "headproof has not written it";
}

bool own_file_has_rows(int fd)
{
    FileHead head;
    return read_head(&head, fd) && head.size > strlen(SWEEP_TABLE) &&
           begins(head.bytes, head.size, SWEEP_TABLE);
}

const char *own_file_doubt_at_name(const char *path)
{
    struct stat found;
    if (lstat(path, &found) != 0) {
        return errno == ENOENT ? NULL : strerror(errno);
    }
    errno = 0;
    return S_ISREG(found.st_mode)   ? NULL
           : S_ISLNK(found.st_mode) ? "it is a link"
           : S_ISDIR(found.st_mode) ? "it is a directory"
                                    : "it is no regular file";
}

/* The same as own_file_doubt for what is at path, which is not followed, waited for or changed;
 * NULL too where nothing is. */
static const char *doubt_at(const char *path)
{
    const char *doubt = own_file_doubt_at_name(path);
    if (doubt != NULL) {
        return doubt;
    }
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? NULL : strerror(errno);
    }
    doubt = own_file_doubt(fd);
    int reason = errno;
    (void)close(fd); /* it was only read */
    errno = reason;
    return doubt;
}

int own_file_refuse(const char *flag, const char *path, const char *doubt)
{
    bool machine = errno == EIO || errno == ENOMEM || errno == EMFILE || errno == ENFILE;
    complain((Origin){.flag = flag != NULL ? flag : "output"}, path,
             "expected nothing there but what headproof left itself (%s)", doubt);
    return machine ? 99 : 2;
}

int own_file_claim(const char *flag, const char *path)
{
    const char *doubt = doubt_at(path);
    return doubt == NULL ? 0 : own_file_refuse(flag, path, doubt);
}

/* A file without a name yet, in the directory of path. */
static int open_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    char directory[PATH_MAX] = ".";
    if (slash != NULL && slash - path < PATH_MAX) {
        memcpy(directory, path, (size_t)(slash - path) + 1);
        directory[slash - path + 1] = '\0';
    }
    return open(directory, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
}

int own_file_mark(int fd)
{
    size_t length = strlen(OWN_FILE_MARK);
    return pwrite(fd, OWN_FILE_MARK, length, 0) == (ssize_t)length ? 0 : -1;
}

int own_file_make(const char *path)
{
    char name[64];
    int fd = open_nameless(path), reason;
    bool nameless = fd >= 0; /* not every file system can */
    if (!nameless) {
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    if (fd < 0) {
        return -1;
    }
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (own_file_mark(fd) == 0 &&
        (!nameless || linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)) {
        return fd;
    }
    reason = errno;
    (void)close(fd); /* nobody wants it */
    if (!nameless) {
        (void)unlink(path);
    }
    errno = reason;
    return -1;
}

int own_file_create(const char *path)
{
    int fd = own_file_make(path);
    if (fd < 0 && errno == EEXIST) {
        if (doubt_at(path) != NULL) {
            errno = EEXIST;
        } else if (unlink(path) == 0) {
            fd = own_file_make(path);
        }
    }
    return fd;
}
