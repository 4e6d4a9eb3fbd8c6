/*
 * The names of a file's tensors as a whole: what must not be there, and the layers that they make.
 */

#include "model_check.h"

#include "../../memory/need.h"
#include "../base/message.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int refuse_unknown(const Reading *reading, const NameList *list)
{
    char more[40];
    return complain_of(
        reading->set->path, NULL, NULL,
        "unknown tensors: %s%s: expected those that docs name (--ignore-extra skips others)",
        list->text, name_list_more(more, sizeof more, list));
}

/* Of tensors that change what a model computes, the one that says most about it. */
static int refuse_structure(const Reading *reading)
{
    const SetTensor *worst = NULL;
    size_t rank = SIZE_MAX;
    for (size_t i = 0; i < reading->set->count; i++) {
        const SetTensor *found = &reading->set->tensors[i];
        if (found->kind == NAME_STRUCTURE && structure_rank(found->tensor->name) < rank) {
            worst = found;
            rank = structure_rank(found->tensor->name);
        }
    }
    if (worst == NULL) {
        return 0;
    }
    return complain_of(safetensors_path(worst->file), "tensor", worst->tensor->name,
                       "expected no %s: it changes what the model computes and is outside the "
                       "construction (fold or remove it before; --ignore-extra does not skip it)",
                       structure_of(worst->tensor->name));
}

int names_check(NamesFound *names, Reading *reading, const ModelFileFlags *flags)
{
    NameList unknown = {.count = 0};
    *names = (NamesFound){0};
    int status = refuse_structure(reading);
    for (size_t i = 0; i < reading->set->count && status == 0; i++) {
        const SetTensor *found = &reading->set->tensors[i];
        Slot slot = found->kind == NAME_SLOT ? found->entry->slot : SLOT_COUNT;
        if (found->kind == NAME_UNKNOWN) {
            name_list_add(&unknown, found->tensor->name);
        }
        bool of_layer = slot < SLOTS_OF_LAYER || found->kind == NAME_BUFFER;
        if (of_layer && found->layer >= names->layers) {
            names->layers = found->layer + 1;
        }
        names->x = names->x || slot == SLOT_X;
        names->others = names->others || (found->kind != NAME_RESULT && slot != SLOT_X);
        reading->witnessed =
            reading->witnessed || slot == SLOT_WITNESS_LOGITS || slot == SLOT_WITNESS_RESID;
    }
    return status == 0 && unknown.count > 0 && !flags->ignore_extra
               ? refuse_unknown(reading, &unknown)
               : status;
}

static int refuse_twice(const SetTensor *found)
{
    const char *name = found->tensor->name;
    if (strncmp(name, WITNESS_PREFIX, strlen(WITNESS_PREFIX)) == 0) {
        return complain_of(
            safetensors_path(found->file), "tensor", name,
            "is there twice: expected one witness, in the model's file or in another");
    }
    return complain_of(safetensors_path(found->file), "tensor", name,
                       "is there twice, with another prefix too (module., _orig_mod., model., "
                       "transformer.): expected one of them");
}

/* Marks what each layer has, of layers below room.  room is at most the number of tensors: a file
 * whose names count more layers than it has tensors lacks one below that. */
static int mark_found(Reading *reading, size_t room)
{
    for (size_t i = 0; i < reading->set->count; i++) {
        const SetTensor *found = &reading->set->tensors[i];
        if (found->kind != NAME_SLOT) {
            continue;
        }
        Slot slot = found->entry->slot;
        bool of_layer = slot < SLOTS_OF_LAYER, there = !of_layer || found->layer < room;
        for (size_t part = 0; part < tensor_parts(found->entry) && there; part++) {
            unsigned *marks = &reading->found[of_layer ? found->layer : room];
            if ((*marks & SLOT_BIT(slot + (Slot)part)) != 0) {
                return refuse_twice(found);
            }
            *marks |= SLOT_BIT(slot + (Slot)part);
        }
    }
    return 0;
}

/* A file of an X alone needs no layer, as `silu` has no weights.  Beside other tensors an X is not
 * enough: those that are skipped may be the layers. */
int names_find_layers(Reading *reading, const NamesFound *names, size_t said)
{
    size_t tensors = reading->set->count, depth = 0, layers = names->layers;
    size_t room = layers < tensors ? layers : tensors;
    bool alone = names->x && !names->others;
    reading->found = need_zeros(room + 1, sizeof *reading->found);
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
                            said, reading->depth_by);
    }
    reading->model->depth = depth;
    return 0;
}
