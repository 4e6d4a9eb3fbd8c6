/*
 * The seals of a journal's points (private to it): lines behind the sidecar in FILE.json.partial,
 * one for every point in FILE.partial, in its order.
 *
 * A seal is a digest of the sidecar, of all rows before it and of the point's own, and so says of
 * which run they are and that nobody changed, moved or left out one; how many seconds the point
 * took stands behind it.
 */
#ifndef HEADPROOF_HARNESS_TABLE_JOURNAL_SEALS_H
#define HEADPROOF_HARNESS_TABLE_JOURNAL_SEALS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* text [size]: of FILE.json.partial; used: its bytes up to the seal that is next.
 * last: the digest up to there.  seconds: of all points that have a seal, negative where one does
 * not say; file NULL: not being written. */
typedef struct {
    char *text;
    size_t size, used;
    uint64_t last;
    double seconds;
    FILE *file;
} Seals;

typedef enum { SEAL_RIGHT, SEAL_MISSING, SEAL_BROKEN } Seal;

/* Reads FILE.json.partial into seals that are all zero, or were read before.  The sidecar; NULL
 * where there is none: errno then says what file_fault asks. */
json_t *seals_load(Seals *seals, const char *path) __attribute__((warn_unused_result));

/* Is a seal next?  Is it that of these rows?  Then it is passed. */
bool seals_has_next(const Seals *seals);
Seal seals_take(Seals *seals, const char *rows, size_t length);

/* Begins to write behind the last seal that was passed; what is behind it is dropped.  0, or -1
 * (errno). */
int seals_begin(Seals *seals, const char *path) __attribute__((warn_unused_result));

/* The seal of a point whose rows come next; on disk after the sync.  0, or -1 (errno). */
int seals_append(Seals *seals, const char *rows, size_t length, double seconds)
    __attribute__((warn_unused_result));
int seals_sync(Seals *seals) __attribute__((warn_unused_result));

void seals_clear(Seals *seals);

#endif
