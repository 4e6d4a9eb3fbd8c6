/*
 * Arrays of a model: read, taken apart where a file packs several into one tensor, or made.
 */
#include "model_arrays.h"

#include "../base/message.h"
#include "model_shape.h"
#include "packing.h"
#include "safetensors_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

double **model_array(ModelFile *model, Slot slot, size_t layer)
{
    char *base = slot < SLOTS_OF_LAYER ? (char *)&model->layers[layer] : (char *)model;
    return (double **)(void *)(base + slot_info(slot)->field);
}

static int read_tokens(Reading *reading, const SetTensor *found, Slot slot)
{
    ModelFile *model = reading->model;
    const SafetensorsTensor *tensor = found->tensor;
    int64_t **out = slot == SLOT_TOKENS ? &model->tokens : &model->witness.tokens;
    int64_t *tokens = *out = calloc(tensor->count, sizeof *tokens);
    if (tokens == NULL) {
        return memory_fault();
    }
    int status = safetensors_integers(tokens, found->file, tensor);
    for (size_t i = 0; i < tensor->count && status == 0; i++) {
        if (tokens[i] < 0 || (uint64_t)tokens[i] >= model->vocabulary) {
            char index[SAFETENSORS_TUPLE_MOST];
            safetensors_index_text(index, tensor, i);
            status = complain_of(safetensors_path(found->file), "tensor", tensor->name,
                                 "index %s: %" PRId64 ": expected 0 to %zu, a row of %s", index,
                                 tokens[i], model->vocabulary - 1,
                                 family_slot_name(reading->family, SLOT_W_E));
        }
    }
    return status;
}

/* The tensor's parts, each an array of the model. */
static int read_packed(Reading *reading, const SetTensor *found, const TensorName *entry,
                       size_t layer)
{
    enum { PARTS_MOST = 4 };
    double *out[PARTS_MOST] = {NULL}, *packed;
    size_t shape[3], parts = tensor_parts(entry);
    size_t rank = model_shape(shape, reading->model, entry->slot, layer);
    for (size_t part = 0; part < parts; part++) {
        out[part] = calloc(found->tensor->count / parts, sizeof *out[part]);
        *model_array(reading->model, entry->slot + (Slot)part, layer) = out[part];
        if (out[part] == NULL) {
            return memory_fault();
        }
    }
    if (packing_is_plain(tensor_axes(entry))) {
        return safetensors_floats(out[0], found->file, found->tensor);
    }
    packed = calloc(found->tensor->count, sizeof *packed);
    if (packed == NULL) {
        return memory_fault();
    }
    int status = safetensors_floats(packed, found->file, found->tensor);
    if (status == 0) {
        packing_unpack(out, packed, tensor_axes(entry), parts, shape, rank);
    }
    free(packed);
    return status;
}

/* x U of the embedding's own rows: U [d, vocabulary] is its transpose. */
static int tie(ModelFile *model)
{
    size_t d = model->d, classes = model->vocabulary;
    model->tied = true;
    model->classes = classes;
    model->W_U = calloc(d * classes, sizeof *model->W_U);
    if (model->W_U == NULL) {
        return memory_fault();
    }
    for (size_t token = 0; token < classes; token++) {
        for (size_t c = 0; c < d; c++) {
            model->W_U[c * classes + token] = model->W_E[token * d + c];
        }
    }
    return 0;
}

/* A norm whose weights are folded, where `wanted`; or one without a b. */
static int fill_norm(ModelFileGains *norm, size_t d, bool wanted)
{
    if (norm->w == NULL && wanted) {
        norm->w = calloc(d, sizeof *norm->w);
        for (size_t c = 0; norm->w != NULL && c < d; c++) {
            norm->w[c] = 1;
        }
        if (norm->w == NULL) {
            return memory_fault();
        }
    }
    if (norm->w != NULL && norm->b == NULL) {
        norm->b = calloc(d, sizeof *norm->b);
        return norm->b == NULL ? memory_fault() : 0;
    }
    return 0;
}

static int fill_norms(ModelFile *model)
{
    bool folded = model->folded, mlp = model->hidden > 0;
    bool first = model->kind != MODEL_FILE_FFN;
    int status = 0;
    for (size_t layer = 0; layer < model->depth && status == 0; layer++) {
        status = fill_norm(&model->layers[layer].ln1, model->d, folded && first);
        status =
            status != 0 ? status : fill_norm(&model->layers[layer].ln2, model->d, folded && mlp);
    }
    bool final = folded && !model->post && model->W_U != NULL;
    return status == 0 ? fill_norm(&model->ln_final, model->d, final) : status;
}

int model_arrays_read(Reading *reading)
{
    ModelFile *model = reading->model;
    int status = 0;
    model->layers = calloc(model->depth + 1, sizeof *model->layers);
    if (model->layers == NULL) {
        return memory_fault();
    }
    for (size_t i = 0; i < reading->set->count && status == 0; i++) {
        const TensorName *entry;
        size_t layer;
        const SetTensor *found = &reading->set->tensors[i];
        if (name_classify(&entry, &layer, reading->family, found->tensor->name) == NAME_SLOT) {
            status = entry->slot >= SLOTS_OF_FLOATS ? read_tokens(reading, found, entry->slot)
                                                    : read_packed(reading, found, entry, layer);
        }
        if (status == 0 && strncmp(found->tensor->name, WITNESS_PREFIX, 8) == 0) {
            ModelFileWitness *witness = &model->witness;
            bool answers = found->tensor->dtype <= SAFETENSORS_BF16;
            witness->dtype = answers ? found->tensor->dtype : witness->dtype;
        }
    }
    bool tied = model->W_U == NULL && reading->family->tied;
    status = status != 0 || !tied ? status : tie(model);
    return status != 0 ? status : fill_norms(model);
}
