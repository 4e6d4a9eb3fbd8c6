/* mkstemp is not in POSIX's base part. */
#define _XOPEN_SOURCE 700

#include "checkpoint.h"

#include "atomic_file.h"
#include "clock.h"
#include "groups.h"
#include "info.h"
#include "message.h"
#include "sidecar.h"
#include "table.h"
#include "text_stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Raised when the bytes of a state change their meaning. */
#define CHECKPOINT_MAGIC "headproof checkpoint 1\n"

/* A checkpoint may take this share of the time: a tenth of the time since the last. */
enum { CHECKPOINT_SHARE = 10 };

struct Checkpoints {
    char *directory, *program; /* what is decisive of version and machine */
    double seconds;
    bool quiet, resume;
    bool complained; /* under lock: a failure was said */
    pthread_mutex_t lock;
};

/* A file that is mapped; empty: {NULL, 0}. */
typedef struct {
    unsigned char *bytes;
    size_t size;
} Mapped;

/* ---- The directory ----------------------------------------------------------------------- */

/* Version, machine and weights, a line each; NULL: memory is short, or the machine cannot be read. */
static char *program_text(const char *weights)
{
    Fact facts[FACTS_MOST];
    size_t count = facts_read(facts), size = 0;
    char *text = NULL;
    if (count == 0) {
        return NULL;
    }
    FILE *stream = text_stream(&text, &size);
    if (stream == NULL) {
        return NULL;
    }
    for (const char *const *name = sidecar_decisive; *name != NULL; name++) {
        for (size_t i = 0; i < count; i++) {
            if (strcmp(facts[i].name, *name) == 0) {
                fprintf(stream, "%s %s\n", *name, facts[i].text);
            }
        }
    }
    fprintf(stream, "weights %s\n", weights);
    if (fclose(stream) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Those whose name begins so. */
static void remove_files(const Checkpoints *checkpoints, const char *prefix)
{
    DIR *directory = opendir(checkpoints->directory);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
            (void)unlinkat(dirfd(directory), entry->d_name, 0); /* what stays is in nobody's way */
        }
    }
    if (directory != NULL) {
        (void)closedir(directory); /* it was only read */
    }
}

int checkpoints_open(Checkpoints **checkpoints, const RunOptions *run, const GridIdentity *identity)
{
    struct stat found;
    *checkpoints = NULL;
    if (run->output == NULL || (stat(run->output, &found) == 0 && !S_ISREG(found.st_mode))) {
        return 0;
    }
    Checkpoints *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return memory_fault();
    }
    pthread_mutex_init(&made->lock, NULL);
    made->directory = atomic_file_name(run->output, CHECKPOINT_SUFFIX);
    made->program = program_text(identity->weights);
    made->seconds = run->checkpoint;
    made->resume = run->resume;
    made->quiet = run->quiet;
    if (made->directory == NULL || made->program == NULL) {
        checkpoints_clear(made);
        return memory_fault();
    }
    *checkpoints = made;
    return 0;
}

void checkpoints_drop(const Checkpoints *checkpoints)
{
    if (checkpoints != NULL) {
        remove_files(checkpoints, "");
        (void)rmdir(checkpoints->directory);
    }
}

void checkpoints_clear(Checkpoints *checkpoints)
{
    if (checkpoints != NULL) {
        pthread_mutex_destroy(&checkpoints->lock);
        free(checkpoints->directory);
        free(checkpoints->program);
        free(checkpoints);
    }
}

/* The first failure is said, with errno's reason; the run goes on without. */
static void complain_once(Checkpoints *checkpoints)
{
    int reason = errno;
    pthread_mutex_lock(&checkpoints->lock);
    if (!checkpoints->complained) {
        fprintf(stderr,
                "headproof: warning: %s: cannot be written: %s; the run goes on, but what is "
                "interrupted within a point begins anew\n",
                checkpoints->directory, strerror(reason));
    }
    checkpoints->complained = true;
    pthread_mutex_unlock(&checkpoints->lock);
}

/* ---- One file ---------------------------------------------------------------------------- */

/* DIRECTORY/OWNER-WHAT-BITS; NULL: memory is short. */
static char *file_name(const Checkpoint *checkpoint, const char *what, mpfr_prec_t bits)
{
    char name[96];
    snprintf(name, sizeof name, "/%s-%s-%ld", checkpoint->owner, what, (long)bits);
    return atomic_file_name(checkpoint->checkpoints->directory, name);
}

static Mapped map_file(const char *path)
{
    struct stat found;
    Mapped mapped = {NULL, 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &found) == 0 && found.st_size > 0) {
        mapped.size = (size_t)found.st_size;
        mapped.bytes = mmap(NULL, mapped.size, PROT_READ, MAP_PRIVATE, fd, 0);
        mapped.bytes = mapped.bytes == MAP_FAILED ? NULL : mapped.bytes;
    }
    if (fd >= 0) {
        (void)close(fd); /* it was only read */
    }
    return mapped;
}

/* What a file begins with, and a NUL: whose it is.  NULL: memory is short. */
static char *head_text(const Checkpoint *checkpoint, const char *what, mpfr_prec_t bits)
{
    size_t size = strlen(CHECKPOINT_MAGIC) + strlen(checkpoint->identity) + strlen(what) + 32;
    char *head = malloc(size);
    if (head != NULL) {
        snprintf(head, size, CHECKPOINT_MAGIC "%s\n%s %ld\n", checkpoint->identity, what,
                 (long)bits);
    }
    return head;
}

/* The state in a mapped file, between its head and the digest of all that; NULL, or what is wrong
 * with it. */
static const char *find_state(RefArchive *archive, const Mapped *mapped, const char *head)
{
    uint64_t digest = 0;
    size_t length = strlen(head) + 1;
    size_t size = mapped->size < sizeof digest ? 0 : mapped->size - sizeof digest;
    memcpy(&digest, mapped->bytes + size, size > 0 ? sizeof digest : 0);
    if (size == 0 || digest_bytes(DIGEST_START, mapped->bytes, size) != digest) {
        return "it is damaged";
    }
    if (size < length + sizeof(size_t) || memcmp(mapped->bytes, head, length) != 0) {
        return "it is of another version, machine, weights file or point";
    }
    *archive = (RefArchive){.next = mapped->bytes + length, .left = size - length};
    return NULL;
}

static void say_found(const Checkpoint *checkpoint, const char *path, const RefArchive *archive)
{
    size_t done;
    memcpy(&done, archive->next, sizeof done);
    if (!checkpoint->checkpoints->quiet) {
        fprintf(stderr, "headproof: %s: goes on behind layer %zu\n", path, done);
    }
}

/* Takes up what is mapped, if it is what it should be. */
static bool take_up(const Checkpoint *checkpoint, const char *path, const char *head,
                    const Mapped *mapped, RefVisit *visit, void *state)
{
    RefArchive archive;
    const char *why = find_state(&archive, mapped, head);
    if (why != NULL) {
        fprintf(stderr, "headproof: warning: %s: ignored: %s\n", path, why);
        return false;
    }
    say_found(checkpoint, path, &archive);
    visit(&archive, state);
    return true;
}

static bool restore(void *context, const char *what, mpfr_prec_t bits, RefVisit *visit, void *state)
{
    const Checkpoint *checkpoint = context;
    if (!checkpoint->checkpoints->resume) {
        return false;
    }
    char *path = file_name(checkpoint, what, bits), *head = head_text(checkpoint, what, bits);
    Mapped mapped = {NULL, 0};
    if (path != NULL && head != NULL) {
        mapped = map_file(path);
    }
    bool found = mapped.bytes != NULL && take_up(checkpoint, path, head, &mapped, visit, state);
    if (mapped.bytes != NULL) {
        (void)munmap(mapped.bytes, mapped.size);
    }
    free(path);
    free(head);
    return found;
}

/* Everything into an open file, and onto the disk. */
static bool write_state(FILE *file, char *head, RefVisit *visit, void *state)
{
    RefArchive archive = {.file = file, .digest = REF_ARCHIVE_START};
    ref_archive_bytes(&archive, head, strlen(head) + 1);
    visit(&archive, state);
    uint64_t digest = archive.digest;
    ref_archive_bytes(&archive, &digest, sizeof digest);
    return !archive.failed && atomic_file_flush(file) == 0 && fsync(fileno(file)) == 0;
}

/* A new file under a name of its own, whatever threads or ranks write at the same time. */
static FILE *open_new(const char *directory, char *name)
{
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        return NULL;
    }
    int fd = mkstemp(name);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd >= 0 && file == NULL) {
        (void)close(fd);
        (void)unlink(name);
    }
    return file;
}

/* Replaces the file at path. */
static bool save(const char *directory, const char *path, char *head, RefVisit *visit, void *state)
{
    char *name = atomic_file_name(path, ".XXXXXX");
    if (name == NULL) {
        errno = ENOMEM;
        return false;
    }
    FILE *file = open_new(directory, name);
    bool ok = file != NULL && write_state(file, head, visit, state);
    int reason = errno;
    if (file != NULL && fclose(file) != 0) {
        reason = ok ? errno : reason;
        ok = false;
    }
    if (ok && rename(name, path) != 0) {
        reason = errno;
        ok = false;
    }
    if (!ok && file != NULL) {
        (void)unlink(name);
    }
    free(name);
    errno = reason;
    return ok && atomic_file_sync_directory(path) == 0;
}

static bool is_worth_it(const Checkpoint *checkpoint, double now)
{
    double worked = now - checkpoint->last, seconds = checkpoint->checkpoints->seconds;
    return seconds == 0 || (worked >= seconds && worked >= CHECKPOINT_SHARE * checkpoint->cost);
}

static void offer(void *context, const char *what, mpfr_prec_t bits, RefVisit *visit, void *state)
{
    Checkpoint *checkpoint = context;
    Checkpoints *checkpoints = checkpoint->checkpoints;
    double now = clock_seconds();
    if (!is_worth_it(checkpoint, now)) {
        return;
    }
    char *path = file_name(checkpoint, what, bits), *head = head_text(checkpoint, what, bits);
    errno = ENOMEM;
    if (path == NULL || head == NULL || !save(checkpoints->directory, path, head, visit, state)) {
        complain_once(checkpoints);
    }
    free(path);
    free(head);
    checkpoint->last = clock_seconds();
    checkpoint->cost = checkpoint->last - now;
}

/* ---- An owner ---------------------------------------------------------------------------- */

/* What tells the owner from others of the same run; NULL: memory is short. */
static char *owner_text(const Point *point, bool shared)
{
    char *key = table_key(point);
    char *text = key == NULL ? NULL : atomic_file_name(shared ? "case of " : "point ", key);
    free(key);
    return text;
}

static void owner_name(char name[DIGEST_TEXT], const char *text)
{
    digest_print(name, digest_bytes(DIGEST_START, text, strlen(text)));
}

bool checkpoint_init(Checkpoint *checkpoint, Checkpoints *checkpoints, const Point *point,
                     bool shared)
{
    *checkpoint = (Checkpoint){.checkpoints = checkpoints};
    if (checkpoints == NULL) {
        return true;
    }
    char *text = owner_text(point, shared);
    if (text != NULL) {
        owner_name(checkpoint->owner, text);
        checkpoint->identity = atomic_file_name(checkpoints->program, text);
    }
    free(text);
    checkpoint->last = clock_seconds();
    checkpoint->keeper = (RefKeeper){checkpoint, restore, offer};
    return checkpoint->identity != NULL;
}

void checkpoint_clear(Checkpoint *checkpoint)
{
    free(checkpoint->identity);
    checkpoint->identity = NULL;
}

const RefKeeper *checkpoint_keeper(const Checkpoint *checkpoint)
{
    return checkpoint->checkpoints != NULL ? &checkpoint->keeper : NULL;
}

static void drop_owner(const Checkpoints *checkpoints, const Point *point, bool shared)
{
    char name[DIGEST_TEXT];
    char *text = owner_text(point, shared);
    if (text != NULL) {
        owner_name(name, text);
        remove_files(checkpoints, name);
    }
    free(text);
}

void checkpoints_commit(const Checkpoints *checkpoints, const Grid *grid, size_t index)
{
    const Point *point = &grid->points[index];
    struct stat found;
    size_t first = index, last = index;
    if (checkpoints == NULL || stat(checkpoints->directory, &found) != 0) {
        return;
    }
    drop_owner(checkpoints, point, false);
    for (size_t i = 0; i < grid->count; i++) {
        if (points_share_base(&grid->points[i], point)) {
            first = i < first ? i : first;
            last = i > last ? i : last;
        }
    }
    if (index == last) {
        drop_owner(checkpoints, &grid->points[first], true);
    }
}
