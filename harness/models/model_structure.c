/*
 * What a tensor is that no family has a name for: none of the model's own, and --ignore-extra skips
 * it; or, for a message, what it says of the model.
 *
 * Only names can tell.  A list of what changes a model is never whole, so that what may be skipped
 * is the list, and everything else is refused: a tensor that is refused by mistake can be removed,
 * but one that is skipped by mistake gives a verdict about another model.
 */
#include "model_check.h"

#include "safetensors.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* No forward pass reads these.  What a training run keeps beside a model lies below a name of its
 * own, or beside each tensor under that one's name; heads of a loss and of a reward read the last
 * stream and give no logit.  A `step` of a quantiser is a factor, so that counters count as such by
 * their whole name alone. */
static const struct {
    enum { FIRST_PART, LAST_PART, WHOLE_NAME } where;
    const char *name;
} harmless[] = {
    {FIRST_PART, "optimizer"},     {FIRST_PART, "lr_scheduler"},
    {FIRST_PART, "rng_state"},     {FIRST_PART, "criterion"},
    {FIRST_PART, "loss_fn"},       {FIRST_PART, "v_head"},
    {LAST_PART, "exp_avg"},        {LAST_PART, "exp_avg_sq"},
    {LAST_PART, "max_exp_avg_sq"}, {LAST_PART, "momentum_buffer"},
    {LAST_PART, "grad"},           {LAST_PART, "num_batches_tracked"},
    {LAST_PART, POSITION_IDS},     {WHOLE_NAME, "step"},
    {WHOLE_NAME, "global_step"},   {WHOLE_NAME, "epoch"},
    {WHOLE_NAME, "iter_num"},      {WHOLE_NAME, "best_val_loss"},
};

bool name_is_harmless(const char *name)
{
    const char *dot = strchr(name, '.'), *last = strrchr(name, '.');
    size_t first = dot != NULL ? (size_t)(dot - name) : strlen(name);
    last = last != NULL ? last + 1 : name;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        const char *known = harmless[i].name;
        bool same = harmless[i].where == LAST_PART
                        ? strcmp(last, known) == 0
                        : strlen(known) == first && strncmp(name, known, first) == 0;
        if (same && (harmless[i].where != WHOLE_NAME || dot == NULL)) {
            return true;
        }
    }
    return false;
}

/* Words to be found anywhere ("norm"), at the start of a part ("_rope"), or as a part ("_ln_") of a
 * name in one spelling, "_blocks___ln__w_" of "blocks.0.LN1.w".  Those that say most of a model
 * come first. */
static const struct {
    const char *word, *what;
} structures[] = {
    {"router", "router of experts"},
    {"expert", "router of experts"},
    {"_moe_", "router of experts"},
    {"gate", "gate"},
    {"gating", "gate"},
    {"glu_", "gate"},
    {"attn__w_k_", "keys that several queries share"},
    {"attn__w_v_", "values that several queries share"},
    {"query_key_value", "queries, keys and values in one, as with rotary positions or ALiBi"},
    {"rotary", "rotary position"},
    {"_rope", "rotary position"},
    {"inv_freq", "rotary position"},
    {"alibi", "position bias"},
    {"relative", "position bias"},
    {"rel_pos", "position bias"},
    {"relpos", "position bias"},
    {"pos_bias", "position bias"},
    {"position_bias", "position bias"},
    {"position_emb", ANOTHER_NAME},
    {"positional", ANOTHER_NAME},
    {"pos_emb", ANOTHER_NAME},
    {"_wpe_", ANOTHER_NAME},
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
    {"_rms", "layer norm"},
    {"running_", "layer norm"},
    {"_gamma_", "layer norm"},
    {"_beta_", "layer norm"},
    {"scale", "scale"},
    {"temperature", "scale"},
};

const char *structure_of(size_t *rank, const char *name)
{
    /* Lower case, with a '_' for all that is no letter, and around the whole. */
    char text[SAFETENSORS_NAME_MOST + 3], *to = text;
    *to++ = '_';
    for (; *name != '\0'; name++) {
        bool upper = *name >= 'A' && *name <= 'Z', lower = *name >= 'a' && *name <= 'z';
        *to++ = (char)(upper ? *name - 'A' + 'a' : lower ? *name : '_');
    }
    strcpy(to, "_");
    for (*rank = 0; *rank < sizeof structures / sizeof *structures; ++*rank) {
        if (strstr(text, structures[*rank].word) != NULL) {
            return structures[*rank].what;
        }
    }
    return NULL;
}
