/*
 * The attention-only model as heads of plain doubles, with Omega as a number, for any program
 * that runs attention.
 */
#include "plain.h"

#include "../memory/need.h"
#include "arena.h"
#include "factors.h"

#include <math.h>
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

/* The rotary positions of its heads; NULL: none have any. */
static const Rotary *find_rotary(const Model *model)
{
    const Rotary *found = NULL;
    for (size_t s = 0; s < model->sublayer_count && found == NULL; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        found = sublayer->bundle_count > 0 ? sublayer->bundles[0].score.rotary : NULL;
    }
    return found;
}

/* Heads and rank of the sublayers that have most.  false: a layer cannot be entered. */
static bool find_shape(PlainSublayer *most, Faults *faults, const Model *model, double omega)
{
    for (size_t l = 0; l < model->depth; l++) {
        if (!model_enter(model, l)) {
            return false;
        }
        for (size_t s = model_first(model, l); s < model->layer_end[l]; s++) {
            const Sublayer *sublayer = &model->sublayers[s];
            most->heads = max_size(most->heads, count_heads(sublayer));
            most->rank = max_size(most->rank, count_rank(faults, &model->layout, sublayer, omega));
        }
        model_leave(model, l);
    }
    return true;
}

/* Of its numbers, with beta in so many rows. */
static double norm_bytes(const LayerNorm *norm, size_t rows)
{
    double columns = norm->kind != NORMALIZATION_NONE ? (double)norm->columns.count : 0;
    return columns * (norm->beta != NULL ? 1 + (double)rows : 1) * sizeof(double);
}

/* A norm whose numbers take as much as those of any. */
static LayerNorm largest_norm(const Model *model)
{
    LayerNorm largest = {.kind = NORMALIZATION_NONE};
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const LayerNorm *norm = &model->sublayers[s].norm;
        if (norm->kind != NORMALIZATION_NONE) {
            largest.kind = norm->kind;
            largest.columns.count = max_size(largest.columns.count, norm->columns.count);
            largest.beta = norm->beta != NULL ? norm->beta : largest.beta;
        }
    }
    return largest;
}

/* most: of find_shape, or of a frame zeros. */
static double bytes_of(const Model *model, const PlainSublayer *most, PlainHeads heads)
{
    size_t rows = layout_rows(&model->layout), width = layout_width(&model->layout);
    const LayerNorm largest = largest_norm(model);
    double numbers = (double)rows + 4 * (double)most->heads * (double)most->rank;
    double bytes = numbers * (double)width * sizeof(double) + (double)model->depth * sizeof(size_t);
    const Rotary *rotary = find_rotary(model);
    bytes += rotary != NULL ? (double)rows * (double)rotary->width * sizeof(double) : 0;
    for (size_t s = 0; s < model->sublayer_count; s++) {
        bytes += is_norm(&model->sublayers[s]) ? 0 : sizeof(PlainSublayer);
        bytes += heads == PLAIN_FRAME ? norm_bytes(&model->sublayers[s].norm, 1) : 0;
    }
    return heads == PLAIN_FRAME ? bytes : bytes + norm_bytes(&largest, rows);
}

double plain_bytes(const Model *model, double omega, PlainHeads heads)
{
    Faults faults = {0};
    PlainSublayer most = {0};
    bool found = heads == PLAIN_FRAME || find_shape(&most, &faults, model, omega);
    return found ? bytes_of(model, &most, heads) : NAN;
}

/* Fills the four factors of head number `at` of the sublayer. */
static void fill_head(const PlainSublayer *to, size_t at, const Layout *layout,
                      const Bundle *bundle, size_t h, double omega)
{
    size_t width = layout_width(layout), rank = to->rank, first = at * width * rank;
    Factors score = {
        .layout = layout, .left = {to->w_q + first, rank, 1}, .right = {to->w_k + first, rank, 1}};
    Factors value = {
        .layout = layout, .left = {to->w_v + first, rank, 1}, .right = {to->w_o + first, 1, width}};
    factors_score(&score, &bundle->score, omega, h);
    factors_value(&value, &bundle->value, h);
}

/* The matrices of *plain, which are zeros; heads beyond the sublayer's stay so and add nothing. */
static void fill_heads(const PlainSublayer *plain, const Layout *layout, double omega)
{
    size_t at = 0;
    for (size_t b = 0; plain->rank > 0 && b < plain->bundle_count; b++) {
        for (size_t h = 0; h < plain->bundles[b].heads; h++) {
            fill_head(plain, at++, layout, &plain->bundles[b], h, omega);
        }
    }
}

/* Copies a norm of T': beta for every row it acts on, or once. */
static void fill_norm(const PlainSublayer *plain, const Layout *layout)
{
    size_t columns = plain->norm.columns.count, rows = layout_rows(layout);
    size_t bias = layout_bias_row(layout);
    bool once = plain->rank == 0;
    if (plain->norm.kind == NORMALIZATION_NONE) {
        return;
    }
    memcpy(plain->gamma, plain->of->gamma, columns * sizeof *plain->gamma);
    for (size_t i = 0; plain->norm.beta != NULL && i < (once ? 1 : rows); i++) {
        double *row = plain->beta + i * columns;
        if (once || i != bias) {
            memcpy(row, plain->of->beta, columns * sizeof *row);
        } else {
            memset(row, 0, columns * sizeof *row);
        }
    }
}

/* Places for the matrices of *plain, whose heads and rank are there. */
static void take_heads(PlainSublayer *plain, Arena *memory, size_t width)
{
    size_t bytes = width * plain->rank * sizeof(double);
    if (plain->rank == 0) {
        return;
    }
    plain->w_q = arena_take(memory, plain->heads, bytes);
    plain->w_k = arena_take(memory, plain->heads, bytes);
    plain->w_v = arena_take(memory, plain->heads, bytes);
    plain->w_o = arena_take(memory, plain->heads, bytes);
}

/* Places for the numbers of its norm, with beta in so many rows. */
static void take_norm(PlainSublayer *plain, Arena *memory, const LayerNorm *norm, size_t rows)
{
    if (norm->kind == NORMALIZATION_NONE) {
        return;
    }
    plain->gamma = arena_take(memory, norm->columns.count, sizeof *plain->gamma);
    if (norm->beta != NULL) {
        plain->beta = arena_take(memory, rows, norm->columns.count * sizeof *plain->beta);
    }
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
    const Rotary *rotary = find_rotary(model);
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        for (size_t b = 0; b < sublayer->bundle_count; b++) {
            const Score *first = &sublayer->bundles[0].score, *own = &sublayer->bundles[b].score;
            if (own->visible != VISIBLE_ALL && own->visible != VISIBLE_EARLIER) {
                return "plain matrices know no mask but the causal one";
            }
            if (own->visible != first->visible) {
                return "the heads of a sublayer have different masks";
            }
            if (own->rotary != first->rotary || (own->rotary != NULL && own->rotary != rotary)) {
                return "heads have different rotary positions";
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

/* Fills in the record of sublayer s, one of heads, and of the norm that may stand behind it. */
static void describe(PlainSublayer *plain, const Model *model, size_t s)
{
    const Sublayer *sublayer = &model->sublayers[s];
    size_t rows = layout_rows(&model->layout);
    plain->causal = sublayer->bundles[0].score.visible == VISIBLE_EARLIER;
    plain->turned = sublayer->bundles[0].score.rotary != NULL;
    plain->beside = sublayer->beside;
    plain->bundles = sublayer->bundles;
    plain->bundle_count = sublayer->bundle_count;
    plain->norm_behind = s + 1 < model->sublayer_count && is_norm(sublayer + 1);
    const LayerNorm *norm = plain->of = plain->norm_behind ? &sublayer[1].norm : &sublayer->norm;
    if (norm->kind != NORMALIZATION_NONE) {
        plain->norm = *norm;
        plain->norm.gamma = plain->gamma;
        plain->norm.beta = norm->beta != NULL ? plain->beta : NULL;
        plain->norm_first = norm->tokens_only ? layout_token_row(&model->layout, 0) : 0;
        plain->norm_end = norm->tokens_only ? plain->norm_first + model->layout.n : rows;
    }
}

/* The sublayers of *plain with places for their numbers: of a frame for each of them, else one for
 * all, as large as `most`. */
static void take_sublayers(PlainModel *plain, PlainSublayer most, PlainHeads heads)
{
    Arena *memory = plain->memory;
    const Model *model = plain->from;
    PlainSublayer *sublayers = arena_take(memory, plain->sublayer_count, sizeof *sublayers);
    const LayerNorm largest = largest_norm(model);
    if (heads == PLAIN_ROLLING) {
        take_heads(&most, memory, plain->width);
        take_norm(&most, memory, &largest, plain->rows);
    }
    for (size_t s = 0, at = 0; s < model->sublayer_count; s++) {
        if (is_norm(&model->sublayers[s])) {
            continue;
        }
        bool behind = s + 1 < model->sublayer_count && is_norm(&model->sublayers[s + 1]);
        sublayers[at] = most;
        if (heads == PLAIN_FRAME) {
            sublayers[at].heads = count_heads(&model->sublayers[s]);
            take_norm(&sublayers[at], memory, &model->sublayers[s + behind].norm, 1);
        }
        describe(&sublayers[at++], model, s);
    }
    plain->sublayers = sublayers;
}

/* The tables of a rotary with a row for each of the stream's, of the bias row 1 and 0. */
static void build_rotary(PlainModel *plain)
{
    const Rotary *rotary = find_rotary(plain->from);
    if (rotary == NULL) {
        return;
    }
    size_t pairs = rotary->width / 2, bias = layout_bias_row(&plain->layout);
    double *cos = arena_take(plain->memory, 2 * plain->rows, pairs * sizeof *cos);
    double *sin = cos + plain->rows * pairs;
    for (size_t i = 0; i < plain->layout.n; i++) {
        size_t row = layout_token_row(&plain->layout, i);
        memcpy(cos + row * pairs, rotary->cos + i * pairs, pairs * sizeof *cos);
        memcpy(sin + row * pairs, rotary->sin + i * pairs, pairs * sizeof *sin);
    }
    for (size_t p = 0; p < pairs; p++) {
        cos[bias * pairs + p] = 1;
    }
    plain->rotary = (Rotary){plain->rows, rotary->width, rotary->interleaved, cos, sin};
}

/* The rest of *plain, whose sizes and memory are there. */
static void build_streams(PlainModel *plain, const Start *start)
{
    const Model *model = start->model;
    const double *x = start->x, *bias_row_content = start->bias_row_content;
    size_t *layer_end = arena_take(plain->memory, model->depth, sizeof *layer_end);
    double *stream = arena_take(plain->memory, plain->rows, plain->width * sizeof *stream);
    for (size_t l = 0, s = 0; l < model->depth; l++) {
        for (; s < model->layer_end[l]; s++) {
            plain->sublayer_count += !is_norm(&model->sublayers[s]);
        }
        layer_end[l] = plain->sublayer_count;
    }
    plain_augment(stream, &model->layout, x, bias_row_content);
    plain->layer_end = layer_end;
    plain->x = stream;
}

/* The layer of sublayer s; depth: of none. */
static size_t layer_of(const PlainModel *plain, size_t s)
{
    size_t l = 0;
    while (l < plain->depth && plain->layer_end[l] <= s) {
        l++;
    }
    return l;
}

static bool enter_layer(PlainModel *plain, size_t l)
{
    if (l == plain->layer) {
        return true;
    }
    if (plain->layer < plain->depth) {
        model_leave(plain->from, plain->layer);
    }
    bool entered = l == plain->depth || model_enter(plain->from, l);
    plain->layer = entered ? l : plain->depth;
    return entered;
}

bool plain_show(PlainModel *plain, size_t s)
{
    bool ok = enter_layer(plain, layer_of(plain, s));
    if (ok && s < plain->sublayer_count) {
        const PlainSublayer *own = &plain->sublayers[s];
        double *const factors[] = {own->w_q, own->w_k, own->w_v, own->w_o};
        for (size_t i = 0; own->rank > 0 && i < sizeof factors / sizeof *factors; i++) {
            memset(factors[i], 0, own->heads * own->rank * plain->width * sizeof(double));
        }
        fill_heads(own, &plain->layout, plain->omega);
        fill_norm(own, &plain->layout);
    }
    return ok;
}

PlainStatus plain_build(PlainModel *plain, const char **reason, const Start *start,
                        PlainHeads heads)
{
    const Model *model = start->model;
    Faults faults = {0};
    PlainSublayer most = {0};
    memset(plain, 0, sizeof *plain);
    *reason = plain_fault(model, start->omega);
    if (*reason != NULL) {
        return PLAIN_REJECTED;
    }
    if (heads == PLAIN_ROLLING && !find_shape(&most, &faults, model, start->omega)) {
        return PLAIN_NO_LAYER;
    }
    if (faults.overflow) {
        *reason = "a scale or Omega times an entry is beyond the doubles";
        return PLAIN_REJECTED;
    }
    /* No product of extents overflows below. */
    if (bytes_of(model, &most, heads) >= (double)(SIZE_MAX / 2)) {
        need_is_short();
    }
    *plain = (PlainModel){.memory = arena_create(),
                          .layout = model->layout,
                          .omega = start->omega,
                          .rows = layout_rows(&model->layout),
                          .width = layout_width(&model->layout),
                          .depth = model->depth,
                          .inexact = faults.inexact,
                          .from = model,
                          .layer = model->depth};
    build_streams(plain, start);
    build_rotary(plain);
    take_sublayers(plain, most, heads);
    plain->bytes = arena_bytes(plain->memory);
    return PLAIN_OK;
}

void plain_clear(PlainModel *plain)
{
    if (plain->layer < plain->depth) {
        model_leave(plain->from, plain->layer);
    }
    arena_release(plain->memory);
    memset(plain, 0, sizeof *plain);
}
