/*
 * The attention-only model as heads of plain doubles, with Omega as a number, for any program
 * that runs attention.
 */
#include "plain.h"

#include "arena.h"
#include "factors.h"
#include "plain_model.h"

#include <stdint.h>
#include <string.h>

/* Why factors cannot be counted or filled. */
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

/* A norm by itself, which belongs to the heads before it. */
static bool is_norm(const Sublayer *sublayer)
{
    return sublayer->bundle_count == 0 && sublayer->direct.kind == DIRECT_NORM;
}

/* heads and rank of sublayer s; when all are made alike, the largest of any. */
static PlainSublayer shape(Faults *faults, const Model *model, double omega, PlainHeads heads,
                           size_t s)
{
    PlainSublayer plain = {0};
    bool uniform = heads == PLAIN_UNIFORM;
    if (heads == PLAIN_FRAME) {
        return (PlainSublayer){.heads = count_heads(&model->sublayers[s])};
    }
    for (size_t t = uniform ? 0 : s; t < (uniform ? model->sublayer_count : s + 1); t++) {
        const Sublayer *sublayer = &model->sublayers[t];
        plain.heads = max_size(plain.heads, count_heads(sublayer));
        plain.rank = max_size(plain.rank, count_rank(faults, &model->layout, sublayer, omega));
    }
    return plain;
}

/* gamma, and a row of beta for each of the stream. */
static double norm_bytes(const LayerNorm *norm, double rows)
{
    bool none = norm->kind == NORMALIZATION_NONE;
    double columns = none ? 0 : (double)norm->columns.count;
    return columns * (norm->beta != NULL ? 1 + rows : 1) * sizeof(double);
}

double plain_bytes(const Model *model, double omega, PlainHeads heads)
{
    double width = (double)layout_width(&model->layout), rows = (double)layout_rows(&model->layout);
    bool frame = heads == PLAIN_FRAME;
    double as_model = frame ? 0 : 2 * sizeof(Sublayer) + sizeof(Bundle);
    double ends = (double)model->depth * sizeof(size_t) * (frame ? 1 : 2);
    double bytes = rows * width * sizeof(double) + ends;
    Faults faults = {0};
    PlainSublayer plain = {0};
    for (size_t s = 0; s < model->sublayer_count; s++) {
        bytes += norm_bytes(&model->sublayers[s].norm, rows);
        if (is_norm(&model->sublayers[s])) {
            continue;
        }
        if (s == 0 || heads != PLAIN_UNIFORM) {
            plain = shape(&faults, model, omega, heads, s);
        }
        bytes += sizeof(PlainSublayer) + as_model;
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
    plain->causal = sublayer->bundles[0].score.visible == VISIBLE_EARLIER;
    plain->bundles = sublayer->bundles;
    plain->bundle_count = sublayer->bundle_count;
    if (plain->rank == 0) {
        return true;
    }
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
    plain->w_q = to.w_q;
    plain->w_k = to.w_k;
    plain->w_v = to.w_v;
    plain->w_o = to.w_o;
    return true;
}

/* Copies a norm of T': beta for every row it acts on. */
static bool fill_norm(PlainSublayer *plain, Arena *memory, const Layout *layout,
                      const LayerNorm *norm)
{
    size_t columns = norm->columns.count, rows = layout_rows(layout);
    size_t bias = layout_bias_row(layout);
    double *gamma = arena_take(memory, columns, sizeof *gamma);
    double *beta = norm->beta != NULL ? arena_take(memory, rows, columns * sizeof *beta) : NULL;
    if (gamma == NULL || (norm->beta != NULL && beta == NULL)) {
        return false;
    }
    memcpy(gamma, norm->gamma, columns * sizeof *gamma);
    for (size_t i = 0; beta != NULL && i < rows; i++) {
        if (i != bias) {
            memcpy(beta + i * columns, norm->beta, columns * sizeof *beta);
        }
    }
    plain->norm = *norm;
    plain->norm.gamma = gamma;
    plain->norm.beta = beta;
    plain->norm_first = norm->tokens_only ? layout_token_row(layout, 0) : 0;
    plain->norm_end = norm->tokens_only ? plain->norm_first + layout->n : rows;
    return true;
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
    for (size_t s = 0; s < model->sublayer_count; s++) {
        bool norm = is_norm(&model->sublayers[s]);
        if (norm && (s == 0 || model->sublayers[s - 1].norm.kind != NORMALIZATION_NONE)) {
            return "a norm stands behind no heads, or behind heads that have one";
        }
    }
    return model_fault(model);
}

/* One sublayer of heads of the model, and the norm that may stand behind it. */
static bool build_sublayer(PlainSublayer *plain, Faults *faults, Arena *memory, const Model *model,
                           size_t s, double omega)
{
    const Sublayer *sublayer = &model->sublayers[s];
    plain->norm_behind = s + 1 < model->sublayer_count && is_norm(sublayer + 1);
    const LayerNorm *norm = plain->norm_behind ? &sublayer[1].norm : &sublayer->norm;
    return fill_sublayer(plain, faults, memory, &model->layout, sublayer, omega) &&
           (norm->kind == NORMALIZATION_NONE || fill_norm(plain, memory, &model->layout, norm));
}

/* The sublayers of *plain, in both descriptions. */
static CaseStatus build_sublayers(PlainModel *plain, const char **reason, const Model *model,
                                  PlainHeads heads)
{
    Arena *memory = plain->memory;
    PlainSublayer *sublayers = arena_take(memory, plain->sublayer_count, sizeof *sublayers);
    Faults faults = {0};
    PlainSublayer same = {0};
    if (sublayers == NULL) {
        return CASE_NO_MEMORY;
    }
    for (size_t s = 0, at = 0; s < model->sublayer_count; s++) {
        if (is_norm(&model->sublayers[s])) {
            continue;
        }
        if (s == 0 || heads != PLAIN_UNIFORM) {
            same = shape(&faults, model, plain->omega, heads, s);
        }
        sublayers[at] = same;
        if (!build_sublayer(&sublayers[at++], &faults, memory, model, s, plain->omega)) {
            return CASE_NO_MEMORY;
        }
    }
    if (faults.overflow) {
        *reason = "a scale or Omega times an entry is beyond the doubles";
        return CASE_REJECTED;
    }
    plain->sublayers = sublayers;
    plain->inexact = faults.inexact;
    return heads == PLAIN_FRAME || plain_model_make(plain) ? CASE_OK : CASE_NO_MEMORY;
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
    for (size_t l = 0, s = 0; l < model->depth; l++) {
        for (; s < model->layer_end[l]; s++) {
            plain->sublayer_count += !is_norm(&model->sublayers[s]);
        }
        layer_end[l] = plain->sublayer_count;
    }
    plain_augment(stream, &model->layout, x, bias_row_content);
    plain->layer_end = layer_end;
    plain->x = stream;
    return true;
}

CaseStatus plain_build(PlainModel *plain, const char **reason, const Model *model, double omega,
                       PlainHeads heads, const double *x, const double *bias_row_content)
{
    memset(plain, 0, sizeof *plain);
    *reason = plain_fault(model, omega);
    if (*reason != NULL) {
        return CASE_REJECTED;
    }
    *reason = "memory is short";
    /* So that no product of extents overflows below. */
    plain->memory =
        plain_bytes(model, omega, heads) < (double)(SIZE_MAX / 2) ? arena_create() : NULL;
    if (plain->memory == NULL) {
        return CASE_NO_MEMORY;
    }
    plain->layout = model->layout;
    plain->omega = omega;
    plain->rows = layout_rows(&model->layout);
    plain->width = layout_width(&model->layout);
    plain->depth = model->depth;
    CaseStatus status = CASE_NO_MEMORY;
    if (build_streams(plain, model, x, bias_row_content)) {
        status = build_sublayers(plain, reason, model, heads);
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
