/*
 * Stacks drawn at random, and inputs of them.
 */
#include "drawn_stack.h"

#include "fixture.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double *drawn_weights(Drawn *stack, size_t count, double size, double mean)
{
    double *drawn = calloc(count, sizeof *drawn);
    assert_true(drawn != NULL && stack->count < 128);
    for (size_t i = 0; i < count; i++) {
        drawn[i] = mean + size * (drawn_uniform() + drawn_uniform() + drawn_uniform());
    }
    stack->owned[stack->count++] = drawn;
    return drawn;
}

static GivenLayer draw_layer(Drawn *stack, double size, bool biased)
{
    const CaseSpec *s = &stack->spec;
    size_t d = s->d, h = s->d_ff, k = s->heads, r = s->d_head;
    GivenLayer layer = {.w_q = drawn_weights(stack, k * d * r, size, 0),
                        .w_k = drawn_weights(stack, k * d * r, size, 0),
                        .w_v = drawn_weights(stack, k * d * r, size, 0),
                        .w_o = drawn_weights(stack, k * r * d, size, 0),
                        .w_in = drawn_weights(stack, d * h, size, 0),
                        .w_out = drawn_weights(stack, h * d, size, 0),
                        .linear_w = drawn_weights(stack, d * d, size, 0),
                        .ln1_w = drawn_weights(stack, d, 0.4, 1),
                        .ln1_b = drawn_weights(stack, d, 0.3, 0),
                        .ln2_w = drawn_weights(stack, d, 0.4, 1),
                        .ln2_b = drawn_weights(stack, d, 0.3, 0)};
    if (biased) {
        layer.b_q = drawn_weights(stack, k * r, size, 0);
        layer.b_k = drawn_weights(stack, k * r, size, 0);
        layer.b_v = drawn_weights(stack, k * r, size, 0);
        layer.b_o = drawn_weights(stack, d, size, 0);
        layer.b_in = drawn_weights(stack, h, size, 0);
        layer.b_out = drawn_weights(stack, d, size, 0);
        layer.linear_b = drawn_weights(stack, d, size, 0);
    }
    return layer;
}

void drawn_make(Drawn *stack)
{
    static const Construction kinds[] = {CONSTRUCTION_ATTENTION,    CONSTRUCTION_FUSED,
                                         CONSTRUCTION_TRANSFORMER,  CONSTRUCTION_TRANSFORMER,
                                         CONSTRUCTION_TRANSFORMER3, CONSTRUCTION_FFN3,
                                         CONSTRUCTION_LINEAR,       CONSTRUCTION_SILU};
    CaseSpec *s = &stack->spec;
    *stack = (Drawn){.spec = {.construction = kinds[drawn_below(8)],
                              .n = 1 + drawn_below(4),
                              .d = 1 + drawn_below(4),
                              .d_ff = 1 + drawn_below(4),
                              .heads = 1 + drawn_below(2),
                              .d_head = 1 + drawn_below(3),
                              .depth = 1 + drawn_below(3),
                              .mask = drawn_below(2) == 0 ? MASK_CAUSAL : MASK_NONE,
                              .activation = (Activation)drawn_below(3),
                              .gelu = (GeluForm)drawn_below(GELU_COUNT),
                              .slope = 3,
                              .norm = (Normalization)drawn_below(NORMALIZATION_COUNT),
                              .norm_eps = drawn_below(2) == 0 ? 1e-5 : 0.1,
                              .norm_tokens_only = drawn_below(3) == 0}};
    s->norm_place =
        drawn_below(3) == 0 || s->construction == CONSTRUCTION_SILU ? NORM_POST : NORM_PRE;
    s->head_rank = drawn_below(3);
    stack->given = (GivenWeights){.layers = stack->layers, .scale = {1, 1, (long)s->d_head}};
    const double sizes[] = {0.1, 0.3, 0.7};
    double size = sizes[drawn_below(3)];
    bool biased = drawn_below(2) == 0;
    for (size_t l = 0; l < s->depth; l++) {
        stack->layers[l] = draw_layer(stack, size, biased);
    }
    stack->given.x = drawn_weights(stack, s->n * s->d, 1, 0);
    s->given = &stack->given;
    stack->pair = pair_make(s);
}

void drawn_clear(Drawn *stack)
{
    case_clear(&stack->pair);
    for (size_t i = 0; i < stack->count; i++) {
        free(stack->owned[i]);
    }
}

static void draw_token(double *row, const GuaranteeInputs *tokens)
{
    memcpy(row, tokens->w_e + drawn_below(tokens->vocabulary) * tokens->d, tokens->d * sizeof *row);
}

/* Rows at random, of length R, near it, along one direction, or with opposite signs. */
static void draw_input(void *search)
{
    const Allowed *allowed = search;
    const Layout *layout = &allowed->pair->converted.layout;
    size_t d = layout->d, ld = layout_content(layout);
    double R = allowed->R, *x = allowed->x;
    memset(x, 0, layout->n * ld * sizeof *x);
    for (size_t i = 0; allowed->tokens != NULL && i < layout->n; i++) {
        draw_token(x + i * ld, allowed->tokens);
    }
    if (allowed->tokens != NULL) {
        return;
    }
    bool alike = drawn_below(3) == 0;
    for (size_t i = 0; i < layout->n; i++) {
        double length = 0, *row = x + i * ld;
        for (size_t c = 0; c < d; c++) {
            row[c] = alike && i > 0 ? (drawn_below(2) == 0 ? 1 : -1) * x[c] : drawn_uniform();
            length += row[c] * row[c];
        }
        double wanted = R * (drawn_below(4) == 0 ? fabs(drawn_uniform()) : 1) * (1 - 1e-12);
        for (size_t c = 0; c < d && length > 0; c++) {
            row[c] *= wanted / sqrt(length);
        }
    }
}

/* x moved a little, no row longer than R; or another token in one place. */
static void move_input(void *search)
{
    const Allowed *allowed = search;
    const Layout *layout = &allowed->pair->converted.layout;
    size_t d = layout->d, ld = layout_content(layout);
    double R = allowed->R, *x = allowed->x, by = drawn_below(2) == 0 ? 0.3 : 0.03;
    if (allowed->tokens != NULL) {
        draw_token(x + drawn_below(layout->n) * ld, allowed->tokens);
        return;
    }
    for (size_t i = 0; i < layout->n; i++) {
        double length = 0, *row = x + i * ld;
        for (size_t c = 0; c < d; c++) {
            row[c] += R * by * drawn_uniform();
            length += row[c] * row[c];
        }
        double most = R * (1 - 1e-12);
        for (size_t c = 0; c < d && sqrt(length) > most; c++) {
            row[c] *= most / sqrt(length);
        }
    }
}

double allowed_climb(void *search, double (*value)(void *search), int tries)
{
    Allowed *allowed = search;
    const Layout *layout = &allowed->pair->converted.layout;
    size_t size = layout->n * layout_content(layout) * sizeof *allowed->x;
    allowed->x = malloc(size);
    assert_non_null(allowed->x);
    const Climb inputs = {allowed->x, size, draw_input, move_input, value, search};
    double top = climb(&inputs, -INFINITY, tries / 3, tries - tries / 3);
    free(allowed->x);
    return top;
}
