/*
 * The arithmetic of one evaluation (private to reference/): its precision, its threads, and with
 * them exponentials, the factors e^(-Omega gap) and products of matrices.  No heads, no streams and
 * no layers are known here.
 *
 * What threads do never depends on how many there are: products of integers, rows or columns that
 * are computed alone, and maxima.
 */
#ifndef HEADPROOF_REFERENCE_EVALUATOR_EVALUATOR_H
#define HEADPROOF_REFERENCE_EVALUATOR_EVALUATOR_H

#include "../numbers/ap.h"
#include "../product/lanes.h"
#include "../product/product.h"
#include "../product/vexp.h"

/* Differences of Omega's coefficients within a row that can be held apart. */
#define OMEGA_MAX_GAP 16

/* Maxima of scores and of their changes, over all rows so far. */
typedef struct {
    mpfr_t score_max; /* the largest |content score| in this layer, SEEN_BITS */
    /* For the plan: gap[k] is the largest log2(Z_A / Z_C), contents only, of rows whose best and
     * second coefficients of Omega differ by k; -INFINITY when there is none. */
    double gap[OMEGA_MAX_GAP + 1];
    mpfr_exp_t change; /* exponent of the largest |ds| and r */
    mpfr_exp_t fell;   /* most bits by which sqrt(s') of a norm fell short of e's entries */
    bool doubt;        /* doubt.h */
} Seen;

enum { SEEN_BITS = 192 };

enum {
    WORKER_TEMPS = 11,
    WORKER_SUMS = 3,
    WORKER_ROWS = 2,
    WORKER_LANES = 4,
    WORKER_COLUMNS = 32,
    WORKER_EXPS = 64
};

/* A thread's own scratch. */
typedef struct {
    ApMat temp;     /* [1, WORKER_TEMPS]; the last two are the evaluator's */
    ApMat sum;      /* [WORKER_SUMS, EvaluatorShape.sum] */
    ApMat lane;     /* [WORKER_LANES, WORKER_COLUMNS] */
    ApMat row;      /* [WORKER_ROWS, EvaluatorShape.row] */
    int *gap;       /* [EvaluatorShape.row] of a row's keys (heads_gaps) */
    ApMat rounded;  /* [1, WORKER_EXPS], bits + guard: exponentials before they are rounded */
    VectorExp *exp; /* of bits, or bits + guard where the evaluator is reproducible */
    ApExp *expm1;
    Seen seen;
} Worker;

typedef struct {
    mpfr_prec_t bits;        /* of every matrix */
    double omega;            /* of e^(-Omega gap); INFINITY: only gap 0 is asked for */
    bool reproducible;       /* the same bits in every build, on every machine: see run_open */
    bool failed;             /* memory was short: nothing that was evaluated is to be believed */
    bool observed;           /* a plan looks at what is seen: gap and doubt are wanted */
    ProductWeights *weights; /* where weights are kept that many evaluations share, or NULL */
    struct NormTable *norms; /* where norms of weights are kept for radii, or NULL */
    /* doubt.h: no term of the scores at hand is as large as 2^score_exponent; bits that the stream
     * had lost before this layer. */
    mpfr_exp_t score_exponent, lost;
    mpfr_exp_t norm_lost; /* where observed: bits more that a norm of this layer lost, at worst */
    ApMat factor;         /* [1, OMEGA_MAX_GAP + 1]: e^(-Omega gap) */
    bool factor_known[OMEGA_MAX_GAP + 1];
    Worker *worker; /* [workers] */
    int workers;
    Seen seen; /* what all of them have seen */
} Evaluator;

/* Columns of what a worker has: sums, at least WORKER_COLUMNS, and a number a key. */
typedef struct {
    size_t sum, row;
} EvaluatorShape;

/* With as many threads as OpenMP would start here.  reproducible: products and exponentials are
 * computed with 64 bits more and then rounded.  false when memory is short; clear it even
 * so. */
bool evaluator_init(Evaluator *ev, EvaluatorShape shape, mpfr_prec_t bits, double omega,
                    bool reproducible) __attribute__((warn_unused_result));
void evaluator_clear(Evaluator *ev);
double evaluator_bytes(EvaluatorShape shape, mpfr_prec_t bits);

/* Before a layer, whose scores alone count. */
void evaluator_forget_scores(Evaluator *ev);

/* work for each i < count, in any order, on all threads if `operations` in all are worth it.  Work
 * on different i touches different entries of matrices. */
typedef void EvaluatorWork(Evaluator *ev, Worker *worker, const void *context, size_t i);
void evaluator_each(Evaluator *ev, size_t count, size_t operations, EvaluatorWork *work,
                    const void *context);

/* y = a + b, entry by entry: of one shape.  y may be a or b. */
void evaluator_add(Evaluator *ev, ApMat *y, const ApMat *a, const ApMat *b);

/* Bits beyond its result's that a product keeps until it is stored, at least. */
enum { EVALUATOR_GUARD = 6 };

/* c = a b, or c += a b, with those bits, so that an entry is rounded about once. */
void evaluator_product(Evaluator *ev, ProductView c, ProductView a, ProductView b, bool add);

/* y[i] = e^(x[i]), i < count, y of ev->bits; y may be x. */
void evaluator_exp(const Evaluator *ev, Worker *worker, mpfr_ptr y, mpfr_srcptr x, size_t count);

/* m[i] = expm1(x[i]) and g[i] = e^x[i], i < count, either with all its bits: rows of matrices.  g
 * may be x, m may not.  expm1 is within 4 2^-precision, relatively, however small x is. */
void evaluator_exponentials(const Evaluator *ev, Worker *worker, mpfr_ptr m, mpfr_ptr g,
                            mpfr_srcptr x, size_t count);

/* e^(-Omega gap), gap >= 0; Omega finite, or gap 0. */
mpfr_srcptr evaluator_decay(Evaluator *ev, int gap);

/* Notes log2(Z_A / Z_C) (content sums of exponentials), to the next whole bit above, of a row whose
 * coefficients differ by gap. */
void worker_note_gap(Worker *worker, int gap, double bits);

/* Notes a |ds| or r; and a change of a norm's row as part of sqrt(s), given by exponents. */
static inline void worker_note_change(Worker *worker, mpfr_srcptr d)
{
    if (mpfr_regular_p(d) && mpfr_get_exp(d) > worker->seen.change) {
        worker->seen.change = mpfr_get_exp(d);
    }
}
void worker_note_part(Worker *worker, mpfr_exp_t change, mpfr_exp_t scale);

/* Notes how far sqrt(s') of a row fell short of an entry of that exponent. */
void worker_note_fall(Worker *worker, mpfr_exp_t entry, mpfr_exp_t scale);

/* The same of an r, which is not 0: one that looks so has left MPFR's range, and tells nothing of
 * other Omegas. */
void worker_note_leak(Worker *worker, mpfr_srcptr r);

/* Columns of a matrix [rows, .] that are worth having at once: products gain little from more than
 * 1024, nor from more than 64 MB. */
size_t evaluator_block_columns(size_t rows, mpfr_prec_t bits);

#endif
