/*
 * Suggestions: the distance of mistyped words by hand.
 */
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
        const char *nearest = nearest_name(token, names, 5);
        const char *meant = typed[i].meant;
        if ((nearest == NULL) != (meant == NULL) ||
            (meant != NULL && strcmp(nearest, meant) != 0)) {
            fail_msg("'%s' was taken for %s, expected %s", token, nearest ? nearest : "nothing",
                     meant ? meant : "nothing");
        }
    }
    /* The nearest, wherever it stands. */
    static const char *const near[] = {"relux", "relu"};
    assert_string_equal(nearest_name("rely", near, 2), "relu");
}

SUBJECT(suggest)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances),
    };
    return cmocka_run_group_tests_name("suggest", tests, NULL, NULL);
}
