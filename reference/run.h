/*
 * One evaluation in progress (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_RUN_H
#define HEADPROOF_REFERENCE_RUN_H

#include "ap.h"
#include "product/product.h"
#include "product/vexp.h"
#include "reference.h"

/* Differences of Omega's coefficients within a row that a run can hold apart. */
#define RUN_MAX_GAP 16

/* Scratch of the structured form, for a block of heads side by side, head b of them in columns
 * b width, ...; of the dense form, for one head's full matrices.  The pattern is per group of keys
 * and head, or (bilinear scores) per key, of one head at a time. */
typedef struct {
    ApMat product; /* [rows, heads] x g */
    ApMat score;   /* [rows, heads] the gate a (x g + c); bilinear: the row's shift (shift.h) */
    ApMat gate;    /* [rows, heads] exp(-|gate|); bilinear: the row's sum of exponentials */
    ApMat value, mixed; /* [rows, heads * width], width a value's before its second factor */
    ApMat query, key;   /* [rows, heads * width of a score's factor] */
    ApMat group;        /* [rows, heads * 3] weight of a key: self, another token, the bias row */
    ApMat pattern;      /* [rows, rows] */
    ApMat temp;         /* [1, RUN_TEMPS] */
    ApMat q, v, xq, px; /* dense form: [width, width] twice, [rows, width] twice */
    ApMat high;         /* its scores: [1, rows + a few], q, xq and high with the bits they take */
} RunScratch;

enum { RUN_TEMPS = 9 };

/* What a thread has for itself: scratch, and what it has seen, which run_each gathers. */
typedef struct {
    ApMat temp;     /* [1, RUN_TEMPS] */
    ApMat sum;      /* [RUN_SUMS, widest value of a head, at least RUN_COLUMNS] */
    ApMat row;      /* [1, rows]: a number a key, for bilinear scores */
    ApMat rounded;  /* [1, RUN_EXPS], bits + guard: exponentials before they are rounded */
    VectorExp *exp; /* of bits, or bits + guard where run.reproducible */
    ApExp *expm1;
    mpfr_t score_max;
    double gap[RUN_MAX_GAP + 1];
    mpfr_exp_t largest;
    bool doubt; /* doubt.h */
} RunThread;

enum { RUN_SUMS = 3, RUN_COLUMNS = 32, RUN_EXPS = 64 };

/* What a run that carries e = r(T') - r(T_infinity) holds for it: change.h. */
typedef struct RunChange RunChange;

/* The evaluation of a limit that others share: tape.h. */
typedef struct RunTape RunTape;

struct RefRun {
    const Model *model;
    double omega;             /* with a change: T''s */
    bool limit;               /* Omega -> infinity */
    RunChange *change;        /* or NULL */
    RunTape *record;          /* to be filled, or NULL */
    const RunTape *tape;      /* with a change: whence the limit's evaluation comes, or NULL */
    mpfr_prec_t claimed_bits; /* what was asked for */
    mpfr_prec_t bits;         /* working precision of stream and scratch, at least that */
    RefForm form;
    ApMat stream; /* [rows, content], dense: [rows, width] */
    ApMat delta;  /* what the current sublayer adds */
    RunScratch scratch;
    ApMat factor; /* [1, RUN_MAX_GAP + 2]: exp(-Omega gap), and 0 */
    bool factor_known[RUN_MAX_GAP + 1];
    ApExp *exp;        /* the dense form's */
    RunThread *thread; /* [threads] */
    int threads;
    bool reproducible; /* the same bits in every build, on every machine: see run_open */
    bool failed;       /* memory was short; the stream is NaN */
    bool left_range;   /* MPFR's exponents were left, or a NaN made: the stream is NaN */
    bool record_gaps;  /* gap, below, is wanted */
    bool doubt;        /* doubt.h */
    mpfr_t score_max;  /* in the last layer */
    size_t layer, sublayer, block; /* that come next; blocks of heads, for tapes */
    /* For the plan: gap[k] is the largest log2(Z_A / Z_C), contents only, over all rows so far
     * whose best and second coefficients of Omega differ by k; -INFINITY when none. */
    double gap[RUN_MAX_GAP + 1];
    /* And: doubt.h. */
    double score_exponent, lost;
    mpfr_exp_t term; /* exponent of the largest number that went into the stream in this layer */
};

/* ref_run_open; reproducible: products and exponentials are computed with 64 bits more and then
 * rounded, so that (but for odds of 2^-50 each) their bits are those of exact arithmetic rounded to
 * nearest, whatever computed them. */
RefRun *run_open(const Model *model, const double *x, const double *bias_row_content, double omega,
                 mpfr_prec_t bits, RefForm form, bool reproducible)
    __attribute__((warn_unused_result));

/* Frees the scratch but for temp, for a run that has what the limit would write there from a tape. */
void run_release_scratch(RefRun *run);

/* exp(-Omega gap), gap >= 0; Omega finite, or gap 0. */
mpfr_srcptr run_decay(RefRun *run, int gap);

/* The same; in the limit 1 for gap 0, else 0. */
mpfr_srcptr run_factor(RefRun *run, int gap);

/* Notes log2(Z_A / Z_C) (content sums of exponentials), to the next whole bit above, of a row whose
 * coefficients differ by gap. */
void run_note_gap(RunThread *thread, int gap, double bits);

/* Columns of a matrix [rows, .] that are worth having at once: products gain little from more than
 * 1024, nor from more than 64 MB. */
size_t run_block_columns(size_t rows, mpfr_prec_t bits);

/* ---- thread.c ---- */

/* As many threads as OpenMP would start here.  widest: a head's widest value.  false when memory is
 * short. */
bool threads_open(RefRun *run, size_t widest, bool pattern) __attribute__((warn_unused_result));
void threads_clear(RefRun *run);

/* Before a layer, whose scores alone count. */
void threads_forget_scores(RefRun *run);
double threads_bytes(double rows, double widest, bool pattern, mpfr_prec_t bits);

/* NaN all over the stream; the same where memory is short. */
void run_spoil(RefRun *run);
void run_fail(RefRun *run);

/* work for each i < count, in any order, on all threads if `operations` in all are worth it.  Work
 * on different i touches different entries of matrices. */
typedef void RunWork(RefRun *run, RunThread *thread, const void *context, size_t i);
void run_each(RefRun *run, size_t count, size_t operations, RunWork *work, const void *context);

/* c = a b, or c += a b, with a few bits beyond c's, so that an entry is rounded about once. */
void run_product(RefRun *run, ProductView c, ProductView a, ProductView b, bool add);

/* y[i] = exp(x[i]), i < count, y of run.bits; y may be x. */
void run_exp(const RefRun *run, RunThread *thread, mpfr_ptr y, mpfr_srcptr x, size_t count);

/* s *= scale. */
void run_apply_scale(mpfr_ptr s, const Scale *scale, mpfr_ptr t);

/* run->delta += the sum of the bundle's heads at run->stream. */
void run_structured_bundle(RefRun *run, const Bundle *bundle);
void run_dense_bundle(RefRun *run, const Bundle *bundle);

/* One direct operation, on the stream itself. */
void run_direct(RefRun *run, const Direct *direct);

/* Columns of scratch.value and mixed that it takes. */
size_t direct_columns(const Direct *direct, size_t rows, mpfr_prec_t bits);

/* Columns of the dense form's stream: the layout's, and for an original one constant column of
 * ones, which its biases ride on. */
static inline size_t run_dense_width(const Layout *layout)
{
    return layout_width(layout) + (layout->bias_row == BIAS_ROW_NONE);
}

/* Does row i see row j, and with which coefficient of Omega in head h? */
static inline bool run_sees(const RefRun *run, const Score *score, size_t i, size_t j)
{
    return score_sees(&run->model->layout, score, i, j);
}

static inline int run_position(const RefRun *run, const Score *score, size_t h, size_t i, size_t j)
{
    return score_position(&run->model->layout, score, h, i, j);
}

/* The largest of row i's coefficients over the keys that it sees. */
int run_best_position(const RefRun *run, const Score *score, size_t h, size_t i);

#endif
