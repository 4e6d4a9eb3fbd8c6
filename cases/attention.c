/*
 * The construction `attention`: the original's heads, and the same heads with position scores
 * that keep tokens and bias row apart.
 */
#include "construct.h"

#include "arena.h"

#include <math.h>

/* Drawn: Q and V dense, or W_Q W_K^T and W_V W_O. */
static GivenLayer draw(Stack *stack, size_t layer)
{
    const CaseSpec *spec = stack->spec;
    const TensorShape dense = {spec->heads, spec->d, spec->d, 0},
                      in = {spec->heads, spec->d, spec->d_head, 0},
                      out = {spec->heads, spec->d_head, spec->d, 0};
    bool normal = spec->weights == WEIGHTS_NORMAL;
    double d = (double)spec->d, d_head = (double)spec->d_head, fan_in = d * (double)spec->heads,
           twice_depth = 2 * (double)spec->depth;
    GivenLayer own = {0};
    if (spec->d_head == 0) {
        double variance = 1 / (fan_in * twice_depth);
        own.qk = stack_draw(stack, layer, "attn.QK", dense, normal ? 1 : 1 / d);
        own.ov = stack_draw(stack, layer, "attn.OV", dense, normal ? 1 : sqrt(variance));
    } else {
        double scale = normal ? 1 : sqrt(1 / (d * sqrt(d_head))),
               variance = 1 / sqrt(fan_in * d_head);
        own.w_q = stack_draw(stack, layer, "attn.W_Q", in, scale);
        own.w_k = stack_draw(stack, layer, "attn.W_K", in, scale);
        own.w_v = stack_draw(stack, layer, "attn.W_V", in, normal ? 1 : sqrt(variance));
        variance /= twice_depth;
        own.w_o = stack_draw(stack, layer, "attn.W_O", out, normal ? 1 : sqrt(variance));
    }
    return own;
}

/* Factors with their biases, or merged matrices. */
static Bundle heads_of(const Stack *stack, const GivenLayer *given)
{
    const CaseSpec *spec = stack->spec;
    Columns content = stack_content(stack);
    size_t d = spec->d, d_head = spec->d_head, stride = d * (d_head > 0 ? d_head : d);
    bool merged = d_head == 0;
    Score score = {.kind = SCORE_BILINEAR,
                   .read = content,
                   .d_head = d_head,
                   .q = {merged ? given->qk : given->w_q, merged ? d : d_head, stride},
                   .k = {given->w_k, d_head, stride},
                   .q_bias = given->b_q,
                   .k_bias = given->b_k};
    Value value = {.read = content,
                   .write = content,
                   .d_head = d_head,
                   .v = {merged ? given->ov : given->w_v, merged ? d : d_head, stride},
                   .o = {given->w_o, d, stride},
                   .inner_bias = given->b_v,
                   .bias = given->b_o,
                   .scale = 1};
    return (Bundle){spec->heads, score, value};
}

const Rotary *rotary_make(const Stack *stack)
{
    static const double absent = 0;
    const CaseSpec *spec = stack->spec;
    size_t width = case_rotary_width(spec);
    if (width == 0) {
        return NULL;
    }
    Rotary *made = arena_take(stack->arena, 1, sizeof *made);
    *made = (Rotary){spec->n, width, spec->rotary == ROTARY_INTERLEAVED, &absent, &absent};
    if (!stack->outline && !stack->numbers) {
        const RotaryScaling none = {0};
        const RotaryAngles angles = {spec->n, width, spec->rope_theta,
                                     spec->given != NULL ? spec->given->rotary_scaling : none,
                                     spec->rotary_tables == TABLES_FLOAT32};
        /* No weights, which a storage format would round. */
        double *tables = arena_take(stack->arena, spec->n, width * sizeof *tables);
        spec->tables(tables, tables + spec->n * (width / 2), &angles);
        made->cos = tables;
        made->sin = tables + spec->n * (width / 2);
    }
    return made;
}

/* The factor on x Q x^T. */
static Scale attention_scale(const CaseSpec *spec, size_t layer)
{
    Scale scale = spec->given != NULL ? spec->given->scale : (Scale){1, 1, 1};
    if (spec->scaled && spec->d_head > 0) {
        scale = (Scale){1, 1, (long)spec->d_head};
    }
    if (spec->given != NULL && spec->given->scale_by_layer) {
        scale.den *= (long)layer + 1;
    }
    return scale;
}

Bundle attention_heads(Stack *stack, size_t layer)
{
    const CaseSpec *spec = stack->spec;
    const GivenLayer own = spec->given != NULL ? spec->given->layers[layer] : draw(stack, layer);
    Bundle bundle = heads_of(stack, &own);
    Score *score = &bundle.score;
    score->scale = attention_scale(spec, layer);
    score->rotary = stack->rotary;
    score->q.data = stack_scaled(stack, score->q.data, spec->heads * score->q.head_stride);
    score->q_bias = stack_scaled(stack, score->q_bias, spec->heads * spec->d_head);
    mask_original(stack, score);
    return bundle;
}

/* The same heads with the position scores that keep tokens and bias row apart: tokens shun the bias
 * row (-2 Omega), which keeps to itself (+2 Omega). */
static Bundle patched(Stack *stack, Bundle heads)
{
    heads.score.position = (PositionScores){.token_bias = -2, .bias_self = 2};
    mask_converted(stack, &heads.score);
    return heads;
}

void attention_layer(Stack *stack, size_t layer)
{
    norm_open(stack, layer, PART_FIRST, stack_content(stack));
    Bundle heads = attention_heads(stack, layer), converted = patched(stack, heads);
    append_heads(stack, heads);
    append_converted(stack, &converted, 1);
    norm_close(stack);
}
