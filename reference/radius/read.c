/*
 * Radii read, as a cell of a table wants them.
 */
#include "bounds.h"
#include "internal.h"

#include "../../memory/need.h"

#include <stdlib.h>

/* Operations of an entry of the stream. */
enum { ENTRY_OPERATIONS = 8 };

/* Which radii are added up, from which row on; with both parts of the sum x + e also the norms of
 * its rows, which rounding it (C32) takes. */
typedef struct {
    const Radius *r;
    bool stream, difference, both;
    size_t first;
    Banks *norm;
} Reading;

static void sum_row(Worker *worker, const void *context, size_t i)
{
    (void)worker;
    const Reading *rows = context;
    const Radius *r = rows->r;
    size_t row = rows->first + i;
    for (int b = 0; b < BANKS; b++) {
        bool zero = r->zero[row * BANKS + (size_t)b];
        rows->norm[i].bank[b] = zero ? 0 : bound_up(radius_bank_norm(r, r->sum, row, b, 0));
    }
}

/* The radius of one row of one bank, times 2^-bits or 2^(unit - bits). */
static void read_bank(const Reading *reading, size_t i, int b, mpfr_ptr sum)
{
    const Radius *r = reading->r;
    mpfr_t part;
    mpfr_init2(part, SEEN_BITS);
    mpfr_set_zero(sum, 1);
    if (reading->stream) {
        mpfr_set_d(sum, r->rho[i].bank[b], MPFR_RNDU);
        mpfr_mul_2si(sum, sum, -(long)r->bits, MPFR_RNDU);
    }
    if (reading->difference) {
        mpfr_set_d(part, r->eta[i].bank[b], MPFR_RNDU);
        mpfr_mul_2si(part, part, r->unit - r->bits, MPFR_RNDU);
        mpfr_add(sum, sum, part, MPFR_RNDU);
    }
    if (reading->both) {
        mpfr_set_d(part, reading->norm[i - reading->first].bank[b], MPFR_RNDU);
        mpfr_mul_2si(part, part, -(long)r->bits, MPFR_RNDU);
        mpfr_add(sum, sum, part, MPFR_RNDU);
    }
    mpfr_clear(part);
}

/* Takes a row's radius in. */
static void take_radius(RefRadii radii, mpfr_ptr row)
{
    mpfr_max(radii.most, radii.most, row, MPFR_RNDU);
    if (radii.squares != NULL) {
        mpfr_sqr(row, row, MPFR_RNDU);
        mpfr_add(radii.squares, radii.squares, row, MPFR_RNDU);
    }
}

void radius_read(const Radius *r, RadiusOf of, RefBlock block, RefRadii radii)
{
    size_t count = block.count;
    Reading reading = {.r = r,
                       .stream = of == RADIUS_STREAM || of == RADIUS_SUM,
                       .difference = of != RADIUS_STREAM && r->change,
                       .first = block.first};
    mpfr_t bank, row;
    mpfr_inits2(SEEN_BITS, bank, row, (mpfr_ptr)0);
    mpfr_set_zero(radii.most, 1);
    if (radii.squares != NULL) {
        mpfr_set_zero(radii.squares, 1);
    }
    reading.both = reading.stream && reading.difference;
    if (reading.both) {
        reading.norm = need_zeros(count + 1, sizeof *reading.norm);
        evaluator_each(r->ev, count, ENTRY_OPERATIONS * count * r->columns, sum_row, &reading);
    }
    for (size_t i = block.first; i < block.first + count; i++) {
        mpfr_set_zero(row, 1);
        for (int b = 0; b < BANKS; b++) {
            if (radius_touches(r, block.columns, b)) {
                read_bank(&reading, i, b, bank);
                mpfr_hypot(row, row, bank, MPFR_RNDU);
            }
        }
        take_radius(radii, row);
    }
    free(reading.norm);
    mpfr_clears(bank, row, (mpfr_ptr)0);
}

void radius_read_score(const Radius *r, mpfr_ptr most)
{
    mpfr_set_d(most, r->score, MPFR_RNDU);
    mpfr_mul_2si(most, most, -(long)r->bits, MPFR_RNDU);
}
