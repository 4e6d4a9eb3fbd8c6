/*
 * The table of machine arithmetics.
 */
#include "arithmetic.h"

#include "pass.h"

#include <float.h>
#include <string.h>

const char *const arithmetic_names[ARITHMETIC_COUNT] = {
    [ARITHMETIC_NONE] = "none", [ARITHMETIC_F64] = "f64"};

static const ArithmeticInfo arithmetics[ARITHMETIC_COUNT] = {
    [ARITHMETIC_F64] = {.called = "double",
                        .digits = DBL_MANT_DIG,
                        .least_exponent = DBL_MIN_EXP,
                        .smallest = DBL_MIN,
                        .largest = DBL_MAX,
                        .multiply_add = 0.06e-9,
                        .exponential = 10e-9,
                        .open = kernel_open,
                        .layer = kernel_layer,
                        .state = kernel_state,
                        .go_on = kernel_go_on,
                        .clear = kernel_clear,
                        .bytes = kernel_bytes},
};

Arithmetic arithmetic_find(const char *name)
{
    Arithmetic found = ARITHMETIC_NONE;
    while (found < ARITHMETIC_COUNT && strcmp(arithmetic_names[found], name) != 0) {
        found++;
    }
    return found;
}

const ArithmeticInfo *arithmetic_info(Arithmetic arithmetic)
{
    KERNEL_CHECK(arithmetic > ARITHMETIC_NONE && arithmetic < ARITHMETIC_COUNT);
    return &arithmetics[arithmetic];
}
