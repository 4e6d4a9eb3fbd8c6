/*
 * The tensors of a model, in one safetensors file or in several that an index lists (private to the
 * reading of model files).
 *
 * An index is JSON, {"metadata": {...}, "weight_map": {"TENSOR": "FILE", ...}}: every tensor with
 * the file beside the index that has it.  The two must agree to the tensor.
 *
 * Umbrella header: for shards.c, too: the files that an index lists, and whether they have what it
 * says.
 */
#ifndef HEADPROOF_HARNESS_MODELS_TENSOR_SET_H
#define HEADPROOF_HARNESS_MODELS_TENSOR_SET_H

#include "safetensors.h"

#include <jansson.h>

/* A result is one of an export, "result." and the rest. */
typedef enum { NAME_SLOT, NAME_BUFFER, NAME_RESULT, NAME_HARMLESS, NAME_UNKNOWN } NameKind;

typedef struct {
    const SafetensorsFile *file;
    const SafetensorsTensor *tensor;
    /* What the set's family makes of its name, once that is known (family.h): its kind, and of
     * NAME_SLOT its row, and of that or a buffer its layer, 0 of those of no layer. */
    NameKind kind;
    const struct TensorName *entry;
    size_t layer;
} SetTensor;

typedef struct {
    char *path;   /* of the file, or of the index: what messages about the whole name */
    char *folder; /* it lies in, for what lies beside it */
    json_t *index;
    SafetensorsFile **files; /* [file_count], by name */
    size_t file_count;
    SetTensor *tensors; /* [count], file after file, aliases last */
    size_t count;
    /* Tensors under a second name, as the metadata of a file say: {"NAME": "TENSOR"} is how
     * safetensors.torch.save_model writes two names that share their numbers. */
    SafetensorsTensor *aliases;
    size_t alias_count;
} TensorSet;

/* Does the name end as those of PyTorch's own files do, which are no safetensors? */
bool is_of_pytorch(const char *path);

/* The beginning of the names of a witness. */
#define WITNESS_PREFIX "witness."

/* path: a safetensors file, an index ("*.index.json"), one of the files that an index beside it
 * lists ("*-00001-of-00002.safetensors"), or a folder with either; witness: one more file, with
 * tensors of a witness alone, or NULL.  0; 2 after one message; 99 when the disk fails.  Clear the
 * set in any case. */
int tensor_set_open(TensorSet *set, const char *path, const char *witness)
    __attribute__((warn_unused_result));

void tensor_set_clear(TensorSet *set);

/* Is it a key of metadata that gives a tensor a second name? */
bool tensor_set_is_alias(const TensorSet *set, const char *key);

/* safetensors_recheck of all its files. */
int tensor_set_recheck(const TensorSet *set, bool header) __attribute__((warn_unused_result));

/* Of the config.json beside a model's file, or where the file is a link and has none beside it,
 * beside what it leads to; it need not be there. */
char *model_config_path(const char *path) __attribute__((warn_unused_result));

/* FOLDER/NAME. */
char *path_beside(const char *folder, const char *name) __attribute__((warn_unused_result));

/* Reads set->path, an index in set->folder, and opens its files.  0; 2 or 99 after one message. */
int shards_open(TensorSet *set) __attribute__((warn_unused_result));

/* How much of "NAME-00001-of-00002.safetensors" is NAME; 0 where a name is of another form. */
size_t shard_stem(const char *name);

#endif
