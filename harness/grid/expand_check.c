/*
 * Refusals while a section is expanded: contradictions, and sizes beyond the machine.
 */

#include "expand.h"
#include "../point/point.h"

#include "../../cases/activation.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define SIZE_MOST 2147483647
#define GIB (1024.0 * 1024.0 * 1024.0)

size_t product_values(const Product *product, Axis axis)
{
    const Setting *setting = product->settings[axis];
    return setting == NULL ? 1 : setting->list.count;
}

int product_reject(const Product *product, Axis axis, const char *expected)
{
    const Setting *setting = product->settings[axis];
    if (setting != NULL) {
        complain(setting->origin, setting->text, "expected %s", expected);
    } else {
        complain(product->section->origin, axis_info(axis)->name, "expected %s", expected);
    }
    return 2;
}

/* Of the size axes that were set, the largest in this point: blamed when it is too large. */
static Axis largest_axis(const Product *product, const Point *point)
{
    static const Axis sizes[] = {AXIS_N, AXIS_D, AXIS_D_FF, AXIS_HEADS, AXIS_D_HEAD, AXIS_DEPTH};
    Axis largest = point->source != NULL ? AXIS_WEIGHTS : AXIS_N;
    uint64_t most = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t value = point_get(point, sizes[i]).integer;
        if (product->settings[sizes[i]] != NULL && value > most) {
            most = value;
            largest = sizes[i];
        }
    }
    return largest;
}

/* The axis with the most values: blamed when there are too many points. */
static Axis longest_axis(const Product *product)
{
    Axis longest = AXIS_N;
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (product_values(product, axis) > product_values(product, longest)) {
            longest = axis;
        }
    }
    return longest;
}

int product_check_count(const Product *product)
{
    size_t count = 1;
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        /* No overflow: a list has at most VALUES_MOST values. */
        count *= product_values(product, axis);
        if (count > POINTS_MOST - product->grid->count) {
            return product_reject(product, longest_axis(product),
                                  "a grid of at most 1000000 points");
        }
    }
    return 0;
}

static int check_sizes(const Product *product, const Point *point)
{
    const CaseSpec *spec = &point->spec;
    bool has_d_ff = point_axis_matters(point, AXIS_D_FF);
    if (has_d_ff && spec->d_ff > SIZE_MOST) {
        Axis blamed = product->settings[AXIS_D_FF] != NULL ? AXIS_D_FF : AXIS_D;
        return product_reject(product, blamed, "a d-ff of at most 2147483647");
    }
    if (product->command->operands == OPERANDS_SIZES) {
        return 0; /* what is only counted need not fit */
    }
    double hidden = has_d_ff ? (double)spec->d_ff : 0;
    double width = (double)spec->n + 1 + (double)spec->d + hidden;
    double heads = width > (double)spec->heads ? width : (double)spec->heads;
    double bytes = case_bytes(spec);
    char expected[160];
    if (bytes > product->memory) {
        snprintf(expected, sizeof expected,
                 "a case that fits into this machine (needs %.4g GiB, has %.4g GiB)", bytes / GIB,
                 product->memory / GIB);
        return product_reject(product, largest_axis(product, point), expected);
    }
    /* Products of three extents, in bytes of long numbers, are taken in size_t. */
    if (heads * width * width * 64 > (double)(SIZE_MAX / 2)) {
        return product_reject(product, largest_axis(product, point),
                              "sizes whose products fit 64 bits");
    }
    return 0;
}

/* What an axis must not be, in a point where that is wrong. */
typedef struct {
    bool wrong;
    Axis axis;
    const char *expected;
} Fault;

static int refuse_first(const Product *product, const Fault *faults, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (faults[i].wrong) {
            return product_reject(product, faults[i].axis, faults[i].expected);
        }
    }
    return 0;
}

/* Do positions turn queries and keys? */
static bool turns_heads(const CaseSpec *spec)
{
    return spec->rotary != ROTARY_NONE && construction_info(spec->construction)->heads;
}

/* Rotary positions of no finite angle, by an axis or by the file's key. */
static int check_angles(const Product *product, const Point *point)
{
    static const char finite[] = "one, and a factor that scales it, whose angles are finite";
    const CaseSpec *spec = &point->spec;
    if (!turns_heads(spec)) {
        return 0;
    }
    const RotaryScaling *scaling = spec->given != NULL ? &spec->given->rotary_scaling : NULL;
    bool scaled = scaling != NULL && scaling->kind != SCALING_NONE;
    double width = (double)case_rotary_width(spec);
    /* Largest angle, in float as in double: a frequency is at most 1 where theta is not below. */
    double most = fmax(1, pow(spec->rope_theta, 2 / width - 1)) * (double)spec->n;
    if (most / (scaled ? fmin(1, scaling->factor) : 1) < FLT_MAX) {
        return 0;
    }
    return point->source == NULL ? product_reject(product, AXIS_ROPE_THETA, finite)
                                 : complain_of(point->source->path, "key", "rope_theta",
                                               "%g: expected %s", spec->rope_theta, finite);
}

/* Is it a power of two, whose multiples and inverse are scales too? */
static bool is_tau(double tau)
{
    int exponent;
    return frexp(tau, &exponent) == 0.5 && tau >= TAU_LEAST && tau <= TAU_MOST;
}

/* Axes that contradict each other in the models that they make, or in what is searched. */
static int check_models(const Product *product, const Point *point)
{
    const CaseSpec *spec = &point->spec;
    const ConstructionInfo *info = construction_info(spec->construction);
    bool searches = command_has(product->command, SEARCHES_OMEGA);
    bool loses = spec->dropout > 0 || spec->drop_entry > 0, turned = turns_heads(spec);
    bool before = spec->norm != NORMALIZATION_NONE && spec->norm_place == NORM_PRE;
    size_t width = case_rotary_width(spec);
    const Fault faults[] = {
        {spec->mask == MASK_CAUSAL && spec->bias_row == POSITION_LAST, AXIS_BIAS_ROW,
         "auto or first with --mask causal: a token cannot see a bias row that is last"},
        {spec->gelu == GELU_TWO && spec->activation != ACTIVATION_GELU &&
             point_axis_matters(point, AXIS_GELU),
         AXIS_GELU, "sigmoid, minimax or an integer: two is fitted to gelu alone"},
        {spec->parallel && info->hidden_bank, AXIS_PARALLEL,
         "no with three sublayers a network: what the first reads is no longer there for the last"},
        {spec->parallel && case_reads_out(spec) && spec->activation != ACTIVATION_NONE,
         AXIS_PARALLEL,
         "no with --ffn gated, but for --activation sigmoid and none: what the first sublayer of "
         "the network reads is no longer there for the second"},
        {spec->parallel && !before, AXIS_PARALLEL,
         "no, or --normalization layernorm or rmsnorm before the parts of a layer"},
        {spec->scaled && spec->d_head == 0, AXIS_SCALE, "1 where Q is dense: there is no d_head"},
        {point->source != NULL && spec->linear == LINEAR_CLEAR, AXIS_LINEAR,
         "in-place or block with a weights file: clear begins with hidden columns, of which a file "
         "holds no content"},
        {!case_is_gated(spec) && spec->activation >= ACTIVATION_PLAIN &&
             point_axis_matters(point, AXIS_ACTIVATION),
         AXIS_ACTIVATION, "silu, relu, gelu or gelu_new, or --ffn gated with it"},
        {case_reads_out(spec) && !is_tau(spec->tau), AXIS_TAU,
         "auto or a power of two from 2^-60 to 2^60"},
        {spec->dropout > 1, AXIS_DROPOUT, "none or a probability above 0 and at most 1"},
        {point->penalty == PENALTY_NEGATIVE && loses,
         spec->dropout > 0 ? AXIS_DROPOUT : AXIS_DROP_ENTRY,
         "none, or --penalty positive with it: the entries of Omega that a negative one has are "
         "others"},
        {point->row > spec->n, AXIS_ROW, "all or a token from 1 to n"},
        {spec->weight_noise > 1, AXIS_WEIGHT_NOISE, "none or a number above 0 and at most 1"},
        {!isnormal(point_omega(point)) && point->omega > 0, AXIS_SHRINK,
         "a product with omega that is a normal double"},
        {info->masked && searches, AXIS_CONSTRUCTION,
         "another construction: masked heads have no Omega"},
        {searches && !point->over_tau && product->settings[AXIS_OMEGA] != NULL, AXIS_OMEGA,
         "no omega, which min-omega finds, or --over tau with it"},
        {point->over_tau && product->settings[AXIS_TAU] != NULL, AXIS_TAU,
         "no tau, which min-omega --over tau finds"},
        {point->over_tau && !case_is_gated(spec), AXIS_FFN,
         "gated with --over tau: no other network has a product to read out"},
        {point->over_tau && !case_reads_out(spec), AXIS_ACTIVATION,
         "another with --over tau: sigmoid's product is exact, and needs no tau"},
        {searches && !point->judged, AXIS_TOLERANCE, "a tolerance: min-omega needs one to meet"},
        /* Norms that no construction can put where they are asked for. */
        {before && info->on_x, AXIS_NORMALIZATION_PLACE,
         "post with --construction silu: its heads write silu(x) - x, a difference with x itself, "
         "and would read norm(x)"},
        {before && spec->linear != LINEAR_IN_PLACE, AXIS_LINEAR,
         "in-place, or --normalization-place post: block and clear carry x itself from bank to "
         "bank, and would read norm(x)"},
        /* Rotary positions that no head can have. */
        {turned && spec->d_head == 0, AXIS_ROTARY,
         "none where Q is dense: positions turn queries and keys of --d-head entries"},
        {turned && (width > spec->d_head || width % 2 != 0),
         spec->rotary_dim > 0 ? AXIS_ROTARY_DIM : AXIS_D_HEAD,
         "an even number of entries to turn, no more than a head's"},
    };
    return refuse_first(product, faults, sizeof faults / sizeof *faults);
}

/* Evaluations that there are not, or that do not answer what is asked. */
static int check_evaluations(const Product *product, const Point *point)
{
    const CommandInfo *command = product->command;
    bool no_machine = point->arithmetic == ARITHMETIC_NONE, none = !point_has_reference(point);
    bool of_machine = point->judge != ERROR_APPROXIMATION && point->judge != ERROR_CONSTRUCTION;
    bool has_logits = point->source != NULL && point->source->file->W_U != NULL;
    bool judges = command_has(command, JUDGES_LOGITS), judged = point->judged;
    char needed[160] = "";
    if (none) {
        snprintf(needed, sizeof needed, "auto, subtract or difference: %s needs the reference",
                 command->name);
    }
    const Fault faults[] = {
        {turns_heads(&point->spec) && command_takes(command, AXIS_KERNEL) && !no_machine &&
             point->kernel == KERNEL_DENSE,
         AXIS_ROTARY,
         "none, or --kernel structured with it: where positions turn queries and keys there is no "
         "one matrix Q for --kernel dense"},
        {judged && of_machine && no_machine, AXIS_JUDGE,
         "approximation or construction with --arithmetic none: there is no machine to judge"},
        {judged && point->judge_of != JUDGE_STREAMS && !(judges && has_logits), AXIS_JUDGE,
         judges ? "an error of the stream, or a weights file with unembed.W_U"
                : "an error of the stream: verify and min-omega alone judge logits"},
        {point_has_difference(point) && command_has(command, SUBTRACTS), AXIS_REFERENCE,
         "subtract: export writes r(T') with all the digits that a subtraction needs"},
        {none && (command_has(command, SEARCHES_OMEGA | SUBTRACTS) ||
                  !command_evaluates_points(command)),
         AXIS_REFERENCE, needed},
        {none && no_machine, AXIS_REFERENCE,
         "auto, subtract or difference with --arithmetic none: nothing would be evaluated"},
        {none && judged && point->judge != ERROR_OBSERVED, AXIS_JUDGE,
         "observed with --reference none: the others are errors against it"},
        {none && judged && point->norm == NORM_REL, AXIS_NORM,
         "max or rms with --reference none: rel is relative to r(T)"},
    };
    return refuse_first(product, faults, sizeof faults / sizeof *faults);
}

int product_check_point(const Product *product, const Point *point)
{
    int status = check_models(product, point);
    status = status == 0 ? check_angles(product, point) : status;
    status = status == 0 ? check_evaluations(product, point) : status;
    return status == 0 ? check_sizes(product, point) : status;
}

int product_check_fit(const Product *product, const Point *point, bool *skip)
{
    const CaseSpec *spec = &point->spec;
    const Setting *setting = product->settings[AXIS_CONSTRUCTION];
    const char *misfit = model_source_misfit(point->source, spec->construction);
    *skip = misfit != NULL && setting != NULL && setting->list.all;
    if (misfit == NULL || *skip) {
        return 0;
    }
    return setting != NULL ? complain(setting->origin, construction_names[spec->construction],
                                      "the weights file %s needs %s", point->source->path, misfit)
                           : complain((Origin){.flag = "network"}, product->run->network,
                                      "expected fused: the weights file %s needs %s",
                                      point->source->path, misfit);
}

/* Does the file leave an axis open that nobody sets? */
static bool is_open(const Product *product, const Point *point, Axis axis)
{
    return product->settings[axis] == NULL && command_takes(product->command, axis) &&
           model_source_lacks(point->source, axis);
}

/* Refuses a file that leaves open what its model computes: its metadata must say it, or the
 * user. */
static int check_said(const Product *product, const Point *point)
{
    const ModelFile *file = point->source->file;
    bool norms = file->depth > 0 && model_source_has_norms(point->source);
    /* A witness that agrees shows this, and no axis has it. */
    bool shown = file->witness.tokens != NULL || product->command->operands == OPERANDS_SIZES;
    char activations[128], words[600], flags[200];
    size_t used = 0, flags_used = 0;
    Domain known = axis_info(AXIS_ACTIVATION)->domain;
    known.word_count = file->gated ? known.word_count : ACTIVATION_PLAIN;
    domain_describe(activations, sizeof activations, &known);
    const struct {
        bool open;
        const char *name, *words, *flag;
    } properties[] = {
        {is_open(product, point, AXIS_ACTIVATION), "activation", activations, "activation"},
        {is_open(product, point, AXIS_SCALE), "scale", "1 or 1/sqrt(d_head)", "scale"},
        {is_open(product, point, AXIS_MASK), "mask", "none or causal", "mask"},
        {is_open(product, point, AXIS_NORMALIZATION), "normalization",
         norms ? "layernorm or rmsnorm" : "none", "normalization"},
        {is_open(product, point, AXIS_NORMALIZATION_PLACE), "normalization-place", "pre or post",
         "normalization-place"},
        {is_open(product, point, AXIS_EPS), "eps", "what its norms add to the variance", "eps"},
        {!shown && file->W_E != NULL && file->W_pos == NULL && !file->said.positions, "positions",
         "none, where they are in no tensor", "position-embedding"},
        {!shown && file->kind == MODEL_FILE_TRANSFORMER && !file->said.blocks, "blocks",
         "sequential, where networks read what attention wrote", "blocks"}};
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        const char *comma = used > 0 ? ", " : "";
        if (properties[i].open) {
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%s (%s)", comma,
                                     properties[i].name, properties[i].words);
            flags_used += (size_t)snprintf(flags + flags_used, sizeof flags - flags_used, "%s--%s",
                                           comma, properties[i].flag);
        }
    }
    return used == 0 ? 0
                     : complain_of(point->source->path, NULL, NULL,
                                   "the metadata do not say: %s: expected in the file's metadata, "
                                   "or as %s",
                                   words, flags);
}

/* Refuses a file without rows to evaluate, its X or its tokens, unless --n asks for drawn ones. */
static int check_rows(const Product *product, const Point *point)
{
    const ModelFile *file = point->source->file;
    bool context = file->context > 0 && !command_evaluates_points(product->command);
    bool needed = command_evaluates_points(product->command) ||
                  command_has(product->command, NEEDS_ROWS) ||
                  product->command->operands == OPERANDS_EITHER;
    if (!needed || context || model_source_inputs(point->source) > 0 ||
        product->settings[AXIS_N] != NULL) {
        return 0;
    }
    return complain_of(
        point->source->path, NULL, NULL,
        "holds no X and no tokens to evaluate: expected one of them, or --n for as many "
        "rows that are drawn%s",
        file->W_E != NULL ? " (verify draws tuples of the vocabulary)" : "");
}

int product_check_source(const Product *product, const Point *point)
{
    if (product->settings[AXIS_BIAS] != NULL) {
        return product_reject(product, AXIS_BIAS,
                              "no --bias beside a weights file, which has its own biases, or none");
    }
    if (point->source->file->kind == MODEL_FILE_INPUT &&
        !command_evaluates_points(product->command)) {
        return complain_of(point->source->path, "layer", "blocks.0", "missing: %s expects a model",
                           product->command->name);
    }
    int status = check_said(product, point);
    const char *misfit = model_source_norm_misfit(point->source, point->spec.norm);
    if (status == 0 && misfit != NULL) {
        return product_reject(product, AXIS_NORMALIZATION, misfit);
    }
    return status != 0 ? status : check_rows(product, point);
}
