/*
 * HEADPROOF_CPU: which tiers there are, which words are refused, and that a file begun in one tier
 * goes on in another with the same bytes.
 */
#include "../../reference/numbers/tier.h"
#include "../fixture.h"
#include "../interrupted.h"
#include "../unit.h"

#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GRID                                                                                       \
    "sweep --construction transformer,ffn3 --depth 2 --n 24 --d 16 --omega 20:60:20 --certify"

/* NULL: none. */
static void ask_for(const char *word)
{
    assert_int_equal(word != NULL ? setenv("HEADPROOF_CPU", word, 1) : unsetenv("HEADPROOF_CPU"),
                     0);
}

static Tier best(void)
{
    Tier tier = TIER_AVX512;
    while (!tier_has(tier)) {
        tier--;
    }
    return tier;
}

static void expect_info(const char *word, Tier tier)
{
    char line[64], all[128] = "\ntiers";
    ask_for(word);
    Output output = expect_run(0, "info | sed 's/  */ /g'");
    snprintf(line, sizeof line, "\ntier %s\n", tier_name(tier));
    assert_non_null(strstr(output.text, line));
    for (int t = 0; t < TIERS; t++) {
        if (tier_has((Tier)t)) {
            snprintf(all + strlen(all), sizeof all - strlen(all), " %s", tier_name((Tier)t));
        }
    }
    assert_non_null(strstr(output.text, strcat(all, "\n")));
    snprintf(line, sizeof line, "\ngmp_header %d.%d.%d\n", __GNU_MP_VERSION, __GNU_MP_VERSION_MINOR,
             __GNU_MP_VERSION_PATCHLEVEL);
    assert_non_null(strstr(output.text, line));
}

static void info_says_which_is_used(void **state)
{
    expect_info(NULL, best());
    expect_info("", best());
    for (int tier = 0; tier < TIERS; tier++) {
        if (tier_has((Tier)tier)) {
            expect_info(tier_name((Tier)tier), (Tier)tier);
        }
    }
}

static void expect_no_tier(const char *word, const char *why)
{
    static const char *const requests[] = {"info", GRID, "sweep nowhere.case"};
    char says[128];
    ask_for(word);
    expect_refused(requests, sizeof requests / sizeof *requests, 1);
    snprintf(says, sizeof says, "token '%s': in HEADPROOF_CPU: %s\n", word, why);
    Output output = run("info 2>&1");
    expect_says(&output, 2, says);
}

/* Digits that something is claimed of are the same in every tier: all of attribute's but its
 * residual, and thirty of a number that export writes. */
static void claimed_digits_are_the_same(void **state)
{
    static const char *const requests[] = {
        "attribute cases/models/chargpt --tokens 1/5/9/20 --omega 40 -o /dev/stdout --quiet | "
        "cut -d, -f-10,12",
        "export --construction transformer --n 12 --d 20 --depth 4 --omega 20 -o /dev/stdout "
        "--quiet | sed 's/\\([0-9]\\.[0-9]\\{30\\}\\)[0-9]*/\\1/g' | tr '\\0' 0 | cksum"};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        ask_for(NULL);
        Output best = expect_run(0, "%s", requests[i]);
        assert_true(best.length > 8);
        for (int tier = 0; tier < TIERS; tier++) {
            if (tier_has((Tier)tier)) {
                ask_for(tier_name((Tier)tier));
                assert_string_equal(expect_run(0, "%s", requests[i]).text, best.text);
            }
        }
    }
    ask_for(NULL);
    (void)state;
}

/* And no library goes on with them. */
static void others_are_refused(void **state)
{
    static const char *const words[] = {"avx",  "AVX2", "avx2 ",        " avx2",
                                        "sse2", "0",    "portable,avx2"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        expect_no_tier(words[i], "expected portable, avx2 or avx512");
    }
    for (int tier = 0; tier < TIERS; tier++) {
        if (!tier_has((Tier)tier)) {
            expect_no_tier(tier_name((Tier)tier),
                           "this processor, or this build, does not have it");
        }
    }
}

/* As an interrupted run leaves it, in one tier; the rest of it in another. */
static void expect_resumed(const FileFixture *fixture, const Output *whole, Tier tier)
{
    leave_interrupted(fixture->path, whole, whole->length * 2 / 3, 2, 0.001);
    ask_for(tier_name(tier));
    Output output = expect_run(0, GRID " -o %s --resume --quiet 2>&1", fixture->path);
    expect_says(&output, 0, "");
    Output again = read_file(fixture->path);
    expect_same(&again, whole, tier_name(tier));
}

static void sweeps_go_on_in_another(void **state)
{
    const FileFixture *fixture = *state;
    ask_for(NULL);
    Output output = expect_run(0, GRID " -o %s --quiet 2>&1", fixture->path);
    expect_says(&output, 0, "");
    Output whole = read_file(fixture->path);
    for (int tier = 0; tier < TIERS; tier++) {
        if (tier_has((Tier)tier)) {
            expect_resumed(fixture, &whole, (Tier)tier);
        }
    }
}

SUBJECT(tiers)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(info_says_which_is_used),
        cmocka_unit_test(claimed_digits_are_the_same),
        cmocka_unit_test(others_are_refused),
        CSV_TEST(sweeps_go_on_in_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
