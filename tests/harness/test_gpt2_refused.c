/*
 * Configs, indices and files of GPT-2 that are wrong, each in its own way: one message that names
 * the file, the key or tensor, and what was expected; and models of other architectures.
 */
#include "../../harness/models/model_file.h"
#include "../fixture.h"
#include "../gpt2_files.h"
#include "../program.h"
#include "safetensors_fixture.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Gpt2Model model;

/* The config's text, or that of a right one but for a key. */
static void write_text(const FileFixture *fixture, const char *text)
{
    file_write(path_in(&fixture->scratch, "config.json"), text, strlen(text));
}

static void write_config(const FileFixture *fixture, const char *key, const char *value)
{
    gpt2_write_config(fixture->scratch.directory, key, value);
}

static void write_model(const FileFixture *fixture)
{
    gpt2_write(fixture->path, &model, "F32", NULL, 0, 1);
}

static ModelFile *read_model(const FileFixture *fixture)
{
    ModelFile *read;
    assert_int_equal(model_file_read(&read, fixture->path, false), 0);
    return read;
}

/* The model, written, is refused with a line that begins with the file's name and `begin`. */
static void expect_weights_refused(FileFixture *fixture, const char *begin, const char *culprit)
{
    char name[SCRATCH_PATH];
    snprintf(name, sizeof name, "model.safetensors: %s", begin);
    write_model(fixture);
    expect_model_refused(fixture, fixture->path, name, culprit);
}

static void expect_config_refused(FileFixture *fixture, const char *culprit)
{
    expect_model_refused(fixture, fixture->path, "config.json: ", culprit);
}

static void make_whole(const FileFixture *fixture)
{
    gpt2_make(&model, "transformer.", false, true);
    write_model(fixture);
}

/* ---- config.json ---------------------------------------------------------------------------- */

/* One key changed, or one more. */
static const char *const configs[][3] = {
    {"n_head", "0", "key 'n_head': 0: expected an integer from 1 on"},
    {"n_head", "-2", "key 'n_head': -2: expected an integer from 1 on"},
    {"n_head", "2.0", "key 'n_head': 2.0: expected an integer from 1 on"},
    {"n_head", "\"2\"", "key 'n_head': \"2\": expected an integer from 1 on"},
    {"n_head", "3", "key 'n_head': 3: expected a divisor of the stream's width"},
    {"n_head", "9223372036854775807", "expected a divisor of the stream's width"},
    {"n_head", "99999999999999999999", "too big integer"},
    {"n_embd", "[4]", "key 'n_embd': [4]: expected an integer from 1 on"},
    {"n_layer", "true", "key 'n_layer': true: expected an integer from 1 on"},
    {"vocab_size", "{}", "key 'vocab_size': {}: expected an integer from 1 on"},
    {"layer_norm_epsilon", "0", "key 'layer_norm_epsilon': 0: expected a number above 0"},
    {"layer_norm_epsilon", "-1e-05", "expected a number above 0"},
    {"layer_norm_epsilon", "\"1e-05\"", "\"1e-05\": expected a number above 0"},
    {"layer_norm_epsilon", "NaN", "line 1, byte"},
    {"layer_norm_epsilon", "1e999", "real number overflow"},
    {"layer_norm_epsilon", "1e-310", "e-311': expected a number that does not underflow"},
    {"activation_function", "\"tanh\"",
     "key 'activation_function': 'tanh': expected one of silu, relu, gelu, gelu_new"},
    {"activation_function", "\"gelu_fast\"", "'gelu_fast': expected one of silu"},
    {"activation_function", "[\"gelu\"]", "[\"gelu\"]: expected a string"},
    {"scale_attn_weights", "1", "key 'scale_attn_weights': 1: expected false or true"},
    {"scale_attn_by_inverse_layer_idx", "1", "1: expected false or true"},
    {"tie_word_embeddings", "\"yes\"", "\"yes\": expected false or true"},
    {"add_cross_attention", "true", "attention to another stream"},
    {"bias", "false", "key 'bias': 'false': expected true, as there are tensors of biases"},
    {"architectures", "[\"GPT2LMHeadModel\", \"Other\"]", "expected one of GPT2LMHeadModel "},
    {"model_type", "\"llama\"", "key 'model_type': this is Llama, or one with its names: gated "},
    {"position_embedding_type", "\"relative_key\"",
     "'relative_key': expected 'learned', as family"},
    {"rope_theta", "10000.0", "key 'rope_theta': 10000.0: expected none: rotary positions"},
    {"num_key_value_heads", "1", "key 'num_key_value_heads': 1: expected 2, as 'n_head' says"},
    {"multi_query", "true", "expected false: several queries share a key and a value"},
    {"num_experts", "8", "expected none: a router chooses among experts"},
    {"pruned_heads", "{\"0\": [1]}", "{\"0\":[1]}: expected {}: layers must have the same heads"},
    {"quantization_config", "{\"bits\": 4}", "expected none: weights must be numbers"},
    {"rotary", "true", "key 'rotary': true: expected false: rotary positions"},
    {"sliding_window", "2", "key 'sliding_window': 2: expected none: some layers see a window"},
    {"attention_types", "[[[\"local\"], 2]]", "expected none: some layers see a window"},
    {"use_alibi", "true", "key 'use_alibi': true: expected false: scores have a bias"},
    {"n_experts", "2", "key 'n_experts': 2: expected none: a router"},
    {"use_parallel_residual", "true",
     "key 'use_parallel_residual': 'parallel': expected 'sequential'"},
    {"parallel_attn_mlp", "true", "'parallel': expected 'sequential', as family"},
    {"normalization", "\"rms\"", "key 'normalization': 'rms': expected 'layernorm', as family"},
    {"num_attention_heads", "1", "key 'num_attention_heads': 1: expected 2, as 'n_head' says"},
    {"hidden_size", "6", "key 'hidden_size': 6: expected 4, as 'n_embd' says"},
    {"num_hidden_layers", "3", "key 'num_hidden_layers': 3: expected 2, as '"},
    {"attention_dir", "\"bidirectional\"", "key 'attention_dir': 'none': expected 'causal'"},
};

/* The whole text. */
static const char *const texts[][2] = {
    {"", "unexpected token near end of file"},
    {"[]", "expected a JSON object, which begins with '{'"},
    {"3", "expected a JSON object"},
    {"{\"n_head\": 2", "'}' expected near end of file"},
    {"{\"n_head\": 2} x", "end of file expected near 'x'"},
    {"{\"n_head\": 2, \"n_head\": 4}", "duplicate object key near '\"n_head\"'"},
    {"{'n_head': 2}", "line 1, byte"},
    {"\xef\xbb\xbf{}", "line 1, byte"},
    {"{\"n_head\": \"\xff\"}", "line 1, byte"},
};

/* Keys that are in no table, all of them in one message; and flags for them. */
static void test_unknown_keys(void **state)
{
    static const struct {
        const char *ignored, *refused;
    } flags[] = {{"ropes,tickle", NULL},
                 {"ropes", "config.json: unknown key: 'tickle': expected"},
                 {"ropes,tickle,no", "--ignore-config': 'no': expected a key of its metadata or"},
                 {NULL, "config.json: unknown keys: 'ropes', 'tickle': expected"}};
    FileFixture *fixture = *state;
    make_whole(fixture);
    write_text(fixture, "{\"n_head\": 2, \"ropes\": 1, \"tickle\": {}, \"none\": null}");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        ModelFile *read;
        const ModelFileFlags with = {.ignored = flags[i].ignored};
        stderr_hold(&fixture->scratch);
        int status = model_file_read_with(&read, fixture->path, &with);
        stderr_take(fixture->text, &fixture->scratch);
        if (flags[i].refused == NULL) {
            assert_int_equal(status, 0);
            assert_string_equal(read->ignored, "'ropes', 'tickle'");
        } else if (status != 2 || strstr(fixture->text, flags[i].refused) == NULL) {
            fail_msg("status %d, said %s", status, fixture->text);
        }
        model_file_clear(read);
    }
}

static const struct {
    double values[9];
    const char *refused;
} masks[] = {{{1, 0, 0, 1, 1, 0, 1, 1, 1}, NULL},
             {{1, 0, 0, 0, 1, 0, 0, 0, 1}, "expected ones on and below the diagonal"},
             {{1, 0, 0, 1, 1, 0, 0, 1, 1}, "expected ones on and below the diagonal"},
             {{1, 0, 0, 1, 1, 0, 1, 1, 0.5}, "expected ones on and below the diagonal"},
             {{0, 0, 0, 1, 1, 0, 1, 1, 1}, "expected ones on and below the diagonal"},
             {{0, 1, 0, 1, 1, 0, 1, 1, 1}, "expected ones on and below the diagonal"},
             {{1, 1, 1, 1, 1, 1, 1, 1, 1}, "'none': expected 'causal', as family"}};

/* A mask that is kept beside the weights is the one that is said, or refused. */
static void test_mask_buffers(void **state)
{
    FileFixture *fixture = *state;
    write_config(fixture, NULL, NULL);
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        gpt2_make(&model, "", false, true);
        memcpy(gpt2_find(&model, "h.1.attn.bias")->values, masks[i].values, sizeof masks[i].values);
        if (masks[i].refused != NULL) {
            expect_weights_refused(fixture, "tensor 'h.1.attn.bias': ", masks[i].refused);
        } else {
            write_model(fixture);
            model_file_clear(read_model(fixture));
        }
    }
    gpt2_make(&model, "", false, true);
    gpt2_find(&model, "h.0.attn.bias")->rank = 1;
    gpt2_find(&model, "h.0.attn.bias")->shape[0] = 7;
    expect_weights_refused(fixture, "tensor 'h.0.attn.bias': ", "expected a square mask");
    gpt2_make(&model, "", false, true);
    gpt2_find(&model, "h.0.attn.masked_bias")->values[0] = -1;
    expect_weights_refused(
        fixture, "tensor 'h.0.attn.masked_bias': ", "expected one number of at most -10000");
}

/* An unembedding of its own where the config says that there is none. */
static void test_tied(void **state)
{
    FileFixture *fixture = *state;
    write_config(fixture, "tie_word_embeddings", "true");
    gpt2_make(&model, "", true, false);
    expect_weights_refused(fixture, "tensor 'lm_head.weight': differs from wte.weight",
                           "as tie_word_embeddings of '");
    memcpy(gpt2_find(&model, "lm_head.weight")->values, gpt2_find(&model, "wte.weight")->values,
           sizeof model.tensors[0].values);
    write_model(fixture);
    model_file_clear(read_model(fixture));
    write_config(fixture, NULL, NULL);
    gpt2_make(&model, "", true, false);
    expect_weights_refused(fixture, "tensor 'lm_head.weight': differs from wte.weight, and",
                           "which of them is the unembedding");
}

static void test_config(void **state)
{
    FileFixture *fixture = *state;
    make_whole(fixture);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        write_config(fixture, configs[i][0], configs[i][1]);
        expect_config_refused(fixture, configs[i][2]);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text(fixture, texts[i][0]);
        expect_config_refused(fixture, texts[i][1]);
    }
}

/* Sizes that the tensors do not have. */
static void test_config_against_tensors(void **state)
{
    static const char *const sizes[][3] = {
        {"n_layer", "3", "2 layers: expected 3, as '"},
        {"n_layer", "1", "2 layers: expected 1, as '"},
        {"n_embd", "6", "expected [vocabulary, d] with d = 6 as in 'n_embd'"},
        {"n_head", "4", NULL},
        {"n_positions", "4",
         "'transformer.wpe.weight': shape [3, 4]: expected [context, d] with "
         "context = 4 as in 'n_positions'"},
        {"n_inner", "16", "expected [d, hidden] with hidden = 16 as in 'n_inner'"},
        {"vocab_size", "6",
         "'transformer.wte.weight': shape [5, 4]: expected [vocabulary, d] with"},
        {"tie_word_embeddings", "false",
         "tensor 'lm_head.weight': missing: expected it, as tie_word_embeddings of '"},
    };
    FileFixture *fixture = *state;
    make_whole(fixture);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        write_config(fixture, sizes[i][0], sizes[i][1]);
        if (sizes[i][2] != NULL) {
            expect_weights_refused(fixture, "", sizes[i][2]);
        } else { /* another way to split the columns is another model, and a right one */
            ModelFile *read = read_model(fixture);
            assert_true(read->heads == 4 && read->d_head == 1);
            model_file_clear(read);
        }
    }
}

/* Deep, huge, a directory, a pipe, a device. */
static void test_hostile_config(void **state)
{
    enum { DEEP = 5000, HUGE_SIZE = (1 << 20) + 1 };
    FileFixture *fixture = *state;
    char path[SCRATCH_PATH], *text = malloc(HUGE_SIZE);
    assert_non_null(text);
    make_whole(fixture);
    scratch_path(path, &fixture->scratch, "config.json");
    memset(text, '[', DEEP);
    memcpy(text, "{\"a\":", 5);
    file_write(path, text, DEEP);
    expect_config_refused(fixture, "maximum parsing depth reached");
    memset(text, ' ', HUGE_SIZE);
    file_write(path, text, HUGE_SIZE);
    expect_config_refused(fixture, "1048577 bytes of JSON: expected at most 1048576");
    free(text);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_config_refused(fixture, "not a pipe or a device");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/zero", path), 0);
    expect_config_refused(fixture, "not a pipe or a device");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("config.json", path), 0);
    expect_config_refused(fixture, "expected a file that can be read");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    expect_config_refused(fixture, "not a directory");
    assert_int_equal(rmdir(path), 0);
}

/* ---- Tensors -------------------------------------------------------------------------------- */

static void test_tensors(void **state)
{
    static const struct {
        const char *name;
        size_t shape[2];
        const char *culprit;
    } cases[] = {
        {"h.0.attn.c_attn.weight",
         {12, 4},
         "shape [12, 4]: expected [d, 3 heads d_head] with d = 4"},
        {"h.0.attn.c_attn.weight", {12, 4}, "(it lies transposed)"},
        {"h.1.mlp.c_fc.weight", {6, 4}, "expected [d, hidden] with d = 4 as in 'n_embd' (it lies"},
        {"h.1.mlp.c_proj.weight",
         {4, 6},
         "expected [hidden, d] with hidden = 6 as in 'n_inner' (it"},
        {"h.0.attn.c_attn.weight",
         {4, 13},
         "shape [4, 13]: expected [d, 3 heads d_head] with heads = 2 as in 'n_head' and d_head = "
         "2"},
        {"h.0.attn.c_attn.weight", {4, 11}, "expected [d, 3 heads d_head] with heads = 2"},
        {"h.0.attn.c_proj.weight", {3, 4}, "expected [heads d_head, d] with heads = 2"},
        {"lm_head.weight", {4, 5}, "shape [4, 5]: expected [classes, d] with classes = 5 as in"},
        {"lm_head.weight", {4, 5}, "(it lies transposed)"},
        {"wpe.weight", {4, 4}, "expected [context, d] with context = 3"},
    };
    FileFixture *fixture = *state;
    write_config(fixture, NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gpt2_make(&model, "", true, false);
        memcpy(gpt2_find(&model, cases[i].name)->shape, cases[i].shape, sizeof cases[i].shape);
        expect_weights_refused(fixture, "tensor '", cases[i].culprit);
    }
}

static const char *const added[][2] = {
    {"transformer.h.0.ln_1.weight", "is there twice, with another prefix too (module., "},
    {"h.0.crossattention.c_attn.weight", "this is GPT-2 with attention to another stream: "},
    {"h.0.attn.rotary_emb.inv_freq", "expected no rotary position"},
    {"h.0.mlp.gate_proj.weight", "this is Llama, or one with its names"},
    {"h.0.ln_3.weight", "expected no layer norm"},
    {"blocks.0.attn.W_Q", "unknown tensors: 'blocks.0.attn.W_Q'"},
    {"h.1.attn.masked", "unknown tensors: 'h.1.attn.masked'"},
    {"h.2.attn.bias", "layer 'h.2': missing: expected layers"},
};

/* One tensor missing, or one that should not be there. */
static void test_names(void **state)
{
    static const char *const dropped[][2] = {
        {"h.1.attn.c_attn.weight", "layer 'h.1': missing: expected also attn.c_attn.weight"},
        {"h.0.attn.c_attn.bias",
         "layer 'h.0': missing: expected also attn.c_attn.bias (zeros, if the model has none)"},
        {"ln_f.bias", "as Hugging Face's GPT-2 has it (zeros, if it has none)"},
        {"h.1.ln_2.weight", "layer 'h.1': missing: expected also ln_2.weight"},
        {"h.0.ln_1.bias", "layer 'h.0': missing: expected also ln_1.bias"},
        {"wpe.weight", "tensor 'wpe.weight': missing: expected it, as Hugging Face's GPT-2 has it"},
        {"ln_f.weight", "tensor 'ln_f.weight': missing"},
        {"wte.weight", "tensor 'wte.weight': missing"},
    };
    FileFixture *fixture = *state;
    write_config(fixture, NULL, NULL);
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
        gpt2_make(&model, "", true, false);
        gpt2_drop(&model, dropped[i][0]);
        expect_weights_refused(fixture, "", dropped[i][1]);
    }
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        gpt2_make(&model, "", true, false);
        model.tensors[model.count] = *gpt2_find(&model, "ln_f.weight");
        snprintf(model.tensors[model.count].name, sizeof model.tensors[0].name, "%s", added[i][0]);
        model.count++;
        expect_weights_refused(fixture, "", added[i][1]);
    }
}

/* What metadata, config and family say must agree. */
static void test_disagreement(void **state)
{
    static const char *const metadata[][2] = {
        {"\"activation\":\"gelu\"",
         "metadata 'activation': 'gelu': expected 'gelu_new', as key 'activation_function' of '"},
        {"\"mask\":\"none\"",
         "metadata 'mask': 'none': expected 'causal', as family 'Hugging Face"},
        {"\"normalization\":\"none\"",
         "metadata 'normalization': 'none': expected 'layernorm', as"},
        {"\"scale\":\"1\"", "metadata 'scale': '1': expected '1/sqrt(d_head)', as key 'scale_attn"},
    };
    FileFixture *fixture = *state;
    write_config(fixture, NULL, NULL);
    gpt2_make(&model, "", true, false);
    for (size_t i = 0; i < sizeof metadata / sizeof *metadata; i++) {
        gpt2_write(fixture->path, &model, "F32", metadata[i][0], 0, 1);
        expect_model_refused(fixture, fixture->path, "model.safetensors: ", metadata[i][1]);
    }
}

/* ---- Other architectures -------------------------------------------------------------------- */

#define LLAMA(rest) "model.layers.0." rest

static const SampleTensor llama[] = {
    {"model.embed_tokens.weight", "F16", "[3,2]", 12, 0x3c},
    {LLAMA("input_layernorm.weight"), "F16", "[2]", 4, 0x3c},
    {LLAMA("self_attn.q_proj.weight"), "F16", "[2,2]", 8, 0x3c},
    {LLAMA("self_attn.k_proj.weight"), "F16", "[1,2]", 4, 0x3c},
    {LLAMA("mlp.gate_proj.weight"), "F16", "[3,2]", 12, 0x3c},
    {LLAMA("block_sparse_moe.gate.weight"), "F16", "[3,2]", 12, 0x3c},
};

static const SampleTensor plain[] = {
    {LLAMA("self_attn.q_proj.weight"), "F16", "[2,2]", 8, 0x3c},
    {LLAMA("self_attn.k_proj.weight"), "F16", "[2,2]", 8, 0x3c},
};

static const SampleTensor neox[] = {
    {"gpt_neox.layers.0.attention.query_key_value.weight", "F16", "[6,2]", 24, 0x3c},
};

static const SampleTensor head[] = {{"score.weight", "F16", "[2,2]", 8, 0x3c}};

static void test_foreign(void **state)
{
    static const struct {
        const SampleTensor *tensors;
        size_t count;
        const char *config, *name, *culprit;
    } cases[] = {
        {llama, 6, NULL, "model.safetensors: tensor 'model.layers.0.block_sparse_moe.gate.weight'",
         "this is a mixture of experts: a router that chooses among networks is not supported"},
        {llama, 5, NULL, "model.safetensors: tensor 'model.layers.0.mlp.gate_proj.weight'",
         "this is Llama, or one with its names: gated networks and rotary positions are not"},
        {plain, 2, "{\"model_type\": \"phi\", \"rope_theta\": 10000.0}",
         "config.json: key 'model_type'", "this is Phi: parallel blocks and rotary positions"},
        {plain, 2, "{\"use_cache\": true}", "model.safetensors: unknown tensors", "expected"},
        {neox, 1, NULL, "model.safetensors: tensor 'gpt_neox",
         "this is GPT-NeoX (Pythia): parallel blocks and rotary positions are not supported"},
        {head, 1, NULL, "model.safetensors: tensor 'score.weight'", "this is a classifier: "},
    };
    FileFixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Sample sample;
        char path[SCRATCH_PATH];
        sample_build(&sample, NULL, cases[i].tensors, cases[i].count);
        write_sample(fixture, &sample);
        scratch_path(path, &fixture->scratch, "config.json");
        unlink(path);
        if (cases[i].config != NULL) {
            write_text(fixture, cases[i].config);
        }
        expect_model_refused(fixture, fixture->path, cases[i].name, cases[i].culprit);
    }
}

/* ---- Every tensor with an axis too many or too few ------------------------------------------- */

/* The same values with one axis more, behind or in front, or with one less.  False: as it was. */
static bool reshape(Gpt2Tensor *tensor, size_t way)
{
    size_t *shape = tensor->shape, last = tensor->rank - 1;
    switch (way) {
    case 0: shape[tensor->rank++] = 1; return true;
    case 1:
        memmove(shape + 1, shape, tensor->rank++ * sizeof *shape);
        shape[0] = 1;
        return true;
    default:
        if (last > 0) {
            shape[last - 1] *= shape[last];
        }
        tensor->rank = last;
        return last > 0 || shape[0] == 1;
    }
}

static void expect_shape_refused(FileFixture *fixture, const Gpt2Tensor *tensor)
{
    char culprit[200];
    size_t used = (size_t)snprintf(culprit, sizeof culprit, "tensor '%s': shape [", tensor->name);
    for (size_t i = 0; i < tensor->rank; i++) {
        used += (size_t)snprintf(culprit + used, sizeof culprit - used, "%s%zu", i > 0 ? ", " : "",
                                 tensor->shape[i]);
    }
    snprintf(culprit + used, sizeof culprit - used, "]: expected [");
    gpt2_write(fixture->path, &model, "F64", NULL, 0, 1);
    ModelFile *read;
    hold(fixture);
    int status = model_file_read_with(&read, fixture->path, &(ModelFileFlags){.heads = 2});
    expect_message(fixture, status, fixture->path, culprit);
    assert_null(strstr(fixture->text, "transposed"));
    assert_null(read);
}

static void test_ranks(void **state)
{
    for (int family = 0; family < 3; family++) {
        if (family == 0) {
            gpt2_make_lens(&model, true);
        } else {
            gpt2_make(&model, family == 1 ? "" : "transformer.", true, false);
        }
        for (size_t t = 0; t < model.count; t++) {
            const Gpt2Tensor whole = model.tensors[t];
            for (size_t way = 0; way < 3; way++) {
                /* Heads may stand side by side, as in a vector of biases they do then. */
                bool flat = way == 2 && strstr(whole.name, "attn.b_") != NULL && whole.rank == 2;
                if (!flat && reshape(&model.tensors[t], way)) {
                    expect_shape_refused(*state, &model.tensors[t]);
                }
                model.tensors[t] = whole;
            }
        }
    }
}

SUBJECT(gpt2_refused)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(test_config),
        MODEL_TEST(test_unknown_keys),
        MODEL_TEST(test_mask_buffers),
        MODEL_TEST(test_tied),
        MODEL_TEST(test_config_against_tensors),
        MODEL_TEST(test_hostile_config),
        MODEL_TEST(test_tensors),
        MODEL_TEST(test_names),
        MODEL_TEST(test_disagreement),
        MODEL_TEST(test_foreign),
        MODEL_TEST(test_ranks),
    };
    return cmocka_run_group_tests_name("gpt2_refused", tests, NULL, NULL);
}
