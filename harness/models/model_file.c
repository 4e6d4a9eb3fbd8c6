/*
 * A trained model read from a safetensors file.
 */
#include "model_file.h"

#include "../base/message.h"
#include "model_check.h"
#include "model_structure.h"
#include "safetensors_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names for a message: as many as fit, and how many there are. */
typedef struct {
    char text[1000];
    size_t used, shown, count;
} NameList;

static void list_name(NameList *list, const char *name)
{
    size_t room = sizeof list->text - list->used;
    list->count++;
    if (strlen(name) + 5 < room && list->shown + 1 == list->count) {
        list->used += (size_t)snprintf(list->text + list->used, room, "%s'%s'",
                                       list->shown == 0 ? "" : ", ", name);
        list->shown = list->count;
    }
}

static int refuse_unknown(const SafetensorsFile *file, const NameList *list)
{
    char more[40] = "";
    if (list->shown < list->count) {
        snprintf(more, sizeof more, " and %zu more", list->count - list->shown);
    }
    complain_of(
        safetensors_path(file), NULL, NULL,
        "unknown tensors: %s%s: expected those that docs name (--ignore-extra skips others)",
        list->text, more);
    return 2;
}

/* What the names of a file say. */
typedef struct {
    size_t layers; /* one more than the largest layer */
    bool x;        /* it has an X */
    bool others;   /* it has something else, also where that is skipped */
} Names;

/* Refuses what must not be in a model. */
static int check_names(Names *names, const SafetensorsFile *file, bool ignore_extra)
{
    NameList unknown = {.count = 0};
    *names = (Names){0};
    for (size_t i = 0; i < safetensors_count(file); i++) {
        Slot slot;
        size_t layer;
        const char *name = safetensors_tensor(file, i)->name;
        NameKind kind = name_classify(&slot, &layer, name);
        if (kind == NAME_STRUCTURE) {
            complain_of(safetensors_path(file), "tensor", name,
                        "expected no %s: it changes what the model computes and is outside the "
                        "construction (fold or remove it before; --ignore-extra does not skip it)",
                        structure_of(name));
            return 2;
        }
        if (kind == NAME_UNKNOWN) {
            list_name(&unknown, name);
        }
        if (kind == NAME_SLOT && slot < SLOTS_OF_LAYER && layer >= names->layers) {
            names->layers = layer + 1;
        }
        bool is_x = kind == NAME_SLOT && slot == SLOT_X;
        names->x = names->x || is_x;
        names->others = names->others || (kind != NAME_BUFFER && !is_x);
    }
    return unknown.count > 0 && !ignore_extra ? refuse_unknown(file, &unknown) : 0;
}

/* Marks what each layer has, of layers below room.  room is at most the number of tensors: a file
 * whose names count more layers than it has tensors lacks one below that. */
static void mark_found(Reading *reading, size_t room)
{
    for (size_t i = 0; i < safetensors_count(reading->file); i++) {
        Slot slot;
        size_t layer;
        if (name_classify(&slot, &layer, safetensors_tensor(reading->file, i)->name) != NAME_SLOT) {
            continue;
        }
        if (slot >= SLOTS_OF_LAYER) {
            reading->found[room] |= SLOT_BIT(slot);
        } else if (layer < room) {
            reading->found[layer] |= SLOT_BIT(slot);
        }
    }
}

/* Counts the layers, which must have no gaps.  A file of an X alone needs none, as `silu` has no
 * weights.  Beside other tensors an X is not enough: those that are skipped may be the layers. */
static int find_layers(Reading *reading, const Names *names)
{
    size_t tensors = safetensors_count(reading->file), depth = 0, layers = names->layers;
    size_t room = layers < tensors ? layers : tensors;
    bool alone = names->x && !names->others;
    reading->found = calloc(room + 1, sizeof *reading->found);
    if (reading->found == NULL) {
        return memory_fault();
    }
    mark_found(reading, room);
    while (depth < room && reading->found[depth] != 0) {
        depth++;
    }
    if ((depth == 0 && !alone) || depth < layers) {
        char name[SLOT_NAME_MOST];
        snprintf(name, sizeof name, "blocks.%zu", depth);
        complain_of(safetensors_path(reading->file), "layer", name,
                    "missing: expected layers 0, 1, ... without gaps");
        return 2;
    }
    reading->model->depth = depth;
    return 0;
}

static int check_shapes(Reading *reading)
{
    for (size_t i = 0; i < safetensors_count(reading->file); i++) {
        Slot slot;
        size_t layer;
        const SafetensorsTensor *tensor = safetensors_tensor(reading->file, i);
        int status = 0;
        if (name_classify(&slot, &layer, tensor->name) == NAME_SLOT) {
            status = model_check_shape(reading, tensor, slot, layer);
        }
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

/* Any slot but SLOT_TOKENS. */
static double **array_field(ModelFile *model, Slot slot, size_t layer)
{
    char *base = slot < SLOTS_OF_LAYER ? (char *)&model->layers[layer] : (char *)model;
    return (double **)(void *)(base + slot_info(slot)->field);
}

static int read_tokens(Reading *reading, const SafetensorsTensor *tensor)
{
    ModelFile *model = reading->model;
    model->tokens = calloc(tensor->count, sizeof *model->tokens);
    if (model->tokens == NULL) {
        return memory_fault();
    }
    int status = safetensors_integers(model->tokens, reading->file, tensor);
    for (size_t i = 0; i < tensor->count && status == 0; i++) {
        if (model->tokens[i] < 0 || (uint64_t)model->tokens[i] >= model->vocabulary) {
            char index[SAFETENSORS_TUPLE_MOST];
            safetensors_index_text(index, tensor, i);
            complain_of(safetensors_path(reading->file), "tensor", tensor->name,
                        "index %s: %" PRId64 ": expected 0 to %zu, a row of embed.W_E", index,
                        model->tokens[i], model->vocabulary - 1);
            status = 2;
        }
    }
    return status;
}

static int read_arrays(Reading *reading)
{
    int status = 0;
    for (size_t i = 0; i < safetensors_count(reading->file) && status == 0; i++) {
        Slot slot;
        size_t layer;
        const SafetensorsTensor *tensor = safetensors_tensor(reading->file, i);
        if (name_classify(&slot, &layer, tensor->name) != NAME_SLOT) {
            continue;
        }
        if (slot == SLOT_TOKENS) {
            status = read_tokens(reading, tensor);
            continue;
        }
        double *array = calloc(tensor->count, sizeof *array);
        *array_field(reading->model, slot, layer) = array;
        status = array == NULL ? memory_fault() : safetensors_floats(array, reading->file, tensor);
    }
    return status;
}

static int read_model(Reading *reading, bool ignore_extra)
{
    Names names;
    int status = check_names(&names, reading->file, ignore_extra);
    if (status == 0) {
        status = find_layers(reading, &names);
    }
    if (status == 0) {
        status = check_shapes(reading);
    }
    if (status == 0) {
        status = model_check_parts(reading);
    }
    if (status == 0) {
        status = model_read_metadata(reading);
    }
    if (status != 0) {
        return status;
    }
    reading->model->layers = calloc(reading->model->depth + 1, sizeof *reading->model->layers);
    return reading->model->layers == NULL ? memory_fault() : read_arrays(reading);
}

int model_file_take(ModelFile **model, const SafetensorsFile *file, bool ignore_extra)
{
    Reading reading = {.file = file, .model = calloc(1, sizeof **model)};
    *model = NULL;
    if (reading.model == NULL) {
        return memory_fault();
    }
    int status = read_model(&reading, ignore_extra);
    free(reading.found);
    if (status != 0) {
        model_file_clear(reading.model);
        return status;
    }
    *model = reading.model;
    return 0;
}

int model_file_read(ModelFile **model, const char *path, bool ignore_extra)
{
    SafetensorsFile *file;
    *model = NULL;
    int status = safetensors_open(&file, path);
    if (status == 0) {
        status = model_file_take(model, file, ignore_extra);
        safetensors_close(file);
    }
    return status;
}

void model_file_clear(ModelFile *model)
{
    if (model == NULL) {
        return;
    }
    for (size_t layer = 0; model->layers != NULL && layer < model->depth; layer++) {
        for (int slot = 0; slot < SLOTS_OF_LAYER; slot++) {
            free(*array_field(model, (Slot)slot, layer));
        }
    }
    for (int slot = SLOTS_OF_LAYER; slot < SLOT_TOKENS; slot++) {
        free(*array_field(model, (Slot)slot, 0));
    }
    free(model->tokens);
    free(model->layers);
    free(model);
}
