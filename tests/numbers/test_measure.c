/*
 * Matrices of doubles as they are measured before a product: exponents, sizes and sums of their
 * lines, and the bits that hold them, against what frexp says of each entry.  And the memory that
 * they go into.
 */
#include "../../reference/product/internal.h"
#include "../../reference/product/operand.h"
#include "../drawn_numbers.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Exponents of the highest and of the lowest bit of x = m 2^(e - 53), not 0. */
static void ends_of(int *high, int *low, double x)
{
    int exponent;
    int64_t m = (int64_t)ldexp(frexp(fabs(x), &exponent), 53);
    *high = exponent;
    *low = exponent - 53 + __builtin_ctzll((uint64_t)m);
}

/* A line of doubles as it was measured: its exponent, whether all of its sizes are there, and their
 * sum; its fraction bits, or 0. */
static mpfr_exp_t line_is_measured(const Operand *o, size_t line)
{
    mpfr_exp_t exponent = LINE_ZERO, lowest = LONG_MAX;
    double sum = 0;
    bool small = false;
    for (size_t l = 0; l < o->depth; l++) {
        int high, low;
        double x = o->number[o->line_at[line] + o->depth_at[l]];
        if (x != 0) {
            ends_of(&high, &low, x);
            exponent = high > exponent ? high : exponent;
            lowest = low < lowest ? low : lowest;
        }
    }
    assert_int_equal(o->exponent[line], exponent);
    for (size_t l = 0; l < o->depth && exponent != LINE_ZERO; l++) {
        double x = o->number[o->line_at[line] + o->depth_at[l]];
        double size = ldexp(fabs(x), -(int)exponent);
        float kept = o->size[o->depth_major ? l * o->lines + line : line * o->depth + l];
        bool near = size >= 0x1p-61;
        assert_true(near ? kept <= size && kept > size * (1 - 0x1p-22) : kept == 0);
        small = small || (x != 0 && !near);
        sum += size;
    }
    assert_int_equal(o->spread[line], small);
    assert_true(o->sum[line] >= sum * (1 - 0x1p-50) && o->sum[line] <= sum * (1 + 0x1p-19));
    return exponent == LINE_ZERO ? 0 : exponent - lowest;
}

/* Matrices of doubles, whose lines lie along and across, are measured as bits and sizes say: powers
 * of two, zeros, denormals, wide ranges; a line beyond a double's scale as well. */
static void doubles_are_measured(void **state)
{
    enum { ROWS = 13, COLUMNS = 70 };
    double w[ROWS * COLUMNS];
    drawn_numbers = 5;
    for (int kind = 0; kind < 6; kind++) {
        const int range[] = {0, 10, 70, 600, 1000, 2040};
        for (size_t i = 0; i < ROWS * COLUMNS; i++) {
            double x = kind == 0 ? 1 : drawn_uniform(), up = drawn_uniform();
            x = i % 7 == 3 ? 0.5 : i % 11 == 4 ? 0 : x;
            w[i] = ldexp(i % 3 == 0 ? -x : x, (int)(range[kind] * up / 2) - 40);
        }
        for (size_t c = 0; kind == 2 && c < ROWS; c++) {
            w[c * COLUMNS + 5] = 0;
        }
        for (size_t i = 0; kind == 4 && i < ROWS * COLUMNS; i++) {
            bool tiny = i / COLUMNS == 2 || i % COLUMNS == 9; /* their scale is no double */
            w[i] = tiny ? ldexp((double)(1 + i % 3), -1060) : w[i];
        }
        for (int turned = 0; turned < 2; turned++) {
            ProductView view = product_doubles(w, ROWS, COLUMNS, COLUMNS);
            Operand o;
            mpfr_exp_t bits = 0;
            operand_open(&o, turned ? product_transposed(view) : view);
            operand_measure(&o, 1);
            assert_true(o.plain && o.depth_major == (turned != 0));
            for (size_t line = 0; line < o.lines; line++) {
                mpfr_exp_t own = line_is_measured(&o, line);
                bits = own > bits ? own : bits;
            }
            assert_int_equal(o.bits, bits);
            operand_close(&o);
            w[17] = turned ? (kind % 2 == 0 ? INFINITY : NAN) : w[17];
        }
        Operand o;
        operand_open(&o, product_doubles(w, ROWS, COLUMNS, COLUMNS));
        operand_measure(&o, 1);
        assert_true(!o.plain);
        operand_close(&o);
    }
}

/* A large array that was let go serves for one of at least half its size, and for one at a time;
 * of more than are kept the oldest go. */
static void large_arrays_are_had_again(void **state)
{
    enum { MEGABYTES = 8, SIZE = MEGABYTES << 20, MORE = 9 };
    char *first = array_alloc(SIZE, 1), *other;
    memset(first, 1, SIZE);
    array_free(first);
    other = array_alloc(SIZE / 3, 1);
    assert_true(other != NULL && other != first);
    array_free(other);
    other = array_alloc(SIZE, 2);
    assert_true(other != NULL && other != first);
    array_free(other);
    assert_ptr_equal(array_alloc(SIZE - SIZE / 3, 1), first);
    other = array_alloc(SIZE, 1);
    assert_true(other != NULL && other != first);
    array_free(other);
    array_free(first);
    char *many[MORE];
    for (int i = 0; i < MORE; i++) {
        many[i] = array_alloc(SIZE, 1);
        for (int j = 0; j < i; j++) {
            assert_ptr_not_equal(many[i], many[j]);
        }
        memset(many[i], i, SIZE);
    }
    for (int i = 0; i < MORE; i++) {
        array_free(many[i]);
    }
    many[0] = array_alloc(SIZE, 1);
    array_free(many[0]);
    array_free(NULL);
    array_free(array_alloc(3, 1));
}

#ifndef HEADPROOF_CHECK /* a sanitizer has addresses of its own */
/* Bytes of addresses that the process has. */
static size_t addresses(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    assert_int_equal(fclose(file), 0);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* With addresses for as much as one of them, those that were let go make room for as much as three.
 */
static void large_arrays_go_where_memory_is_short(void **state)
{
    enum { MANY = 4, SIZE = 64 << 20 }; /* so large that the allocator keeps none */
    struct rlimit before, few;
    void *let_go[MANY];
    for (int i = 0; i < MANY; i++) {
        let_go[i] = array_alloc(SIZE, 1);
    }
    for (int i = 0; i < MANY; i++) {
        array_free(let_go[i]);
    }
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    few = before;
    few.rlim_cur = addresses() + SIZE;
    assert_int_equal(setrlimit(RLIMIT_AS, &few), 0);
    void *larger = array_alloc(3 * (size_t)SIZE, 1);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    array_free(larger);
}
#endif

SUBJECT(measure)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_are_measured),
        cmocka_unit_test(large_arrays_are_had_again),
#ifndef HEADPROOF_CHECK
        cmocka_unit_test(large_arrays_go_where_memory_is_short),
#endif
    };
    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
