/*
 * A trained model read from its files.
 */
#include "model_file.h"

#include "../base/message.h"
#include "config.h"
#include "foreign.h"
#include "model_arrays.h"
#include "model_said.h"
#include "model_shape.h"
#include "model_structure.h"

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

static int refuse_unknown(const Reading *reading, const NameList *list)
{
    char more[40] = "";
    if (list->shown < list->count) {
        snprintf(more, sizeof more, " and %zu more", list->count - list->shown);
    }
    complain_of(
        reading->set->path, NULL, NULL,
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

/* Of tensors that change what a model computes, the one that says most about it. */
static int refuse_structure(const Reading *reading)
{
    const SetTensor *worst = NULL;
    size_t rank = SIZE_MAX;
    for (size_t i = 0; i < reading->set->count; i++) {
        const TensorName *entry;
        size_t layer;
        const char *name = reading->set->tensors[i].tensor->name;
        if (name_classify(&entry, &layer, reading->family, name) == NAME_STRUCTURE &&
            structure_rank(name) < rank) {
            worst = &reading->set->tensors[i];
            rank = structure_rank(name);
        }
    }
    if (worst == NULL) {
        return 0;
    }
    complain_of(safetensors_path(worst->file), "tensor", worst->tensor->name,
                "expected no %s: it changes what the model computes and is outside the "
                "construction (fold or remove it before; --ignore-extra does not skip it)",
                structure_of(worst->tensor->name));
    return 2;
}

/* Refuses what must not be in a model; known: its names are of a family. */
static int check_names(Names *names, const Reading *reading, bool known, bool ignore_extra)
{
    NameList unknown = {.count = 0};
    *names = (Names){0};
    int status = refuse_structure(reading);
    for (size_t i = 0; i < reading->set->count && status == 0; i++) {
        const TensorName *entry;
        size_t layer;
        const char *name = reading->set->tensors[i].tensor->name;
        NameKind kind = name_classify(&entry, &layer, reading->family, name);
        if (kind == NAME_UNKNOWN) {
            list_name(&unknown, name);
        }
        if (kind == NAME_SLOT && entry->slot < SLOTS_OF_LAYER && layer >= names->layers) {
            names->layers = layer + 1;
        }
        bool is_x = kind == NAME_SLOT && entry->slot == SLOT_X;
        names->x = names->x || is_x;
        names->others = names->others || (kind != NAME_BUFFER && !is_x);
    }
    if (status == 0 && unknown.count > 0 && !known) {
        status = foreign_check(reading);
    }
    return status == 0 && unknown.count > 0 && !ignore_extra ? refuse_unknown(reading, &unknown)
                                                             : status;
}

static int refuse_twice(const Reading *reading, const SetTensor *found)
{
    complain_of(safetensors_path(found->file), "tensor", found->tensor->name,
                "is there twice, with '%s' before it and without: expected one of them",
                reading->family->prefix);
    return 2;
}

/* Marks what each layer has, of layers below room.  room is at most the number of tensors: a file
 * whose names count more layers than it has tensors lacks one below that. */
static int mark_found(Reading *reading, size_t room)
{
    for (size_t i = 0; i < reading->set->count; i++) {
        const TensorName *entry;
        size_t layer;
        const SetTensor *found = &reading->set->tensors[i];
        if (name_classify(&entry, &layer, reading->family, found->tensor->name) != NAME_SLOT) {
            continue;
        }
        bool of_layer = entry->slot < SLOTS_OF_LAYER;
        for (size_t part = 0; part < tensor_parts(entry) && (!of_layer || layer < room); part++) {
            unsigned *marks = &reading->found[of_layer ? layer : room];
            if ((*marks & SLOT_BIT(entry->slot + (Slot)part)) != 0) {
                return refuse_twice(reading, found);
            }
            *marks |= SLOT_BIT(entry->slot + (Slot)part);
        }
    }
    return 0;
}

/* Counts the layers, which must have no gaps, and are `said` where that is not 0.  A file of an X
 * alone needs none, as `silu` has no weights.  Beside other tensors an X is not enough: those that
 * are skipped may be the layers. */
static int find_layers(Reading *reading, const Names *names, size_t said)
{
    size_t tensors = reading->set->count, depth = 0, layers = names->layers;
    size_t room = layers < tensors ? layers : tensors;
    bool alone = names->x && !names->others;
    reading->found = calloc(room + 1, sizeof *reading->found);
    if (reading->found == NULL) {
        return memory_fault();
    }
    int status = mark_found(reading, room);
    if (status != 0) {
        return status;
    }
    while (depth < room && reading->found[depth] != 0) {
        depth++;
    }
    if ((depth == 0 && !alone) || depth < layers) {
        char name[LAYER_NAME_MOST];
        family_layer_name(name, reading->family, depth);
        return model_refuse(reading, "layer", name,
                            "missing: expected layers 0, 1, ... without gaps");
    }
    if (said != 0 && said != depth) {
        return model_refuse(reading, NULL, NULL, "%zu layers: expected %zu, as '%s' says", depth,
                            said, reading->config_path);
    }
    reading->model->depth = depth;
    return 0;
}

static int check_shapes(Reading *reading)
{
    int status = 0;
    for (size_t i = 0; i < reading->set->count && status == 0; i++) {
        const TensorName *entry;
        size_t layer;
        const SetTensor *found = &reading->set->tensors[i];
        if (name_classify(&entry, &layer, reading->family, found->tensor->name) == NAME_SLOT) {
            status = model_shape_check(reading, found, entry, layer);
        }
    }
    return status;
}

/* An unembedding that is not there may be the embedding, unless the config says that it is not. */
static int check_tied(Reading *reading)
{
    const Property *tied = properties_find(&reading->said, "tied");
    unsigned *found = &reading->found[reading->model->depth];
    if (!reading->family->tied || (*found & SLOT_BIT(SLOT_W_U)) != 0) {
        return 0;
    }
    if (tied != NULL && strcmp(tied->value, "no") == 0) {
        return model_refuse(reading, "tensor", family_slot_name(reading->family, SLOT_W_U),
                            "missing: expected it, as %s of '%s' is false", tied->name, tied->file);
    }
    *found |= SLOT_BIT(SLOT_W_U);
    return 0;
}

static int check_model(Reading *reading, const ModelFileFlags *flags)
{
    Names names;
    size_t depth = 0;
    bool known;
    reading->family = family_of(&known, reading->set);
    int status = check_names(&names, reading, known, flags->ignore_extra);
    if (reading->family->config != NULL) {
        reading->model->heads = flags->heads;
        reading->given_by[EXTENT_HEADS] = "--heads";
    }
    if (status == 0) {
        status = config_read(reading, &depth);
    }
    if (status == 0) {
        status = find_layers(reading, &names, depth);
    }
    if (status == 0) {
        status = check_shapes(reading);
    }
    if (status == 0) {
        status = check_tied(reading);
    }
    if (status == 0) {
        status = model_check_parts(reading);
    }
    return status == 0 ? model_said_read(reading) : status;
}

/* The files that the model was read from. */
static int list_paths(const Reading *reading)
{
    const TensorSet *set = reading->set;
    ModelFile *model = reading->model;
    model->paths = calloc(tensor_set_files(set) + 2, sizeof *model->paths);
    bool fine = model->paths != NULL;
    if (fine && set->index != NULL) {
        fine = (model->paths[model->path_count++] = strdup(set->path)) != NULL;
    }
    for (size_t i = 0; i < tensor_set_files(set) && fine; i++) {
        const char *path = safetensors_path(tensor_set_file(set, i));
        fine = (model->paths[model->path_count++] = strdup(path)) != NULL;
    }
    if (fine && reading->configured) {
        fine = (model->paths[model->path_count++] = strdup(reading->config_path)) != NULL;
    }
    return fine ? 0 : memory_fault();
}

static int read_set(ModelFile **model, const TensorSet *set, const ModelFileFlags *flags)
{
    Reading reading = {.set = set, .model = calloc(1, sizeof **model)};
    int status = reading.model == NULL ? memory_fault() : 0;
    if (status == 0 && set->folder != NULL) {
        reading.config_path = path_beside(set->folder, "config.json");
        status = reading.config_path == NULL ? memory_fault() : 0;
    }
    if (status == 0) {
        status = check_model(&reading, flags);
    }
    if (status == 0) {
        status = list_paths(&reading);
    }
    if (status == 0) {
        status = model_arrays_read(&reading);
    }
    free(reading.found);
    free(reading.config_path);
    if (status != 0) {
        model_file_clear(reading.model);
        return status;
    }
    *model = reading.model;
    return 0;
}

int model_file_take(ModelFile **model, const SafetensorsFile *file, bool ignore_extra)
{
    TensorSet set;
    const ModelFileFlags flags = {.ignore_extra = ignore_extra};
    *model = NULL;
    int status = tensor_set_of(&set, file);
    if (status == 0) {
        status = read_set(model, &set, &flags);
    }
    tensor_set_clear(&set);
    return status;
}

int model_file_read_with(ModelFile **model, const char *path, const ModelFileFlags *flags)
{
    TensorSet set;
    *model = NULL;
    int status = tensor_set_open(&set, path);
    if (status == 0) {
        status = read_set(model, &set, flags);
    }
    tensor_set_clear(&set);
    return status;
}

int model_file_read(ModelFile **model, const char *path, bool ignore_extra)
{
    return model_file_read_with(model, path, &(ModelFileFlags){.ignore_extra = ignore_extra});
}

void model_file_clear(ModelFile *model)
{
    if (model == NULL) {
        return;
    }
    for (size_t layer = 0; model->layers != NULL && layer < model->depth; layer++) {
        for (int slot = 0; slot < SLOTS_OF_LAYER; slot++) {
            free(*model_array(model, (Slot)slot, layer));
        }
    }
    for (int slot = SLOTS_OF_LAYER; slot < SLOT_TOKENS; slot++) {
        free(*model_array(model, (Slot)slot, 0));
    }
    for (size_t i = 0; i < model->path_count; i++) {
        free(model->paths[i]);
    }
    free(model->paths);
    free(model->tokens);
    free(model->layers);
    free(model);
}
