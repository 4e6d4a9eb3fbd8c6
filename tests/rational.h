/*
 * Matrices of rational numbers by value, for identities that hold exactly: products read as they
 * are written, and equality is equality.  Every double is a rational.
 *
 * Results live until rat_release_all.  Shapes that do not fit end the test.
 */
#ifndef HEADPROOF_TESTS_RATIONAL_H
#define HEADPROOF_TESTS_RATIONAL_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

/* entries [rows, columns], row-major. */
typedef struct {
    size_t rows, columns;
    mpq_t *entries;
} Rat;

Rat rat_zero(size_t rows, size_t columns);
Rat rat_identity(size_t size);

/* data [rows, columns] with a leading dimension; every entry finite. */
Rat rat_of(const double *data, size_t rows, size_t columns, size_t ld);

Rat rat_add(Rat a, Rat b);
Rat rat_sub(Rat a, Rat b);
Rat rat_mul(Rat a, Rat b);

/* numerator/denominator * a */
Rat rat_scale(Rat a, long numerator, unsigned long denominator);
Rat rat_transpose(Rat a);

/* Rows first, ..., first + count - 1. */
Rat rat_rows(Rat a, size_t first, size_t count);

/* a's rows above b's; a's columns left of b's. */
Rat rat_above(Rat a, Rat b);
Rat rat_beside(Rat a, Rat b);

/* *to's block at (row, column) = a. */
void rat_put(Rat to, size_t row, size_t column, Rat a);

bool rat_equal(Rat a, Rat b);

/* By elimination without rounding. */
size_t rat_rank(Rat a);

/* The nearest double, or one of its neighbours. */
double rat_double(Rat a, size_t row, size_t column);

/* The largest |entry|, and the largest |a - data|. */
double rat_largest(Rat a);
double rat_distance(Rat a, const double *data, size_t ld);

void rat_release_all(void);

#endif
