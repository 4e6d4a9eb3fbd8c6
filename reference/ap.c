#include "ap.h"

#include <stdint.h>
#include <stdlib.h>

#ifdef HAVE_FLINT
#ifdef HAVE_ARB_IN_FLINT
#include <flint/arb.h>
#else
#include <arb.h>
#endif
#endif

bool ap_init(ApMat *m, size_t rows, size_t columns, mpfr_prec_t bits)
{
    size_t limbs = mpfr_custom_get_size(bits) / sizeof(mp_limb_t);
    *m = (ApMat){.rows = rows, .columns = columns, .bits = bits};
    if (columns != 0 && rows > SIZE_MAX / columns) {
        return false;
    }
    size_t count = rows * columns;
    if (count >= PTRDIFF_MAX / (sizeof *m->entry + limbs * sizeof *m->limbs)) {
        return false;
    }
    m->entry = calloc(count + 1, sizeof *m->entry);
    m->limbs = calloc(count * limbs + 1, sizeof *m->limbs);
    if (m->entry == NULL || m->limbs == NULL) {
        ap_clear(m);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        mpfr_custom_init_set(m->entry + i, MPFR_ZERO_KIND, 0, bits, m->limbs + i * limbs);
    }
    return true;
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

void ap_zero(ApMat *m)
{
    for (size_t i = 0; i < m->rows * m->columns; i++) {
        mpfr_set_zero(m->entry + i, 1);
    }
}

void ap_load(ApMat *v, const double *w, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++) {
        mpfr_set_d(v->entry + i, w[i * stride], MPFR_RNDN);
    }
}

void ap_dot(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b, size_t count, mpfr_ptr t)
{
    mpfr_set_zero(y, 1);
    for (size_t i = 0; i < count; i++) {
        mpfr_mul(t, a + i, b + i, MPFR_RNDN);
        mpfr_add(y, y, t, MPFR_RNDN);
    }
}

void ap_axpy(mpfr_ptr y, mpfr_srcptr s, mpfr_srcptr v, size_t count, mpfr_ptr t)
{
    if (mpfr_zero_p(s)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        mpfr_mul(t, s, v + i, MPFR_RNDN);
        mpfr_add(y + i, y + i, t, MPFR_RNDN);
    }
}

#ifdef HAVE_FLINT

struct ApExp {
    bool correct_rounding;
    arb_t x, y;
};

ApExp *ap_exp_create(bool correct_rounding)
{
    ApExp *context = malloc(sizeof *context);
    if (context != NULL) {
        context->correct_rounding = correct_rounding;
        arb_init(context->x);
        arb_init(context->y);
    }
    return context;
}

void ap_exp_free(ApExp *context)
{
    if (context != NULL) {
        arb_clear(context->x);
        arb_clear(context->y);
        free(context);
    }
}

void ap_exp(ApExp *context, mpfr_ptr y, mpfr_srcptr x)
{
    /* Far from zero the result may leave MPFR's exponent range; MPFR then says so itself. */
    bool plain = mpfr_regular_p(x) && mpfr_get_exp(x) < 40;
    if (context->correct_rounding || !plain) {
        mpfr_exp(y, x, MPFR_RNDN);
        return;
    }
    slong bits = (slong)mpfr_get_prec(y) + 16;
    arb_zero(context->x);
    arf_set_mpfr(arb_midref(context->x), x);
    for (;; bits += 64) {
        arb_exp(context->y, context->x, bits);
        if (arb_rel_accuracy_bits(context->y) > (slong)mpfr_get_prec(y) + 2) {
            break;
        }
    }
    arf_get_mpfr(y, arb_midref(context->y), MPFR_RNDN);
}

void ap_thread_clear(void)
{
    mpfr_free_cache();
    flint_cleanup();
}

#else

struct ApExp {
    bool correct_rounding;
};

ApExp *ap_exp_create(bool correct_rounding)
{
    ApExp *context = malloc(sizeof *context);
    if (context != NULL) {
        context->correct_rounding = correct_rounding;
    }
    return context;
}

void ap_exp_free(ApExp *context)
{
    free(context);
}

void ap_exp(ApExp *context, mpfr_ptr y, mpfr_srcptr x)
{
    (void)context; /* MPFR's exp is correctly rounded and keeps nothing of ours */
    mpfr_exp(y, x, MPFR_RNDN);
}

void ap_thread_clear(void)
{
    mpfr_free_cache();
}

#endif
