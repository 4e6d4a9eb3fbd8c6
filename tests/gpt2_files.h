/*
 * A small GPT-2 as others publish it: no two of its numbers in a matrix are alike, and files of it
 * are whole or in two parts.
 *
 * Nothing here uses the reader or the writer under test.
 */
#ifndef HEADPROOF_TESTS_GPT2_FILES_H
#define HEADPROOF_TESTS_GPT2_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum {
    GPT2_D = 4,
    GPT2_HEADS = 2,
    GPT2_HIDDEN = 6,
    GPT2_VOCABULARY = 5,
    GPT2_CONTEXT = 3,
    GPT2_DEPTH = 2,
    GPT2_TENSORS_MOST = 40,
    GPT2_VALUES_MOST = 64
};

typedef struct {
    char name[64];
    size_t rank, shape[3];
    float values[GPT2_VALUES_MOST];
} Gpt2Tensor;

typedef struct {
    Gpt2Tensor tensors[GPT2_TENSORS_MOST];
    size_t count;
} Gpt2Model;

/* Hugging Face's names; more: lm_head.weight, which is not the embedding, and buffers of masks. */
void gpt2_make(Gpt2Model *model, bool more);

/* Writes tensors first, first + step, ... of the model, in F32. */
void gpt2_write(const char *path, const Gpt2Model *model, size_t first, size_t step);

/* Writes model-00001-of-00002.safetensors and the other here, every second tensor in each, and
 * their index. */
void gpt2_write_parts(const Gpt2Model *model);

#endif
