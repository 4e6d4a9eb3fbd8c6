/*
 * A model file as the source of a point's weights: what it decides, and what contradicts it.
 */
#include "model_source.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/text_stream.h"
#include "../models/inputs.h"
#include "../models/model_stream.h"

#include <stdlib.h>
#include <string.h>

/* Kinds of files: the name, the constructions that fit, and the one that it stands for. */
static const struct {
    const char *expected;
    Construction fused, three;
} kinds[] = {
    [MODEL_FILE_ATTENTION] = {"attention (it has attention alone)", CONSTRUCTION_ATTENTION,
                              CONSTRUCTION_ATTENTION},
    [MODEL_FILE_FFN] = {"ffn3 or fused (it has feed-forward networks alone)", CONSTRUCTION_FUSED,
                        CONSTRUCTION_FFN3},
    [MODEL_FILE_TRANSFORMER] = {"transformer3 or transformer (it has attention and feed-forward "
                                "networks)",
                                CONSTRUCTION_TRANSFORMER, CONSTRUCTION_TRANSFORMER3},
    [MODEL_FILE_LINEAR] = {"linear (it has linear maps alone)", CONSTRUCTION_LINEAR,
                           CONSTRUCTION_LINEAR},
    [MODEL_FILE_INPUT] = {"silu (it has an X alone)", CONSTRUCTION_SILU, CONSTRUCTION_SILU},
};

static void source_clear(ModelSource *source)
{
    for (size_t i = 0; source->inputs != NULL && i < source->file->tuples; i++) {
        free(source->inputs[i]);
    }
    free(source->inputs);
    model_file_clear(source->file);
    free(source->path);
    free(source);
}

/* 0; 2 or 99 after a message. */
static int source_read(ModelSource **source, const char *path, const ModelFileFlags *flags)
{
    ModelSource *made = need_zeros(1, sizeof *made);
    int status = model_file_read_with(&made->file, path, flags);
    if (status != 0) {
        source_clear(made);
        return status;
    }
    const ModelFile *model = made->file;
    made->path = need_copy(path);
    made->inputs = need_zeros(model->tuples + 1, sizeof *made->inputs);
    made->flags = *flags;
    made->given = (GivenWeights){.layers = model->depth > 0 ? model->layers : NULL,
                                 .scale = {1, 1, 1},
                                 .scale_by_layer = model->scaled_by_layer,
                                 .rotary_scaling = model->rope_scaling,
                                 .x = model->X,
                                 .x_hidden = model->X_hidden,
                                 .ln_final_w = model->ln_final_w,
                                 .ln_final_b = model->ln_final_b};
    *source = made;
    return 0;
}

Construction model_source_construction(const ModelSource *source, bool three)
{
    return three ? kinds[source->file->kind].three : kinds[source->file->kind].fused;
}

const char *model_source_misfit(const ModelSource *source, Construction construction)
{
    ModelFileKind kind = source->file->kind;
    bool fits = construction == kinds[kind].fused || construction == kinds[kind].three;
    if (source->file->gated && construction == kinds[kind].three) {
        return "fused or transformer (its networks are gated)";
    }
    if (source->file->parallel && construction == CONSTRUCTION_TRANSFORMER3) {
        return "transformer (its blocks are parallel)";
    }
    return fits ? NULL : kinds[kind].expected;
}

size_t model_source_inputs(const ModelSource *source)
{
    return source->file->X != NULL ? 1 : source->file->tuples;
}

void model_source_input(const GivenWeights **given, ModelSource *source, size_t input)
{
    const ModelFile *model = source->file;
    *given = &source->given;
    if (model->X != NULL) {
        return;
    }
    GivenInput **made = &source->inputs[input - 1];
    if (*made == NULL) {
        *made = need_zeros(1, sizeof **made + model->length * model->d * sizeof *(*made)->x);
        size_t tuple = input - 1;
        inputs_embed((*made)->x, model, model->tokens + tuple * model->length, model->length);
        (*made)->given = source->given;
        (*made)->given.x = (*made)->x;
    }
    *given = &(*made)->given;
}

static bool has_mlp(const ModelFile *m)
{
    return m->kind == MODEL_FILE_FFN || m->kind == MODEL_FILE_TRANSFORMER;
}

static bool has_attention(const ModelFile *m)
{
    return m->kind == MODEL_FILE_ATTENTION || m->kind == MODEL_FILE_TRANSFORMER;
}

bool model_source_has_norms(const ModelSource *source)
{
    const GivenLayer *layers = source->given.layers;
    return layers == NULL || layers[0].ln1_w != NULL || layers[0].ln2_w != NULL;
}

const char *model_source_norm_misfit(const ModelSource *source, Normalization norm)
{
    const ModelFile *m = source->file;
    bool any = model_source_has_norms(source);
    if (norm == NORMALIZATION_NONE && any && m->depth > 0) {
        return "layernorm or rmsnorm: the weights file has tensors of norms";
    }
    if (norm != NORMALIZATION_NONE && !any) {
        return "none: the weights file has no tensors of norms (where they are folded, its "
               "metadata say so: normalization LNPre or RMSPre)";
    }
    if (norm == NORMALIZATION_RMSNORM && m->betas) {
        return "layernorm: the weights file has a b of norms";
    }
    return NULL;
}

bool model_source_lacks(const ModelSource *source, Axis axis)
{
    const ModelFile *m = source->file;
    bool norms = m->depth > 0 && model_source_has_norms(source);
    switch (axis) {
    case AXIS_ACTIVATION: return has_mlp(m) && !m->said.activation;
    case AXIS_SCALE: return has_attention(m) && !m->said.scale;
    case AXIS_MASK: return has_attention(m) && !m->said.mask;
    case AXIS_HEADS: return m->heads_open;
    case AXIS_NORMALIZATION: return (m->kind != MODEL_FILE_INPUT) && !m->said.normalization;
    case AXIS_NORMALIZATION_PLACE: return norms && !m->said.place;
    case AXIS_EPS: return norms && !m->said.eps;
    default: return false;
    }
}

static bool decide(AxisValue *value, bool decided, ValueForm form, size_t integer)
{
    *value = (AxisValue){.form = form, .integer = integer};
    return decided;
}

bool model_source_decides(AxisValue *value, const ModelSource *source, Axis axis)
{
    const ModelFile *m = source->file;
    const ModelFileSaid *said = &m->said;
    bool linear = m->kind == MODEL_FILE_LINEAR, input = m->kind == MODEL_FILE_INPUT;
    bool mlp = has_mlp(m), attention = has_attention(m);
    bool norms = m->depth > 0 && model_source_has_norms(source);
    size_t n = m->X != NULL ? m->rows : m->length;
    switch (axis) {
    case AXIS_ACTIVATION:
        return decide(value, (mlp || input) && said->activation, FORM_WORD, m->activation);
    case AXIS_MASK:
        return decide(value, said->mask, FORM_WORD, m->causal ? MASK_CAUSAL : MASK_NONE);
    case AXIS_SCALE: return decide(value, attention && said->scale, FORM_WORD, m->scaled);
    case AXIS_ROTARY: return decide(value, attention, FORM_WORD, m->rotary);
    case AXIS_ROTARY_DIM: return decide(value, m->rotary > 0, FORM_INTEGER, m->rotary_dim);
    case AXIS_ROPE_THETA:
        *value = (AxisValue){.form = FORM_REAL, .real = m->rope_theta};
        return m->rotary > 0;
    case AXIS_PARALLEL:
        return decide(value, m->kind == MODEL_FILE_TRANSFORMER, FORM_WORD, m->parallel);
    case AXIS_NORMALIZATION:
        return decide(value, !input && said->normalization, FORM_WORD, m->normalization);
    case AXIS_NORMALIZATION_PLACE:
        return decide(value, norms && said->place, FORM_WORD, m->post ? NORM_POST : NORM_PRE);
    case AXIS_EPS:
        *value = (AxisValue){.form = FORM_REAL, .real = m->eps};
        return norms && said->eps;
    case AXIS_FFN: return decide(value, mlp, FORM_WORD, m->gated ? FFN_GATED : FFN_PLAIN);
    case AXIS_N: return decide(value, n > 0, FORM_INTEGER, n);
    case AXIS_D: return decide(value, true, FORM_INTEGER, m->d);
    case AXIS_D_FF: return decide(value, mlp || linear, FORM_INTEGER, mlp ? m->hidden : m->other);
    case AXIS_HEADS: return decide(value, attention, FORM_INTEGER, m->heads);
    case AXIS_D_HEAD: return decide(value, attention, FORM_INTEGER, m->merged ? 0 : m->d_head);
    case AXIS_DEPTH: return decide(value, !input, FORM_INTEGER, m->depth);
    case AXIS_LINEAR:
        return decide(value, linear && (said->linear || m->other != m->d), FORM_WORD,
                      m->banked || m->other != m->d ? LINEAR_BLOCK : LINEAR_IN_PLACE);
    default: return false;
    }
}

void model_source_say(ModelSource *source, Axis axis, AxisValue value)
{
    ModelFile *m = source->file;
    ModelFileSaid *said = &m->said;
    switch (axis) {
    case AXIS_ACTIVATION: m->activation = (Activation)value.integer; break;
    case AXIS_SCALE: m->scaled = value.integer == 1; break;
    case AXIS_MASK: m->causal = value.integer == MASK_CAUSAL; break;
    case AXIS_NORMALIZATION: m->normalization = (Normalization)value.integer; break;
    case AXIS_NORMALIZATION_PLACE: m->post = value.integer == NORM_POST; break;
    case AXIS_EPS: m->eps = value.real; break;
    default: m->heads_open = false;
    }
    said->activation = said->activation || axis == AXIS_ACTIVATION;
    said->scale = said->scale || axis == AXIS_SCALE;
    said->mask = said->mask || axis == AXIS_MASK;
    said->normalization = said->normalization || axis == AXIS_NORMALIZATION;
    said->place = said->place || axis == AXIS_NORMALIZATION_PLACE;
    said->eps = said->eps || axis == AXIS_EPS;
}

int model_source_fault(const ModelSource *source)
{
    return source != NULL ? model_stream_fault(source->file) : 0;
}

int sources_find(ModelSource **source, SourceList *list, const char *path,
                 const ModelFileFlags *flags)
{
    for (size_t i = 0; i < list->count; i++) {
        const ModelSource *item = list->items[i];
        if (strcmp(item->path, path) == 0 && item->flags.heads == flags->heads) {
            *source = list->items[i];
            return 0;
        }
    }
    ModelSource **items = need_more(list->items, list->count + 1, sizeof *items);
    list->items = items;
    int status = source_read(&items[list->count], path, flags);
    if (status != 0) {
        return status;
    }
    *source = items[list->count++];
    return 0;
}

char *model_source_conditions(const ModelSource *source)
{
    char *text, *conditions = model_file_conditions(source->file);
    size_t size;
    FILE *file = text_stream(&text, &size);
    fprintf(file, "%s: %s", source->path, conditions);
    free(conditions);
    return text_close(file, &text);
}

int sources_fault(const SourceList *list)
{
    int fault = 0;
    for (size_t i = 0; i < list->count && fault == 0; i++) {
        fault = model_source_fault(list->items[i]);
    }
    return fault;
}

void sources_clear(SourceList *list)
{
    for (size_t i = 0; i < list->count; i++) {
        source_clear(list->items[i]);
    }
    free(list->items);
    *list = (SourceList){0};
}
