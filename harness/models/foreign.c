/*
 * What tells models of other architectures, where no name of a tensor does (model_structure.c has
 * those): queries that share keys, and keys of a config that only such models have.
 */
#include "foreign.h"

#include "../base/message.h"
#include "config.h"

#include <stdio.h>
#include <string.h>

#define ROTARY "positions are rotary, and turn queries and keys"
#define BIASED "scores have a bias by distance"
#define ROUTED "a router chooses among experts"
#define GROUPED "several queries share a key and a value"
#define LOCAL "some layers see a window of the keys alone"

/* Said by a value that is not null, false or 0. */
static const char *const foreign[][2] = {
    {"rope_theta", ROTARY},
    {"rope_scaling", ROTARY},
    {"rope_parameters", ROTARY},
    {"rotary", ROTARY},
    {"rotary_dim", ROTARY},
    {"rotary_pct", ROTARY},
    {"rotary_emb_base", ROTARY},
    {"partial_rotary_factor", ROTARY},
    {"alibi", BIASED},
    {"relative_attention_num_buckets", BIASED},
    {"num_local_experts", ROUTED},
    {"num_experts", ROUTED},
    {"n_routed_experts", ROUTED},
    {"multi_query", GROUPED},
    {"num_key_value_heads", GROUPED},
    {"attention_types", LOCAL},
    {"sliding_window", LOCAL},
};

static bool says_no(const json_t *value)
{
    return value == NULL || json_is_null(value) || json_is_false(value) ||
           (json_is_integer(value) && json_integer_value(value) == 0);
}

static int check_config(const Reading *reading)
{
    json_t *config;
    int status = config_open(&config, reading);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign && status == 0; i++) {
        const json_t *value = json_object_get(config, foreign[i][0]);
        if (!says_no(value)) {
            status = config_refuse(reading, foreign[i][0], value, "none", foreign[i][1]);
        }
    }
    json_decref(config);
    return status;
}

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
    complain_of(safetensors_path(found->file), "tensor", keys->name,
                "%zu rows: expected %zu, as many as '%.255s' has: " GROUPED, keys->shape[0],
                queries->shape[0], name);
    return 2;
}

int foreign_check(const Reading *reading)
{
    int status = 0;
    for (size_t i = 0; i < reading->set->count && status == 0; i++) {
        status = check_groups(reading, &reading->set->tensors[i]);
    }
    return status == 0 ? check_config(reading) : status;
}
