/*
 * A trained GPT-2 of two layers as it was published, norms and gelu_new included
 * (cases/models/chargpt): its logits against those of an independent program, and what K gated
 * heads in place of each hidden unit make of its predictions.
 */
#include "../fixture.h"
#include "../given.h"
#include "../program.h"

#include "../../harness/evaluate/shared.h"
#include "../../harness/models/inputs.h"
#include "../../harness/models/safetensors.h"
#include "../../reference/logits/logits.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "cases/models/chargpt/"
#define MODEL FOLDER "model.safetensors"

enum { WINDOWS = 6, LENGTH = 64, CLASSES = 92, POSITIONS = WINDOWS * LENGTH };

/* Of a program in NumPy, in double. */
typedef struct {
    int64_t tokens[WINDOWS][LENGTH];
    double logits[WINDOWS][LENGTH][CLASSES];
} Expected;

static Expected *read_expected(void)
{
    Expected *expected = calloc(1, sizeof *expected);
    SafetensorsFile *file;
    assert_non_null(expected);
    assert_int_equal(safetensors_open(&file, FOLDER "expected.safetensors"), 0);
    assert_int_equal(file->count, 2);
    for (size_t i = 0; i < 2; i++) {
        const SafetensorsTensor *tensor = &file->tensors[i];
        if (strcmp(tensor->name, "tokens") == 0) {
            assert_int_equal(tensor->count, POSITIONS);
            assert_int_equal(safetensors_integers(&expected->tokens[0][0], file, tensor), 0);
        } else {
            assert_int_equal(tensor->count, POSITIONS * CLASSES);
            assert_int_equal(safetensors_floats(&expected->logits[0][0][0], file, tensor), 0);
        }
    }
    safetensors_close(file);
    return expected;
}

/* The window's tokens, a slash between two. */
static void choice_of(char *text, size_t size, const int64_t *tokens)
{
    size_t used = 0;
    for (size_t i = 0; i < LENGTH; i++) {
        used +=
            (size_t)snprintf(text + used, size - used, "%s%d", i > 0 ? "/" : "", (int)tokens[i]);
    }
}

/* r(T)'s logits of a window, times W_U through the final norm. */
static double largest_error(const Point *point, const int64_t *tokens,
                            double expected[LENGTH][CLASSES])
{
    const ModelFile *file = point->source->file;
    char choice[8 * LENGTH];
    Inputs inputs;
    Shared *shared;
    double worst = 0;
    choice_of(choice, sizeof choice, tokens);
    assert_int_equal(inputs_make(&inputs, file, "-", choice, 1), 0);
    GivenWeights given = point->source->given;
    given.x = inputs.x;
    Point own = *point;
    const Point *list = &own;
    own.spec.n = LENGTH;
    own.spec.given = &given;
    assert_int_equal(shared_make(&shared, &list, 1, 0), EVALUATE_OK);
    const RefUnembedding unembedding = {
        file->W_U, file->b_U, file->d, file->classes, shared->pair.final_norm, file->tied};
    RefLogits *logits = ref_logits_make(LENGTH, CLASSES);
    assert_non_null(logits);
    ref_logits_original(logits, shared->base, (RefRows){0, LENGTH}, &unembedding);
    for (size_t p = 0; p < LENGTH; p++) {
        for (size_t k = 0; k < CLASSES; k++) {
            double here = mpfr_get_d(ref_logits_row(logits, p) + k, MPFR_RNDN);
            double error = fabs(here - expected[p][k]);
            worst = error > worst || isnan(error) ? error : worst;
        }
    }
    ref_logits_clear(logits);
    shared_clear(shared);
    inputs_clear(&inputs);
    return worst;
}

/* All 35328 logits. */
static void logits_are_those_of_another_program(void **state)
{
    Expected *expected = read_expected();
    const Point *point = given_points(*state, "--weights " MODEL " --n 64 --omega 30", 1);
    for (size_t w = 0; w < WINDOWS; w++) {
        double error = largest_error(point, expected->tokens[w], expected->logits[w]);
        assert_true(error < 1e-12);
        assert_true(error > 0); /* two programs in different arithmetics */
    }
    free(expected);
}

/* Windows first, ..., first + count - 1. */
static void write_windows(const Scratch *scratch, const Expected *expected, size_t first,
                          size_t count)
{
    char path[2 * SCRATCH_PATH];
    snprintf(path, sizeof path, "%s/windows.txt", scratch->directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = first * LENGTH; i < (first + count) * LENGTH; i++) {
        fprintf(file, "%d%s", (int)expected->tokens[i / LENGTH][i % LENGTH],
                i % LENGTH + 1 < LENGTH ? " " : "\n");
    }
    assert_int_equal(fclose(file), 0);
}

/* The mean over positions of log(sum of e^logit) - logit of the next token. */
static double expected_loss(const Expected *expected)
{
    double sum = 0;
    for (size_t w = 0; w < WINDOWS; w++) {
        for (size_t p = 0; p + 1 < LENGTH; p++) {
            const double *z = expected->logits[w][p];
            double all = 0;
            for (size_t k = 0; k < CLASSES; k++) {
                all += exp(z[k]);
            }
            sum += log(all) - z[expected->tokens[w][p + 1]];
        }
    }
    return sum / (WINDOWS * (LENGTH - 1));
}

/* Predictions that K heads a unit change, of all 384: the independent program's 7, 4, 0, ... */
static void heads_change_the_predictions_that_they_should(void **state)
{
    static const unsigned changed[] = {7, 4, 0, 0, 0, 0, 0, 0};
    Given *given = *state;
    Expected *expected = read_expected();
    const unsigned most = fixture_nightly() ? 8 : 3, step = fixture_nightly() ? 1 : 2;
    write_windows(&given->scratch, expected, 0, WINDOWS);
    for (unsigned k = 1; k <= most; k += step) {
        char count[8];
        Output output = expect_run(
            0,
            "verify " MODEL " --tokens-file %s/windows.txt --positions all --gelu %u "
            "--omega 30 --quiet -o %s/out.csv >/dev/null && tail -n 1 %s/out.csv > %s/last && "
            "head -n 1 %s/out.csv && cat %s/last",
            given->scratch.directory, k, given->scratch.directory, given->scratch.directory,
            given->scratch.directory, given->scratch.directory, given->scratch.directory);
        snprintf(count, sizeof count, "%u", changed[k - 1]);
        expect_cell(&output, 1, "predictions_changed", count);
        assert_true(fabs(number(&output, 1, "logit_margin") - 0.0072) < 5e-5);
        assert_true(fabs(number(&output, 1, "loss_original") - expected_loss(expected)) < 1e-11);
        assert_true(number(&output, 1, "construction_max") < 1e-19);
    }
    free(expected);
}

/* What the imitation of the activation changes no Omega brings back: the search is for the
 * others. */
static void a_search_keeps_what_the_imitation_keeps(void **state)
{
    Given *given = *state;
    Expected *expected = read_expected();
    write_windows(&given->scratch, expected, 1, 1);
    Output output = expect_run(
        0, "verify " MODEL " --tokens-file %s/windows.txt --positions all --gelu 1 --omega 30",
        given->scratch.directory);
    expect_says(&output, 0, "predictions: 2 of 64 changed");
    expect_says(&output, 0, "keeps every prediction but the 2 that the imitation changes at all");
    free(expected);
}

/* In the fifth window bfloat16 changes a prediction of T, and none of T'. */
static void the_original_changes_predictions_too(void **state)
{
    Given *given = *state;
    Expected *expected = read_expected();
    write_windows(&given->scratch, expected, 4, 1);
    Output output = expect_run(0,
                               "verify " MODEL
                               " --tokens-file %s/windows.txt --positions all --gelu 3 --omega 20 "
                               "--arithmetic bf16",
                               given->scratch.directory);
    expect_says(&output, 0, "predictions: 0 of 64 changed");
    expect_says(&output, 0, "the original by itself changes 1 of 64 in this machine");
    free(expected);
}

SUBJECT(chargpt)
{
    const struct CMUnitTest chargpt[] = {
        GIVEN_TEST(logits_are_those_of_another_program),
        GIVEN_TEST(heads_change_the_predictions_that_they_should),
        GIVEN_TEST(the_original_changes_predictions_too),
        GIVEN_TEST(a_search_keeps_what_the_imitation_keeps),
    };
    return cmocka_run_group_tests(chargpt, NULL, NULL);
}
