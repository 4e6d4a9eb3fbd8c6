/*
 * A trained model read as circuits, in rational numbers: without layers it is a table of bigrams
 * W_E W_U; with one layer of attention its logits are that and, for each head, an output-value
 * circuit W_E W_V W_O W_U between patterns that the query-key circuit W_E W_Q W_K^T W_E^T decides.
 */

#include "../../cases/case.h"
#include "../../harness/models/inputs.h"
#include "../fixture.h"
#include "../frozen.h"
#include "../given.h"
#include "../real.h"
#include "../safetensors_samples.h"
#include "../unit.h"

#include <math.h>
#include <stdlib.h>

#define TOKENS "0:52:17/7,31/53"
enum { N = 3, D = 64, HEADS = 4, D_HEAD = 16, VOCABULARY = 54, CLASSES = 53, INPUTS = 8 };

/* The file, its matrices as rationals, and its attention alone as a case. */
typedef struct {
    ModelFile *file;
    Inputs inputs;
    Rat embed, positions, unembed; /* [vocabulary, D], [N, D], [D, classes] */
    Rat w_q[HEADS], w_k[HEADS];    /* [D, d_head] */
    Rat qk[HEADS], ov[HEADS];      /* [D, D] */
    Rat bigrams, query_key[HEADS]; /* [vocabulary, classes], [vocabulary, vocabulary] */
    Rat output_value[HEADS];       /* [vocabulary, classes] */
    GivenLayer layer;
} Trained;

static Rat head_of(const double *tensor, size_t head, size_t rows, size_t columns)
{
    return rat_of(tensor + head * rows * columns, rows, columns, columns);
}

static int trained_open(void **state)
{
    Trained *t = calloc(1, sizeof *t);
    assert_non_null(t);
    *state = t;
    assert_int_equal(model_file_read(&t->file, GIVEN_TRAINED, false), 0);
    ModelFile *m = t->file;
    assert_true(m->d == D && m->heads == HEADS && m->d_head == D_HEAD && m->depth == 1);
    assert_true(m->vocabulary == VOCABULARY && m->classes == CLASSES && m->context == N);
    assert_true(m->scaled && m->causal && m->b_U == NULL && m->layers[0].b_o == NULL);
    assert_int_equal(inputs_make(&t->inputs, m, GIVEN_TRAINED, TOKENS, 1), 0);
    assert_int_equal(t->inputs.count, INPUTS);
    t->layer = (GivenLayer){.w_q = m->layers[0].w_q,
                            .w_k = m->layers[0].w_k,
                            .w_v = m->layers[0].w_v,
                            .w_o = m->layers[0].w_o};
    t->embed = rat_of(m->W_E, VOCABULARY, D, D);
    t->positions = rat_of(m->W_pos, N, D, D);
    t->unembed = rat_of(m->W_U, D, CLASSES, CLASSES);
    t->bigrams = rat_mul(t->embed, t->unembed);
    for (size_t h = 0; h < HEADS; h++) {
        t->w_q[h] = head_of(t->layer.w_q, h, D, D_HEAD);
        t->w_k[h] = head_of(t->layer.w_k, h, D, D_HEAD);
        t->qk[h] = rat_mul(t->w_q[h], rat_transpose(t->w_k[h]));
        t->ov[h] =
            rat_mul(head_of(t->layer.w_v, h, D, D_HEAD), head_of(t->layer.w_o, h, D_HEAD, D));
        t->query_key[h] = rat_mul(rat_mul(t->embed, t->qk[h]), rat_transpose(t->embed));
        t->output_value[h] = rat_mul(rat_mul(t->embed, t->ov[h]), t->unembed);
    }
    return 0;
}

static int trained_close(void **state)
{
    Trained *t = *state;
    inputs_clear(&t->inputs);
    model_file_clear(t->file);
    free(t);
    rat_release_all();
    return 0;
}

/* The file's attention without its network. */
static Pair attention_alone(const GivenWeights *given)
{
    CaseSpec spec = {.construction = CONSTRUCTION_ATTENTION,
                     .n = N,
                     .d = D,
                     .d_ff = D,
                     .heads = HEADS,
                     .d_head = D_HEAD,
                     .depth = 1,
                     .mask = MASK_CAUSAL,
                     .given = given};
    return pair_make(&spec);
}

static GivenWeights input_weights(const Trained *t, size_t input)
{
    return (GivenWeights){
        .layers = &t->layer, .scale = {1, 1, D_HEAD}, .x = t->inputs.x + input * N * D};
}

/* Row i has its one in the column of token i. */
static Rat one_hot(const Trained *t, size_t input)
{
    Rat rows = rat_zero(N, VOCABULARY), one = rat_identity(1);
    for (size_t i = 0; i < N; i++) {
        rat_put(rows, i, (size_t)t->inputs.tokens[input * N + i], one);
    }
    return rows;
}

/* The streams that every other test here starts from are the sums that the circuits take apart,
 * each rounded once. */
static void streams_are_embeddings(void **state)
{
    const Trained *t = *state;
    for (size_t input = 0; input < INPUTS; input++) {
        Rat sum = rat_add(rat_mul(one_hot(t, input), t->embed), t->positions);
        double error = rat_distance(sum, t->inputs.x + input * N * D, D);
        assert_true(error <= 0x1p-53 * rat_largest(sum));
    }
}

/* Token t before any layer: row t of W_E W_U, a table of bigrams, and what its position adds. */
static void no_layers_are_bigrams(void **state)
{
    const Trained *t = *state;
    Rat of_position = rat_mul(t->positions, t->unembed);
    for (size_t token = 0; token < VOCABULARY; token++) {
        for (size_t i = 0; i < N; i++) {
            Rat row = rat_add(rat_rows(t->embed, token, 1), rat_rows(t->positions, i, 1));
            Rat table = rat_add(rat_rows(t->bigrams, token, 1), rat_rows(of_position, i, 1));
            assert_true(rat_equal(rat_mul(row, t->unembed), table));
        }
    }
    /* A token's own embedding does not decide the answer: the tables are not constant. */
    assert_false(rat_equal(rat_rows(t->bigrams, 0, 1), rat_rows(t->bigrams, 1, 1)));
}

/* Logits of one layer, the patterns as the kernel has them: exactly the bigrams' and each head's
 * output-value circuit; and what the kernel makes of them, up to its rounding. */
static void one_layer_expands_through_embeddings(void **state)
{
    const Trained *t = *state;
    for (size_t input = 0; input < INPUTS; input++) {
        GivenWeights given = input_weights(t, input);
        Pair pair = attention_alone(&given);
        Frozen frozen = frozen_make(&pair.original, given.x, 0);
        Rat tokens = one_hot(t, input);
        Rat x = rat_add(rat_mul(tokens, t->embed), t->positions);
        Rat expanded = rat_add(rat_mul(tokens, t->bigrams), rat_mul(t->positions, t->unembed));
        for (size_t h = 0; h < HEADS; h++) {
            Rat of_positions = rat_mul(rat_mul(t->positions, t->ov[h]), t->unembed);
            Rat moved = rat_add(rat_mul(tokens, t->output_value[h]), of_positions);
            expanded = rat_add(expanded, rat_mul(frozen.sublayer[0].pattern[h], moved));
        }
        assert_true(rat_equal(rat_mul(frozen_apply(&frozen, x), t->unembed), expanded));
        Rat machine = rat_mul(frozen.end, t->unembed);
        double error = rat_largest(rat_sub(machine, expanded)), size = rat_largest(expanded);
        print_message("input %zu: kernel's logits within %.2g of %.2g\n", input, error, size);
        assert_true(error <= 512 * 0x1p-53 * size);
        case_clear(&pair);
    }
}

static Real entry(Rat a, size_t row, size_t column)
{
    mpfr_t x;
    mpfr_init2(x, REAL_BITS);
    mpfr_set_q(x, a.entries[row * a.columns + column], MPFR_RNDN);
    Real value = real_of_mpfr(x);
    mpfr_clear(x);
    return value;
}

/* Scores are the query-key circuit's entries and what positions add; their softmax over the tokens
 * so far is the pattern of the kernel. */
static void patterns_come_from_the_query_key_circuit(void **state)
{
    const Trained *t = *state;
    double worst = 0;
    for (size_t input = 0; input < INPUTS; input++) {
        GivenWeights given = input_weights(t, input);
        Pair pair = attention_alone(&given);
        Frozen frozen = frozen_make(&pair.original, given.x, 0);
        Rat tokens = one_hot(t, input), e = rat_mul(tokens, t->embed), p = t->positions;
        Rat x = rat_add(e, p);
        for (size_t h = 0; h < HEADS; h++) {
            Rat circuit = rat_mul(rat_mul(tokens, t->query_key[h]), rat_transpose(tokens));
            Rat mixed = rat_add(rat_mul(rat_mul(e, t->qk[h]), rat_transpose(p)),
                                rat_mul(rat_mul(p, t->qk[h]), rat_transpose(x)));
            Rat scores = rat_scale(rat_add(circuit, mixed), 1, 4); /* sqrt(16) */
            Rat factored = rat_mul(rat_mul(x, t->w_q[h]), rat_transpose(rat_mul(x, t->w_k[h])));
            assert_true(rat_equal(rat_scale(factored, 1, 4), scores));
            for (size_t i = 0; i < N; i++) {
                Real total = real_of(0);
                for (size_t j = 0; j <= i; j++) {
                    total = real_add(total, real_exp(entry(scores, i, j)));
                }
                for (size_t j = 0; j < N; j++) {
                    double own = rat_double(frozen.sublayer[0].pattern[h], i, j);
                    double right =
                        j > i ? 0 : real_double(real_div(real_exp(entry(scores, i, j)), total));
                    worst = fmax(worst, fabs(own - right));
                }
            }
        }
        case_clear(&pair);
    }
    print_message("patterns within %.2g\n", worst);
    assert_true(worst <= 1e-14);
}

SUBJECT(circuits)
{
    const struct CMUnitTest circuits[] = {
        cmocka_unit_test(streams_are_embeddings),
        cmocka_unit_test(no_layers_are_bigrams),
        cmocka_unit_test(one_layer_expands_through_embeddings),
        cmocka_unit_test(patterns_come_from_the_query_key_circuit),
    };
    return cmocka_run_group_tests(circuits, trained_open, trained_close);
}
