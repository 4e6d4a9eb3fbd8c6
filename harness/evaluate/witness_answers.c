/*
 * m(T) at a witness's tokens.
 */
#include "witness_answers.h"

#include "../../memory/need.h"
#include "shared.h"
#include "unembed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Answers are allowed so many times what their format loses of m(T), and so many units of its
 * roundoff of the largest: the last roundings of a program are not m(T)'s. */
#define LOST_AT_MOST 4
#define UNITS_AT_MOST 2

/* Answers so many times as far as is allowed are not looked at further. */
#define FAR 16

/* What a format loses is measured in arithmetics, its own first, each scaled to its roundoff: one
 * alone may be lucky.  One may overflow; float rounds sums, which halves do not.  What double loses
 * is lost twice, of the answers and of m(T). */
enum { MEASURED = 3 };
static const struct {
    double unit;
    Arithmetic in[MEASURED]; /* up to ARITHMETIC_NONE */
} formats[] = {[SAFETENSORS_F64] = {0x1p-52, {ARITHMETIC_F32, ARITHMETIC_BF16, ARITHMETIC_FP16}},
               [SAFETENSORS_F32] = {0x1p-24, {ARITHMETIC_F32, ARITHMETIC_BF16, ARITHMETIC_FP16}},
               [SAFETENSORS_F16] = {0x1p-11, {ARITHMETIC_FP16, ARITHMETIC_BF16}},
               [SAFETENSORS_BF16] = {0x1p-8, {ARITHMETIC_BF16, ARITHMETIC_FP16}}};

void witness_model_init(WitnessModel *model, const Point *point, const RunOptions *run)
{
    const ModelFile *file = point->source->file;
    *model = (WitnessModel){.point = *point, .tolerance = run->model.witness_tolerance};
    CaseSpec *spec = &model->point.spec;
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

/* A reading while windows are evaluated. */
typedef struct {
    const WitnessModel *model;
    const ModelFile *file;
    Point point;
    GivenWeights given;
    Shared *family; /* of all windows */
    double *x;      /* [span, d] */
    size_t count;
    double *wide, *narrow; /* [count] answers of a window */
} Answers;

/* Sums of two rows, each as the machine stores it. */
static void embed(const Answers *self, size_t window, NumberFormat format)
{
    const ModelFile *file = self->file;
    const ModelFileWitness *witness = &file->witness;
    for (size_t i = 0; i < witness->span; i++) {
        size_t token = (size_t)witness->tokens[window * witness->span + i];
        size_t place = file->W_pos == NULL ? 0 : (i + self->model->moved) % file->context;
        for (size_t c = 0; c < file->d; c++) {
            double position = file->W_pos == NULL ? 0 : file->W_pos[place * file->d + c];
            self->x[i * file->d + c] = format_nearest(format, file->W_E[token * file->d + c]) +
                                       format_nearest(format, position);
        }
    }
}

/* out = what is read from the stream x [span, d] behind the last layer. */
static void read_out(double *out, const Answers *self, const Pair *pair, const double *x,
                     const ArithmeticInfo *machine)
{
    const ModelFile *file = self->file;
    size_t count = file->witness.answers;
    const RefRows rows = {file->witness.span - count, count};
    if (file->witness.logits == NULL) {
        memcpy(out, x + rows.first * file->d, count * file->d * sizeof *out);
        return;
    }
    const RefUnembedding unembedding = {.w_u = file->W_U,
                                        .b_u = file->b_U,
                                        .d = file->d,
                                        .classes = file->classes,
                                        .norm = pair->final_norm,
                                        .by_class = file->tied};
    unembed_machine(out, &(MachineView){x, file->d}, rows, &unembedding, machine, true);
}

/* out [answers, width] = m(T)'s at a window. */
static bool evaluate(double *out, const Answers *self, size_t window, Arithmetic arithmetic)
{
    const ArithmeticInfo *machine = arithmetic_info(arithmetic);
    Pair pair = {0};
    embed(self, window, machine->formats.storage);
    case_at_input(&pair, &self->family->pair, &self->point.spec);
    Point point = self->point;
    point.arithmetic = arithmetic;
    point.kernel = KERNEL_STRUCTURED;
    const Start start = {&pair.original, pair.original_x, NULL, 0};
    double *x = need_zeros(self->file->witness.span, self->file->d * sizeof *x);
    bool ok = machine_streams(x, &start, &point, self->file->d, false);
    if (ok) {
        read_out(out, self, &pair, x, machine);
    }
    free(x);
    case_clear(&pair);
    return ok;
}

static void take_worst(WitnessWorst *worst, const Answers *self, size_t window)
{
    const double *said = witness_said(self->file, window);
    for (size_t i = 0; i < self->count; i++) {
        double difference = fabs(self->wide[i] - said[i]);
        difference = isnan(difference) ? INFINITY : difference;
        worst->most = fmax(worst->most, fabs(said[i]));
        if (difference > worst->difference) {
            worst->difference = difference;
            worst->here = self->wide[i];
            worst->window = window;
            worst->index = i;
        }
    }
}

/* What the witness's format loses of these answers, as far as it may still matter. */
static bool take_lost(WitnessWorst *worst, const Answers *self, size_t window, bool all)
{
    const Arithmetic *in = formats[self->file->witness.dtype].in;
    const double unit = formats[self->file->witness.dtype].unit;
    for (size_t k = 0; k < MEASURED && in[k] != ARITHMETIC_NONE; k++) {
        double most = 0;
        if (!evaluate(self->narrow, self, window, in[k])) {
            return false;
        }
        for (size_t i = 0; i < self->count; i++) {
            double lost = fabs(self->wide[i] - self->narrow[i]);
            most = isnan(lost) ? INFINITY : fmax(most, lost);
        }
        most *= ldexp(unit, arithmetic_format(arithmetic_info(in[k]))->digits);
        worst->lost = isinf(most) ? worst->lost : fmax(worst->lost, most);
        worst->allowed = LOST_AT_MOST * worst->lost + UNITS_AT_MOST * unit * worst->most;
        if (!all && worst->difference > FAR * worst->allowed) {
            break;
        }
    }
    return true;
}

bool witness_compare(WitnessWorst *worst, const WitnessModel *model, size_t first, bool all)
{
    const ModelSource *source = model->point.source;
    const ModelFile *file = source->file;
    Answers self = {.model = model,
                    .file = file,
                    .point = model->point,
                    .given = source->given,
                    .x = need_zeros(file->witness.span, file->d * sizeof *self.x),
                    .count = file->witness.answers * model->width};
    self.wide = need_zeros(self.count, sizeof *self.wide);
    self.narrow = need_zeros(self.count, sizeof *self.narrow);
    self.point.spec.given = &self.given;
    self.point.spec.rotary_tables = TABLES_FLOAT32; /* as the model's own program has them */
    self.given.x = self.x;
    *worst = (WitnessWorst){.difference = -1, .allowed = model->tolerance};
    /* The point was outlined before; a reading of the file that no model is, answers nothing. */
    self.family = shared_make_family(&self.point, 0);
    bool ok = true, far = self.family == NULL;
    worst->difference = far ? INFINITY : worst->difference;
    for (size_t i = 0; ok && !far && i < file->witness.windows; i++) {
        size_t window = (first + i) % file->witness.windows;
        ok = evaluate(self.wide, &self, window, ARITHMETIC_F64);
        if (ok) {
            take_worst(worst, &self, window);
            ok = model->tolerance > 0 || take_lost(worst, &self, window, all);
        }
        far = !all && worst->difference > FAR * worst->allowed;
    }
    shared_clear(self.family);
    free(self.wide);
    free(self.narrow);
    free(self.x);
    return ok;
}
