/*
 * The names of a file's tensors as a whole: what must not be there, and the layers that they make.
 */

#include "model_check.h"
#include "safetensors.h"

#include "../../memory/need.h"
#include "../base/message.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse_unknown(const Reading *reading, const NameList *list, bool harmless)
{
    return complain_of(
        reading->set->path, NULL, NULL, "unknown tensors: %s: expected those that docs name (%s)",
        list->text,
        harmless ? "--ignore-extra skips these, which no model reads when it answers"
                 : "--ignore-extra skips no others than an optimizer's, counters and the like: "
                   "what the model reads makes it another model, what it does not can be removed "
                   "from the file");
}

/* Of tensors that change what a model computes, the one that says most about it. */
static int refuse_structure(const Reading *reading)
{
    const SetTensor *worst = NULL;
    const char *what = NULL;
    size_t rank, least = SIZE_MAX;
    for (size_t i = 0; i < reading->set->count; i++) {
        const SetTensor *found = &reading->set->tensors[i];
        const char *said =
            found->kind == NAME_UNKNOWN ? structure_of(&rank, found->tensor->name) : NULL;
        if (said != NULL && rank < least) {
            worst = found;
            what = said;
            least = rank;
        }
    }
    if (worst == NULL) {
        return 0;
    }
    return complain_of(worst->file->path, "tensor", worst->tensor->name,
                       "expected no %s: %s outside the construction (--ignore-extra does not skip "
                       "it)",
                       what,
                       strcmp(what, ANOTHER_NAME) == 0
                           ? "learned ones are read under the name that docs/models.md has, where "
                             "other names are renamed, too; all others are"
                           : "it changes what the model computes and is");
}

/* Of positions that are skipped, demands 0, 1, .... */
static int check_harmless(const SetTensor *found)
{
    const SafetensorsTensor *tensor = found->tensor;
    if (!ends_in(tensor->name, POSITION_IDS)) {
        return 0;
    }
    int64_t *ids = need_zeros(tensor->count + 1, sizeof *ids);
    int status = safetensors_integers(ids, found->file, tensor);
    for (size_t i = 0; i < tensor->count && status == 0; i++) {
        if (ids[i] != (int64_t)i) {
            status = complain_of(found->file->path, "tensor", tensor->name,
                                 "expected 0, 1, 2, ...: with others a model adds other positions");
        }
    }
    free(ids);
    return status;
}

int names_check(Reading *reading)
{
    NameList unknown = {.count = 0}, harmless = {.count = 0};
    int status = refuse_structure(reading);
    for (size_t i = 0; i < reading->set->count && status == 0; i++) {
        const SetTensor *found = &reading->set->tensors[i];
        Slot slot = found->kind == NAME_SLOT ? found->entry->slot : SLOT_COUNT;
        if (found->kind == NAME_UNKNOWN) {
            name_list_add(&unknown, found->tensor->name);
        }
        if (found->kind == NAME_HARMLESS) {
            name_list_add(&harmless, found->tensor->name);
            status = check_harmless(found);
        }
        bool of_layer = slot < SLOTS_OF_LAYER || found->kind == NAME_BUFFER;
        if (of_layer && found->layer >= reading->layers) {
            reading->layers = found->layer + 1;
        }
        reading->x = reading->x || slot == SLOT_X;
        reading->others = reading->others || (found->kind != NAME_RESULT &&
                                              found->kind != NAME_HARMLESS && slot != SLOT_X);
        reading->witnessed =
            reading->witnessed || slot == SLOT_WITNESS_LOGITS || slot == SLOT_WITNESS_RESID;
    }
    if (status == 0 && unknown.count > 0) {
        return refuse_unknown(reading, &unknown, false);
    }
    if (status != 0 || harmless.count == 0) {
        return status;
    }
    reading->model->skipped = need_copy(harmless.text);
    return reading->flags->ignore_extra ? 0 : refuse_unknown(reading, &harmless, true);
}

static int refuse_twice(const SetTensor *found)
{
    const char *name = found->tensor->name;
    bool witness = strncmp(name, WITNESS_PREFIX, strlen(WITNESS_PREFIX)) == 0;
    return complain_of(found->file->path, "tensor", name, "is there twice%s",
                       witness ? ": expected one witness, in the model's file or in another"
                               : ", with another prefix too (module., _orig_mod., model., "
                                 "transformer., gpt_neox.): expected one of them");
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
        for (size_t part = 0; part < found->entry->parts && there; part++) {
            SlotSet *marks = &reading->found[of_layer ? found->layer : room];
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
int names_find_layers(Reading *reading)
{
    size_t tensors = reading->set->count, depth = 0, layers = reading->layers;
    size_t room = layers < tensors ? layers : tensors;
    bool alone = reading->x && !reading->others;
    reading->found = need_zeros(room + 1, sizeof *reading->found);
    int status = mark_found(reading, room);
    if (status != 0) {
        return status;
    }
    while (depth < room && reading->found[depth] != 0) {
        depth++;
    }
    if ((depth == 0 && !alone) || depth < layers) {
        return complain_of(reading->set->path, "layer",
                           family_layer_name(reading->family, depth).text,
                           "missing: expected layers 0, 1, ... without gaps");
    }
    if (reading->depth != 0 && reading->depth != depth) {
        return complain_of(reading->set->path, NULL, NULL, "%zu layers: expected %zu, as '%s' says",
                           depth, reading->depth, reading->depth_by);
    }
    reading->model->depth = depth;
    return 0;
}
