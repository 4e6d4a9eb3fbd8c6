/*
 * The part of an export that holds the original's weights and its input.
 */
#include "export.h"

#include "../../base/decimal.h"
#include "../../point/point.h"

#include <stdio.h>
#include <stdlib.h>

#define NAME_MOST 64

/* data NULL: there is none. */
static void write_tensor(Export *e, const char *name, size_t rank, const size_t *shape,
                         const double *data)
{
    if (data != NULL) {
        safetensors_writer_floats(e->writer, name, rank, shape, NULL, data);
    }
}

/* The same as blocks.LAYER.NAME. */
static void add(Export *e, size_t layer, const char *name, size_t rank, const size_t *shape,
                const double *data)
{
    char full[NAME_MOST];
    snprintf(full, sizeof full, "blocks.%zu.%s", layer, name);
    write_tensor(e, full, rank, shape, data);
}

/* A matrix a head, [heads, rows, columns]; every case keeps them without gaps. */
static void add_heads(Export *e, size_t layer, const char *name, const size_t shape[3],
                      HeadWeight weight)
{
    if (weight.data != NULL &&
        (weight.ld != shape[2] || weight.head_stride != shape[1] * shape[2])) {
        fprintf(stderr, "tensors.c: bug: '%s' has gaps\n", name);
        abort();
    }
    add(e, layer, name, 3, shape, weight.data);
}

/* Q and K, V and O, or the two products of a head. */
static void add_attention(Export *e, size_t layer, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    bool merged = score->d_head == 0;
    size_t d = value->write.count, d_head = merged ? d : score->d_head;
    const size_t in[] = {bundle->heads, d, d_head}, out[] = {bundle->heads, d_head, d};
    const size_t inner[] = {bundle->heads, d_head};
    add_heads(e, layer, merged ? "attn.QK" : "attn.W_Q", in, score->q);
    if (!merged) {
        add_heads(e, layer, "attn.W_K", in, score->k);
    }
    add_heads(e, layer, merged ? "attn.OV" : "attn.W_V", in, value->v);
    if (!merged) {
        add_heads(e, layer, "attn.W_O", out, value->o);
    }
    add(e, layer, "attn.b_Q", 2, inner, score->q_bias);
    add(e, layer, "attn.b_K", 2, inner, score->k_bias);
    add(e, layer, "attn.b_V", 2, inner, value->inner_bias);
    add(e, layer, "attn.b_O", 1, &d, value->bias);
}

/* x W_in and act(.) W_out, or one linear map; an activation by itself has no weights. */
static void add_direct(Export *e, size_t layer, const Direct *direct)
{
    bool gated = direct->w3 != NULL, ffn = direct->kind == DIRECT_FFN;
    size_t columns = ffn ? direct->hidden : direct->write.count;
    const size_t first[] = {direct->read.count, columns};
    const size_t second[] = {direct->hidden, direct->write.count};
    add(e, layer, gated ? "mlp.W_gate" : ffn ? "mlp.W_in" : "linear.W", 2, first, direct->w1);
    add(e, layer, gated ? "mlp.b_gate" : ffn ? "mlp.b_in" : "linear.b", 1, &columns, direct->b1);
    if (gated) {
        add(e, layer, "mlp.W_in", 2, first, direct->w3);
        add(e, layer, "mlp.b_in", 1, &columns, direct->b3);
    }
    if (ffn) {
        add(e, layer, "mlp.W_out", 2, second, direct->w2);
        add(e, layer, "mlp.b_out", 1, &direct->write.count, direct->b2);
    }
}

/* before: the sublayer before it, which a norm by itself stands behind; ln2 is that of the
 * feed-forward network, ln1 of any other. */
static void add_sublayer(Export *e, size_t layer, const Sublayer *sublayer, const Sublayer *before)
{
    bool alone = sublayer->bundle_count == 0 && sublayer->direct.kind == DIRECT_NORM;
    const Sublayer *of = alone ? before : sublayer;
    const LayerNorm *norm = &sublayer->norm;
    if (norm->kind != NORMALIZATION_NONE) {
        bool ffn = of->bundle_count == 0 && of->direct.kind == DIRECT_FFN;
        add(e, layer, ffn ? "ln2.w" : "ln1.w", 1, &norm->columns.count, norm->gamma);
        add(e, layer, ffn ? "ln2.b" : "ln1.b", 1, &norm->columns.count, norm->beta);
    }
    if (sublayer->bundle_count == 0 && !alone) {
        add_direct(e, layer, &sublayer->direct);
    }
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        add_attention(e, layer, &sublayer->bundles[b]);
    }
}

/* columns of the input [n, d + hidden] under a name. */
static void add_input(Export *e, const char *name, Columns columns)
{
    const Layout *layout = &e->shared->pair.original.layout;
    const size_t shape[] = {layout->n, columns.count}, stride[] = {layout_content(layout), 1};
    safetensors_writer_floats(e->writer, name, 2, shape, stride,
                              e->shared->pair.original_x + columns.first);
}

static void add_inputs(Export *e)
{
    const Pair *pair = &e->shared->pair;
    const Layout *layout = &pair->original.layout;
    size_t width = layout_content(&pair->converted.layout);
    add_input(e, "X", (Columns){0, layout->d});
    if (layout->hidden > 0) {
        add_input(e, "result.X_hidden", (Columns){layout->d, layout->hidden});
    }
    if (pair->bias_row_content != NULL) {
        safetensors_writer_floats(e->writer, "result.bias_row", 1, &width, NULL,
                                  pair->bias_row_content);
    }
}

/* "1", or "1/sqrt(d_head)", which is the only other scale that scores have. */
static const char *scale_text(const Model *model)
{
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        if (sublayer->bundle_count > 0 && sublayer->bundles[0].score.scale.sqrt_den > 1) {
            return "1/sqrt(d_head)";
        }
    }
    return "1";
}

static void add_word(Export *e, Axis axis)
{
    char text[VALUE_TEXT];
    value_print(text, &axis_info(axis)->domain, point_get(e->point, axis));
    safetensors_writer_metadata(e->writer, axis_info(axis)->name, text);
}

static void add_layers(Export *e)
{
    const Model *model = &e->shared->pair.original;
    const LayerNorm *final = &e->shared->pair.final_norm;
    for (size_t l = 0, s = 0; l < model->depth; l++) {
        for (; s < model->layer_end[l]; s++) {
            const Sublayer *sublayer = &model->sublayers[s];
            add_sublayer(e, l, sublayer, s > 0 ? sublayer - 1 : NULL);
        }
    }
    /* The norm before the unembedding, which no r and no m has. */
    write_tensor(e, "ln_final.w", 1, &final->columns.count, final->gamma);
    write_tensor(e, "ln_final.b", 1, &final->columns.count, final->beta);
}

/* Rotary positions, if there are any: what they turn, how much of a head, and how fast. */
static void add_rotary(Export *e)
{
    const CaseSpec *spec = &e->point->spec;
    char width[32], theta[DECIMAL_TEXT];
    if (case_rotary_width(spec) == 0) {
        return;
    }
    snprintf(width, sizeof width, "%zu", case_rotary_width(spec));
    decimal_print(theta, spec->rope_theta);
    safetensors_writer_metadata(e->writer, "rotary-pairs",
                                spec->rotary == ROTARY_HALF ? "half" : "interleaved");
    safetensors_writer_metadata(e->writer, "rotary-dim", width);
    safetensors_writer_metadata(e->writer, "rope-theta", theta);
}

void export_model(Export *e)
{
    const Model *model = &e->shared->pair.original;
    bool causal = model->sublayers[0].bundle_count > 0 &&
                  model->sublayers[0].bundles[0].score.visible == VISIBLE_EARLIER;
    add_inputs(e);
    add_layers(e);
    safetensors_writer_metadata(e->writer, "scale", scale_text(model));
    add_word(e, AXIS_ACTIVATION);
    add_word(e, AXIS_NORMALIZATION);
    if (point_axis_matters(e->point, AXIS_NORMALIZATION_PLACE)) {
        add_word(e, AXIS_NORMALIZATION_PLACE);
    }
    if (point_axis_matters(e->point, AXIS_EPS)) {
        add_word(e, AXIS_EPS);
    }
    if (construction_info(e->point->spec.construction)->heads) {
        safetensors_writer_metadata(e->writer, "blocks",
                                    e->point->spec.parallel ? "parallel" : "sequential");
    }
    add_rotary(e);
    if (e->point->spec.construction == CONSTRUCTION_LINEAR) {
        add_word(e, AXIS_LINEAR);
    }
    if (causal) {
        safetensors_writer_metadata(e->writer, "mask", "causal");
    } else {
        add_word(e, AXIS_MASK);
    }
}
