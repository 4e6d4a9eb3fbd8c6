/*
 * What radii say, for cells.
 */
#include "bounds.h"
#include "internal.h"

#include <stdlib.h>

/* Operations of an entry of the stream. */
enum { ENTRY_OPERATIONS = 8 };

/* The rounding of x + e in rows from first on (C32). */
typedef struct {
    const Radius *r;
    size_t first;
    Banks *norm;
} SumRows;

static void sum_row(Worker *worker, const void *context, size_t i)
{
    (void)worker;
    const SumRows *rows = context;
    const Radius *r = rows->r;
    size_t row = rows->first + i;
    for (int b = 0; b < BANKS; b++) {
        bool zero = r->zero[row * BANKS + (size_t)b];
        rows->norm[i].bank[b] = zero ? 0 : bound_up(radius_bank_norm(r, r->sum, row, b, 0));
    }
}

/* The radius of one row of one bank, times 2^-bits or 2^(unit - bits); the stream's and the
 * difference's, and for their sum its rounding as well (C32). */
static void read_bank(const Radius *r, bool stream, bool difference, const SumRows *rows, size_t i,
                      int b, mpfr_ptr sum)
{
    mpfr_t part;
    mpfr_init2(part, SEEN_BITS);
    mpfr_set_zero(sum, 1);
    if (stream) {
        mpfr_set_d(sum, r->rho[i].bank[b], MPFR_RNDU);
        mpfr_mul_2si(sum, sum, -(long)r->bits, MPFR_RNDU);
    }
    if (difference && r->change) {
        mpfr_set_d(part, r->eta[i].bank[b], MPFR_RNDU);
        mpfr_mul_2si(part, part, r->unit - r->bits, MPFR_RNDU);
        mpfr_add(sum, sum, part, MPFR_RNDU);
    }
    if (rows != NULL) {
        double norm = rows->norm != NULL ? rows->norm[i - rows->first].bank[b] : INFINITY;
        mpfr_set_d(part, norm, MPFR_RNDU);
        mpfr_mul_2si(part, part, -(long)r->bits, MPFR_RNDU);
        mpfr_add(sum, sum, part, MPFR_RNDU);
    }
    mpfr_clear(part);
}

void radius_read(const Radius *r, bool stream, bool difference, size_t first, size_t count,
                 Columns columns, mpfr_ptr most, mpfr_ptr squares)
{
    bool both = stream && difference && r->change;
    const SumRows rows = {r, first, both ? calloc(count + 1, sizeof(Banks)) : NULL};
    r->ev->failed = r->ev->failed || (both && rows.norm == NULL);
    mpfr_t bank, row;
    mpfr_inits2(SEEN_BITS, bank, row, (mpfr_ptr)0);
    mpfr_set_zero(most, 1);
    mpfr_set_zero(squares, 1);
    if (rows.norm != NULL) {
        evaluator_each(r->ev, count, ENTRY_OPERATIONS * count * r->columns, sum_row, &rows);
    }
    for (size_t i = first; i < first + count; i++) {
        mpfr_set_zero(row, 1);
        for (int b = 0; b < BANKS; b++) {
            if (radius_touches(r, columns, b)) {
                read_bank(r, stream, difference, both ? &rows : NULL, i, b, bank);
                mpfr_hypot(row, row, bank, MPFR_RNDU);
            }
        }
        mpfr_max(most, most, row, MPFR_RNDU);
        mpfr_sqr(row, row, MPFR_RNDU);
        mpfr_add(squares, squares, row, MPFR_RNDU);
    }
    free(rows.norm);
    mpfr_clears(bank, row, (mpfr_ptr)0);
}

void radius_read_score(const Radius *r, mpfr_ptr most)
{
    mpfr_set_d(most, r->failed ? INFINITY : r->score, MPFR_RNDU);
    mpfr_mul_2si(most, most, -(long)r->bits, MPFR_RNDU);
}
