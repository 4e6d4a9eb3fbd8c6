/*
 * States as bytes, and what makes bytes a state.
 */
#include "archive.h"

#include "../../memory/need.h"

#include <stdlib.h>
#include <string.h>

static void write_bytes(RefArchive *archive, const unsigned char *bytes, size_t count)
{
    uint64_t digest = archive->digest;
    for (size_t i = 0; i < count; i++) {
        digest = (digest ^ bytes[i]) * UINT64_C(0x100000001B3);
    }
    archive->digest = digest;
    archive->failed = archive->failed || fwrite(bytes, 1, count, archive->file) != count;
}

static void read_bytes(RefArchive *archive, unsigned char *bytes, size_t count)
{
    archive->failed = archive->failed || count > archive->left;
    if (!archive->failed) {
        memcpy(bytes, archive->next, count);
        archive->next += count;
        archive->left -= count;
    }
}

static bool is_reading(const RefArchive *archive)
{
    return archive->file == NULL;
}

void ref_archive_expect(RefArchive *archive, bool holds)
{
    archive->failed = archive->failed || (is_reading(archive) && !holds);
}

void ref_archive_bytes(RefArchive *archive, void *bytes, size_t count)
{
    if (is_reading(archive)) {
        read_bytes(archive, bytes, count);
    } else {
        write_bytes(archive, bytes, count);
    }
}

size_t ref_archive_count(RefArchive *archive, size_t value, size_t most)
{
    ref_archive_bytes(archive, &value, sizeof value);
    ref_archive_expect(archive, value <= most);
    return archive->failed && is_reading(archive) ? 0 : value;
}

unsigned ref_archive_choice(RefArchive *archive, unsigned value, unsigned choices)
{
    return (unsigned)ref_archive_count(archive, value, choices - 1);
}

bool ref_archive_flag(RefArchive *archive, bool value)
{
    return ref_archive_choice(archive, value, 2) != 0;
}

mpfr_exp_t ref_archive_exponent(RefArchive *archive, mpfr_exp_t value)
{
    ref_archive_bytes(archive, &value, sizeof value);
    ref_archive_expect(archive, value >= mpfr_get_emin_min() && value <= mpfr_get_emax_max());
    return archive->failed && is_reading(archive) ? 0 : value;
}

void ref_archive_doubles(RefArchive *archive, double *values, size_t count, double least,
                         double most)
{
    ref_archive_bytes(archive, values, count * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        ref_archive_expect(archive, values[i] >= least && values[i] <= most);
    }
}

/* A regular number's highest bit is set, and none below its precision. */
static bool is_significand(const mp_limb_t *limbs, mpfr_prec_t bits)
{
    size_t count = mpfr_custom_get_size(bits) / sizeof *limbs;
    unsigned spare = (unsigned)(count * GMP_NUMB_BITS - (size_t)bits);
    return limbs[count - 1] >> (GMP_NUMB_BITS - 1) == 1 &&
           (limbs[0] & (((mp_limb_t)1 << spare) - 1)) == 0;
}

/* MPFR's kinds, of either sign, from 0. */
enum { KINDS = 2 * MPFR_REGULAR_KIND + 1 };

/* Limbs of numbers that are written at once; those of more bits go part by part. */
enum { LIMBS_AT_ONCE = 8 };

/* A regular number of few limbs as the parts below would write it: a big stream is many of them. */
static bool write_at_once(RefArchive *archive, mpfr_srcptr x)
{
    unsigned char bytes[1 + sizeof(mpfr_exp_t) + LIMBS_AT_ONCE * sizeof(mp_limb_t)];
    size_t size = mpfr_custom_get_size(mpfr_get_prec(x));
    if (is_reading(archive) || !mpfr_regular_p(x) || size > LIMBS_AT_ONCE * sizeof(mp_limb_t)) {
        return false;
    }
    mpfr_exp_t exponent = mpfr_get_exp(x);
    bytes[0] = (unsigned char)(mpfr_custom_get_kind(x) + MPFR_REGULAR_KIND);
    memcpy(bytes + 1, &exponent, sizeof exponent);
    memcpy(bytes + 1 + sizeof exponent, mpfr_custom_get_significand(x), size);
    write_bytes(archive, bytes, 1 + sizeof exponent + size);
    return true;
}

/* A number that is neither zero nor infinite nor NaN has an exponent and limbs. */
void ref_archive_number(RefArchive *archive, mpfr_ptr x)
{
    if (write_at_once(archive, x)) {
        return;
    }
    mpfr_prec_t bits = mpfr_get_prec(x);
    void *limbs = mpfr_custom_get_significand(x);
    int kind = mpfr_custom_get_kind(x);
    mpfr_exp_t exponent = mpfr_regular_p(x) ? mpfr_get_exp(x) : 0;
    unsigned char written = (unsigned char)(kind + MPFR_REGULAR_KIND);
    ref_archive_bytes(archive, &written, 1);
    ref_archive_expect(archive, written < KINDS);
    kind = written - MPFR_REGULAR_KIND;
    if (kind == MPFR_REGULAR_KIND || kind == -MPFR_REGULAR_KIND) {
        exponent = ref_archive_exponent(archive, exponent);
        ref_archive_expect(archive, exponent >= mpfr_get_emin() && exponent <= mpfr_get_emax());
        ref_archive_bytes(archive, limbs, mpfr_custom_get_size(bits));
        ref_archive_expect(archive, is_significand(limbs, bits));
    }
    if (is_reading(archive) && !archive->failed) {
        mpfr_custom_init_set(x, kind, exponent, bits, limbs);
    }
}

/* Writes the state as it is now into memory, to be put back where the bytes read are none. */
static void write_before(char **bytes, size_t *size, RefVisit *visit, void *state)
{
    RefArchive archive = {.file = open_memstream(bytes, size), .digest = REF_ARCHIVE_START};
    if (archive.file == NULL) {
        need_is_short();
    }
    visit(&archive, state);
    if (fclose(archive.file) != 0 || archive.failed) {
        need_is_short();
    }
}

bool ref_archive_restore(const unsigned char *bytes, size_t size, RefVisit *visit, void *state)
{
    char *before = NULL;
    size_t before_size = 0;
    write_before(&before, &before_size, visit, state);
    RefArchive archive = {.next = bytes, .left = size};
    visit(&archive, state);
    bool ok = !archive.failed && archive.left == 0;
    if (!ok) {
        archive = (RefArchive){.next = (unsigned char *)before, .left = before_size};
        visit(&archive, state);
        if (archive.failed || archive.left != 0) {
            fprintf(stderr, "headproof: bug: %s:%d: a state that does not go back\n", __FILE__,
                    __LINE__);
            abort();
        }
    }
    free(before);
    return ok;
}

bool ref_keeper_restore(const RefKeeper *keeper, const RefState *state)
{
    return keeper != NULL && keeper->restore(keeper->context, state);
}

void ref_keeper_offer(const RefKeeper *keeper, const RefState *state)
{
    if (keeper != NULL) {
        keeper->offer(keeper->context, state);
    }
}
