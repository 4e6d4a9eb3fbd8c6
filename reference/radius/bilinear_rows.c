/*
 * The rows of a head with bilinear scores, side by side on threads: each writes its own row alone.
 */
#include "bilinear.h"
#include "bounds.h"
#include "vectors.h"

/* The blocks of rows of a head at a point; here: at x^. */
typedef struct {
    const HeadAt *head;
    const Pass *pass;
    bool here;
    double keys; /* what a key changes by at most */
    HeadReads radii[PASS_RADII];
    HeadChange change;
} HeadRows;

/* (C21), and what the values' bias adds: no more than the bias row's weight, twice, times the
 * largest change of a score (C23). */
static void pass_row(const RowKeys *of, const HeadRows *rows, size_t i)
{
    const HeadAt *head = of->head;
    const Outer *outer = &head->outer;
    const Pass *pass = rows->pass;
    double *out = rows->here ? head->sums[i].here : head->sums[i].there;
    const RowSum *row = of->sum;
    size_t first = of->keys->first, count = of->keys->count;
    double q = head->queries.norm[i];
    for (size_t k = 0; k < pass->count; k++) {
        const HeadReads *radii = &rows->radii[k];
        const double *score = radii->key + first, *value = radii->value + first;
        double keys = vectors()->dot(of->w, score, count),
               values = vectors()->dot(of->high, value, count);
        double own = head->q.norm * radii->query[i];
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

static void do_block(Worker *worker, const void *context, size_t b)
{
    (void)worker;
    const HeadRows *of = context;
    const HeadAt *head = of->head;
    HeadBlock block;
    head_block_open(&block, head);
    head_block_set(&block, row_range(head->r, HEAD_ROWS, b));
    for (size_t i = block.rows.first; i < block.rows.end; i++) {
        HeadSums *sums = &head->sums[i];
        RowKeys row = head_block_row(&block, i);
        pass_row(&row, of, i);
        if (of->here) {
            local_row(&row, i);
            sums->score = bound_max(sums->score, score_row(head, row.sum, of->keys, i));
        }
        if (of->here && head->r->change) {
            head_change_row(&of->change, &block, &row, i);
        }
    }
    head_block_clear(&block);
}

void bilinear_rows(const HeadAt *head, bool here)
{
    Radius *r = head->r;
    bool change = here && r->change;
    HeadRows of = {.head = head, .pass = here ? &r->here : &r->there, .here = here};
    of.keys = head->k.norm * banks_largest(r, r->rho, head->bundle->score.read);
    for (size_t k = 0; k < of.pass->count; k++) {
        of.radii[k] = head_reads(head, of.pass->radius[k]);
    }
    if (change) {
        head_change_open(&of.change, head);
    }
    evaluator_each(r->ev, row_blocks(r, HEAD_ROWS),
                   r->rows * r->rows * (head->width_k + head->width_v), do_block, &of);
    for (size_t k = 0; k < of.pass->count; k++) {
        head_reads_clear(&of.radii[k]);
    }
    if (change) {
        head_change_clear(&of.change);
    }
}
