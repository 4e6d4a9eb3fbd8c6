/*
 * Arrays of a model: read, taken apart where a file packs several into one tensor, or made; and
 * norms whose numbers show that they do not normalise.
 */

#include "../../memory/need.h"
#include "../base/message.h"
#include "model_check.h"
#include "model_stream.h"
#include "safetensors.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double **model_array(ModelFile *model, Slot slot, size_t layer)
{
    char *base = slot < SLOTS_OF_LAYER ? (char *)&model->layers[layer] : (char *)model;
    return (double **)(void *)(base + slot_infos[slot].field);
}

/* Values that are worth more than one thread. */
enum { READ_AT_ONCE = 1 << 16 };

static int read_tokens(Reading *reading, const SetTensor *found)
{
    ModelFile *model = reading->model;
    const SafetensorsTensor *tensor = found->tensor;
    int64_t **out = found->entry->slot == SLOT_TOKENS ? &model->tokens : &model->witness.tokens;
    int64_t *tokens = *out = need_zeros(tensor->count, sizeof *tokens);
    int status = safetensors_integers(tokens, found->file, tensor);
    for (size_t i = 0; i < tensor->count && status == 0; i++) {
        if (tokens[i] < 0 || (uint64_t)tokens[i] >= model->vocabulary) {
            status =
                complain_of(found->file->path, "tensor", tensor->name,
                            "index %s: %" PRId64 ": expected 0 to %zu, a row of %s",
                            safetensors_index(tensor, i).text, tokens[i], model->vocabulary - 1,
                            family_slot_name(reading->family, SLOT_W_E));
        }
    }
    return status;
}

static Packing packing_of(ModelFile *model, const SetTensor *found)
{
    const TensorName *entry = found->entry;
    Packing made = {.axes = tensor_axes(entry),
                    .parts = entry->parts,
                    .shared = model->key_heads > 0 ? model->heads / model->key_heads : 1};
    made.rank = model_shape(made.shape, model, entry->slot, found->layer);
    for (size_t part = 0; part < made.parts; part++) {
        made.out[part] = *model_array(model, entry->slot + (Slot)part, found->layer);
    }
    return made;
}

/* The values of a block that begins with `first`. */
static int unpack_block(const Packing *packing, const SetTensor *found, size_t first, bool silent)
{
    double packed[SAFETENSORS_BLOCK_MOST];
    bool plain = packing_is_plain(packing->axes);
    double *out = plain ? packing->out[0] + first : packed;
    int status = safetensors_block_floats(out, found->file, found->tensor, first, silent);
    if (status == 0 && !plain) {
        packing_unpack(packing, packed, first, safetensors_block(found->tensor, first));
    }
    return status;
}

/* All blocks, up to one with which something is wrong; silent: by all threads. */
static int unpack_blocks(const Packing *packing, const SetTensor *found, bool silent)
{
    const size_t count = found->tensor->count, block = safetensors_block(found->tensor, 0);
    int status = 0;
#pragma omp parallel for schedule(static) if (silent && count >= READ_AT_ONCE)
    for (size_t first = 0; first < count; first += block) {
        int before;
#pragma omp atomic read
        before = status;
        int own = before == 0 ? unpack_block(packing, found, first, silent) : 0;
        if (own != 0) {
#pragma omp atomic write
            status = own;
        }
    }
    return status;
}

/* Makes what the file's numbers stand for: heads that share one, and weights that lack their 1. */
static void complete(const ModelFile *model, const Packing *packing, const SetTensor *found)
{
    const Slot slot = found->entry->slot;
    const bool norm = slot == SLOT_LN1_W || slot == SLOT_LN2_W || slot == SLOT_LN_FINAL_W;
    const bool shared = strchr(packing->axes, 'k') != NULL;
    double *out = packing->out[0];
    size_t count = found->tensor->count, size = shared ? count / model->key_heads : 0;
    for (size_t h = 0; shared && h < model->heads; h++) {
        size_t first = h - h % packing->shared;
        memmove(out + h * size, out + first * size, size * sizeof *out);
    }
    for (size_t c = 0; norm && model->from_one && c < count; c++) {
        out[c] += 1;
    }
}

int model_array_fill(ModelFile *model, const SetTensor *found)
{
    const Packing packing = packing_of(model, found);
    int status = unpack_blocks(&packing, found, true);
    if (status != 0) { /* reads the tensor again, to say what is wrong with it */
        status = unpack_blocks(&packing, found, false);
    }
    if (status == 0) {
        complete(model, &packing, found);
    }
    return status;
}

/* The tensor's parts, each an array of the model; one that is read when it is needed is empty. */
static int read_packed(ModelFile *model, const SetTensor *found)
{
    const TensorName *entry = found->entry;
    bool streamed = model->stream != NULL && entry->slot < SLOTS_OF_LAYER;
    for (size_t part = 0; part < entry->parts; part++) {
        Slot slot = entry->slot + (Slot)part;
        size_t count = model_count(model, slot, found->layer);
        double **array = model_array(model, slot, found->layer);
        *array = streamed ? model_stream_take(model->stream, found->layer, count)
                          : need_zeros(count, sizeof **array);
    }
    return streamed ? 0 : model_array_fill(model, found);
}

/* A norm whose weights are folded, where `wanted`; or one without a b, whose slot follows. */
static void fill_norm(ModelFile *model, Slot slot, size_t layer, bool wanted)
{
    double **w = model_array(model, slot, layer), **b = model_array(model, slot + 1, layer);
    if (*w == NULL && wanted) {
        *w = need_zeros(model->d, sizeof **w);
        for (size_t c = 0; c < model->d; c++) {
            (*w)[c] = 1;
        }
    }
    if (*w != NULL && *b == NULL) {
        *b = need_zeros(model->d, sizeof **b);
    }
}

static void fill_norms(ModelFile *model)
{
    bool folded = model->folded, mlp = model->hidden > 0;
    bool first = model->kind != MODEL_FILE_FFN;
    for (size_t layer = 0; layer < model->depth; layer++) {
        GivenLayer *own = &model->layers[layer];
        fill_norm(model, SLOT_LN1_W, layer, folded && first);
        if (model->one_norm) {
            own->ln2_w = own->ln1_w;
            own->ln2_b = own->ln1_b;
        }
        fill_norm(model, SLOT_LN2_W, layer, folded && mlp);
    }
    fill_norm(model, SLOT_LN_FINAL_W, 0, folded && !model->post && model->W_U != NULL);
}

int model_arrays_read(Reading *reading)
{
    ModelFile *model = reading->model;
    int status = 0;
    model->layers = need_zeros(model->depth + 1, sizeof *model->layers);
    model->one_norm = reading->family->one_norm;
    model->from_one = reading->family->from_one;
    model_stream_open(reading);
    for (size_t i = 0; i < reading->set->count && status == 0; i++) {
        const SetTensor *found = &reading->set->tensors[i];
        if (found->kind == NAME_SLOT) {
            status = found->entry->slot >= SLOTS_OF_FLOATS ? read_tokens(reading, found)
                                                           : read_packed(model, found);
        }
        if (status == 0 && strncmp(found->tensor->name, WITNESS_PREFIX, 8) == 0) {
            ModelFileWitness *witness = &model->witness;
            bool answers = found->tensor->dtype <= SAFETENSORS_BF16;
            witness->dtype = answers ? found->tensor->dtype : witness->dtype;
        }
    }
    if (status == 0 && model->W_U == NULL && model->W_E != NULL &&
        (reading->found[model->depth] & SLOT_BIT(SLOT_W_U)) != 0) {
        model->tied = true;
        model->classes = model->vocabulary;
        model->W_U = model->W_E;
    }
    if (status == 0) {
        fill_norms(model);
    }
    return status;
}

/* LayerNorm-free variants of GPT-2 keep their tensors, with eps = 1e12 and weights near 1e6, so
 * that files and programs stay the same.  Rows of a residual stream have variances up to some 1e4;
 * eps is 1e-5 or so where norms are meant. */
static const double EPS_FROM = 1e8;

static void widen(double *least, double *most, const double *gamma, size_t d)
{
    for (size_t c = 0; gamma != NULL && c < d; c++) {
        *least = fmin(*least, fabs(gamma[c]));
        *most = fmax(*most, fabs(gamma[c]));
    }
}

bool model_norms_in_name(double *least, double *most, const ModelFile *model, double eps)
{
    if (eps < EPS_FROM || model->depth == 0 ||
        (model->layers[0].ln1_w == NULL && model->layers[0].ln2_w == NULL)) {
        return false;
    }
    *least = INFINITY;
    *most = 0;
    for (size_t layer = 0; layer < model->depth; layer++) {
        widen(least, most, model->layers[layer].ln1_w, model->d);
        widen(least, most, model->layers[layer].ln2_w, model->d);
    }
    widen(least, most, model->ln_final_w, model->d);
    *least /= sqrt(eps);
    *most /= sqrt(eps);
    return true;
}
