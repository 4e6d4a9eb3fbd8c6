/*
 * A trained model read from its files.
 */
#include "model_file.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "keys.h"
#include "model_check.h"
#include "model_stream.h"

#include <stdlib.h>
#include <string.h>

static int check_shapes(Reading *reading)
{
    int status = 0;
    for (size_t i = 0; i < reading->set->count && status == 0; i++) {
        const SetTensor *found = &reading->set->tensors[i];
        status = found->kind == NAME_SLOT ? model_shape_check(reading, found) : 0;
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
    size_t classes = reading->model->classes;
    if (classes != 0 && classes != reading->model->vocabulary) {
        return model_refuse(reading, "tensor", reading->given_by[EXTENT_CLASSES],
                            "%zu classes: expected %zu, the rows of %s, which the unembedding is",
                            classes, reading->model->vocabulary,
                            family_slot_name(reading->family, SLOT_W_E));
    }
    *found |= SLOT_BIT(SLOT_W_U);
    return 0;
}

/* An unembedding that is there, and said to be the embedding. */
static int check_tied_values(const Reading *reading)
{
    const Property *tied = properties_find(&reading->said, "tied");
    const ModelFile *model = reading->model;
    if (tied == NULL || strcmp(tied->value, "yes") != 0 || model->tied || model->W_U == NULL ||
        model->W_E == NULL) {
        return 0;
    }
    bool same = model->classes == model->vocabulary;
    for (size_t t = 0; t < model->classes && same; t++) {
        for (size_t c = 0; c < model->d && same; c++) {
            same = model->W_U[c * model->classes + t] == model->W_E[t * model->d + c];
        }
    }
    return same ? 0
                : model_refuse(reading, "tensor", family_slot_name(reading->family, SLOT_W_U),
                               "differs from %s: expected the same, as %s of '%s' says "
                               "(tie_word_embeddings false says that they are two)",
                               family_slot_name(reading->family, SLOT_W_E), tied->name, tied->file);
}

static int check_model(Reading *reading, const ModelFileFlags *flags)
{
    NamesFound names;
    size_t depth = 0;
    bool known;
    reading->family = family_of(&known, reading->set);
    int status = names_check(&names, reading, known, flags);
    status = status != 0 ? status : keys_read(reading, &depth, flags);
    if (reading->family->splits && reading->model->heads == 0) {
        reading->model->heads = flags->heads;
        reading->given_by[EXTENT_HEADS] = "--heads";
    }
    status = status != 0 ? status : names_find_layers(reading, &names, depth);
    status = status != 0 ? status : check_shapes(reading);
    status = status != 0 ? status : mask_buffers_read(reading);
    status = status != 0 ? status : check_tied(reading);
    status = status != 0 ? status : model_check_parts(reading);
    return status == 0 ? model_said_read(reading) : status;
}

/* The files that the model was read from. */
static void list_paths(const Reading *reading)
{
    const TensorSet *set = reading->set;
    ModelFile *model = reading->model;
    model->paths = need_zeros(set->file_count + 2, sizeof *model->paths);
    if (set->index != NULL) {
        model->paths[model->path_count++] = need_copy(set->path);
    }
    for (size_t i = 0; i < set->file_count; i++) {
        const char *path = safetensors_path(set->files[i]);
        model->paths[model->path_count++] = need_copy(path);
    }
    if (reading->configured) {
        model->paths[model->path_count++] = need_copy(reading->config_path);
    }
}

static int read_set(ModelFile **model, TensorSet *set, const ModelFileFlags *flags)
{
    Reading reading = {.set = set,
                       .model = need_zeros(1, sizeof **model),
                       .config_path = path_beside(set->folder, "config.json"),
                       .room = flags->room};
    int status = check_model(&reading, flags);
    if (status == 0) {
        list_paths(&reading);
        status = model_arrays_read(&reading);
    }
    status = status != 0 ? status : tensor_set_recheck(set, true);
    status = status != 0 ? status : check_tied_values(&reading);
    free(reading.found);
    free(reading.config_path);
    if (status != 0) {
        model_file_clear(reading.model);
        return status;
    }
    *model = reading.model;
    return 0;
}

int model_file_read_with(ModelFile **model, const char *path, const ModelFileFlags *flags)
{
    TensorSet set;
    *model = NULL;
    int status = tensor_set_open(&set, path);
    status = status != 0 || flags->witness == NULL
                 ? status
                 : tensor_set_add(&set, flags->witness, WITNESS_PREFIX);
    status = status != 0 ? status : read_set(model, &set, flags);
    if (status == 0 && (*model)->stream != NULL) {
        model_stream_own(*model, &set);
    }
    tensor_set_clear(&set);
    return status;
}

void model_file_clear(ModelFile *model)
{
    if (model == NULL) {
        return;
    }
    for (size_t layer = 0; model->layers != NULL && layer < model->depth; layer++) {
        for (int slot = 0; slot < SLOTS_OF_LAYER; slot++) {
            double *array = *model_array(model, (Slot)slot, layer);
            if (!model_stream_has(model, layer, array)) {
                free(array);
            }
        }
    }
    model->W_U = model->tied ? NULL : model->W_U;
    for (int slot = SLOTS_OF_LAYER; slot < SLOTS_OF_FLOATS; slot++) {
        free(*model_array(model, (Slot)slot, 0));
    }
    for (size_t i = 0; i < model->path_count; i++) {
        free(model->paths[i]);
    }
    model_stream_clear(model->stream);
    free(model->paths);
    free(model->tokens);
    free(model->witness.tokens);
    free(model->doubts);
    free(model->ignored);
    free(model->layers);
    free(model);
}
