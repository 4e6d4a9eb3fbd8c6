/*
 * Families of names: which one a file has, and what a name means in it.
 */
#include "family.h"

#include "model_check.h"

#include <stdio.h>
#include <string.h>

/* What a file of any family may have: inputs, and a witness's answers. */
static const TensorName of_all[] = {{"X", SLOT_X, 1, NULL, false},
                                    {"tokens", SLOT_TOKENS, 1, NULL, false},
                                    {"witness.tokens", SLOT_WITNESS_TOKENS, 1, NULL, false},
                                    {"witness.logits", SLOT_WITNESS_LOGITS, 1, NULL, false},
                                    {"witness.resid", SLOT_WITNESS_RESID, 1, NULL, false},
                                    {.name = NULL}};

const char *tensor_axes(const TensorName *entry)
{
    static const char plain[][8] = {"", "0", "0 1", "0 1 2"};
    return entry->axes != NULL ? entry->axes : plain[slot_infos[entry->slot].rank];
}

const char *family_slot_name(const Family *family, Slot slot)
{
    const TensorName *const tables[] = {family->names, of_all};
    for (size_t i = 0; i < 2; i++) {
        for (const TensorName *entry = tables[i]; entry->name != NULL; entry++) {
            if (slot >= entry->slot && slot < entry->slot + (Slot)entry->parts) {
                return entry->name;
            }
        }
    }
    return "what the model has there";
}

LayerName family_layer_name(const Family *family, size_t layer)
{
    LayerName name;
    snprintf(name.text, sizeof name.text, "%.20s%zu", family->layer, layer);
    return name;
}

/* Past "blocks.{l}.", or NULL: l has no leading zeros, so a tensor has one name. */
static const char *skip_layer(size_t *layer, const char *prefix, const char *name)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0) {
        return NULL;
    }
    const char *digits = name + length;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 9 || digits[count] != '.' || (count > 1 && digits[0] == '0')) {
        return NULL;
    }
    *layer = 0;
    for (size_t i = 0; i < count; i++) {
        *layer = 10 * *layer + (size_t)(digits[i] - '0');
    }
    return digits + count + 1;
}

/* A name without what wrappers put before it. */
static const char *bare_name(const char *name)
{
    static const char *const wrappers[] = {"module.", "_orig_mod.", "model.", "transformer.",
                                           "gpt_neox."};
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        size_t length = strlen(wrappers[i]);
        if (strncmp(name, wrappers[i], length) == 0) {
            return bare_name(name + length);
        }
    }
    return name;
}

/* The kind of a tensor, its layer, and its entry: of the rows of its name that with as many axes as
 * it has, else the first. */
static NameKind classify(SetTensor *found, const Family *family)
{
    const TensorName *const tables[] = {family->names, of_all};
    const char *bare = bare_name(found->tensor->name);
    found->layer = 0;
    const char *rest = skip_layer(&found->layer, family->layer, bare);
    const char *name = rest != NULL ? rest : bare;
    found->entry = NULL;
    for (size_t i = 0; i < 2; i++) {
        for (const TensorName *entry = tables[i]; entry->name != NULL; entry++) {
            bool of_layer = entry->slot < SLOTS_OF_LAYER;
            if (of_layer == (rest != NULL) && strcmp(name, entry->name) == 0) {
                bool fits = packing_rank(tensor_axes(entry)) == found->tensor->rank;
                found->entry = found->entry == NULL || fits ? entry : found->entry;
            }
        }
    }
    return found->entry != NULL                                              ? NAME_SLOT
           : rest != NULL && is_listed(family->buffers, rest)                ? NAME_BUFFER
           : strncmp(found->tensor->name, "result.", strlen("result.")) == 0 ? NAME_RESULT
           : name_is_harmless(bare)                                          ? NAME_HARMLESS
                                                                             : NAME_UNKNOWN;
}

static void read_as(TensorSet *set, const Family *family)
{
    for (size_t i = 0; i < set->count; i++) {
        set->tensors[i].kind = classify(&set->tensors[i], family);
    }
}

const Family *family_of(TensorSet *set, const char *type)
{
    const Family *best = families;
    size_t most = 0, agreed = 0;
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        read_as(set, &families[i]);
        StreamWidth width;
        size_t count =
            0; /* without an X and what follows it in the table: any file may have those */
        for (size_t t = 0; t < set->count; t++) {
            count += set->tensors[t].kind == NAME_SLOT && set->tensors[t].entry->slot < SLOT_X;
        }
        size_t agree = count >= most ? stream_width(&width, set) : 0;
        bool said = list_has(families[i].types, ' ', type);
        if (count > most || (count == most && agree + said > agreed)) {
            best = &families[i];
            most = count;
            agreed = agree + said;
        }
    }
    read_as(set, best);
    return best;
}
