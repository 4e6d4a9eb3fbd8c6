/*
 * The inputs of a trained model: the order of tuples, what each embeds to, and the parts of a run
 * that is cut.  Embeddings are chosen so that a stream says which token stood where.
 */
#include "../../harness/models/inputs.h"
#include "../fixture.h"
#include "../unit.h"

#include <string.h>

enum { D = 2, VOCABULARY = 5, CONTEXT = 3 };

/* Token t is (10 t, 10 t + 1), position i adds (100 i, 200 i). */
static double embedding[VOCABULARY * D] = {0, 1, 10, 11, 20, 21, 30, 31, 40, 41};
static double position[CONTEXT * D] = {0, 0, 100, 200, 200, 400};

static const ModelFile model = {.kind = MODEL_FILE_ATTENTION,
                                .depth = 1,
                                .d = D,
                                .vocabulary = VOCABULARY,
                                .context = CONTEXT,
                                .W_E = embedding,
                                .W_pos = position};

static void expect_tuple(const Inputs *inputs, size_t i, const int64_t *tokens)
{
    assert_true(i < inputs->count);
    for (size_t p = 0; p < inputs->n && p < CONTEXT; p++) {
        const double *x = inputs->x + (i * inputs->n + p) * D;
        assert_int_equal(inputs->tokens[i * inputs->n + p], tokens[p]);
        assert_true(x[0] == 10 * (double)tokens[p] + 100 * (double)p);
        assert_true(x[1] == 10 * (double)tokens[p] + 1 + 200 * (double)p);
    }
}

/* Every combination, the last position fastest, as nested loops go. */
static void tuples_are_in_order(void **state)
{
    static const int64_t first[] = {3, 1}, second[] = {0, 4, 2};
    Inputs inputs;
    size_t at = 0;
    assert_int_equal(inputs_make(&inputs, &model, "m", "3,1/0,4,2/2", 1), 0);
    assert_int_equal(inputs.count, 6);
    assert_int_equal(inputs.n, 3);
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 3; j++) {
            expect_tuple(&inputs, at++, (const int64_t[CONTEXT]){first[i], second[j], 2});
            assert_int_equal(inputs_number(&inputs, at - 1), at);
        }
    }
    inputs_clear(&inputs);
}

/* As standard too, where it is small. */
static void the_whole_vocabulary_can_be_asked_for(void **state)
{
    Inputs inputs;
    assert_int_equal(inputs_make(&inputs, &model, "m", NULL, 1), 0);
    assert_int_equal(inputs.count, VOCABULARY * VOCABULARY * VOCABULARY);
    assert_string_equal(inputs.of, "");
    inputs_clear(&inputs);
    assert_int_equal(inputs_make(&inputs, &model, "m", "all", 1), 0);
    assert_int_equal(inputs.count, VOCABULARY * VOCABULARY * VOCABULARY);
    expect_tuple(&inputs, 0, (const int64_t[CONTEXT]){0, 0, 0});
    expect_tuple(&inputs, 7, (const int64_t[CONTEXT]){0, 1, 2});
    expect_tuple(&inputs, inputs.count - 1, (const int64_t[CONTEXT]){4, 4, 4});
    inputs_clear(&inputs);
}

/* Of 257 tuples 256 are drawn, each once and not in their order; the seed says which. */
static void samples_are_drawn(void **state)
{
    static double wide[257 * D];
    ModelFile large = model;
    Inputs inputs;
    size_t rising = 0, left_out[2] = {0, 0};
    large.W_E = wide;
    large.vocabulary = 257;
    large.context = 1;
    for (uint64_t seed = 0; seed < 2; seed++) {
        bool seen[257] = {false};
        assert_int_equal(inputs_make(&inputs, &large, "m", NULL, seed), 0);
        assert_int_equal(inputs.count, INPUTS_DRAWN);
        assert_string_equal(inputs.of, "257");
        for (size_t i = 0; i < inputs.count; i++) {
            assert_in_range(inputs.tokens[i], 0, 256);
            assert_false(seen[inputs.tokens[i]]);
            seen[inputs.tokens[i]] = true;
            rising += i > 0 && inputs.tokens[i] > inputs.tokens[i - 1];
        }
        while (seen[left_out[seed]]) {
            left_out[seed]++;
        }
        inputs_clear(&inputs);
    }
    assert_true(left_out[0] != left_out[1]);
    assert_true(rising > 200 && rising < 310);
}

/* Of 625 each token stands at a position about as often as another; and there may be more than can
 * be counted. */
static void samples_of_several_tokens(void **state)
{
    size_t often[VOCABULARY] = {0};
    ModelFile large = model;
    Inputs inputs;
    large.context = 4;
    large.W_pos = NULL;
    assert_int_equal(inputs_make(&inputs, &large, "m", NULL, 1), 0);
    for (size_t i = 0; i < inputs.count; i++) {
        often[inputs.tokens[4 * i + 3]]++;
        assert_true(inputs.x[(4 * i + 3) * D] == 10 * (double)inputs.tokens[4 * i + 3]);
    }
    for (size_t t = 0; t < VOCABULARY; t++) {
        assert_in_range(often[t], 30, 75);
    }
    inputs_clear(&inputs);
    /* No table of positions says how long: as long as a screen is. */
    large.context = 1000;
    assert_int_equal(inputs_make(&inputs, &large, "m", NULL, 1), 0);
    assert_string_equal(inputs.of, "5^64");
    inputs_clear(&inputs);
}

/* Part s of S has the tuples number s, s + S, ..., with their tokens and streams. */
static void parts_keep_what_is_theirs(void **state)
{
    for (size_t shard = 1; shard <= 4; shard++) {
        Inputs inputs;
        assert_int_equal(inputs_make(&inputs, &model, "m", "0:4/0:1", 1), 0);
        assert_int_equal(inputs_take_shard(&inputs, D, shard, 4), 0);
        assert_int_equal(inputs.count, shard <= 2 ? 3 : 2);
        for (size_t i = 0; i < inputs.count; i++) {
            size_t number = shard + 4 * i;
            assert_int_equal(inputs_number(&inputs, i), number);
            expect_tuple(
                &inputs, i,
                (const int64_t[CONTEXT]){(int64_t)(number - 1) / 2, (int64_t)(number - 1) % 2});
        }
        inputs_clear(&inputs);
    }
}

static void more_parts_than_inputs_are_refused(void **state)
{
    Scratch *scratch = *state;
    Inputs inputs;
    char text[SCRATCH_TEXT];
    assert_int_equal(inputs_make(&inputs, &model, "m", "0:4", 1), 0);
    stderr_hold(scratch);
    int status = inputs_take_shard(&inputs, D, 6, 6);
    stderr_take(text, scratch);
    assert_int_equal(status, 2);
    assert_non_null(strstr(text, "'6/6': expected at most 5 parts"));
    assert_int_equal(inputs.count, 5);
    assert_int_equal(inputs_take_shard(&inputs, D, 5, 5), 0);
    expect_tuple(&inputs, 0, (const int64_t[CONTEXT]){4});
    inputs_clear(&inputs);
}

static void refuses_many(Scratch *scratch, const ModelFile *of, const char *choice)
{
    Inputs inputs;
    char text[SCRATCH_TEXT];
    stderr_hold(scratch);
    int status = inputs_make(&inputs, of, "m\xe2\x80\xae", choice, 1);
    stderr_take(text, scratch);
    inputs_clear(&inputs);
    assert_int_equal(status, 2);
    assert_non_null(strstr(
        text, "m\\u{202e}: more than 1000000 token tuples: choose some with --tokens (of verify, "
              "--tokens-file too)"));
    assert_int_equal(count_lines(text), 1);
}

/* 5^9 tuples are beyond a million; a name that would turn the line around is shown harmless.  Of a
 * context that a config says they are more than a list of its positions could be. */
static void too_many_tuples_are_refused(void **state)
{
    ModelFile endless = model;
    endless.context = 0;
    endless.W_pos = NULL;
    refuses_many(*state, &endless, "0:4/0:4/0:4/0:4/0:4/0:4/0:4/0:4/0:4");
    endless.context = SIZE_MAX / 2;
    refuses_many(*state, &endless, "all");
}

SUBJECT(inputs)
{
    const struct CMUnitTest inputs[] = {
        cmocka_unit_test(tuples_are_in_order),
        cmocka_unit_test(the_whole_vocabulary_can_be_asked_for),
        cmocka_unit_test(samples_are_drawn),
        cmocka_unit_test(samples_of_several_tokens),
        cmocka_unit_test(parts_keep_what_is_theirs),
        SCRATCH_TEST(too_many_tuples_are_refused),
        SCRATCH_TEST(more_parts_than_inputs_are_refused),
    };
    return cmocka_run_group_tests(inputs, NULL, NULL);
}
