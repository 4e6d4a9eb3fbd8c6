/*
 * Cases with layer norms.
 */
#include "norm_cases.h"

#include "../fixture.h"
#include "../unit.h"

#include <stdio.h>

CaseSpec norm_case(Construction construction, Normalization norm, NormPlace place, size_t depth)
{
    return (CaseSpec){.construction = construction,
                      .n = 4,
                      .d = 5,
                      .d_ff = 6,
                      .heads = 2,
                      .depth = depth,
                      .seed = 1,
                      .slope = 1000,
                      .band = 2,
                      .gelu = GELU_TWO,
                      .bias = BIAS_RANDOM,
                      .norm = norm,
                      .norm_place = place,
                      .norm_eps = 1e-5};
}

CaseSpec norm_variant(const CaseSpec *spec, int i)
{
    static const double eps[] = {1e-5, 1e-12, 1, 1e-2};
    CaseSpec normed = *spec;
    normed.norm = i % 2 == 0 ? NORMALIZATION_LAYERNORM : NORMALIZATION_RMSNORM;
    normed.norm_place = i / 2 % 3 == 0 ? NORM_POST : NORM_PRE;
    normed.norm_eps = eps[i % 4];
    normed.norm_tokens_only = i % 5 == 0;
    if (spec->construction == CONSTRUCTION_LINEAR && normed.norm_place == NORM_PRE) {
        normed.linear = LINEAR_IN_PLACE;
    }
    if (spec->construction == CONSTRUCTION_SILU) {
        normed.norm_place = NORM_POST;
    }
    return normed;
}

static LayerNorm norm_random(RandomModel *random, const Layout *layout)
{
    size_t content = layout_content(layout), first = random_below(random, content);
    size_t count = 1 + random_below(random, content - first);
    bool rms = random_below(random, 2) == 0;
    return (LayerNorm){rms ? NORMALIZATION_RMSNORM : NORMALIZATION_LAYERNORM,
                       {first, count},
                       random_numbers(random, count),
                       rms ? NULL : random_numbers(random, count),
                       0.001,
                       random_below(random, 2) == 0};
}

void random_norms(RandomModel *random, BundleStack *stack, const Layout *layout, bool alone)
{
    for (size_t l = 0; l < 3; l++) {
        stack->sublayer[l].norm = norm_random(random, layout);
    }
    if (alone) {
        Columns columns = stack->sublayer[1].norm.columns;
        stack->sublayer[1].bundle_count = 0;
        stack->sublayer[1].direct =
            (Direct){.kind = DIRECT_NORM, .read = columns, .write = columns};
    }
}

/* Is it refused: a pre-norm of what writes differences with x itself? */
static bool is_refused(const CaseSpec *spec)
{
    return spec->norm_place == NORM_PRE &&
           (spec->construction == CONSTRUCTION_SILU ||
            (spec->construction == CONSTRUCTION_LINEAR && spec->linear != LINEAR_IN_PLACE));
}

void norm_each_case(size_t depth, NormVisit *visit, void *context)
{
    for (int i = 0; i < CONSTRUCTION_COUNT * 2 * 2 * 2 * 3; i += SMALL_GRIDS ? 7 : 1) {
        CaseSpec spec = norm_case((Construction)(i / 24),
                                  i % 2 == 0 ? NORMALIZATION_LAYERNORM : NORMALIZATION_RMSNORM,
                                  (NormPlace)(i / 2 % 2), depth);
        spec.mask = (Mask)(i / 4 % 2);
        spec.linear = (Linear)(i / 8 % 3);
        spec.d_head = spec.linear == LINEAR_BLOCK ? 2 : 0;
        spec.bias = spec.linear == LINEAR_CLEAR ? BIAS_NONE : BIAS_RANDOM;
        spec.norm_tokens_only = spec.linear == LINEAR_CLEAR;
        if (!is_refused(&spec)) {
            visit(&spec, context);
        }
    }
    for (int i = 0; i < 3 * 2 * 3; i += SMALL_GRIDS ? 5 : 1) {
        static const Construction masked[] = {CONSTRUCTION_ATTENTION, CONSTRUCTION_TRANSFORMER3,
                                              CONSTRUCTION_TRANSFORMER};
        CaseSpec spec =
            norm_case(masked[i / 6], NORMALIZATION_LAYERNORM, (NormPlace)(i / 3 % 2), depth);
        spec.mask = (Mask)(MASK_PSEUDO_CAUSAL + i % 3);
        visit(&spec, context);
    }
}

void norm_describe(char what[NORM_PLACE], const CaseSpec *spec)
{
    snprintf(what, NORM_PLACE, "%s %s %s mask %d linear %d d_head %zu bias %d%s",
             construction_names[spec->construction],
             spec->norm == NORMALIZATION_LAYERNORM ? "layernorm" : "rmsnorm",
             spec->norm_place == NORM_PRE ? "pre" : "post", (int)spec->mask, (int)spec->linear,
             spec->d_head, (int)spec->bias, spec->norm_tokens_only ? " tokens only" : "");
}
