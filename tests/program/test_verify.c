/*
 * Trained models, as a user brings them: a verdict on a model that was trained, and the converted
 * model evaluated by others' rules.
 */
#include "../fixture.h"
#include "../program.h"

#include "../../harness/evaluate/ensemble.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODADD "cases/models/modadd53-silu.safetensors"

/* A part of the trained model's inputs: the figures of all 2809 hold for any. */
#define SOME "verify " MODADD " --tokens 0:52:26/0:52:26/53 "

/* Of which only the table is printed. */
#define ROWS SOME "-q --format csv "

static void the_trained_model_keeps_its_predictions(void **state)
{
    static const struct {
        const char *omega;
        double least, most;
    } expected[] = {{"5", 5e-4, 1.6e-3},
                    {"12", 4e-10, 1.4e-9},
                    {"20", 3e-15, 4e-14},
                    {"100", 3e-15, 4e-14},
                    {"1000", 2e-14, 9e-14}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        Output output =
            expect_run(0, ROWS "--omega %s --penalty positive 2>/dev/null", expected[i].omega);
        double total = number(&output, 1, "total_max");
        assert_true(total >= expected[i].least && total <= expected[i].most);
        expect_cell(&output, 1, "predictions_changed", "0");
        expect_cell(&output, 1, "inputs", "9");
        assert_true(number(&output, 1, "logit_margin") > 3.7);
        assert_true(number(&output, 1, "safety_factor") > 500);
    }
}

#ifndef HEADPROOF_CHECK /* sanitizers map more than any machine has */
/* 157464 inputs, each a stream of 3 by 64 doubles, a point and what is found of its logits. */
static void what_does_not_fit_is_refused(void **state)
{
    Output output =
        run("verify " MODADD " --tokens all --omega 20 --memory 256MiB 2>&1 >/dev/null");
    assert_int_equal(output.code, 2);
    assert_int_equal(lines(&output), 1);
    assert_non_null(strstr(output.text, "157464 inputs need 0.3"));
    assert_non_null(strstr(output.text, "0.25 GiB may be used: choose fewer with --tokens"));
}

/* A matrix of 2^14 by 2^14 doubles: 2 GiB, where 2e6 KiB may be mapped. */
static void a_limit_is_the_memory_of_a_grid_too(void **state)
{
    Output output = run_program("sh", "-c 'ulimit -v 2000000; exec \"$HEADPROOF\" sweep "
                                      "--construction linear --n 1 --d 16384 --omega 20' 2>&1");
    assert_int_equal(output.code, 2);
    assert_int_equal(lines(&output), 1);
    assert_non_null(strstr(output.text, "(needs 2.001 GiB, has 1.907 GiB)"));
}
#endif

enum { MEMBERS = 6 };

/* Six draws of a case. */
static void make_ensemble(Ensemble *ensemble, Point points[MEMBERS])
{
    ensemble_init(ensemble, MEMBERS, 2);
    for (size_t i = 0; i < MEMBERS; i++) {
        points[i] = (Point){.spec = {.construction = CONSTRUCTION_FUSED,
                                     .n = 4,
                                     .d = 6,
                                     .d_ff = 8,
                                     .heads = 2,
                                     .depth = 2,
                                     .seed = i + 1,
                                     .slope = 1},
                            .arithmetic = ARITHMETIC_F64,
                            .max_bits = 65536,
                            .judge = ERROR_TOTAL};
        ensemble_add(ensemble, &points[i]);
    }
}

/* With room for all, for some and for none: as many are kept, and the same errors to the bit. */
static void what_is_not_kept_is_made_anew(void **state)
{
    Point points[MEMBERS];
    mpfr_t first[MEMBERS];
    double bytes = 0;
    for (size_t round = 0; round < 3; round++) {
        static const double rooms[] = {INFINITY, 4.5, 0};
        static const size_t kept[] = {MEMBERS, 2, 0}; /* 4, less those that 2 threads make */
        Ensemble ensemble;
        RefCell worst;
        make_ensemble(&ensemble, points);
        double room = round == 0 ? INFINITY : rooms[round] * bytes;
        assert_true(ensemble_size(&ensemble, 20, room));
        assert_int_equal(ensemble.kept, kept[round]);
        assert_true(ensemble_open(&ensemble));
        ref_cell_init(&worst, REF_DIGITS);
        for (size_t i = 0; i < MEMBERS; i++) {
            assert_true((ensemble.shared[i] != NULL) == (i < kept[round]));
        }
        bytes = round == 0 ? shared_bytes(ensemble.shared[0]) : bytes;
        assert_true(ensemble_worst(&ensemble, &worst, 15, ERROR_CONSTRUCTION, NORM_MAX));
        assert_true(mpfr_regular_p(worst.value));
        for (size_t i = 0; i < MEMBERS; i++) {
            if (round == 0) {
                mpfr_init2(first[i], REF_CELL_BITS);
                mpfr_set(first[i], ensemble.errors[i].value, MPFR_RNDN);
            }
            assert_true(mpfr_equal_p(first[i], ensemble.errors[i].value));
        }
        ref_cell_clear(&worst);
        ensemble_clear(&ensemble);
    }
    for (size_t i = 0; i < MEMBERS; i++) {
        mpfr_clear(first[i]);
    }
}

/* Whatever axis tells two points apart, each is evaluated as it says: a heading each. */
static void every_axis_is_a_template(void **state)
{
    static const char *const lists[] = {"--reference subtract,difference", "--shrink 1,0.5",
                                        "--precision 256,320", "--kernel dense,structured"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        Output output = expect_run(
            0, "verify " MODADD " --omega 30 --tokens 0/1/53 %s | grep -c \": 1 layer\"", lists[i]);
        if (strcmp(output.text, "2\n") != 0) {
            fail_msg("verify %s: %s", lists[i], output.text);
        }
    }
}

/* Whatever changes a row is in it: tables that differ in nothing else are told apart. */
static void a_row_says_what_it_is_of(void **state)
{
    static const struct {
        const char *flags, *arithmetic, *kernel, *options;
    } rows[] = {
        {"", "f64", "structured", "mask=causal;scale=1/sqrt(d_head);penalty=negative"},
        {"--penalty positive --arithmetic fp16 --kernel dense", "fp16", "dense",
         "mask=causal;scale=1/sqrt(d_head)"},
        {"--arithmetic bf16-flash --weights-rounded no", "bf16-flash", "structured",
         "mask=causal;scale=1/sqrt(d_head);penalty=negative;weights-rounded=no"},
        {"--reference subtract --omega 10 --shrink 0.5", "f64", "structured",
         "mask=causal;reference=subtract;scale=1/sqrt(d_head);shrink=0.5;penalty=negative"},
        {"--weight-noise 1e-6 --seed 4 --tolerance 1 --norm rms", "f64", "structured",
         "mask=causal;seed=4;scale=1/sqrt(d_head);penalty=negative;weight-noise=1e-06;tolerance=1;"
         "norm=rms"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        Output output = expect_run(0, ROWS "%s 2>/dev/null", rows[k].flags);
        assert_int_equal(lines(&output), 2);
        expect_cell(&output, 1, "model", MODADD);
        expect_cell(&output, 1, "arithmetic", rows[k].arithmetic);
        expect_cell(&output, 1, "kernel", rows[k].kernel);
        expect_cell(&output, 1, "options", rows[k].options);
    }
}

SUBJECT(verify)
{
    const struct CMUnitTest verify[] = {
        cmocka_unit_test(the_trained_model_keeps_its_predictions),
        cmocka_unit_test(every_axis_is_a_template),
        cmocka_unit_test(a_row_says_what_it_is_of),
#ifndef HEADPROOF_CHECK
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_limit_is_the_memory_of_a_grid_too),
#endif
        cmocka_unit_test(what_is_not_kept_is_made_anew),
    };
    return cmocka_run_group_tests(verify, reference_set_up, reference_tear_down);
}
