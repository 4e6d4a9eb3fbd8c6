/*
 * Whether the tensors of a file are a model (private to the reading of model files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_MODEL_CHECK_H
#define HEADPROOF_HARNESS_MODELS_MODEL_CHECK_H

#include "family.h"
#include "name_list.h"
#include "properties.h"

/* A model while it is read. */
typedef struct {
    const TensorSet *set;
    const Family *family;
    ModelFile *model;
    unsigned *found; /* [depth + 1] a layer's tensors, a SLOT_BIT each; the last: those of no
                        layer */
    const char *given_by[EXTENT_COUNT]; /* the tensor, or key of the config, that first had an
                                           extent */
    unsigned required, required_once;   /* of every layer, and of none: what the family has */
    bool norms;                         /* there is a tensor of a norm */
    Properties said;
    char *config_path;    /* of the config.json that would be beside the file, or NULL */
    bool configured;      /* it is there */
    const char *depth_by; /* the file that first said the depth */
    NameList unknown;     /* keys that are in no table */
    NameList ignored;     /* and those that were not to be read */
    bool witnessed;       /* there are answers of the model itself */
    double room;          /* as in ModelFileFlags */
} Reading;

/* The model's field of an extent. */
size_t *model_size(ModelFile *model, Extent extent);

/* "FILE: KIND 'NAME': " and the rest; returns 2.  FILE is the set's path. */
int model_refuse(const Reading *reading, const char *kind, const char *name, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

/* Every tensor that another needs is there, and none that another excludes; layers are of one
 * kind.  Sets kind and merged of the model, and required and norms. */
int model_check_parts(Reading *reading) __attribute__((warn_unused_result));

#endif
