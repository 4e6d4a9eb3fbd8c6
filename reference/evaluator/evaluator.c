/*
 * The arithmetic of one evaluation: what its threads have, what they have seen, and the products
 * and exponentials at its precision.
 */
#include "evaluator.h"

#include "../../memory/need.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* Operations on entries that are worth a parallel region. */
enum { PARALLEL_OPERATIONS = 1 << 16 };

/* Bits of rough products, at least. */
enum { ROUGH_LEAST = 64 };

/* The matrices of a worker, of its evaluator's bits. */
enum { WORKER_MATS = 4 };

static void worker_list(Worker *worker, EvaluatorShape shape, ApExtent list[WORKER_MATS])
{
    size_t sum = shape.sum > WORKER_COLUMNS ? shape.sum : WORKER_COLUMNS;
    list[0] = (ApExtent){&worker->temp, 1, WORKER_TEMPS};
    list[1] = (ApExtent){&worker->sum, WORKER_SUMS, sum};
    list[2] = (ApExtent){&worker->row, WORKER_ROWS, shape.row};
    list[3] = (ApExtent){&worker->lane, WORKER_LANES, WORKER_COLUMNS};
}

static void score_init(mpfr_ptr score)
{
    mpfr_init2(score, SEEN_BITS);
    mpfr_set_zero(score, 1);
}

static void worker_init(Worker *worker, EvaluatorShape shape, const Evaluator *ev)
{
    ApExtent list[WORKER_MATS];
    worker_list(worker, shape, list);
    score_init(worker->score_max);
    worker->alone = ap_exp_create(ev->bits);
    worker->exp = vexp_create(ev->bits, worker->alone);
    worker->gap = need_zeros(shape.row + 1, sizeof *worker->gap);
    ap_init_list(list, WORKER_MATS, ev->bits);
}

void evaluator_init(Evaluator *ev, EvaluatorShape shape, mpfr_prec_t bits, double omega)
{
    *ev = (Evaluator){.bits = bits, .omega = omega, .workers = omp_get_max_threads()};
    score_init(ev->score_max);
    ev->worker = need_zeros((size_t)ev->workers, sizeof *ev->worker);
    ap_init(&ev->factor, 1, OMEGA_MAX_GAP + 1, bits);
    for (int t = 0; t < ev->workers; t++) {
        worker_init(&ev->worker[t], shape, ev);
    }
}

void evaluator_clear(Evaluator *ev)
{
    for (int t = 0; t < ev->workers; t++) {
        Worker *worker = &ev->worker[t];
        ApExtent list[WORKER_MATS];
        worker_list(worker, (EvaluatorShape){0}, list);
        ap_clear_list(list, WORKER_MATS);
        vexp_free(worker->exp);
        ap_exp_free(worker->alone);
        free(worker->gap);
        mpfr_clear(worker->score_max);
    }
    free(ev->worker);
    ap_clear(&ev->factor);
    mpfr_clear(ev->score_max);
}

double evaluator_bytes(EvaluatorShape shape, mpfr_prec_t bits)
{
    Worker worker;
    ApExtent list[WORKER_MATS];
    worker_list(&worker, shape, list);
    return omp_get_max_threads() * ap_bytes_list(list, WORKER_MATS, bits);
}

/* The largest score of all workers. */
static void gather(Evaluator *ev)
{
    for (int t = 0; t < ev->workers; t++) {
        if (mpfr_cmp(ev->worker[t].score_max, ev->score_max) > 0) {
            mpfr_set(ev->score_max, ev->worker[t].score_max, MPFR_RNDN);
        }
    }
}

void evaluator_forget_scores(Evaluator *ev)
{
    mpfr_set_zero(ev->score_max, 1);
    for (int t = 0; t < ev->workers; t++) {
        mpfr_set_zero(ev->worker[t].score_max, 1);
    }
}

void evaluator_each(Evaluator *ev, size_t count, size_t operations, EvaluatorWork *work,
                    const void *context)
{
    for (int t = 0; t < ev->workers; t++) {
        ev->worker[t].ev = ev;
    }
    if (ev->workers == 1 || operations < PARALLEL_OPERATIONS) {
        for (size_t i = 0; i < count; i++) {
            work(&ev->worker[0], context, i);
        }
        gather(ev);
        return;
    }
    for (int gap = 0; gap <= OMEGA_MAX_GAP && !isinf(ev->omega); gap++) {
        (void)evaluator_decay(ev, gap); /* threads only read what is known */
    }
    (void)evaluator_decay(ev, 0);
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_flags_t flags = 0;
#pragma omp parallel num_threads(ev->workers) reduction(| : flags)
    {
        int t = omp_get_thread_num();
        ap_thread_enter(emin, emax);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < count; i++) {
            work(&ev->worker[t], context, i);
        }
        flags = ap_thread_leave(t != 0);
    }
    mpfr_flags_set(flags);
    gather(ev);
}

/* Context of sum_row. */
typedef struct {
    ApMat *y;
    const ApMat *a, *b;
    size_t first, count;
} Sum;

static void sum_row(Worker *worker, const void *context, size_t row)
{
    const Sum *sum = context;
    (void)worker;
    lanes_add(ap_at(sum->y, row, sum->first), numbers_row(ap_at(sum->a, row, sum->first)),
              numbers_row(ap_at(sum->b, row, sum->first)), sum->count);
}

void evaluator_add(Evaluator *ev, ApMat *y, const ApMat *a, const ApMat *b, size_t first,
                   size_t count)
{
    Sum sum = {y, a, b, first, count};
    evaluator_each(ev, y->rows, y->rows * count, sum_row, &sum);
}

static void multiply(Evaluator *ev, ProductView c, ProductView a, ProductView b,
                     ProductOptions options)
{
    bool large = c.rows * c.columns >= PARALLEL_OPERATIONS / (a.columns + 1);
    options.threads = large ? ev->workers : 1;
    options.weights = ev->weights;
    product_mul(c, a, b, &options, NULL);
}

void evaluator_product(Evaluator *ev, ProductView c, ProductView a, ProductView b, bool add)
{
    multiply(ev, c, a, b, (ProductOptions){.add = add, .guard = EVALUATOR_GUARD});
}

void evaluator_rough_product(Evaluator *ev, ProductView c, ProductView a, ProductView b, int gap)
{
    mpfr_prec_t fewer = ev->bits - evaluator_rough_bits(ev, gap);
    multiply(ev, c, a, b, (ProductOptions){.guard = -(int)fewer});
}

mpfr_prec_t evaluator_rough_bits(const Evaluator *ev, int gap)
{
    const double log2_e = 1.4426950408889635;
    double least = fmin(ROUGH_LEAST, (double)ev->bits);
    return (mpfr_prec_t)fmax(least, (double)ev->bits - floor(gap * ev->omega * log2_e));
}

/* Terms of a series that are worth more than a call. */
enum { SERIES_TERMS = 8 };

/* Leading numbers that a series of few terms does: zeros, and those with a largest exponent -k, k >
 * bits / SERIES_TERMS, for the precision and two bits.  terms: above bits / k; 0: all are zeros. */
static size_t series_run(mpfr_srcptr x, size_t count, mpfr_prec_t bits, unsigned long *terms)
{
    mpfr_exp_t k = MPFR_PREC_MAX;
    size_t i = 0;
    bool any = false;
    for (; i < count; i++) {
        bool regular = mpfr_regular_p(x + i) != 0;
        if (!regular && !mpfr_zero_p(x + i)) {
            break;
        }
        mpfr_exp_t here = regular ? -mpfr_get_exp(x + i) : k;
        if (here <= bits / SERIES_TERMS) {
            break;
        }
        any = any || regular;
        k = here < k ? here : k;
    }
    *terms = any ? (unsigned long)(bits / k) + 1 : 0;
    return i;
}

/* m = x (1 + x/2 (1 + x/3 (1 + ...))) to n terms, g = 1 + m.  For |x| < 2^-k, n k > bits, what is
 * left out is below 2^-(precision + 1), relative; a bracket's rounding errors, and those of the
 * inverses, enter the next one multiplied by x / i < 2^-k, so that two roundings and a little
 * remain. */
static void series_row(Worker *worker, mpfr_ptr m, mpfr_ptr g, mpfr_srcptr x, size_t count,
                       unsigned long n)
{
    mpfr_ptr one = ap_at(&worker->temp, 0, WORKER_TEMPS - 1),
             inverse = ap_at(&worker->temp, 0, WORKER_TEMPS - 2);
    mpfr_set_ui(one, 1, MPFR_RNDN);
    for (size_t j = 0; n < 2 && j < count; j++) {
        limbs_set(m + j, x + j);
    }
    for (unsigned long i = n; i > 1; i--) {
        mpfr_set_ui(inverse, 1, MPFR_RNDN);
        mpfr_div_ui(inverse, inverse, i, MPFR_RNDN);
        if (i == n) {
            lanes_mul(m, numbers_row(x), numbers_same(inverse), count);
        } else {
            lanes_mul(m, numbers_row(m), numbers_row(x), count);
            lanes_mul(m, numbers_row(m), numbers_same(inverse), count);
        }
        lanes_add(m, numbers_row(m), numbers_same(one), count);
    }
    if (n > 1) {
        lanes_mul(m, numbers_row(m), numbers_row(x), count);
    }
    lanes_add(g, numbers_row(m), numbers_same(one), count);
}

void evaluator_exponentials(Worker *worker, mpfr_ptr m, mpfr_ptr g, mpfr_srcptr x, size_t count)
{
    for (size_t i = 0; i < count;) {
        unsigned long terms = 0;
        size_t run = series_run(x + i, count - i, mpfr_get_prec(m) + 2, &terms);
        if (run > 0) {
            series_row(worker, m + i, g + i, x + i, run, terms);
            i += run;
        } else {
            ap_expm1(worker->alone, m + i, g + i, x + i);
            i++;
        }
    }
}

mpfr_srcptr evaluator_decay(Evaluator *ev, int gap)
{
    if (gap < 0 || gap > OMEGA_MAX_GAP) {
        fprintf(stderr, "headproof: bug: %s:%d: coefficients of Omega differ by %d\n", __FILE__,
                __LINE__, gap);
        abort();
    }
    mpfr_ptr factor = ap_at(&ev->factor, 0, (size_t)gap);
    if (!ev->factor_known[gap]) {
        if (gap == 0) {
            mpfr_set_ui(factor, 1, MPFR_RNDN);
        } else {
            mpfr_t exponent; /* gap * omega, exactly */
            mpfr_init2(exponent, 64);
            mpfr_set_d(exponent, ev->omega, MPFR_RNDN);
            mpfr_mul_si(exponent, exponent, -gap, MPFR_RNDN);
            mpfr_exp(factor, exponent, MPFR_RNDN);
            mpfr_clear(exponent);
        }
        ev->factor_known[gap] = true;
    }
    return factor;
}

size_t evaluator_block_columns(size_t rows, mpfr_prec_t bits)
{
    const double most = 1024, bytes = 0x1p26;
    double columns = bytes / ap_bytes((double)rows, 1, bits);
    return columns < 1 ? 1 : (size_t)(columns < most ? columns : most);
}

/* ---- The shift of a softmax ------------------------------------------------------------------ */

/* t = d - Omega gap.  Where they are not of one size nothing cancels; where they are, what d has
 * beyond its own last bit is zeros: bits and Omega's exponent hold both. */
static void less_omega(const Evaluator *ev, mpfr_ptr t, mpfr_srcptr d, int gap)
{
    mpfr_t omega; /* gap * omega, exactly */
    mpfr_init2(omega, 64);
    mpfr_set_d(omega, ev->omega, MPFR_RNDN);
    mpfr_mul_si(omega, omega, gap, MPFR_RNDN);
    mpfr_sub(t, d, omega, MPFR_RNDN);
    mpfr_clear(omega);
}

static mpfr_prec_t bits_beside_omega(const Evaluator *ev)
{
    int exponent;
    (void)frexp(ev->omega, &exponent);
    return ev->bits + 64 + (exponent > 0 ? exponent : 0);
}

void shift_exp(Worker *worker, mpfr_ptr y, mpfr_srcptr d, int gap)
{
    mpfr_t t;
    if (gap == 0 || shift_is_near(d)) {
        vexp(worker->exp, y, d, 1);
        if (gap != 0) {
            mpfr_mul(y, y, evaluator_decay(worker->ev, gap), MPFR_RNDN);
        }
        return;
    }
    mpfr_init2(t, bits_beside_omega(worker->ev));
    less_omega(worker->ev, t, d, gap);
    mpfr_exp(y, t, MPFR_RNDN);
    mpfr_clear(t);
}

void shift_raise(const Evaluator *ev, mpfr_ptr shift, mpfr_srcptr s, int gap)
{
    mpfr_t t;
    if (mpfr_cmp(s, shift) <= 0) {
        return; /* Omega only takes away */
    }
    mpfr_init2(t, ev->bits);
    if (gap == 0) {
        mpfr_set(t, s, MPFR_RNDN);
    } else {
        less_omega(ev, t, s, gap);
    }
    if (mpfr_cmp(t, shift) > 0) {
        mpfr_set(shift, t, MPFR_RNDN);
    }
    mpfr_clear(t);
}
