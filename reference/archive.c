#include "archive.h"

#include "change.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

static void write_bytes(RefArchive *archive, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        archive->digest = (archive->digest ^ bytes[i]) * UINT64_C(0x100000001B3);
    }
    archive->failed = archive->failed || fwrite(bytes, 1, count, archive->file) != count;
}

static void read_bytes(RefArchive *archive, unsigned char *bytes, size_t count)
{
    if (count > archive->left) {
        fprintf(stderr, "headproof: bug: %s:%d: a state of other shapes\n", __FILE__, __LINE__);
        abort();
    }
    memcpy(bytes, archive->next, count);
    archive->next += count;
    archive->left -= count;
}

void ref_archive_bytes(RefArchive *archive, void *bytes, size_t count)
{
    if (archive->file == NULL) {
        read_bytes(archive, bytes, count);
    } else {
        write_bytes(archive, bytes, count);
    }
}

/* A number that is neither zero nor infinite nor NaN has an exponent and limbs. */
void ref_archive_number(RefArchive *archive, mpfr_ptr x)
{
    mpfr_prec_t bits = mpfr_get_prec(x);
    void *limbs = mpfr_custom_get_significand(x);
    signed char kind = (signed char)mpfr_custom_get_kind(x);
    mpfr_exp_t exponent = mpfr_regular_p(x) ? mpfr_get_exp(x) : 0;
    ref_archive_bytes(archive, &kind, 1);
    if (kind == MPFR_REGULAR_KIND || kind == -MPFR_REGULAR_KIND) {
        ref_archive_bytes(archive, &exponent, sizeof exponent);
        ref_archive_bytes(archive, limbs, mpfr_custom_get_size(bits));
    }
    if (archive->file == NULL) {
        mpfr_custom_init_set(x, kind, exponent, bits, limbs);
    }
}

void archive_mat(RefArchive *archive, ApMat *m)
{
    for (size_t i = 0; i < m->rows * m->columns; i++) {
        ref_archive_number(archive, m->entry + i);
    }
}

/* Everything else of a run is scratch, or follows from this. */
void archive_run(RefArchive *archive, RefRun *run)
{
    ref_archive_bytes(archive, &run->layer, sizeof run->layer);
    ref_archive_bytes(archive, &run->sublayer, sizeof run->sublayer);
    ref_archive_bytes(archive, &run->block, sizeof run->block);
    ref_archive_bytes(archive, run->gap, sizeof run->gap);
    ref_archive_number(archive, run->score_max);
    archive_mat(archive, &run->stream);
    if (run->change != NULL) {
        mpfr_exp_t largest = change_largest(run);
        ref_archive_bytes(archive, &largest, sizeof largest);
        archive_mat(archive, &run->change->stream);
        if (archive->file == NULL) {
            run->thread[0].largest = largest;
            change_end_layer(run);
        }
    }
}

void ref_run_visit(RefArchive *archive, void *state)
{
    archive_run(archive, state);
}

bool ref_keeper_restore(const RefKeeper *keeper, const char *what, mpfr_prec_t bits,
                        RefVisit *visit, void *state)
{
    return keeper != NULL && keeper->restore(keeper->context, what, bits, visit, state);
}

void ref_keeper_offer(const RefKeeper *keeper, const char *what, mpfr_prec_t bits, RefVisit *visit,
                      void *state)
{
    if (keeper != NULL) {
        keeper->offer(keeper->context, what, bits, visit, state);
    }
}
