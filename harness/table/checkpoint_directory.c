/*
 * The directory FILE.csv.checkpoint.
 *
 * Nobody named it, so somebody else's may be there.  A file in it is a checkpoint when it is a
 * regular file whose name and whose first bytes are a checkpoint's; a name alone proves nothing.
 * Every name is looked up in the open directory, and no link is followed.
 */
#include "checkpoint_directory.h"

#include "identity.h"
#include "../base/own_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The length of the suffix of a file that is being written. */
enum { SUFFIX = 7 };

/* OWNER-WHAT-BITS, or that and ".xxxxxx". */
static bool is_name(const char *name)
{
    size_t owner = strspn(name, "0123456789abcdef");
    const char *bits = strrchr(name, '-');
    if (owner != DIGEST_TEXT - 1 || name[owner] != '-' || bits == name + owner) {
        return false;
    }
    const char *end = bits + 1 + strspn(bits + 1, "0123456789");
    return end > bits + 1 && (*end == '\0' || (*end == '.' && strlen(end) == SUFFIX));
}

/* NULL when it is a checkpoint, whole or torn, or has gone meanwhile; else what it is. */
static const char *doubt_entry(int directory, const char *name)
{
    static const char beginning[] = CHECKPOINT_BEGINNING;
    char head[sizeof beginning - 1];
    struct stat found;
    errno = 0;
    if (!is_name(name)) {
        return "it is no checkpoint";
    }
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? NULL : strerror(errno);
    }
    ssize_t got =
        fstat(fd, &found) == 0 && S_ISREG(found.st_mode) ? pread(fd, head, sizeof head, 0) : -1;
    (void)close(fd); /* it was only read */
    return got >= 0 && memcmp(head, beginning, (size_t)got) == 0 ? NULL : "it is no checkpoint";
}

int checkpoint_directory_open(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

int checkpoint_directory_make(const char *path)
{
    return mkdir(path, 0777) != 0 && errno != EEXIST ? -1 : checkpoint_directory_open(path);
}

/* The next entry that is not the directory itself or the one above; NULL at the end. */
static const char *next_entry(DIR *entries)
{
    const struct dirent *entry = readdir(entries);
    while (entry != NULL && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)) {
        entry = readdir(entries);
    }
    return entry == NULL ? NULL : entry->d_name;
}

/* All entries of an open directory, which stays open. */
static int claim_entries(int directory, const char *flag, const char *path)
{
    DIR *entries = fdopendir(dup(directory));
    int status = 0;
    if (entries == NULL) {
        return own_file_refuse(flag, path, strerror(errno));
    }
    for (const char *name = next_entry(entries); name != NULL && status == 0;
         name = next_entry(entries)) {
        const char *doubt = doubt_entry(directory, name);
        if (doubt != NULL) {
            char whole[4096];
            snprintf(whole, sizeof whole, "%s/%s", path, name);
            status = own_file_refuse(flag, whole, doubt);
        }
    }
    (void)closedir(entries); /* it was only read */
    return status;
}

int checkpoint_directory_claim(const char *flag, const char *path)
{
    struct stat found;
    if (lstat(path, &found) != 0 && errno == ENOENT) {
        return 0;
    }
    int directory = checkpoint_directory_open(path);
    if (directory < 0) {
        bool link = lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
        return own_file_refuse(flag, path, link ? "it is a link" : strerror(errno));
    }
    int status = claim_entries(directory, flag, path);
    (void)close(directory); /* it was only read */
    return status;
}

void checkpoint_directory_remove(const char *path, const char *prefix)
{
    int directory = checkpoint_directory_open(path);
    DIR *entries = directory < 0 ? NULL : fdopendir(directory);
    if (entries == NULL) {
        if (directory >= 0) {
            (void)close(directory); /* nothing was done with it */
        }
        return;
    }
    for (const char *name = next_entry(entries); name != NULL; name = next_entry(entries)) {
        if (strncmp(name, prefix, strlen(prefix)) == 0 && doubt_entry(directory, name) == NULL) {
            (void)unlinkat(directory, name, 0); /* what stays is in nobody's way */
        }
    }
    (void)closedir(entries); /* it was only read */
}

int checkpoint_directory_create(int directory, char *name, size_t size, const char *path)
{
    enum { ATTEMPTS = 1000 };
    struct timespec now;
    int fd = -1;
    clock_gettime(CLOCK_REALTIME, &now);
    unsigned long draw = (unsigned long)now.tv_nsec ^ (unsigned long)getpid() << 10;
    for (int i = 0; i < ATTEMPTS && fd < 0; i++) {
        snprintf(name, size, "%s.%06lx", path, (draw + (unsigned long)i) & 0xffffff);
        fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST) {
            return -1;
        }
    }
    return fd;
}
