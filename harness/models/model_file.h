/*
 * A trained model from one safetensors file or several, under the names of TransformerLens or of
 * Hugging Face's GPT-2 (family.h has their tables).
 *
 *   embed.W_E [vocabulary, d]   pos_embed.W_pos [context, d]
 *   blocks.{l}.attn.W_Q|W_K|W_V [heads, d, d_head]   b_Q|b_K|b_V [heads, d_head]
 *   blocks.{l}.attn.W_O [heads, d_head, d]           b_O [d]
 *   blocks.{l}.attn.QK|OV [heads, d, d]              instead of W_Q, ..., W_O and b_Q, b_K, b_V
 *   blocks.{l}.mlp.W_in [d, hidden]  b_in [hidden]  W_out [hidden, d]  b_out [d]
 *   blocks.{l}.mlp.W_gate [d, hidden]  b_gate [hidden]  the activated factor of a gated network
 *   blocks.{l}.linear.W [d, other]  b [other]        odd layers: [other, d] and [d]
 *   blocks.{l}.ln1.w|b, ln2.w|b [d]                  norms of attention (or linear), of mlp
 *   ln_final.w|b [d]                                 the norm before the unembedding
 *   unembed.W_U [d, classes]    unembed.b_U [classes]
 *   X [rows, d]  or  tokens [tuples, length]         the inputs, if any
 *   result.X_hidden [rows, other]                    the other columns of an export's input
 *   witness.tokens [windows, span]  witness.logits [windows, span or 1, classes]
 *   witness.resid [windows, span or 1, d]            in place of logits, without an unembedding
 *
 * Layers are 0, 1, ... without gaps, all of one kind, all of one size.  Biases are optional.  A
 * file may have an X and no layer.  Attention masks that are kept as buffers, and the result.* of
 * an export, are skipped.  Gates and what else a model computes besides are refused: they are
 * outside the construction (model_check.h).
 *
 * Metadata: scale "1" or "1/sqrt(d_head)", activation "silu", "relu", "gelu" or "gelu_new", mask
 * "none" or "causal"; normalization "none", "layernorm" (or "LN"), "rmsnorm" ("RMS"), or "LNPre",
 * "RMSPre" where weights of norms are folded into others, so that gamma is 1 and beta 0;
 * normalization-place "pre" or "post"; eps.  What they do not say has to be said by whoever uses
 * the model.  A config.json beside a file of GPT-2 says most of it (families.c).  An activation
 * of "none" is that of a file without feed-forward networks.  Of linear maps metadata may say, and
 * of an X_hidden must, how they follow each other: linear "in-place" or "block".
 *
 * Umbrella header: for model_arrays.c, too: norms that do not normalise.
 */
#ifndef HEADPROOF_HARNESS_MODELS_MODEL_FILE_H
#define HEADPROOF_HARNESS_MODELS_MODEL_FILE_H

#include "safetensors.h"

#include "../../cases/case.h"

#include <stdbool.h>

typedef enum {
    MODEL_FILE_ATTENTION,   /* attn alone */
    MODEL_FILE_FFN,         /* mlp alone */
    MODEL_FILE_TRANSFORMER, /* attn, then mlp */
    MODEL_FILE_LINEAR,      /* linear alone */
    MODEL_FILE_INPUT        /* X alone */
} ModelFileKind;

/* The model's own answers, in the program that it comes from; NULL where the file has none. */
typedef struct {
    size_t windows, span, answers;
    int64_t *tokens;        /* [windows, span] */
    double *logits;         /* [windows, answers, classes] at every token, or at the last alone */
    double *resid;          /* [windows, answers, d], the stream behind the last layer */
    SafetensorsDtype dtype; /* of the answers */
    bool narrower;          /* they are float64, and agree as float32: dtype is that */
    double difference, allowed; /* from m(T)'s at most, and how far they may be, once compared */
    char *said;                 /* what they showed then, for conditions; NULL: nothing yet */
} ModelFileWitness;

/* Which of its properties a file's metadata say. */
typedef struct {
    bool scale, activation, mask, normalization, place, eps, linear, positions, blocks;
} ModelFileSaid;

/* Sizes are 0 where no tensor has them. */
typedef struct {
    ModelFileKind kind;
    ModelFileSaid said;
    /* These mean nothing unless they are said. */
    Activation activation;
    Normalization normalization;
    bool tied;     /* the file has no unembedding: W_U is W_E, [classes, d] */
    bool folded;   /* the file has no weights of norms: those here are ones and zeros */
    bool one_norm; /* a layer's first norm is its second, too: ln2_w and ln2_b are ln1's */
    bool from_one; /* the file has weights of norms less 1 */
    bool betas;    /* it has a b of a norm, of its own */
    bool post;     /* normalization-place "post" */
    double eps;
    bool scaled;          /* scores are divided by sqrt(d_head); false when merged */
    bool scaled_by_layer; /* those of layer l by l + 1 besides */
    bool parallel;        /* blocks "parallel" */
    RotaryPairs rotary;
    size_t rotary_dim; /* entries of a head that turn */
    double rope_theta;
    RotaryScaling rope_scaling;
    bool causal;
    bool mask_kept;  /* a buffer alone says so, which the model need not use */
    double masked;   /* a score in place of minus infinity, where a mask hides keys; 0: none said */
    bool banked;     /* linear "block" */
    bool heads_open; /* nobody says how many lie side by side: 1, until the witness shows it */
    bool gated;      /* mlp.W_gate is there */
    bool merged;     /* attn.QK and OV stand for W_Q, ..., W_O */
    size_t depth;    /* at least 1, but for MODEL_FILE_INPUT */
    size_t d;        /* at least 1 */
    size_t heads, d_head, hidden, other;
    size_t key_heads; /* of keys and of values in the file, each for as many queries in a row */
    size_t vocabulary, context, classes;
    size_t window;         /* keys that a token sees, at least all of the context; 0: all */
    size_t rows;           /* of X */
    size_t tuples, length; /* of tokens */
    GivenLayer *layers;    /* [depth]; beside a w of a norm, here and below, is a b, of zeros where
                               the file has none */
    double *W_E, *W_pos, *W_U, *b_U, *ln_final_w, *ln_final_b;
    double *X, *X_hidden;
    int64_t *tokens; /* [tuples, length], each below vocabulary; X or tokens is there, or neither */
    char **paths;    /* [path_count] every file that was read */
    size_t path_count;
    ModelFileWitness witness;
    struct ModelStream
        *stream;          /* where layers are read when they are needed; NULL: all are there */
    const char *usual[9]; /* properties that the witness alone can show to be so, up to NULL */
    char *doubts;         /* keys that are not known, which a witness has to outweigh; or NULL */
    char *ignored;        /* those that were not to be read, on request; or NULL */
    char *skipped;        /* tensors that were not to be read, on request; or NULL */
} ModelFile;

/* The command line's flags for a model file. */
typedef struct {
    bool ignore_extra;
    size_t heads; /* of files that do not say how many their matrices have side by side; or 0 */
    const char *ignored; /* keys that are not to be read, "a,b"; or NULL */
    const char *positions,
        *blocks;              /* "learned" or "none"; "sequential" or "parallel"; NULL: nothing
                                       is said */
    const char *witness;      /* a file of a witness; or NULL */
    double witness_tolerance; /* of its answers; 0: as witness.h has it */
    double room; /* bytes that may be used, where layers may be read when they are needed; 0: all of
                    them are read at once */
} ModelFileFlags;

/* Every number exactly as the file has it.  path: a file, an index of several, one of those, or
 * their folder (tensor_set.h).  Tensors with other names are listed in one message and refused,
 * unless ignore_extra skips them, which is for names that name_is_harmless alone (model_check.h).
 * 0; 2 after one message; 99 when the disk fails.  On failure *model is NULL. */
int model_file_read_with(ModelFile **model, const char *path, const ModelFileFlags *flags)
    __attribute__((warn_unused_result));

void model_file_clear(ModelFile *model);

/* ---- Conditions ------------------------------------------------------------------------------ */

/* Is that property known from the family's programs alone, so that the witness has to show it? */
bool model_file_is_usual(const ModelFile *model, const char *key);

/* What a verdict about the model is under, for whoever reads it: "under: tensors 'a', 'b' skipped;
 * key 'c' not read; " and what its witness shows; to be freed. */
char *model_file_conditions(const ModelFile *model) __attribute__((warn_unused_result));

/* Was anything let through, so that a verdict must not be said without them? */
bool model_file_lets_through(const ModelFile *model);

/* Norms in name only: an eps so large that the variance of no row matters beside it, and weights
 * that undo it.  LayerNorm then subtracts the mean and multiplies by gamma / sqrt(eps), whatever x
 * is.  *least, *most: of |gamma| / sqrt(eps), over all norms; eps: the file's, or a flag's. */
bool model_norms_in_name(double *least, double *most, const ModelFile *model, double eps);

#endif
