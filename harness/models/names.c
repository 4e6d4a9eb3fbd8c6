/*
 * The names of a file's tensors: what one is that no family has a name for, what must not be there,
 * and the layers that they make.
 *
 * Only names can tell what a tensor of no family is: none of the model's own, and --ignore-extra
 * skips it; or, for a message, what it says of the model.  A list of what changes a model is never
 * whole, so that what may be skipped is the list, and everything else is refused: a tensor that is
 * refused by mistake can be removed, but one that is skipped by mistake gives a verdict about
 * another model.
 */
#include "model_check.h"
#include "safetensors.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/text_stream.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The positions 0, 1, ..., which are harmless where they are these. */
#define POSITION_IDS "position_ids"

/* No forward pass reads these.  What a training run keeps beside a model lies below a name of its
 * own, or beside each tensor under that one's name; heads of a loss and of a reward read the last
 * stream and give no logit.  A `step` of a quantiser is a factor, so that counters count as such by
 * their whole name alone. */
static const struct {
    enum { FIRST_PART, LAST_PART, WHOLE_NAME } where;
    const char *name;
} harmless[] = {
    {FIRST_PART, "optimizer"},     {FIRST_PART, "lr_scheduler"},
    {FIRST_PART, "rng_state"},     {FIRST_PART, "criterion"},
    {FIRST_PART, "loss_fn"},       {FIRST_PART, "v_head"},
    {LAST_PART, "exp_avg"},        {LAST_PART, "exp_avg_sq"},
    {LAST_PART, "max_exp_avg_sq"}, {LAST_PART, "momentum_buffer"},
    {LAST_PART, "grad"},           {LAST_PART, "num_batches_tracked"},
    {LAST_PART, POSITION_IDS},     {WHOLE_NAME, "step"},
    {WHOLE_NAME, "global_step"},   {WHOLE_NAME, "epoch"},
    {WHOLE_NAME, "iter_num"},      {WHOLE_NAME, "best_val_loss"},
};

bool name_is_harmless(const char *name)
{
    const char *dot = strchr(name, '.'), *last = strrchr(name, '.');
    size_t first = dot != NULL ? (size_t)(dot - name) : strlen(name);
    last = last != NULL ? last + 1 : name;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        const char *known = harmless[i].name;
        bool same = harmless[i].where == LAST_PART
                        ? strcmp(last, known) == 0
                        : strlen(known) == first && strncmp(name, known, first) == 0;
        if (same && (harmless[i].where != WHOLE_NAME || dot == NULL)) {
            return true;
        }
    }
    return false;
}

/* Positions that may be the construction's all the same. */
#define ANOTHER_NAME "position embedding of another name"

/* Words to be found anywhere ("norm"), at the start of a part ("_rope"), or as a part ("_ln_") of a
 * name in one spelling, "_blocks___ln__w_" of "blocks.0.LN1.w".  Those that say most of a model
 * come first. */
static const struct {
    const char *word, *what;
} structures[] = {
    {"router", "router of experts"},
    {"expert", "router of experts"},
    {"_moe_", "router of experts"},
    {"gate", "gate"},
    {"gating", "gate"},
    {"glu_", "gate"},
    {"attn__w_k_", "keys that several queries share"},
    {"attn__w_v_", "values that several queries share"},
    {"query_key_value", "queries, keys and values in one, as with rotary positions or ALiBi"},
    {"rotary", "rotary position"},
    {"_rope", "rotary position"},
    {"inv_freq", "rotary position"},
    {"alibi", "position bias"},
    {"relative", "position bias"},
    {"rel_pos", "position bias"},
    {"relpos", "position bias"},
    {"pos_bias", "position bias"},
    {"position_bias", "position bias"},
    {"position_emb", ANOTHER_NAME},
    {"positional", ANOTHER_NAME},
    {"pos_emb", ANOTHER_NAME},
    {"_wpe_", ANOTHER_NAME},
    {"token_type", "embedding of token types"},
    {"softcap", "scale"},
    {"_sink", "attention sink"},
    {"lora", "adapter"},
    {"adapter", "adapter"},
    {"cross_att", "attention to another stream"},
    {"crossatt", "attention to another stream"},
    /* Last: most models have some, under names of their family. */
    {"norm", "layer norm"},
    {"_ln_", "layer norm"},
    {"_rms", "layer norm"},
    {"running_", "layer norm"},
    {"_gamma_", "layer norm"},
    {"_beta_", "layer norm"},
    {"scale", "scale"},
    {"temperature", "scale"},
};

/* The structure that a tensor of that name is, "layer norm" or "gate" or the like, for a message;
 * NULL where the name says nothing of the kind.  *rank: how much it says, 0 most, so that of
 * several the one is told that says what the model is. */
static const char *structure_of(size_t *rank, const char *name)
{
    /* Lower case, with a '_' for all that is no letter, and around the whole. */
    char text[SAFETENSORS_NAME_MOST + 3], *to = text;
    *to++ = '_';
    for (; *name != '\0'; name++) {
        bool upper = *name >= 'A' && *name <= 'Z', lower = *name >= 'a' && *name <= 'z';
        *to++ = (char)(upper ? *name - 'A' + 'a' : lower ? *name : '_');
    }
    strcpy(to, "_");
    for (*rank = 0; *rank < sizeof structures / sizeof *structures; ++*rank) {
        if (strstr(text, structures[*rank].word) != NULL) {
            return structures[*rank].what;
        }
    }
    return NULL;
}

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
    if (!text_ends_in(tensor->name, POSITION_IDS)) {
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
