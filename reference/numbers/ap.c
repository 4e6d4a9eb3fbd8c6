/*
 * Vectors and matrices of MPFR numbers in one block of memory.
 */
#include "ap.h"

#include "../../memory/need.h"

#include <stdint.h>
#include <stdlib.h>

/* Entries that are worth a parallel region: the system gives a page to the thread that touches
 * it first, and takes as long for that as the numbers do. */
enum { PARALLEL_ENTRIES = 1 << 16, ENTRIES_AT_ONCE = 1 << 12 };

static void zero_entries(ApMat *m, size_t first, size_t end)
{
    size_t limbs = mpfr_custom_get_size(m->bits) / sizeof *m->limbs;
    for (size_t i = first; i < end; i++) {
        mpfr_custom_init_set(m->entry + i, MPFR_ZERO_KIND, 0, m->bits, m->limbs + i * limbs);
    }
}

mpfr_exp_t ap_exponent(mpfr_srcptr x, size_t count)
{
    mpfr_exp_t most = mpfr_get_emin();
    for (size_t i = 0; i < count; i++) {
        most = mpfr_regular_p(x + i) && mpfr_get_exp(x + i) > most ? mpfr_get_exp(x + i) : most;
    }
    return most;
}

void ap_zero(ApMat *m)
{
    size_t count = m->rows * m->columns;
    if (count < PARALLEL_ENTRIES) { /* a region of one thread takes longer than small matrices */
        zero_entries(m, 0, count);
        return;
    }
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i += ENTRIES_AT_ONCE) {
        zero_entries(m, i, count - i < ENTRIES_AT_ONCE ? count : i + ENTRIES_AT_ONCE);
    }
}

void ap_init(ApMat *m, size_t rows, size_t columns, mpfr_prec_t bits)
{
    size_t limbs = mpfr_custom_get_size(bits) / sizeof(mp_limb_t);
    *m = (ApMat){.rows = rows, .columns = columns, .bits = bits};
    size_t count;
    if (__builtin_mul_overflow(rows, columns, &count) ||
        count >= PTRDIFF_MAX / (sizeof *m->entry + limbs * sizeof *m->limbs)) {
        need_is_short();
    }
    m->entry = need_zeros(count + 1, sizeof *m->entry);
    m->limbs = need_zeros(count * limbs + 1, sizeof *m->limbs);
    ap_zero(m);
}

void ap_clear(ApMat *m)
{
    free(m->entry);
    free(m->limbs);
    m->entry = NULL;
    m->limbs = NULL;
}

double ap_bytes(double rows, double columns, mpfr_prec_t bits)
{
    return rows * columns * (double)(mpfr_custom_get_size(bits) + sizeof(__mpfr_struct));
}

void ap_init_list(const ApExtent *list, size_t count, mpfr_prec_t bits)
{
    for (size_t i = 0; i < count; i++) {
        ap_init(list[i].mat, list[i].rows, list[i].columns, bits);
    }
}

void ap_clear_list(const ApExtent *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ap_clear(list[i].mat);
    }
}

double ap_bytes_list(const ApExtent *list, size_t count, mpfr_prec_t bits)
{
    double bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += ap_bytes((double)list[i].rows, (double)list[i].columns, bits);
    }
    return bytes;
}

void ap_dot(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b, size_t count, mpfr_ptr t)
{
    mpfr_set_zero(y, 1);
    for (size_t i = 0; i < count; i++) {
        limbs_mul(t, a + i, b + i);
        limbs_add(y, y, t);
    }
}

void ap_thread_clear(void)
{
    mpfr_free_cache();
}

void ap_thread_enter(mpfr_exp_t emin, mpfr_exp_t emax)
{
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
}

mpfr_flags_t ap_thread_leave(bool clear)
{
    mpfr_flags_t flags = ap_fatal_flags();
    mpfr_clear_flags();
    if (clear) {
        ap_thread_clear();
    }
    return flags;
}

mpfr_flags_t ap_fatal_flags(void)
{
    return mpfr_flags_test(MPFR_FLAGS_OVERFLOW | MPFR_FLAGS_NAN | MPFR_FLAGS_DIVBY0 |
                           MPFR_FLAGS_ERANGE);
}
