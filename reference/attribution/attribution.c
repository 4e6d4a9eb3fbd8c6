/*
 * Logits as exact sums over paths: which head at which layer wrote what, and a bound on the
 * rounding.
 */
#include "attribution.h"

#include "../../memory/need.h"
#include "attribution_internal.h"

#include "../evaluator/layer_norm.h"

#include <math.h>
#include <stdlib.h>

/* ---- Paths --------------------------------------------------------------------------------- */

static void add_path(RefPaths *paths, PathPlace place)
{
    place.offset = paths->width;
    paths->width += place.count;
    paths->items[paths->count++] = place;
}

/* The heads that read a product out of what the sublayer's gates put into hidden columns, or NULL:
 * those of the next one. */
static const Bundle *readout_of(const Model *model, size_t s)
{
    const Bundle *next = s + 1 < model->sublayer_count ? model->sublayers[s + 1].bundles : NULL;
    const Bundle *own = model->sublayers[s].bundles;
    bool reads = next != NULL && score_is_mixed(&next->score) && next->score.query.count > 0;
    return reads && score_by_gate(&own->score) ? next : NULL;
}

/* Adds the paths of head h: its value, its diagonal, its bias; readout: of readout_of. */
static void add_head(RefPaths *paths, const Bundle *bundle, RefPath path, size_t h,
                     const Bundle *readout)
{
    const Value *value = &bundle->value;
    Columns write = value->write;
    const double *o = value->o.data != NULL ? value->o.data + h * value->o.head_stride : NULL;
    PathPlace place = {path, PART_VALUE, bundle, h, value_width(value), o, value->o.ld, write, 0};
    if (value->unit != 0) {
        place.write = (Columns){write.first + h, 1};
    }
    if (readout != NULL) {
        place.part = PART_GATE;
        place.factor = readout->score.mix.data + h * readout->score.mix.ld;
        place.write = readout->value.write;
    } else if (value_is_sign(value)) {
        place.part = PART_READOUT;
        place.write = (Columns){write.first + h, 1};
    }
    if (place.count > 0) {
        add_path(paths, place);
    }
    if (value->diagonal != 0 && h == 0) {
        add_path(paths, (PathPlace){path, PART_DIAGONAL, bundle, h, value->read.count, NULL, 0,
                                    value->read, 0});
    }
    if (value->bias != NULL && h == 0) {
        path.kind = PATH_BIAS;
        path.head = 0;
        add_path(paths, (PathPlace){path, PART_BIAS, bundle, h, 1, value->bias, 0, write, 0});
    }
}

/* Of sublayer s; all pairs that read a column out are one path, the first pair's. */
static void add_sublayer(RefPaths *paths, size_t s, size_t layer, size_t number)
{
    const Sublayer *sublayer = &paths->model->sublayers[s];
    const Bundle *readout = readout_of(paths->model, s);
    size_t heads[PATH_KINDS] = {0};
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        bool mixed = score_is_mixed(&bundle->score);
        PathKind kind = score_by_key(&bundle->score) && !mixed ? PATH_EXTERNAL : PATH_INTERNAL;
        for (size_t h = 0; h < bundle->heads && !(mixed && b > 0); h++) {
            RefPath path = {kind, layer, number, heads[kind]++, false};
            add_head(paths, bundle, path, h, readout);
        }
    }
}

/* No model has more paths: of a head its value, of a bundle its diagonal and its bias, two of
 * none. */
static size_t paths_most(const Model *model)
{
    size_t most = 2;
    for (size_t s = 0; s < model->sublayer_count; s++) {
        for (size_t b = 0; b < model->sublayers[s].bundle_count; b++) {
            most += model->sublayers[s].bundles[b].heads + 2;
        }
    }
    return most;
}

/* In the order that the stream is made in. */
static void add_all(RefPaths *paths)
{
    const Model *model = paths->model;
    const RefUnembedding *u = &paths->unembedding;
    size_t s = 0;
    add_path(paths, (PathPlace){.path = {.kind = PATH_DIRECT, .single = true},
                                .part = PART_STREAM,
                                .count = u->d,
                                .write = {0, u->d}});
    for (size_t l = 0; l < model->depth; l++) {
        for (size_t first = s; s < model->layer_end[l]; s++) {
            paths->sublayer_first[s] = paths->count;
            add_sublayer(paths, s, l + 1, s - first + 1);
        }
    }
    paths->sublayer_first[s] = paths->count;
    if (u->b_u != NULL || u->norm.beta != NULL) {
        add_path(paths, (PathPlace){.path = {.kind = PATH_BIAS, .single = true},
                                    .part = PART_UNEMBEDDING,
                                    .count = 1});
    }
}

RefPaths *ref_paths_make(const Model *model, const RefUnembedding *unembedding)
{
    RefPaths *paths = need_zeros(1, sizeof *paths);
    paths->model = model;
    paths->unembedding = *unembedding;
    paths->sublayer_end = need_zeros(model->sublayer_count + 1, sizeof *paths->sublayer_end);
    paths->sublayer_first = need_zeros(model->sublayer_count + 1, sizeof *paths->sublayer_first);
    paths->items = need_zeros(paths_most(model), sizeof *paths->items);
    add_all(paths);
    paths->steps = *model;
    paths->steps.layer_end = paths->sublayer_end;
    paths->steps.depth = 0;
    for (size_t s = 0; s < model->sublayer_count; s++) {
        if (!model_goes_on(model, s)) {
            paths->sublayer_end[paths->steps.depth++] = s + 1;
        }
    }
    return paths;
}

void ref_paths_clear(RefPaths *paths)
{
    if (paths != NULL) {
        free(paths->items);
        free(paths->sublayer_end);
        free(paths->sublayer_first);
        free(paths);
    }
}

size_t ref_paths_count(const RefPaths *paths)
{
    return paths->count;
}

const RefPath *ref_path(const RefPaths *paths, size_t path)
{
    return &paths->items[path].path;
}

/* ---- What logits read ---------------------------------------------------------------------- */

/* reading[c] = column v of the unembedding, or the mean of all; c < content, 0 from d on. */
static void direction(ApMat *w, const RefUnembedding *u, size_t v)
{
    ap_zero(w);
    for (size_t c = 0; c < u->d; c++) {
        mpfr_ptr entry = ap_at(w, 0, c);
        if (v < u->classes) {
            mpfr_set_d(entry, *ref_unembedding_at(u, c, v), MPFR_RNDN);
            continue;
        }
        for (size_t k = 0; k < u->classes; k++) {
            mpfr_add_d(entry, entry, *ref_unembedding_at(u, c, k), MPFR_RNDN);
        }
        mpfr_div_ui(entry, entry, u->classes, MPFR_RNDN);
    }
}

/* u = gamma w - mean(gamma w), in place; beta_w = beta w. */
static void through_norm(ApMat *w, mpfr_ptr beta_w, const RefUnembedding *u)
{
    const LayerNorm *norm = &u->norm;
    mpfr_t t;
    mpfr_set_zero(beta_w, 1);
    if (norm->kind == NORMALIZATION_NONE) {
        return;
    }
    mpfr_init2(t, w->bits);
    for (size_t c = 0; c < u->d; c++) {
        mpfr_ptr entry = ap_at(w, 0, c);
        mpfr_mul_d(t, entry, norm->beta != NULL ? norm->beta[c] : 0, MPFR_RNDN);
        mpfr_add(beta_w, beta_w, t, MPFR_RNDN);
        mpfr_mul_d(entry, entry, norm->gamma[c], MPFR_RNDN);
    }
    norm_mean(t, norm, w->entry);
    for (size_t c = 0; c < u->d; c++) {
        mpfr_sub(ap_at(w, 0, c), ap_at(w, 0, c), t, MPFR_RNDN);
    }
    mpfr_clear(t);
}

/* b_v, or the mean of all, and beta_w. */
static void constant(mpfr_ptr b, const RefUnembedding *u, size_t v, mpfr_srcptr beta_w)
{
    mpfr_set_d(b, v < u->classes && u->b_u != NULL ? u->b_u[v] : 0, MPFR_RNDN);
    for (size_t k = 0; v == u->classes && u->b_u != NULL && k < u->classes; k++) {
        mpfr_add_d(b, b, u->b_u[k], MPFR_RNDN);
    }
    if (v == u->classes) {
        mpfr_div_ui(b, b, u->classes, MPFR_RNDN);
    }
    mpfr_add(b, b, beta_w, MPFR_RNDN);
}

/* t [1, 2]: scratch, and beta w. */
enum { READ_SCRATCH, READ_BETA, READ_TEMPS };

/* reading[r], r < the path's width: its second factor times w. */
static void read_path(mpfr_ptr reading, const PathPlace *place, const RefUnembedding *u, size_t v,
                      const ApMat *w, mpfr_ptr t)
{
    for (size_t r = 0; r < place->count; r++) {
        mpfr_ptr out = reading + r;
        if (place->part == PART_UNEMBEDDING) {
            constant(out, u, v, t + READ_BETA);
        } else if (place->factor == NULL) {
            mpfr_set(out, ap_at(w, 0, place->write.first + r), MPFR_RNDN);
        } else {
            mpfr_set_zero(out, 1);
            for (size_t c = 0; c < place->write.count; c++) {
                mpfr_mul_d(t, ap_at(w, 0, place->write.first + c), place->factor[r * place->ld + c],
                           MPFR_RNDN);
                mpfr_add(out, out, t, MPFR_RNDN);
            }
        }
    }
}

/* norm = |w|_1, rounded up. */
static void sum_absolutes(mpfr_ptr norm, const ApMat *w)
{
    mpfr_t t;
    mpfr_init2(t, 64);
    mpfr_set_zero(norm, 1);
    for (size_t c = 0; c < w->columns; c++) {
        mpfr_abs(t, ap_at(w, 0, c), MPFR_RNDU);
        mpfr_add(norm, norm, t, MPFR_RNDU);
    }
    mpfr_clear(t);
}

RefReadout *ref_readout_make(const RefPaths *paths, const size_t *logits, size_t count,
                             mpfr_prec_t bits)
{
    const RefUnembedding *u = &paths->unembedding;
    RefReadout *readout = need_zeros(1, sizeof *readout);
    ApMat w, t;
    mpfr_prec_t working = bits + ATTRIBUTION_BITS;
    ap_init(&readout->reading, count + 1, paths->width, working);
    ap_init(&readout->norm, 1, count + 1, 64);
    ap_init(&t, 1, READ_TEMPS, working);
    ap_init(&w, 1, layout_content(&paths->model->layout), working);
    for (size_t k = 0; k <= count; k++) {
        size_t v = k < count ? logits[k] : u->classes;
        direction(&w, u, v);
        through_norm(&w, t.entry + READ_BETA, u);
        sum_absolutes(ap_at(&readout->norm, 0, k), &w);
        for (size_t p = 0; p < paths->count; p++) {
            const PathPlace *place = &paths->items[p];
            read_path(ap_at(&readout->reading, k, place->offset), place, u, v, &w, t.entry);
        }
    }
    ap_clear(&w);
    ap_clear(&t);
    return readout;
}

void ref_readout_clear(RefReadout *readout)
{
    if (readout != NULL) {
        ap_clear(&readout->reading);
        ap_clear(&readout->norm);
        free(readout);
    }
}

double ref_readout_bytes(const RefPaths *paths, size_t count, mpfr_prec_t bits)
{
    return ap_bytes((double)count + 1, (double)paths->width, bits + ATTRIBUTION_BITS);
}

/* ---- Terms --------------------------------------------------------------------------------- */

void ref_term(mpfr_ptr term, mpfr_ptr centred, const RefWrites *writes, const RefReadout *readout,
              size_t path, size_t j, size_t k)
{
    const PathPlace *place = &writes->paths->items[path];
    size_t mean = readout->reading.rows - 1;
    mpfr_srcptr value = ap_at(&writes->value, j, place->offset);
    mpfr_t t, exact;
    mpfr_inits2(writes->value.bits, t, exact, (mpfr_ptr)0);
    ap_dot(exact, value, ap_at(&readout->reading, k, place->offset), place->count, t);
    mpfr_set(term, exact, MPFR_RNDN);
    mpfr_set(centred, exact, MPFR_RNDN);
    ap_dot(exact, value, ap_at(&readout->reading, mean, place->offset), place->count, t);
    mpfr_sub(centred, centred, exact, MPFR_RNDN);
    mpfr_clears(t, exact, (mpfr_ptr)0);
}

/* bound *= (1 + sqrt(d)) / sqrt(s), which the sum of |entries| of a gradient is over |u|_1 at most;
 * s the least of a row that far off. */
static void widen_by_norm(mpfr_ptr bound, const RefWrites *writes)
{
    const RefUnembedding *u = &writes->paths->unembedding;
    mpfr_t root, t;
    if (u->norm.kind == NORMALIZATION_NONE) {
        return;
    }
    mpfr_inits2(64, root, t, (mpfr_ptr)0);
    mpfr_sqrt(root, ap_at(&writes->square, 0, 0), MPFR_RNDD);
    mpfr_sub(root, root, writes->off, MPFR_RNDD);
    mpfr_set_d(t, u->norm.eps, MPFR_RNDD);
    mpfr_sqrt(t, t, MPFR_RNDD);
    mpfr_max(root, root, t, MPFR_RNDD);
    mpfr_sqrt_ui(t, u->d, MPFR_RNDU);
    mpfr_add_ui(t, t, 1, MPFR_RNDU);
    mpfr_mul(bound, bound, t, MPFR_RNDU);
    mpfr_div(bound, bound, root, MPFR_RNDU);
    mpfr_clears(root, t, (mpfr_ptr)0);
}

void ref_attribution_bound(mpfr_ptr bound, const RefWrites *writes, const RefReadout *readout,
                           size_t k)
{
    const RefPaths *paths = writes->paths;
    size_t rows = writes->value.rows;
    mpfr_t size, t;
    mpfr_inits2(64, size, t, (mpfr_ptr)0);
    mpfr_set_zero(size, 1);
    for (size_t i = 0; i < rows * paths->width; i++) {
        mpfr_mul(t, writes->value.entry + i, ap_at(&readout->reading, k, i % paths->width),
                 MPFR_RNDA);
        mpfr_abs(t, t, MPFR_RNDU);
        mpfr_add(size, size, t, MPFR_RNDU);
    }
    mpfr_mul_ui(size, size, rows * paths->width + 16, MPFR_RNDU);
    mpfr_prec_t bits = readout->reading.bits - ATTRIBUTION_BITS;
    mpfr_mul_2si(size, size, -(long)(bits < writes->bits ? bits : writes->bits), MPFR_RNDU);
    mpfr_mul(bound, ap_at(&readout->norm, 0, k), writes->off, MPFR_RNDU);
    widen_by_norm(bound, writes);
    mpfr_add(bound, bound, size, MPFR_RNDU);
    mpfr_clears(size, t, (mpfr_ptr)0);
}

double ref_writes_lost(const RefWrites *writes)
{
    mpfr_exp_t size = ap_exponent(writes->last.entry, writes->last.columns);
    return !mpfr_number_p(writes->off) ? INFINITY
           : mpfr_zero_p(writes->off)
               ? 0
               : fmax(0, (double)(mpfr_get_exp(writes->off) - size) + (double)writes->bits);
}

mpfr_prec_t ref_writes_bits(const RefWrites *writes)
{
    return writes->bits;
}
