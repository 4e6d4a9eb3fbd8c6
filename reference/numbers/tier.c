/*
 * Which tier is used: what the processor has is asked here, and nowhere else in reference/.
 */
#include "tier.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[TIERS] = {"portable", "avx2", "avx512"};

const char *tier_name(Tier tier)
{
    return names[tier];
}

bool tier_has(Tier tier)
{
#ifdef __x86_64__
    switch (tier) {
    case TIER_AVX2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case TIER_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512ifma");
    default: break;
    }
#endif
    return tier == TIER_PORTABLE;
}

/* TIERS: none. */
static Tier named(const char *word)
{
    int tier = 0;
    while (tier < TIERS && strcmp(word, names[tier]) != 0) {
        tier++;
    }
    return (Tier)tier;
}

static bool is_none(const char *word)
{
    return word == NULL || *word == '\0';
}

const char *tier_word(const char *word)
{
    Tier tier = is_none(word) ? TIER_PORTABLE : named(word);
    return tier == TIERS     ? "expected portable, avx2 or avx512"
           : !tier_has(tier) ? "this processor, or this build, does not have it"
                             : NULL;
}

static Tier decide(void)
{
    const char *word = getenv("HEADPROOF_CPU"), *why = tier_word(word);
    int best = TIERS - 1;
    if (why != NULL) {
        fprintf(stderr, "headproof: HEADPROOF_CPU=%s: %s\n", word, why);
        abort();
    }
    while (!tier_has((Tier)best)) {
        best--;
    }
    return is_none(word) ? (Tier)best : named(word);
}

Tier tier_in_use(void)
{
    static atomic_int known; /* and 1 more; threads that decide at once decide alike */
    int tier = atomic_load_explicit(&known, memory_order_relaxed);
    if (tier == 0) {
        tier = (int)decide() + 1;
        atomic_store_explicit(&known, tier, memory_order_relaxed);
    }
    return (Tier)(tier - 1);
}
