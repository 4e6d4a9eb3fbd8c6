/*
 * Extents of a product of fractions in 52-bit digits: digits, columns, blocks.
 *
 * Of the product's columns those beyond K are not computed: halves of products of digits, at most
 * 2 min(D_a, D_b) a term in column K + 1 and each below 2^(-52 K), so that less than
 * 8 min(D_a, D_b) k 2^(-52 K) (1 + 2^-40) is lost of sum_l x_l y_l (wide/multiply.c).
 */
#include "digits.h"

#include "wide.h"

#include <math.h>

/* Digits that hold alpha for so many fraction bits of x. */
static size_t digits_for(mpfr_prec_t bits)
{
    return (size_t)bits / DIGIT + 1;
}

bool digits_hold(mpfr_prec_t bits_a, mpfr_prec_t bits_b)
{
    return wide()->multiply != NULL && bits_a < DIGIT * OPERAND_DIGITS &&
           bits_b < DIGIT * OPERAND_DIGITS;
}

Digits digits_block(const uint64_t *digit, size_t digits, size_t i)
{
    size_t blocks = (digits - 1) / BLOCK + 1, first = digits * i / blocks;
    return (Digits){digit, digits, first, digits * (i + 1) / blocks - first};
}

/* Halves of products that a block takes, a term and row; fewer in a corner of two columns, which
 * the measured nanoseconds do not know. */
static size_t block_multiplies(size_t na, size_t nb, size_t kept)
{
    size_t columns = digits_block_columns(na, nb, kept), count = 0;
    for (size_t i = 0; i < na; i++) {
        for (size_t j = 0; j < nb; j++) {
            count += (size_t)(i + j < columns) + (i + j + 1 < columns);
        }
    }
    return count;
}

/* The columns that P bits need.  Operands may be off by 2^-(P + 1) and are, cut off after D digits,
 * by 2^(-52 D): where that is half as much, and what is lost beyond column D no more than the other
 * half, 2^-(P + 2) N_ij, D columns will do.  Else one more, of which less than 2^-12 is lost, as
 * min(D_a, D_b) is at most 64 and k below 2^32. */
static size_t columns_for(const Plan *plan, size_t fewer, mpfr_prec_t bits)
{
    size_t digits = digits_for(bits);
    long up = (long)bits + 2 - DIGIT * (long)digits;
    double lost = ldexp(8.5 * (double)fewer * (double)plan->k, (int)up);
    return up <= 0 && lost <= plan->least ? digits : digits + 1;
}

DigitsWork digits_work(const Plan *plan, mpfr_prec_t bits)
{
    DigitsWork work = {.digits_a = digits_for(plan_bits_a(plan, bits)),
                       .digits_b = digits_for(plan_bits_b(plan, bits))};
    size_t full = work.digits_a + work.digits_b;
    size_t fewer = work.digits_a < work.digits_b ? work.digits_a : work.digits_b;
    bool exact = plan->short_a && plan->short_b;
    size_t columns = exact ? full : columns_for(plan, fewer, bits);
    work.kept = columns < full ? columns : full;
    /* A column takes two halves of each pair of digits on its diagonal; 4096 fill 64 bits. */
    work.depth = 2000 / fewer;
    for (size_t i = 0; i * BLOCK < work.digits_a; i++) {
        Digits a = digits_block(NULL, work.digits_a, i);
        for (size_t j = 0; j * BLOCK < work.digits_b; j++) {
            Digits b = digits_block(NULL, work.digits_b, j);
            if (a.first + b.first < work.kept) {
                work.blocks++;
                work.multiplies +=
                    block_multiplies(a.count, b.count, work.kept - a.first - b.first);
            }
        }
    }
    return work;
}

bool digits_store_rows(const Plan *plan, size_t columns, bool add)
{
    mpfr_prec_t bits = mpfr_get_prec(plan->c.entry);
    return columns <= (add ? ROW_SUM_COLUMNS : ROW_COLUMNS) && bits % 64 == 0 &&
           bits <= 64 * ROW_LIMBS;
}
