/*
 * The models that a fuzzer's bytes build, before anything is changed.
 */
#include "fuzz_grammar.h"

#include <stdio.h>
#include <string.h>

size_t decide(Decisions *decisions, size_t most)
{
    return decisions->at < decisions->size ? decisions->bytes[decisions->at++] % most : 0;
}

/* What a model is made of. */
enum {
    LAYER = 1,
    NORM1 = 1 << 1,
    NORM2 = 1 << 2,
    BETA = 1 << 3,
    FACTORS = 1 << 4,
    MERGED = 1 << 5,
    MLP = 1 << 6,
    BIAS = 1 << 7,
    OUTPUT_BIAS = 1 << 8,
    LINEAR = 1 << 9,
    EMBEDDING = 1 << 10,
    FINAL = 1 << 11,
    UNEMBEDDING = 1 << 12,
    GIVEN_X = 1 << 13,
    TOKENS = 1 << 14,
    BUFFERS = 1 << 15,
    HIDDEN_X = 1 << 16,
    WITNESS = 1 << 17
};

/* A tensor in both families, NULL where one has none.  Axes are letters of size_of. */
static const struct {
    unsigned parts;
    const char *lens, *lens_axes, *gpt2, *gpt2_axes;
} rows[] = {
    {EMBEDDING, "embed.W_E", "vd", "wte.weight", "vd"},
    {EMBEDDING, "pos_embed.W_pos", "cd", "wpe.weight", "cd"},
    {LAYER | NORM1, "ln1.w", "d", "ln_1.weight", "d"},
    {LAYER | NORM1 | BETA, "ln1.b", "d", "ln_1.bias", "d"},
    {LAYER | FACTORS, "attn.W_Q", "hde", "attn.c_attn.weight", "dq"},
    {LAYER | FACTORS, "attn.W_K", "hde", NULL, NULL},
    {LAYER | FACTORS, "attn.W_V", "hde", NULL, NULL},
    {LAYER | FACTORS, "attn.W_O", "hed", "attn.c_proj.weight", "ad"},
    {LAYER | FACTORS | BIAS, "attn.b_Q", "he", "attn.c_attn.bias", "q"},
    {LAYER | FACTORS | BIAS, "attn.b_K", "he", NULL, NULL},
    {LAYER | FACTORS | BIAS, "attn.b_V", "he", NULL, NULL},
    {LAYER | FACTORS | OUTPUT_BIAS, "attn.b_O", "d", "attn.c_proj.bias", "d"},
    {LAYER | MERGED, "attn.QK", "hdd", NULL, NULL},
    {LAYER | MERGED, "attn.OV", "hdd", NULL, NULL},
    {LAYER | NORM2, "ln2.w", "d", "ln_2.weight", "d"},
    {LAYER | NORM2 | BETA, "ln2.b", "d", "ln_2.bias", "d"},
    {LAYER | MLP, "mlp.W_in", "df", "mlp.c_fc.weight", "df"},
    {LAYER | MLP | BIAS, "mlp.b_in", "f", "mlp.c_fc.bias", "f"},
    {LAYER | MLP, "mlp.W_out", "fd", "mlp.c_proj.weight", "fd"},
    {LAYER | MLP | BIAS, "mlp.b_out", "d", "mlp.c_proj.bias", "d"},
    {LAYER | LINEAR, "linear.W", "do", NULL, NULL},
    {LAYER | LINEAR | BIAS, "linear.b", "o", NULL, NULL},
    {LAYER | BUFFERS, "attn.mask", "cc", "attn.bias", "11cc"},
    {LAYER | BUFFERS, "attn.IGNORE", "", "attn.masked_bias", ""},
    {FINAL, "ln_final.w", "d", "ln_f.weight", "d"},
    {FINAL | BETA, "ln_final.b", "d", "ln_f.bias", "d"},
    {UNEMBEDDING, "unembed.W_U", "dk", "lm_head.weight", "kd"},
    {UNEMBEDDING | BIAS, "unembed.b_U", "k", "lm_head.bias", "k"},
    {GIVEN_X, "X", "rd", "X", "rd"},
    {HIDDEN_X, "result.X_hidden", "ro", NULL, NULL},
    {TOKENS, "tokens", "tl", "tokens", "tl"},
    {WITNESS, "witness.tokens", "tl", "witness.tokens", "tl"},
    {WITNESS, "witness.logits", "tlk", "witness.logits", "tlk"},
};

const size_t said_rows = sizeof rows / sizeof *rows;

typedef struct {
    size_t d, heads, d_head, hidden, other, vocabulary, context, classes, given, tuples, length;
} Sizes;

static size_t size_of(const Sizes *sizes, char letter, bool back)
{
    switch (letter) {
    case 'd': return back ? sizes->other : sizes->d;
    case 'o': return back ? sizes->d : sizes->other;
    case 'h': return sizes->heads;
    case 'e': return sizes->d_head;
    case 'a': return sizes->heads * sizes->d_head;
    case 'q': return 3 * sizes->heads * sizes->d_head;
    case 'f': return sizes->hidden;
    case 'v': return sizes->vocabulary;
    case 'c': return sizes->context;
    case 'k': return sizes->classes;
    case 'r': return sizes->given;
    case 't': return sizes->tuples;
    case 'l': return sizes->length;
    default: return 1;
    }
}

void said_name(char *text, const SaidModel *model, bool gpt2, size_t row, size_t layer)
{
    const char *name = gpt2 ? rows[row].gpt2 : rows[row].lens;
    /* Of both families, without GPT-2's prefix. */
    bool bare = !gpt2 || strcmp(name != NULL ? name : "", rows[row].lens) == 0 ||
                (rows[row].parts & UNEMBEDDING) != 0;
    char place[24] = "";
    if ((rows[row].parts & LAYER) != 0) {
        snprintf(place, sizeof place, "%s%zu.", gpt2 ? "h." : "blocks.", layer);
    }
    snprintf(text, SAID_NAME, "%s%s%s", bare ? "" : model->prefix, place,
             name != NULL ? name : rows[row].lens);
}

static void add(SaidModel *model, const Sizes *sizes, size_t row, size_t layer, const char *dtype)
{
    const char *axes = model->gpt2 ? rows[row].gpt2_axes : rows[row].lens_axes;
    SaidTensor *tensor = &model->tensors[model->count];
    bool back = (rows[row].parts & LINEAR) != 0 && layer % 2 == 1;
    if (axes == NULL || model->count == SAID_TENSORS) {
        return;
    }
    *tensor = (SaidTensor){.dtype = dtype, .rank = strlen(axes), .made = strlen(axes), .of = row};
    said_name(tensor->name, model, model->gpt2, row, layer);
    for (size_t i = 0; i < tensor->rank; i++) {
        tensor->shape[i] = size_of(sizes, axes[i], back);
    }
    if (model->parts > 0) {
        tensor->file = tensor->listed = model->count % model->parts;
    }
    tensor->foreign = (rows[row].parts & BUFFERS) != 0;
    model->count++;
}

void said_set(SaidList *list, const char *key, const char *value)
{
    size_t i = 0;
    while (i < list->count && strcmp(list->entries[i].key, key) != 0) {
        i++;
    }
    if (i < SAID_ENTRIES) {
        list->entries[i].key = key;
        snprintf(list->entries[i].value, sizeof list->entries[i].value, "%s", value);
        list->count += i == list->count;
    }
}

static void set_size(SaidList *list, const char *key, size_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", value);
    said_set(list, key, text);
}

static unsigned choose_parts(SaidModel *model, Decisions *decisions)
{
    static const unsigned kinds[] = {FACTORS | MLP, FACTORS | MLP, FACTORS, MLP,
                                     MERGED | MLP,  MERGED,        LINEAR,  0};
    unsigned parts = kinds[decide(decisions, 8)], bits = (unsigned)decide(decisions, 256);
    unsigned norms = (parts & (FACTORS | MERGED | LINEAR)) != 0 ? NORM1 : 0;
    norms |= (parts & MLP) != 0 ? NORM2 : 0;
    if (model->gpt2) {
        parts = FACTORS | MLP | NORM1 | NORM2 | BETA | OUTPUT_BIAS | EMBEDDING | FINAL | BIAS;
        parts |= (bits & 4) != 0 ? UNEMBEDDING : 0;
    } else if (parts != 0) {
        parts |= (bits & 1) != 0 ? norms | FINAL | ((bits & 2) != 0 ? BETA : 0) : 0;
        parts |= (bits & 4) != 0 ? EMBEDDING | UNEMBEDDING : 0;
        parts |= (bits & 8) != 0 ? BIAS : 0;
        parts |= (bits & 16) != 0 ? OUTPUT_BIAS : 0;
    }
    bool embedded = (parts & EMBEDDING) != 0;
    bool linear = (parts & LINEAR) != 0 && (parts & NORM1) == 0;
    bool given = !embedded || (bits & 32) != 0;
    parts |= given ? GIVEN_X : (bits & 64) != 0 ? TOKENS : 0;
    parts |= (bits & 128) != 0 && (parts & FACTORS) != 0 && embedded ? BUFFERS : 0;
    parts |= bits % 5 == 0 && embedded && (parts & LINEAR) == 0 ? WITNESS : 0;
    return parts | (linear && given && (bits & 64) != 0 ? HIDDEN_X : 0) | LAYER;
}

static void say_config(SaidList *config, const SaidModel *model, const Sizes *sizes,
                       const char *activation)
{
    said_set(config, "model_type", "\"gpt2\"");
    said_set(config, "activation_function", activation);
    said_set(config, "layer_norm_epsilon", "1e-05");
    set_size(config, "n_layer", model->depth);
    set_size(config, "n_embd", sizes->d);
    set_size(config, "n_head", sizes->heads);
    set_size(config, "n_positions", sizes->context);
    set_size(config, "n_inner", sizes->hidden);
    set_size(config, "vocab_size", sizes->vocabulary);
}

/* Buffers hold what a mask of theirs does. */
static void fill_buffers(SaidModel *model, bool causal)
{
    for (size_t t = 0; t < model->count; t++) {
        SaidTensor *tensor = &model->tensors[t];
        if (tensor->foreign) {
            tensor->fill = tensor->rank == 0 ? FILL_MASKED : causal ? FILL_CAUSAL : FILL_ONES;
        }
    }
}

/* What is said of the model beside its tensors: by metadata, by flags, or by a config. */
static void say(SaidModel *model, Decisions *decisions, const Sizes *sizes, unsigned parts)
{
    static const char *const activations[] = {"\"silu\"", "\"relu\"", "\"gelu\"", "\"gelu_new\""};
    static const char *const masks[] = {"\"none\"", "\"causal\""};
    const char *activation = activations[decide(decisions, 4)], *mask = masks[decide(decisions, 2)];
    const char *norm = !model->has_norms     ? "\"none\""
                       : (parts & BETA) == 0 ? "\"rmsnorm\""
                                             : "\"layernorm\"";
    const char *scale = (parts & MERGED) != 0 ? "\"1\"" : "\"1/sqrt(d_head)\"";
    bool attention = (parts & (FACTORS | MERGED)) != 0, lens = !model->gpt2;
    bool square = sizes->other == sizes->d && (parts & HIDDEN_X) == 0;
    /* A witness is asked for what the files leave open, and this one knows nothing. */
    bool open = decide(decisions, 4) == 0 && (parts & WITNESS) == 0;
    SaidList *list = open ? &model->flags : &model->metadata;
    fill_buffers(model, model->gpt2 || strstr(mask, "causal") != NULL);
    model->configured = model->gpt2 && decide(decisions, 4) != 0;
    const struct {
        bool needed;
        const char *key, *value;
    } said[] = {
        {attention && !model->configured, "scale", scale},
        {attention && lens, "mask", mask},
        {(parts & MLP) != 0 && !model->configured, "activation", activation},
        {model->has_norms && !model->configured, "eps", "\"1e-05\""},
        {lens, "normalization", norm},
        {attention && lens && (parts & MLP) != 0, "blocks", "\"sequential\""},
        {lens && model->has_norms, "normalization-place", "\"pre\""},
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (said[i].needed) {
            said_set(list, said[i].key, said[i].value);
        }
    }
    if ((parts & LINEAR) != 0) {
        said_set(&model->metadata, "linear", square ? "\"in-place\"" : "\"block\"");
    }
    if (model->configured) {
        say_config(&model->config, model, sizes, activation);
    }
    if (model->gpt2 && (parts & UNEMBEDDING) != 0) { /* which is not the embedding */
        said_set(model->configured ? &model->config : &model->metadata, "tie_word_embeddings",
                 model->configured ? "false" : "\"false\"");
    }
}

void said_make(SaidModel *model, Decisions *decisions)
{
    static const char *const dtypes[] = {"F32", "F64", "F16", "BF16"};
    static const char *const prefixes[] = {"", "transformer."};
    static const size_t split[][2] = {{2, 2}, {1, 4}, {4, 1}, {2, 2}};
    *model = (SaidModel){.prefix = prefixes[decide(decisions, 2)]};
    model->gpt2 = decide(decisions, 3) == 1;
    size_t whole = decide(decisions, 6);
    model->parts = whole < 4 ? 0 : whole - 3;
    unsigned parts = choose_parts(model, decisions);
    const size_t *by = split[decide(decisions, 4)];
    bool fixed = (parts & (LINEAR | NORM1)) == (LINEAR | NORM1); /* pre norms of square maps */
    Sizes sizes = {.d = 4, .heads = by[0], .d_head = by[1], .hidden = 1 + decide(decisions, 3)};
    sizes.other = fixed || decide(decisions, 2) == 0 ? sizes.d : 1 + decide(decisions, 3);
    sizes.vocabulary = 3;
    sizes.classes = model->gpt2 ? 3 : 2 + decide(decisions, 2);
    sizes.context = 2 + decide(decisions, 2);
    sizes.tuples = 1 + decide(decisions, 2);
    sizes.length = sizes.given = 1 + decide(decisions, 2);
    const char *dtype = dtypes[decide(decisions, 4)];
    model->depth = (parts & ~(unsigned)(LAYER | GIVEN_X)) == 0 ? 0 : 1 + decide(decisions, 2);
    model->parts = model->depth > 0 ? model->parts : 0;
    model->given = (parts & (GIVEN_X | TOKENS)) != 0;
    model->tuples = (parts & TOKENS) != 0;
    model->witnessed = (parts & WITNESS) != 0;
    model->has_logits = model->gpt2 || (parts & UNEMBEDDING) != 0;
    model->has_norms = (parts & (NORM1 | NORM2)) != 0;
    snprintf(model->heads, sizeof model->heads, "%zu", sizes.heads);
    for (size_t row = 0; row < said_rows; row++) {
        bool its = (rows[row].parts & ~parts) == 0, layered = (rows[row].parts & LAYER) != 0;
        for (size_t layer = 0; its && layer < (layered ? model->depth : 1); layer++) {
            bool ids = strstr(rows[row].lens, "tokens") != NULL;
            add(model, &sizes, row, layer, ids ? "I16" : dtype);
        }
    }
    say(model, decisions, &sizes, parts);
}
