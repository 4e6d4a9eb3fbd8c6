/*
 * m(T) at a witness's tokens.
 */
#include "witness_answers.h"

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
    spec->stored_digits = 0;
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

/* What answers are read from, the stream behind the last layer. */
static bool read_out(double *out, const WitnessModel *model, const Pair *pair,
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
        return true;
    }
    const MachineView x = {stream->data, stream->ld};
    const RefUnembedding unembedding = {.w_u = file->W_U,
                                        .b_u = file->b_U,
                                        .d = file->d,
                                        .classes = file->classes,
                                        .norm = pair->final_norm};
    return unembed_machine(out, &x, rows, &unembedding, machine);
}

bool witness_answers(double *out, const WitnessModel *model, size_t window, Arithmetic arithmetic)
{
    const ModelFile *file = model->source->file;
    const ArithmeticInfo *machine = arithmetic_info(arithmetic);
    const char *reason;
    Pair pair = {0};
    GivenWeights given = model->source->given;
    CaseSpec spec = model->spec;
    double *x = calloc(file->witness.span, file->d * sizeof *x);
    spec.given = &given;
    given.x = x;
    given.ln_final_w = file->ln_final.w;
    given.ln_final_b = file->ln_final.b;
    if (x != NULL) {
        embed(x, model, window);
    }
    /* The point was built before: a case can only fail for want of memory. */
    bool ok = x != NULL && case_build(&pair, &reason, &spec) == CASE_OK;
    const Model *original = &pair.original;
    const Point point = {.spec = spec};
    Kernel *kernel = !ok ? NULL
                         : arithmetic_open(machine, original, pair.original_x, NULL, 0,
                                           KERNEL_STRUCTURED, shared_kernel_threads(&point));
    ok = kernel != NULL;
    KernelStream stream = {0};
    for (size_t l = 0; ok && l < original->depth; l++) {
        stream = machine->functions->layer(kernel);
    }
    ok = ok && read_out(out, model, &pair, &stream, machine);
    machine->functions->clear(kernel);
    case_clear(&pair);
    free(x);
    return ok;
}

bool witness_compare(WitnessWorst *worst, const WitnessModel *model, size_t first, size_t last)
{
    const ModelFile *file = model->source->file;
    size_t count = file->witness.answers * model->width;
    double *answers = calloc(count, sizeof *answers);
    bool ok = answers != NULL;
    *worst = (WitnessWorst){.difference = -1};
    for (size_t window = first; ok && window < last; window++) {
        const double *said = witness_said(file, window);
        ok = witness_answers(answers, model, window, ARITHMETIC_F64);
        for (size_t i = 0; ok && i < count; i++) {
            double difference = fabs(answers[i] - said[i]);
            difference = isnan(difference) ? INFINITY : difference;
            if (difference > worst->difference) {
                *worst = (WitnessWorst){difference, answers[i], window, i};
            }
        }
    }
    free(answers);
    return ok;
}
