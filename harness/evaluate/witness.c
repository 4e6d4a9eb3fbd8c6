/*
 * Weights files compared with their witnesses, before anything else is made of them.
 */
#include "witness.h"

#include "witness_answers.h"

#include "../base/message.h"
#include "../base/shown.h"
#include "../base/text_stream.h"
#include "../models/model_stream.h"
#include "../models/safetensors_values.h"

#include <math.h>
#include <stdlib.h>

/* See witness.h. */
#define LOST_AT_MOST 16
#define UNITS_AT_MOST 4

/* Seconds. */
#define ANNOUNCED 3

static double unit_roundoff(SafetensorsDtype dtype)
{
    switch (dtype) {
    case SAFETENSORS_F64: return 0x1p-53;
    case SAFETENSORS_F32: return 0x1p-24;
    case SAFETENSORS_F16: return 0x1p-11;
    default: return 0x1p-8;
    }
}

static const char *format_name(SafetensorsDtype dtype)
{
    switch (dtype) {
    case SAFETENSORS_F64: return "float64";
    case SAFETENSORS_F32: return "float32";
    case SAFETENSORS_F16: return "float16";
    default: return "bfloat16";
    }
}

/* How far answers of the witness's format may be from m(T)'s. */
static double find_allowed(const ModelFileWitness *witness, const WitnessWorst *worst)
{
    double unit = unit_roundoff(witness->dtype);
    return LOST_AT_MOST * worst->lost * (unit / 0x1p-24) + UNITS_AT_MOST * unit * worst->most;
}

/* Finds what mends the model; all layers are needed.  0; 2 or 99 after a message. */
static int find_causes(char *text, size_t size, const WitnessModel *model,
                       const WitnessWorst *worst)
{
    ModelFile *file = model->source->file;
    if (!model_stream_enter_all(file)) {
        snprintf(text, size, "its weights take more memory than a search for what mends it may");
        return model_stream_fault(file);
    }
    bool ok = witness_causes(text, size, model, worst);
    model_stream_leave_all(file);
    return ok ? 0 : memory_fault();
}

static int refuse(const WitnessModel *model, const WitnessWorst *worst)
{
    const ModelFile *file = model->source->file;
    char causes[600];
    size_t position = worst->index / model->width, column = worst->index % model->width;
    bool logits = file->witness.logits != NULL;
    int status = find_causes(causes, sizeof causes, model, worst);
    return status != 0
               ? status
               : complain_of(
                     model->source->path, "tensor", logits ? "witness.logits" : "witness.resid",
                     "window %zu, position %zu, %s %zu: %.9g was answered, and %.9g comes out "
                     "here: "
                     "expected them within %.2g (--witness-tolerance): this is another model; %s",
                     worst->window, position + file->witness.span - file->witness.answers,
                     logits ? "class" : "column", column,
                     witness_said(file, worst->window)[worst->index], worst->here, worst->allowed,
                     causes);
}

/* Work of more than a few seconds is announced. */
static void announce(const Point *point, const RunOptions *run)
{
    const ModelFile *file = point->source->file;
    const ModelFileWitness *witness = &file->witness;
    double rows = (double)witness->windows * (double)witness->span, d = (double)file->d;
    double heads = 4 * (double)file->heads * (double)file->d_head, mlp = 2 * (double)file->hidden;
    double weights = (double)file->depth * d * (heads + mlp) + d * (double)file->classes;
    double seconds = 2 * rows * weights * arithmetic_info(ARITHMETIC_F64)->multiply_add;
    if (seconds > ANNOUNCED && !run->quiet) {
        fprintf(stderr,
                "%s: its own answers are evaluated: %zu windows of %zu tokens, about %.0f s\n",
                shown(point->source->path).text, witness->windows, witness->span, seconds);
    }
}

/* What is known of it now, for the conditions of a verdict. */
static void say(ModelFileWitness *witness)
{
    size_t size;
    free(witness->said);
    FILE *file = text_stream(&witness->said, &size);
    fprintf(file, "its own %s agree to %.1e over %zu window%s (%s, asked for: %.1e)",
            witness->logits != NULL ? "logits" : "streams", witness->difference, witness->windows,
            witness->windows == 1 ? "" : "s", format_name(witness->dtype), witness->allowed);
    (void)text_close(file, &witness->said);
}

static int compare(const Point *point, const RunOptions *run)
{
    ModelFile *file = point->source->file;
    ModelFileWitness *witness = &file->witness;
    WitnessModel model;
    WitnessWorst worst;
    double tolerance = run->witness_tolerance;
    witness_model_init(&model, point);
    announce(point, run);
    if (!witness_compare(&worst, &model, (Stretch){0, witness->windows}, tolerance == 0)) {
        int fault = model_source_fault(point->source);
        return fault != 0 ? fault : memory_fault();
    }
    worst.allowed = tolerance > 0 ? tolerance : find_allowed(witness, &worst);
    if (!(worst.difference <= worst.allowed)) {
        return refuse(&model, &worst);
    }
    witness->difference = fmax(witness->difference, worst.difference);
    witness->allowed = worst.allowed;
    say(witness);
    return 0;
}

/* Is T the same, whatever T' is? */
static bool same_original(const Point *a, const Point *b)
{
    const CaseSpec *s = &a->spec, *t = &b->spec;
    return a->source == b->source && s->activation == t->activation && s->scaled == t->scaled &&
           s->mask == t->mask && s->band == t->band && s->norm == t->norm &&
           s->norm_place == t->norm_place && s->norm_eps == t->norm_eps;
}

int witness_check(const Grid *grid, const RunOptions *run)
{
    const Point *before = NULL;
    int status = 0;
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        const Point *point = &grid->points[i];
        bool has = point->source != NULL && point->source->file->witness.tokens != NULL;
        bool done = !has || (before != NULL && same_original(before, point));
        for (size_t j = 0; j < i && !done && j < 1000; j++) {
            done = same_original(&grid->points[j], point);
        }
        if (!done) {
            status = compare(point, run);
        }
        before = has ? point : before;
    }
    return status;
}
