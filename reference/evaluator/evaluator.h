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

/* Bits of the largest score. */
enum { SEEN_BITS = 192 };

enum { WORKER_TEMPS = 11, WORKER_SUMS = 3, WORKER_ROWS = 2, WORKER_LANES = 4, WORKER_COLUMNS = 32 };

struct Evaluator;

/* A thread's own scratch. */
typedef struct {
    struct Evaluator *ev; /* whose it is, while there is work */
    ApMat temp;           /* [1, WORKER_TEMPS]; the last two are the evaluator's */
    ApMat sum;            /* [WORKER_SUMS, EvaluatorShape.sum] */
    ApMat lane;           /* [WORKER_LANES, WORKER_COLUMNS] */
    ApMat row;            /* [WORKER_ROWS, EvaluatorShape.row] */
    int *gap;             /* [EvaluatorShape.row] of a row's keys (heads_gaps) */
    VectorExp *exp;
    ApExp *alone;     /* of single numbers */
    mpfr_t score_max; /* the largest |content score| in this layer, SEEN_BITS */
} Worker;

typedef struct Evaluator {
    mpfr_prec_t bits;        /* of every matrix */
    double omega;            /* of e^(-Omega gap); INFINITY: only gap 0 is asked for */
    ProductWeights *weights; /* where weights are kept that many evaluations share, or NULL */
    struct NormTable *norms; /* where norms of weights are kept for radii, or NULL */
    bool coarse;             /* of large weights the Frobenius norm serves for the 2-norm */
    ApMat factor;            /* [1, OMEGA_MAX_GAP + 1]: e^(-Omega gap) */
    bool factor_known[OMEGA_MAX_GAP + 1];
    Worker *worker; /* [workers] */
    int workers;
    mpfr_t score_max; /* the largest of all of them */
} Evaluator;

/* Columns of what a worker has: sums, at least WORKER_COLUMNS, and a number a key. */
typedef struct {
    size_t sum, row;
} EvaluatorShape;

/* With as many threads as OpenMP would start here. */
void evaluator_init(Evaluator *ev, EvaluatorShape shape, mpfr_prec_t bits, double omega);
void evaluator_clear(Evaluator *ev);
double evaluator_bytes(EvaluatorShape shape, mpfr_prec_t bits);

/* Before a layer, whose scores alone count. */
void evaluator_forget_scores(Evaluator *ev);

/* work for each i < count, in any order, on all threads if `operations` in all are worth it.  Work
 * on different i touches different entries of matrices. */
typedef void EvaluatorWork(Worker *worker, const void *context, size_t i);
void evaluator_each(Evaluator *ev, size_t count, size_t operations, EvaluatorWork *work,
                    const void *context);

/* y = a + b, entry by entry, in `count` columns of all rows.  y may be a or b. */
void evaluator_add(Evaluator *ev, ApMat *y, const ApMat *a, const ApMat *b, size_t first,
                   size_t count);

/* Bits beyond its result's that a product keeps until it is stored, at least. */
enum { EVALUATOR_GUARD = 6 };

/* c = a b, or c += a b, with those bits, so that an entry is rounded about once. */
void evaluator_product(Evaluator *ev, ProductView c, ProductView a, ProductView b, bool add);

/* c = a b, scores of keys that weigh e^(-Omega gap) or so: as many bits fewer than c has, but
 * enough for twelve digits of what those keys add. */
void evaluator_rough_product(Evaluator *ev, ProductView c, ProductView a, ProductView b, int gap);
mpfr_prec_t evaluator_rough_bits(const Evaluator *ev, int gap);

/* m[i] = expm1(x[i]) and g[i] = e^x[i], i < count, either with all its bits: rows of matrices.  g
 * may be x, m may not.  expm1 is within 4 2^-precision, relatively, however small x is. */
void evaluator_exponentials(Worker *worker, mpfr_ptr m, mpfr_ptr g, mpfr_srcptr x, size_t count);

/* e^(-Omega gap), gap >= 0; Omega finite, or gap 0. */
mpfr_srcptr evaluator_decay(Evaluator *ev, int gap);

/* Columns of a matrix [rows, .] that are worth having at once: products gain little from more than
 * 1024, nor from more than 64 MB. */
size_t evaluator_block_columns(size_t rows, mpfr_prec_t bits);

/* ---- Exponentials of scores of any size ------------------------------------------------------ */

/* A softmax does not change when one number is subtracted from all scores of its row.  Less the
 * row's largest, every exponential is at most 1, and what leaves MPFR's range below is too small to
 * matter beside the largest, which is 1. */

/* Is |x| so small that exponentials of a few such numbers, and their products, are in MPFR's
 * range, which ends at e^(3.2e18)?  Such an exponent is far from that, even times OMEGA_MAX_GAP. */
enum { SHIFT_NEAR_EXPONENT = 40 };
static inline bool shift_is_near(mpfr_srcptr x)
{
    return mpfr_zero_p(x) || (mpfr_regular_p(x) && mpfr_get_exp(x) <= SHIFT_NEAR_EXPONENT);
}

/* y = e^(d - Omega gap) for a score's distance d from its row's shift: two factors where both are
 * in MPFR's range, so that no sum ever holds Omega; else by their exponent, with as many bits as
 * Omega takes.  y is not d. */
void shift_exp(Worker *worker, mpfr_ptr y, mpfr_srcptr d, int gap);

/* shift = max(shift, s - Omega gap) */
void shift_raise(const Evaluator *ev, mpfr_ptr shift, mpfr_srcptr s, int gap);

#endif
