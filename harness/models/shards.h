/*
 * The files that an index lists, and whether they have what it says (private to the reading of
 * model files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_SHARDS_H
#define HEADPROOF_HARNESS_MODELS_SHARDS_H

#include "tensor_set.h"

/* Reads set->path, an index in set->folder, and opens its files.  0; 2 or 99 after one message. */
int shards_open(TensorSet *set) __attribute__((warn_unused_result));

/* How much of "NAME-00001-of-00002.safetensors" is NAME; 0 where a name is of another form. */
size_t shard_stem(const char *name);

#endif
