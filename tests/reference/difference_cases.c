/*
 * Cases whose difference e = r(T') - r(T_infinity) is evaluated as it is.
 */
#include "difference_cases.h"

#include "../../cases/activation.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>

CaseSpec difference_case(Construction construction, size_t depth)
{
    return (CaseSpec){.construction = construction,
                      .n = 5,
                      .d = 4,
                      .d_ff = 6,
                      .heads = 2,
                      .depth = depth,
                      .seed = SEED,
                      .slope = 1000,
                      .gelu = GELU_TWO};
}

CaseSpec difference_variant(Construction construction, size_t depth, int variant)
{
    CaseSpec spec = difference_case(construction, depth);
    spec.mask = (Mask)(variant & 1);
    spec.bias = (Bias)(variant >> 1 & 1);
    spec.bias_row_content = (BiasRowContent)(variant >> 2 & 1);
    spec.d_head = variant % 3 == 1 ? 2 : 0;
    spec.linear = (Linear)(variant % 3);
    spec.activation = (Activation)(variant / 8);
    if (spec.activation == ACTIVATION_GELU_NEW) {
        spec.gelu = gelu_of_terms((size_t)(variant % 3 + 2));
    }
    spec.n = variant == 10 ? 1 : spec.n;
    return spec;
}

CaseSpec difference_gated(int variant)
{
    static const Activation acts[] = {ACTIVATION_SILU, ACTIVATION_NONE, ACTIVATION_SIGMOID,
                                      ACTIVATION_GELU, ACTIVATION_RELU};
    Construction construction = variant & 1 ? CONSTRUCTION_TRANSFORMER : CONSTRUCTION_FUSED;
    CaseSpec spec = difference_variant(construction, 2, (variant * 7) % 8);
    spec.ffn = FFN_GATED;
    spec.activation = acts[variant % 5];
    spec.readout = (size_t)(variant % 3 + 1);
    spec.tau = variant % 4 == 3 ? 1 : ldexp(1, -5 * (variant % 4));
    spec.seed = (uint64_t)variant;
    return spec;
}

CaseSpec difference_damaged(Construction construction, int variant)
{
    static const double dropouts[] = {0.1, 0.3, 0};
    CaseSpec spec = difference_variant(construction, 2, variant);
    spec.dropout = dropouts[variant % 3];
    spec.drop_entry = spec.dropout > 0 ? 0 : 1;
    return spec;
}

void difference_describe(char what[PLACE], const CaseSpec *s, double omega)
{
    snprintf(what, PLACE,
             "%s n %zu d_head %zu linear %d activation %d weights %d seed %d bias %d mask %d "
             "content %d omega %g",
             construction_names[s->construction], s->n, s->d_head, (int)s->linear,
             (int)s->activation, (int)s->weights, (int)s->seed, (int)s->bias, (int)s->mask,
             (int)s->bias_row_content, omega);
}
