/*
 * Checkpoints: whose they are, when they are written, and whether they are taken up.
 */
#include "checkpoint.h"

#include "checkpoint_directory.h"
#include "sidecar.h"
#include "table.h"

#include "../../memory/need.h"
#include "../base/atomic_file.h"
#include "../base/info.h"
#include "../base/message.h"
#include "../base/progress.h"
#include "../base/shown.h"
#include "../base/text_stream.h"
#include "../point/point.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Raised when the bytes of a state change their meaning. */
#define CHECKPOINT_MAGIC CHECKPOINT_BEGINNING "2\n"

/* A checkpoint may take this share of the time: a hundredth of the time since the last. */
enum { CHECKPOINT_SHARE = 100 };

struct Checkpoints {
    char *directory, *program; /* what is decisive of version and machine */
    const char *flag;          /* that FILE was given to; NULL: output */
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

/* Version, machine, weights and digits, a line each; NULL: memory is short, or the machine cannot
 * be read. */
static char *program_text(const char *weights, int digits)
{
    Fact facts[FACTS_MOST];
    size_t count = facts_read(facts), size = 0;
    char *text = NULL;
    if (count == 0) {
        return NULL;
    }
    FILE *stream = text_stream(&text, &size);
    for (const char *const *name = sidecar_decisive; *name != NULL; name++) {
        for (size_t i = 0; i < count; i++) {
            if (strcmp(facts[i].name, *name) == 0) {
                fprintf(stream, "%s %s\n", *name, facts[i].text);
            }
        }
    }
    fprintf(stream, "weights %s\ndigits %d\n", weights, digits);
    return text_close(stream, &text);
}

int checkpoints_open(Checkpoints **checkpoints, const RunOptions *run, const GridIdentity *identity)
{
    struct stat found;
    *checkpoints = NULL;
    if (run->output == NULL || (stat(run->output, &found) == 0 && !S_ISREG(found.st_mode))) {
        return 0;
    }
    Checkpoints *made = need_zeros(1, sizeof *made);
    pthread_mutex_init(&made->lock, NULL);
    made->flag = run->output_flag;
    char *target = atomic_file_target(run->output);
    if (target == NULL) {
        checkpoints_clear(made);
        return 0; /* who opens the file says why there is none */
    }
    made->directory = atomic_file_name(target, CHECKPOINT_SUFFIX);
    free(target);
    made->program = program_text(identity->weights, run->digits > 0 ? run->digits : REF_DIGITS);
    made->seconds = run->checkpoint;
    made->resume = run->resume;
    made->quiet = run->quiet;
    if (made->program == NULL) {
        checkpoints_clear(made);
        return memory_fault();
    }
    *checkpoints = made;
    return 0;
}

int checkpoints_claim(const Checkpoints *checkpoints)
{
    return checkpoints == NULL
               ? 0
               : checkpoint_directory_claim(checkpoints->flag, checkpoints->directory);
}

void checkpoints_drop(const Checkpoints *checkpoints)
{
    if (checkpoints != NULL) {
        checkpoint_directory_remove(checkpoints->directory, "");
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
                shown(checkpoints->directory).text, strerror(reason));
    }
    checkpoints->complained = true;
    pthread_mutex_unlock(&checkpoints->lock);
}

/* ---- One file ---------------------------------------------------------------------------- */

enum { NAME_SIZE = 96 };

/* OWNER-WHAT-BITS; and how it begins, with a NUL, which says whose it is. */
typedef struct {
    char name[NAME_SIZE];
    char *head;
} StateFile;

/* Clear its head. */
static void state_file_init(StateFile *file, const Checkpoint *checkpoint, const RefState *state)
{
    const char *what = state->what, *identity = checkpoint->identity;
    size_t size = strlen(CHECKPOINT_MAGIC) + strlen(identity) + strlen(what) + 32;
    snprintf(file->name, NAME_SIZE, "%s-%s-%ld", checkpoint->owner, what, (long)state->bits);
    file->head = need_room(size, 1);
    snprintf(file->head, size, CHECKPOINT_MAGIC "%s\n%s %ld\n", identity, what, (long)state->bits);
}

static Mapped map_file(const char *path, const char *name)
{
    struct stat found;
    Mapped mapped = {NULL, 0};
    int directory = checkpoint_directory_open(path);
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (directory >= 0) {
        (void)close(directory); /* it was only read */
    }
    if (fd >= 0 && fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0) {
        mapped.size = (size_t)found.st_size;
        mapped.bytes = mmap(NULL, mapped.size, PROT_READ, MAP_PRIVATE, fd, 0);
        mapped.bytes = mapped.bytes == MAP_FAILED ? NULL : mapped.bytes;
    }
    if (fd >= 0) {
        (void)close(fd); /* it was only read */
    }
    return mapped;
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

static void say_found(const Checkpoint *checkpoint, const char *name, const RefArchive *archive)
{
    size_t done; /* what every state begins with */
    memcpy(&done, archive->next, sizeof done);
    if (!checkpoint->checkpoints->quiet) {
        fprintf(stderr, "headproof: %s/%s: goes on behind layer %zu\n",
                shown(checkpoint->checkpoints->directory).text, name, done);
    }
}

/* Takes up what is mapped, if it is what it should be. */
static bool take_up(const Checkpoint *checkpoint, const StateFile *file, const Mapped *mapped,
                    const RefState *state)
{
    RefArchive archive;
    const char *why = find_state(&archive, mapped, file->head);
    if (why == NULL &&
        !ref_archive_restore(archive.next, archive.left, state->visit, state->state)) {
        why = "it holds no state of this point, or memory is short";
    }
    if (why != NULL) {
        fprintf(stderr, "headproof: warning: %s/%s: ignored: %s\n",
                shown(checkpoint->checkpoints->directory).text, file->name, why);
        return false;
    }
    say_found(checkpoint, file->name, &archive);
    return true;
}

static bool restore(void *context, const RefState *state)
{
    const Checkpoint *checkpoint = context;
    StateFile file;
    if (!checkpoint->checkpoints->resume) {
        return false;
    }
    state_file_init(&file, checkpoint, state);
    Mapped mapped = map_file(checkpoint->checkpoints->directory, file.name);
    bool found = mapped.bytes != NULL && take_up(checkpoint, &file, &mapped, state);
    if (mapped.bytes != NULL) {
        (void)munmap(mapped.bytes, mapped.size);
    }
    free(file.head);
    return found;
}

/* Everything into an open file, and onto the disk. */
static bool write_state(FILE *file, char *head, const RefState *state)
{
    RefArchive archive = {.file = file, .digest = REF_ARCHIVE_START};
    ref_archive_bytes(&archive, head, strlen(head) + 1);
    state->visit(&archive, state->state);
    uint64_t digest = archive.digest;
    ref_archive_bytes(&archive, &digest, sizeof digest);
    return !archive.failed && atomic_file_flush(file) == 0 && fsync(fileno(file)) == 0;
}

/* A new file in the directory, whose name is put there. */
static FILE *open_new(char name[NAME_SIZE + 8], int directory, const char *beside)
{
    int fd = checkpoint_directory_create(directory, name, NAME_SIZE + 8, beside);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd >= 0 && file == NULL) {
        (void)close(fd);
        (void)unlinkat(directory, name, 0);
    }
    return file;
}

/* Replaces the file of that name in an open directory. */
static bool replace(int directory, const StateFile *old, const RefState *state)
{
    char new[NAME_SIZE + 8];
    FILE *file = open_new(new, directory, old->name);
    bool ok = file != NULL && write_state(file, old->head, state);
    int reason = errno;
    if (file != NULL && fclose(file) != 0) {
        reason = ok ? errno : reason;
        ok = false;
    }
    if (ok && renameat(directory, new, directory, old->name) != 0) {
        reason = errno;
        ok = false;
    }
    if (!ok && file != NULL) {
        (void)unlinkat(directory, new, 0);
    }
    errno = reason;
    return ok && (fsync(directory) == 0 || errno == EINVAL || errno == EACCES);
}

static bool save(const char *path, const StateFile *file, const RefState *state)
{
    int directory = checkpoint_directory_make(path);
    bool ok = directory >= 0 && replace(directory, file, state);
    int reason = errno;
    if (directory >= 0) {
        (void)close(directory); /* it was synced */
    }
    errno = reason;
    return ok;
}

bool checkpoint_is_due(double seconds, double worked, double cost)
{
    return seconds == 0 || (worked >= seconds && worked >= CHECKPOINT_SHARE * cost);
}

static void offer(void *context, const RefState *state)
{
    Checkpoint *checkpoint = context;
    Checkpoints *checkpoints = checkpoint->checkpoints;
    double now = clock_seconds();
    if (!checkpoint_is_due(checkpoints->seconds, now - checkpoint->last, checkpoint->cost)) {
        return;
    }
    StateFile file;
    state_file_init(&file, checkpoint, state);
    if (!save(checkpoints->directory, &file, state)) {
        complain_once(checkpoints);
    }
    free(file.head);
    checkpoint->last = clock_seconds();
    checkpoint->cost = checkpoint->last - now;
}

/* ---- An owner ---------------------------------------------------------------------------- */

/* The text that tells the owner from others of the same run. */
static char *owner_text(const Point *point, bool shared)
{
    char *key = table_key(point);
    char *text = atomic_file_name(shared ? "case of " : "point ", key);
    free(key);
    return text;
}

static void owner_name(char name[DIGEST_TEXT], const char *text)
{
    digest_print(name, digest_bytes(DIGEST_START, text, strlen(text)));
}

void checkpoint_init(Checkpoint *checkpoint, Checkpoints *checkpoints, const Point *point,
                     bool shared)
{
    *checkpoint = (Checkpoint){.checkpoints = checkpoints};
    if (checkpoints == NULL) {
        return;
    }
    char *text = owner_text(point, shared);
    owner_name(checkpoint->owner, text);
    checkpoint->identity = atomic_file_name(checkpoints->program, text);
    free(text);
    checkpoint->last = clock_seconds();
    checkpoint->keeper = (RefKeeper){checkpoint, restore, offer};
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
    owner_name(name, text);
    checkpoint_directory_remove(checkpoints->directory, name);
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
