/*
 * From a point of a sweep to the pair of models that it means: sublayers, input, compared columns.
 */
#include "case.h"
#include "construct.h"

#include "draw.h"
#include "norm.h"
#include "stack.h"
#include "storage.h"

#include <string.h>

/* Sublayers of a layer: of T attention and a feed-forward network, of T' four, and two norms behind
 * parts of either. */
enum { ORIGINAL_MOST = 4, CONVERTED_MOST = 6 };

bool case_uses_d_ff(const CaseSpec *spec)
{
    const ConstructionInfo *info = construction_info(spec->construction);
    return info->d_ff || (info->linear && spec->linear != LINEAR_IN_PLACE);
}

/* The terms that imitate the activation; a single one where the construction has none. */
static Terms terms_of(const CaseSpec *spec)
{
    const ConstructionInfo *info = construction_info(spec->construction);
    return info->activation ? activation_terms(spec) : (Terms){.count = 1};
}

double case_layer_bytes(const CaseSpec *spec)
{
    const ConstructionInfo *info = construction_info(spec->construction);
    double d = (double)spec->d, hidden = (double)spec->d_ff, heads = (double)spec->heads;
    double per_layer = 0;
    if (info->heads) {
        per_layer += heads * d * (spec->d_head > 0 ? 4 * (double)spec->d_head : 2 * d);
    }
    if (info->linear) {
        per_layer += (d + 1) * (case_uses_d_ff(spec) ? hidden : d);
    }
    if (info->d_ff) {
        per_layer += 2 * d * hidden + d + hidden;
        per_layer += case_is_gated(spec) ? (d + 1) * hidden : 0;
    }
    if (spec->norm != NORMALIZATION_NONE) {
        per_layer += 4 * d + 2 * (d > hidden ? d : hidden); /* and a share of the final one */
    }
    per_layer *= (spec->score_scale > 0 && spec->score_scale != 1) + 1.0;
    per_layer *= (spec->given != NULL && spec->stored_digits > 0) + 1.0;
    double units = info->activation ? (info->d_ff ? hidden : d) : 0;
    Terms all = terms_of(spec);
    if (spec->weight_noise > 0) {
        /* A term of fused heads has W1 twice; one of an activation's heads three unit vectors. */
        per_layer += (double)all.count * (2 * per_layer + 3 * units * units);
    }
    for (size_t t = 0; t < all.count; t++) {
        per_layer += all.term[t].shift != 0 ? (spec->weight_noise > 0 ? 2 : 1) * units : 0;
    }
    return per_layer * sizeof(double);
}

double case_bytes(const CaseSpec *spec)
{
    const ConstructionInfo *info = construction_info(spec->construction);
    double d = (double)spec->d, hidden = (double)spec->d_ff, heads = (double)spec->heads;
    double terms = (double)terms_of(spec).count;
    double rows = (double)spec->n + 1;
    double split = spec->head_rank > 0 ? (d + hidden) / (double)spec->head_rank : 0;
    double entries = mask_is_pseudo(spec->mask) ? 3 * rows * rows : 0;
    if (spec->dropout > 0 || spec->drop_entry > 0) {
        double each = d + (info->heads ? heads : 0) + 2 * hidden + split + 3;
        entries += (spec->dropout > 0 ? (double)spec->depth : 1) * each * rows * rows;
    }
    double turns = (double)spec->n * (double)case_rotary_width(spec);
    double stream = turns + (2 * (double)spec->n + 1) * (d + (double)case_hidden_columns(spec));
    /* Attention twice, terms, and two linear maps, whose heads are made, then copied; T' once
     * more with other coefficients of Omega. */
    double structure = (ORIGINAL_MOST + 2 * CONVERTED_MOST) * sizeof(Sublayer) +
                       (14 + 2 * terms + 3 * split + 4 * READOUT_MOST) * sizeof(Bundle) +
                       2 * sizeof(size_t) + 2 * sizeof(Columns);
    double layer = case_layer_bytes(spec), layers = (double)spec->depth * layer;
    layers = spec->held > 0 && spec->held + layer < layers ? spec->held + layer : layers;
    return layers + (double)spec->depth * structure + stream * sizeof(double) + entries;
}

/* Rows of a stream [count, d + hidden], as they are drawn: with what names, and how large; given:
 * or whose x they are, or NULL. */
typedef struct {
    const char *name, *hidden_name;
    size_t count, hidden;
    double scale;
    const GivenWeights *given;
} Rows;

/* The given rows times scale, and what is given of the hidden columns. */
static double *given_rows(Arena *arena, const Rows *rows, size_t d)
{
    const GivenWeights *given = rows->given;
    size_t hidden = rows->hidden, ld = d + hidden;
    double *copy = arena_take_numbers(arena, rows->count, ld);
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t c = 0; c < ld; c++) {
            if (c < d) {
                copy[i * ld + c] = rows->scale * given->x[i * d + c];
            } else if (given->x_hidden != NULL) {
                copy[i * ld + c] = given->x_hidden[i * hidden + c - d];
            }
        }
    }
    return copy;
}

/* The given rows, or N(0, scale) on the content columns; on the hidden columns too where both banks
 * are filled at first. */
static double *draw_rows(Arena *arena, const CaseSpec *spec, const Rows *rows)
{
    size_t hidden = rows->hidden, ld = spec->d + hidden;
    if (rows->given != NULL && rows->given->x != NULL) {
        return given_rows(arena, rows, spec->d);
    }
    double *x = draw_tensor(arena, spec, rows->name, (TensorShape){1, rows->count, spec->d, ld},
                            rows->scale);
    if (construction_info(spec->construction)->linear) {
        uint64_t hash = draw_hash(rows->hidden_name);
        for (size_t i = 0; i < rows->count; i++) {
            for (size_t c = 0; c < hidden; c++) {
                x[i * ld + spec->d + c] = draw_normal(spec->seed, hash, 0, i, c) * rows->scale;
            }
        }
    }
    return x;
}

static void draw_streams(Pair *pair, const CaseSpec *spec)
{
    Arena *arena = pair->memory;
    size_t original = case_original_layout(spec).hidden, converted = case_hidden_columns(spec);
    bool scores = construction_info(spec->construction)->on_x && spec->score_scale > 0;
    Rows x = {"X", "X_hidden", spec->n, original, scores ? spec->score_scale : 1, spec->given};
    pair->original_x = pair->converted_x = draw_rows(arena, spec, &x);
    if (original != converted) {
        x.hidden = converted;
        pair->converted_x = draw_rows(arena, spec, &x);
    }
    if (spec->bias_row_content == CONTENT_RANDOM) {
        const Rows row = {.name = "bias_row",
                          .hidden_name = "bias_row_hidden",
                          .count = 1,
                          .hidden = converted,
                          .scale = spec->weights == WEIGHTS_NORMAL ? 1 : 0.25};
        pair->bias_row_content = draw_rows(arena, spec, &row);
    }
}

/* T_infinity = T: heads that attend to the bias row in the limit need it to be zero, and an
 * activation that they imitate exactly.  Damage that no Omega makes up for is in T_infinity. */
static bool limit_is_original(const CaseSpec *spec, bool damaged)
{
    const ConstructionInfo *info = construction_info(spec->construction);
    bool exact = !info->activation || activation_info(spec->activation)->exact;
    exact = exact && !case_reads_out(spec);
    return exact && !damaged && (spec->bias_row_content == CONTENT_NONE || !info->activation);
}

/* Which coefficient is a row's largest hangs on what it has lost: such a T' has one form. */
static bool loses_entries(const CaseSpec *spec)
{
    return spec->dropout > 0 || spec->drop_entry > 0;
}

static void take_sublayers(Stack *stack)
{
    size_t depth = stack->spec->depth;
    stack->original = arena_take(stack->arena, depth, ORIGINAL_MOST * sizeof(Sublayer));
    stack->converted = arena_take(stack->arena, depth, CONVERTED_MOST * sizeof(Sublayer));
}

/* The given weights with layers of their own, to be copied one by one, where they are copied. */
static void own_given(Stack *stack, CaseSpec *spec, bool outline)
{
    if (outline || !storage_copies(spec)) {
        return;
    }
    GivenWeights *given = arena_take(stack->arena, 1, sizeof *given);
    stack->layers = arena_take(stack->arena, spec->depth, sizeof *stack->layers);
    memcpy(stack->layers, spec->given->layers, spec->depth * sizeof *stack->layers);
    *given = *spec->given;
    given->layers = stack->layers;
    spec->given = given;
    storage_final(stack->arena, given, spec);
}

/* Layer l, whose numbers lie in their place.  Behind it numbers are the arena's again. */
static void make_layer(Stack *stack, size_t l, bool hollow)
{
    const CaseSpec *spec = stack->spec;
    arena_set_place(stack->arena, (ArenaPlace){spec->layers, l, hollow});
    if (stack->layers != NULL) {
        storage_layer(stack->arena, &stack->layers[l], spec);
    }
    stack->compared = stack_content(stack);
    stack->cleared = (Columns){0, 0};
    construction_info(spec->construction)->layer(stack, l);
    arena_set_place(stack->arena, (ArenaPlace){NULL, 0, false});
}

/* *reason: set where the case is rejected. */
static CaseStatus build(Pair *pair, const char **reason, const CaseSpec *asked, bool outline)
{
    Arena *arena = pair->memory;
    CaseSpec own = *asked;
    const CaseSpec *spec = &own;
    size_t depth = spec->depth;
    Stack stack = {.spec = spec, .arena = arena, .outline = outline};
    own.layers = outline ? NULL : asked->layers;
    size_t *original_end = arena_take(arena, depth, sizeof *original_end);
    size_t *converted_end = arena_take(arena, depth, sizeof *converted_end);
    Columns *compared = arena_take(arena, depth, sizeof *compared);
    Columns *cleared = arena_take(arena, depth, sizeof *cleared);
    own_given(&stack, &own, outline);
    take_sublayers(&stack);
    stack.rotary = rotary_make(&stack);
    if (!outline) {
        draw_streams(pair, spec);
    }
    for (size_t l = 0; l < depth; l++) {
        make_layer(&stack, l, own.layers != NULL);
        original_end[l] = stack.original_count;
        converted_end[l] = stack.converted_count;
        compared[l] = stack.compared;
        cleared[l] = stack.cleared;
    }
    pair->final_norm = norm_final(&stack);
    storage_round(arena, spec);
    if ((double)spec->drop_entry > stack.entries) {
        *reason = "the rewrite has fewer entries of Omega than --drop-entry says";
        return CASE_REJECTED;
    }
    pair->original = (Model){case_original_layout(spec),
                             stack.original,
                             stack.original_count,
                             original_end,
                             depth,
                             own.layers};
    pair->converted = (Model){case_converted_layout(spec),
                              stack.converted,
                              stack.converted_count,
                              converted_end,
                              depth,
                              own.layers};
    if (!loses_entries(spec)) {
        pair->negative = pair->converted;
        pair->negative.sublayers = append_penalties(&stack);
    }
    pair->compared = compared;
    pair->cleared = cleared;
    pair->limit_is_original = limit_is_original(spec, stack.damaged);
    pair->imitation_swing = activation_terms(spec).swing;
    return CASE_OK;
}

void case_fill(const Pair *pair, const CaseSpec *asked, size_t layer)
{
    CaseSpec own = *asked;
    Stack stack = {.spec = &own, .arena = arena_create(), .numbers = true};
    own_given(&stack, &own, false);
    take_sublayers(&stack);
    stack.original_count = model_first(&pair->original, layer);
    stack.converted_count = model_first(&pair->converted, layer);
    make_layer(&stack, layer, false);
    storage_round(stack.arena, &own);
    arena_release(stack.arena);
}

static CaseStatus build_checked(Pair *pair, const char **reason, const CaseSpec *spec, bool outline)
{
    memset(pair, 0, sizeof *pair);
    pair->memory = arena_create();
    CaseStatus status = build(pair, reason, spec, outline);
    if (status == CASE_OK) {
        *reason = model_fault(&pair->original);
        if (*reason == NULL) {
            *reason = model_fault(&pair->converted);
        }
        if (*reason == NULL && !loses_entries(spec)) {
            *reason = model_fault(&pair->negative);
        }
        status = *reason == NULL ? CASE_OK : CASE_REJECTED;
        pair->bytes = arena_bytes(pair->memory);
    }
    if (status != CASE_OK) {
        case_clear(pair);
    }
    return status;
}

const Model *case_converted(const Pair *pair, Penalty penalty)
{
    return penalty == PENALTY_NEGATIVE ? &pair->negative : &pair->converted;
}

Start case_start(const Pair *pair, Penalty penalty, double omega)
{
    Start start = pair_start(pair, omega);
    start.model = case_converted(pair, penalty);
    return start;
}

CaseStatus case_build(Pair *pair, const char **reason, const CaseSpec *spec)
{
    return build_checked(pair, reason, spec, false);
}

CaseStatus case_outline(Pair *pair, const char **reason, const CaseSpec *spec)
{
    return build_checked(pair, reason, spec, true);
}

void case_at_input(Pair *pair, const Pair *from, const CaseSpec *spec)
{
    *pair = *from;
    pair->memory = arena_create();
    draw_streams(pair, spec);
    storage_round(pair->memory, spec);
    pair->bytes = arena_bytes(pair->memory);
}

void case_clear(Pair *pair)
{
    arena_release(pair->memory);
    memset(pair, 0, sizeof *pair);
}
