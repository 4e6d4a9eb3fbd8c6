/*
 * Activations as sums of gated terms: which slopes, shifts and weights imitate which.
 */
#include "activation.h"

#include <math.h>

const char *const activation_names[ACTIVATION_COUNT] = {
    [ACTIVATION_SILU] = "silu",       [ACTIVATION_RELU] = "relu",
    [ACTIVATION_GELU] = "gelu",       [ACTIVATION_GELU_NEW] = "gelu_new",
    [ACTIVATION_SIGMOID] = "sigmoid", [ACTIVATION_NONE] = "none",
};

/* Of one term x sigma(g x), whatever g is. */
#define SINGLE_SWING 0.59983934978420728

/* x Phi(x), by K = 1, ..., 8 terms. */
static const ShiftedTerms erf_terms[GELU_TERMS_MOST] = {
    {1.7729, {0}, {0}, SINGLE_SWING},
    {2.211650960743, {1.3099057684290702}, {549755813888}, 0.63289550270550998},
    {2.509861819144, {2.602598846808862}, {246942543959}, 0.63669258531915718},
    {2.740686568247,
     {1.2509973575666027, 3.767116261912345},
     {432861893960, 116893919928},
     0.62952803503726162},
    {2.931990782247,
     {2.389199817809927, 4.822710894534393},
     {269071202944, 59644807418},
     0.62607858918825421},
    {3.096765758287,
     {1.149431807289822, 3.41975605321891, 5.794088739432295},
     {353741031202, 163609123643, 32405659043},
     0.6298743348993523},
    {3.241943530602,
     {2.1934809700906754, 4.3654713551565845, 6.698237858537302},
     {253528474345, 100858494987, 18492938129},
     0.62984329690266705},
    {3.373156460975,
     {1.0599699958324384, 3.1418455731836135, 5.243582967513871, 7.549421643141777},
     {299390515471, 175687655461, 63671315890, 11006327066},
     0.62819586455697984},
};

/* Its form with tanh. */
static const ShiftedTerms tanh_terms[GELU_TERMS_MOST] = {
    {1.774496215925, {0}, {0}, SINGLE_SWING},
    {2.221170335581, {1.325436826138774}, {549755813888}, 0.63369854860196329},
    {2.538477767509, {2.670395947293014}, {245108134634}, 0.63776209748041568},
    {2.794966414323,
     {1.2902638727756208, 3.8990428619569784},
     {432903618988, 116852194900},
     0.62987743143573249},
    {3.014986056198,
     {2.4812727509004215, 5.018176373385229},
     {267681749364, 61131234879},
     0.62547851760102036},
    {3.209790570281,
     {1.2008877586434665, 3.5701818555757754, 6.050288062113937},
     {351798920092, 163499208900, 34457684896},
     0.63022023599929333},
    {3.385368070583,
     {2.301774282737977, 4.576483526654558, 7.012869209817888},
     {251263429191, 102356164756, 20526023215},
     0.63037329966267563},
    {3.541881530705,
     {1.11502986871896, 3.296966880632965, 5.495732263768215, 7.895009626603574},
     {295653827064, 174711504882, 66474927973, 12915553969},
     0.62815832867502275},
};

static const ActivationInfo activations[ACTIVATION_COUNT] = {
    [ACTIVATION_SILU] = {.exact = true},        [ACTIVATION_RELU] = {.exact = false},
    [ACTIVATION_GELU] = {.shifted = erf_terms}, [ACTIVATION_GELU_NEW] = {.shifted = tanh_terms},
    [ACTIVATION_SIGMOID] = {.exact = true},     [ACTIVATION_NONE] = {.exact = false},
};

const ActivationInfo *activation_info(Activation activation)
{
    return &activations[activation];
}

GeluForm gelu_of_terms(size_t K)
{
    return K == 1 ? GELU_MINIMAX : (GeluForm)(GELU_SHIFTED_2 + (K - 2));
}

size_t gelu_terms(GeluForm form)
{
    return (size_t)(form - GELU_SHIFTED_2) + 2;
}

/* x = sum of c_j (2/tau_j) tanh(tau_j x/2) but for x^(2K + 1) and what is smaller: Richardson's
 * coefficients 1; 4/3, -1/3; 64/45, -20/45, 1/45 in multiples of 2^-50, of sum 1. */
ReadoutPair readout_pair(const CaseSpec *spec, size_t j)
{
    static const double coefficients[READOUT_MOST][READOUT_MOST] = {
        {1},
        {0x1.5555555555554p+0, -0x1.5555555555550p-2},
        {0x1.6c16c16c16c18p+0, -0x1.c71c71c71c720p-2, 0x1.6c16c16c16c00p-6}};
    double tau = ldexp(spec->tau > 0 ? spec->tau : TAU_STANDARD, (int)j);
    return (ReadoutPair){tau, 2 * coefficients[readout_pairs(spec) - 1][j] / tau};
}

size_t readout_pairs(const CaseSpec *spec)
{
    return spec->readout > 0 ? spec->readout : 1;
}

/* K terms.  Weights are below 2^40, so that every value is a double. */
static Terms shifted_terms(const ShiftedTerms *shifted, size_t K)
{
    const double unit = 0x1p-40;
    Terms terms = {.swing = shifted->swing};
    long rest = 1L << 40;
    for (size_t p = 0; p < K / 2; p++) {
        double value = (double)shifted->weight[p] * unit;
        terms.term[terms.count++] = (Term){shifted->gate, shifted->shift[p], value};
        terms.term[terms.count++] = (Term){shifted->gate, -shifted->shift[p], value};
        rest -= 2 * shifted->weight[p];
    }
    if (rest > 0) {
        terms.term[terms.count++] = (Term){shifted->gate, 0, (double)rest * unit};
    }
    return terms;
}

/* Two terms a SiLU(b x) with v = a b.  v1 lies in [1, 2), so 1 - v1 is exact. */
static Terms two_terms(void)
{
    const double v1 = 0.9103671936 * 2.15006383;
    return (Terms){2, 0.62857665688496411, {{2.15006383, 0, v1}, {2.95015679, 0, 1 - v1}}};
}

/* A term v x sigma(g x) has gate g and value v; x sigma(g x) is SiLU(g x)/g. */
Terms activation_terms(const CaseSpec *spec)
{
    const ShiftedTerms *shifted = activations[spec->activation].shifted;
    if (shifted == NULL) {
        bool relu = spec->activation == ACTIVATION_RELU;
        return (Terms){1, SINGLE_SWING, {{relu ? spec->slope : 1, 0, 1}}};
    }
    switch (spec->gelu) {
    case GELU_SIGMOID: return (Terms){1, SINGLE_SWING, {{1.702, 0, 1}}};
    case GELU_MINIMAX: return shifted_terms(&shifted[0], 1);
    case GELU_TWO: return two_terms();
    default: {
        size_t K = gelu_terms(spec->gelu);
        return shifted_terms(&shifted[K - 1], K);
    }
    }
}
