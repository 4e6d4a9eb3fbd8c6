/*
 * A mask as a buffer: which token sees which, as zeros and ones.
 */
#include "model_check.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/text_stream.h"
#include "safetensors.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A score that is set to this is 0 behind a softmax, in any arithmetic. */
#define MASKED_AT_MOST (-1e4)

/* values [count], of any dtype that holds 0 and 1. */
static int read_values(double *values, const SetTensor *found)
{
    const SafetensorsTensor *tensor = found->tensor;
    if (tensor->dtype <= SAFETENSORS_BF16) {
        return safetensors_floats(values, found->file, tensor);
    }
    int64_t *integers = need_zeros(tensor->count, sizeof *integers);
    int status = safetensors_integers(integers, found->file, tensor);
    for (size_t i = 0; i < tensor->count && status == 0; i++) {
        values[i] = (double)integers[i];
    }
    free(integers);
    return status;
}

static int refuse(const SetTensor *found, const char *expected)
{
    return complain_of(found->file->path, "tensor", found->tensor->name, "expected %s", expected);
}

/* The square that the last two axes are; the others are 1. */
static size_t square_of(const SafetensorsTensor *tensor)
{
    size_t rank = tensor->rank, n = rank < 2 ? 0 : tensor->shape[rank - 1];
    return n > 0 && tensor->shape[rank - 2] == n && tensor->count == n * n ? n : 0;
}

static int read_mask(Reading *reading, const SetTensor *found)
{
    size_t n = square_of(found->tensor), context = reading->model->context;
    bool all = true, causal = true;
    if (n == 0 || (context > 0 && n != context)) {
        return refuse(found, "a square mask, of as many rows as the model has positions");
    }
    double *values = need_zeros(n * n, sizeof *values);
    int status = read_values(values, found);
    for (size_t i = 0; i < n * n; i++) {
        bool is_later = i % n > i / n;
        all = all && values[i] == 1;
        causal = causal && values[i] == !is_later;
    }
    free(values);
    if (status != 0) {
        return status;
    }
    if (!all && !causal) {
        return refuse(found, "ones on and below the diagonal and zeros above it (a causal mask), "
                             "or ones alone: other masks are outside the construction");
    }
    const Property *said = properties_find(&reading->said, "mask");
    if (causal && said != NULL && strcmp(said->value, "none") == 0) {
        /* Then nothing is computed with it, as answers show that tell the two. */
        reading->model->usual[0] = "mask";
        return reading->witnessed
                   ? 0
                   : refuse(found, "none, or ones alone, as 'none' is said of the mask: to be "
                                   "removed if nothing is computed with it");
    }
    reading->model->mask_kept = reading->model->mask_kept || (causal && said == NULL);
    const Property by = {"mask", found->file->path, "tensor", found->tensor->name, ""};
    return properties_add(&reading->said, &by, causal ? "causal" : "none");
}

/* Demands minus infinity, or -10000 at most, as the score of keys that are not seen. */
static int check_masked(ModelFile *model, const SetTensor *found)
{
    const SafetensorsTensor *tensor = found->tensor;
    static const char expected[] = "one number of at most -10000, or minus infinity";
    if (tensor->count != 1 || tensor->dtype > SAFETENSORS_BF16) {
        return refuse(found, expected);
    }
    double value = 0;
    int status = safetensors_first(&value, found->file, tensor);
    if (status == 0 && isfinite(value)) {
        model->masked = value;
    }
    return status != 0 ? status : value <= MASKED_AT_MOST ? 0 : refuse(found, expected);
}

int mask_buffers_read(Reading *reading)
{
    int status = 0;
    for (size_t i = 0; i < reading->set->count && status == 0; i++) {
        const SetTensor *found = &reading->set->tensors[i];
        const char *name = found->tensor->name;
        bool angles = text_ends_in(name, "inv_freq") || text_ends_in(name, "embed_positions");
        if (found->kind != NAME_BUFFER || angles) { /* those follow from what is said */
            continue;
        }
        bool mask = text_ends_in(name, "attn.bias") || text_ends_in(name, "attn.mask") ||
                    text_ends_in(name, "attention.bias");
        status = mask ? read_mask(reading, found) : check_masked(reading->model, found);
    }
    return status;
}
