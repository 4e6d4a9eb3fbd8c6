/*
 * A small GPT-2 made by a formula, and its files written by hand.
 */
#include "gpt2_files.h"

#include "scratch.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static size_t count_of(const Gpt2Tensor *tensor)
{
    size_t count = 1;
    for (size_t i = 0; i < tensor->rank; i++) {
        count *= tensor->shape[i];
    }
    return count;
}

/* Entry i of tensor t is ((17 t + i) mod 251 + 1) / 256. */
static Gpt2Tensor *add(Gpt2Model *model, const char *layer, const char *name, size_t rank, size_t a,
                       size_t b)
{
    size_t t = model->count++;
    Gpt2Tensor *tensor = &model->tensors[t];
    *tensor = (Gpt2Tensor){.rank = rank, .shape = {a, b, 1}};
    snprintf(tensor->name, sizeof tensor->name, "%s%s", layer, name);
    for (size_t i = 0; i < count_of(tensor); i++) {
        tensor->values[i] = (float)((17 * t + i) % 251 + 1) / 256;
    }
    return tensor;
}

/* A mask that hides later tokens, and what it hides them by. */
static void add_buffers(Gpt2Model *model, const char *layer)
{
    enum { N = GPT2_CONTEXT };
    Gpt2Tensor *mask = add(model, layer, "attn.bias", 3, 1, N);
    mask->shape[2] = N;
    for (size_t i = 0; i < (size_t)N * N; i++) {
        mask->values[i] = i % N <= i / N;
    }
    add(model, layer, "attn.masked_bias", 0, 0, 0)->values[0] = -16384;
}

void gpt2_make(Gpt2Model *model, bool more)
{
    enum { D = GPT2_D, H = GPT2_HIDDEN };
    static const char prefix[] = "transformer.";
    model->count = 0;
    add(model, prefix, "wte.weight", 2, GPT2_VOCABULARY, D);
    add(model, prefix, "wpe.weight", 2, GPT2_CONTEXT, D);
    for (size_t l = 0; l < GPT2_DEPTH; l++) {
        char layer[40];
        snprintf(layer, sizeof layer, "%sh.%zu.", prefix, l);
        add(model, layer, "ln_1.weight", 1, D, 1);
        add(model, layer, "ln_1.bias", 1, D, 1);
        add(model, layer, "attn.c_attn.weight", 2, D, 3 * D);
        add(model, layer, "attn.c_attn.bias", 1, 3 * D, 1);
        add(model, layer, "attn.c_proj.weight", 2, D, D);
        add(model, layer, "attn.c_proj.bias", 1, D, 1);
        add(model, layer, "ln_2.weight", 1, D, 1);
        add(model, layer, "ln_2.bias", 1, D, 1);
        add(model, layer, "mlp.c_fc.weight", 2, D, H);
        add(model, layer, "mlp.c_fc.bias", 1, H, 1);
        add(model, layer, "mlp.c_proj.weight", 2, H, D);
        add(model, layer, "mlp.c_proj.bias", 1, D, 1);
        if (more) {
            add_buffers(model, layer);
        }
    }
    add(model, prefix, "ln_f.weight", 1, D, 1);
    add(model, prefix, "ln_f.bias", 1, D, 1);
    if (more) {
        add(model, "", "lm_head.weight", 2, GPT2_VOCABULARY, D);
    }
}

void gpt2_write(const char *path, const Gpt2Model *model, size_t first, size_t step)
{
    static char header[1 << 14], bytes[1 << 17];
    static float data[1 << 14];
    size_t used = (size_t)snprintf(header, sizeof header, "{\"__metadata__\":{\"format\":\"pt\"}");
    size_t count = 0;
    for (size_t t = first; t < model->count; t += step) {
        const Gpt2Tensor *tensor = &model->tensors[t];
        size_t own = count_of(tensor);
        used += (size_t)snprintf(header + used, sizeof header - used,
                                 ",\"%s\":{\"dtype\":\"F32\",\"shape\":[", tensor->name);
        for (size_t i = 0; i < tensor->rank; i++) {
            used += (size_t)snprintf(header + used, sizeof header - used, "%s%zu", i > 0 ? "," : "",
                                     tensor->shape[i]);
        }
        used +=
            (size_t)snprintf(header + used, sizeof header - used, "],\"data_offsets\":[%zu,%zu]}",
                             count * sizeof *data, (count + own) * sizeof *data);
        memcpy(data + count, tensor->values, own * sizeof *data);
        count += own;
    }
    used += (size_t)snprintf(header + used, sizeof header - used, "}");
    const uint64_t length = used;
    memcpy(bytes, &length, sizeof length);
    memcpy(bytes + sizeof length, header, used);
    memcpy(bytes + sizeof length + used, data, count * sizeof *data);
    file_write(path, bytes, sizeof length + used + count * sizeof *data);
}

void gpt2_write_parts(const Gpt2Model *model)
{
    static char index[1 << 14];
    size_t used = (size_t)snprintf(index, sizeof index,
                                   "{\"metadata\": {\"total_size\": 12345}, \"weight_map\": {");
    for (size_t t = 0; t < model->count; t++) {
        used += (size_t)snprintf(index + used, sizeof index - used,
                                 "%s\"%s\": \"model-%05zu-of-00002.safetensors\"",
                                 t > 0 ? ", " : "", model->tensors[t].name, t % 2 + 1);
    }
    used += (size_t)snprintf(index + used, sizeof index - used, "}}\n");
    file_write("model.safetensors.index.json", index, used);
    gpt2_write("model-00001-of-00002.safetensors", model, 0, 2);
    gpt2_write("model-00002-of-00002.safetensors", model, 1, 2);
}
