/*
 * The state of an evaluation as bytes, exactly, so that one that was interrupted goes on.
 *
 * A function that names every part of a state both writes and reads it: when it reads, the bytes
 * take the place of what is there, of the same shapes and precisions.  They are for one machine and
 * one version of the program; whoever keeps them sees to that, and gives back only what was written
 * whole: anything else is a bug, and aborts.
 */
#ifndef HEADPROOF_REFERENCE_ARCHIVE_H
#define HEADPROOF_REFERENCE_ARCHIVE_H

#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes to file (digest: FNV-1a of the bytes so far; failed: errno says why), or, with file NULL,
 * reads what is left of next [left]. */
typedef struct {
    FILE *file;
    uint64_t digest;
    bool failed;
    const unsigned char *next;
    size_t left;
} RefArchive;

#define REF_ARCHIVE_START UINT64_C(0xCBF29CE484222325)

void ref_archive_bytes(RefArchive *archive, void *bytes, size_t count);

/* x keeps its precision, with which it was written. */
void ref_archive_number(RefArchive *archive, mpfr_ptr x);

/* Writes or reads all of a state, which begins with a size_t: the layers that are done. */
typedef void RefVisit(RefArchive *archive, void *state);

/* Where an evaluation leaves its state on the way: what and bits name it among those of the same
 * owner.  restore: brings it back; false: none was kept.  offer: after a layer, to keep it if
 * enough work went into it. */
typedef struct {
    void *context;
    bool (*restore)(void *context, const char *what, mpfr_prec_t bits, RefVisit *visit,
                    void *state);
    void (*offer)(void *context, const char *what, mpfr_prec_t bits, RefVisit *visit, void *state);
} RefKeeper;

/* The same, with keeper NULL: nothing is kept. */
bool ref_keeper_restore(const RefKeeper *keeper, const char *what, mpfr_prec_t bits,
                        RefVisit *visit, void *state);
void ref_keeper_offer(const RefKeeper *keeper, const char *what, mpfr_prec_t bits, RefVisit *visit,
                      void *state);

#endif
