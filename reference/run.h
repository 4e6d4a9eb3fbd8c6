/*
 * One evaluation in progress (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_RUN_H
#define HEADPROOF_REFERENCE_RUN_H

#include "ap.h"
#include "reference.h"

#include "../cases/fault.h"

/* Differences of Omega's coefficients within a row that a run can hold apart. */
#define RUN_MAX_GAP 16

/* Scratch of the structured form, for one head at a time; of the dense form, for one head's
 * full matrices.  The pattern is per group of keys, or (bilinear scores) per key. */
typedef struct {
    ApMat weight;       /* [1, widest vector of weights], 53 bits */
    ApMat product;      /* [rows, 1] x g */
    ApMat gate;         /* [rows, 1] exp(a (x g + c)); bilinear: the row's sum of exponentials */
    ApMat value, mixed; /* [rows, widest value before its second factor] */
    ApMat sum;          /* [1, same] */
    ApMat query, key;   /* [rows, widest score factor] */
    ApMat group;        /* [rows, 3] weight of a key: self, another token, the bias row */
    ApMat pattern;      /* [rows, rows] */
    ApMat temp;         /* [1, RUN_TEMPS] */
    ApMat q, v, xq, px; /* dense form: [width, width] twice, [rows, width] twice */
} RunScratch;

enum { RUN_TEMPS = 8 };

/* What a run that carries e = r(T') - r(T_infinity) holds for it: change.h. */
typedef struct RunChange RunChange;

struct RefRun {
    const Model *model;
    double omega;             /* with a change: T''s */
    bool limit;               /* Omega -> infinity */
    RunChange *change;        /* or NULL */
    mpfr_prec_t claimed_bits; /* what was asked for */
    mpfr_prec_t bits;         /* working precision of stream and scratch, at least that */
    RefForm form;
    ApMat stream; /* [rows, content], dense: [rows, width] */
    ApMat delta;  /* what the current sublayer adds */
    RunScratch scratch;
    ApMat factor; /* [1, RUN_MAX_GAP + 2]: exp(-Omega gap), and 0 */
    bool factor_known[RUN_MAX_GAP + 1];
    ApExp *exp;
    mpfr_t score_max;
    size_t layer, sublayer;
    /* For the plan: gap[k] is the largest log2(Z_A / Z_C), contents only, over all rows so far
     * whose best and second coefficients of Omega differ by k; -INFINITY when none. */
    bool record_gaps;
    double gap[RUN_MAX_GAP + 1];
};

/* ref_run_open with the choice of exp (see ap_exp_create). */
RefRun *run_open(const Model *model, const double *x, const double *bias_row_content, double omega,
                 mpfr_prec_t bits, RefForm form, bool correct_rounding)
    __attribute__((warn_unused_result));

/* exp(-Omega gap), gap >= 0; Omega finite, or gap 0. */
mpfr_srcptr run_decay(RefRun *run, int gap);

/* The same; in the limit 1 for gap 0, else 0. */
mpfr_srcptr run_factor(RefRun *run, int gap);

/* Notes Z_A and Z_C (content sums of exponentials) of a row whose coefficients differ by
 * gap. */
void run_note_gap(RefRun *run, int gap, mpfr_srcptr z_best, mpfr_srcptr z_rest);

/* s *= scale. */
void run_apply_scale(mpfr_ptr s, const Scale *scale, mpfr_ptr t);

/* run->delta += the sum of the bundle's heads at run->stream. */
void run_structured_bundle(RefRun *run, const Bundle *bundle);
void run_dense_bundle(RefRun *run, const Bundle *bundle);

/* One direct operation, on the stream itself. */
void run_direct(RefRun *run, const Direct *direct);

/* Columns of the dense form's stream: the layout's, and for an original one constant column of
 * ones, which its biases ride on. */
static inline size_t run_dense_width(const Layout *layout)
{
    return layout_width(layout) + (layout->bias_row == BIAS_ROW_NONE);
}

/* Does row i see row j, and with which coefficient of Omega in head h? */
static inline bool run_sees(const RefRun *run, const Score *score, size_t i, size_t j)
{
    return score_sees(&run->model->layout, score, i + FAULT("causal-off-by-one", 1, 0), j);
}

static inline int run_position(const RefRun *run, const Score *score, size_t h, size_t i, size_t j)
{
    return score_position(&run->model->layout, score, h, i, j);
}

/* The largest of row i's coefficients over the keys that it sees. */
int run_best_position(const RefRun *run, const Score *score, size_t h, size_t i);

#endif
