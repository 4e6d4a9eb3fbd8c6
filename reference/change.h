/*
 * How the limit model changes into T' (private to reference/; docs/mathematics.md, section 4).
 *
 * A run with a change evaluates T_infinity at x and carries e = r(T') - r(T_infinity) beside it.
 * What is linear acts on e as on x.  Of a head's row, A the keys with the largest coefficient of
 * Omega and p its softmax at x, ds the change of the scores, u' = u + du the values at x + e,
 *     E        = sum over A of p_j expm1(ds_j)
 *     dp_j     = p_j (expm1(ds_j) - E) / (1 + E)                   j in A, or, where E < -1/2,
 *              = p_j e^(ds_j) / (sum over A of p_j e^(ds_j)) - p_j
 *     y_A'     = y_A + sum over A of dp_j u'_j + p_j du_j
 *     r_j      = e^(s'_j) / (sum over all keys of e^(s'))          the others, e^(-Omega gap) in it
 *     change   = y_A' - y_A + sum over the others of r_j (u'_j - y_A').
 * Each term has a factor of e's own size: nothing of the size of x cancels, whatever Omega is.
 * (E < -1/2 is a change as large as the pattern itself.)
 */
#ifndef HEADPROOF_REFERENCE_CHANGE_H
#define HEADPROOF_REFERENCE_CHANGE_H

#include "structured.h"

struct RunChange {
    ApMat stream;         /* e, as RefRun's stream */
    ApMat delta;          /* what the current sublayer adds to it */
    ApMat sum;            /* stream + e: r(T') after the last layer */
    ApMat product, score; /* [rows, heads] e g, and the gate's change */
    ApMat gate, grown;    /* [rows, heads] expm1 and exp of that */
    ApMat value, mixed;   /* changes of RunScratch's */
    ApMat moved;          /* value + its change */
    ApMat query, key;     /* changes of RunScratch's */
    ApMat moved_query;    /* query + its change */
    ApMat group;          /* [rows, heads * 3] dp or r of one key of a group */
    ApMat pattern, leak;  /* [rows, rows] dp of the keys of A, 0 of others; r of the others */
    /* [rows, columns]: exponent of the largest term that went into an entry of e in this layer: what
     * e falls short of it was cancelled, however alike two precisions are. */
    mpfr_exp_t *term;
};

/* A limit run that also carries e; tape: the limit's evaluation, or NULL.  The model has heads
 * alone.  NULL when memory is short. */
RefRun *change_open(const Model *model, const double *x, const double *bias_row_content,
                    double omega, mpfr_prec_t bits, bool reproducible, const RunTape *tape)
    __attribute__((warn_unused_result));
void change_clear(RunChange *change);

/* Before and after a layer, and a sublayer's bundles. */
void change_begin_layer(RunChange *change);
void change_begin(RunChange *change);
void change_end(RunChange *change);
void change_end_layer(RefRun *run);

/* The exponent of the largest |ds| and r so far. */
mpfr_exp_t change_largest(const RefRun *run);

/* Takes a |ds| or r into it. */
void change_note(RunThread *thread, mpfr_srcptr d);

/* The same of an r, which is not 0: one that looks so has left MPFR's range, and tells nothing of
 * other Omegas. */
void change_note_leak(RunThread *thread, mpfr_srcptr r);

/* m = expm1(ds) and g = exp(ds), either with all its bits. */
void change_exponentials(RefRun *run, RunThread *thread, mpfr_ptr m, mpfr_ptr g, mpfr_srcptr ds);

/* After groups_softmax of the same heads. */
void change_groups_softmax(RefRun *run, const Heads *heads);

/* After bilinear_products, and after bilinear_softmax, of the same. */
void change_bilinear_products(RefRun *run, const Heads *heads);
void change_bilinear_softmax(RefRun *run, const Heads *heads, size_t b);

/* change.mixed, after scratch.mixed, from scratch.value and change.value: of all heads, or with
 * bilinear scores of head heads.first + b alone. */
void change_mix(RefRun *run, const Heads *heads, size_t b, size_t width);
void change_groups_mix(RefRun *run, const Heads *heads, size_t width);
void change_bilinear_mix(RefRun *run, const Heads *heads, size_t b, size_t width);

#endif
