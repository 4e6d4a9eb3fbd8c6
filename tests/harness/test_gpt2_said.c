/*
 * Properties that GPT-2's files leave open have to be said by flags, and others cannot be said
 * otherwise; every file of a model counts, and no output takes the place of one.
 */
#include "../given.h"
#include "../gpt2_files.h"
#include "../program.h"

#include "../../harness/grid/distinct.h"
#include "../../harness/table/identity.h"
#include "../unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void make(const Given *given, const char *key, const char *value)
{
    static Gpt2Model model;
    gpt2_make(&model, "", false, false);
    gpt2_write(path_in(&given->scratch, "model.safetensors"), &model, "F32", NULL, 0, 1);
    gpt2_write_config(given->scratch.directory, key, value);
}

#define WEIGHTS "--n 2 --weights %model.safetensors "

/* Nothing is assumed: an eps least of all. */
static void test_what_is_missing(void **state)
{
    Given *given = *state;
    make(given, "layer_norm_epsilon", NULL);
    given_expect_fault(
        given, COMMAND_SWEEP, WEIGHTS,
        "the metadata do not say: eps (what its norms add to the variance): expected "
        "in the file's metadata, or as --eps");
    make(given, "activation_function", NULL);
    given_expect_fault(given, COMMAND_SWEEP, WEIGHTS, "do not say: activation (");
    /* No config at all. */
    assert_int_equal(unlink(path_in(&given->scratch, "config.json")), 0);
    given_expect_fault(given, COMMAND_SWEEP, WEIGHTS,
                       "how many heads there are is not said: expected n_head in a config.json");
    given_expect_fault(given, COMMAND_SWEEP, WEIGHTS "--heads 2", "do not say: activation (");
    given_expect_fault(given, COMMAND_SWEEP, WEIGHTS "--heads 2",
                       ", scale (1 or 1/sqrt(d_head)), "
                       "eps (");
    given_expect_fault(given, COMMAND_SWEEP, WEIGHTS "--heads 3",
                       "expected [d, 3 heads d_head] with heads = 3 as in '--heads'");
}

static void test_contradictions(void **state)
{
    static const char *const faults[][2] = {
        {"--heads 4", "--heads: token '4': the weights file"},
        {"--eps 1e-6", "--eps: token '1e-06': the weights file"},
        {"--mask none", "--mask: token 'none': the weights file"},
        {"--scale 1", "--scale: token '1': the weights file"},
        {"--normalization none", "--normalization: token 'none': the weights file"},
        {"--normalization rmsnorm", "has normalization = layernorm"},
        {"--normalization-place post", "has normalization-place = pre"},
        {"--construction fused", "needs transformer3 or transformer"},
    };
    Given *given = *state;
    make(given, NULL, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char line[256];
        snprintf(line, sizeof line, "%s%s", WEIGHTS, faults[i][0]);
        given_expect_fault(given, COMMAND_SWEEP, line, faults[i][1]);
    }
}

/* TransformerLens' names whose metadata are silent: tensors of norms say that there are norms, and
 * not which. */
static void test_silent_norms(void **state)
{
    static Gpt2Model model;
    Given *given = *state;
    gpt2_make_lens(&model, false);
    gpt2_write(
        path_in(&given->scratch, "model.safetensors"), &model, "F32",
        "\"activation\":\"silu\",\"blocks\":\"sequential\",\"scale\":\"1\",\"mask\":\"causal\"", 0,
        1);
    given_expect_fault(given, COMMAND_SWEEP, WEIGHTS,
                       "do not say: normalization (layernorm or rmsnorm), normalization-place (pre "
                       "or post), eps (what its norms add to the variance): expected in");
    const char *said = WEIGHTS "--normalization-place pre --eps 1e-5 --normalization ";
    char line[256];
    snprintf(line, sizeof line, "%snone", said);
    given_expect_fault(given, COMMAND_SWEEP, line,
                       "--normalization: token 'none': expected layernorm or rmsnorm: the weights "
                       "file has tensors of norms");
    snprintf(line, sizeof line, "%srmsnorm", said);
    given_expect_fault(given, COMMAND_SWEEP, line,
                       "expected layernorm: the weights file has a b of norms");
}

/* A model of TransformerLens' names without norms, in two files. */
static void make_parts(const Given *given)
{
    static Gpt2Model model;
    gpt2_make_lens(&model, false);
    for (size_t t = model.count; t-- > 0;) {
        char name[sizeof model.tensors[t].name];
        memcpy(name, model.tensors[t].name, sizeof name);
        if (strstr(name, "ln") != NULL) {
            gpt2_drop(&model, name);
        }
    }
    gpt2_write_parts(
        given->scratch.directory, &model, "F32",
        "\"activation\":\"gelu\",\"blocks\":\"sequential\",\"scale\":\"1\",\"mask\":\"causal\","
        "\"normalization\":\"none\"",
        2);
}

/* A byte more in any file is another model, and an output that is one of them is refused. */
static void test_every_file(void **state)
{
    static const char *const names[] = {"model.safetensors.index.json",
                                        "model-00001-of-00002.safetensors",
                                        "model-00002-of-00002.safetensors"};
    Given *given = *state;
    GridIdentity before, after;
    make_parts(given);
    given_points(given, "--n 2 --omega 9 --weights %model-00002-of-00002.safetensors", 1);
    assert_int_equal(grid_identify(&before, &given->grid), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[SCRATCH_PATH], expected[SCRATCH_PATH + 64];
        scratch_path(path, &given->scratch, names[i]);
        FILE *file = fopen(path, "a");
        assert_non_null(file);
        assert_true(putc(' ', file) == ' ' && fclose(file) == 0);
        assert_int_equal(grid_identify(&after, &given->grid), 0);
        assert_string_not_equal(before.weights, after.weights);
        before = after;
        given->run.output = path;
        stderr_hold(&given->scratch);
        int status =
            distinct_check_run(&given->grid, &given->run, commands_get(COMMAND_SWEEP), NULL, 0);
        stderr_take(given->message, &given->scratch);
        snprintf(expected, sizeof expected, "expected another file than --weights '%s'", path);
        assert_int_equal(status, 2);
        assert_non_null(strstr(given->message, expected));
        given->run.output = NULL;
    }
}

SUBJECT(gpt2_said)
{
    const struct CMUnitTest tests[] = {
        GIVEN_TEST(test_what_is_missing),
        GIVEN_TEST(test_contradictions),
        GIVEN_TEST(test_silent_norms),
        GIVEN_TEST(test_every_file),
    };
    return cmocka_run_group_tests_name("gpt2_said", tests, NULL, NULL);
}
