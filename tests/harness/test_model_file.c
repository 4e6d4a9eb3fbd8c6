/*
 * Model files: every tensor arrives where it belongs, and the trained model is read as another
 * program reads it.
 */
#include "../given.h"
#include "printed.h"
#include "safetensors_fixture.h"

#include "../../harness/models/model_file.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The trained model --------------------------------------------------------------------- */

static const char trained[] = "cases/models/modadd53-silu.safetensors";

static void test_trained_sizes(void **state)
{
    ModelFile *model;
    assert_int_equal(model_file_read(&model, trained, false), 0);
    assert_int_equal(model->kind, MODEL_FILE_TRANSFORMER);
    assert_int_equal(model->activation, ACTIVATION_SILU);
    assert_true(model->scaled && model->causal && !model->merged);
    assert_true(model->said.scale && model->said.activation && model->said.mask);
    assert_true(model->said.normalization);
    assert_int_equal(model->depth, 1);
    assert_int_equal(model->d, 64);
    assert_int_equal(model->heads, 4);
    assert_int_equal(model->d_head, 16);
    assert_int_equal(model->hidden, 256);
    assert_int_equal(model->vocabulary, 54);
    assert_int_equal(model->context, 3);
    assert_int_equal(model->classes, 53);
    assert_int_equal(model->other + model->rows + model->tuples + model->length, 0);
    const ModelFileLayer *layer = &model->layers[0];
    assert_null(layer->attn.b_Q);
    assert_null(layer->attn.b_O);
    assert_null(layer->attn.QK);
    assert_null(layer->linear.W);
    assert_null(model->b_U);
    assert_null(model->X);
    assert_null(model->tokens);
    model_file_clear(model);
}

static void test_trained_values(void **state)
{
    ModelFile *model;
    assert_int_equal(model_file_read(&model, trained, false), 0);
    const ModelFileLayer *layer = &model->layers[0];
    const Printed printed[] = {
        {"embed.W_E", model->W_E, 3456, 0x1.7a947cp-5, -0x1.d6252ap-3, -0x1.96853p-3,
         -0x1.64406952afp+4},
        {"pos_embed.W_pos", model->W_pos, 192, -0x1.a57718p-6, -0x1.758074p-7, -0x1.761162p-3,
         0x1.0009cfe774p+3},
        {"unembed.W_U", model->W_U, 3392, -0x1.7d63cp-7, 0x1.559facp-4, -0x1.37df96p-4,
         0x1.2e85c709d5p+2},
        {"attn.W_Q", layer->attn.W_Q, 4096, 0x1.63c872p-5, 0x1.eb73b6p-5, -0x1.057b9cp-4,
         -0x1.5e6bb35cp+1},
        {"attn.W_K", layer->attn.W_K, 4096, -0x1.d90288p-8, -0x1.9047c6p-6, 0x1.09814cp-5,
         0x1.0e4fb33998p+0},
        {"attn.W_V", layer->attn.W_V, 4096, 0x1.aa6dfcp-5, 0x1.f3ffe6p-3, 0x1.0d0108p-3,
         -0x1.c36ffe1bbb8p+5},
        {"attn.W_O", layer->attn.W_O, 4096, 0x1.9007d8p-3, -0x1.c6e274p-3, 0x1.984accp-4,
         0x1.b090fa35584p+5},
        {"mlp.W_in", layer->mlp.W_in, 16384, -0x1.4955b4p-4, 0x1.e5acaap-6, 0x1.d4de84p-5,
         0x1.75d2bb04b978p+5},
        {"mlp.b_in", layer->mlp.b_in, 256, 0x1.6c2bfap-5, 0x1.0bef48p-5, 0x1.fef71ap-6,
         0x1.1cad2efde8p+5},
        {"mlp.W_out", layer->mlp.W_out, 16384, 0x1.9034b4p-5, -0x1.70a87ep-4, 0x1.aae5fep-5,
         0x1.2d802a9c19cp+3},
        {"mlp.b_out", layer->mlp.b_out, 64, 0x1.4c1cfep-7, -0x1.28c226p-8, -0x1.02faccp-6,
         0x1.acb1f1c3ep-1},
    };
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        check_printed(&printed[i]);
    }
    model_file_clear(model);
}

/* ---- Every field --------------------------------------------------------------------------- */

/* A file whose tensors [count] are F64 and hold 100 t, 100 t + 1, ... in tensor t. */
typedef struct {
    const char *name;
    size_t rank, shape[3];
} Shaped;

static ModelFile *write_and_read(FileFixture *fixture, const Shaped *tensors, size_t count)
{
    ModelFile *model;
    double values[32][64];
    SafetensorsWriter *writer = safetensors_writer_make();
    assert_non_null(writer);
    for (size_t t = 0; t < count; t++) {
        for (size_t i = 0; i < 64; i++) {
            values[t][i] = (double)(100 * t + i);
        }
        assert_int_equal(safetensors_writer_floats(writer, tensors[t].name, tensors[t].rank,
                                                   tensors[t].shape, values[t]),
                         0);
    }
    assert_int_equal(safetensors_writer_finish(writer, fixture->path), 0);
    safetensors_writer_clear(writer);
    assert_int_equal(model_file_read(&model, fixture->path, false), 0);
    return model;
}

static void check_field(const double *field, size_t t, size_t count)
{
    assert_non_null(field);
    for (size_t i = 0; i < count; i++) {
        assert_true(field[i] == (double)(100 * t + i));
    }
}

static const Shaped factored[] = {
    {"embed.W_E", 2, {5, 3}},
    {"pos_embed.W_pos", 2, {7, 3}},
    {"blocks.1.attn.W_Q", 3, {2, 3, 4}},
    {"blocks.1.attn.W_K", 3, {2, 3, 4}},
    {"blocks.1.attn.W_V", 3, {2, 3, 4}},
    {"blocks.1.attn.W_O", 3, {2, 4, 3}},
    {"blocks.1.attn.b_Q", 2, {2, 4}},
    {"blocks.1.attn.b_K", 2, {2, 4}},
    {"blocks.1.attn.b_V", 2, {2, 4}},
    {"blocks.1.attn.b_O", 1, {3}},
    {"blocks.1.mlp.W_in", 2, {3, 6}},
    {"blocks.1.mlp.b_in", 1, {6}},
    {"blocks.1.mlp.W_out", 2, {6, 3}},
    {"blocks.1.mlp.b_out", 1, {3}},
    {"blocks.0.attn.W_Q", 3, {2, 3, 4}},
    {"blocks.0.attn.W_K", 3, {2, 3, 4}},
    {"blocks.0.attn.W_V", 3, {2, 3, 4}},
    {"blocks.0.attn.W_O", 3, {2, 4, 3}},
    {"blocks.0.mlp.W_in", 2, {3, 6}},
    {"blocks.0.mlp.W_out", 2, {6, 3}},
    {"unembed.W_U", 2, {3, 8}},
    {"unembed.b_U", 1, {8}},
    {"X", 2, {9, 3}},
    {"blocks.0.attn.b_Q", 2, {2, 4}},
    {"blocks.0.attn.b_K", 2, {2, 4}},
    {"blocks.0.attn.b_V", 2, {2, 4}},
    {"blocks.0.attn.b_O", 1, {3}},
    {"blocks.0.mlp.b_in", 1, {6}},
    {"blocks.0.mlp.b_out", 1, {3}},
};

static void test_factored(void **state)
{
    ModelFile *model = write_and_read(*state, factored, sizeof factored / sizeof *factored);
    const ModelFileLayer *layer = &model->layers[1];
    check_field(model->W_E, 0, 15);
    check_field(model->W_pos, 1, 21);
    check_field(layer->attn.W_Q, 2, 24);
    check_field(layer->attn.W_K, 3, 24);
    check_field(layer->attn.W_V, 4, 24);
    check_field(layer->attn.W_O, 5, 24);
    check_field(layer->attn.b_Q, 6, 8);
    check_field(layer->attn.b_K, 7, 8);
    check_field(layer->attn.b_V, 8, 8);
    check_field(layer->attn.b_O, 9, 3);
    check_field(layer->mlp.W_in, 10, 18);
    check_field(layer->mlp.b_in, 11, 6);
    check_field(layer->mlp.W_out, 12, 18);
    check_field(layer->mlp.b_out, 13, 3);
    check_field(model->layers[0].attn.W_Q, 14, 24);
    check_field(model->layers[0].mlp.W_out, 19, 18);
    check_field(model->W_U, 20, 24);
    check_field(model->b_U, 21, 8);
    check_field(model->X, 22, 27);
    check_field(model->layers[0].mlp.b_in, 27, 6);
    assert_true(model->depth == 2 && model->d == 3 && model->heads == 2 && model->d_head == 4);
    assert_true(model->hidden == 6 && model->vocabulary == 5 && model->context == 7);
    assert_true(model->classes == 8 && model->rows == 9);
    assert_true(!model->said.scale && !model->said.activation && !model->said.mask);
    model_file_clear(model);
    model_file_clear(NULL);
}

static void test_other_kinds(void **state)
{
    static const Shaped merged[] = {{"blocks.0.attn.QK", 3, {2, 3, 3}},
                                    {"blocks.0.attn.OV", 3, {2, 3, 3}}};
    static const Shaped linear[] = {{"blocks.0.linear.W", 2, {3, 4}},
                                    {"blocks.0.linear.b", 1, {4}},
                                    {"blocks.1.linear.W", 2, {4, 3}},
                                    {"blocks.1.linear.b", 1, {3}}};
    static const Shaped ffn[] = {{"blocks.0.mlp.W_in", 2, {3, 4}},
                                 {"blocks.0.mlp.W_out", 2, {4, 3}}};
    ModelFile *model = write_and_read(*state, merged, 2);
    assert_true(model->kind == MODEL_FILE_ATTENTION && model->merged && model->d_head == 0);
    check_field(model->layers[0].attn.QK, 0, 18);
    check_field(model->layers[0].attn.OV, 1, 18);
    model_file_clear(model);
    model = write_and_read(*state, linear, 4);
    assert_true(model->kind == MODEL_FILE_LINEAR && model->d == 3 && model->other == 4);
    check_field(model->layers[0].linear.W, 0, 12);
    check_field(model->layers[0].linear.b, 1, 4);
    check_field(model->layers[1].linear.W, 2, 12);
    check_field(model->layers[1].linear.b, 3, 3);
    model_file_clear(model);
    model = write_and_read(*state, ffn, 2);
    assert_true(model->kind == MODEL_FILE_FFN && model->heads == 0 && model->hidden == 4);
    model_file_clear(model);
}

/* Buffers, integers as tokens, metadata, what is ignored; in the samples of the fuzzer. */
static void test_samples(void **state)
{
    FileFixture *fixture = *state;
    for (size_t i = 0; i < 4; i++) {
        Sample sample;
        ModelFile *model;
        assert_true(sample_model(&sample, i));
        write_sample(fixture, &sample);
        hold(fixture);
        int status = model_file_read(&model, fixture->path, false);
        take(fixture);
        assert_int_equal(status, i < 2 ? 0 : 2);
        assert_int_equal(count_lines(fixture->text), i < 2 ? 0 : 1);
        if (i == 2) {
            assert_non_null(
                strstr(fixture->text, "unknown tensors: 'optimizer.lr', 'step': expected"));
        }
        model_file_clear(model);
        assert_int_equal(model_file_read(&model, fixture->path, true), 0);
        if (i == 0) {
            assert_true(model->scaled && !model->causal && model->activation == ACTIVATION_GELU);
            assert_true(model->tuples == 1 && model->length == 2 && model->tokens[1] == 0);
        }
        model_file_clear(model);
    }
}

/* ---- What the metadata say ------------------------------------------------------------------ */

static ModelFile *read_tensors(const FileFixture *fixture, const char *metadata,
                               const SampleTensor *tensors, size_t count, bool ignore_extra)
{
    Sample sample;
    ModelFile *model;
    sample_build(&sample, metadata, tensors, count);
    write_sample(fixture, &sample);
    assert_int_equal(model_file_read(&model, fixture->path, ignore_extra), 0);
    return model;
}

/* What the metadata say, and what they do not: nothing is made up. */
static void test_said(void **state)
{
    static const struct {
        const char *metadata;
        bool scale, activation, mask, normalization;
    } files[] = {
        {NULL, false, false, false, false},
        {"\"scale\":\"1\"", true, false, false, false},
        {"\"activation\":\"relu\"", false, true, false, false},
        {"\"activation\":\"none\"", false, false, false, false},
        {"\"mask\":\"none\"", false, false, true, false},
        {"\"normalization\":\"none\",\"comment\":\"causal\"", false, false, false, true},
    };
    static const SampleTensor heads[] = {{"blocks.0.attn.W_Q", "F16", "[1,2,2]", 8, 0x3c},
                                         {"blocks.0.attn.W_K", "F16", "[1,2,2]", 8, 0x3c},
                                         {"blocks.0.attn.W_V", "F16", "[1,2,2]", 8, 0x3c},
                                         {"blocks.0.attn.W_O", "F16", "[1,2,2]", 8, 0x3c}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ModelFile *model = read_tensors(*state, files[i].metadata, heads, 4, false);
        assert_int_equal(model->said.scale, files[i].scale);
        assert_int_equal(model->said.activation, files[i].activation);
        assert_int_equal(model->said.mask, files[i].mask);
        assert_int_equal(model->said.normalization, files[i].normalization);
        model_file_clear(model);
    }
}

/* Where linear maps write is said beside an export's hidden columns. */
static void test_banks(void **state)
{
    static const SampleTensor oblong[] = {{"blocks.0.linear.W", "F16", "[2,3]", 12, 0x3c},
                                          {"X", "F16", "[4,2]", 16, 0x3c},
                                          {"result.X_hidden", "F16", "[4,3]", 24, 0x3c}};
    ModelFile *model = read_tensors(*state, "\"linear\":\"block\"", oblong, 3, false);
    assert_true(model->said.linear && model->banked && model->X_hidden != NULL);
    model_file_clear(model);
}

/* An X is a file by itself, with its buffers and results, and with what is skipped. */
static void test_x_alone(void **state)
{
    static const SampleTensor tensors[] = {{"X", "F16", "[3,2]", 12, 0x3c},
                                           {"result.0.r_T", "F16", "[3,2]", 12, 0x3c},
                                           {"optimizer.lr", "F16", "[1]", 2, 0x3c}};
    for (size_t count = 2; count <= 3; count++) {
        ModelFile *model = read_tensors(*state, NULL, tensors, count, count == 3);
        assert_true(model->kind == MODEL_FILE_INPUT && model->depth == 0);
        assert_true(model->d == 2 && model->rows == 3);
        model_file_clear(model);
    }
}

/* ---- The trained GPT-2 of cases/models/chargpt ----------------------------------------------- */

#define FOLDER "cases/models/chargpt"

static void check_layer(const ModelFileLayer *layer)
{
    const Printed printed[] = {
        {"W_Q", layer->attn.W_Q, 4096, 0x1.52d594p-4, 0x1.3511ecp-4, -0x1.783384p-4,
         -0x1.e9927213fp+1},
        {"W_K", layer->attn.W_K, 4096, 0x1.2d472ep-3, 0x1.2a87a6p-4, 0x1.24e21ep-6,
         -0x1.cbc84293458p+3},
        {"W_V", layer->attn.W_V, 4096, 0x1.450458p-5, 0x1.2feab4p-6, -0x1.dd3962p-9,
         -0x1.6c63bb3152bp+3},
        {"b_Q", layer->attn.b_Q, 64, -0x1.bac8f4p-4, 0x1.5c8b2ap-3, -0x1.3134c8p-4,
         -0x1.609a21c7p+2},
        {"b_K", layer->attn.b_K, 64, -0x1.ad21a8p-20, -0x1.a006f6p-11, 0x1.fb6ce2p-17,
         0x1.447d4da56p-6},
        {"b_V", layer->attn.b_V, 64, 0x1.32a8fp-6, 0x1.3c1fbp-6, 0x1.7c0d9cp-8, 0x1.29cf943ep-2},
        {"W_O", layer->attn.W_O, 4096, -0x1.7abd6ep-8, 0x1.3d4c6cp-7, 0x1.4a0bfcp-5,
         0x1.d470689c3fp+2},
        {"b_O", layer->attn.b_O, 64, 0x1.850e7ap-8, 0x1.3f7d72p-4, 0x1.9dd958p-4, 0x1.a16ebd48p-2},
        {"ln1.w", layer->ln1.w, 64, 0x1.08f17ap+0, 0x1.1f065ep+0, 0x1.06a6fep+0, 0x1.058c5e0dp+8},
        {"ln1.b", layer->ln1.b, 64, 0x1.24a1aap-5, -0x1.f8a478p-8, -0x1.23bd3ep-4,
         -0x1.42d05b2c5p-1},
        {"ln2.w", layer->ln2.w, 64, 0x1.03ff4cp+0, 0x1.279306p+0, 0x1.22fac8p+0, 0x1.077037bp+8},
        {"ln2.b", layer->ln2.b, 64, 0x1.a809e6p-5, 0x1.89c792p-4, 0x1.ee32acp-4, 0x1.c70b439cp-1},
        {"W_in", layer->mlp.W_in, 16384, 0x1.469ef4p-4, -0x1.a9d5aap-5, 0x1.2eed82p-7,
         -0x1.7927ed5b13ap+3},
        {"b_in", layer->mlp.b_in, 256, -0x1.2219eep-5, -0x1.acb74ap-6, -0x1.ecd0bep-5,
         -0x1.d1838f4d5p+5},
        {"W_out", layer->mlp.W_out, 16384, 0x1.5abfa6p-7, -0x1.20a762p-5, 0x1.fc99b6p-7,
         0x1.4fe3e0ab554p+2},
        {"b_out", layer->mlp.b_out, 64, -0x1.945afcp-6, 0x1.b4ef56p-5, 0x1.e1dd14p-6,
         0x1.0747fe24cp-1},
    };
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        check_printed(&printed[i]);
    }
}

static void chargpt_is_as_another_program_reads_it(void **state)
{
    ModelFile *model;
    assert_int_equal(model_file_read(&model, FOLDER, false), 0);
    const Printed printed[] = {
        {"W_E", model->W_E, 5888, -0x1.e5696p-3, -0x1.d06ceap-6, -0x1.b2d186p-10,
         0x1.5f00d4f17b8p+3},
        {"W_pos", model->W_pos, 4096, -0x1.61c632p-2, 0x1.3d1f74p-7, 0x1.23ce9cp-3,
         -0x1.9f33438af6p+2},
        {"ln_final.w", model->ln_final.w, 64, 0x1.ce0f02p+0, 0x1.cc4d5cp+0, 0x1.a5cd66p+0,
         0x1.bcb0be52p+8},
        {"ln_final.b", model->ln_final.b, 64, 0x1.66036cp-2, 0x1.4a997p-2, 0x1.6df1aep-2,
         0x1.1d356p-1},
    };
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        check_printed(&printed[i]);
    }
    check_layer(&model->layers[1]);
    assert_true(model->tied && model->W_U == model->W_E);
    assert_true(model->depth == 2 && model->heads == 4 && model->d_head == 16);
    assert_true(model->vocabulary == 92 && model->classes == 92 && model->context == 64);
    assert_true(model->eps == 1e-5 && model->path_count == 2);
    model_file_clear(model);
}

SUBJECT(model_file)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trained_sizes),
        cmocka_unit_test(test_trained_values),
        MODEL_TEST(test_factored),
        MODEL_TEST(test_other_kinds),
        MODEL_TEST(test_samples),
        MODEL_TEST(test_said),
        MODEL_TEST(test_banks),
        MODEL_TEST(test_x_alone),
        cmocka_unit_test(chargpt_is_as_another_program_reads_it),
    };
    return cmocka_run_group_tests_name("model_file", tests, NULL, NULL);
}
