/*
 * A small GPT-2 as others publish it, and the same under TransformerLens' names: every number of
 * it says where it belongs, and files of it are whole or in several parts, in any float format.
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
    GPT2_D_HEAD = GPT2_D / GPT2_HEADS,
    GPT2_HIDDEN = 6,
    GPT2_VOCABULARY = 5,
    GPT2_CONTEXT = 3,
    GPT2_DEPTH = 2,
    GPT2_TENSORS_MOST = 80,
    GPT2_VALUES_MOST = 64
};

typedef struct {
    char name[64];
    size_t rank, shape[4];
    double values[GPT2_VALUES_MOST]; /* k/256, k < 256: exact in every format */
} Gpt2Tensor;

typedef struct {
    Gpt2Tensor tensors[GPT2_TENSORS_MOST];
    size_t count;
} Gpt2Model;

/* Hugging Face's names behind prefix; head: with lm_head.weight, which is not the embedding;
 * buffers: with attn.bias and attn.masked_bias. */
void gpt2_make(Gpt2Model *model, const char *prefix, bool head, bool buffers);

/* The same model under TransformerLens' names, by the definition of GPT-2's matrices. */
void gpt2_make_lens(Gpt2Model *model, bool head);

/* NULL when there is none. */
Gpt2Tensor *gpt2_find(Gpt2Model *model, const char *name);
void gpt2_drop(Gpt2Model *model, const char *name);

/* Writes tensors first, first + step, ... of the model; dtype: "F64", "F32", "F16" or "BF16".
 * metadata: JSON's members, or NULL. */
void gpt2_write(const char *path, const Gpt2Model *model, const char *dtype, const char *metadata,
                size_t first, size_t step);

/* Writes DIRECTORY/model-0000I-of-0000N.safetensors, tensor t in part t modulo N, and the index. */
void gpt2_write_parts(const char *directory, const Gpt2Model *model, const char *dtype,
                      const char *metadata, size_t parts);

/* Writes DIRECTORY/config.json, what one says of this model; without the key, or with another value
 * (JSON) for it, or with one more, where key is not NULL. */
void gpt2_write_config(const char *directory, const char *key, const char *value);

#endif
