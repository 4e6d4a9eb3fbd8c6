/*
 * Which tensors may never be skipped: norms, gates, positions, and what else a model does besides
 * the sums that a construction rewrites.
 *
 * Only names can tell.  A name is brought to one spelling, "_blocks_ln_w_" of "blocks.0.ln1.w", and
 * searched for the words of the table below.
 */
#include "model_check.h"

#include "safetensors.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* At worst every letter begins a word. */
enum { SPELT_MOST = 2 * SAFETENSORS_NAME_MOST + 3 };

/* Words to be found anywhere ("norm"), at the start of a part ("_rope"), or as a part ("_ln_").
 * Those that say most of a model come first. */
typedef struct {
    const char *word, *what;
} Structure;

static const Structure structures[] = {
    {"_router", "router of experts"},
    {"expert", "router of experts"},
    {"_moe_", "router of experts"},
    {"gate", "gate"},
    {"gating", "gate"},
    {"glu_", "gate"},
    {"__w_k_", "keys that several queries share"},
    {"__w_v_", "values that several queries share"},
    {"__b_k_", "keys that several queries share"},
    {"__b_v_", "values that several queries share"},
    {"query_key_value", "queries, keys and values in one, as with rotary positions or ALiBi"},
    {"rotary", "rotary position"},
    {"_rope", "rotary position"},
    {"_ro_pe", "rotary position"},
    {"inv_freq", "rotary position"},
    {"invfreq", "rotary position"},
    {"freqs", "rotary position"},
    {"cos_cached", "rotary position"},
    {"sin_cached", "rotary position"},
    {"alibi", "position bias"},
    {"slopes", "position bias"},
    {"relative", "position bias"},
    {"_rel_", "position bias"},
    {"relpos", "position bias"},
    {"rel_bias", "position bias"},
    {"relbias", "position bias"},
    {"pos_bias", "position bias"},
    {"posbias", "position bias"},
    {"position_bias", "position bias"},
    {"positionbias", "position bias"},
    {"attention_biases", "position bias"},
    {"position_emb", "position embedding of another name"},
    {"positional", "position embedding of another name"},
    {"pos_emb", "position embedding of another name"},
    {"posemb", "position embedding of another name"},
    {"_wpe_", "position embedding of another name"},
    {"token_type", "embedding of token types"},
    {"softcap", "scale"},
    {"_sink", "attention sink"},
    {"lora", "adapter"},
    {"adapter", "adapter"},
    {"cross_att", "attention to another stream"},
    {"crossatt", "attention to another stream"},
    /* Last: most models have some, under names of their family. */
    {"norm", "layer norm"},
    {"_ln_", "layer norm"},
    {"_preln_", "layer norm"},
    {"_postln_", "layer norm"},
    {"_rms", "layer norm"},
    {"_bn_", "layer norm"},
    {"running_mean", "layer norm"},
    {"running_var", "layer norm"},
    {"_gamma_", "layer norm"},
    {"_beta_", "layer norm"},
    {"scale", "scale"},
    {"zero_point", "scale"},
    {"temperature", "scale"},
};

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Between c and those around it a word ends in CamelCase: "relPos", and "RMSNorm" before N. */
static bool begins_word(char before, char c, char after)
{
    return is_upper(c) && (is_lower(before) || (is_upper(before) && is_lower(after)));
}

/* text [SPELT_MOST]: lower case, with a '_' for all that is no letter, and around the whole. */
static void spell(char *text, const char *name, bool camel)
{
    size_t used = 0;
    text[used++] = '_';
    for (const char *c = name; *c != '\0' && used + 3 < SPELT_MOST; c++) {
        if (camel && c > name && begins_word(c[-1], c[0], c[1])) {
            text[used++] = '_';
        }
        text[used++] = (char)(is_upper(*c) ? *c - 'A' + 'a' : is_lower(*c) ? *c : '_');
    }
    text[used++] = '_';
    text[used] = '\0';
}

static const Structure *find(const char *name)
{
    char plain[SPELT_MOST], split[SPELT_MOST];
    spell(plain, name, false);
    spell(split, name, true);
    for (size_t i = 0; i < sizeof structures / sizeof *structures; i++) {
        if (strstr(plain, structures[i].word) != NULL ||
            strstr(split, structures[i].word) != NULL) {
            return &structures[i];
        }
    }
    return NULL;
}

const char *structure_of(const char *name)
{
    const Structure *found = find(name);
    return found == NULL ? NULL : found->what;
}

size_t structure_rank(const char *name)
{
    const Structure *found = find(name);
    return found == NULL ? SIZE_MAX : (size_t)(found - structures);
}
