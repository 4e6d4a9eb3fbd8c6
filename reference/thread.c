/*
 * Threads within a run, products and exponentials.
 *
 * What threads do never depends on how many there are: products of integers, rows or heads that are
 * computed alone, and maxima.
 */
#include "change.h"
#include "run.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* Guard bits: with 6 a product of k = 3072 terms is within a unit or so of rounding once, as good
 * as the sum of k roundings that a plan's growth is measured with. */
enum { GUARD = 6, GUARD_REPRODUCIBLE = 64 };

/* Operations on entries that are worth a parallel region. */
enum { PARALLEL_OPERATIONS = 1 << 16 };

static bool thread_open(RunThread *thread, const RefRun *run, size_t widest, bool pattern)
{
    mpfr_prec_t rounded = run->bits + GUARD_REPRODUCIBLE;
    mpfr_init2(thread->score_max, REF_CELL_BITS);
    mpfr_set_zero(thread->score_max, 1);
    for (size_t k = 0; k <= RUN_MAX_GAP; k++) {
        thread->gap[k] = -INFINITY;
    }
    thread->largest = mpfr_get_emin();
    thread->exp = vexp_create(run->reproducible ? rounded : run->bits, false);
    thread->expm1 = ap_exp_create(run->reproducible);
    return thread->exp != NULL && thread->expm1 != NULL &&
           ap_init(&thread->temp, 1, RUN_TEMPS, run->bits) &&
           ap_init(&thread->sum, RUN_SUMS, widest > RUN_COLUMNS ? widest : RUN_COLUMNS,
                   run->bits) &&
           ap_init(&thread->row, 1, pattern ? run->stream.rows : 0, run->bits) &&
           ap_init(&thread->rounded, 1, run->reproducible ? RUN_EXPS : 0, rounded);
}

bool threads_open(RefRun *run, size_t widest, bool pattern)
{
    run->threads = omp_get_max_threads();
    run->thread = calloc((size_t)run->threads, sizeof *run->thread);
    if (run->thread == NULL) {
        run->threads = 0;
        return false;
    }
    bool ok = true;
    for (int t = 0; t < run->threads; t++) {
        ok = thread_open(&run->thread[t], run, widest, pattern) && ok;
    }
    return ok;
}

void threads_clear(RefRun *run)
{
    for (int t = 0; t < run->threads; t++) {
        RunThread *thread = &run->thread[t];
        ap_clear(&thread->temp);
        ap_clear(&thread->sum);
        ap_clear(&thread->row);
        ap_clear(&thread->rounded);
        vexp_free(thread->exp);
        ap_exp_free(thread->expm1);
        mpfr_clear(thread->score_max);
    }
    free(run->thread);
}

double threads_bytes(double rows, double widest, bool pattern, mpfr_prec_t bits)
{
    return omp_get_max_threads() *
           ap_bytes(1, RUN_TEMPS + RUN_SUMS * fmax(widest, RUN_COLUMNS) + (pattern ? rows : 0),
                    bits);
}

/* What the threads have seen. */
static void gather(RefRun *run)
{
    for (int t = 0; t < run->threads; t++) {
        RunThread *thread = &run->thread[t];
        if (mpfr_cmp(thread->score_max, run->score_max) > 0) {
            mpfr_set(run->score_max, thread->score_max, MPFR_RNDN);
        }
        for (size_t k = 0; k <= RUN_MAX_GAP; k++) {
            run->gap[k] = fmax(run->gap[k], thread->gap[k]);
        }
        run->doubt = run->doubt || thread->doubt;
    }
}

void threads_forget_scores(RefRun *run)
{
    mpfr_set_zero(run->score_max, 1);
    for (int t = 0; t < run->threads; t++) {
        mpfr_set_zero(run->thread[t].score_max, 1);
    }
}

void run_each(RefRun *run, size_t count, size_t operations, RunWork *work, const void *context)
{
    if (run->threads == 1 || operations < PARALLEL_OPERATIONS) {
        for (size_t i = 0; i < count; i++) {
            work(run, &run->thread[0], context, i);
        }
        gather(run);
        return;
    }
    for (int gap = 0; gap <= RUN_MAX_GAP && !isinf(run->omega); gap++) {
        (void)run_decay(run, gap); /* threads only read what is known */
    }
    (void)run_decay(run, 0);
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_flags_t flags = 0;
#pragma omp parallel num_threads(run->threads) reduction(| : flags)
    {
        int t = omp_get_thread_num();
        ap_thread_enter(emin, emax);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < count; i++) {
            work(run, &run->thread[t], context, i);
        }
        flags = ap_thread_leave(t != 0);
    }
    mpfr_flags_set(flags);
    gather(run);
}

void run_spoil(RefRun *run)
{
    for (size_t i = 0; i < run->stream.rows * run->stream.columns; i++) {
        mpfr_set_nan(run->stream.entry + i);
        if (run->change != NULL) {
            mpfr_set_nan(run->change->stream.entry + i);
            mpfr_set_nan(run->change->sum.entry + i);
        }
    }
}

void run_fail(RefRun *run)
{
    run->failed = true;
    run_spoil(run);
}

void run_product(RefRun *run, ProductView c, ProductView a, ProductView b, bool add)
{
    bool large = c.rows * c.columns >= PARALLEL_OPERATIONS / (a.columns + 1);
    ProductOptions options = {.add = add,
                              .guard = run->reproducible ? GUARD_REPRODUCIBLE : GUARD,
                              .threads = large ? run->threads : 1};
    if (!run->failed && !product_mul(c, a, b, &options, NULL)) {
        run_fail(run);
    }
}

void run_exp(const RefRun *run, RunThread *thread, mpfr_ptr y, mpfr_srcptr x, size_t count)
{
    if (!run->reproducible) {
        vexp(thread->exp, y, x, count);
        return;
    }
    for (size_t i = 0; i < count; i += RUN_EXPS) {
        size_t some = count - i < RUN_EXPS ? count - i : RUN_EXPS;
        vexp(thread->exp, thread->rounded.entry, x + i, some);
        for (size_t j = 0; j < some; j++) {
            mpfr_set(y + i + j, thread->rounded.entry + j, MPFR_RNDN);
        }
    }
}
