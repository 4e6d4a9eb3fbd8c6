/*
 * m(T) at a witness's tokens.
 */
#include "witness_answers.h"

#include "../../memory/need.h"
#include "layers.h"
#include "mode.h"
#include "shared.h"
#include "unembed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void witness_model_init(WitnessModel *model, const Point *point)
{
    const ModelFile *file = point->source->file;
    *model = (WitnessModel){.source = point->source, .spec = point->spec};
    CaseSpec *spec = &model->spec;
    spec->n = file->witness.span;
    spec->dropout = spec->weight_noise = 0;
    spec->drop_entry = 0;
    spec->stored_digits = spec->stored_least_exponent = 0;
    spec->score_scale = 0;
    model->width = file->witness.logits != NULL ? file->classes : file->d;
}

const double *witness_said(const ModelFile *model, size_t window)
{
    const ModelFileWitness *witness = &model->witness;
    bool logits = witness->logits != NULL;
    const double *said = logits ? witness->logits : witness->resid;
    return said + window * witness->answers * (logits ? model->classes : model->d);
}

/* x [span, d] */
static void embed(double *x, const WitnessModel *model, size_t window)
{
    const ModelFile *file = model->source->file;
    const ModelFileWitness *witness = &file->witness;
    for (size_t i = 0; i < witness->span; i++) {
        size_t token = (size_t)witness->tokens[window * witness->span + i];
        const double *position =
            file->W_pos == NULL ? NULL : file->W_pos + (i + model->moved) % file->context * file->d;
        for (size_t c = 0; c < file->d; c++) {
            x[i * file->d + c] =
                file->W_E[token * file->d + c] + (position == NULL ? 0 : position[c]);
        }
    }
}

/* out = the stream behind the last layer, which answers are read from. */
static void read_out(double *out, const WitnessModel *model, const Pair *pair,
                     const KernelStream *stream, const ArithmeticInfo *machine)
{
    const ModelFile *file = model->source->file;
    size_t count = file->witness.answers;
    const RefRows rows = {file->witness.span - count, count};
    if (file->witness.logits == NULL) {
        for (size_t i = 0; i < count; i++) {
            memcpy(out + i * file->d, stream->data + (rows.first + i) * stream->ld,
                   file->d * sizeof *out);
        }
        return;
    }
    const MachineView x = {stream->data, stream->ld};
    const RefUnembedding unembedding = {.w_u = file->W_U,
                                        .b_u = file->b_U,
                                        .d = file->d,
                                        .classes = file->classes,
                                        .norm = pair->final_norm,
                                        .by_class = file->tied};
    unembed_machine(out, &x, rows, &unembedding, machine);
}

/* out [answers, width] = m(T)'s from its input on. */
static bool evaluate(double *out, const WitnessModel *model, const Pair *pair,
                     Arithmetic arithmetic)
{
    const ArithmeticInfo *machine = arithmetic_info(arithmetic);
    const Model *original = &pair->original;
    const Point point = {.spec = model->spec};
    Kernel *kernel = arithmetic_open(machine, &(Start){original, pair->original_x, NULL, 0},
                                     KERNEL_STRUCTURED, point_threads(&point));
    KernelStream stream = {0};
    bool ok = true;
    for (size_t l = 0; l < original->depth && (ok = model_enter(original, l)); l++) {
        stream = machine->functions->layer(kernel);
        model_leave(original, l);
    }
    if (ok) {
        read_out(out, model, pair, &stream, machine);
    }
    machine->functions->clear(kernel);
    return ok;
}

static void take_worst(WitnessWorst *worst, const WitnessModel *model, const double *answers,
                       size_t window)
{
    const ModelFile *file = model->source->file;
    const double *said = witness_said(file, window);
    for (size_t i = 0; i < file->witness.answers * model->width; i++) {
        double difference = fabs(answers[i] - said[i]);
        difference = isnan(difference) ? INFINITY : difference;
        worst->most = fmax(worst->most, fabs(said[i]));
        if (difference > worst->difference) {
            worst->difference = difference;
            worst->here = answers[i];
            worst->window = window;
            worst->index = i;
        }
    }
}

/* Where float overflows nothing is known of its losses. */
static void take_lost(WitnessWorst *worst, const double *wide, const double *narrow, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double difference = fabs(wide[i] - narrow[i]);
        worst->lost = isfinite(difference) ? fmax(worst->lost, difference) : worst->lost;
    }
}

bool witness_compare(WitnessWorst *worst, const WitnessModel *model, Stretch windows, bool losses)
{
    const ModelFile *file = model->source->file;
    size_t count = file->witness.answers * model->width;
    double *wide = need_zeros(count, sizeof *wide), *narrow = need_zeros(count, sizeof *narrow);
    double *x = need_zeros(file->witness.span, file->d * sizeof *x);
    Pair base = {0};
    Layers *layers = NULL;
    GivenWeights given = model->source->given;
    CaseSpec spec = model->spec;
    spec.given = &given;
    given.x = x;
    *worst = (WitnessWorst){.difference = -1};
    /* The point was outlined before: it is not rejected now. */
    bool ok = layers_build(&base, &layers, &spec, model->source) == CASE_OK;
    for (size_t window = windows.first; ok && window < windows.end; window++) {
        Pair pair = {0};
        embed(x, model, window);
        case_at_input(&pair, &base, &spec);
        ok = evaluate(wide, model, &pair, ARITHMETIC_F64) &&
             (!losses || evaluate(narrow, model, &pair, ARITHMETIC_F32));
        case_clear(&pair);
        if (ok) {
            take_worst(worst, model, wide, window);
            if (losses) {
                take_lost(worst, wide, narrow, count);
            }
        }
    }
    layers_clear(layers);
    case_clear(&base);
    free(wide);
    free(narrow);
    free(x);
    return ok;
}
