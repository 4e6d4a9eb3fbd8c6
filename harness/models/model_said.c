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

/* What is said in one word of some, the first where nobody says it. */
enum { SCALE, ACTIVATION, MASK, LINEAR, NORM, PLACE, BLOCKS, POSITIONS, PAIRS, SCALING, CHOICES };

#define WORDS(...)                                                                                 \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

static const struct {
    const char *key;
    const char *const *words;
    size_t count;
} choices[CHOICES] = {
    [SCALE] = {"scale", WORDS("1", "1/sqrt(d_head)")},
    [ACTIVATION] = {"activation", activation_names, ACTIVATION_COUNT},
    [MASK] = {"mask", WORDS("none", "causal")},
    [LINEAR] = {"linear", WORDS("in-place", "block")},
    [NORM] = {"normalization",
              WORDS("none", "layernorm", "rmsnorm", "LN", "LNPre", "RMS", "RMSPre")},
    [PLACE] = {"normalization-place", WORDS("pre", "post")},
    [BLOCKS] = {"blocks", WORDS("sequential", "parallel")},
    [POSITIONS] = {"positions", WORDS("learned", "none")},
    [PAIRS] = {"rotary-pairs", WORDS("none", "half", "interleaved")},
    [SCALING] = {"rope-type", WORDS("default", "linear", "llama3")},
};

/* Which word is said of each. */
typedef struct {
    size_t word[CHOICES];
    bool said[CHOICES];
} Choices;

static int read_choices(Choices *read, const Reading *reading)
{
    *read = (Choices){0};
    for (size_t i = 0; i < CHOICES; i++) {
        const Property *property = properties_find(&reading->said, choices[i].key);
        char expected[100];
        size_t used = 0, word = 0;
        read->said[i] = property != NULL;
        const char *gated_alone = /* of a network without a gate no activation */
            i == ACTIVATION && !reading->model->gated ? activation_names[ACTIVATION_SIGMOID] : "";
        for (; property != NULL && word < choices[i].count; word++) {
            const char *text = choices[i].words[word];
            bool counts = strcmp(text, gated_alone) != 0;
            if (counts && strcmp(property->value, text) == 0) {
                break;
            }
            used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%s",
                                     word > 0 && counts ? ", " : "", counts ? text : "");
        }
        if (property != NULL && word == choices[i].count) {
            return complain_of(property->file, property->kind, property->name,
                               "'%.100s': expected one of %s", property->value, expected);
        }
        read->word[i] = word;
    }
    return 0;
}

static int refuse_said(const Reading *reading, const char *key, const char *expected)
{
    const Property *property = properties_find(&reading->said, key);
    return complain_of(property->file, property->kind, property->name, "'%s': expected %s",
                       property->value, expected);
}

/* What a property must not be, in a model where that is wrong. */
typedef struct {
    bool wrong;
    const char *key, *expected;
} SaidFault;

static int refuse_first(const Reading *reading, const SaidFault *faults, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (faults[i].wrong) {
            return refuse_said(reading, faults[i].key, faults[i].expected);
        }
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
    DecimalStatus read = decimal_read(value, property->value);
    read = read == DECIMAL_OK ? decimal_round(&model->eps, value) : read;
    bool above = mpq_sgn(value) > 0;
    mpq_clear(value);
    return read != DECIMAL_OK ? refuse_said(reading, "eps", decimal_expected(read))
           : above            ? 0
                              : refuse_said(reading, "eps", "a number above 0");
}

/* What is said, against the tensors, and what tensors need of it. */
static int check_tensors(const Reading *reading)
{
    const ModelFile *model = reading->model;
    const ModelFileSaid *said = &model->said;
    const SlotSet found = reading->found[model->depth];
    const bool final = (found & SLOT_BIT(SLOT_LN_FINAL_W)) != 0, norms = reading->norms;
    const bool none = model->normalization == NORMALIZATION_NONE, post = said->place && model->post;
    const bool mlp = model->kind == MODEL_FILE_FFN || model->kind == MODEL_FILE_TRANSFORMER;
    const Domain plain = {
        .kind = DOMAIN_WORDS, .words = activation_names, .word_count = ACTIVATION_PLAIN};
    char known[128], activations[200];
    domain_describe(known, sizeof known, &plain);
    snprintf(activations, sizeof activations, "%s, as there are feed-forward networks", known);
    const Property *activation = properties_find(&reading->said, "activation");
    const char *doubted = reading->family->doubted;
    const bool doubtful = doubted != NULL && activation != NULL && !reading->witnessed &&
                          strcmp(activation->name, "hidden_act") == 0 &&
                          strcmp(activation->value, doubted) == 0;
    const SaidFault faults[] = {
        {doubtful, "activation",
         "gelu_pytorch_tanh, which some of its programs take it for and others do not: "
         "--activation says which it is, with --ignore-config hidden_act"},
        {model->merged && model->scaled, "scale", "1, as attn.QK has no d_head"},
        {said->linear && !model->banked && model->kind == MODEL_FILE_LINEAR &&
             model->other != model->d,
         "linear", "block, as linear.W is not square"},
        {mlp && !model->gated && model->activation >= ACTIVATION_PLAIN, "activation", activations},
        {said->normalization && norms && (none || model->folded), "normalization",
         none ? "layernorm or rmsnorm, as there are tensors of norms"
              : "LN or RMS, as the tensors of norms are not folded"},
        {said->normalization && !norms && !none && !model->folded &&
             model->kind != MODEL_FILE_INPUT,
         "normalization",
         "tensors of norms in the file, or LNPre or RMSPre where they are folded into others"},
        {model->normalization == NORMALIZATION_RMSNORM && model->betas, "normalization",
         "layernorm, as norms have a b and rmsnorm has none"},
        {post && final, "normalization-place",
         "no norm before the unembedding beside it: post with one is outside the construction"},
    };
    if ((found & SLOT_BIT(SLOT_X_HIDDEN)) != 0 && !model->banked) {
        return complain_of(reading->set->path, "metadata", "linear",
                           "expected block beside result.X_hidden");
    }
    if (refuse_first(reading, faults, sizeof faults / sizeof *faults) != 0) {
        return 2;
    }
    return !norms || final || post || (found & SLOT_BIT(SLOT_W_U)) == 0
               ? 0
               : complain_of(reading->set->path, "tensor",
                             family_slot_name(reading->family, SLOT_LN_FINAL_W),
                             "missing: expected it before the unembedding, as layers have norms "
                             "(or normalization-place post in the metadata)");
}

/* What the words say of the model. */
static void take(const Reading *reading, const Choices *read)
{
    static const Normalization norms[] = {NORMALIZATION_NONE,      NORMALIZATION_LAYERNORM,
                                          NORMALIZATION_RMSNORM,   NORMALIZATION_LAYERNORM,
                                          NORMALIZATION_LAYERNORM, NORMALIZATION_RMSNORM,
                                          NORMALIZATION_RMSNORM};
    const Property *by_layer = properties_find(&reading->said, "scale-by-layer");
    const size_t *word = read->word;
    const bool *said = read->said;
    ModelFile *model = reading->model;
    model->scaled = word[SCALE] == 1;
    model->scaled_by_layer = by_layer != NULL && strcmp(by_layer->value, "yes") == 0;
    model->causal = word[MASK] == 1;
    model->banked = word[LINEAR] == 1;
    model->activation = (Activation)word[ACTIVATION];
    model->normalization = norms[word[NORM]];
    model->folded = word[NORM] == 4 || word[NORM] == 6;
    model->betas = model_has_any(reading, BETAS);
    model->post = word[PLACE] == 1;
    model->parallel = word[BLOCKS] == 1;
    model->rotary = (RotaryPairs)word[PAIRS];
    model->said = (ModelFileSaid){
        .scale = said[SCALE],
        .activation = said[ACTIVATION] && (model->gated || model->activation < ACTIVATION_PLAIN),
        .mask = said[MASK],
        .normalization = said[NORM],
        /* TransformerLens folds norms that a part reads through. */
        .place = said[PLACE] || word[NORM] >= 3,
        .eps = model->said.eps,
        .linear = said[LINEAR],
        .positions = said[POSITIONS],
        .blocks = said[BLOCKS]};
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
        return complain_of(reading->set->path, "key", key,
                           "missing: expected how much of a head turns");
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
                  : complain_of(reading->set->path, NULL, NULL, "heads of %zu: expected %s",
                                model->d_head, expected);
}

static int read_rope_scaling(Reading *reading, ScalingKind kind)
{
    static const char *const needed[] = {"rope-factor", "rope-low", "rope-high", "rope-length"};
    RotaryScaling *scaling = &reading->model->rope_scaling;
    *scaling =
        (RotaryScaling){kind, said_number(reading, needed[0]), said_number(reading, needed[1]),
                        said_number(reading, needed[2]), said_number(reading, needed[3])};
    size_t count = kind == SCALING_LLAMA3 ? 4 : kind == SCALING_LINEAR;
    const bool typed = properties_find(&reading->said, "rope-type") != NULL;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (!typed && said_number(reading, needed[i]) > 0) {
            return refuse_said(reading, needed[i], "a rope_type (or type) beside it");
        }
        if (i < count && said_number(reading, needed[i]) == 0) {
            return refuse_said(reading, "rope-type",
                               "beside it factor, and of llama3 low_freq_factor, high_freq_factor "
                               "and original_max_position_embeddings");
        }
    }
    return count == 4 && !(scaling->high > scaling->low)
               ? refuse_said(reading, "rope-high", "a number above low_freq_factor")
               : 0;
}

static int read_rotary(Reading *reading, ScalingKind scaling)
{
    ModelFile *model = reading->model;
    const Property *on = properties_find(&reading->said, "rotary");
    model->rope_theta = said_number(reading, "rope-theta");
    if (on != NULL && strcmp(on->value, "no") == 0) {
        return refuse_said(reading, "rotary", "yes, as the names of its tensors say");
    }
    if (model->rope_theta == 0 && reading->typed) {
        model->rope_theta = reading->family->theta;
    }
    if (model->rope_theta == 0) {
        return complain_of(reading->set->path, "key", "rope_theta",
                           "missing: expected it with rotary positions");
    }
    int status = read_rotary_dim(reading);
    return status != 0 ? status : read_rope_scaling(reading, scaling);
}

/* What is said of learned positions, and what TransformerLens says twice; none: no positions. */
static int check_rest(const Reading *reading, bool none)
{
    const ModelFile *model = reading->model;
    const SlotSet found = reading->found[model->depth];
    const Property *scale = properties_find(&reading->said, "attn_scale");
    const Property *only = properties_find(&reading->said, "attn_only");
    bool learned = (found & SLOT_BIT(SLOT_W_POS)) != 0,
         attention = model->kind == MODEL_FILE_ATTENTION;
    double root = scale == NULL ? 0 : strtod(scale->value, NULL), width = (double)model->d_head;
    const SaidFault faults[] = {
        {model->said.positions && (found & SLOT_BIT(SLOT_W_E)) != 0 && learned == none, "positions",
         learned ? "learned, as there is a tensor of them" : "none, as there is no tensor of them"},
        {scale != NULL && model->scaled && fabs(root * root - width) > 1e-5 * width, "attn_scale",
         "the square root of d_head"},
        {only != NULL && (strcmp(only->value, "yes") == 0) != attention, "attn_only",
         attention ? "yes, as there are no feed-forward networks"
                   : "no, as there is more than attention"},
    };
    return refuse_first(reading, faults, sizeof faults / sizeof *faults);
}

/* Where the model's own answers will show it, what nobody says is as in the family's programs. */
static int add_usual(Reading *reading)
{
    const Family *family = reading->family;
    int status = 0;
    size_t count = reading->model->usual[0] != NULL;
    bool believed = family->usual != NULL && reading->witnessed;
    for (size_t i = 0; believed && family->usual[i][0] != NULL && status == 0; i++) {
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
        bool any = model_has_any(reading, kinds[i].of);
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
    ModelFile *model = reading->model;
    Choices read;
    if (add_usual(reading) != 0 || check_biases(reading) != 0 ||
        read_choices(&read, reading) != 0 || read_eps(reading) != 0) {
        return 2;
    }
    take(reading, &read);
    if (check_tensors(reading) != 0) {
        return 2;
    }
    bool turned = model->rotary != ROTARY_NONE;
    if ((turned ? read_rotary(reading, (ScalingKind)read.word[SCALING])
                : check_no_rotary(reading)) != 0) {
        return 2;
    }
    return check_rest(reading, read.word[POSITIONS] == 1);
}
