/*
 * The rows of a head with bilinear scores, side by side on threads: each writes its own row alone.
 */
#include "bilinear.h"
#include "bounds.h"
#include "vectors.h"

/* Numbers that are worth a parallel region. */
enum { PARALLEL_NUMBERS = 1 << 20 };

static int threads_for(const HeadAt *head)
{
    const Radius *r = head->r;
    size_t numbers = r->rows * r->rows * (head->width_k + head->width_v);
    return numbers >= PARALLEL_NUMBERS ? r->ev->workers : 1;
}

/* The blocks of rows of a head at a point; here: at x^. */
typedef struct {
    const HeadAt *head;
    const Pass *pass;
    bool here;
    double keys; /* what a key changes by at most */
} HeadRows;

/* (C21), and what the values' bias adds: no more than the bias row's weight, twice, times the
 * largest change of a score (C23). */
static void pass_row(const RowKeys *of, const HeadRows *rows, const HeadReads *radii, size_t i)
{
    const HeadAt *head = of->head;
    const Outer *outer = &head->outer;
    const Pass *pass = rows->pass;
    double *out = rows->here ? head->sums[i].here : head->sums[i].there;
    const RowSum *row = of->sum;
    size_t first = of->keys->first, count = of->keys->count;
    double q = head->queries.norm[i];
    for (size_t k = 0; k < pass->count; k++) {
        const double *score = radii[k].key + first, *value = radii[k].value + first;
        double keys = vectors()->dot(of->w, score, count),
               values = vectors()->dot(of->high, value, count);
        double own = head->q.norm * radii[k].query[i];
        double sum = row->moment * own + q * head->k.norm * keys + head->v.norm * values;
        head_add(outer->factored, &out[k], bound_up(sum));
        if (outer->bias > 0) {
            double most = vectors()->largest(of->high, score, count);
            double change = own * row->k_most + q * head->k.norm * most;
            banks_add(head->r, pass->out[k], head->bundle->value.write, i,
                      2 * row->bias_key * outer->bias * change);
        }
    }
}

/* (C22), and a bias that rides on tokens (C23). */
static void local_row(const RowKeys *of, size_t i)
{
    Radius *r = of->head->r;
    HeadSums *sums = &of->head->sums[i];
    const Outer *outer = &of->head->outer;
    const RowSum *row = of->sum;
    size_t count = of->keys->count;
    double roundings = 2 * (double)r->rows + 10 + radius_product(r->rows);
    double size = vectors()->dot(of->high, of->v.norm, count);
    double own = vectors()->dot(of->high, of->v.rounding, count);
    double local = row->lambda * row->w + roundings * size + own;
    head_add(outer->factored, &sums->local, bound_up(local));
    head_add(outer->factored, &sums->size, bound_up(size));
    if (outer->bias > 0) {
        Columns write = of->head->bundle->value.write;
        double weights = vectors()->sum(of->high, count);
        double bias = outer->bias * (2 * row->bias_key * row->lambda + roundings * weights);
        banks_add(r, r->local, write, i, bias);
        banks_add(r, r->size, write, i, outer->bias * weights);
    }
}

/* How far a row's scores may be off: |q| |dk| + |dq| |k| and their rounding (C34). */
static double score_row(const HeadAt *head, const RowSum *row, double keys, size_t i)
{
    double query = head->q.norm *
                   banks_in(head->r, head->r->rho, score_query_columns(&head->bundle->score), i);
    double off = head->queries.norm[i] * keys + query * row->k_most + row->lambda;
    return bound_up(off);
}

/* A thread's maxima. */
typedef struct {
    HeadBlock block;
    HeadReads radii[PASS_RADII];
    HeadChange change;
    bool far;
    double score;
} HeadThread;

static void thread_open(HeadThread *thread, const HeadRows *of)
{
    *thread = (HeadThread){0};
    head_block_open(&thread->block, of->head);
    for (size_t k = 0; k < of->pass->count; k++) {
        thread->radii[k] = head_reads(of->head, of->pass->radius[k]);
    }
    if (of->here && of->head->r->change) {
        head_change_open(&thread->change, of->head);
    }
}

static void thread_clear(HeadThread *thread)
{
    head_block_clear(&thread->block);
    for (size_t k = 0; k < PASS_RADII; k++) {
        head_reads_clear(&thread->radii[k]);
    }
    head_change_clear(&thread->change);
}

static void do_row(HeadThread *thread, const HeadRows *of, size_t i)
{
    RowKeys row = head_block_row(&thread->block, i);
    pass_row(&row, of, thread->radii, i);
    if (of->here) {
        local_row(&row, i);
        thread->score = fmax(thread->score, score_row(of->head, row.sum, of->keys, i));
        if (of->head->r->change && !head_change_row(&thread->change, &row, i)) {
            thread->far = true;
        }
    }
}

void bilinear_rows(const HeadAt *head, bool here)
{
    Radius *r = head->r;
    const HeadRows of = {head, here ? &r->here : &r->there, here,
                         head->k.norm * banks_largest(r, r->rho, head->bundle->score.read)};
    bool far = false;
    double score = 0;
#pragma omp parallel num_threads(threads_for(head)) reduction(|| : far) reduction(max : score)
    {
        HeadThread thread;
        thread_open(&thread, &of);
#pragma omp for schedule(dynamic)
        for (size_t b = 0; b < row_blocks(r, HEAD_ROWS); b++) {
            RowRange rows = row_range(r, HEAD_ROWS, b);
            head_block_set(&thread.block, rows);
            for (size_t i = rows.first; i < rows.end; i++) {
                do_row(&thread, &of, i);
            }
        }
        far = thread.far;
        score = thread.score;
        thread_clear(&thread);
    }
    r->far = r->far || far;
    r->score = bound_max(r->score, score);
}
