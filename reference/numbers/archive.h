/*
 * The state of an evaluation as bytes, exactly, so that one that was interrupted goes on.
 *
 * A function that names every part of a state both writes and reads it: when it reads, the bytes
 * take the place of what is there, of the same shapes and precisions.  They are for one machine and
 * one version of the program; whoever keeps them sees to that.  Nothing that is read is believed:
 * a count, a choice or a number that no such state can have makes the archive fail, and the state
 * is what it was before.
 */
#ifndef HEADPROOF_REFERENCE_NUMBERS_ARCHIVE_H
#define HEADPROOF_REFERENCE_NUMBERS_ARCHIVE_H

#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes to file (digest: FNV-1a of the bytes so far; failed: errno says why), or, with file NULL,
 * reads what is left of next [left] (failed: it is not of this state; nothing more is read). */
typedef struct {
    FILE *file;
    uint64_t digest;
    bool failed;
    const unsigned char *next;
    size_t left;
} RefArchive;

#define REF_ARCHIVE_START UINT64_C(0xCBF29CE484222325)

/* Bytes that may have any value: texts, doubles. */
void ref_archive_bytes(RefArchive *archive, void *bytes, size_t count);

/* Each writes the value, or reads one, and returns it: a count of at most `most`, one of the first
 * `choices` numbers, yes or no, an exponent that MPFR can have; 0 where it fails. */
size_t ref_archive_count(RefArchive *archive, size_t value, size_t most);
unsigned ref_archive_choice(RefArchive *archive, unsigned value, unsigned choices);
bool ref_archive_flag(RefArchive *archive, bool value);
mpfr_exp_t ref_archive_exponent(RefArchive *archive, mpfr_exp_t value);

/* The same for doubles [count] of at least `least` and at most `most`: no NaN. */
void ref_archive_doubles(RefArchive *archive, double *values, size_t count, double least,
                         double most);

/* Reading, what must hold; writing, nothing. */
void ref_archive_expect(RefArchive *archive, bool holds);

/* x keeps its precision, with which it was written. */
void ref_archive_number(RefArchive *archive, mpfr_ptr x);

/* Writes or reads all of a state, which begins with a size_t: the layers that are done. */
typedef void RefVisit(RefArchive *archive, void *state);

/* An evaluation's state on the way: what and bits name it among those of the same owner. */
typedef struct {
    const char *what;
    mpfr_prec_t bits;
    RefVisit *visit;
    void *state;
} RefState;

/* Reads a state of exactly these bytes.  false, and the state is as it was: they are not of it.
 * The state is one that could be kept now. */
bool ref_archive_restore(const unsigned char *bytes, size_t size, RefVisit *visit, void *state)
    __attribute__((warn_unused_result));

/* Where evaluations leave their states.  restore: brings one back; false: none was kept.  offer:
 * after a layer, to keep it if enough work went into it. */
typedef struct {
    void *context;
    bool (*restore)(void *context, const RefState *state);
    void (*offer)(void *context, const RefState *state);
} RefKeeper;

/* The same, with keeper NULL: nothing is kept. */
bool ref_keeper_restore(const RefKeeper *keeper, const RefState *state);
void ref_keeper_offer(const RefKeeper *keeper, const RefState *state);

#endif
