/*
 * A trained model read from its files.
 */
#include "model_file.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/text_stream.h"
#include "keys.h"
#include "model_check.h"
#include "model_stream.h"
#include "regular_file.h"
#include "safetensors.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIG_MOST = 1 << 20 };

static int check_shapes(Reading *reading)
{
    int status = 0;
    StreamWidth voted;
    if (reading->model->d == 0 && stream_width(&voted, reading->set) > 0) {
        reading->model->d = voted.width;
        reading->given_by[EXTENT_D] = voted.by;
    }
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
    SlotSet *found = &reading->found[reading->model->depth];
    bool yes = tied != NULL && strcmp(tied->value, "yes") == 0;
    if (!(reading->family->tied || yes) || (*found & SLOT_BIT(SLOT_W_U)) != 0) {
        return 0;
    }
    if (tied != NULL && !yes) {
        return complain_of(reading->set->path, "tensor",
                           family_slot_name(reading->family, SLOT_W_U),
                           "missing: expected it, as %s of '%s' is false", tied->name, tied->file);
    }
    size_t classes = reading->model->classes;
    if (classes != 0 && classes != reading->model->vocabulary) {
        return complain_of(reading->set->path, "tensor", reading->given_by[EXTENT_CLASSES],
                           "%zu classes: expected %zu, the rows of %s, which the unembedding is",
                           classes, reading->model->vocabulary,
                           family_slot_name(reading->family, SLOT_W_E));
    }
    *found |= SLOT_BIT(SLOT_W_U);
    return 0;
}

static bool unembeds_by_embedding(const ModelFile *model)
{
    bool same = model->classes == model->vocabulary;
    for (size_t t = 0; t < model->classes && same; t++) {
        for (size_t c = 0; c < model->d && same; c++) {
            same = model->W_U[c * model->classes + t] == model->W_E[t * model->d + c];
        }
    }
    return same;
}

/* An unembedding that is there and is not the embedding, though it is said to be, or though the
 * family's programs make it so where nobody says it; a witness shows which it is. */
static int check_tied_values(const Reading *reading)
{
    const Property *tied = properties_find(&reading->said, "tied");
    const Family *family = reading->family;
    const ModelFile *model = reading->model;
    bool asked =
        tied != NULL ? strcmp(tied->value, "yes") == 0 : family->tied && !reading->witnessed;
    if (!asked || model->tied || model->W_U == NULL || model->W_E == NULL ||
        unembeds_by_embedding(model)) {
        return 0;
    }
    const char *own = family_slot_name(family, SLOT_W_U);
    const char *embedding = family_slot_name(family, SLOT_W_E);
    if (tied == NULL) {
        return complain_of(reading->set->path, "tensor", own,
                           "differs from %s, and nothing says which of them is the unembedding: "
                           "expected tie_word_embeddings in a config.json beside the file: true "
                           "(%s, as %s has it; then without %s), or false (%s)",
                           embedding, embedding, family->title, own, own);
    }
    return complain_of(reading->set->path, "tensor", own,
                       "differs from %s: expected the same, as %s of '%s' says "
                       "(tie_word_embeddings false says that they are two)",
                       embedding, tied->name, tied->file);
}

/* How many heads there are: as a tensor shows that has an axis of them, else as is said or to be
 * shown, if any tensor holds them side by side. */
static int find_heads(Reading *reading)
{
    ModelFile *model = reading->model;
    size_t said = reading->flags->heads;
    bool beside = false;
    for (size_t i = 0; i < reading->set->count && model->heads == 0; i++) {
        const SetTensor *found = &reading->set->tensors[i];
        if (found->kind != NAME_SLOT || found->entry->slot > SLOT_B_V) {
            continue;
        }
        size_t rank = slot_infos[found->entry->slot].rank;
        if (packing_rank(tensor_axes(found->entry)) < rank) {
            beside = true;
        } else if (found->tensor->rank == rank) {
            model->heads = found->tensor->shape[0];
            reading->given_by[EXTENT_HEADS] = found->tensor->name;
        }
    }
    if (model->heads == 0 && beside) {
        model->heads_open = said == 0 && reading->witnessed && !reading->family->shares;
        model->heads = model->heads_open ? 1 : said;
        reading->given_by[EXTENT_HEADS] = "--heads";
    }
    return 0;
}

/* As many heads of keys as of queries, or some that these share evenly; 0: nobody says it. */
static int check_key_heads(Reading *reading)
{
    const ModelFile *model = reading->model;
    bool shares = reading->family->shares, known = model->key_heads > 0 && model->heads > 0;
    if (!known ||
        (shares ? model->heads % model->key_heads == 0 : model->heads == model->key_heads)) {
        return 0;
    }
    return complain_of(reading->said_in, "key", reading->given_by[EXTENT_KEY_HEADS],
                       "%zu: expected %s%zu, the heads of queries", model->key_heads,
                       shares ? "a divisor of " : "", model->heads);
}

/* The model_type that a config or a file says, or NULL. */
static const char *said_type(const Reading *reading)
{
    const char *type = json_string_value(json_object_get(reading->config, "model_type"));
    for (size_t i = 0; i < reading->set->file_count && type == NULL; i++) {
        const json_t *said = json_object_get(reading->set->files[i]->header, "__metadata__");
        type = json_string_value(json_object_get(said, "model_type"));
    }
    return type;
}

/* Which family it is; of families with the same names model_type tells. */
static int find_family(Reading *reading)
{
    const char *type = said_type(reading);
    reading->family = family_of(reading->set, type);
    reading->typed = type != NULL;
    int status = architecture_check(reading);
    return status != 0 || type != NULL || !reading->family->by_type
               ? status
               : complain_of(reading->set->path, "key", "model_type",
                             "missing: expected it in a config.json, as Llama, Mistral, Qwen2 and "
                             "Gemma have the same names");
}

static int check_model(Reading *reading)
{
    static int (*const steps[])(Reading *) = {find_family,  names_check,       keys_read,
                                              find_heads,   names_find_layers, check_key_heads,
                                              check_shapes, check_key_heads,   mask_buffers_read,
                                              check_tied,   model_check_parts, model_said_read};
    int status = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == 0; i++) {
        status = steps[i](reading);
    }
    return status;
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
        const char *path = set->files[i]->path;
        model->paths[model->path_count++] = need_copy(path);
    }
    if (reading->config != NULL) {
        model->paths[model->path_count++] = need_copy(reading->config_path);
    }
}

/* The embedding times sqrt(d), in as many digits as the file has of it; the unembedding, which may
 * be the same tensor, is not scaled. */
static void scale_embedding(Reading *reading)
{
    static const int digits[] = {DBL_MANT_DIG, FLT_MANT_DIG, 11, 8}; /* F64, F32, F16, BF16 */
    ModelFile *model = reading->model;
    const TensorSet *set = reading->set;
    size_t count = model->vocabulary * model->d, of = 0;
    while (set->tensors[of].kind != NAME_SLOT || set->tensors[of].entry->slot != SLOT_W_E) {
        of++;
    }
    int exponent, kept = digits[set->tensors[of].tensor->dtype];
    double scale = frexp(sqrt((double)model->d), &exponent);
    scale = ldexp(rint(ldexp(scale, kept)), exponent - kept);
    if (model->tied) {
        model->W_U = need_zeros(count, sizeof *model->W_U);
        for (size_t i = 0; i < count; i++) {
            model->W_U[i % model->d * model->vocabulary + i / model->d] = model->W_E[i];
        }
        model->tied = false;
    }
    for (size_t i = 0; i < count; i++) {
        model->W_E[i] *= scale;
    }
}

static int read_set(Reading *reading)
{
    int status = check_model(reading);
    if (status != 0) {
        return status;
    }
    list_paths(reading);
    status = model_arrays_read(reading);
    status = status != 0 ? status : tensor_set_recheck(reading->set, true);
    status = status != 0 ? status : check_tied_values(reading);
    if (status == 0 && reading->family->scaled) {
        scale_embedding(reading);
    }
    return status;
}

int model_file_read_with(ModelFile **model, const char *path, const ModelFileFlags *flags)
{
    TensorSet set = {.count = 0};
    Reading reading = {.set = &set,
                       .model = need_zeros(1, sizeof **model),
                       .config_path = model_config_path(path),
                       .flags = flags};
    /* What a config.json says of an architecture is said before any tensor is looked at. */
    int status = json_file_read(&reading.config, reading.config_path, CONFIG_MOST, true);
    status = status != 0 ? status : architecture_check(&reading);
    status = status != 0 ? status : tensor_set_open(&set, path, flags->witness);
    reading.said_in = reading.config != NULL ? reading.config_path : set.path;
    status = status != 0 ? status : read_set(&reading);
    if (status == 0 && reading.model->stream != NULL) {
        model_stream_own(reading.model, &set);
    }
    tensor_set_clear(&set);
    json_decref(reading.config);
    free(reading.found);
    free(reading.config_path);
    if (status != 0) {
        model_file_clear(reading.model);
    }
    *model = status == 0 ? reading.model : NULL;
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
            bool twice = model->one_norm && (slot == SLOT_LN2_W || slot == SLOT_LN2_B);
            if (!twice && !model_stream_has(model, layer, array)) {
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
    free(model->witness.said);
    free(model->doubts);
    free(model->ignored);
    free(model->skipped);
    free(model->layers);
    free(model);
}

bool model_file_is_usual(const ModelFile *model, const char *key)
{
    return is_listed(model->usual, key);
}

bool model_file_lets_through(const ModelFile *model)
{
    return model->skipped != NULL || model->ignored != NULL || model->doubts != NULL ||
           model->masked != 0;
}

char *model_file_conditions(const ModelFile *model)
{
    const char *const through[][3] = {
        {"tensors ", model->skipped, " skipped (--ignore-extra)"},
        {"keys ", model->ignored, " not read (--ignore-config)"},
        {"unknown keys ", model->doubts, " outweighed by the witness"}};
    char *text;
    size_t size;
    FILE *file = text_stream(&text, &size);
    fputs(model_file_lets_through(model) ? "under: " : "", file);
    for (size_t i = 0; i < sizeof through / sizeof *through; i++) {
        if (through[i][1] != NULL) {
            fprintf(file, "%s%s%s; ", through[i][0], through[i][1], through[i][2]);
        }
    }
    if (model->masked != 0) {
        fprintf(file, "scores of %g, where the mask hides keys, taken for minus infinity; ",
                model->masked);
    }
    fputs(model->witness.said != NULL     ? model->witness.said
          : model->witness.tokens != NULL ? "its own answers were not compared"
                                          : "nothing in the file shows that it is the model you "
                                            "run: see docs/models.md",
          file);
    return text_close(file, &text);
}
