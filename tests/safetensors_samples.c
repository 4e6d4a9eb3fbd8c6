/*
 * Safetensors files made by hand, whole and damaged, for the tests and the fuzzer; nothing here
 * uses the writer under test.
 */
#define _GNU_SOURCE /* memfd_create */

#include "safetensors_samples.h"

#include "../harness/models/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* shape: as JSON.  bytes: of the data, each of which is `fill`. */
typedef struct {
    const char *name, *dtype, *shape;
    size_t bytes;
    unsigned char fill;
} SampleTensor;

static void *must(void *memory)
{
    if (memory == NULL) {
        perror("sample");
        abort();
    }
    return memory;
}

/* A file in memory of so many bytes; a mapping has one at least. */
static void make_room(Sample *sample, size_t size)
{
    *sample = (Sample){.size = size, .fd = memfd_create("sample", MFD_CLOEXEC)};
    must(ftruncate(sample->fd, (off_t)size) == 0 ? sample : NULL);
    snprintf(sample->path, sizeof sample->path, "/proc/self/fd/%d", sample->fd);
    sample->bytes =
        mmap(NULL, size > 0 ? size : 1, PROT_READ | PROT_WRITE, MAP_SHARED, sample->fd, 0);
    must(sample->bytes != MAP_FAILED ? sample : NULL);
}

/* Length, header and the data of tensors [count], one after another; metadata: members of
 * "__metadata__" as JSON, or NULL. */
static void build(Sample *sample, const char *metadata, const SampleTensor *tensors, size_t count)
{
    char *header = NULL;
    size_t length = 0, total = 0;
    FILE *stream = must(open_memstream(&header, &length));
    fputc('{', stream);
    if (metadata != NULL) {
        fprintf(stream, "\"__metadata__\":{%s}%s", metadata, count > 0 ? "," : "");
    }
    for (size_t i = 0; i < count; i++) {
        const SampleTensor *t = &tensors[i];
        fprintf(stream, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
                i == 0 ? "" : ",", t->name, t->dtype, t->shape, total, total + t->bytes);
        total += t->bytes;
    }
    fputc('}', stream);
    must(fclose(stream) == 0 ? header : NULL);
    make_room(sample, 8 + length + total);
    for (size_t i = 0; i < 8; i++) {
        sample->bytes[i] = (unsigned char)((uint64_t)length >> (8 * i) & 255);
    }
    memcpy(sample->bytes + 8, header, length);
    unsigned char *end = sample->bytes + 8 + length;
    for (size_t i = 0; i < count; i++) {
        memset(end, tensors[i].fill, tensors[i].bytes);
        end += tensors[i].bytes;
    }
    free(header);
}

void sample_clear(Sample *sample)
{
    munmap(sample->bytes, sample->size > 0 ? sample->size : 1);
    close(sample->fd);
    *sample = (Sample){0};
}

#define F 0x3c

static const SampleTensor transformer[] = {
    {"embed.W_E", "F32", "[3,2]", 24, F},
    {"pos_embed.W_pos", "BF16", "[4,2]", 16, F},
    {"blocks.0.attn.W_Q", "F16", "[1,2,2]", 8, F},
    {"blocks.0.attn.W_K", "F64", "[1,2,2]", 32, F},
    {"blocks.0.attn.W_V", "F32", "[1,2,2]", 16, F},
    {"blocks.0.attn.W_O", "F32", "[1,2,2]", 16, F},
    {"blocks.0.attn.b_Q", "F16", "[1,2]", 4, F},
    {"blocks.0.attn.b_K", "F16", "[1,2]", 4, F},
    {"blocks.0.attn.b_V", "F16", "[1,2]", 4, F},
    {"blocks.0.attn.b_O", "F16", "[2]", 4, F},
    {"blocks.0.attn.mask", "BOOL", "[4,4]", 16, 1},
    {"blocks.0.attn.IGNORE", "F32", "[]", 4, 0xc7},
    {"blocks.0.mlp.b_out", "F16", "[2]", 4, F},
    {"blocks.0.mlp.W_in", "F16", "[2,3]", 12, F},
    {"blocks.0.mlp.b_in", "F16", "[3]", 6, F},
    {"blocks.0.mlp.W_out", "F16", "[3,2]", 12, F},
    {"unembed.W_U", "F16", "[2,5]", 20, F},
    {"unembed.b_U", "F16", "[5]", 10, F},
    {"tokens", "I64", "[1,2]", 16, 0},
};

static const SampleTensor merged[] = {
    {"X", "F64", "[3,2]", 48, F},
    {"blocks.0.attn.QK", "F16", "[2,2,2]", 16, F},
    {"blocks.0.attn.OV", "F16", "[2,2,2]", 16, F},
    {"blocks.1.attn.QK", "F16", "[2,2,2]", 16, F},
    {"blocks.1.attn.OV", "F16", "[2,2,2]", 16, F},
    {"blocks.0.attn.b_O", "F16", "[2]", 4, F},
    {"blocks.1.attn.b_O", "BF16", "[2]", 4, F},
};

static const SampleTensor feed_forward[] = {
    {"blocks.0.mlp.W_in", "F32", "[1,1]", 4, F},
    {"blocks.0.mlp.W_out", "F32", "[1,1]", 4, F},
    {"optimizer.lr", "U8", "[0]", 0, F},
    {"step", "U64", "[]", 8, 1},
};

static const SampleTensor linear[] = {
    {"blocks.0.linear.W", "F32", "[2,3]", 24, F}, {"blocks.0.linear.b", "F32", "[3]", 12, F},
    {"blocks.1.linear.b", "F32", "[2]", 8, F},    {"blocks.1.linear.W", "F32", "[3,2]", 24, F},
    {"exp_avg", "I8", "[2,1]", 2, 0x80},
};

bool sample_model(Sample *sample, size_t index)
{
    static const struct {
        const char *metadata;
        const SampleTensor *tensors;
        size_t count;
    } models[] = {
        {"\"scale\":\"1/"
         "sqrt(d_head)\",\"mask\":\"none\",\"activation\":\"gelu\",\"blocks\":\"sequential\"",
         transformer, sizeof transformer / sizeof *transformer},
        {"\"mask\":\"none\"", merged, sizeof merged / sizeof *merged},
        {"\"activation\":\"relu\"", feed_forward, sizeof feed_forward / sizeof *feed_forward},
        {NULL, linear, sizeof linear / sizeof *linear},
        {"\"normalization\":\"none\"", merged, 1},
    };
    if (index >= sizeof models / sizeof *models) {
        return false;
    }
    build(sample, models[index].metadata, models[index].tensors, models[index].count);
    return true;
}

/* status is one that a reader may give; counts its message. */
static bool expected(SampleOutcome *outcome, int status)
{
    outcome->lines += status != 0;
    return status == 0 || status == 2;
}

static bool convert(SampleOutcome *outcome, const SafetensorsFile *file,
                    const SafetensorsTensor *tensor)
{
    double *floats = must(calloc(tensor->count + 1, sizeof *floats));
    int64_t *integers = must(calloc(tensor->count + 1, sizeof *integers));
    int as_floats = safetensors_floats(floats, file, tensor);
    int as_integers = safetensors_integers(integers, file, tensor);
    bool fine = expected(outcome, as_floats) && expected(outcome, as_integers);
    for (size_t i = 0; as_floats == 0 && i < tensor->count; i++) {
        fine = fine && isfinite(floats[i]);
    }
    free(floats);
    free(integers);
    return fine && (as_floats != 0 || as_integers != 0) &&
           tensor_named(file, tensor->name) == tensor;
}

/* The tensors' data follow each other, and are all there is up to the end of the file. */
static bool check_coverage(const SafetensorsFile *file, const unsigned char *bytes, size_t size)
{
    size_t header = 0, end = 0;
    bool fine = true;
    for (size_t i = 8; i-- > 0;) {
        header = header << 8 | bytes[i];
    }
    for (size_t i = 0; i < file->count; i++) {
        const SafetensorsTensor *tensor = &file->tensors[i];
        fine = fine && tensor->begin == end &&
               tensor->end - end == tensor->count * safetensors_dtypes[tensor->dtype].size;
        end = tensor->end;
    }
    return fine && end == size - 8 - header;
}

static bool check_tokens(const ModelFile *model)
{
    bool fine = (model->tokens == NULL) == (model->length == 0);
    for (size_t i = 0; i < model->tuples * model->length; i++) {
        fine = fine && model->tokens[i] >= 0 && (uint64_t)model->tokens[i] < model->vocabulary;
    }
    return fine;
}

/* What every user of a model relies on without looking. */
static bool check_model(const ModelFile *model)
{
    bool alone = model->kind == MODEL_FILE_INPUT;
    bool fine = (alone ? model->depth == 0 && model->X != NULL : model->depth > 0) &&
                model->d > 0 && check_tokens(model);
    for (size_t i = 0; fine && i < model->depth; i++) {
        const GivenLayer *layer = &model->layers[i];
        bool attention =
            model->kind == MODEL_FILE_ATTENTION || model->kind == MODEL_FILE_TRANSFORMER;
        bool mlp = model->kind == MODEL_FILE_FFN || model->kind == MODEL_FILE_TRANSFORMER;
        fine = (layer->w_q != NULL) == (attention && !model->merged) &&
               (layer->qk != NULL) == (attention && model->merged) &&
               (layer->w_o == NULL) == (layer->w_q == NULL) &&
               (layer->ov == NULL) == (layer->qk == NULL) && (layer->w_in != NULL) == mlp &&
               (layer->w_out != NULL) == mlp &&
               (layer->linear_w != NULL) == (model->kind == MODEL_FILE_LINEAR);
    }
    return fine && (model->W_pos == NULL || model->W_E != NULL) &&
           (model->X == NULL || model->tokens == NULL);
}

bool sample_exercise(SampleOutcome *outcome, const void *bytes, size_t size)
{
    SafetensorsFile *file;
    Sample sample;
    make_room(&sample, size);
    memcpy(sample.bytes, bytes, size);
    *outcome = (SampleOutcome){0};
    int status = safetensors_open(&file, sample.path);
    bool fine = expected(outcome, status) && (status == 0) == (file != NULL);
    outcome->file = status == 0;
    if (status != 0) {
        sample_clear(&sample);
        return fine;
    }
    fine = fine && check_coverage(file, bytes, size);
    for (size_t i = 0; i < file->count; i++) {
        fine = convert(outcome, file, &file->tensors[i]) && fine;
    }
    for (int ignore_extra = 0; ignore_extra < 2; ignore_extra++) {
        ModelFile *model;
        status = model_file_read(&model, sample.path, ignore_extra != 0);
        fine = fine && expected(outcome, status) && (status == 0) == (model != NULL) &&
               (model == NULL || check_model(model));
        outcome->model = status == 0;
        model_file_clear(model);
    }
    safetensors_close(file);
    sample_clear(&sample);
    return fine;
}

int model_file_read(ModelFile **model, const char *path, bool ignore_extra)
{
    return model_file_read_with(model, path, &(ModelFileFlags){.ignore_extra = ignore_extra});
}

const SafetensorsTensor *tensor_named(const SafetensorsFile *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++) {
        const SafetensorsTensor *tensor = &file->tensors[i];
        if (strcmp(tensor->name, name) == 0) {
            return tensor;
        }
    }
    return NULL;
}
