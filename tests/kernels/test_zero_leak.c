/*
 * From which Omega on no bit of what a machine computes depends on it (docs/proof.md, (Z0) to
 * (Z7)): inputs are searched for the largest Omega that still changes one.
 */
#include "../../kernels/kernel.h"
#include "../drawn_stack.h"
#include "../fixture.h"
#include "../program.h"
#include "../recorded.h"
#include "../streams.h"
#include "../unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODADD "guarantee cases/models/modadd53-silu.safetensors --format csv "

/* What docs/findings.md says of each arithmetic, in words of guarantee.h. */
static const MachineNumbers machines[ARITHMETIC_COUNT] = {
    [ARITHMETIC_F64] = {0x1p-53, DBL_MIN, DBL_MAX, 0x1p-53, DBL_MAX, 746},
    [ARITHMETIC_F32] = {0x1p-24, FLT_MIN, FLT_MAX, 0x1p-24, FLT_MAX, 104},
    [ARITHMETIC_BF16] = {0x1p-8, FLT_MIN, 0x1.fep127, 0x1p-24, FLT_MAX, 104},
    [ARITHMETIC_FP16] = {0x1p-11, 0x1p-14, 65504, 0x1p-24, FLT_MAX, 104},
    [ARITHMETIC_BF16_FLASH] = {0x1p-8, FLT_MIN, 0x1.fep127, 0x1p-24, FLT_MAX, 104},
    [ARITHMETIC_FP16_FLASH] = {0x1p-11, 0x1p-14, 65504, 0x1p-24, FLT_MAX, 104},
    [ARITHMETIC_BF16_AUTOCAST] = {0x1p-8, FLT_MIN, 0x1.fep127, 0x1p-24, FLT_MAX, 104},
    [ARITHMETIC_TF32] = {0x1p-11, FLT_MIN, 0x1.ffcp127, 0x1p-24, FLT_MAX, 104},
};

/* An evaluation of the negative form, and the Omega from which bits stay. */
typedef struct {
    Allowed allowed;
    Arithmetic arithmetic;
    KernelForm form;
    double enough;
} Machine;

static bool same_bits(const Machine *machine, double a, double b)
{
    const Allowed *of = &machine->allowed;
    const Start starts[] = {{&of->pair->negative, of->x, NULL, a},
                            {&of->pair->negative, of->x, NULL, b}};
    Streams at_a = streams_of(machine->arithmetic, &starts[0], machine->form, 1);
    Streams at_b = streams_of(machine->arithmetic, &starts[1], machine->form, 1);
    bool same = memcmp(at_a.data, at_b.data, at_a.count * sizeof *at_a.data) == 0;
    for (size_t i = 0; i < at_a.count; i++) {
        assert_true(isfinite(at_a.data[i]));
    }
    free(at_a.data);
    free(at_b.data);
    return same;
}

/* About the largest Omega below enough that still changes a bit, over it; above none may. */
static double changes_up_to(void *search)
{
    const Machine *machine = search;
    double low = 0, high = 1, enough = machine->enough;
    double far = fmin(10 * enough, machines[machine->arithmetic].largest / 2.01);
    if (!same_bits(machine, enough, far) || !same_bits(machine, enough, enough * 1.37)) {
        fail_msg("%s, %s: bits differ from Omega %.17g to %.17g",
                 arithmetic_names[machine->arithmetic],
                 machine->form == KERNEL_DENSE ? "dense" : "structured", enough, far);
    }
    for (int i = 0; i < 8; i++) {
        double middle = (low + high) / 2;
        bool same = same_bits(machine, middle * enough, enough);
        low = same ? low : middle;
        high = same ? middle : high;
    }
    return low;
}

/* Inputs, at random and climbing to those that change at the largest Omega, change nothing from the
 * Omega that is said, in any arithmetic and form. */
static void leaks_are_zero_from_there(void **state)
{
    int tries = fixture_nightly() ? 24 : 6;
    int models = fixture_nightly() ? 200 : SMALL_GRIDS ? 3 : 24, none = 0, all = 0;
    double nearest[ARITHMETIC_COUNT] = {0};
    for (int m = 0; m < models; m++) {
        Drawn stack;
        drawn_make(&stack);
        double R = m % 2 == 0 ? 0.6 : 20;
        const GuaranteeOf of = {.pair = &stack.pair, .input_norm = magnitude_of(R, 0)};
        for (Arithmetic a = ARITHMETIC_NONE + 1; a < ARITHMETIC_COUNT; a++, all++) {
            double enough = 0;
            guarantee_zero_leak(&enough, &of, &machines[a]);
            none += enough == INFINITY;
            for (int form = 0; form < 2 && enough < INFINITY; form++) {
                Machine machine = {.allowed = {.pair = &stack.pair, .R = R},
                                   .arithmetic = a,
                                   .form = form == 0 ? KERNEL_DENSE : KERNEL_STRUCTURED,
                                   .enough = enough};
                nearest[a] = fmax(nearest[a], allowed_climb(&machine, changes_up_to, tries));
            }
        }
        drawn_clear(&stack);
    }
    print_message("none is proven of %d of %d\n", none, all);
    for (Arithmetic a = ARITHMETIC_NONE + 1; a < ARITHMETIC_COUNT; a++) {
        print_message("%s: bits change up to %.3g of the Omega that is said\n", arithmetic_names[a],
                      nearest[a]);
        assert_true(nearest[a] > 0.05);
    }
    assert_true(none < all / 2);
}

/* The Omegas that are said, of the same kind of models (tests/recorded.h). */
static void what_is_said_is_recorded(void **state)
{
    double sum = 0;
    drawn_numbers = 1;
    for (int m = 0; m < 150; m++) {
        Drawn stack;
        drawn_make(&stack);
        const GuaranteeOf of = {.pair = &stack.pair, .input_norm = magnitude_of(0.6, 0)};
        for (Arithmetic a = ARITHMETIC_NONE + 1; a < ARITHMETIC_COUNT; a++) {
            double enough;
            guarantee_zero_leak(&enough, &of, &machines[a]);
            sum += isfinite(enough) ? log2(enough) : 1000;
        }
        drawn_clear(&stack);
    }
    assert_recorded("leaks of 0", sum);
}

/* docs/proof.md, (Z7): half of 746 or 104, and of what a score may be. */
static void bits_that_do_not_change_are_said(void **state)
{
    Output output = expect_run(0, MODADD "--tolerance 1e-9 --arithmetic f64,f32,bf16,fp16");
    assert_int_equal(lines(&output), 5);
    assert_true(fabs(number(&output, 1, "zero_leak_omega") - 381.4) < 0.1);
    assert_true(fabs(number(&output, 2, "zero_leak_omega") - 61.8) < 0.1);
    assert_true(fabs(number(&output, 3, "zero_leak_omega") - 78.6) < 0.1);
    expect_cell(&output, 4, "zero_leak_omega", "none"); /* hidden units may be above 65504 */
    output = run(MODADD "--tolerance 1e-9 --arithmetic f64 --shrink 0.25");
    assert_true(fabs(number(&output, 1, "zero_leak_omega") - 4 * 381.4) < 0.4);
    /* Scores of rows behind a norm, which are sqrt(D) long, are in 2 Omega. */
    output =
        run("guarantee --construction attention --n 2 --d 30 --normalization rmsnorm --omega 9 "
            "--input-norm 1 --arithmetic f64 --format csv");
    double scores = number(&output, 1, "scores");
    assert_true(scores > 4 && 2 * number(&output, 1, "zero_leak_omega") >= 745 + scores);
    output = run(MODADD "--tolerance 1e-9");
    expect_cell(&output, 1, "zero_leak_omega", "");
    expect_cell(&output, 1, "arithmetic", "none");
}

SUBJECT(zero_leak)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaks_are_zero_from_there),
        cmocka_unit_test(what_is_said_is_recorded),
        cmocka_unit_test(bits_that_do_not_change_are_said),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
