/*
 * The texts of columns: composed for errors and axes, written here for the others.
 */

#include "../point/axes.h"
#include "columns.h"

#include <fnmatch.h>
#include <string.h>

/* command: whose table, or NULL: any.  A * in a name stands for whatever may be there. */
typedef struct {
    const char *command, *name, *unit, *meaning;
} Said;

#define ABSOLUTE "as the stream"
#define SCALAR(name, column, unit, meaning)                                                        \
    {                                                                                              \
        NULL, column, unit, meaning                                                                \
    }
#define FORM ", in that form"

static const Said said[] = {
    {NULL, OPTIONS_COLUMN, "words", "`axis=value` of other axes that are not at their default"},
    {"attribute", LAYER_COLUMN, "integer", "the layer of the head, from 1; blank: in no layer"},
    {"guarantee", LAYER_COLUMN, "integer", "the layer, from 1, behind which the bounds hold"},
    {NULL, LAYER_COLUMN, "integer", "the layer, from 1, after which the row was compared"},
    {NULL, BOUNDS_COLUMN, "words", "the row's columns whose cells are only upper bounds, with `;`"},
    {NULL, "identical", "share", "numbers in which m(T′) and m(T) agree bit by bit, of all"},
    REF_SCALARS(SCALAR),
    {NULL, "precision_bits", "bits", "precision of the reference's r(T), r(T∞) and r(T′)"},
    {NULL, "difference_bits", "bits",
     "precision of the difference r(T′) − r(T∞); blank: two evaluations were subtracted"},
    {NULL, "construction_injected_max", ABSOLUTE,
     "largest entry of the error that a finite Ω adds in this layer alone; `--propagation`"},
    {NULL, "construction_inherited_max", ABSOLUTE,
     "largest entry of the incoming construction error behind a layer without error"},
    {NULL, "*_injected_log10", "log10", "of the column that ends in `_max`"},
    {NULL, "*_inherited_log10", "log10", "of the column that ends in `_max`"},
    {NULL, "*_gain", "quotient", "inherited over the error that comes in"},
    {NULL, "rounding_injected_max", ABSOLUTE,
     "largest entry of the error that the machine adds in this layer alone; `--propagation`"},
    {NULL, "rounding_inherited_max", ABSOLUTE,
     "largest entry of the incoming rounding error behind a layer without error"},

    {"growth", "seed", "integer",
     "with `--check`: the seed of the row that is held against the law"},
    {"growth", "norm", "word", "how the error is measured: `max`, `rms` or `rel`"},
    {"growth", "kind", "word", "which of the six errors; of searches `omega_min`, `omega_proven`"},
    {"growth", "axis", "word",
     "the axis along which the error grows: `omega`, `tau`, `n`, `d`, `depth` or `layer`"},
    {"growth", "law", "word",
     "`power`, `exponential`, `arm-left`, `floor`, `arm-right`, `zero` (proven), `none`; of "
     "searches "
     "`logarithm`, `linear`"},
    {"growth", "why", "word",
     "of `none`: `few-points`, `residual`, `bound` or `zero`; `either`: a power and an exponential "
     "both fit; else blank"},
    {"growth", "from", "number", "the smallest size that the law was fitted to"},
    {"growth", "to", "number", "the largest"},
    {"growth", "points", "integer", "sizes that it was fitted to, each by its median over seeds"},
    {"growth", "seeds", "integer", "seeds and inputs of a point, at most; blank of searches"},
    {"growth", "censored", "integer",
     "cells of the series that are no value: 0, bounds, not finite, of `vacuous` rows"},
    {"growth", "constant", "log10",
     "of the error where x^slope or e^(slope x) is 1; of searches the formula's constant, an Ω"},
    {"growth", "slope", "number",
     "the exponent of x^slope, the rate of e^(slope x), or the factor of ln x or x in a formula"},
    {"growth", "slope_error", "number", "its standard error"},
    {"growth", "end_slope", "number",
     "the slope through the larger half of the points alone, three at least; blank of searches"},
    {"growth", "residual", "log10", "root mean square of the medians' distances from the law"},
    {"growth", "residual_max", "log10", "the largest of them"},
    {"growth", "other_residual", "log10",
     "`residual` of an exponential in place of a power, or back"},
    {"growth", "seeds_below", "log10", "the largest distance of a smallest seed from its median"},
    {"growth", "seeds_above", "log10", "the largest distance of a largest seed from its median"},
    {"growth", "theory_least", "number", "the smallest slope that theory expects"},
    {"growth", "theory_most", "number", "the largest"},
    {"growth", "theory", "word", "the slope is `below` that, `agrees`, or is `above`"},
    {"growth", "at", "number",
     "with `--check` the size of a row held against the law; with `--predict` one asked"},
    {"growth", "low_log10", "log10", "the lower end of the band there"},
    {"growth", "predicted_log10", "log10", "the error that the law expects there"},
    {"growth", "high_log10", "log10", "the upper end of the band"},
    {"growth", "measured_log10", "log10", "the error of the row"},
    {"growth", "status", "word", "`ok`; `none`: no law; `fail`: the row is outside the band"},
    {"min-omega", "seed", "integers", "the seeds that were searched together, as `1:5`"},
    {"guarantee", "omega", "number", "the Ω, given by `--omega`, or the smallest that is proven"},
    {"guarantee", "status", "word",
     "`ok`; `fail`: above the tolerance; `none`: no Ω meets it, and the row is at the largest"},
    {"guarantee", "input_norm", ABSOLUTE, "no row of X is longer, in the 2-norm"},
    {"guarantee", "rows", ABSOLUTE, "no token's row of T∞ is longer"},
    {"guarantee", "scores", "number",
     "no score of the layer's attention is larger, Ω apart; blank without attention"},
    {"guarantee", "bias_row", ABSOLUTE, "the bias row of r(T′) is no longer"},
    {"guarantee", "gain", "quotient",
     "an error before the layer is at most so many times as large behind it"},
    {"guarantee", "zero_leak_omega", "number",
     "from this Ω on no bit of m(T′) depends on Ω, in that arithmetic and with `--penalty "
     "negative`; "
     "`none`: proven of no Ω"},
    {"guarantee", "leak", ABSOLUTE, "the layer adds no larger error"},
    {"guarantee", "error", ABSOLUTE, "no token's row of r(T′) − r(T∞) is longer, for any input"},
    {"guarantee", "error_log10", "log10", "of `error`"},
    {"guarantee", "logit_error", "as logits",
     "no logit is off by more, for any input; in the last layer's row"},
    {"guarantee", "logit_error_log10", "log10", "of `logit_error`"},
    {"guarantee", "tau_error", ABSOLUTE,
     "no token's row of r(T∞) − r(T) is longer as far as τ makes it; blank without τ"},
    {"guarantee", "logit_tau_error", "as logits",
     "no logit of r(T∞) − r(T) is off by more as far as τ makes it"},
    {"guarantee", "from_sublayer", "integer",
     "the sublayer of T′, from 1, that the largest part of `error` is from"},
    {"guarantee", "from_term", "word",
     "the cause of that part: `attention`, `other-tokens`, `bias-row` or `biases`"},
    {"min-omega", "positions", "words",
     "whose logits are judged, as `--positions` has them, with `;`; blank: streams are, of all"},
    {"min-omega", "status", "word", "`ok`, or `none`: no Ω evaluated meets the tolerance"},
    {NULL, "status", "word", "`ok`, `unresolved`, `vacuous`, `fail`, `overflow` or `error`"},
    {NULL, "omega_below", "number",
     "the largest Ω below the interval, evaluated; it fails. With `--over tau` this and others are "
     "of τ: `tau_below`, `tau_min`, `tau_max`, `tau_above`, `tau_best`"},
    {NULL, "omega_min", "number", "the smallest Ω of the interval"},
    {NULL, "error_below", ABSOLUTE, "the judged error at `omega_below`"},
    {NULL, "error_min", ABSOLUTE, "the judged error at `omega_min`"},
    {NULL, "omega_max", "number", "the largest Ω of the interval"},
    {NULL, "omega_above", "number", "the smallest Ω above the interval, evaluated; it fails"},
    {NULL, "omega_proven", "number",
     "with `--every-input`, the smallest Ω that is proven for every input, or `none`"},
    {NULL, "omega_best", "number", "the Ω with the smallest judged error of all evaluated"},
    {NULL, "best_error", ABSOLUTE, "the judged error there"},
    {NULL, "floor", ABSOLUTE, "the original's own error in this arithmetic"},
    {NULL, "seed_rule", "number", "the Ω that the posts ask for: ln(N/tolerance)"},
    {NULL, "seed_scores", "number", "the largest score; the posts ask for a larger Ω"},
    {NULL, "evaluations", "integer", "the number of Ω, or τ, evaluated, at most 200"},
    {NULL, "evaluations_inside", "integer",
     "the number of Ω evaluated in the interval; all meet the tolerance"},
    {NULL, "unfinished", "words",
     "the parts that the search left open: `min`, `max`, `inside`; blank: none"},

    {NULL, "model", "path", "the weights file"},
    {NULL, "inputs", "integer", "how many inputs the row is the worst of"},
    {"verify", "input", "integer", "the input of a position, from 1; blank: a layer's row"},
    {NULL, "position", "integer", "the position in it, from 1, whose errors and logits these are"},
    {NULL, "token", "integer", "the token there"},
    {NULL, "judged_log2", "log2", "the judged error, of the worst input; of the stream"},
    {NULL, "worst_input", "integer", "the input where the judged error is largest, from 1"},
    {NULL, "logit_error", "logits", "the largest error of a logit; last layer alone"},
    {NULL, "logit_margin", "logits", "the smallest distance from a prediction to the second"},
    {NULL, "safety_factor", "quotient", "margin over error: how much larger the error may be"},
    {NULL, "predictions_changed", "integer", "positions whose prediction m(T′) changes"},
    {NULL, "prediction", "integer", "the class that r(T) predicts there, from 0"},
    {NULL, "machine_prediction", "integer", "the class that m(T′) predicts there"},
    {NULL, "loss_*", "nats",
     "the next token's loss by r(T), r(T′), m(T′), m(T); in a layer's row the mean over positions"},
    {NULL, "kl_*_max", "nats", "the largest of these over positions; last layer alone"},
    {NULL, "kl_*", "nats",
     "KL divergence of r(T′), m(T′), m(T) from r(T); in a layer's row the mean over positions"},

    {"attribute", "input", "integer", "the input, from 1"},
    {"attribute", "tokens", "integers", "the input's tokens"},
    {"attribute", "logit", "integer", "the logit, from 0"},
    {"attribute", "kind", "word", "`direct`, `external`, `internal`, `bias`; `logit`: the sum"},
    {"attribute", "sublayer", "integer", "the sublayer of the layer, from 1"},
    {"attribute", "head", "integer", "the head of the sublayer, from 0; with `--by head`"},
    {"attribute", "source", "integer", "the token that is read, from 0, or `bias_row`"},
    {"attribute", "contribution", "logits", "the term; on a `logit` line the logit itself"},
    {"attribute", "centred", "logits", "the same less the mean over all logits"},
    {"attribute", "residual", "logits", "the sum of the terms less the logit, on its line"},
    {"attribute", "bound", "logits", "the proven limit of `residual`"},

    {NULL, "preset", "word", "the known model that the sizes are of"},
    {NULL, "original_sublayers", "integer", "sublayers of a layer of T"},
    {NULL, "converted_sublayers", "integer", "sublayers of a layer of T′"},
    {NULL, "converted_rows", "integer", "rows of T′'s stream, the bias row among them"},
    {NULL, "original_width", "integer", "columns of T's stream"},
    {NULL, "converted_width", "integer", "columns of T′'s stream"},
    {NULL, "width_ratio", "quotient", "T′'s width over T's"},
    {NULL, "original_heads", "integer", "attention heads of a layer of T"},
    {NULL, "external_heads", "integer", "heads of a layer of T′ that compare tokens"},
    {NULL, "internal_heads", "integer", "heads of a layer of T′ that stand for a network's part"},
    {NULL, "internal_per_external", "quotient", "internal heads over external ones"},
    {NULL, "external_head_share", "share", "external heads of all of T′"},
    {NULL, "internal_head_share", "share", "internal heads of all of T′"},
    {NULL, "sublayer_heads", "integers", "heads of each sublayer of T′, with `;`"},
    {NULL, "sublayer_score_ranks", "integers", "the largest rank of Q in each"},
    {NULL, "sublayer_value_ranks", "integers", "the largest rank of V in each, before it is split"},
    {NULL, "attention_parameters", "integer", "numbers in the heads of all layers"},
    {NULL, "network_parameters", "integer", "numbers in the networks of all layers"},
    {NULL, "norm_parameters", "integer", "numbers in the layer norms, the final one's too"},
    {NULL, "embedding_parameters", "integer", "numbers that no construction touches"},
    {NULL, "network_share", "share", "the networks' numbers of those of all layers"},
    {NULL, "attention_share_of_all", "share", "attention's, embeddings counted"},
    {NULL, "network_share_of_all", "share", "the same, embeddings counted"},
    {NULL, "full_entries", "integer", "entries of T′'s Q and V as full matrices"},
    {NULL, "*_original_flops", "flops", "of T's matrix products, all layers" FORM},
    {NULL, "*_converted_flops", "flops", "of T′'s matrix products, all layers" FORM},
    {NULL, "*_flops_ratio", "quotient", "T′'s over T's" FORM},
    {NULL, "*_original_exponentials", "integer", "values of exp that T takes" FORM},
    {NULL, "*_converted_exponentials", "integer", "values of exp that T′ takes" FORM},
    {NULL, "*_original_seconds", "s", "a pass of T, with `--measure`" FORM},
    {NULL, "*_converted_seconds", "s", "a pass of T′, with `--measure`" FORM},
    {NULL, "*_slowdown", "quotient", "T′'s seconds over T's, with `--measure`" FORM},
};

static const char *const errors[ERROR_KINDS] = {
    [ERROR_APPROXIMATION] = "approximation, r(T∞) − r(T)",
    [ERROR_CONSTRUCTION] = "construction, r(T′) − r(T∞)",
    [ERROR_ROUNDING] = "rounding, m(T′) − r(T′)",
    [ERROR_NATIVE] = "native, m(T) − r(T)",
    [ERROR_TOTAL] = "total, m(T′) − r(T)",
    [ERROR_OBSERVED] = "observed, m(T′) − m(T)",
};
static const char *const norms[NORM_COUNT] = {
    [NORM_MAX] = "largest entry",
    [NORM_RMS] = "root mean square",
    [NORM_REL] = "Frobenius norm over r(T)'s",
};
static const char *const units[] = {
    [UNIT_ABSOLUTE] = ABSOLUTE,
    [UNIT_RELATIVE] = "of r(T)",
    [UNIT_ULP] = "ulp of r(T)'s largest",
    [UNIT_LOG10] = "log10",
};

static const Said *find_said(const char *command, const char *name)
{
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        bool its = said[i].command == NULL || strcmp(said[i].command, command) == 0;
        if (its && fnmatch(said[i].name, name, 0) == 0) {
            return &said[i];
        }
    }
    return NULL;
}

/* meaning: taken. */
static json_t *text_of(const char *name, const char *unit, json_t *meaning)
{
    return json_pack("{s:s, s:s, s:o}", "name", name, "unit", unit, "meaning", meaning);
}

/* A column of one of the six errors, whatever its norm and unit; NULL: it is none. */
static json_t *error_text(const char *name)
{
    const Column *column = column_find(name);
    for (size_t i = 0; column != NULL && i < ERROR_KINDS * (size_t)NORM_COUNT; i++) {
        ErrorKind kind = (ErrorKind)(i / NORM_COUNT);
        Norm norm = (Norm)(i % NORM_COUNT);
        if (column_is_size(column) && column->cell == column_of_error(kind, norm)->cell) {
            return text_of(name, units[column->unit],
                           json_sprintf("%s: its %s", errors[kind], norms[norm]));
        }
    }
    return NULL;
}

json_t *column_text(const char *command, const char *name)
{
    static const char *const kinds[] = {
        [DOMAIN_WORDS] = "word", [DOMAIN_INTEGER] = "integer", [DOMAIN_POSITIVE] = "number"};
    const Said *own = find_said(command, name);
    json_t *error = own == NULL ? error_text(name) : NULL;
    Axis axis = column_axis(name);
    if (own != NULL || error != NULL) {
        return error != NULL ? error : text_of(name, own->unit, json_string(own->meaning));
    }
    if (axis == AXIS_COUNT) {
        return text_of(name, "", json_string(""));
    }
    const AxisInfo *info = axis_info(axis);
    const Domain *domain = &info->domain;
    bool either = domain->kind == DOMAIN_INTEGER && domain->word_count > 1;
    const char *unit = domain->paths ? "word or path"
                       : either      ? "word or integer"
                                     : kinds[domain->kind];
    return text_of(name, unit, json_sprintf("`--%s`: %s", info->name, info->help));
}
