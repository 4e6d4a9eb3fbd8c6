/*
 * Weights files compared with their witnesses, before anything else is made of them.
 */
#include "witness.h"

#include "witness_answers.h"

#include "../../kernels/blas.h"
#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/shown.h"
#include "../base/team.h"
#include "../base/text_stream.h"
#include "../models/model_stream.h"
#include "../models/safetensors.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Seconds; windows that it takes, as a rule, to tell other readings; and seconds that all readings
 * of what is open may take. */
#define ANNOUNCED 3
#define TRIALS 10
#define SOUGHT_MOST 600

static const char *answers_name(const ModelFile *file)
{
    return file->witness.logits != NULL ? "witness.logits" : "witness.resid";
}

/* Of an evaluation that failed: 2 or 99 after a message. */
static int fault_of(const Point *point)
{
    int fault = model_source_fault(point->source);
    return fault != 0 ? fault : memory_fault();
}

static int refuse(const WitnessModel *model, const WitnessWorst *worst)
{
    const ModelSource *source = model->point.source;
    ModelFile *file = source->file;
    char causes[WITNESS_TEXT] = "its weights take more memory than a search for what mends it may";
    size_t position = worst->index / model->width, column = worst->index % model->width;
    bool logits = file->witness.logits != NULL, all = model_stream_enter_all(file);
    bool ok = all ? witness_causes(causes, model, worst) : model_stream_fault(file) == 0;
    if (all) {
        model_stream_leave_all(file);
    }
    return !ok ? fault_of(&model->point)
               : complain_of(source->path, "tensor", answers_name(file),
                             "window %zu, position %zu, %s %zu: %.9g was answered, and %.9g comes "
                             "out here%s: expected them within %.2g (--witness-tolerance): this is "
                             "another model; %s",
                             worst->window, position + file->witness.span - file->witness.answers,
                             logits ? "class" : "column", column,
                             witness_said(file, worst->window)[worst->index], worst->here,
                             isfinite(worst->here) ? "" : " (it overflows)", worst->allowed,
                             causes);
}

/* Roughly, of evaluating so many windows; with as many heads as divisors of a width have on average
 * where that is open. */
static double seconds_of(const ModelFile *file, double windows)
{
    const ArithmeticInfo *machine = arithmetic_info(ARITHMETIC_F64);
    double span = (double)file->witness.span, rows = windows * span, d = (double)file->d;
    double width = (double)file->heads * (double)file->d_head, layers = (double)file->depth;
    double heads = file->heads_open ? fmax(1, width / 4) : (double)file->heads;
    double weights =
        layers * d * (4 * width + 2 * (double)file->hidden) + d * (double)file->classes;
    return 4 * rows * (weights + layers * span * width) * machine->multiply_add +
           rows * layers * span * heads * machine->exponential;
}

/* Work of more than a few seconds is announced. */
static void announce(const Point *point, const RunOptions *run)
{
    const ModelFile *file = point->source->file;
    const ModelFileWitness *witness = &file->witness;
    double seconds = seconds_of(file, (double)witness->windows + TRIALS);
    if (seconds > ANNOUNCED && !run->quiet) {
        fprintf(stderr,
                "%s: its own answers are evaluated: %zu windows of %zu tokens, about %.0f s\n",
                shown(point->source->path).text, witness->windows, witness->span, seconds);
    }
}

/* What is known of it now, for the conditions of a verdict; what it does not tell, or "". */
static void say(ModelFileWitness *witness, const char *untold)
{
    size_t size;
    free(witness->said);
    FILE *file = text_stream(&witness->said, &size);
    fprintf(file, "%s%s: %s off by %.1e, allowed %.1e%s",
            untold[0] == '\0' ? "same model as its witness"
                              : "agrees with its witness, which does not tell ",
            untold, witness->logits != NULL ? "logits" : "streams", witness->difference,
            witness->allowed, witness->narrower ? " (as float32, not as the float64 it is)" : "");
    (void)text_close(file, &witness->said);
}

/* Finds what the witness does not tell; unknown keys are outweighed by one that tells all. */
static int find_untold(const WitnessModel *model)
{
    const ModelSource *source = model->point.source;
    ModelFile *file = source->file;
    char text[WITNESS_TEXT];
    bool heads = model_stream_enter_all(file), assumed = false;
    bool ok =
        (heads || model_stream_fault(file) == 0) && witness_untold(text, &assumed, model, heads);
    if (heads) {
        model_stream_leave_all(file);
    }
    if (!ok) {
        return fault_of(&model->point);
    }
    if (file->doubts != NULL && text[0] != '\0') {
        return complain_of(source->path, NULL, NULL,
                           "unknown keys of metadata or config.json: %s: expected those that "
                           "docs/keys.md lists (--ignore-config KEY,... takes the responsibility "
                           "for others), as its witness does not tell %s",
                           file->doubts, text);
    }
    if (assumed) {
        return complain_of(
            source->path, "tensor", answers_name(file),
            "expected answers that tell %s, as nothing else says it: say it in the "
            "metadata or a config.json, or take longer windows, all of their answers",
            text);
    }
    say(&file->witness, text);
    return 0;
}

static int compare(const Point *point, const RunOptions *run)
{
    ModelFileWitness *witness = &point->source->file->witness;
    WitnessModel model;
    WitnessWorst worst;
    witness_model_init(&model, point, run);
    announce(point, run);
    if (!witness_compare(&worst, &model, 0, true)) {
        return fault_of(point);
    }
    /* Frameworks that are asked for float64 keep norms, softmax or cos and sin in float32. */
    if (witness->dtype == SAFETENSORS_F64 && model.tolerance == 0 &&
        !(worst.difference <= worst.allowed)) {
        witness->dtype = SAFETENSORS_F32;
        witness->narrower = true;
        if (!witness_compare(&worst, &model, 0, true)) {
            return fault_of(point);
        }
    }
    if (!(worst.difference <= worst.allowed)) {
        return refuse(&model, &worst);
    }
    witness->difference = fmax(witness->difference, worst.difference);
    witness->allowed = worst.allowed;
    return find_untold(&model);
}

/* The axes that the file leaves open, where nobody sets them. */
static uint64_t list_open(const Point *point)
{
    uint64_t open = 0;
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        bool set = (point->asked >> axis & 1) != 0;
        open |= (uint64_t)(!set && model_source_lacks(point->source, axis)) << axis;
    }
    return open;
}

/* Makes the reading that fits the file's. */
static void take_fit(ModelSource *source, WitnessModel *model, const WitnessFit *fit, uint64_t open,
                     bool quiet)
{
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if ((open >> axis & 1) != 0) {
            witness_set(model, axis, fit->chosen[axis]);
            model_source_say(source, axis, fit->chosen[axis]);
        }
    }
    if (!quiet && team_rank() == 0) {
        fprintf(stderr, "%s: its witness shows %s\n", shown(source->path).text, fit->fitting);
    }
}

int witness_settle(ModelSource *source, const Point *point, const RunOptions *run)
{
    ModelFile *file = source->file;
    uint64_t open = list_open(point);
    if (file->witness.tokens == NULL || open == 0) {
        return 0;
    }
    WitnessModel model;
    WitnessFit fit;
    witness_model_init(&model, point, run);
    if (!blas_reserve((size_t)omp_get_max_threads())) {
        return memory_fault();
    }
    bool all = model_stream_enter_all(file);
    char words[WITNESS_TEXT];
    double readings = witness_count(words, &model, open), seconds = seconds_of(file, readings);
    if (all && seconds > SOUGHT_MOST) {
        model_stream_leave_all(file);
        return complain_of(source->path, "tensor", answers_name(file),
                           "%.0f readings of the open choices would take about %.0f s, and none "
                           "was tried: expected one of %s in the metadata, or as a flag",
                           readings, seconds, words);
    }
    bool fitted = all && witness_fit(&fit, &model, open);
    if (fitted && fit.count == 0 && file->mask_kept) {
        open |= (uint64_t)1 << AXIS_MASK;
        fitted = witness_fit(&fit, &model, open);
    }
    if (!fitted) {
        return fault_of(point);
    }
    if (fit.count == 1) {
        take_fit(source, &model, &fit, open, run->quiet);
    }
    model_stream_leave_all(file);
    if (fit.count > 1) {
        return complain_of(source->path, "tensor", answers_name(file),
                           "several readings give these answers: expected metadata, flags or "
                           "further answers that choose one: %s",
                           fit.fitting);
    }
    return fit.count == 1
               ? 0
               : complain_of(source->path, "tensor", answers_name(file),
                             "no reading of the open choices gives these answers: %s comes "
                             "closest, off by %.2g, allowed %.2g (--witness-tolerance)",
                             fit.closest, fit.least, fit.allowed);
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
