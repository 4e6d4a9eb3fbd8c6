/*
 * The rows of a head with bilinear scores, side by side on threads: each writes its own row alone.
 */
#include "bilinear_rows.h"
#include "bilinear.h"
#include "bilinear_change.h"
#include "bilinear_row.h"
#include "bounds.h"

#include <omp.h>
#include <stdlib.h>

/* Numbers that are worth a parallel region. */
enum { PARALLEL_NUMBERS = 1 << 20 };

/* What a thread has for itself.  False: memory is short. */
static bool scratch_open(HeadAt *head, const Radius *r)
{
    size_t n = r->rows, k = head->width_k, v = head->width_v;
    head->gap = malloc((n + 1) * sizeof(int));
    head->seen = malloc((n + 1) * sizeof(Key));
    head->y = malloc((v + 1) * sizeof(double));
    head->c = malloc((k + 1) * sizeof(double));
    head->product[0] = malloc((n * v + 1) * sizeof(double));
    head->product[1] = malloc((n * k + 1) * sizeof(double));
    head->product[2] = malloc((v * k + 1) * sizeof(double));
    return head->gap != NULL && head->seen != NULL && head->y != NULL && head->c != NULL &&
           head->product[0] != NULL && head->product[1] != NULL && head->product[2] != NULL;
}

static void scratch_clear(HeadAt *head)
{
    double *const all[] = {head->y, head->c, head->product[0], head->product[1], head->product[2]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
    free(head->gap);
    free(head->seen);
}

static int threads_for(const HeadAt *head, const Radius *r)
{
    size_t numbers = r->rows * r->rows * (head->width_k + head->width_v);
    return numbers >= PARALLEL_NUMBERS ? r->ev->workers : 1;
}

/* (C21), and what the values' bias adds: no more than the bias row's weight, twice, times the
 * largest change of a score (C23). */
static void pass_row(const HeadAt *head, const Radius *r, const Pass *pass, double *const out[],
                     const Outer *outer, const RowSum *row, size_t i)
{
    Columns read = head->bundle->score.read, value = head->bundle->value.read;
    double q = head->queries[i].norm;
    for (size_t k = 0; k < pass->count; k++) {
        const Banks *radius = pass->radius[k];
        double keys = 0, values = 0, most = 0, own = head->q.norm * banks_in(r, radius, read, i);
        for (size_t n = 0; n < head->count; n++) {
            const Key *key = &head->seen[n];
            double change = banks_in(r, radius, read, key->row);
            keys += key->w * change;
            values += key->high * banks_in(r, radius, value, key->row);
            most = bound_max(most, change);
        }
        double sum = row->moment * own + q * head->k.norm * keys + head->v.norm * values;
        out[k][i] = head_add(outer->factored, out[k][i], bound_up(sum));
        if (outer->bias > 0) {
            double score = own * row->k_most + q * head->k.norm * most;
            banks_add(r, pass->out[k], head->bundle->value.write, i,
                      2 * row->bias_key * outer->bias * score);
        }
    }
}

static void local_row(const HeadAt *head, Radius *r, HeadSums *sums, const Outer *outer,
                      const RowSum *row, size_t i)
{
    double size = 0, own = 0, weights = 0, roundings = 2 * (double)r->rows + 10;
    roundings += radius_product(r->rows);
    for (size_t n = 0; n < head->count; n++) {
        const Key *key = &head->seen[n];
        size += key->high * head->values[key->row].norm;
        own += key->high * head->values[key->row].rounding;
        weights += key->high;
    }
    double local = row->lambda * row->w + roundings * size + own;
    sums->local[i] = head_add(outer->factored, sums->local[i], bound_up(local));
    sums->size[i] = head_add(outer->factored, sums->size[i], bound_up(size));
    if (outer->bias > 0) {
        double bias = outer->bias * (2 * row->bias_key * row->lambda + roundings * weights);
        banks_add(r, r->local, head->bundle->value.write, i, bias);
        banks_add(r, r->size, head->bundle->value.write, i, outer->bias * weights);
    }
}

/* What a row's scores may be off by: |q| |dk| + |dq| |k| and their rounding (C34). */
static double score_row(const HeadAt *head, const Radius *r, const RowSum *row, size_t i)
{
    Columns read = head->bundle->score.read;
    double keys = head->k.norm * banks_largest(r, r->rho, read);
    double query = head->q.norm * banks_in(r, r->rho, read, i);
    double off = head->queries[i].norm * keys + query * row->k_most + row->lambda;
    return bound_up(off);
}

void bilinear_rows_here(const HeadAt *head, Radius *r, HeadSums *sums, const Outer *outer)
{
    bool failed = false, far = false;
    double score = 0;
#pragma omp parallel num_threads(threads_for(head, r)) reduction(||                                \
                                                                 : failed, far) reduction(max      \
                                                                                          : score)
    {
        HeadAt own = *head;
        bool ok = scratch_open(&own, r);
        failed = !ok;
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < r->rows; i++) {
            if (ok) {
                RowSum row = bilinear_row(&own, r, i);
                pass_row(&own, r, &r->here, sums->here, outer, &row, i);
                local_row(&own, r, sums, outer, &row, i);
                score = fmax(score, score_row(&own, r, &row, i));
                far = (r->change && !bilinear_change(&own, r, sums, &row, i)) || far;
            }
        }
        scratch_clear(&own);
    }
    r->failed = r->failed || failed;
    r->far = r->far || far;
    r->score = bound_max(r->score, score);
}

void bilinear_rows_there(const HeadAt *head, Radius *r, HeadSums *sums, const Outer *outer)
{
    bool failed = false;
#pragma omp parallel num_threads(threads_for(head, r)) reduction(|| : failed)
    {
        HeadAt own = *head;
        bool ok = scratch_open(&own, r);
        failed = !ok;
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < r->rows; i++) {
            if (ok) {
                RowSum row = bilinear_row(&own, r, i);
                pass_row(&own, r, &r->there, sums->there, outer, &row, i);
            }
        }
        scratch_clear(&own);
    }
    r->failed = r->failed || failed;
}
