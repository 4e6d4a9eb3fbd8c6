/*
 * From a point to what is proven of it: which points are refused, the model, the length of its
 * inputs' rows.
 */
#include "bound.h"

#include "../../../cases/activation.h"
#include "../../../memory/need.h"
#include "../commands.h"

#include "../../base/decimal.h"
#include "../../base/domain.h"
#include "../../base/memory.h"
#include "../../base/message.h"
#include "../../evaluate/predict.h"
#include "../../point/point.h"
#include "../../models/model_stream.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL, or what is expected of a point instead of what is outside of what is proven. */
static const char *outside(const Point *point)
{
    const CaseSpec *spec = &point->spec;
    return construction_info(spec->construction)->masked
               ? "another construction: masked heads have no Omega, and no error of construction"
           : mask_is_pseudo(spec->mask)
               ? "--mask none or causal: what a pseudo-mask lets through is outside of what is "
                 "proven"
           : spec->dropout > 0 || spec->drop_entry > 0
               ? "no lost entries of Omega: they are outside of what is proven"
           : spec->weight_noise > 0
               ? "no --weight-noise: the rewrite has the weights that are proven"
           : spec->bias_row_content != CONTENT_NONE
               ? "a bias row that is empty at first: any other is outside of what is proven"
               : NULL;
}

__attribute__((format(printf, 2, 3))) static int refuse(Bound *bound, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(bound->why, sizeof bound->why, format, arguments);
    va_end(arguments);
    return 2;
}

/* Of a model with an embedding, every token at every position; else what the command line says. */
static int take_inputs(Bound *bound, const RunOptions *run)
{
    const Point *point = bound->point;
    const ModelFile *file = point->source != NULL ? point->source->file : NULL;
    bool embedded = file != NULL && file->W_E != NULL;
    if (embedded && file->W_pos != NULL && point->spec.n > file->context) {
        return refuse(bound, "at most %zu tokens, of which it has positions, and not %zu",
                      file->context, point->spec.n);
    }
    if (embedded == (run->input_norm > 0)) {
        return refuse(bound, embedded ? "no --input-norm with an embedding: rows of X are the "
                                        "model's tokens"
                                      : "--input-norm R, as there is no embedding: how long a row "
                                        "of X may be");
    }
    bound->inputs = (GuaranteeInputs){embedded ? file->W_E : NULL,
                                      embedded ? file->W_pos : NULL,
                                      embedded ? file->vocabulary : 0,
                                      point->spec.n,
                                      point->spec.d,
                                      point->spec.stored_digits,
                                      point->spec.stored_least_exponent};
    return 0;
}

/* Rows of X are as long as --score-scale makes them, where scores are made of X itself. */
static double scale_of_x(const CaseSpec *spec)
{
    bool scaled = construction_info(spec->construction)->on_x && spec->score_scale > 0;
    return scaled ? spec->score_scale : 1;
}

/* Of an arithmetic what docs/proof.md takes from it. */
static MachineNumbers numbers_of(Arithmetic arithmetic)
{
    const Formats *formats = &arithmetic_info(arithmetic)->formats;
    const NumberFormat kept[] = {formats->storage, formats->stream, formats->operand,
                                 formats->score};
    bool wide = arithmetic_info(arithmetic)->functions == &kernel_f64;
    const FormatInfo *sums = format_info(wide ? FORMAT_F64 : FORMAT_F32);
    MachineNumbers numbers = {.smallest = sums->smallest,
                              .largest = sums->largest,
                              .sums = ldexp(1, -sums->digits),
                              .range = sums->largest,
                              .exp_zero = wide ? 746 : 104};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const FormatInfo *format = format_info(kept[i]);
        numbers.rounding = fmax(numbers.rounding, ldexp(1, -format->digits));
        numbers.smallest = fmax(numbers.smallest, format->smallest);
        numbers.largest = fmin(numbers.largest, format->largest);
    }
    return numbers;
}

static void find_zero_leaks(Bound *bound, const GuaranteeOf *of)
{
    bool asked = (bound->point->asked >> AXIS_ARITHMETIC & 1) != 0;
    for (Arithmetic a = ARITHMETIC_NONE + 1; asked && a < ARITHMETIC_COUNT; a++) {
        const MachineNumbers numbers = numbers_of(a);
        guarantee_zero_leak(&bound->zero_leak[a], of, &numbers);
    }
}

/* The longest of rows of X; at most that, though hypot may round up. */
static double longest_row(const double *x, size_t rows, size_t d)
{
    double longest = 0;
    for (size_t i = 0; x != NULL && i < rows; i++) {
        double norm = 0;
        for (size_t c = 0; c < d; c++) {
            norm = hypot(norm, x[i * d + c]);
        }
        longest = fmax(longest, norm);
    }
    return longest * (1 - (double)d * DBL_EPSILON);
}

static int check_length(double longest, const RunOptions *run)
{
    double said = run->input_norm;
    char text[DECIMAL_TEXT], least[DECIMAL_TEXT];
    if (!(said > 0) || longest <= said) {
        return 0;
    }
    decimal_print(text, said);
    decimal_print(least, longest);
    return complain((Origin){.flag = "input-norm"}, text,
                    "expected at least %s: a row of X is that long", least);
}

/* The model without an input: X is of no account to what is proven, and drawn. */
static int build_model(Bound *bound)
{
    const char *reason;
    const Point *point = bound->point;
    const ModelFile *file = point->source != NULL ? point->source->file : NULL;
    CaseSpec spec = point->spec;
    GivenWeights given = {0};
    Pair pair;
    if (spec.given != NULL) {
        given = *spec.given;
        given.x = given.x_hidden = NULL;
        spec.given = &given;
    }
    if (case_build(&pair, &reason, &spec) != CASE_OK) {
        return refuse(bound, "another model: %s", reason);
    }
    bound->drawn = longest_row(pair.original_x, spec.n, layout_content(&pair.original.layout)) /
                   scale_of_x(&spec) * (1 - 2 * DBL_EPSILON);
    const GuaranteeOf of = {&pair,
                            bound->input_norm,
                            file != NULL ? file->W_U : NULL,
                            file != NULL && file->tied,
                            file != NULL ? file->classes : 0,
                            bound->inputs.w_e != NULL ? &bound->inputs : NULL};
    bound->guarantee = guarantee_open(&of);
    if (bound->guarantee != NULL) {
        find_zero_leaks(bound, &of);
    }
    case_clear(&pair);
    return bound->guarantee != NULL
               ? 0
               : refuse(bound, "another model: heads of this form are outside of what is proven");
}

/* Refuses what memory does not hold: the weights, twice with those of the rewrite's form, six
 * matrices of the largest size that norms are taken of, all heads' values, an embedding's rows. */
static int check_room(Bound *bound, const RunOptions *run)
{
    const Point *point = bound->point;
    const double gib = 1024.0 * 1024 * 1024;
    CaseSpec whole = point->spec;
    const CaseSpec *spec = &whole;
    whole.held = 0;
    double d = (double)spec->d, hidden = case_uses_d_ff(spec) ? (double)spec->d_ff : 0;
    double widest =
        fmax(d * d, fmax(d * hidden,
                         construction_info(spec->construction)->hidden_bank ? hidden * hidden : 0));
    double inputs =
               bound->inputs.w_e != NULL ? guarantee_input_doubles(&bound->inputs, spec->heads) : 0,
           stack = construction_info(spec->construction)->heads ? (double)spec->heads * d * d : 0;
    double bytes = case_bytes(spec) + (6 * widest + stack + inputs) * sizeof(double);
    double room = memory_room(run->memory);
    return bytes <= room ? 0
                         : refuse(bound, "%.3g GiB of memory, and %.3g GiB may be used",
                                  bytes / gib, room / gib);
}

double bound_work(const Point *point)
{
    const CaseSpec *spec = &point->spec;
    const ModelFile *file = point->source != NULL ? point->source->file : NULL;
    double d = (double)spec->d, hidden = case_uses_d_ff(spec) ? (double)spec->d_ff : 0,
           rank = spec->d_head > 0 ? (double)spec->d_head : d,
           heads = construction_info(spec->construction)->heads ? (double)spec->heads : 1,
           norm = 3 * d * d * d + 3e4 * d, layer = 8 * heads * norm + 10 * d * d * hidden,
           each = case_reads_out(spec) ? fmin(2 * d * d * d * hidden, 0x1p35) : 0,
           inputs = file != NULL && file->W_E != NULL
                        ? (double)file->vocabulary * (double)spec->n * d
                        : 0;
    return (double)spec->depth * (layer + each) + inputs + fmin(inputs, 0x1p24) * 2 * heads * rank;
}

int bound_ask(Bound *bound, const Point *point, const RunOptions *run)
{
    const char *why = outside(point);
    *bound = (Bound){.point = point};
    int status = why != NULL ? refuse(bound, "%s", why) : take_inputs(bound, run);
    return status == 0 ? check_room(bound, run) : status;
}

int bound_open(Bound *bound, const Point *point, const RunOptions *run)
{
    const ModelSource *source = point->source;
    double scale = scale_of_x(&point->spec);
    int status = bound_ask(bound, point, run);
    if (status != 0) {
        return status;
    }
    bound->input_norm = magnitude_of(run->input_norm, 0);
    if (scale != 1) {
        bound->input_norm = magnitude_product(bound->input_norm, magnitude_of(scale, 0));
    }
    if (bound->inputs.w_e != NULL) {
        guarantee_input_norm(&bound->input_norm, &bound->inputs);
    }
    if (source != NULL && !model_stream_enter_all(source->file)) {
        int fault = model_source_fault(source);
        return fault != 0 ? fault : memory_fault();
    }
    bound->layers = need_zeros(point->spec.depth, sizeof *bound->layers);
    status = build_model(bound);
    if (source != NULL) {
        model_stream_leave_all(source->file);
    }
    return status;
}

void bound_clear(Bound *bound)
{
    guarantee_clear(bound->guarantee);
    free(bound->layers);
    bound->guarantee = NULL;
    bound->layers = NULL;
}

bool bound_serves(const Bound *bound, const Point *point)
{
    const unsigned free =
        ROLE_OMEGA | ROLE_MACHINE | ROLE_REFERENCE | ROLE_BITS | ROLE_JUDGED | ROLE_FORM;
    bool same =
        bound->guarantee != NULL && bound->point->spec.stored_digits == point->spec.stored_digits;
    for (Axis axis = 0; axis < AXIS_COUNT && same; axis++) {
        AxisValue own = point_get(bound->point, axis), other = point_get(point, axis);
        same = (axis_info(axis)->roles & free) != 0 || axis == AXIS_SHRINK || axis == AXIS_INPUT ||
               value_compare(&own, &other) == 0;
    }
    return same;
}

int bound_check_rows(const double *x, size_t rows, size_t d, const RunOptions *run)
{
    return check_length(longest_row(x, rows, d), run);
}

int bound_check_x(const Bound *bound, const Point *point, const RunOptions *run)
{
    static const GivenWeights none;
    const CaseSpec *spec = &point->spec;
    const GivenWeights *given = spec->given != NULL ? spec->given : &none;
    int status = bound_check_rows(given->x, spec->n, spec->d, run);
    status = status != 0 ? status : bound_check_rows(given->x_hidden, spec->n, spec->d_ff, run);
    return status != 0 || bound == NULL || given->x != NULL ? status
                                                            : check_length(bound->drawn, run);
}

void bound_print_input_norm(FILE *file, const RunOptions *run)
{
    char text[DECIMAL_TEXT];
    if (run->input_norm > 0) {
        decimal_print(text, run->input_norm);
        fprintf(file, " --input-norm %s", text);
    }
}

/* By guarantee; which error is judged is its own affair. */
static bool is_taken(Axis axis)
{
    return command_takes(commands_get(COMMAND_GUARANTEE), axis) && axis != AXIS_JUDGE;
}

void bound_print_command(FILE *file, const Point *point, const RunOptions *run)
{
    Point own = *point;
    own.omega = (point->asked >> AXIS_OMEGA & 1) != 0 ? point->omega : 0;
    fputs("headproof guarantee", file);
    point_print_flags(file, &own, is_taken, NULL);
    bound_print_input_norm(file, run);
}

int bound_move(Bound *bound, const Point *point, const RunOptions *run)
{
    if (bound_serves(bound, point)) {
        return 0;
    }
    bound_clear(bound);
    return bound_open(bound, point, run);
}

const char *bound_misfit(const Point *point)
{
    return !point->judged                ? "a tolerance to meet"
           : point->judge_of == JUDGE_KL ? "another --judge: what is proven is of logits, and of "
                                           "no divergence"
           : point->norm == NORM_REL     ? "another --norm: what is proven is no share of r(T)"
                                         : NULL;
}

Proven bound_at(const Bound *bound, const Point *point)
{
    const Guarantee *guarantee = bound->guarantee;
    double factor = point_factor(point); /* a bound is of its product with Omega */
    Proven proven = {.point = *point,
                     .layers = bound->layers,
                     .input_norm = bound->input_norm,
                     .zero_leak = bound->zero_leak[point->arithmetic] / factor * (1 + 0x1p-50),
                     .logits = point->source != NULL && point->source->file->W_U != NULL};
    double *omega = &proven.point.omega;
    if (*omega == 0) {
        *omega = guarantee_omega(guarantee, point->tolerance, factor);
        proven.none = *omega == INFINITY;
        *omega = fmin(*omega, DBL_MAX);
    }
    proven.judged =
        guarantee_at(guarantee, fmin(point_omega(&proven.point), DBL_MAX), bound->layers);
    proven.logit_error = guarantee_logits(guarantee, bound->layers[point->spec.depth - 1].error);
    proven.refused =
        point->judged && magnitude_above(proven.judged, magnitude_of(point->tolerance, 0));
    return proven;
}

Proven bound_at_tau(const Bound *bound, const Point *point)
{
    Guarantee *guarantee = bound->guarantee;
    Point own = *point;
    const size_t pairs = readout_pairs(&point->spec);
    const double tau = readout_pair(&point->spec, 0).tau;
    double taus[READOUT_MOST] = {0};
    if (!guarantee_reads_out(guarantee)) {
        return bound_at(bound, point);
    }
    for (size_t K = 1; K <= READOUT_MOST && point->judged; K++) {
        taus[K - 1] = guarantee_tau(guarantee, K, point->tolerance);
    }
    bool found = point->judged && (point->asked >> AXIS_TAU & 1) == 0;
    own.spec.tau = found ? fmax(taus[pairs - 1], TAU_LEAST) : tau;
    guarantee_set_tau(guarantee, pairs, own.spec.tau);
    Proven proven = bound_at(bound, &own);
    memcpy(proven.taus, taus, sizeof taus);
    proven.reads_out = true;
    proven.tau_error = proven.layers[point->spec.depth - 1].apart;
    proven.logit_tau_error = guarantee_logits(guarantee, proven.tau_error);
    Magnitude alone = proven.logits ? proven.logit_tau_error : proven.tau_error;
    proven.tau_alone = point->judged && magnitude_above(alone, magnitude_of(point->tolerance, 0));
    return proven;
}
