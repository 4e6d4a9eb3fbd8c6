/*
 * The attention-only model as heads of plain doubles, with Omega as a number, for any program
 * that runs attention.
 */
#include "plain.h"

#include "arena.h"
#include "factors.h"

#include <stdint.h>
#include <string.h>

/* What goes wrong while factors are counted or filled. */
typedef struct {
    const char *inexact;
    bool overflow;
} Faults;

static void note_faults(Faults *faults, const Factors *factors)
{
    faults->inexact = factors->inexact != NULL ? factors->inexact : faults->inexact;
    faults->overflow = faults->overflow || factors->overflow;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t count_heads(const Sublayer *sublayer)
{
    size_t heads = 0;
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        heads += sublayer->bundles[b].heads;
    }
    return heads;
}

/* The rank a sublayer's heads need, by a run that only counts. */
static size_t count_rank(Faults *faults, const Layout *layout, const Sublayer *sublayer,
                         double omega)
{
    size_t rank = 1;
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        for (size_t h = 0; h < bundle->heads; h++) {
            Factors score = {.layout = layout}, value = {.layout = layout};
            factors_score(&score, &bundle->score, omega, h);
            factors_value(&value, &bundle->value, h);
            note_faults(faults, &score);
            note_faults(faults, &value);
            rank = max_size(rank, max_size(score.terms, value.terms));
        }
    }
    return rank;
}

/* heads and rank of sublayer s; when all are made alike, the largest of any. */
static PlainSublayer shape(Faults *faults, const Model *model, double omega, bool uniform, size_t s)
{
    PlainSublayer plain = {0};
    for (size_t t = uniform ? 0 : s; t < (uniform ? model->sublayer_count : s + 1); t++) {
        const Sublayer *sublayer = &model->sublayers[t];
        plain.heads = max_size(plain.heads, count_heads(sublayer));
        plain.rank = max_size(plain.rank, count_rank(faults, &model->layout, sublayer, omega));
    }
    return plain;
}

double plain_bytes(const Model *model, double omega, bool uniform)
{
    double width = (double)layout_width(&model->layout), rows = (double)layout_rows(&model->layout);
    double sublayer_bytes = sizeof(PlainSublayer) + sizeof(Sublayer) + sizeof(Bundle);
    double bytes = rows * width * sizeof(double) + (double)model->depth * sizeof(size_t);
    Faults faults = {0};
    PlainSublayer plain = {0};
    for (size_t s = 0; s < model->sublayer_count; s++) {
        if (s == 0 || !uniform) {
            plain = shape(&faults, model, omega, uniform, s);
        }
        bytes += sublayer_bytes;
        bytes += 4 * (double)plain.heads * (double)plain.rank * width * sizeof(double);
    }
    return bytes;
}

/* The zeroed factors of a sublayer. */
typedef struct {
    double *w_q, *w_k, *w_v, *w_o;
} FourFactors;

/* Fills the four factors of head number `at` of the sublayer. */
static void fill_head(Faults *faults, const FourFactors *to, size_t at, size_t rank,
                      const Layout *layout, const Bundle *bundle, size_t h, double omega)
{
    size_t width = layout_width(layout), first = at * width * rank;
    Factors score = {
        .layout = layout, .left = {to->w_q + first, rank, 1}, .right = {to->w_k + first, rank, 1}};
    Factors value = {
        .layout = layout, .left = {to->w_v + first, rank, 1}, .right = {to->w_o + first, 1, width}};
    factors_score(&score, &bundle->score, omega, h);
    factors_value(&value, &bundle->value, h);
    note_faults(faults, &score);
    note_faults(faults, &value);
}

/* Sets the weights of *plain, whose heads and rank are there; heads beyond the sublayer's are zero
 * and add nothing. */
static bool fill_sublayer(PlainSublayer *plain, Faults *faults, Arena *memory, const Layout *layout,
                          const Sublayer *sublayer, double omega)
{
    size_t heads = plain->heads, entries = layout_width(layout) * plain->rank, at = 0;
    FourFactors to = {.w_q = arena_take(memory, heads, entries * sizeof(double)),
                      .w_k = arena_take(memory, heads, entries * sizeof(double)),
                      .w_v = arena_take(memory, heads, entries * sizeof(double)),
                      .w_o = arena_take(memory, heads, entries * sizeof(double))};
    if (to.w_q == NULL || to.w_k == NULL || to.w_v == NULL || to.w_o == NULL) {
        return false;
    }
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        for (size_t h = 0; h < sublayer->bundles[b].heads; h++) {
            fill_head(faults, &to, at++, plain->rank, layout, &sublayer->bundles[b], h, omega);
        }
    }
    plain->causal = sublayer->bundles[0].score.visible == VISIBLE_EARLIER;
    plain->w_q = to.w_q;
    plain->w_k = to.w_k;
    plain->w_v = to.w_v;
    plain->w_o = to.w_o;
    return true;
}

/* A sublayer's heads as a bundle of an original model's. */
static Bundle as_bundle(const PlainSublayer *plain, size_t width)
{
    Columns all = {0, width};
    size_t rank = plain->rank, stride = width * rank;
    return (Bundle){.heads = plain->heads,
                    .score = {.kind = SCORE_BILINEAR,
                              .read = all,
                              .d_head = rank,
                              .q = {plain->w_q, rank, stride},
                              .k = {plain->w_k, rank, stride},
                              .scale = {1, 1, 1},
                              .visible = plain->causal ? VISIBLE_EARLIER : VISIBLE_ALL},
                    .value = {.kind = VALUE_FACTORED,
                              .read = all,
                              .write = all,
                              .d_head = rank,
                              .v = {plain->w_v, rank, stride},
                              .o = {plain->w_o, width, stride},
                              .scale = 1}};
}

void plain_augment(double *stream, const Layout *layout, const double *x,
                   const double *bias_row_content)
{
    size_t content = layout_content(layout), width = layout_width(layout);
    memset(stream, 0, layout_rows(layout) * width * sizeof *stream);
    for (size_t i = 0; i < layout->n; i++) {
        memcpy(stream + layout_token_row(layout, i) * width, x + i * content,
               content * sizeof *stream);
    }
    if (bias_row_content != NULL) {
        memcpy(stream + layout_bias_row(layout) * width, bias_row_content,
               content * sizeof *stream);
    }
    for (size_t i = 0; i < layout_rows(layout); i++) {
        stream[i * width + content + i] = 1;
    }
}

static const char *plain_fault(const Model *model, double omega)
{
    if (!(omega > 0) || omega - omega != 0) {
        return "plain matrices need a finite Omega above 0";
    }
    if (model->layout.bias_row == BIAS_ROW_NONE) {
        return "plain matrices are made from an attention-only model with a bias row";
    }
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        for (size_t b = 0; b < sublayer->bundle_count; b++) {
            Visible visible = sublayer->bundles[b].score.visible;
            if (visible != VISIBLE_ALL && visible != VISIBLE_EARLIER) {
                return "plain matrices know no mask but the causal one";
            }
            if (visible != sublayer->bundles[0].score.visible) {
                return "the heads of a sublayer have different masks";
            }
        }
    }
    return model_fault(model);
}

/* The sublayers of *plain, in both descriptions. */
static CaseStatus build_sublayers(PlainModel *plain, const char **reason, const Model *model,
                                  bool uniform)
{
    Arena *memory = plain->memory;
    size_t count = model->sublayer_count;
    PlainSublayer *sublayers = arena_take(memory, count, sizeof *sublayers);
    Sublayer *general = arena_take(memory, count, sizeof *general);
    Bundle *bundles = arena_take(memory, count, sizeof *bundles);
    Faults faults = {0};
    if (!sublayers || !general || !bundles) {
        return CASE_NO_MEMORY;
    }
    for (size_t s = 0; s < count; s++) {
        sublayers[s] =
            s > 0 && uniform ? sublayers[0] : shape(&faults, model, plain->omega, uniform, s);
        if (!fill_sublayer(&sublayers[s], &faults, memory, &model->layout, &model->sublayers[s],
                           plain->omega)) {
            return CASE_NO_MEMORY;
        }
        bundles[s] = as_bundle(&sublayers[s], plain->width);
        general[s] = (Sublayer){.bundles = &bundles[s], .bundle_count = 1};
    }
    if (faults.overflow) {
        *reason = "a scale or Omega times an entry is beyond the doubles";
        return CASE_REJECTED;
    }
    plain->sublayers = sublayers;
    plain->inexact = faults.inexact;
    plain->model = (Model){
        {.n = plain->rows, .d = plain->width}, general, count, plain->layer_end, plain->depth};
    return CASE_OK;
}

/* The rest of *plain, whose sizes and memory are there. */
static bool build_streams(PlainModel *plain, const Model *model, const double *x,
                          const double *bias_row_content)
{
    size_t *layer_end = arena_take(plain->memory, model->depth, sizeof *layer_end);
    double *stream = arena_take(plain->memory, plain->rows, plain->width * sizeof *stream);
    if (layer_end == NULL || stream == NULL) {
        return false;
    }
    memcpy(layer_end, model->layer_end, model->depth * sizeof *layer_end);
    plain_augment(stream, &model->layout, x, bias_row_content);
    plain->layer_end = layer_end;
    plain->x = stream;
    return true;
}

CaseStatus plain_build(PlainModel *plain, const char **reason, const Model *model, double omega,
                       bool uniform, const double *x, const double *bias_row_content)
{
    memset(plain, 0, sizeof *plain);
    *reason = plain_fault(model, omega);
    if (*reason != NULL) {
        return CASE_REJECTED;
    }
    *reason = "memory is short";
    /* So that no product of extents overflows below. */
    plain->memory =
        plain_bytes(model, omega, uniform) < (double)(SIZE_MAX / 2) ? arena_create() : NULL;
    if (plain->memory == NULL) {
        return CASE_NO_MEMORY;
    }
    plain->layout = model->layout;
    plain->omega = omega;
    plain->rows = layout_rows(&model->layout);
    plain->width = layout_width(&model->layout);
    plain->sublayer_count = model->sublayer_count;
    plain->depth = model->depth;
    CaseStatus status = CASE_NO_MEMORY;
    if (build_streams(plain, model, x, bias_row_content)) {
        status = build_sublayers(plain, reason, model, uniform);
    }
    if (status == CASE_OK) {
        *reason = NULL;
        plain->bytes = arena_bytes(plain->memory);
    } else {
        plain_clear(plain);
    }
    return status;
}

void plain_clear(PlainModel *plain)
{
    arena_release(plain->memory);
    memset(plain, 0, sizeof *plain);
}
