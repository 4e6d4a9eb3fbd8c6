/*
 * The machine's faults, one at a time: every place that allocates or starts a thread, and every
 * system call on a file, fails once in every command.  Then the program says so and ends with 99
 * and publishes nothing, or it has done without: same output, exit code 0.
 *
 * inject/ makes them fail.  HEADPROOF_NIGHTLY=1: all of them in every command, at first and at
 * last; otherwise every place that allocates once, in the first command that comes there.
 * INJECT_ONLY=NAME: that scenario alone.  INJECT_VERBOSE: what every run did.
 */
#include "injected.h"
#include "../program.h"
#include "../unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TINY "--n 2 --d 2 --depth 2 --omega 10,20 --threads 2 --quiet "
#define NIGHTLY_ONLY true
#define MODEL "../in/model.safetensors "
#define SMALL "../in/small.safetensors "

#ifdef HEADPROOF_CHECK
enum { SANITIZED = true };
#else
enum { SANITIZED = false };
#endif

/* Run once, undisturbed, for what the others read. */
static const char *const preparations[] = {
    "sweep " TINY "-o ../in/all.csv",
    "sweep " TINY "--shard 1/2 -o ../in/one.csv",
    "sweep " TINY "--shard 2/2 -o ../in/two.csv",
    "check " TINY "--save-baseline ../in/base.csv",
    "export --n 2 --d 2 --omega 10 --quiet -o ../in/case.safetensors",
};

static const Scenario scenarios[] = {
    {"sweep", "sweep ../in/grid.case -o r.csv --threads 2", false},
    {"sweep to stdout", "sweep " TINY, 0},
    {"depth", "depth --n 2 --d 2 --depth 3 --omega 20 --threads 2 -o r.csv", false},
    {"min-omega",
     "min-omega --construction linear --n 2 --d 2 --tolerance 1e-3 --every-input --input-norm 2 "
     "--threads 2 -o r.csv --junit-xml r.xml",
     false},
    {"check",
     "check " TINY "--baseline ../in/base.csv --json r.json --markdown r.md "
     "--junit-xml r.xml",
     false},
    {"check: baseline", "check " TINY "--save-baseline r.csv", false},
    {"verify: small", "verify " SMALL "--tokens 0/0:1/2 --omega 22 --threads 2 --quiet -o r.csv",
     false},
    {"attribute: small", "attribute " SMALL "--tokens 0/1/2 --omega 22 --threads 2 -o r.csv",
     false},
    {"convert: small", "convert " SMALL "--omega 22 -o r.safetensors", false},
    {"verify",
     "verify " MODEL "--tokens 0/1/53 --omega 22 --threads 2 --quiet -o r.csv --json r.json",
     false},
    {"convert", "convert " MODEL "--omega 22 -o r.safetensors", false},
    {"convert: proven", "convert " MODEL "-o r.safetensors", NIGHTLY_ONLY},
    {"attribute", "attribute " MODEL "--tokens 0/1/53 --omega 22 --threads 2 -o r.csv", false},
    {"export", "export --n 2 --d 2 --omega 10 -o r.safetensors", false},
    {"cost", "cost --n 2 --d 2 -o r.csv", false},
    {"guarantee",
     "guarantee --n 2 --d 2 --d-ff 2 --d-head 1 --input-norm 1 --tolerance 1e-9 -o r.csv", false},
    {"guarantee: rows of a second norm",
     "guarantee ../in/normed.safetensors --n 2 --omega 9 -o r.csv", false},
    {"merge", "merge ../in/one.csv ../in/two.csv -o r.csv", false},
    {"info", "info", false},
    {"help", "help sweep", false},
    {"sweep: goes on", "sweep " TINY "--resume -o r.csv", false},
    {"help: overview", "help", NIGHTLY_ONLY},
    {"sweep: dry", "sweep ../in/grid.case --dry-run", NIGHTLY_ONLY},
    {"sweep: complete", "sweep " TINY "--resume -o ../in/all.csv", NIGHTLY_ONLY},
    {"sweep: all",
     "sweep --construction all --n 3 --d 2 --depth 2 --omega 10 --bias random --quiet -o r.csv",
     NIGHTLY_ONLY},
    {"sweep: dense",
     "sweep --n 3 --d 3 --omega 10 --kernel dense,structured --mask causal --reference subtract "
     "-o r.csv",
     NIGHTLY_ONLY},
    {"sweep: weights", "sweep --weights ../in/case.safetensors --omega 10 -o r.csv", NIGHTLY_ONLY},
    {"check: fails",
     "check --n 2 --d 2 --depth 2 --omega 10,30 --quiet --baseline ../in/base.csv --json r.json "
     "--markdown r.md --junit-xml r.xml",
     NIGHTLY_ONLY},
    {"min-omega: seeds",
     "min-omega --construction linear --n 3 --d 3 --seed 1:3 --tolerance 1e-3 --threads 2 "
     "-o r.csv",
     NIGHTLY_ONLY},
    {"verify: search",
     "verify " MODEL "--tokens 0/1/53 --omega 22 --tolerance 1e-3 --threads 2 -o r.csv",
     NIGHTLY_ONLY},
    {"attribute: heads",
     "attribute " MODEL "--tokens 0/1/53 --omega 22 --by head --logits all --threads 2 -o r.csv",
     NIGHTLY_ONLY},
    {"convert: case", "convert ../in/case.safetensors --omega 10 -o r.safetensors", NIGHTLY_ONLY},
    {"cost: model", "cost " MODEL "-o r.csv", NIGHTLY_ONLY},
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

static void every_fault_is_the_machines(void **state)
{
    Injected *injected = *state;
    size_t wrong = 0;
    for (size_t i = 0; i < SCENARIOS; i++) {
        wrong += injected_scenario(injected, &scenarios[i]);
    }
    if (wrong > 0) {
        fail_msg("%zu faults were not taken for the machine's", wrong);
    }
}

/* The same where layers come and go: every block of a file is a read that fails once. */
static void layers_are_read_again(void **state)
{
    static const Scenario layers[] = {
        {"verify: layers", "verify " SMALL "--tokens 0/1/2 --omega 22 --threads 2 --quiet -o r.csv",
         false},
        {"sweep: layers", "sweep --n 2 --d 2 --depth 2 --omega 10 --quiet -o r.csv", false},
        {"convert: layers", "convert " SMALL "--omega 22 --layout shared -o r.safetensors", false},
    };
    size_t wrong = 0;
    assert_int_equal(setenv("HEADPROOF_HELD", "1", 1), 0);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        wrong += injected_scenario(*state, &layers[i]);
    }
    assert_int_equal(unsetenv("HEADPROOF_HELD"), 0);
    assert_int_equal(wrong, 0);
}

/* A block that cannot be read is no verdict and no file, of layers that come and go, and of a model
 * that is read as a whole. */
static void every_block_is_needed(void **state)
{
    static const Scenario layers[] = {
        {"verify: blocks", "verify " MODEL "--tokens 0/1/53 --omega 22 --quiet -o r.csv", false},
        {"convert: blocks", "convert " MODEL "--omega 22 --layout shared -o r.safetensors", false},
        {"sweep: blocks", "sweep --weights " MODEL "--n 3 --omega 20 -o r.csv", false},
    };
    size_t wrong = injected_reads(*state, &layers[1]);
    assert_int_equal(setenv("HEADPROOF_HELD", "1", 1), 0);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        wrong += injected_reads(*state, &layers[i]);
    }
    assert_int_equal(unsetenv("HEADPROOF_HELD"), 0);
    assert_int_equal(wrong, 0);
}

/* What each once was taken for: exit code 1 by OpenMP, "terms do not sum", a signal.
 * posix_memalign is the larger products' alone: which those are, and whether there are any, is the
 * processor's. */
static void known_faults_are_the_machines(void **state)
{
    static const struct {
        const char *scenario, *fault;
        bool must;
    } known[] = {
        {"sweep", "pthread_create:1", true},
        {"sweep", "pthread_create:3", true}, /* 2: the ticker */
        {"verify", "pthread_create:1", true},
        {"attribute", "calloc:500", true},
        {"attribute", "calloc:100", true},
        {"attribute", "posix_memalign:500", false},
        {"attribute", "posix_memalign:100", false},
    };
    size_t wrong = 0;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        for (size_t i = 0; i < SCENARIOS; i++) {
            if (strcmp(scenarios[i].name, known[k].scenario) == 0) {
                wrong += injected_fault(*state, &scenarios[i], known[k].fault, known[k].must);
            }
        }
    }
    assert_int_equal(wrong, 0);
}

/* Threads within a single large point, or a search by itself, are made once and kept: a fault in
 * one much later has nothing to strike. */
static void few_threads_are_made(void **state)
{
#define LARGE "--construction silu --n 24 --d 48 --threads 2 --quiet "
    static const Scenario large[] = {{"a point", "sweep " LARGE "--omega 20 --depth 8", false},
                                     {"a search", "min-omega " LARGE "--tolerance 1e-6", false}};
#undef LARGE
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        assert_int_equal(injected_fault(*state, &large[i], "pthread_create:1", true), 0);
        assert_int_equal(injected_fault(*state, &large[i], "pthread_create:8", true), 1);
    }
}

/* From too little for OpenBLAS, which would try for ever, to enough. */
static void limited_addresses_end_a_run(void **state)
{
    const Scenario verify = {"verify in", "verify " MODEL "--tokens 0/1/53 --omega 22 --quiet",
                             false};
    bool enough = false;
    int code = 99;
    for (size_t kibibytes = 100000; kibibytes <= 1600000; kibibytes += kibibytes / 2) {
        code = injected_limited(*state, &verify, kibibytes);
        assert_true(code == 0 || code == 99);
        assert_false(enough && code != 0);
        enough = code == 0;
    }
    assert_true(enough);
}

static int set_up(void **state)
{
    Injected *injected = *state = injected_make();
    for (size_t i = 0; i < sizeof preparations / sizeof *preparations; i++) {
        injected_prepare(injected, preparations[i]);
    }
    return 0;
}

static int tear_down(void **state)
{
    injected_remove(*state);
    return 0;
}

/* Sanitizers have an allocator and signals of their own. */
static void only_without_sanitizers(void **state)
{
    print_message("faults are injected into builds without sanitizers\n");
}

SUBJECT(injection)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_the_machines),   cmocka_unit_test(layers_are_read_again),
        cmocka_unit_test(known_faults_are_the_machines), cmocka_unit_test(few_threads_are_made),
        cmocka_unit_test(limited_addresses_end_a_run),   cmocka_unit_test(every_block_is_needed),
    };
    const struct CMUnitTest instead[] = {cmocka_unit_test(only_without_sanitizers)};
    return SANITIZED ? cmocka_run_group_tests(instead, NULL, NULL)
                     : cmocka_run_group_tests(tests, set_up, tear_down);
}
