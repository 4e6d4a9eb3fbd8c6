/*
 * Radii read, as a cell of a table wants them.
 */
#include "bounds.h"
#include "internal.h"

/* sum += x 2^exponent */
static void add_part(mpfr_ptr sum, double x, mpfr_exp_t exponent)
{
    mpfr_t part;
    mpfr_init2(part, SEEN_BITS);
    mpfr_set_d(part, x, MPFR_RNDU);
    mpfr_mul_2si(part, part, exponent, MPFR_RNDU);
    mpfr_add(sum, sum, part, MPFR_RNDU);
    mpfr_clear(part);
}

/* The radius of one row of one bank: of the stream, of the difference, or of both and what rounding
 * the sum x + e takes (C32). */
static void read_bank(const Radius *r, RadiusOf of, size_t i, int b, mpfr_ptr sum)
{
    bool stream = of == RADIUS_STREAM || of == RADIUS_SUM,
         difference = of != RADIUS_STREAM && r->change;
    mpfr_set_zero(sum, 1);
    if (stream) {
        add_part(sum, r->rho[i].bank[b], -r->bits);
    }
    if (difference) {
        add_part(sum, r->eta[i].bank[b], r->unit - r->bits);
    }
    if (stream && difference && !r->zero[i * BANKS + (size_t)b]) {
        add_part(sum, bound_up(radius_bank_norm(r, r->sum, i, b, 0)), -r->bits);
    }
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
    mpfr_t bank, row;
    mpfr_inits2(SEEN_BITS, bank, row, (mpfr_ptr)0);
    mpfr_set_zero(radii.most, 1);
    if (radii.squares != NULL) {
        mpfr_set_zero(radii.squares, 1);
    }
    for (size_t i = block.first; i < block.first + block.count; i++) {
        mpfr_set_zero(row, 1);
        for (int b = 0; b < BANKS; b++) {
            if (radius_touches(r, block.columns, b)) {
                read_bank(r, of, i, b, bank);
                mpfr_hypot(row, row, bank, MPFR_RNDU);
            }
        }
        take_radius(radii, row);
    }
    mpfr_clears(bank, row, (mpfr_ptr)0);
}

void radius_read_score(const Radius *r, mpfr_ptr most)
{
    mpfr_set_d(most, r->score, MPFR_RNDU);
    mpfr_mul_2si(most, most, -(long)r->bits, MPFR_RNDU);
}
