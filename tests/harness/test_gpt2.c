/*
 * GPT-2 under Hugging Face's names and TransformerLens', whole and in parts, in every float format:
 * the same numbers, each where the definition of GPT-2's matrices puts it; and what configs say.
 */
#include "../fixture.h"
#include "../gpt2_files.h"
#include "../safetensors_samples.h"

#include "../../harness/models/model_check.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Two readings --------------------------------------------------------------------------- */

static void expect_same_array(ModelFile *a, ModelFile *b, Slot slot, size_t layer)
{
    size_t count = model_count(a, slot, layer);
    const double *left = *model_array(a, slot, layer), *right = *model_array(b, slot, layer);
    assert_true((left == NULL) == (right == NULL));
    for (size_t i = 0; left != NULL && i < count; i++) {
        size_t turned = i % a->classes * a->d + i / a->classes; /* in an embedding, for W_U */
        size_t at = slot == SLOT_W_U && a->tied ? turned : i;
        if (left[at] != right[slot == SLOT_W_U && b->tied ? turned : i]) {
            fail_msg("slot %d of layer %zu differs", (int)slot, layer);
        }
    }
}

static void expect_same_model(ModelFile *a, ModelFile *b)
{
    assert_true(a->kind == b->kind && a->depth == b->depth && a->d == b->d);
    assert_true(a->heads == b->heads && a->d_head == b->d_head && a->hidden == b->hidden);
    assert_true(a->vocabulary == b->vocabulary && a->context == b->context);
    assert_true(a->classes == b->classes && a->merged == b->merged);
    assert_true(a->activation == b->activation && a->scaled == b->scaled);
    assert_true(a->causal == b->causal && a->normalization == b->normalization);
    assert_true(a->post == b->post && a->eps == b->eps && a->folded == b->folded);
    assert_true(memcmp(&a->said, &b->said, sizeof a->said) == 0);
    for (int slot = 0; slot < SLOT_TOKENS; slot++) {
        for (size_t layer = 0; layer < (slot < SLOTS_OF_LAYER ? a->depth : 1); layer++) {
            expect_same_array(a, b, (Slot)slot, layer);
        }
    }
}

static const char lens_metadata[] =
    "\"activation\":\"gelu_new\",\"blocks\":\"sequential\",\"positions\":\"learned\","
    "\"scale\":\"1/sqrt(d_head)\",\"mask\":\"causal\","
    "\"normalization\":\"LN\",\"eps\":\"1e-05\"";

static ModelFile *read_model(const char *path)
{
    ModelFile *model;
    assert_int_equal(model_file_read(&model, path, false), 0);
    return model;
}

/* The model as TransformerLens' names have it, each tensor in place. */
static ModelFile *read_lens(const FileFixture *fixture, bool head)
{
    static Gpt2Model lens;
    gpt2_make_lens(&lens, head);
    gpt2_write(fixture->path, &lens, "F64", lens_metadata, 0, 1);
    ModelFile *model = read_model(fixture->path);
    unlink(fixture->path);
    return model;
}

static void expect_file(const FileFixture *fixture, const char *path, bool head)
{
    ModelFile *expected = read_lens(fixture, head), *found = read_model(path);
    expect_same_model(expected, found);
    model_file_clear(expected);
    model_file_clear(found);
}

static void write_config(const FileFixture *fixture, const char *key, const char *value)
{
    gpt2_write_config(fixture->scratch.directory, key, value);
}

/* ---- Namings -------------------------------------------------------------------------------- */

/* What was read of a tensor. */
typedef struct {
    const char *name;
    const double *values;
    size_t count;
} Array;

/* What is read of TransformerLens' names is what was put there. */
static void test_lens(void **state)
{
    static Gpt2Model lens;
    ModelFile *model = read_lens(*state, true);
    gpt2_make_lens(&lens, true);
    const ModelFileLayer *layer = &model->layers[1];
    const Array arrays[] = {
        {"blocks.1.attn.W_Q", layer->attn.W_Q, 16},
        {"blocks.1.attn.W_K", layer->attn.W_K, 16},
        {"blocks.1.attn.W_V", layer->attn.W_V, 16},
        {"blocks.1.attn.W_O", layer->attn.W_O, 16},
        {"blocks.1.attn.b_Q", layer->attn.b_Q, 4},
        {"blocks.1.attn.b_K", layer->attn.b_K, 4},
        {"blocks.1.attn.b_V", layer->attn.b_V, 4},
        {"blocks.1.attn.b_O", layer->attn.b_O, 4},
        {"blocks.1.ln1.w", layer->ln1.w, 4},
        {"blocks.1.ln1.b", layer->ln1.b, 4},
        {"blocks.1.ln2.w", layer->ln2.w, 4},
        {"blocks.1.ln2.b", layer->ln2.b, 4},
        {"blocks.1.mlp.W_in", layer->mlp.W_in, 24},
        {"blocks.1.mlp.b_in", layer->mlp.b_in, 6},
        {"blocks.1.mlp.W_out", layer->mlp.W_out, 24},
        {"blocks.1.mlp.b_out", layer->mlp.b_out, 4},
        {"ln_final.w", model->ln_final.w, 4},
        {"ln_final.b", model->ln_final.b, 4},
        {"embed.W_E", model->W_E, 20},
        {"unembed.W_U", model->W_U, 20},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        const Gpt2Tensor *tensor = gpt2_find(&lens, arrays[i].name);
        assert_non_null(tensor);
        assert_memory_equal(arrays[i].values, tensor->values,
                            arrays[i].count * sizeof *arrays[i].values);
    }
    assert_true(model->normalization == NORMALIZATION_LAYERNORM && !model->post && !model->folded);
    assert_true(model->said.place && model->said.eps && model->eps == 1e-5);
    assert_true(model->activation == ACTIVATION_GELU_NEW && model->scaled && model->causal);
    model_file_clear(model);
}

static void test_namings(void **state)
{
    static const char *const dtypes[] = {"F64", "F32", "F16", "BF16"};
    static const char *const prefixes[] = {"transformer.", "", "_orig_mod.module.transformer.",
                                           "model._orig_mod."};
    static Gpt2Model model;
    const FileFixture *fixture = *state;
    for (int k = 0; k < 16; k++) {
        write_config(fixture, "tie_word_embeddings", (k & 2) != 0 ? "false" : "true");
        gpt2_make(&model, prefixes[k / 4], (k & 2) != 0, (k & 4) != 0);
        gpt2_write(fixture->path, &model, dtypes[k % 4], NULL, 0, 1);
        ModelFile *found = read_model(fixture->path);
        ModelFile *expected = read_lens(fixture, (k & 2) != 0);
        expect_same_model(expected, found);
        model_file_clear(expected);
        model_file_clear(found);
    }
}

/* An index, any of its files, and their folder are the same model as one file. */
static void test_parts(void **state)
{
    static const char *const names[] = {"model.safetensors.index.json",
                                        "model-00001-of-00003.safetensors",
                                        "model-00003-of-00003.safetensors", "."};
    static Gpt2Model model;
    const FileFixture *fixture = *state;
    write_config(fixture, "tie_word_embeddings", "false");
    gpt2_make(&model, "transformer.", true, true);
    gpt2_write_parts(fixture->scratch.directory, &model, "BF16", NULL, 3);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[SCRATCH_PATH];
        scratch_path(path, &fixture->scratch, names[i]);
        expect_file(fixture, path, true);
    }
    /* Without the folder's name, from within. */
    char before[SCRATCH_PATH];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(fixture->scratch.directory), 0);
    expect_file(fixture, "model.safetensors.index.json", true);
    assert_int_equal(chdir(before), 0);
    ModelFile *found = read_model(fixture->scratch.directory);
    assert_int_equal(found->path_count, 5);
    model_file_clear(found);
}

/* TransformerLens' names in parts: metadata in each of them, or in the index alone. */
static void test_lens_parts(void **state)
{
    static Gpt2Model model;
    const FileFixture *fixture = *state;
    char path[SCRATCH_PATH], text[SCRATCH_TEXT];
    gpt2_make_lens(&model, false);
    gpt2_write_parts(fixture->scratch.directory, &model, "F32", lens_metadata, 2);
    expect_file(fixture, fixture->scratch.directory, false);
    gpt2_write_parts(fixture->scratch.directory, &model, "F32", NULL, 2);
    scratch_path(path, &fixture->scratch, "model.safetensors.index.json");
    assert_true(file_read(text, path) > 0);
    char *changed = malloc(SCRATCH_TEXT);
    assert_non_null(changed);
    int length = snprintf(changed, SCRATCH_TEXT, "{\"metadata\": {%s}%s", lens_metadata,
                          strstr(text, ", \"weight_map\""));
    file_write(path, changed, (size_t)length);
    free(changed);
    expect_file(fixture, path, false);
}

/* ---- What is said --------------------------------------------------------------------------- */

static ModelFile *read_changed(const FileFixture *fixture, const char *key, const char *value)
{
    static Gpt2Model model;
    write_config(fixture, key, value);
    gpt2_make(&model, "", false, false);
    gpt2_write(fixture->path, &model, "F32", NULL, 0, 1);
    return read_model(fixture->path);
}

/* Each key of the config is what it says, and what it does not say is not assumed. */
static void test_config(void **state)
{
    static const struct {
        const char *key, *value;
        bool activation, scale, eps;
        Activation of;
        bool scaled;
        double is;
    } cases[] = {
        {"activation_function", "\"gelu\"", true, true, true, ACTIVATION_GELU, true, 1e-5},
        {"activation_function", "\"swish\"", true, true, true, ACTIVATION_SILU, true, 1e-5},
        {"activation_function", "\"gelu_pytorch_tanh\"", true, true, true, ACTIVATION_GELU_NEW,
         true, 1e-5},
        {"activation_function", NULL, false, true, true, ACTIVATION_SILU, true, 1e-5},
        {"layer_norm_epsilon", "1e12", true, true, true, ACTIVATION_GELU_NEW, true, 1e12},
        {"layer_norm_epsilon", "1e300", true, true, true, ACTIVATION_GELU_NEW, true, 1e300},
        {"layer_norm_epsilon", "1000000000000", true, true, true, ACTIVATION_GELU_NEW, true, 1e12},
        {"layer_norm_epsilon", NULL, true, true, false, ACTIVATION_GELU_NEW, true, 0},
        {"layer_norm_epsilon", "null", true, true, false, ACTIVATION_GELU_NEW, true, 0},
        {"scale_attn_weights", "false", true, true, true, ACTIVATION_GELU_NEW, false, 1e-5},
        {"scale_attn_weights", NULL, true, true, true, ACTIVATION_GELU_NEW, true, 1e-5},
        {"n_inner", "null", true, true, true, ACTIVATION_GELU_NEW, true, 1e-5},
        {"tie_word_embeddings", "true", true, true, true, ACTIVATION_GELU_NEW, true, 1e-5},
        {"pruned_heads", "{}", true, true, true, ACTIVATION_GELU_NEW, true, 1e-5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ModelFile *model = read_changed(*state, cases[i].key, cases[i].value);
        assert_int_equal(model->said.activation, cases[i].activation);
        assert_int_equal(model->said.scale, cases[i].scale);
        assert_int_equal(model->said.eps, cases[i].eps);
        assert_true(!cases[i].activation || model->activation == cases[i].of);
        assert_int_equal(model->scaled, cases[i].scaled);
        assert_true(!cases[i].eps || model->eps == cases[i].is);
        assert_true(model->said.mask && model->causal && model->said.normalization);
        assert_true(model->normalization == NORMALIZATION_LAYERNORM && model->said.place);
        model_file_clear(model);
    }
}

/* Without a config heads come from whoever asks, and nothing else is known. */
static void test_no_config(void **state)
{
    static Gpt2Model model;
    FileFixture *fixture = *state;
    ModelFile *found, *expected = read_lens(fixture, false);
    gpt2_make(&model, "", false, false);
    gpt2_write(fixture->path, &model, "F32", NULL, 0, 1);
    stderr_hold(&fixture->scratch);
    int status = model_file_read(&found, fixture->path, false);
    stderr_take(fixture->text, &fixture->scratch);
    assert_int_equal(status, 2);
    assert_non_null(strstr(fixture->text, "how many heads there are is not said: expected n_head"));
    assert_int_equal(model_file_read_with(&found, fixture->path, &(ModelFileFlags){.heads = 2}), 0);
    assert_true(!found->said.activation && !found->said.scale && !found->said.eps);
    found->said = expected->said;
    found->activation = expected->activation;
    found->scaled = expected->scaled;
    found->eps = expected->eps;
    expect_same_model(expected, found);
    model_file_clear(expected);
    model_file_clear(found);
}

/* Norms that were folded: gamma is 1, beta 0, and there is a final norm. */
static void test_folded(void **state)
{
    static const char *const kinds[] = {"LNPre", "RMSPre"};
    static Gpt2Model model;
    const FileFixture *fixture = *state;
    for (size_t k = 0; k < 2; k++) {
        char metadata[200];
        gpt2_make_lens(&model, true);
        for (size_t l = 0; l < 2 * GPT2_DEPTH; l++) {
            char name[64];
            snprintf(name, sizeof name, "blocks.%zu.ln%zu.w", l / 2, l % 2 + 1);
            gpt2_drop(&model, name);
            *strrchr(name, 'w') = 'b';
            gpt2_drop(&model, name);
        }
        gpt2_drop(&model, "ln_final.w");
        gpt2_drop(&model, "ln_final.b");
        snprintf(metadata, sizeof metadata, "\"normalization\":\"%s\",\"eps\":\"1e-6\"", kinds[k]);
        gpt2_write(fixture->path, &model, "F32", metadata, 0, 1);
        ModelFile *found = read_model(fixture->path);
        assert_true(found->folded && found->said.normalization && found->said.place);
        assert_int_equal(found->normalization,
                         k == 0 ? NORMALIZATION_LAYERNORM : NORMALIZATION_RMSNORM);
        const ModelFileGains *norms[] = {&found->layers[0].ln1, &found->layers[1].ln2,
                                         &found->ln_final};
        for (size_t i = 0; i < 3; i++) {
            for (size_t c = 0; c < GPT2_D; c++) {
                assert_true(norms[i]->w[c] == 1 && norms[i]->b[c] == 0);
            }
        }
        model_file_clear(found);
    }
}

/* LayerNorm-free variants: eps of 1e12, and weights of 1e6 times what they stand for. */
static void test_norms_in_name(void **state)
{
    double least, most;
    ModelFile *model = read_changed(*state, "layer_norm_epsilon", "1e12");
    double *const norms[] = {model->layers[0].ln1.w, model->layers[0].ln2.w, model->layers[1].ln1.w,
                             model->layers[1].ln2.w, model->ln_final.w};
    const size_t count = sizeof norms / sizeof *norms;
    for (size_t i = 0; i < count * GPT2_D; i++) {
        norms[i / GPT2_D][i % GPT2_D] = 1e6;
    }
    for (size_t i = 0; i < count; i++) { /* each may have the least and the most */
        norms[i][i % GPT2_D] = 0.5e6;
        norms[i][(i + 1) % GPT2_D] = -2e6;
        assert_true(model_norms_in_name(&least, &most, model, 1e12));
        assert_true(least == 0.5 && most == 2);
        norms[i][i % GPT2_D] = norms[i][(i + 1) % GPT2_D] = 1e6;
    }
    assert_false(model_norms_in_name(&least, &most, model, 1e-5));
    model_file_clear(model);
}

SUBJECT(gpt2)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(test_lens),       MODEL_TEST(test_namings),       MODEL_TEST(test_parts),
        MODEL_TEST(test_lens_parts), MODEL_TEST(test_config),        MODEL_TEST(test_no_config),
        MODEL_TEST(test_folded),     MODEL_TEST(test_norms_in_name),
    };
    return cmocka_run_group_tests_name("gpt2", tests, NULL, NULL);
}
