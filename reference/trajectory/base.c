/*
 * The base trajectory: r(T), and of r(T_infinity) what was asked for, after every layer.
 */
#include "base.h"

#include "../../memory/need.h"
#include "../run/run.h"
#include "../zeros/proof.h"

#include <math.h>
#include <stdlib.h>

/* out = the token rows and given columns of the run's stream. */
static void store(ApMat *out, const RefRun *run, Columns columns, mpfr_prec_t bits)
{
    const Layout *layout = &run->model->layout;
    ap_init(out, layout->n, columns.count, bits);
    for (size_t i = 0; i < layout->n; i++) {
        lanes_set(ap_at(out, i, 0), ref_run_entry(run, layout_token_row(layout, i), columns.first),
                  columns.count);
    }
}

/* out = the radii of the same. */
static void store_radii(ApMat *out, const RefRun *run, Columns columns)
{
    const Layout *layout = &run->model->layout;
    ap_init(out, layout->n, 1, REF_CELL_BITS);
    for (size_t i = 0; i < layout->n; i++) {
        const RefBlock row = {layout_token_row(layout, i), 1, columns};
        ref_run_radius(run, RADIUS_STREAM, row, (RefRadii){ap_at(out, i, 0), NULL});
    }
}

static bool model_has_scores(const Model *model)
{
    for (size_t s = 0; s < model->sublayer_count; s++) {
        if (model->sublayers[s].bundle_count > 0) {
            return true;
        }
    }
    return false;
}

/* The next layer of a run, l + 1: r(T)'s, or r(T_infinity)'s, into its streams and radii.  false:
 * it cannot be had. */
static bool make_layer(RefBase *base, RefRun *run, const Pair *pair, bool limit, size_t l)
{
    Columns columns = pair->compared[l];
    if (!model_enter(run->model, l)) {
        return false;
    }
    ref_run_layer(run);
    model_leave(run->model, l);
    store(limit ? &base->limit[l] : &base->original[l], run, columns, base->bits);
    store_radii(limit ? &base->limit_radius[l] : &base->radius[l], run, columns);
    return true;
}

/* What is 0 by the data alone.  false: a layer cannot be had. */
static bool base_init(RefBase *base, const Pair *pair, RefLimit limit)
{
    base->depth = pair->original.depth;
    base->has_scores = model_has_scores(&pair->original);
    base->original = need_zeros(base->depth, sizeof *base->original);
    base->limit = limit == REF_LIMIT_NONE ? NULL : need_zeros(base->depth, sizeof *base->limit);
    base->tape = limit == REF_LIMIT_TAPE ? tape_open(&pair->converted, base->bits) : NULL;
    base->radius = need_zeros(base->depth, sizeof *base->radius);
    base->limit_radius = need_zeros(base->depth, sizeof *base->limit_radius);
    ap_init(&base->score_off, 1, base->depth, REF_CELL_BITS);
    ap_init(&base->score_max, 1, base->depth, REF_CELL_BITS);
    base->proof = proof_make(pair);
    return base->proof != NULL;
}

/* A run of the base, with radii. */
static RefRun *certified_run(const Start *start, const RefBase *base, Tape *kept)
{
    const RunOptions options = {.weights = base->weights, .coarse = base->coarse, .kept = kept};
    RefRun *run = run_open(start, base->bits, &options);
    ref_run_certify(run);
    return run;
}

RefBase *ref_base_make(const Pair *pair, mpfr_prec_t bits, RefLimit limit,
                       const RefBaseOptions *options)
{
    const RefBaseOptions none = {0}, *with = options != NULL ? options : &none;
    RefBase *base = need_zeros(1, sizeof *base);
    base->bits = bits;
    base->weights = with->weights;
    base->coarse = with->coarse;
    if (!base_init(base, pair, limit)) {
        ref_base_clear(base);
        return NULL;
    }
    const Start original = {&pair->original, pair->original_x, NULL, INFINITY},
                limited = pair_start(pair, INFINITY);
    bool ok = true;
    RefRun *run = certified_run(&original, base, NULL);
    for (size_t l = 0; l < base->depth && ok; l++) {
        ok = make_layer(base, run, pair, false, l);
        mpfr_set(ap_at(&base->score_max, 0, l), ref_run_score_max(run), MPFR_RNDN);
        ref_run_score_radius(run, ap_at(&base->score_off, 0, l));
    }
    ref_run_clear(run);
    bool lost = with->most_lost > 0 && ok && ref_base_lost(base) > with->most_lost;
    if (limit != REF_LIMIT_NONE && !lost) {
        run = certified_run(&limited, base, base->tape);
        for (size_t l = 0; l < base->depth && ok; l++) {
            ok = make_layer(base, run, pair, true, l);
        }
        ref_run_clear(run);
    }
    if (!ok) {
        ref_base_clear(base);
        return NULL;
    }
    return base;
}

RefWeights *ref_weights_make(double bytes)
{
    RefWeights *weights = need_zeros(1, sizeof *weights);
    weights->norms = norm_table_make();
    weights->packed = bytes > 0 ? product_weights_make(bytes) : NULL;
    return weights;
}

void ref_weights_clear(RefWeights *weights)
{
    if (weights != NULL) {
        norm_table_clear(weights->norms);
        product_weights_clear(weights->packed);
        free(weights);
    }
}

void ref_weights_drop(RefWeights *weights, RefWeightsGo *goes, void *context)
{
    if (weights->packed != NULL) {
        product_weights_drop(weights->packed, goes, context);
    }
}

static double stream_lost(const ApMat *stream, const ApMat *radius, mpfr_prec_t bits)
{
    double lost = 0, size = (double)ap_exponent(stream->entry, stream->rows * stream->columns);
    for (size_t i = 0; i < radius->rows; i++) {
        mpfr_srcptr own = ap_at(radius, i, 0);
        double off = mpfr_regular_p(own) ? (double)mpfr_get_exp(own)
                     : mpfr_zero_p(own)  ? -INFINITY
                                         : INFINITY;
        lost = fmax(lost, off - size + (double)bits);
    }
    return lost;
}

double ref_base_lost(const RefBase *base)
{
    double lost = 0;
    for (size_t l = 0; l < base->depth; l++) {
        lost = fmax(lost, stream_lost(&base->original[l], &base->radius[l], base->bits));
        if (base->limit != NULL && base->limit[l].rows > 0) {
            lost = fmax(lost, stream_lost(&base->limit[l], &base->limit_radius[l], base->bits));
        }
    }
    return lost;
}

void ref_base_clear(RefBase *base)
{
    if (base == NULL) {
        return;
    }
    for (size_t l = 0; l < base->depth; l++) {
        ap_clear(&base->original[l]);
        if (base->limit != NULL) {
            ap_clear(&base->limit[l]);
        }
        ap_clear(&base->radius[l]);
        ap_clear(&base->limit_radius[l]);
    }
    ap_clear(&base->score_max);
    ap_clear(&base->score_off);
    tape_clear(base->tape);
    proof_clear(base->proof);
    free(base->original);
    free(base->limit);
    free(base->radius);
    free(base->limit_radius);
    free(base);
}

mpfr_prec_t ref_base_bits(const RefBase *base)
{
    return base->bits;
}

mpfr_srcptr ref_base_original(const RefBase *base, size_t layer, size_t i, size_t c)
{
    return ap_at(&base->original[layer - 1], i, c);
}

mpfr_srcptr ref_base_limit(const RefBase *base, size_t layer, size_t i, size_t c)
{
    return ap_at(&base->limit[layer - 1], i, c);
}

void ref_base_radius(mpfr_ptr radius, const RefBase *base, size_t layer)
{
    const ApMat *original = &base->radius[layer - 1];
    mpfr_set_zero(radius, 1);
    for (size_t i = 0; i < original->rows; i++) {
        mpfr_max(radius, radius, ap_at(original, i, 0), MPFR_RNDU);
        if (base->limit != NULL) {
            mpfr_max(radius, radius, ap_at(&base->limit_radius[layer - 1], i, 0), MPFR_RNDU);
        }
    }
}

mpfr_srcptr ref_base_score_max(const RefBase *base)
{
    mpfr_srcptr largest = ap_at(&base->score_max, 0, 0);
    for (size_t l = 1; l < base->depth; l++) {
        mpfr_srcptr score = ap_at(&base->score_max, 0, l);
        largest = (mpfr_cmp(score, largest) > 0) ? score : largest;
    }
    return base->has_scores ? largest : NULL;
}

double ref_base_bytes(const Pair *pair, mpfr_prec_t bits, RefLimit limit)
{
    double trajectories = limit == REF_LIMIT_NONE ? 1 : 2;
    double bytes = limit == REF_LIMIT_TAPE ? tape_bytes(&pair->converted, bits) : 0;
    for (size_t l = 0; l < pair->original.depth; l++) {
        bytes += trajectories *
                 ap_bytes((double)pair->original.layout.n, (double)pair->compared[l].count, bits);
    }
    return bytes;
}

RefRun *ref_difference_open(const Start *start, mpfr_prec_t bits, const RefBase *base)
{
    bool known = base != NULL && base->tape != NULL && base->bits == bits;
    const RunOptions options = {.difference = true,
                                .known = known ? base->tape : NULL,
                                .weights = base != NULL ? base->weights : NULL,
                                .coarse = base != NULL && base->coarse};
    return run_open(start, bits, &options);
}
