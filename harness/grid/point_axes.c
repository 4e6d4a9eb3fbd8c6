/*
 * Axes of a point: read, set, defaulted, blanked where they do not matter, compared.
 */
#include "axes.h"

#include "model_source.h"

#include <stdlib.h>

static AxisValue word(size_t index)
{
    return (AxisValue){.form = FORM_WORD, .integer = index};
}

static AxisValue integer(uint64_t value)
{
    return (AxisValue){.form = FORM_INTEGER, .integer = value};
}

static AxisValue real(double value)
{
    return (AxisValue){.form = FORM_REAL, .real = value};
}

/* Where 0 is spelt as a word. */
static AxisValue integer_or_word(uint64_t value)
{
    return value > 0 ? integer(value) : word(0);
}

static AxisValue real_or_word(double value)
{
    return value > 0 ? real(value) : word(0);
}

double point_omega(const Point *point)
{
    return point->shrink > 0 ? point->omega * point->shrink : point->omega;
}

AxisValue point_get(const Point *point, Axis axis)
{
    const CaseSpec *spec = &point->spec;
    switch (axis) {
    case AXIS_CONSTRUCTION: return word(spec->construction);
    case AXIS_ACTIVATION: return word(spec->activation);
    case AXIS_MASK: return word(spec->mask);
    case AXIS_N: return integer(spec->n);
    case AXIS_D: return integer(spec->d);
    case AXIS_D_FF: return integer(spec->d_ff);
    case AXIS_HEADS: return integer(spec->heads);
    case AXIS_D_HEAD: return integer(spec->d_head);
    case AXIS_DEPTH: return integer(spec->depth);
    case AXIS_OMEGA: return real(point->omega);
    case AXIS_ARITHMETIC: return word(point->arithmetic);
    case AXIS_KERNEL: return word(point->kernel);
    case AXIS_REFERENCE: return word(point->reference);
    case AXIS_WEIGHTS:
        return point->source == NULL ? word(spec->weights)
                                     : (AxisValue){.form = FORM_PATH, .path = point->source->path};
    case AXIS_SEED: return integer(spec->seed);
    case AXIS_BIAS: return word(spec->bias);
    case AXIS_SCALE: return word(spec->scaled);
    case AXIS_NORMALIZATION: return word(0);
    case AXIS_INPUT: return integer_or_word(point->input);
    case AXIS_LINEAR: return word(spec->linear);
    case AXIS_BIAS_ROW: return word(spec->bias_row);
    case AXIS_BIAS_ROW_CONTENT: return word(spec->bias_row_content);
    case AXIS_SLOPE: return real(spec->slope);
    case AXIS_GELU: return word(spec->gelu);
    case AXIS_BAND: return integer(spec->band);
    case AXIS_HEAD_RANK: return integer_or_word(spec->head_rank);
    case AXIS_SCORE_SCALE: return real(spec->score_scale > 0 ? spec->score_scale : 1);
    case AXIS_SHRINK: return real(point->shrink > 0 ? point->shrink : 1);
    case AXIS_DROPOUT: return real_or_word(spec->dropout);
    case AXIS_DROP_ENTRY: return integer_or_word(spec->drop_entry);
    case AXIS_WEIGHT_NOISE: return real_or_word(spec->weight_noise);
    case AXIS_REFERENCE_FORM: return word(point->form);
    case AXIS_ROW: return integer_or_word(point->row);
    case AXIS_PRECISION: return integer_or_word((uint64_t)point->precision);
    case AXIS_MAX_BITS: return integer((uint64_t)point->max_bits);
    case AXIS_TOLERANCE: return point->judged ? real(point->tolerance) : word(0);
    case AXIS_JUDGE: return word(point->judge);
    case AXIS_NORM: return word(point->norm);
    case AXIS_COUNT: break;
    }
    abort();
}

void point_set(Point *point, Axis axis, AxisValue value)
{
    CaseSpec *spec = &point->spec;
    size_t size = value.integer;
    switch (axis) {
    case AXIS_CONSTRUCTION: spec->construction = (Construction)size; break;
    case AXIS_ACTIVATION: spec->activation = (Activation)size; break;
    case AXIS_MASK: spec->mask = (Mask)size; break;
    case AXIS_N: spec->n = size; break;
    case AXIS_D: spec->d = size; break;
    case AXIS_D_FF: spec->d_ff = value.form == FORM_MULTIPLE ? size * spec->d : size; break;
    case AXIS_HEADS: spec->heads = size; break;
    case AXIS_D_HEAD: spec->d_head = size; break;
    case AXIS_DEPTH: spec->depth = size; break;
    case AXIS_OMEGA: point->omega = value.real; break;
    case AXIS_ARITHMETIC: point->arithmetic = (Arithmetic)size; break;
    case AXIS_KERNEL: point->kernel = (KernelForm)size; break;
    case AXIS_REFERENCE: point->reference = (ReferenceMethod)size; break;
    case AXIS_WEIGHTS:
        /* What is drawn beside a file's weights is drawn as beside stable ones. */
        spec->weights = value.form == FORM_PATH ? WEIGHTS_STABLE : (Weights)size;
        break;
    case AXIS_SEED: spec->seed = value.integer; break;
    case AXIS_BIAS: spec->bias = (Bias)size; break;
    case AXIS_SCALE: spec->scaled = size == 1; break;
    case AXIS_NORMALIZATION: break; /* there is but one */
    case AXIS_INPUT: point->input = value.form == FORM_WORD ? 0 : size; break;
    case AXIS_LINEAR: spec->linear = (Linear)size; break;
    case AXIS_BIAS_ROW: spec->bias_row = (BiasRowPosition)size; break;
    case AXIS_BIAS_ROW_CONTENT: spec->bias_row_content = (BiasRowContent)size; break;
    case AXIS_SLOPE: spec->slope = value.real; break;
    case AXIS_GELU: spec->gelu = (GeluForm)size; break;
    case AXIS_BAND: spec->band = size; break;
    case AXIS_HEAD_RANK: spec->head_rank = value.form == FORM_WORD ? 0 : size; break;
    case AXIS_SCORE_SCALE: spec->score_scale = value.real; break;
    case AXIS_SHRINK: point->shrink = value.real; break;
    case AXIS_DROPOUT: spec->dropout = value.form == FORM_WORD ? 0 : value.real; break;
    case AXIS_DROP_ENTRY: spec->drop_entry = value.form == FORM_WORD ? 0 : size; break;
    case AXIS_WEIGHT_NOISE: spec->weight_noise = value.form == FORM_WORD ? 0 : value.real; break;
    case AXIS_REFERENCE_FORM: point->form = (RefForm)size; break;
    case AXIS_ROW: point->row = value.form == FORM_WORD ? 0 : size; break;
    case AXIS_PRECISION: point->precision = value.form == FORM_WORD ? 0 : (long)size; break;
    case AXIS_MAX_BITS: point->max_bits = (long)size; break;
    case AXIS_TOLERANCE:
        point->judged = value.form == FORM_REAL;
        point->tolerance = value.real;
        break;
    case AXIS_JUDGE: point->judge = (ErrorKind)size; break;
    case AXIS_NORM: point->norm = (Norm)size; break;
    case AXIS_COUNT: abort();
    }
}

AxisValue point_default(const Point *point, Axis axis)
{
    AxisValue standard = axis_info(axis)->standard;
    if (standard.form == FORM_MULTIPLE) {
        return integer(standard.integer * point->spec.d);
    }
    if (axis == AXIS_REFERENCE) {
        /* The textbook's matrices know of no difference. */
        return word(point->form == REF_DENSE ? REFERENCE_SUBTRACT : REFERENCE_DIFFERENCE);
    }
    if (axis == AXIS_SCALE && point->source != NULL && point->source->file->said.scale) {
        return word(point->source->file->scaled);
    }
    if (axis == AXIS_JUDGE && point->arithmetic == ARITHMETIC_NONE) {
        return word(ERROR_CONSTRUCTION);
    }
    return standard;
}

bool point_axis_matters(const Point *point, Axis axis)
{
    const ConstructionInfo *info = construction_info(point->spec.construction);
    const GivenWeights *given = point->spec.given;
    switch (axis) {
    case AXIS_MASK: return !info->masked && (info->heads || !mask_is_pseudo(point->spec.mask));
    case AXIS_BAND: return info->heads && point->spec.mask == MASK_PSEUDO_BAND;
    case AXIS_HEAD_RANK: return info->linear_heads;
    case AXIS_SCORE_SCALE: return info->scores;
    case AXIS_BIAS_ROW:
    case AXIS_SHRINK:
    case AXIS_DROPOUT:
    case AXIS_DROP_ENTRY: return !info->masked;
    case AXIS_ACTIVATION: return info->activation;
    case AXIS_SLOPE: return info->activation && point->spec.activation == ACTIVATION_RELU;
    case AXIS_GELU: return info->activation && point->spec.activation == ACTIVATION_GELU;
    case AXIS_D_FF: return case_uses_d_ff(&point->spec);
    case AXIS_HEADS:
    case AXIS_D_HEAD: return info->heads;
    case AXIS_OMEGA: return point->omega > 0 && !info->masked;
    case AXIS_KERNEL: return point->arithmetic != ARITHMETIC_NONE;
    case AXIS_WEIGHTS:
        /* They scale the bias row's random content too. */
        return info->weights || point->source != NULL ||
               point->spec.bias_row_content == CONTENT_RANDOM;
    case AXIS_SEED:
        return given == NULL || given->x == NULL ||
               point->spec.bias_row_content == CONTENT_RANDOM || point->spec.dropout > 0 ||
               point->spec.weight_noise > 0 || point->spec.mask == MASK_PSEUDO_RANDOM;
    case AXIS_BIAS: return info->bias && given == NULL;
    case AXIS_SCALE: return info->heads;
    case AXIS_NORMALIZATION: return false;
    case AXIS_INPUT: return point->source != NULL && point->source->file->tuples > 1;
    case AXIS_LINEAR: return info->linear;
    case AXIS_MAX_BITS: return point->precision == 0;
    case AXIS_JUDGE:
    case AXIS_NORM: return point->judged;
    default: return true;
    }
}

bool point_axis_differs(const Point *point, Axis axis)
{
    AxisValue value = point_get(point, axis), standard = point_default(point, axis);
    return point_axis_matters(point, axis) && value_compare(&value, &standard) != 0;
}

/* An omega of 0: what is searched has no default. */
static bool searched(const Point *point, Axis axis)
{
    return axis == AXIS_OMEGA && point->omega == 0;
}

void point_canonicalise(Point *point)
{
    CaseSpec *spec = &point->spec;
    BiasRowPosition automatic = spec->mask == MASK_CAUSAL ? POSITION_FIRST : POSITION_LAST;
    if (spec->bias_row == automatic) {
        spec->bias_row = POSITION_AUTO;
    }
    if (point->reference == REFERENCE_AUTO) {
        point_set(point, AXIS_REFERENCE, point_default(point, AXIS_REFERENCE));
    }
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (!point_axis_matters(point, axis) && !searched(point, axis)) {
            point_set(point, axis, point_default(point, axis));
        }
    }
    if (point->precision > point->max_bits) {
        /* A precision asked for by number is not capped. */
        point->max_bits = point->precision;
    }
}

int point_compare(const Point *a, const Point *b)
{
    int order = 0;
    for (Axis axis = 0; axis < AXIS_COUNT && order == 0; axis++) {
        AxisValue left = point_get(a, axis), right = point_get(b, axis);
        order = value_compare(&left, &right);
    }
    return order;
}
