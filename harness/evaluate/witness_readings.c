/*
 * Other readings of a model: which of them answer what its witness does.
 *
 * A reading differs from the file's in values of axes (scale, activation, heads ...), or in its
 * tensors: transposed, in another order.  One function evaluates it, and it is judged as the file's
 * own is.  Of a witness that disagrees the reading is sought that mends it; of one that agrees all
 * that it does not tell from the file's; of a file that leaves axes open the one that fits.
 */
#include "witness_answers.h"

#include "../../cases/activation.h"
#include "../../memory/need.h"
#include "../base/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds after which no other cause is tried, and how much closer is worth saying. */
#define SECONDS 60
#define CLOSER 0.1

/* Which values of an axis are tried: all; those that are not the model's own; of numbers the
 * nearest two of those. */
typedef enum { ALL_VALUES, OTHERS, NEAREST } Values;

typedef struct {
    const WitnessModel *base;
    WitnessModel model; /* what is tried */
    size_t window;      /* is compared first */
    Values values;
    WitnessWorst worst; /* of what was tried last */
    WitnessFit fit;
    const char
        *between; /* of fit.fitting; NULL: the first that agrees is looked for, and not long */
    bool over, late, failed; /* nothing else is to be tried; there was no time; a layer is absent */
    double began;
} Trials;

static void add(char text[WITNESS_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(char text[WITNESS_TEXT], const char *format, ...)
{
    va_list arguments;
    size_t used = strlen(text);
    va_start(arguments, format);
    vsnprintf(text + used, WITNESS_TEXT - used, format, arguments);
    va_end(arguments);
}

/* Tries self->model, a reading in words. */
static void try_it(Trials *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void try_it(Trials *self, const char *format, ...)
{
    WitnessFit *fit = &self->fit;
    char words[WITNESS_TEXT];
    va_list arguments;
    if (self->over) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    self->failed = !witness_compare(&self->worst, &self->model, self->window, false);
    bool agrees = !self->failed && self->worst.difference <= self->worst.allowed;
    if (agrees) {
        for (Axis axis = 0; axis < AXIS_COUNT && fit->count == 0; axis++) {
            fit->chosen[axis] = point_get(&self->model.point, axis);
        }
        add(fit->fitting, "%s%s", fit->count++ > 0 ? self->between : "", words);
    } else if (!self->failed && !(self->worst.difference >= fit->least)) {
        fit->least = self->worst.difference;
        fit->allowed = self->worst.allowed;
        memcpy(fit->closest, words, sizeof words);
    }
    bool hurries = self->between == NULL;
    self->over = self->failed || (agrees && hurries);
    self->late = !self->over && hurries && clock_seconds() - self->began > SECONDS;
    self->over = self->over || self->late;
}

/* ---- Axes ------------------------------------------------------------------------------------ */

/* What tensors do not show, or a file may say wrong.  The list of readings: list_values. */
static const Axis axes[] = {AXIS_SCALE,         AXIS_ACTIVATION,          AXIS_MASK, AXIS_HEADS,
                            AXIS_NORMALIZATION, AXIS_NORMALIZATION_PLACE, AXIS_EPS};
enum { AXES = sizeof axes / sizeof *axes, VALUES_MOST = 64 };

/* The values of an axis that make models, each another, of the file's tensors. */
static size_t list_values(AxisValue values[VALUES_MOST], const ModelFile *file, Axis axis)
{
    static const double eps[] = {1e-12, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3};
    bool factors = file->heads > 0 && !file->merged, final = file->ln_final_w != NULL;
    bool norms = file->layers[0].ln1_w != NULL || file->layers[0].ln2_w != NULL;
    bool either = norms && !file->folded && !final && file->W_U == NULL;
    size_t first = 0, end = 0; /* of words */
    switch (axis) {
    case AXIS_SCALE: end = file->heads == 0 ? 0 : factors && file->d_head > 1 ? 2 : 1; break;
    case AXIS_ACTIVATION:
        end = file->hidden == 0 ? 0 : file->gated ? ACTIVATION_COUNT : ACTIVATION_PLAIN;
        break;
    case AXIS_MASK: end = file->heads > 0 ? MASK_CAUSAL + 1 : 0; break;
    case AXIS_NORMALIZATION:
        first = norms ? NORMALIZATION_LAYERNORM : NORMALIZATION_NONE;
        end = first + 1 + (norms && !file->betas);
        break;
    case AXIS_NORMALIZATION_PLACE:
        first = either || final ? NORM_PRE : NORM_POST;
        end = norms && !file->folded ? first + 1 + either : first;
        break;
    default: break;
    }
    size_t count = 0, width = factors ? file->heads * file->d_head : 0;
    for (size_t i = first; i < end; i++) {
        values[count++] = (AxisValue){.form = FORM_WORD, .integer = i};
    }
    for (size_t i = 0; axis == AXIS_EPS && norms && i < sizeof eps / sizeof *eps; i++) {
        values[count++] = (AxisValue){.form = FORM_REAL, .real = eps[i]};
    }
    for (size_t i = 1; axis == AXIS_HEADS && i <= width && count < VALUES_MOST; i++) {
        if (width % i == 0) {
            values[count++] = (AxisValue){.form = FORM_INTEGER, .integer = i};
        }
    }
    return count;
}

/* Those that are tried; none beside the model's own where that is a mask that no file has. */
static size_t list_tried(AxisValue values[VALUES_MOST], const Trials *self, Axis axis)
{
    const AxisValue own = point_get(&self->base->point, axis);
    size_t all = list_values(values, self->base->point.source->file, axis), at = 0, count = 0;
    while (at < all && value_compare(&values[at], &own) < 0) {
        at++;
    }
    bool word = own.form == FORM_WORD, near = self->values == NEAREST;
    size_t above = at + (at < all && value_compare(&values[at], &own) == 0);
    if (self->values == ALL_VALUES) {
        return all;
    }
    for (size_t i = 0; i < all && (!word || at < all); i++) {
        if ((i < at || i >= above) && (word || !near || i + 1 == at || i == above)) {
            values[count++] = values[i];
        }
    }
    return count;
}

/* w [from, d, width / from] as [to, d, width / to], of the same columns side by side. */
static void split(double *w, size_t d, size_t width, size_t from, size_t to)
{
    size_t before = width / from, after = width / to;
    double *kept = need_zeros(d, width * sizeof *kept);
    memcpy(kept, w, d * width * sizeof *kept);
    for (size_t c = 0; c < width; c++) {
        for (size_t r = 0; r < d; r++) {
            w[(c / after * d + r) * after + c % after] =
                kept[(c / before * d + r) * before + c % before];
        }
    }
    free(kept);
}

void witness_set(WitnessModel *model, Axis axis, AxisValue value)
{
    ModelFile *file = model->point.source->file;
    size_t width = file->heads * file->d_head, heads = value.integer;
    for (size_t layer = 0; axis == AXIS_HEADS && heads != file->heads && layer < file->depth;
         layer++) {
        const GivenLayer *own = &file->layers[layer];
        const double *const w[] = {own->w_q, own->w_k, own->w_v};
        for (size_t i = 0; i < 3; i++) { /* the file's own numbers */
            split((double *)w[i], file->d, width, file->heads, heads);
        }
    }
    if (axis == AXIS_HEADS) {
        file->heads = heads;
        file->d_head = model->point.spec.d_head = width / heads;
    }
    point_set(&model->point, axis, value);
}

/* Tries every choice of values of these axes, from axes[i] on; words: of those chosen already. */
static void try_values(Trials *self, uint64_t of, size_t i, const char *words)
{
    AxisValue values[VALUES_MOST];
    char text[VALUE_TEXT], longer[WITNESS_TEXT];
    while (i < AXES && (of >> axes[i] & 1) == 0) {
        i++;
    }
    if (i == AXES) {
        try_it(self, "%s", words);
        return;
    }
    const Axis axis = axes[i];
    const AxisInfo *info = axis_info(axis);
    size_t count = list_tried(values, self, axis);
    for (size_t k = 0; k < count && !self->over; k++) {
        witness_set(&self->model, axis, values[k]);
        value_print(text, &info->domain, values[k]);
        snprintf(longer, sizeof longer, "%s%s%s%s%.100s", words, words[0] != '\0' ? ", " : "",
                 self->values != NEAREST ? info->name : "", self->values != NEAREST ? " " : "",
                 text);
        try_values(self, of, i + 1, longer);
    }
    if (count > 0) {
        witness_set(&self->model, axis, point_get(&self->base->point, axis));
    }
}

bool witness_untold(char *text, bool *assumed, const WitnessModel *model, bool heads)
{
    char own[VALUE_TEXT];
    bool ok = true;
    text[0] = '\0';
    *assumed = false;
    for (size_t i = 0; i < AXES && ok; i++) {
        const AxisInfo *info = axis_info(axes[i]);
        Trials self = {.base = model, .model = *model, .values = NEAREST, .between = " or "};
        if (heads || axes[i] != AXIS_HEADS) {
            try_values(&self, (uint64_t)1 << axes[i], i, "");
        }
        if (self.fit.count > 0) {
            *assumed = *assumed || model_file_is_usual(model->point.source->file, info->name);
            value_print(own, &info->domain, point_get(&model->point, axes[i]));
            add(text, "%s%s %s from %s", text[0] != '\0' ? ", " : "", info->name, own,
                self.fit.fitting);
        }
        ok = !self.failed;
    }
    return ok;
}

double witness_count(char *text, const WitnessModel *model, uint64_t open)
{
    AxisValue values[VALUES_MOST];
    double readings = 1;
    text[0] = '\0';
    for (size_t i = 0; i < AXES; i++) {
        size_t count = list_values(values, model->point.source->file, axes[i]);
        if ((open >> axes[i] & 1) != 0 && count > 1) {
            readings *= (double)count;
            add(text, "%s%s (%zu)", text[0] != '\0' ? ", " : "", axis_info(axes[i])->name, count);
        }
    }
    return readings;
}

bool witness_fit(WitnessFit *fit, const WitnessModel *model, uint64_t open)
{
    Trials self = {.base = model, .model = *model, .fit.least = NAN, .between = "; "};
    try_values(&self, open, 0, "");
    *fit = self.fit;
    return !self.failed;
}

/* ---- Tensors --------------------------------------------------------------------------------- */

static void swap(double *a, double *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* The matrices of a layer that a transposition or another order of heads can have changed unseen.
 * A head's lie one behind the other, [heads, rows, columns]. */
typedef struct {
    const char *name;
    const double *data; /* the file's own, which a reading changes */
    size_t heads, rows, columns;
    bool output; /* heads are side by side in its rows, not in its columns */
} Matrix;

enum { MATRICES = 8 };

static size_t list_matrices(Matrix list[MATRICES], const ModelFile *m, size_t layer)
{
    const GivenLayer *l = &m->layers[layer];
    const Matrix all[] = {
        {"W_O (c_proj of attention)", l->w_o, m->heads, m->d_head, m->d, true},
        {"W_Q", l->w_q, m->heads, m->d, m->d_head, false},
        {"W_K", l->w_k, m->heads, m->d, m->d_head, false},
        {"W_V", l->w_v, m->heads, m->d, m->d_head, false},
        {"W_in (c_fc)", l->w_in, 1, m->d, m->hidden, false},
        {"W_out (c_proj of the network)", l->w_out, 1, m->hidden, m->d, true},
        {"QK", l->qk, m->heads, m->d, m->d, false},
        {"OV", l->ov, m->heads, m->d, m->d, true},
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].data != NULL) {
            list[count++] = all[i];
        }
    }
    return count;
}

/* Entry (r, c) of the matrix that all heads make, side by side. */
static double *entry(const Matrix *m, size_t r, size_t c)
{
    size_t head = m->output ? r / m->rows : c / m->columns;
    size_t row = m->output ? r % m->rows : r, column = m->output ? c : c % m->columns;
    return (double *)m->data + (head * m->rows + row) * m->columns + column;
}

/* Of all heads side by side, a square; or of each head by itself. */
static bool can_transpose(const Matrix *m, bool each)
{
    return each ? m->rows == m->columns && m->heads > 1
                : (m->output ? m->heads * m->rows == m->columns : m->rows == m->heads * m->columns);
}

static void transpose(const Matrix *m, bool each)
{
    for (size_t h = 0; h < (each ? m->heads : 1); h++) {
        Matrix part = *m;
        part.data += h * m->rows * m->columns;
        part.heads = each ? 1 : m->heads;
        for (size_t r = 0; r < part.heads * m->rows && r < part.heads * m->columns; r++) {
            for (size_t c = 0; c < r; c++) {
                swap(entry(&part, r, c), entry(&part, c, r), 1);
            }
        }
    }
}

/* What undoes itself when it is done again: in every layer, matrices of one place (ALL: the square
 * ones) transposed, or two heads of them swapped. */
typedef struct {
    size_t place;
    bool each;   /* head by head */
    size_t a, b; /* heads; transposed where they are the same */
} Change;

enum { ALL = MATRICES };

static void change(const ModelFile *file, const Change *it)
{
    for (size_t layer = 0; layer < file->depth; layer++) {
        Matrix list[MATRICES];
        size_t count = list_matrices(list, file, layer);
        for (size_t i = 0; i < count; i++) {
            double *data = (double *)list[i].data;
            size_t size = list[i].rows * list[i].columns;
            if (i == it->place && it->a != it->b) {
                swap(data + it->a * size, data + it->b * size, size);
            } else if (i == it->place || (it->place == ALL && can_transpose(&list[i], false))) {
                transpose(&list[i], it->each);
            }
        }
    }
}

static void try_change(Trials *self, Change it)
{
    const ModelFile *file = self->base->point.source->file;
    Matrix list[MATRICES];
    if (self->over) {
        return;
    }
    list_matrices(list, file, 0);
    change(file, &it);
    if (it.place == ALL) { /* as files of one `nn.Linear` convention have them */
        try_it(self, "all square matrices transposed, in every layer");
    } else if (it.a != it.b) {
        try_it(self, "heads %zu and %zu of %s swapped", it.a, it.b, list[it.place].name);
    } else {
        try_it(self, "%s transposed%s, in every layer", list[it.place].name,
               it.each ? " head by head" : "");
    }
    change(file, &it);
}

static void try_transpositions(Trials *self)
{
    ModelFile *file = self->base->point.source->file;
    const bool tied = file->tied;
    Matrix list[MATRICES];
    size_t count = list_matrices(list, file, 0);
    for (size_t i = 0; i < count; i++) {
        for (int each = 0; each < 2; each++) {
            if (can_transpose(&list[i], each != 0)) {
                try_change(self, (Change){i, each != 0, 0, 0});
            }
        }
    }
    if (file->W_U != NULL && file->d == file->classes) {
        file->tied = !tied;
        try_it(self, "the unembedding (W_U, lm_head) transposed");
        file->tied = tied;
    }
    if (file->d == file->vocabulary) {
        const Matrix embedding = {"", file->W_E, 1, file->d, file->d, false};
        transpose(&embedding, false);
        file->tied = tied && file->classes != file->d;
        try_it(self, "the embedding (W_E, wte) transposed");
        transpose(&embedding, false);
        file->tied = tied;
    }
    try_change(self, (Change){ALL, false, 0, 0});
}

static void try_positions(Trials *self)
{
    ModelFile *file = self->base->point.source->file;
    double *positions = file->W_pos;
    for (size_t i = 1; positions != NULL && i <= 2; i++) {
        self->model.moved = i;
        try_it(self, "positions that begin at row %zu of their embedding", i);
        self->model.moved = file->context - i % file->context;
        try_it(self, "positions moved back by %zu row%s", i, i == 1 ? "" : "s");
    }
    self->model.moved = self->base->moved;
    if (positions != NULL) {
        file->W_pos = NULL;
        try_it(self, "no positions");
        file->W_pos = positions;
    }
}

/* Heads in another order in one of the four, of which a head needs its own. */
static void try_orders(Trials *self)
{
    const ModelFile *file = self->base->point.source->file;
    for (size_t place = 0; place < 4 && file->heads > 1 && !file->merged; place++) {
        for (size_t a = 0; a < file->heads; a++) {
            for (size_t b = a + 1; b < file->heads; b++) {
                try_change(self, (Change){place, false, a, b});
            }
        }
    }
}

static void try_tied(Trials *self)
{
    ModelFile *file = self->base->point.source->file;
    double *own = file->W_U, *b_U = file->b_U;
    bool tied = file->tied;
    if (own == NULL || file->W_E == NULL || file->classes != file->vocabulary) {
        return;
    }
    file->W_U = file->W_E;
    file->tied = true;
    try_it(self, "the embedding as the unembedding (tied)");
    file->W_U = own;
    file->tied = tied;
    file->b_U = NULL;
    if (b_U != NULL) {
        try_it(self, "an unembedding without its bias");
    }
    file->b_U = b_U;
}

/* Kinds of biases that the file has none of, where it has others. */
static void list_absent(char *text, size_t size, const ModelFile *file)
{
    const GivenLayer *l = &file->layers[0];
    bool attention = l->w_q != NULL;
    const struct {
        const char *name;
        bool there, part;
    } kinds[] = {{"b_Q, b_K, b_V", l->b_q != NULL, attention},
                 {"b_O", l->b_o != NULL, attention || l->ov != NULL},
                 {"b_in, b_out", l->b_in != NULL, l->w_in != NULL},
                 {"b of the linear maps", l->linear_b != NULL, l->linear_w != NULL},
                 {"b of the norms", file->betas, l->ln1_w != NULL || l->ln2_w != NULL},
                 {"b_U", file->b_U != NULL, file->W_U != NULL}};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].part && !kinds[i].there) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "; " : "",
                                     kinds[i].name);
        }
    }
}

bool witness_causes(char *text, const WitnessModel *model, const WitnessWorst *worst)
{
    Trials self = {.base = model,
                   .model = *model,
                   .window = worst->window,
                   .values = OTHERS,
                   .fit.least = worst->difference * CLOSER,
                   .began = clock_seconds()};
    const ModelFile *file = model->point.source->file;
    char absent[160];
    try_transpositions(&self);
    for (size_t i = 0; i < AXES; i++) {
        try_values(&self, (uint64_t)1 << axes[i], i, "");
    }
    try_positions(&self);
    try_orders(&self);
    try_tied(&self);
    list_absent(absent, sizeof absent, file);
    text[0] = '\0';
    if (self.fit.count > 0) {
        add(text, "what mends it: %s", self.fit.fitting);
    } else if (self.fit.closest[0] != '\0') {
        add(text, "what comes closest, to %.2e: %s", self.fit.least, self.fit.closest);
    } else {
        add(text,
            "%s change of a square matrix, scale, activation, heads, norms, eps, mask or positions "
            "mends it: likeliest %s%s%s",
            self.late ? "none that was tried in a minute: no" : "no one",
            file->tied ? "an unembedding of its own, which the file lacks (it is tied)" : "",
            file->tied && absent[0] != '\0' ? ", or " : "",
            absent[0] != '\0' ? "biases that the file has none of ("
            : file->tied      ? ""
                              : "weights of another model");
        add(text, absent[0] != '\0' ? "%s)" : "%s", absent);
    }
    return !self.failed;
}
