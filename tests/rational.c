/*
 * Matrices of rational numbers by value, for identities that hold exactly.
 */
#include "rational.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

/* What rat_release_all frees. */
static struct {
    Rat *items;
    size_t count, capacity;
} made;

static mpq_ptr at(Rat a, size_t row, size_t column)
{
    return a.entries[row * a.columns + column];
}

Rat rat_zero(size_t rows, size_t columns)
{
    if (made.count == made.capacity) {
        made.capacity = made.capacity == 0 ? 256 : 2 * made.capacity;
        made.items = realloc(made.items, made.capacity * sizeof *made.items);
        assert_non_null(made.items);
    }
    Rat a = {rows, columns, malloc((rows * columns + 1) * sizeof(mpq_t))};
    assert_non_null(a.entries);
    for (size_t e = 0; e < rows * columns; e++) {
        mpq_init(a.entries[e]);
    }
    made.items[made.count++] = a;
    return a;
}

void rat_release_all(void)
{
    for (size_t i = 0; i < made.count; i++) {
        for (size_t e = 0; e < made.items[i].rows * made.items[i].columns; e++) {
            mpq_clear(made.items[i].entries[e]);
        }
        free(made.items[i].entries);
    }
    free(made.items);
    made.items = NULL;
    made.count = made.capacity = 0;
}

Rat rat_identity(size_t size)
{
    Rat a = rat_zero(size, size);
    for (size_t i = 0; i < size; i++) {
        mpq_set_ui(at(a, i, i), 1, 1);
    }
    return a;
}

Rat rat_of(const double *data, size_t rows, size_t columns, size_t ld)
{
    Rat a = rat_zero(rows, columns);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            assert_true(isfinite(data[r * ld + c]));
            mpq_set_d(at(a, r, c), data[r * ld + c]);
        }
    }
    return a;
}

static Rat entrywise(void (*operation)(mpq_ptr, mpq_srcptr, mpq_srcptr), Rat a, Rat b)
{
    assert_true(a.rows == b.rows && a.columns == b.columns);
    Rat c = rat_zero(a.rows, a.columns);
    for (size_t e = 0; e < a.rows * a.columns; e++) {
        operation(c.entries[e], a.entries[e], b.entries[e]);
    }
    return c;
}

Rat rat_add(Rat a, Rat b)
{
    return entrywise(mpq_add, a, b);
}

Rat rat_sub(Rat a, Rat b)
{
    return entrywise(mpq_sub, a, b);
}

Rat rat_mul(Rat a, Rat b)
{
    assert_int_equal(a.columns, b.rows);
    Rat c = rat_zero(a.rows, b.columns);
    mpq_t term;
    mpq_init(term);
    for (size_t i = 0; i < a.rows; i++) {
        for (size_t k = 0; k < a.columns; k++) {
            for (size_t j = 0; j < b.columns && mpq_sgn(at(a, i, k)) != 0; j++) {
                mpq_mul(term, at(a, i, k), at(b, k, j));
                mpq_add(at(c, i, j), at(c, i, j), term);
            }
        }
    }
    mpq_clear(term);
    return c;
}

Rat rat_scale(Rat a, long numerator, unsigned long denominator)
{
    Rat b = rat_zero(a.rows, a.columns);
    mpq_t factor;
    mpq_init(factor);
    mpq_set_si(factor, numerator, denominator);
    mpq_canonicalize(factor);
    for (size_t e = 0; e < a.rows * a.columns; e++) {
        mpq_mul(b.entries[e], a.entries[e], factor);
    }
    mpq_clear(factor);
    return b;
}

Rat rat_transpose(Rat a)
{
    Rat b = rat_zero(a.columns, a.rows);
    for (size_t r = 0; r < a.rows; r++) {
        for (size_t c = 0; c < a.columns; c++) {
            mpq_set(at(b, c, r), at(a, r, c));
        }
    }
    return b;
}

Rat rat_rows(Rat a, size_t first, size_t count)
{
    assert_true(first + count <= a.rows);
    Rat b = rat_zero(count, a.columns);
    for (size_t r = 0; r < count; r++) {
        for (size_t c = 0; c < a.columns; c++) {
            mpq_set(at(b, r, c), at(a, first + r, c));
        }
    }
    return b;
}

void rat_put(Rat to, size_t row, size_t column, Rat a)
{
    assert_true(row + a.rows <= to.rows && column + a.columns <= to.columns);
    for (size_t r = 0; r < a.rows; r++) {
        for (size_t c = 0; c < a.columns; c++) {
            mpq_set(at(to, row + r, column + c), at(a, r, c));
        }
    }
}

Rat rat_above(Rat a, Rat b)
{
    assert_int_equal(a.columns, b.columns);
    Rat c = rat_zero(a.rows + b.rows, a.columns);
    rat_put(c, 0, 0, a);
    rat_put(c, a.rows, 0, b);
    return c;
}

Rat rat_beside(Rat a, Rat b)
{
    assert_int_equal(a.rows, b.rows);
    Rat c = rat_zero(a.rows, a.columns + b.columns);
    rat_put(c, 0, 0, a);
    rat_put(c, 0, a.columns, b);
    return c;
}

bool rat_equal(Rat a, Rat b)
{
    assert_true(a.rows == b.rows && a.columns == b.columns);
    bool equal = true;
    for (size_t e = 0; e < a.rows * a.columns; e++) {
        equal = equal && mpq_equal(a.entries[e], b.entries[e]) != 0;
    }
    return equal;
}

/* Row r of a -= its entry in the column times row `from`, whose entry there is 1. */
static void eliminate(Rat a, size_t r, size_t from, size_t column, mpq_ptr factor, mpq_ptr term)
{
    mpq_set(factor, at(a, r, column));
    for (size_t c = column; c < a.columns && mpq_sgn(factor) != 0; c++) {
        mpq_mul(term, factor, at(a, from, c));
        mpq_sub(at(a, r, c), at(a, r, c), term);
    }
}

size_t rat_rank(Rat a)
{
    a = rat_rows(a, 0, a.rows);
    size_t rank = 0;
    mpq_t factor, term;
    mpq_inits(factor, term, NULL);
    for (size_t column = 0; column < a.columns && rank < a.rows; column++) {
        size_t pivot = rank;
        while (pivot < a.rows && mpq_sgn(at(a, pivot, column)) == 0) {
            pivot++;
        }
        if (pivot == a.rows) {
            continue;
        }
        mpq_inv(factor, at(a, pivot, column));
        for (size_t c = 0; c < a.columns; c++) {
            mpq_swap(at(a, pivot, c), at(a, rank, c));
            mpq_mul(at(a, rank, c), at(a, rank, c), factor);
        }
        for (size_t r = rank + 1; r < a.rows; r++) {
            eliminate(a, r, rank, column, factor, term);
        }
        rank++;
    }
    mpq_clears(factor, term, NULL);
    return rank;
}

double rat_double(Rat a, size_t row, size_t column)
{
    return mpq_get_d(at(a, row, column));
}

double rat_largest(Rat a)
{
    double largest = 0;
    for (size_t e = 0; e < a.rows * a.columns; e++) {
        largest = fmax(largest, fabs(mpq_get_d(a.entries[e])));
    }
    return largest;
}

double rat_distance(Rat a, const double *data, size_t ld)
{
    return rat_largest(rat_sub(a, rat_of(data, a.rows, a.columns, ld)));
}
