/*
 * A file of GPT-2 small's size, 124 million parameters and 50257 tokens, by night: one prompt of 64
 * tokens is verified within three minutes on two cores, in 8 GiB.  And XL, a layer at a time: more
 * layers take no more memory.
 */
#include "../fixture.h"
#include "../oracle.h"
#include "../program.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { PROMPT = 64, VOCABULARY = 50257, SECONDS_MOST = 180 };

/* Tokens of all sizes, the same in every run. */
static void write_prompt(const Scratch *scratch)
{
    FILE *file = fopen(path_in(scratch, "prompt.txt"), "w");
    assert_non_null(file);
    for (unsigned i = 1; i <= PROMPT; i++) {
        fprintf(file, "%u ", i * 7919 % VOCABULARY);
    }
    assert_int_equal(fclose(file), 0);
}

static const char *needed_by_night(void)
{
    if (!fixture_nightly()) {
        print_message("not by day: skipped\n");
        skip();
    }
    return oracle_needed("numpy");
}

static void a_prompt_takes_minutes(void **state)
{
    const Scratch *scratch = *state;
    const char *interpreter = needed_by_night();
    char line[6 * SCRATCH_PATH];
    struct timespec began, ended;
    write_prompt(scratch);
    snprintf(line, sizeof line, "tests/model_sizes.py %s", scratch->directory);
    oracle_agree(interpreter, line, "the model");
    snprintf(line, sizeof line,
             "verify %s/model.safetensors --tokens-file %s/prompt.txt --omega 40 --memory 8GiB "
             "--quiet -o %s/out.csv >/dev/null && (head -n 1 %s/out.csv; tail -n 1 %s/out.csv)",
             scratch->directory, scratch->directory, scratch->directory, scratch->directory,
             scratch->directory);
    clock_gettime(CLOCK_MONOTONIC, &began);
    Output output = run(line);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    double seconds = (double)(ended.tv_sec - began.tv_sec);
    print_message("%.0f s\n", seconds);
    assert_int_equal(output.code, 0);
    expect_cell(&output, 1, "layer", "12");
    expect_cell(&output, 1, "predictions_changed", "0");
    assert_true(number(&output, 1, "construction_max") < 1e-30);
    assert_true(number(&output, 1, "construction_max") > 0);
    assert_true(number(&output, 1, "rounding_max") < 1e-13);
    assert_true(seconds < SECONDS_MOST);
}

/* The most that a run over two tokens has held, in KiB, of a model of XL's width in three files. */
static long memory_of_layers(const Scratch *scratch, const char *interpreter, int layers)
{
    char line[6 * SCRATCH_PATH];
    struct rusage usage;
    snprintf(line, sizeof line, "tests/model_sizes.py %s xl %d 3", scratch->directory, layers);
    oracle_agree(interpreter, line, "the model");
    expect_run(
        0, "verify %s --tokens 11/77 --omega 20 --memory 3GiB --threads 1 --quiet -o %s/out.csv",
        scratch->directory, scratch->directory);
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    print_message("%d layers: %ld KiB\n", layers, usage.ru_maxrss);
    return usage.ru_maxrss;
}

/* Held as a whole, eight layers more would take 2 GB more. */
static void layers_take_no_memory(void **state)
{
    const Scratch *scratch = *state;
    const char *interpreter = needed_by_night();
    long few = memory_of_layers(scratch, interpreter, 4);
    assert_true(few < 3L << 20);
    assert_true(memory_of_layers(scratch, interpreter, 12) - few < 100L << 10);
}

SUBJECT(gpt2_small)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(layers_take_no_memory), /* first: the most of all runs is what is asked for */
        SCRATCH_TEST(a_prompt_takes_minutes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
