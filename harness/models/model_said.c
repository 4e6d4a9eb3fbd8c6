/*
 * Properties of a model that its tensors do not show: who says them, which words there are, and
 * whether the tensors allow them.
 */
#include "model_check.h"

#include "../../cases/activation.h"
#include "../base/decimal.h"
#include "../base/domain.h"
#include "../base/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* *choice: which of words [count] is said under key.  Where nobody says it, it is 0 and *said is
 * false. */
static int read_choice(const Reading *reading, size_t *choice, bool *said, const char *key,
                       const char *const *words, size_t count)
{
    char expected[100];
    size_t used = 0;
    const Property *property = properties_find(&reading->said, key);
    *choice = 0;
    *said = property != NULL;
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%s",
                                 i == 0 ? "" : ", ", words[i]);
        if (property != NULL && strcmp(property->value, words[i]) == 0) {
            *choice = i;
            return 0;
        }
    }
    if (property != NULL) {
        complain_of(property->file, property->kind, property->name, "'%.100s': expected one of %s",
                    property->value, expected);
    }
    return property == NULL ? 0 : 2;
}

static int refuse_said(const Reading *reading, const char *key, const char *expected)
{
    const Property *property = properties_find(&reading->said, key);
    return complain_of(property->file, property->kind, property->name, "'%s': expected %s",
                       property->value, expected);
}

/* Metadata that contradict the tensors. */
static int check_metadata(const Reading *reading, bool no_activation)
{
    const ModelFile *model = reading->model;
    bool said_in_place = model->said.linear && !model->banked && model->kind == MODEL_FILE_LINEAR;
    bool mlp = model->kind == MODEL_FILE_FFN || model->kind == MODEL_FILE_TRANSFORMER;
    if (model->merged && model->scaled) {
        return refuse_said(reading, "scale", "1, as attn.QK has no d_head");
    }
    if (reading->found[model->depth] & SLOT_BIT(SLOT_X_HIDDEN) && !model->banked) {
        return model_refuse(reading, "metadata", "linear", "expected block beside result.X_hidden");
    }
    if (said_in_place && model->other != model->d) {
        return refuse_said(reading, "linear", "block, as linear.W is not square");
    }
    if (mlp && no_activation) {
        char known[128], expected[200];
        const Domain domain = {
            .kind = DOMAIN_WORDS, .words = activation_names, .word_count = ACTIVATION_PLAIN};
        domain_describe(known, sizeof known, &domain);
        snprintf(expected, sizeof expected, "%s, as there are feed-forward networks", known);
        return refuse_said(reading, "activation", expected);
    }
    return 0;
}

static int read_eps(Reading *reading)
{
    const Property *property = properties_find(&reading->said, "eps");
    ModelFile *model = reading->model;
    mpq_t value;
    model->said.eps = property != NULL;
    if (property == NULL) {
        return 0;
    }
    mpq_init(value);
    DecimalStatus read = decimal_read(value, property->value, strlen(property->value));
    read = read == DECIMAL_OK ? decimal_round(&model->eps, value) : read;
    bool above = mpq_sgn(value) > 0;
    mpq_clear(value);
    return read != DECIMAL_OK ? refuse_said(reading, "eps", decimal_expected(read))
           : above            ? 0
                              : refuse_said(reading, "eps", "a number above 0");
}

/* Is any of those slots in a layer, or behind the last? */
static bool has_any(const Reading *reading, SlotSet slots)
{
    SlotSet found = 0;
    for (size_t layer = 0; layer <= reading->model->depth; layer++) {
        found |= reading->found[layer] & slots;
    }
    return found != 0;
}

/* Tensors of norms, and what is said of norms. */
static int check_norms(const Reading *reading)
{
    const ModelFile *model = reading->model;
    SlotSet found = reading->found[model->depth];
    bool final = (found & SLOT_BIT(SLOT_LN_FINAL_W)) != 0;
    bool none = model->normalization == MODEL_FILE_NO_NORM;
    if (model->said.normalization && reading->norms && (none || model->folded)) {
        return refuse_said(reading, "normalization",
                           none ? "layernorm or rmsnorm, as there are tensors of norms"
                                : "LN or RMS, as the tensors of norms are not folded");
    }
    if (model->said.normalization && !reading->norms && !none && !model->folded &&
        model->kind != MODEL_FILE_INPUT) {
        return refuse_said(reading, "normalization",
                           "tensors of norms in the file, or LNPre or RMSPre where they are folded "
                           "into others");
    }
    if (model->normalization == MODEL_FILE_RMSNORM && model->betas) {
        return refuse_said(reading, "normalization",
                           "layernorm, as norms have a b and rmsnorm has none");
    }
    if (model->said.place && model->post && final) {
        return refuse_said(reading, "normalization-place",
                           "no norm before the unembedding beside it: post with one is outside the "
                           "construction");
    }
    if (reading->norms && !final && !(model->said.place && model->post) &&
        (found & SLOT_BIT(SLOT_W_U)) != 0) {
        return model_refuse(reading, "tensor", family_slot_name(reading->family, SLOT_LN_FINAL_W),
                            "missing: expected it before the unembedding, as layers have norms "
                            "(or normalization-place post in the metadata)");
    }
    return 0;
}

static int read_norms(Reading *reading)
{
    static const char *const kinds[] = {"none",  "layernorm", "rmsnorm", "LN",
                                        "LNPre", "RMS",       "RMSPre"};
    static const ModelFileNorm norms[] = {
        MODEL_FILE_NO_NORM,   MODEL_FILE_LAYERNORM, MODEL_FILE_RMSNORM, MODEL_FILE_LAYERNORM,
        MODEL_FILE_LAYERNORM, MODEL_FILE_RMSNORM,   MODEL_FILE_RMSNORM};
    static const char *const places[] = {"pre", "post"};
    ModelFile *model = reading->model;
    size_t kind, place;
    int status = read_choice(reading, &kind, &model->said.normalization, "normalization", kinds,
                             sizeof kinds / sizeof *kinds);
    status = status != 0 ? status
                         : read_choice(reading, &place, &model->said.place, "normalization-place",
                                       places, 2);
    status = status != 0 ? status : read_eps(reading);
    if (status != 0) {
        return status;
    }
    model->normalization = norms[kind];
    model->folded = kind == 4 || kind == 6;
    model->betas = has_any(reading, BETAS);
    model->post = place == 1;
    /* TransformerLens folds norms that a part reads through. */
    model->said.place = model->said.place || kind >= 3;
    return check_norms(reading);
}

static int read_properties(Reading *reading)
{
    static const char *const scales[] = {"1", "1/sqrt(d_head)"};
    const char *activations[ACTIVATION_COUNT + 1];
    static const char *const masks[] = {"none", "causal"};
    static const char *const linears[] = {"in-place", "block"};
    ModelFile *model = reading->model;
    ModelFileSaid *said = &model->said;
    size_t scale, activation, mask, linear;
    size_t known = model->gated ? ACTIVATION_COUNT : ACTIVATION_PLAIN; /* and none there */
    memcpy(activations, activation_names, known * sizeof *activations);
    activations[ACTIVATION_PLAIN] = model->gated ? activations[ACTIVATION_PLAIN] : "none";
    int status = read_choice(reading, &scale, &said->scale, "scale", scales, 2);
    status = status != 0 ? status
                         : read_choice(reading, &activation, &said->activation, "activation",
                                       activations, model->gated ? known : known + 1);
    status = status != 0 ? status : read_choice(reading, &mask, &said->mask, "mask", masks, 2);
    status =
        status != 0 ? status : read_choice(reading, &linear, &said->linear, "linear", linears, 2);
    if (status != 0) {
        return status;
    }
    bool no_activation = !model->gated && activation == ACTIVATION_PLAIN;
    const Property *by_layer = properties_find(&reading->said, "scale-by-layer");
    model->scaled = scale == 1;
    model->scaled_by_layer = by_layer != NULL && strcmp(by_layer->value, "yes") == 0;
    model->causal = mask == 1;
    model->banked = linear == 1;
    model->activation = no_activation ? ACTIVATION_SILU : (Activation)activation;
    said->activation = said->activation && !no_activation;
    return check_metadata(reading, no_activation);
}

/* A number that is said; 0: nobody says it. */
static double said_number(const Reading *reading, const char *key)
{
    const Property *property = properties_find(&reading->said, key);
    return property != NULL ? strtod(property->value, NULL) : 0;
}

/* Nothing of rotary positions where there are none. */
static int check_no_rotary(const Reading *reading)
{
    static const char *const keys[] = {"rope-theta", "rotary-dim", "rotary-part", "rope-factor"};
    const Property *on = properties_find(&reading->said, "rotary");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (properties_find(&reading->said, keys[i]) != NULL) {
            return refuse_said(reading, keys[i],
                               "none: the names of its tensors are those of a model without rotary "
                               "positions");
        }
    }
    return on == NULL || strcmp(on->value, "no") == 0
               ? 0
               : refuse_said(reading, "rotary", "no, as the names of its tensors say");
}

/* How many entries of a head turn. */
static int read_rotary_dim(Reading *reading)
{
    ModelFile *model = reading->model;
    const char *key = reading->family->partial;
    double part = said_number(reading, "rotary-part"), dim = said_number(reading, "rotary-dim");
    bool said = part > 0 || dim > 0;
    if (key != NULL && !said) {
        return model_refuse(reading, "key", key, "missing: expected how much of a head turns");
    }
    double all = (double)model->d_head, width = dim > 0 ? dim : part > 0 ? all * part : all;
    model->rotary_dim = width < 1e9 ? (size_t)width : 0;
    bool fits = model->rotary_dim > 0 && model->rotary_dim % 2 == 0 &&
                model->rotary_dim <= model->d_head && (dim == 0 || dim == (double)(size_t)dim);
    char expected[120];
    snprintf(expected, sizeof expected, "an even number of a head's %zu entries to turn",
             model->d_head);
    return fits   ? 0
           : said ? refuse_said(reading, dim > 0 ? "rotary-dim" : "rotary-part", expected)
                  : model_refuse(reading, NULL, NULL, "heads of %zu: expected %s", model->d_head,
                                 expected);
}

static int read_rope_scaling(Reading *reading)
{
    static const char *const kinds[] = {"default", "linear", "llama3"};
    static const char *const needed[] = {"rope-factor", "rope-low", "rope-high", "rope-length"};
    size_t kind, count;
    bool said;
    RotaryScaling *scaling = &reading->model->rope_scaling;
    int status = read_choice(reading, &kind, &said, "rope-type", kinds, 3);
    if (status != 0) {
        return status;
    }
    *scaling = (RotaryScaling){(ScalingKind)kind, said_number(reading, needed[0]),
                               said_number(reading, needed[1]), said_number(reading, needed[2]),
                               said_number(reading, needed[3])};
    count = kind == 2 ? 4 : kind;
    for (size_t i = 0; i < count; i++) {
        if (said_number(reading, needed[i]) == 0) {
            return refuse_said(reading, "rope-type",
                               "beside it factor, and of llama3 low_freq_factor, high_freq_factor "
                               "and original_max_position_embeddings");
        }
    }
    return kind == 2 && !(scaling->high > scaling->low)
               ? refuse_said(reading, "rope-high", "a number above low_freq_factor")
               : 0;
}

static int read_rotary(Reading *reading)
{
    static const char *const pairs[] = {"none", "half", "interleaved"};
    ModelFile *model = reading->model;
    size_t kind;
    bool said;
    int status = read_choice(reading, &kind, &said, "rotary-pairs", pairs, 3);
    model->rotary = (RotaryPairs)kind;
    if (status != 0 || kind == 0) {
        return status != 0 ? status : check_no_rotary(reading);
    }
    model->rope_theta = said_number(reading, "rope-theta");
    const Property *on = properties_find(&reading->said, "rotary");
    if (on != NULL && strcmp(on->value, "no") == 0) {
        return refuse_said(reading, "rotary", "yes, as the names of its tensors say");
    }
    if (model->rope_theta == 0 && reading->typed) {
        model->rope_theta = reading->family->theta;
    }
    if (model->rope_theta == 0) {
        return model_refuse(reading, "key", "rope_theta",
                            "missing: expected it with rotary "
                            "positions");
    }
    status = read_rotary_dim(reading);
    return status != 0 ? status : read_rope_scaling(reading);
}

/* How positions come into the stream, and how the parts of a layer follow each other. */
static int read_structure(Reading *reading)
{
    static const char *const positions[] = {"learned", "none"};
    static const char *const blocks[] = {"sequential", "parallel"};
    ModelFile *model = reading->model;
    SlotSet found = reading->found[model->depth];
    size_t choice;
    int status = read_choice(reading, &choice, &model->said.blocks, "blocks", blocks, 2);
    model->parallel = choice == 1;
    status = status == 0 ? read_rotary(reading) : status;
    status = status == 0
                 ? read_choice(reading, &choice, &model->said.positions, "positions", positions, 2)
                 : status;
    bool learned = (found & SLOT_BIT(SLOT_W_POS)) != 0;
    bool embedded = (found & SLOT_BIT(SLOT_W_E)) != 0;
    if (status != 0 || !model->said.positions || !embedded || learned == (choice == 0)) {
        return status;
    }
    return refuse_said(reading, "positions",
                       learned ? "learned, as there is a tensor of them"
                               : "none, as there is no tensor of them");
}

/* Keys that TransformerLens says twice must agree. */
static int check_twice(const Reading *reading)
{
    const ModelFile *model = reading->model;
    const Property *scale = properties_find(&reading->said, "attn_scale");
    const Property *only = properties_find(&reading->said, "attn_only");
    bool attention = model->kind == MODEL_FILE_ATTENTION;
    double root = scale == NULL ? 0 : strtod(scale->value, NULL);
    if (scale != NULL && model->scaled &&
        fabs(root * root - (double)model->d_head) > 1e-5 * (double)model->d_head) {
        return refuse_said(reading, "attn_scale", "the square root of d_head");
    }
    if (only != NULL && (strcmp(only->value, "yes") == 0) != attention) {
        return refuse_said(reading, "attn_only",
                           attention ? "yes, as there are no feed-forward networks"
                                     : "no, as there is more than attention");
    }
    return 0;
}

/* Where the model's own answers will show it, what nobody says is as in the family's programs. */
static int add_usual(Reading *reading)
{
    const Family *family = reading->family;
    int status = 0;
    size_t count = reading->model->usual[0] != NULL;
    for (size_t i = 0; family->usual[i][0] != NULL && reading->witnessed && status == 0; i++) {
        const char *key = family->usual[i][0];
        bool none = strcmp(key, "normalization") == 0 && !reading->norms;
        const Property by = {key, reading->set->path, "family", family->title, ""};
        if (properties_find(&reading->said, key) == NULL) {
            status = properties_add(&reading->said, &by, none ? "none" : family->usual[i][1]);
            reading->model->usual[count++] = key;
        }
    }
    return status;
}

/* Whether there are biases, where a config says it. */
static int check_biases(const Reading *reading)
{
    static const struct {
        const char *property;
        SlotSet of;
    } kinds[] = {{"biases", BIASES},
                 {"biases of attention", SLOT_BIT(SLOT_B_Q) | SLOT_BIT(SLOT_B_K)},
                 {"biases of networks", SLOT_BIT(SLOT_B_IN) | SLOT_BIT(SLOT_B_OUT)}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const Property *said = properties_find(&reading->said, kinds[i].property);
        bool any = has_any(reading, kinds[i].of);
        if (said != NULL && (strcmp(said->value, "true") == 0) != any) {
            return refuse_said(reading, kinds[i].property,
                               any ? "true, as there are tensors of biases"
                                   : "false, as there is no tensor of a bias");
        }
    }
    return 0;
}

int model_said_read(Reading *reading)
{
    int status = add_usual(reading);
    status = status == 0 ? check_biases(reading) : status;
    status = status == 0 ? read_properties(reading) : status;
    status = status == 0 ? read_norms(reading) : status;
    status = status == 0 ? read_structure(reading) : status;
    return status == 0 ? check_twice(reading) : status;
}
