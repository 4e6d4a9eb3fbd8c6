/*
 * Shapes checked: an axis of a file's tensor is one extent of the model, or the product of several.
 */
#include "model_check.h"

#include "../base/message.h"
#include "safetensors.h"

#include <stdio.h>
#include <string.h>

/* KNOWN_MOST: three extents, each with the name of a tensor. */
enum { TEXT_MOST = 128, KNOWN_MOST = 1000 };

/* A tensor as the family's table has it, in a layer. */
typedef struct {
    Reading *reading;
    const SetTensor *tensor;
    const char *axes;
} Shaped;

static Extent letter_extent(const Shaped *shaped, char letter)
{
    return letter == 'k' ? EXTENT_KEY_HEADS
                         : slot_extent(shaped->tensor->entry->slot, shaped->tensor->layer,
                                       (size_t)(letter - '0'));
}

/* How often an axis repeats what its other letters run over, where the letter is no extent of the
 * model's: the parts, or once; else 0. */
static size_t fixed_size(const Shaped *shaped, char letter)
{
    return letter == 'p' ? shaped->tensor->entry->parts : letter == 'u';
}

static bool in_word(const char *letter)
{
    return *letter != ' ' && *letter != '\0';
}

/* text = "3 heads d_head" */
static size_t word_text(char *text, size_t size, const Shaped *shaped, const char *word)
{
    size_t used = 0;
    for (const char *c = word; in_word(c); c++) {
        const char *space = c == word ? "" : " ";
        size_t fixed = fixed_size(shaped, *c);
        used += fixed > 0 ? (size_t)snprintf(text + used, size - used, "%s%zu", space, fixed)
                          : (size_t)snprintf(text + used, size - used, "%s%s", space,
                                             extent_infos[letter_extent(shaped, *c)].symbol);
    }
    return used;
}

/* The product of the extents of a word that are known (0: it is too large); *unknown: the others,
 * of which *missing is the last. */
static size_t known_product(size_t *unknown, Extent *missing, const Shaped *shaped,
                            const char *word)
{
    size_t product = 1;
    *unknown = 0;
    for (const char *c = word; in_word(c); c++) {
        size_t fixed = fixed_size(shaped, *c);
        Extent extent = fixed > 0 ? EXTENT_NONE : letter_extent(shaped, *c);
        size_t size = fixed > 0 ? fixed : *model_size(shaped->reading->model, extent);
        if (size == 0) {
            *missing = extent;
            (*unknown)++;
        } else {
            product = size > SIZE_MAX / (product > 0 ? product : 1) ? 0 : product * size;
        }
    }
    return product;
}

/* Would the shape fit if its two axes were exchanged? */
static bool lies_transposed(const Shaped *shaped)
{
    const SafetensorsTensor *tensor = shaped->tensor->tensor;
    if (tensor->rank != 2 || packing_rank(shaped->axes) != 2) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        size_t unknown;
        Extent missing;
        size_t product =
            known_product(&unknown, &missing, shaped, packing_word(shaped->axes, 1 - i));
        if (unknown > 0 || product != tensor->shape[i]) {
            return false;
        }
    }
    return true;
}

static int refuse(const Shaped *shaped, const char *detail)
{
    const SafetensorsTensor *tensor = shaped->tensor->tensor;
    char symbols[TEXT_MOST];
    size_t used = 0; /* "[heads, d, d_head]" */
    for (size_t i = 0; i < packing_rank(shaped->axes); i++) {
        used += (size_t)snprintf(symbols + used, sizeof symbols - used, i == 0 ? "[" : ", ");
        used +=
            word_text(symbols + used, sizeof symbols - used, shaped, packing_word(shaped->axes, i));
    }
    snprintf(symbols + used, sizeof symbols - used, "]");
    return complain_of(shaped->tensor->file->path, "tensor", tensor->name,
                       "shape %s: expected %s%s%s", safetensors_shape(tensor).text, symbols, detail,
                       lies_transposed(shaped) ? " (it lies transposed)" : "");
}

/* With " with d = 64 as in 'embed.W_E'", for every extent that is known of the words in
 * [from, to). */
static int refuse_known(const Shaped *shaped, const char *from, const char *to)
{
    char text[KNOWN_MOST] = "";
    size_t used = 0;
    unsigned said = 0;
    for (const char *c = from; c < to; c++) {
        bool counts = *c != ' ' && fixed_size(shaped, *c) == 0;
        Extent extent = counts ? letter_extent(shaped, *c) : EXTENT_NONE;
        bool known = extent != EXTENT_NONE && *model_size(shaped->reading->model, extent) > 0;
        if (!known || (said & 1U << extent) != 0) {
            continue;
        }
        said |= 1U << extent;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s = %zu as in '%.255s'",
                                 used == 0 ? " with " : " and ", extent_infos[extent].symbol,
                                 *model_size(shaped->reading->model, extent),
                                 shaped->reading->given_by[extent]);
    }
    return refuse(shaped, text);
}

static int check_axis(const Shaped *shaped, size_t axis)
{
    Reading *reading = shaped->reading;
    const SafetensorsTensor *tensor = shaped->tensor->tensor;
    const char *word = packing_word(shaped->axes, axis);
    size_t unknown, size = tensor->shape[axis];
    Extent missing = EXTENT_NONE;
    size_t product = known_product(&unknown, &missing, shaped, word);
    if (unknown > 1) {
        return refuse(shaped, ": how many heads there are is not said: expected n_head in a "
                              "config.json beside the file, or --heads");
    }
    bool fits = product > 0 && (unknown > 0 ? size % product == 0 : size == product);
    if (!fits) {
        return refuse_known(shaped, word, word + strcspn(word, " "));
    }
    if (unknown > 0) {
        *model_size(reading->model, missing) = size / product;
        reading->given_by[missing] = tensor->name;
    }
    return 0;
}

/* The size of the stream in a tensor's shape; 0: it has none, or two that differ. */
static size_t width_of(const SetTensor *tensor)
{
    if (tensor->kind != NAME_SLOT) {
        return 0;
    }
    const Shaped shaped = {NULL, tensor, tensor_axes(tensor->entry)};
    size_t width = 0;
    bool same = tensor->tensor->rank == packing_rank(shaped.axes);
    for (size_t i = 0; same && i < tensor->tensor->rank; i++) {
        const char *word = packing_word(shaped.axes, i);
        bool alone = !in_word(word + 1) && fixed_size(&shaped, *word) == 0;
        if (alone && letter_extent(&shaped, *word) == EXTENT_D) {
            same = width == 0 || width == tensor->tensor->shape[i];
            width = tensor->tensor->shape[i];
        }
    }
    return same ? width : 0;
}

size_t stream_width(StreamWidth *voted, const TensorSet *set)
{
    size_t most = 0;
    *voted = (StreamWidth){0, NULL};
    for (size_t i = 0; i < set->count; i++) {
        size_t width = width_of(&set->tensors[i]), votes = 0;
        for (size_t j = i; j < set->count && width > 0 && width != voted->width; j++) {
            votes += width_of(&set->tensors[j]) == width;
        }
        if (votes > most) {
            most = votes;
            *voted = (StreamWidth){width, set->tensors[i].tensor->name};
        }
    }
    return most;
}

int model_shape_check(Reading *reading, const SetTensor *tensor)
{
    const Shaped shaped = {reading, tensor, tensor_axes(tensor->entry)};
    if (tensor->tensor->rank != packing_rank(shaped.axes)) {
        return refuse_known(&shaped, shaped.axes, shaped.axes + strlen(shaped.axes));
    }
    if (tensor->tensor->count == 0) {
        return refuse(&shaped, ", all at least 1");
    }
    int status = 0;
    for (size_t i = 0; i < tensor->tensor->rank && status == 0; i++) {
        status = check_axis(&shaped, i);
    }
    return status;
}

size_t model_shape(size_t *shape, ModelFile *model, Slot slot, size_t layer)
{
    size_t rank = slot_infos[slot].rank;
    for (size_t i = 0; i < rank; i++) {
        shape[i] = *model_size(model, slot_extent(slot, layer, i));
    }
    return rank;
}

size_t model_count(ModelFile *model, Slot slot, size_t layer)
{
    size_t shape[3], rank = model_shape(shape, model, slot, layer), count = 1;
    for (size_t i = 0; i < rank; i++) {
        count *= shape[i];
    }
    return count;
}
