/*
 * Logits of the reference: what the unembedding makes of r(T), of what changes from r(T) to r(T'),
 * and how far a machine's are from r(T)'s.
 *
 * A change is worked out from the streams' difference, so that no Omega cancels it: logits that
 * agree to 800 digits have a change of 12.
 */
#ifndef HEADPROOF_REFERENCE_LOGITS_LOGITS_H
#define HEADPROOF_REFERENCE_LOGITS_LOGITS_H

#include "../reference.h"

/* Bits of a logit, and of a change. */
#define REF_LOGIT_BITS 192

/* Numbers [rows, classes]. */
typedef struct RefLogits RefLogits;

RefLogits *ref_logits_make(size_t rows, size_t classes) __attribute__((warn_unused_result));
void ref_logits_clear(RefLogits *logits);

/* Their bytes, as a double. */
double ref_logits_bytes(double rows, double classes);

/* A row's numbers [classes]. */
mpfr_srcptr ref_logits_row(const RefLogits *logits, size_t row);

/* The first rows.count rows = r(T)'s logits of those tokens, after the last layer; products as
 * reference/product has them, rounded once. */
void ref_logits_original(RefLogits *logits, const RefBase *base, RefRows rows,
                         const RefUnembedding *unembed);

/* The same of r(T')'s logits less r(T)'s, after the last layer. */
void ref_logits_change(RefLogits *change, const RefLayer *at, RefRows rows,
                       const RefUnembedding *unembed);

/* Row `row` of change = machine [classes] less r(T)'s logits [classes]. */
void ref_logits_subtract(RefLogits *change, size_t row, const double *machine,
                         mpfr_srcptr original);

/* Index of the largest of a row [classes], the first of equals; *margin: its lead over the second,
 * rounded down, infinite where there is none. */
size_t ref_logits_top(double *margin, mpfr_srcptr logits, size_t classes);

/* Token p of r(T), whose row after the last layer may be off by x_off an entry; gain: of
 * ref_logits_gain. */
typedef struct {
    const RefUnembedding *unembedding;
    double gain;
    const RefBase *base;
    size_t p;
    mpfr_srcptr x_off;
} RefLogitsToken;

/* off = how far its logits may be off: through the final norm (docs/certify.md, C35), then times
 * the gain. */
void ref_logits_off(mpfr_ptr off, const RefLogitsToken *token);

/* The same of r(T')'s logits less r(T)'s, where the streams' difference may be off by e_off an
 * entry (C37). */
void ref_logits_change_off(mpfr_ptr off, const RefLogitsToken *token, const RefLayer *at,
                           mpfr_srcptr e_off);

/* The largest sum over a column of |W|, rounded up. */
double ref_logits_gain(const RefUnembedding *unembedding);

#endif
