/*
 * Tiers: the instruction sets that the sources in the rooms called wide/ are compiled for, each
 * time with HEADPROOF_TIER its name.
 *
 *     portable   C, for any machine
 *     avx2       AVX2 with FMA
 *     avx512     AVX-512 F, CD, DQ and IFMA
 *
 * The best that the processor has is used; HEADPROOF_CPU, a variable of the environment, lowers it.
 * Results are the same bytes in every tier.
 */
#ifndef HEADPROOF_REFERENCE_NUMBERS_TIER_H
#define HEADPROOF_REFERENCE_NUMBERS_TIER_H

#include <stdbool.h>

typedef enum { TIER_PORTABLE, TIER_AVX2, TIER_AVX512, TIERS } Tier;

const char *tier_name(Tier tier);

/* Is it built in, and has the processor got it? */
bool tier_has(Tier tier);

/* The one in use, decided at the first call; a word in HEADPROOF_CPU that is no tier here is a bug:
 * ask tier_word first. */
Tier tier_in_use(void);

/* NULL: the tier of that name can be used, or word is NULL or empty, for the best.  Else why
 * not. */
const char *tier_word(const char *word) __attribute__((warn_unused_result));

/* A function or table of the tier that is compiled. */
#ifndef HEADPROOF_TIER
#define HEADPROOF_TIER portable
#endif
#define TIER_JOINED(name, tier) name##_##tier
#define TIER_NAMED(name, tier) TIER_JOINED(name, tier)
#define TIER(name) TIER_NAMED(name, HEADPROOF_TIER)

/* Declares the tables of one name and type, and name_of[TIERS], their addresses. */
#ifdef __x86_64__
#define TIER_TABLES(type, name)                                                                    \
    extern const type name##_portable, name##_avx2, name##_avx512;                                 \
    static const type *const name##_of[TIERS] = {&name##_portable, &name##_avx2, &name##_avx512}
#else
#define TIER_TABLES(type, name)                                                                    \
    extern const type name##_portable;                                                             \
    static const type *const name##_of[TIERS] = {&name##_portable}
#endif

#endif
