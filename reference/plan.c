/*
 * The precision plan: what a working precision of p bits will have lost, and how many bits hide
 * the construction error, both measured by a cheap pass at two low precisions.
 *
 * Determinism: the pass uses MPFR's correctly rounded exp in every build, and keeps whole
 * exponents only, so the plan (and with it every precision) is the same everywhere.
 */
#include "run.h"

#include "../cases/fault.h"

#include <math.h>
#include <stdlib.h>

/* An exponent beyond any that a stream can have, and far from MPFR's own limits. */
#define PLAN_UNKNOWN 0x1p40

enum { PLAN_LOW_BITS = 64, PLAN_HIGH_LIMIT = 1 << 14, PLAN_MARGIN = 16, PLAN_GUARD = 128 };

typedef struct {
    mpfr_exp_t loss; /* an entry at p bits is off by less than 2^(loss - p) */
    mpfr_exp_t size; /* exponent of the stream's largest entry */
    bool measured;
    double growth;               /* loss - size, or 0: bits lost relative to the stream */
    double gap[RUN_MAX_GAP + 1]; /* see RefRun, over all layers so far */
} LayerPlan;

struct RefPlan {
    size_t depth;
    LayerPlan *layers;
};

/* Exponent of the largest |entry| of the stream, and of the largest difference between two
 * runs of one model. */
static void compare_runs(const RefRun *low, const RefRun *high, mpfr_exp_t *difference,
                         mpfr_exp_t *size)
{
    mpfr_t d;
    mpfr_init2(d, 64);
    *difference = mpfr_get_emin();
    *size = mpfr_get_emin();
    for (size_t i = 0; i < high->stream.rows * high->stream.columns; i++) {
        mpfr_srcptr entry = high->stream.entry + i;
        mpfr_sub(d, low->stream.entry + i, entry, MPFR_RNDU);
        if (mpfr_regular_p(d) && mpfr_get_exp(d) > *difference) {
            *difference = mpfr_get_exp(d);
        }
        if (mpfr_regular_p(entry) && mpfr_get_exp(entry) > *size) {
            *size = mpfr_get_exp(entry);
        }
    }
    mpfr_clear(d);
}

/* One model at two precisions, folded into the plan.  *resolved becomes false when the low
 * precision lost the trajectory, so that the loss is not measured. */
static bool measure(RefPlan *plan, const Model *model, const double *x, const double *content,
                    mpfr_prec_t bits, bool *resolved)
{
    RefRun *low = run_open(model, x, content, INFINITY, bits, REF_STRUCTURED, true);
    RefRun *high = run_open(model, x, content, INFINITY, 2 * bits, REF_STRUCTURED, true);
    bool ok = low != NULL && high != NULL;
    for (size_t l = 0; ok && *resolved && l < plan->depth; l++) {
        LayerPlan *layer = &plan->layers[l];
        mpfr_exp_t difference, size;
        high->record_gaps = true;
        ref_run_layer(low);
        ref_run_layer(high);
        compare_runs(low, high, &difference, &size);
        mpfr_exp_t loss = difference + bits > size ? difference + bits : size;
        layer->measured = true;
        layer->loss = loss > layer->loss ? loss : layer->loss;
        layer->size = size > layer->size ? size : layer->size;
        layer->growth = layer->loss > layer->size ? (double)(layer->loss - layer->size) : 0;
        *resolved = layer->growth < (double)bits / 2;
        for (int k = 0; k <= RUN_MAX_GAP; k++) {
            layer->gap[k] = high->gap[k] > layer->gap[k] ? high->gap[k] : layer->gap[k];
        }
    }
    ref_run_clear(low);
    ref_run_clear(high);
    return ok;
}

static void plan_reset(RefPlan *plan)
{
    for (size_t l = 0; l < plan->depth; l++) {
        LayerPlan *layer = &plan->layers[l];
        *layer = (LayerPlan){.loss = mpfr_get_emin(), .size = mpfr_get_emin()};
        for (int k = 0; k <= RUN_MAX_GAP; k++) {
            layer->gap[k] = -INFINITY;
        }
    }
}

/* Chaos that no precision within reach follows: nothing is known from the first layer whose
 * growth was not measured, and every cell there becomes a bound. */
static void plan_give_up(RefPlan *plan)
{
    bool lost = false;
    for (size_t l = 0; l < plan->depth; l++) {
        LayerPlan *layer = &plan->layers[l];
        lost = lost || !layer->measured || layer->growth >= PLAN_HIGH_LIMIT / 2.0;
        if (lost) {
            layer->loss = (mpfr_exp_t)PLAN_UNKNOWN;
            layer->growth = PLAN_UNKNOWN;
        }
    }
}

RefPlan *ref_plan_make(const Pair *pair)
{
    RefPlan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        return NULL;
    }
    plan->depth = pair->converted.depth;
    plan->layers = calloc(plan->depth, sizeof *plan->layers);
    bool ok = plan->layers != NULL, resolved = false;
    for (mpfr_prec_t bits = PLAN_LOW_BITS; ok && !resolved && bits <= PLAN_HIGH_LIMIT; bits *= 2) {
        resolved = true;
        plan_reset(plan);
        ok = measure(plan, &pair->converted, pair->converted_x, pair->bias_row_content, bits,
                     &resolved);
        if (ok && !pair->limit_is_original) { /* else T has the same trajectory */
            ok = measure(plan, &pair->original, pair->original_x, NULL, bits, &resolved);
        }
    }
    if (!ok) {
        ref_plan_clear(plan);
        return NULL;
    }
    if (!resolved) {
        plan_give_up(plan);
    }
    return plan;
}

void ref_plan_clear(RefPlan *plan)
{
    if (plan != NULL) {
        free(plan->layers);
        free(plan);
    }
}

double ref_plan_bits(const RefPlan *plan, double omega, size_t layer)
{
    const double log2_e = 1.4426950408889634;
    double hidden = 0, growth = 0;
    for (size_t l = 0; l < layer; l++) {
        growth = plan->layers[l].growth > growth ? plan->layers[l].growth : growth;
    }
    for (int k = 1; omega > 0 && k <= RUN_MAX_GAP; k++) {
        double bits = k * omega * log2_e + plan->layers[layer - 1].gap[k];
        hidden = bits > hidden ? bits : hidden;
    }
    return 64 * ceil((hidden + growth + PLAN_GUARD) / 64);
}

mpfr_prec_t ref_plan_working_bits(const RefPlan *plan, double omega, long max_bits)
{
    const double omegas[2] = {0, omega};
    double most = 0;
    for (size_t layer = 1; layer <= plan->depth; layer++) {
        for (int i = 0; i < 2; i++) {
            double bits = ref_plan_bits(plan, omegas[i], layer);
            most = bits <= (double)max_bits && bits > most ? bits : most;
        }
    }
    return most > 0 ? (mpfr_prec_t)most : (mpfr_prec_t)max_bits;
}

mpfr_exp_t ref_plan_error(const RefPlan *plan, size_t layer, mpfr_prec_t bits)
{
    return plan->layers[layer - 1].loss + FAULT("a-priori-error-too-small", -64, PLAN_MARGIN) -
           bits;
}

mpfr_exp_t ref_plan_relative_error(const RefPlan *plan, size_t layer, mpfr_prec_t bits)
{
    return (mpfr_exp_t)plan->layers[layer - 1].growth + PLAN_MARGIN - bits;
}
