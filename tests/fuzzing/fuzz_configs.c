/*
 * Configs and indices: whatever stands in a config.json beside a GPT-2, or in the index of one in
 * two files, reading the model ends in a result or in one message, and leaves no file behind.
 */
#include "fuzz.h"

#include "../gpt2_files.h"

#include "../../harness/models/model_file.h"

#include <string.h>

static const char index_name[] = "model.safetensors.index.json";

/* An index lists the tensors of two files that are there; a config is beside a file that is. */
static void prepare(Fuzz *fuzz)
{
    static Gpt2Model model;
    (void)fuzz;
    gpt2_make(&model, true);
    gpt2_write_parts(&model);
    gpt2_write("model.safetensors", &model, 0, 1);
    fuzz_remove(index_name);
}

/* What every user of a model relies on. */
static bool is_whole(const ModelFile *model)
{
    bool fine = model->kind == MODEL_FILE_TRANSFORMER && model->depth == GPT2_DEPTH &&
                model->d == GPT2_D && model->heads * model->d_head == GPT2_D &&
                model->classes == GPT2_VOCABULARY && model->W_U != NULL &&
                model->ln_final_w != NULL;
    for (size_t l = 0; fine && l < model->depth; l++) {
        fine = model->layers[l].w_q != NULL && model->layers[l].ln1_b != NULL;
    }
    return fine && model->said.mask && model->said.normalization &&
           (!model->said.eps || model->eps > 0);
}

static const char *read_model(Fuzz *fuzz, const char *path)
{
    static const char *const kept[] = {"model.safetensors",
                                       "model-00001-of-00002.safetensors",
                                       "model-00002-of-00002.safetensors",
                                       index_name,
                                       "config.json",
                                       NULL};
    ModelFile *model;
    fuzz_listen(fuzz);
    int status = model_file_read_with(&model, path, &(ModelFileFlags){.heads = 2});
    fuzz_hear(fuzz);
    bool fine = status == 0 ? model != NULL && is_whole(model) : status == 2 && model == NULL;
    model_file_clear(model);
    if (!fine) {
        return fuzz_broken(fuzz, "status %d, or a model that breaks a promise", status);
    }
    if (status == 0) {
        return fuzz->said_length > 0 ? fuzz_broken(fuzz, "said %s", fuzz->said) : NULL;
    }
    /* Of a file that an index names, or of what was asked for. */
    bool named = strncmp(fuzz->said, "./", 2) == 0 || strncmp(fuzz->said, "model", 5) == 0;
    const char *why = fuzz_expect_refusal(fuzz, "");
    if (why == NULL && !named) {
        why = fuzz_broken(fuzz, "a message that names no file: %s", fuzz->said);
    }
    return why != NULL ? why : fuzz_expect_files(fuzz, kept);
}

static const char *run(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    fuzz_write("config.json", bytes, size);
    const char *why = read_model(fuzz, "model.safetensors");
    fuzz_remove("config.json");
    if (why == NULL) {
        fuzz_write(index_name, bytes, size);
        why = read_model(fuzz, index_name);
        fuzz_remove(index_name);
    }
    return why;
}

const FuzzSubject fuzz_configs = {.name = "configs", .prepare = prepare, .run = run};
