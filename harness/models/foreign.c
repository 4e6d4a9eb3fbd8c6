/*
 * What tells models of other architectures, where no name of a tensor does (model_structure.c has
 * those): queries that share keys, and keys of a config that only such models have.
 */
#include "foreign.h"

#include "../base/message.h"
#include "keys.h"

#include <stdio.h>
#include <string.h>

#define GROUPED "several queries share a key and a value"

/* The tensor of that name; NULL: there is none. */
static const SafetensorsTensor *find(const TensorSet *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->tensors[i].tensor->name, name) == 0) {
            return set->tensors[i].tensor;
        }
    }
    return NULL;
}

/* Keys of fewer columns than queries have: "q_proj.weight" and "k_proj.weight" [out, in]. */
static int check_groups(const Reading *reading, const SetTensor *found)
{
    static const char key[] = "k_proj.weight";
    char name[SAFETENSORS_NAME_MOST + 1];
    const SafetensorsTensor *keys = found->tensor;
    size_t length = strlen(keys->name), tail = sizeof key - 1;
    if (length < tail || strcmp(keys->name + length - tail, key) != 0 || keys->rank != 2) {
        return 0;
    }
    snprintf(name, sizeof name, "%s", keys->name);
    name[length - tail] = 'q';
    const SafetensorsTensor *queries = find(reading->set, name);
    if (queries == NULL || queries->rank != 2 || queries->shape[0] == keys->shape[0]) {
        return 0;
    }
    return complain_of(safetensors_path(found->file), "tensor", keys->name,
                       "%zu rows: expected %zu, as many as '%.255s' has: " GROUPED, keys->shape[0],
                       queries->shape[0], name);
}

int foreign_check(Reading *reading, const ModelFileFlags *flags)
{
    int status = 0;
    for (size_t i = 0; i < reading->set->count && status == 0; i++) {
        status = check_groups(reading, &reading->set->tensors[i]);
    }
    return status == 0 ? keys_refuse_foreign(reading, flags) : status;
}
