/*
 * --weights FILE: what the file decides, what contradicts it, which constructions fit it, and
 * that files stay apart.
 */
#include "../given.h"
#include "../safetensors_samples.h"

#include "../../harness/evaluate/schedule.h"
#include "../../harness/point/point.h"
#include "../../harness/models/safetensors.h"
#include "../../harness/table/identity.h"
#include "../../harness/table/table.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRAINED "--weights " GIVEN_TRAINED " "

/* One file of every kind. */
static void make_files(const Given *given)
{
    given_make_all(given);
    given_make(given, "extra.safetensors", MADE_FFN, 0, 4);
    given_make(given, "oblong.safetensors", MADE_LINEAR, 4, 0);
    given_make(given, "norm.safetensors", MADE_NORM, 0, 0);
}

static void test_what_a_file_decides(void **state)
{
    Given *given = *state;
    const Point *point = given_points(given, TRAINED "--n 20", 1);
    const CaseSpec *spec = &point->spec;
    assert_int_equal(spec->construction, CONSTRUCTION_TRANSFORMER);
    assert_int_equal(spec->n, 20);
    assert_int_equal(spec->d, 64);
    assert_int_equal(spec->d_ff, 256);
    assert_int_equal(spec->heads, 4);
    assert_int_equal(spec->d_head, 16);
    assert_int_equal(spec->depth, 1);
    assert_int_equal(spec->mask, MASK_CAUSAL);
    assert_int_equal(spec->activation, ACTIVATION_SILU);
    assert_non_null(spec->given);
    assert_true(spec->scaled);
    assert_null(spec->given->x);
    assert_false(point_axis_matters(point, AXIS_BIAS));
    assert_true(point_axis_matters(point, AXIS_SEED));
    assert_int_equal(given_read(given, COMMAND_DEPTH, TRAINED "--n 7"), 0);
    assert_int_equal(given->grid.points[0].spec.depth, 1);
    given_points(given, TRAINED "--seed 1:3 --n 2,3", 6);
}

static void test_kinds(void **state)
{
    static const struct {
        const char *name;
        size_t d_ff, heads, d_head;
        Construction construction;
        Mask mask;
        Activation activation;
        Linear linear;
    } kinds[] = {
        {"x", 12, 2, 2, CONSTRUCTION_ATTENTION, MASK_CAUSAL, ACTIVATION_SILU, LINEAR_IN_PLACE},
        {"merged", 12, 2, 0, CONSTRUCTION_ATTENTION, MASK_NONE, ACTIVATION_SILU, LINEAR_IN_PLACE},
        {"ffn", 5, 2, 0, CONSTRUCTION_FUSED, MASK_NONE, ACTIVATION_GELU, LINEAR_IN_PLACE},
        {"square", 12, 2, 0, CONSTRUCTION_LINEAR, MASK_NONE, ACTIVATION_SILU, LINEAR_IN_PLACE},
        {"oblong", 4, 2, 0, CONSTRUCTION_LINEAR, MASK_NONE, ACTIVATION_SILU, LINEAR_BLOCK},
    };
    Given *given = *state;
    make_files(given);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char line[128];
        snprintf(line, sizeof line, "--weights %%%s.safetensors%s", kinds[i].name,
                 i == 4 ? " --n 20" : "");
        const CaseSpec *spec = &given_points(given, line, 1)->spec;
        assert_int_equal(spec->construction, kinds[i].construction);
        assert_int_equal(spec->n, i == 4 ? 20 : 4);
        assert_int_equal(spec->d, 3);
        assert_int_equal(spec->d_ff, kinds[i].d_ff);
        assert_int_equal(spec->heads, kinds[i].heads);
        assert_int_equal(spec->d_head, kinds[i].d_head);
        assert_int_equal(spec->depth, 2);
        assert_int_equal(spec->mask, kinds[i].mask);
        assert_int_equal(spec->activation, kinds[i].activation);
        assert_int_equal(spec->linear, kinds[i].linear);
        assert_int_equal(spec->scaled, i == 0);
        free(given_rows(&given->grid.points[0], true));
    }
}

/* data: what the case has of the tensor blocks.LAYER.NAME. */
static void expect_tensor(const SafetensorsFile *file, size_t layer, const char *name,
                          const double *data)
{
    char full[64];
    double values[64];
    snprintf(full, sizeof full, "blocks.%zu.%s", layer, name);
    const SafetensorsTensor *tensor = tensor_named(file, full);
    if (tensor == NULL) {
        assert_null(data);
        return;
    }
    assert_true(tensor->count <= sizeof values / sizeof *values);
    assert_int_equal(safetensors_floats(values, file, tensor), 0);
    if (data == NULL || memcmp(values, data, tensor->count * sizeof *values) != 0) {
        fail_msg("%s did not arrive", full);
    }
}

static void expect_layer(const SafetensorsFile *file, size_t layer, const GivenLayer *given)
{
    expect_tensor(file, layer, "attn.W_Q", given->w_q);
    expect_tensor(file, layer, "attn.W_K", given->w_k);
    expect_tensor(file, layer, "attn.W_V", given->w_v);
    expect_tensor(file, layer, "attn.W_O", given->w_o);
    expect_tensor(file, layer, "attn.b_Q", given->b_q);
    expect_tensor(file, layer, "attn.b_K", given->b_k);
    expect_tensor(file, layer, "attn.b_V", given->b_v);
    expect_tensor(file, layer, "attn.b_O", given->b_o);
    expect_tensor(file, layer, "attn.QK", given->qk);
    expect_tensor(file, layer, "attn.OV", given->ov);
    expect_tensor(file, layer, "mlp.W_in", given->w_in);
    expect_tensor(file, layer, "mlp.b_in", given->b_in);
    expect_tensor(file, layer, "mlp.W_out", given->w_out);
    expect_tensor(file, layer, "mlp.b_out", given->b_out);
    expect_tensor(file, layer, "linear.W", given->linear_w);
    expect_tensor(file, layer, "linear.b", given->linear_b);
}

static void test_every_tensor_arrives(void **state)
{
    static const char *const names[] = {"x.safetensors", "merged.safetensors", "ffn.safetensors",
                                        "oblong.safetensors"};
    Given *given = *state;
    make_files(given);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[128], path[SCRATCH_PATH];
        SafetensorsFile *file;
        snprintf(line, sizeof line, "--weights %%%s --n 4", names[i]);
        scratch_path(path, &given->scratch, names[i]);
        const Point *point = given_points(given, line, 1);
        assert_int_equal(safetensors_open(&file, path), 0);
        expect_layer(file, 0, &point->spec.given->layers[0]);
        expect_layer(file, 1, &point->spec.given->layers[1]);
        safetensors_close(file);
    }
}

/* With an X nothing is drawn, unless the bias row's content is. */
static void test_seed(void **state)
{
    Given *given = *state;
    make_files(given);
    const Point *point = given_points(given, "--weights %x.safetensors --seed 1:3", 1);
    char *rows = given_rows(point, true);
    assert_non_null(strstr(rows, "x.safetensors,,scale=1/sqrt(d_head),1,"));
    free(rows);
    given_points(given, "--weights %x.safetensors --seed 1:3 --bias-row-content random", 3);
    given_points(given, "--weights %attention.safetensors --n 5 --seed 1:3", 3);
}

/* A file whose metadata are silent holds a norm's weights or none; an X alone has them drawn. */
static void test_norms(void **state)
{
    Given *given = *state;
    given_make(given, "silent.safetensors", MADE_FFN, 0, 2);
    given_make(given, "x.safetensors", MADE_INPUT, 0, 2);
    given_points(given, "--weights %silent.safetensors --activation gelu --normalization none", 1);
    given_expect_fault(
        given, COMMAND_SWEEP,
        "--weights %silent.safetensors --activation gelu --normalization layernorm",
        "--normalization: token 'layernorm': expected none: the weights file has no tensors of "
        "norms");
    const char *drawn =
        "--construction silu --weights %x.safetensors --activation silu --depth 3 "
        "--normalization layernorm --normalization-place post --reference none --seed 1,2";
    const Point *points = given_points(given, drawn, 2);
    free(given_rows(&points[0], false));
}

static void test_saying_the_same(void **state)
{
    Given *given = *state;
    make_files(given);
    given_points(given,
                 TRAINED "--d 64 --d-ff 4D,256 --heads 4 --d-head 16 --depth 1 --mask causal "
                         "--activation silu --n 3",
                 1);
    given_points(given, "--weights %x.safetensors --n 4 --d-ff 7 --activation gelu", 1);
    given_points(given, "--weights %square.safetensors --linear in-place,block", 2);
    given_points(given, "--weights %oblong.safetensors --linear block --n 2,5", 2);
}

static void test_contradictions(void **state)
{
    static const char *const faults[][2] = {
        {TRAINED "--d 32",
         "headproof: --d: token '32': the weights file " GIVEN_TRAINED " has d = 64"},
        {TRAINED "--n 3 --d 64,32", "--d: token '32': the weights file"},
        {TRAINED "--d-ff 3D",
         "--d-ff: token '192': the weights file " GIVEN_TRAINED " has d-ff = 256"},
        {TRAINED "--heads 2", "--heads: token '2'"},
        {TRAINED "--d-head 0", "has d-head = 16"},
        {TRAINED "--depth 2", "has depth = 1"},
        {TRAINED "--mask none",
         "--mask: token 'none': the weights file " GIVEN_TRAINED " has mask = causal"},
        {TRAINED "--activation relu", "has activation = silu"},
        {"--weights %x.safetensors --n 5", "--n: token '5': the weights file %x.safetensors has n"},
        {"--weights %oblong.safetensors --linear in-place", "has linear = block"},
        {"--weights %square.safetensors --linear clear", "--linear: token 'clear': expected in-"},
        {TRAINED "--n 3 --bias-row last", "--bias-row: token 'last': expected auto or first"},
    };
    Given *given = *state;
    make_files(given);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        given_expect_fault(given, COMMAND_SWEEP, faults[i][0], faults[i][1]);
    }
    const char text[] = "[a]\nomega = 5\nd = 32\n";
    file_write(given->file, text, strlen(text));
    given_expect_fault(given, COMMAND_SWEEP, "FILE --weights %x.safetensors",
                       "given.case:3: token '32': the weights file %x.safetensors has d = 3");
}

static void test_constructions(void **state)
{
    Given *given = *state;
    make_files(given);
    const Point *points = given_points(given, TRAINED "--n 3 --construction all", 2);
    assert_int_equal(points[0].spec.construction, CONSTRUCTION_TRANSFORMER3);
    assert_int_equal(points[1].spec.construction, CONSTRUCTION_TRANSFORMER);
    given_points(given, "--weights %ffn.safetensors --construction ffn3,fused", 2);
    given_points(given,
                 "--weights stable,%x.safetensors --d 3 --n 4 --d-head 2 --mask causal "
                 "--depth 2 --construction all",
                 CONSTRUCTION_COUNT + 1);
    given_expect_fault(given, COMMAND_SWEEP, TRAINED "--construction silu",
                       "--construction: token 'silu': the weights file " GIVEN_TRAINED
                       " needs transformer3 or transformer");
    given_expect_fault(given, COMMAND_SWEEP,
                       "--weights %x.safetensors --construction attention,fused",
                       "--construction: token 'fused': the weights file %x.safetensors needs");
    given_expect_fault(given, COMMAND_DEPTH, "--weights %square.safetensors --construction ffn3",
                       "needs linear");
}

static void test_lists(void **state)
{
    Given *given = *state;
    make_files(given);
    const Point *points =
        given_points(given,
                     "--construction attention --d 3 --n 4 --d-head 2 --heads 2 --depth 2 "
                     "--mask causal --weights stable,%x.safetensors,normal,%attention.safetensors",
                     4);
    assert_int_equal(given->grid.sources.count, 2);
    assert_null(points[0].source);
    assert_null(points[0].spec.given);
    assert_non_null(strstr(points[1].source->path, "x.safetensors"));
    assert_int_equal(points[2].spec.weights, WEIGHTS_NORMAL);
    assert_non_null(strstr(points[3].source->path, "attention.safetensors"));
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++) {
            assert_int_equal(point_compare_bases(&points[i], &points[j]) == 0, i == j);
            assert_int_equal(point_compare(&points[i], &points[j]) == 0, i == j);
        }
    }
    char text[2 * SCRATCH_PATH];
    snprintf(text, sizeof text, "[a]\nweights = %s, %s\nomega = 5,6\n[b]\nweights=%s\nomega=6:7\n",
             GIVEN_TRAINED, "stable", GIVEN_TRAINED);
    file_write(given->file, text, strlen(text));
    points = given_points(given, "FILE --d 64 --mask causal --heads 4 --n 5", 5);
    assert_int_equal(given->grid.sources.count, 1);
    assert_int_equal(point_compare_bases(&points[0], &points[4]), 0);
    given_expect_fault(given, COMMAND_SWEEP, "--weights a/b,normal,a/b", "a/b is repeated");
}

static void test_bad_files(void **state)
{
    static const char junk[] = "junk";
    char path[SCRATCH_PATH];
    Given *given = *state;
    make_files(given);
    scratch_path(path, &given->scratch, "junk.safetensors");
    file_write(path, junk, sizeof junk);
    given_expect_fault(given, COMMAND_SWEEP, "--weights %none.safetensors", "%none.safetensors: ");
    given_expect_fault(given, COMMAND_SWEEP, "--weights stable,none.safetensors",
                       "none.safetensors: ");
    given_expect_fault(given, COMMAND_SWEEP, "--weights %", "%: ");
    given_expect_fault(given, COMMAND_MIN_OMEGA, "--tolerance 1 --weights %junk.safetensors",
                       "%junk.safetensors: ");
    given_expect_fault(given, COMMAND_SWEEP, "--weights %norm.safetensors",
                       "as there are tensors of norms");
    given_expect_fault(given, COMMAND_SWEEP, "--weights %extra.safetensors",
                       "%extra.safetensors: unknown tensors: 'exp_avg'");
    given_expect_fault(given, COMMAND_SWEEP, "--weights file",
                       "--weights: token 'file': expected one of stable, normal, or the path");
    given_expect_fault(given, COMMAND_SWEEP, "--weights a'/b", "token 'a'/b': expected a path");
    given_expect_fault(given, COMMAND_SWEEP, "--weights a\"/b", "without quotes");
    given_expect_fault(given, COMMAND_SWEEP, "--weights a\n/b",
                       "token 'a\\x0a/b': expected a path");
    given_expect_fault(given, COMMAND_SWEEP, TRAINED "--n 3 --bias random",
                       "--bias: token 'random': expected no --bias beside a weights file");
    given_expect_fault(given, COMMAND_SWEEP, TRAINED "--n 3 --bias none",
                       "--bias: token 'none': expected no --bias beside a weights file");
    given_expect_fault(given, COMMAND_SWEEP, "--weights a,b/c", "token 'a': expected one of");
}

/* The command printed for a point means it, and gives its rows. */
static void test_commands_reproduce(void **state)
{
    static const char *const lines[] = {
        TRAINED "--n 3 --omega 9 --construction transformer3",
        "--weights %x.safetensors --omega 8",
        "--weights %attention.safetensors --omega 8 --n 5 --seed 4 --reference subtract",
        "--weights %extra.safetensors --omega 8 --gelu two --ignore-extra",
        "--weights %oblong.safetensors --omega 8 --seed 3 --n 2",
        "--weights %square.safetensors --omega 8 --linear block --bias-row-content random --seed 9",
    };
    Given *given = *state;
    make_files(given);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const Point *point = given_points(given, lines[i], 1);
        char *rows = given_rows(point, true), *again = given_rows_again(given, point, true);
        assert_string_equal(rows, again);
        free(again);
        free(rows);
    }
}

/* A path that a shell would take apart is quoted. */
static void test_quoting(void **state)
{
    Given *given = *state;
    char path[SCRATCH_PATH], expected[2 * SCRATCH_PATH];
    const char name[] = "a&b$(c).safetensors";
    given_make(given, name, MADE_ATTENTION, 0, 2);
    scratch_path(path, &given->scratch, name);
    char *command = given_command(given_points(given, "--weights %a&b$(c).safetensors", 1));
    snprintf(expected, sizeof expected, " --weights '%s'", path);
    assert_non_null(strstr(command, expected));
    free(command);
}

/* Every file is in the identity of the grid that reads it: a byte more in either changes it, and
 * the keys' digest stays. */
static void test_identity(void **state)
{
    static const char *const names[] = {"a.safetensors", "b.safetensors"};
    Given *given = *state;
    GridIdentity before, after;
    given_make(given, names[0], MADE_ATTENTION, 0, 4);
    given_make(given, names[1], MADE_MERGED, 0, 4);
    given_points(given, "--omega 9 --weights %a.safetensors,%b.safetensors", 2);
    assert_int_equal(grid_identify(&before, &given->grid), 0);
    for (size_t i = 0; i < 2; i++) {
        char path[SCRATCH_PATH];
        scratch_path(path, &given->scratch, names[i]);
        FILE *file = fopen(path, "a");
        assert_non_null(file);
        assert_true(putc(' ', file) == ' ' && fclose(file) == 0);
        assert_int_equal(grid_identify(&after, &given->grid), 0);
        assert_string_equal(before.points, after.points);
        assert_string_not_equal(before.weights, after.weights);
        before = after;
    }
}

SUBJECT(weights)
{
    const struct CMUnitTest tests[] = {
        GIVEN_TEST(test_what_a_file_decides),
        GIVEN_TEST(test_kinds),
        GIVEN_TEST(test_every_tensor_arrives),
        GIVEN_TEST(test_seed),
        GIVEN_TEST(test_norms),
        GIVEN_TEST(test_saying_the_same),
        GIVEN_TEST(test_contradictions),
        GIVEN_TEST(test_constructions),
        GIVEN_TEST(test_lists),
        GIVEN_TEST(test_bad_files),
        GIVEN_TEST(test_commands_reproduce),
        GIVEN_TEST(test_quoting),
        GIVEN_TEST(test_identity),
    };
    return cmocka_run_group_tests_name("weights", tests, NULL, NULL);
}
