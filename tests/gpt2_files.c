/*
 * A small GPT-2 made by formulas, and its files written by hand.
 */
#include "gpt2_files.h"

#include "scratch.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entry (i, j) of matrix number m: different everywhere in a matrix of 64 entries. */
static double entry(size_t m, size_t i, size_t j, size_t columns)
{
    return (double)((17 * m + i * columns + j) % 251 + 1) / 256;
}

static Gpt2Tensor *add(Gpt2Model *model, const char *prefix, const char *name, size_t rank,
                       size_t a, size_t b, size_t c)
{
    Gpt2Tensor *tensor = &model->tensors[model->count++];
    *tensor = (Gpt2Tensor){.rank = rank, .shape = {a, b, c}};
    snprintf(tensor->name, sizeof tensor->name, "%s%s", prefix, name);
    return tensor;
}

static void add_matrix(Gpt2Model *model, const char *prefix, const char *name, size_t m,
                       size_t rows, size_t columns)
{
    Gpt2Tensor *tensor = columns > 0 ? add(model, prefix, name, 2, rows, columns, 0)
                                     : add(model, prefix, name, 1, rows, 0, 0);
    size_t width = columns > 0 ? columns : 1;
    for (size_t i = 0; i < rows * width; i++) {
        tensor->values[i] = entry(m, i / width, i % width, width);
    }
}

enum {
    WTE = 1,
    WPE,
    LN_F_W,
    LN_F_B,
    LM_HEAD,
    /* of a layer, 20 apart */
    LN_1_W = 20,
    LN_1_B,
    ATTN_W,
    ATTN_B,
    PROJ_W,
    PROJ_B,
    LN_2_W,
    LN_2_B,
    FC_W,
    FC_B,
    OUT_W,
    OUT_B
};

void gpt2_make(Gpt2Model *model, const char *prefix, bool head, bool buffers)
{
    enum { D = GPT2_D, H = GPT2_HIDDEN };
    model->count = 0;
    add_matrix(model, prefix, "wte.weight", WTE, GPT2_VOCABULARY, D);
    add_matrix(model, prefix, "wpe.weight", WPE, GPT2_CONTEXT, D);
    for (size_t l = 0; l < GPT2_DEPTH; l++) {
        char layer[40];
        size_t m = 20 * l;
        snprintf(layer, sizeof layer, "%sh.%zu.", prefix, l);
        add_matrix(model, layer, "ln_1.weight", LN_1_W + m, D, 0);
        add_matrix(model, layer, "ln_1.bias", LN_1_B + m, D, 0);
        add_matrix(model, layer, "attn.c_attn.weight", ATTN_W + m, D, 3 * D);
        add_matrix(model, layer, "attn.c_attn.bias", ATTN_B + m, 3 * D, 0);
        add_matrix(model, layer, "attn.c_proj.weight", PROJ_W + m, D, D);
        add_matrix(model, layer, "attn.c_proj.bias", PROJ_B + m, D, 0);
        add_matrix(model, layer, "ln_2.weight", LN_2_W + m, D, 0);
        add_matrix(model, layer, "ln_2.bias", LN_2_B + m, D, 0);
        add_matrix(model, layer, "mlp.c_fc.weight", FC_W + m, D, H);
        add_matrix(model, layer, "mlp.c_fc.bias", FC_B + m, H, 0);
        add_matrix(model, layer, "mlp.c_proj.weight", OUT_W + m, H, D);
        add_matrix(model, layer, "mlp.c_proj.bias", OUT_B + m, D, 0);
        if (buffers) {
            Gpt2Tensor *mask = add(model, layer, "attn.bias", 3, 1, 3, 3);
            for (size_t i = 0; i < 9; i++) {
                mask->values[i] = i % 3 <= i / 3;
            }
            add(model, layer, "attn.masked_bias", 0, 0, 0, 0)->values[0] = -16384;
        }
    }
    add_matrix(model, prefix, "ln_f.weight", LN_F_W, D, 0);
    add_matrix(model, prefix, "ln_f.bias", LN_F_B, D, 0);
    if (head) {
        add_matrix(model, "", "lm_head.weight", LM_HEAD, GPT2_VOCABULARY, D);
    }
}

/* Columns [first, first + d) of matrix m, head by head: [heads, d, d_head]. */
static void add_heads(Gpt2Model *model, const char *layer, const char *name, size_t m, size_t first)
{
    Gpt2Tensor *t = add(model, layer, name, 3, GPT2_HEADS, GPT2_D, GPT2_D_HEAD);
    for (size_t h = 0, at = 0; h < GPT2_HEADS; h++) {
        for (size_t i = 0; i < GPT2_D; i++) {
            for (size_t e = 0; e < GPT2_D_HEAD; e++) {
                t->values[at++] = entry(m, i, first + h * GPT2_D_HEAD + e, 3 * GPT2_D);
            }
        }
    }
}

static void add_head_biases(Gpt2Model *model, const char *layer, const char *name, size_t m,
                            size_t first)
{
    Gpt2Tensor *t = add(model, layer, name, 2, GPT2_HEADS, GPT2_D_HEAD, 0);
    for (size_t i = 0; i < GPT2_D; i++) {
        t->values[i] = entry(m, first + i, 0, 1);
    }
}

static void add_lens_layer(Gpt2Model *model, size_t l)
{
    enum { D = GPT2_D, H = GPT2_HIDDEN };
    char layer[40];
    size_t m = 20 * l;
    snprintf(layer, sizeof layer, "blocks.%zu.", l);
    add_matrix(model, layer, "ln1.w", LN_1_W + m, D, 0);
    add_matrix(model, layer, "ln1.b", LN_1_B + m, D, 0);
    add_heads(model, layer, "attn.W_Q", ATTN_W + m, 0);
    add_heads(model, layer, "attn.W_K", ATTN_W + m, D);
    add_heads(model, layer, "attn.W_V", ATTN_W + m, 2 * D);
    add_head_biases(model, layer, "attn.b_Q", ATTN_B + m, 0);
    add_head_biases(model, layer, "attn.b_K", ATTN_B + m, D);
    add_head_biases(model, layer, "attn.b_V", ATTN_B + m, 2 * D);
    Gpt2Tensor *o = add(model, layer, "attn.W_O", 3, GPT2_HEADS, GPT2_D_HEAD, D);
    for (size_t i = 0; i < D * D; i++) {
        o->values[i] = entry(PROJ_W + m, i / D, i % D, D);
    }
    add_matrix(model, layer, "attn.b_O", PROJ_B + m, D, 0);
    add_matrix(model, layer, "ln2.w", LN_2_W + m, D, 0);
    add_matrix(model, layer, "ln2.b", LN_2_B + m, D, 0);
    add_matrix(model, layer, "mlp.W_in", FC_W + m, D, H);
    add_matrix(model, layer, "mlp.b_in", FC_B + m, H, 0);
    add_matrix(model, layer, "mlp.W_out", OUT_W + m, H, D);
    add_matrix(model, layer, "mlp.b_out", OUT_B + m, D, 0);
}

void gpt2_make_lens(Gpt2Model *model, bool head)
{
    enum { D = GPT2_D, V = GPT2_VOCABULARY };
    model->count = 0;
    add_matrix(model, "", "embed.W_E", WTE, V, D);
    add_matrix(model, "", "pos_embed.W_pos", WPE, GPT2_CONTEXT, D);
    for (size_t l = 0; l < GPT2_DEPTH; l++) {
        add_lens_layer(model, l);
    }
    add_matrix(model, "", "ln_final.w", LN_F_W, D, 0);
    add_matrix(model, "", "ln_final.b", LN_F_B, D, 0);
    Gpt2Tensor *u = add(model, "", "unembed.W_U", 2, D, V, 0);
    for (size_t i = 0; i < D * V; i++) {
        u->values[i] = entry(head ? LM_HEAD : WTE, i % V, i / V, D);
    }
}

Gpt2Tensor *gpt2_find(Gpt2Model *model, const char *name)
{
    for (size_t t = 0; t < model->count; t++) {
        if (strcmp(model->tensors[t].name, name) == 0) {
            return &model->tensors[t];
        }
    }
    return NULL;
}

void gpt2_drop(Gpt2Model *model, const char *name)
{
    Gpt2Tensor *tensor = gpt2_find(model, name);
    *tensor = model->tensors[model->count - 1];
    model->count--;
}

/* ---- Files --------------------------------------------------------------------------------- */

/* An integer below 256, over 256, in a format of so many fraction bits and this bias. */
static uint64_t bits_of(double value, int fraction_bits, int bias)
{
    int exponent;
    double fraction = frexp(value, &exponent);
    if (value == 0) {
        return 0;
    }
    uint64_t one = UINT64_C(1) << fraction_bits;
    return ((uint64_t)(exponent - 1 + bias) << fraction_bits) +
           ((uint64_t)ldexp(fraction, fraction_bits + 1) & (one - 1));
}

static size_t put(unsigned char *to, double value, const char *dtype)
{
    static const struct {
        const char *name;
        size_t width;
        int fraction_bits, bias;
    } formats[] = {
        {"F64", 8, 52, 1023}, {"F32", 4, 23, 127}, {"F16", 2, 10, 15}, {"BF16", 2, 7, 127}};
    size_t k = 0;
    while (strcmp(formats[k].name, dtype) != 0) {
        k++;
    }
    uint64_t bits = bits_of(fabs(value), formats[k].fraction_bits, formats[k].bias);
    bits |= (uint64_t)(value < 0) << (8 * formats[k].width - 1);
    for (size_t i = 0; i < formats[k].width; i++) {
        to[i] = (unsigned char)(bits >> (8 * i) & 255);
    }
    return formats[k].width;
}

static size_t count_of(const Gpt2Tensor *tensor)
{
    size_t count = 1;
    for (size_t i = 0; i < tensor->rank; i++) {
        count *= tensor->shape[i];
    }
    return count;
}

void gpt2_write(const char *path, const Gpt2Model *model, const char *dtype, const char *metadata,
                size_t first, size_t step)
{
    static char header[1 << 14], bytes[1 << 17];
    static unsigned char data[1 << 16];
    size_t used = (size_t)snprintf(header, sizeof header, "{\"__metadata__\":{%s}",
                                   metadata != NULL ? metadata : "\"format\":\"pt\"");
    size_t size = 0;
    for (size_t t = first; t < model->count; t += step) {
        const Gpt2Tensor *tensor = &model->tensors[t];
        size_t begin = size;
        for (size_t i = 0; i < count_of(tensor); i++) {
            size += put(data + size, tensor->values[i], dtype);
        }
        used += (size_t)snprintf(header + used, sizeof header - used,
                                 ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", tensor->name, dtype);
        for (size_t i = 0; i < tensor->rank; i++) {
            used += (size_t)snprintf(header + used, sizeof header - used, "%s%zu", i > 0 ? "," : "",
                                     tensor->shape[i]);
        }
        used += (size_t)snprintf(header + used, sizeof header - used,
                                 "],\"data_offsets\":[%zu,%zu]}", begin, size);
    }
    used += (size_t)snprintf(header + used, sizeof header - used, "}");
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (char)(used >> (8 * i) & 255);
    }
    memcpy(bytes + 8, header, used);
    memcpy(bytes + 8 + used, data, size);
    file_write(path, bytes, 8 + used + size);
}

void gpt2_write_parts(const char *directory, const Gpt2Model *model, const char *dtype,
                      const char *metadata, size_t parts)
{
    static char index[1 << 14];
    char path[SCRATCH_PATH];
    size_t used = (size_t)snprintf(index, sizeof index,
                                   "{\"metadata\": {\"total_size\": 12345}, \"weight_map\": {");
    for (size_t t = 0; t < model->count; t++) {
        used += (size_t)snprintf(index + used, sizeof index - used,
                                 "%s\"%s\": \"model-%05zu-of-%05zu.safetensors\"",
                                 t > 0 ? ", " : "", model->tensors[t].name, t % parts + 1, parts);
    }
    used += (size_t)snprintf(index + used, sizeof index - used, "}}\n");
    snprintf(path, sizeof path, "%s/model.safetensors.index.json", directory);
    file_write(path, index, used);
    for (size_t part = 0; part < parts; part++) {
        snprintf(path, sizeof path, "%s/model-%05zu-of-%05zu.safetensors", directory, part + 1,
                 parts);
        gpt2_write(path, model, dtype, metadata, part, parts);
    }
}

void gpt2_write_config(const char *directory, const char *key, const char *value)
{
    static const char *const keys[][2] = {{"architectures", "[\"GPT2LMHeadModel\"]"},
                                          {"model_type", "\"gpt2\""},
                                          {"activation_function", "\"gelu_new\""},
                                          {"layer_norm_epsilon", "1e-05"},
                                          {"n_layer", "2"},
                                          {"n_embd", "4"},
                                          {"n_head", "2"},
                                          {"n_positions", "3"},
                                          {"n_inner", "6"},
                                          {"vocab_size", "5"},
                                          {"scale_attn_weights", "true"}};
    char text[1 << 12], path[SCRATCH_PATH];
    size_t used = (size_t)snprintf(text, sizeof text, "{\"use_cache\": true");
    bool is_new = key != NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        bool changed = key != NULL && strcmp(key, keys[i][0]) == 0;
        const char *shown = changed ? value : keys[i][1];
        is_new = is_new && !changed;
        if (shown != NULL) {
            used += (size_t)snprintf(text + used, sizeof text - used, ", \"%s\": %s", keys[i][0],
                                     shown);
        }
    }
    if (is_new) {
        used += (size_t)snprintf(text + used, sizeof text - used, ", \"%s\": %s", key, value);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "}\n");
    snprintf(path, sizeof path, "%s/config.json", directory);
    file_write(path, text, used);
}
