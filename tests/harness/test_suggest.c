/*
 * Suggestions: the distance of mistyped words by hand, and what the program says of near misses of
 * commands, flags, axes' names and axes' words.
 */
#include "../given.h"

#include "../../harness/base/message.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *token, *meant; /* of the names below; NULL: none is near */
} typed[] = {
    {"silu", "silu"},           /* nothing */
    {"sillu", "silu"},          /* one letter too many */
    {"siu", "silu"},            /* one too few, of three */
    {"sulu", "silu"},           /* another */
    {"islu", "silu"},           /* two swapped: one fault, not two */
    {"islux", "silu"},          /* and one more: two */
    {"isxul", NULL},            /* swapped twice and more: three */
    {"SiLU", "silu"},           /* case does not count */
    {"bias_row", "bias-row"},   /* nor which dash */
    {"--version", "--version"}, /* nor dashes in front */
    {"verison", "--version"},
    {"vers", "--version"}, /* a beginning */
    {"v", NULL},           /* of more than a letter */
    {"x", NULL},           /* all of it would be replaced */
    {"ab", NULL},          /* likewise */
    {"nt", "n2"},          /* half of it is */
    {"", NULL},            /* nothing was typed */
    {"silu-and-much-more-than-any-name-has", NULL},
};

/* One fault is forgiven in words of up to three letters, two in longer ones. */
static void test_distances(void **state)
{
    static const char *const names[] = {NULL, "silu", "bias-row", "--version", "n2"};
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        const char *token = typed[i].token;
        const char *nearest = nearest_name(token, strlen(token), names, 5);
        const char *meant = typed[i].meant;
        if ((nearest == NULL) != (meant == NULL) ||
            (meant != NULL && strcmp(nearest, meant) != 0)) {
            fail_msg("'%s' was taken for %s, expected %s", token, nearest ? nearest : "nothing",
                     meant ? meant : "nothing");
        }
    }
    /* The nearest, wherever it stands; of tokens that are a part of a text, that part. */
    static const char *const near[] = {"relux", "relu"};
    assert_string_equal(nearest_name("rely", 4, near, 2), "relu");
    assert_string_equal(nearest_name("relu,more", 4, near, 2), "relu");
}

/* In a case file keys have no dashes. */
static void test_near_misses_in_files(void **state)
{
    static const char *const files[][2] = {
        {"[a]\nnorm = none\n", "expected one of max, rms, rel (did you mean normalization?)"},
        {"[a]\ntolerence = 1\n", "expected the name of an axis (did you mean tolerance?)"},
        {"[a]\nmask = casual\n", "(did you mean causal?)"},
    };
    Given *given = *state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        file_write(given->file, files[i][0], strlen(files[i][0]));
        given_expect_fault(given, COMMAND_SWEEP, "FILE", files[i][1]);
    }
}

/* What is no near miss is told without a guess. */
static void test_no_guess(void **state)
{
    static const char *const lines[] = {"--norm tanh", "--construction 3", "--bias frobnicate"};
    Given *given = *state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        given_expect_fault(given, COMMAND_SWEEP, lines[i], "expected");
        if (strstr(given->message, "did you mean") != NULL) {
            fail_msg("%s: %s", lines[i], given->message);
        }
    }
}

SUBJECT(suggest)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances),
        GIVEN_TEST(test_near_misses_in_files),
        GIVEN_TEST(test_no_guess),
    };
    return cmocka_run_group_tests_name("suggest", tests, NULL, NULL);
}
