/*
 * Activations as sums of SiLU terms: which slopes and weights imitate SiLU, ReLU and GELU.
 */
#include "construct.h"

/* A term v x sigma(g x) has gate g and value v; x sigma(g x) is SiLU(g x)/g.  The terms of one
 * activation have values that sum to exactly 1, so that their error stays bounded (and in place
 * the residual connection is cancelled exactly). */
Terms activation_terms(const CaseSpec *spec)
{
    /* Two terms a SiLU(b x) with v = a b.  v1 lies in [1, 2), so 1 - v1 is exact. */
    const double v1 = 0.9103671936 * 2.15006383;
    if (spec->activation == ACTIVATION_RELU) {
        return (Terms){1, {{spec->slope, 1}}};
    }
    if (spec->activation == ACTIVATION_GELU) {
        switch (spec->gelu) {
        case GELU_SIGMOID: return (Terms){1, {{1.702, 1}}};
        case GELU_MINIMAX: return (Terms){1, {{1.7729, 1}}};
        default: return (Terms){2, {{2.15006383, v1}, {2.95015679, 1 - v1}}};
        }
    }
    return (Terms){1, {{1, 1}}};
}
