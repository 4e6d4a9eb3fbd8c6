/*
 * Why a model's own answers may differ: each of the likeliest causes tried, one at a time, on the
 * window where they differ most.
 *
 * A trial changes one thing of the model, evaluates, and changes it back.  What brings the answers
 * within what is allowed at every window is named; else what comes much closer; else what no trial
 * can bring back, as it is not in the file.
 */
#include "witness_answers.h"

#include "../../cases/activation.h"
#include "../base/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds after which no other cause is tried, and how much closer is worth saying. */
#define SECONDS 60
#define CLOSER 0.1

typedef struct {
    const WitnessModel *base;
    WitnessModel model; /* what is tried */
    Stretch window;     /* where answers differ most */
    double allowed;
    double least;
    char closest[160], found[160];
    bool over, late, short_of_memory; /* nothing else is to be tried; there was no time for it */
    double began;
} Causes;

/* Evaluates self->model. */
static void try_it(Causes *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void try_it(Causes *self, const char *format, ...)
{
    WitnessWorst worst;
    char text[160];
    va_list arguments;
    if (self->over) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const Stretch all = {0, self->model.source->file->witness.windows};
    bool ok = witness_compare(&worst, &self->model, self->window, false);
    if (ok && worst.difference <= self->allowed) {
        ok = witness_compare(&worst, &self->model, all, false);
        if (ok && worst.difference <= self->allowed) {
            memcpy(self->found, text, sizeof text);
            self->over = true;
        }
    }
    if (ok && worst.difference < self->least) {
        self->least = worst.difference;
        memcpy(self->closest, text, sizeof text);
    }
    self->short_of_memory = !ok;
    self->late = !self->over && clock_seconds() - self->began > SECONDS;
    self->over = self->over || !ok || self->late;
    self->model = *self->base;
}

static void transpose(double *matrix, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            double kept = matrix[i * n + j];
            matrix[i * n + j] = matrix[j * n + i];
            matrix[j * n + i] = kept;
        }
    }
}

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
    double *data;
    size_t heads, rows, columns;
    bool output; /* heads are side by side in its rows, not in its columns */
} Matrix;

enum { MATRICES = 8 };

static size_t list_matrices(Matrix list[MATRICES], const ModelFile *m, size_t layer)
{
    const ModelFileLayer *l = &m->layers[layer];
    const Matrix all[] = {
        {"W_O (c_proj of attention)", l->attn.W_O, m->heads, m->d_head, m->d, true},
        {"W_Q", l->attn.W_Q, m->heads, m->d, m->d_head, false},
        {"W_K", l->attn.W_K, m->heads, m->d, m->d_head, false},
        {"W_V", l->attn.W_V, m->heads, m->d, m->d_head, false},
        {"W_in (c_fc)", l->mlp.W_in, 1, m->d, m->hidden, false},
        {"W_out (c_proj of the network)", l->mlp.W_out, 1, m->hidden, m->d, true},
        {"QK", l->attn.QK, m->heads, m->d, m->d, false},
        {"OV", l->attn.OV, m->heads, m->d, m->d, true},
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
    return m->data + (head * m->rows + row) * m->columns + column;
}

/* Of all heads side by side, a square; or of each head by itself. */
static bool can_transpose(const Matrix *m, bool each)
{
    return each ? m->rows == m->columns && m->heads > 1
                : (m->output ? m->heads * m->rows == m->columns : m->rows == m->heads * m->columns);
}

static void transpose_matrix(const Matrix *m, bool each)
{
    size_t n = m->output ? m->columns : m->rows;
    for (size_t h = 0; each && h < m->heads; h++) {
        transpose(m->data + h * m->rows * m->columns, m->rows);
    }
    for (size_t r = 0; !each && r < n; r++) {
        for (size_t c = 0; c < r; c++) {
            swap(entry(m, r, c), entry(m, c, r), 1);
        }
    }
}

/* Those of one place in these layers. */
static void transpose_layers(const ModelFile *file, size_t place, bool each, Stretch layers)
{
    for (size_t layer = layers.first; layer < layers.end; layer++) {
        Matrix list[MATRICES];
        if (place < list_matrices(list, file, layer)) {
            transpose_matrix(&list[place], each);
        }
    }
}

static void try_transposed(Causes *self, const Matrix *m, size_t place, Stretch layers)
{
    const ModelFile *file = self->base->source->file;
    char where[48] = "in every layer";
    if (layers.end - layers.first < file->depth) {
        snprintf(where, sizeof where, "in layer %zu alone", layers.first);
    }
    for (int each = 0; each < 2; each++) {
        if (can_transpose(m, each != 0) && !self->over) {
            transpose_layers(file, place, each != 0, layers);
            try_it(self, "%s transposed%s, %s", m->name, each != 0 ? " head by head" : "", where);
            transpose_layers(file, place, each != 0, layers);
        }
    }
}

/* All that are square at once, as files of one `nn.Linear` convention have them. */
static void try_all_transposed(Causes *self)
{
    const ModelFile *file = self->base->source->file;
    Matrix list[MATRICES];
    size_t count = list_matrices(list, file, 0), square = 0;
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < count; i++) {
            if (can_transpose(&list[i], false)) {
                transpose_layers(file, i, false, (Stretch){0, file->depth});
                square += turn == 0;
            }
        }
        if (turn == 0 && square > 1) {
            try_it(self, "all square matrices transposed, in every layer");
        }
    }
}

static void try_transpositions(Causes *self, bool every_layer)
{
    ModelFile *file = self->base->source->file;
    Matrix list[MATRICES];
    size_t count = list_matrices(list, file, 0);
    for (size_t i = 0; i < count; i++) {
        if (every_layer) {
            try_transposed(self, &list[i], i, (Stretch){0, file->depth});
        }
        for (size_t layer = 0; !every_layer && file->depth > 1 && layer < file->depth; layer++) {
            try_transposed(self, &list[i], i, (Stretch){layer, layer + 1});
        }
    }
    if (every_layer && file->W_U != NULL && file->d == file->classes) {
        file->tied = !file->tied;
        try_it(self, "the unembedding (W_U, lm_head) transposed");
        file->tied = !file->tied;
    }
    if (every_layer && file->d == file->vocabulary) {
        bool tied = file->tied;
        transpose(file->W_E, file->d);
        file->tied = tied && file->classes != file->d;
        try_it(self, "the embedding (W_E, wte) transposed");
        transpose(file->W_E, file->d);
        file->tied = tied;
    }
    if (every_layer) {
        try_all_transposed(self);
    }
}

/* Tries other settings of a model than are said beside its tensors. */
static void try_said(Causes *self)
{
    static const double eps[] = {1e-5, 1e-6, 1e-12, 1e-8, 1e-3, 1e-7, 1e-4, 1e-10, 1e-2};
    const CaseSpec *said = &self->base->spec;
    const ModelFile *file = self->base->source->file;
    CaseSpec *spec = &self->model.spec;
    if (file->heads > 0 && !file->merged) {
        spec->scaled = !said->scaled;
        try_it(self, "scale %s", said->scaled ? "1" : "1/sqrt(d_head)");
    }
    for (Activation a = 0; file->hidden > 0 && a < ACTIVATION_COUNT; a++) {
        if (a != said->activation) {
            spec->activation = a;
            try_it(self, "activation %s", activation_names[a]);
        }
    }
    for (size_t i = 0; said->norm != NORMALIZATION_NONE && i < sizeof eps / sizeof *eps; i++) {
        spec->norm_eps = eps[i];
        try_it(self, "eps %g", eps[i]);
    }
    if (file->heads > 0 && (said->mask == MASK_NONE || said->mask == MASK_CAUSAL)) {
        spec->mask = said->mask == MASK_CAUSAL ? MASK_NONE : MASK_CAUSAL;
        try_it(self, "mask %s", said->mask == MASK_CAUSAL ? "none" : "causal");
    }
}

static void try_positions(Causes *self)
{
    ModelFile *file = self->base->source->file;
    double *positions = file->W_pos;
    for (size_t i = 1; positions != NULL && i <= 2; i++) {
        self->model.moved = i;
        try_it(self, "positions that begin at row %zu of their embedding", i);
        self->model.moved = file->context - i % file->context;
        try_it(self, "positions moved back by %zu row%s", i, i == 1 ? "" : "s");
    }
    if (positions != NULL) {
        file->W_pos = NULL;
        try_it(self, "no positions");
        file->W_pos = positions;
    }
}

/* Heads in another order in one of the four, of which a head needs its own. */
static void try_heads(Causes *self)
{
    const ModelFile *file = self->base->source->file;
    for (size_t place = 0; place < 4 && file->heads > 1 && !file->merged; place++) {
        for (size_t a = 0; a < file->heads; a++) {
            for (size_t b = a + 1; b < file->heads && !self->over; b++) {
                for (int turn = 0; turn < 2; turn++) {
                    Matrix list[MATRICES] = {{.name = ""}};
                    for (size_t layer = 0; layer < file->depth; layer++) {
                        list_matrices(list, file, layer);
                        size_t size = list[place].rows * list[place].columns;
                        swap(list[place].data + a * size, list[place].data + b * size, size);
                    }
                    if (turn == 0) {
                        try_it(self, "heads %zu and %zu of %s swapped", a, b, list[place].name);
                    }
                }
            }
        }
    }
}

/* Queries in the place of keys. */
static void try_roles(Causes *self)
{
    const ModelFile *file = self->base->source->file;
    size_t size = file->heads * file->d * file->d_head;
    for (int turn = 0; turn < 2 && file->heads > 0 && !file->merged; turn++) {
        for (size_t layer = 0; layer < file->depth; layer++) {
            ModelFileLayer *l = &file->layers[layer];
            swap(l->attn.W_Q, l->attn.W_K, size);
            if (l->attn.b_Q != NULL && l->attn.b_K != NULL) {
                swap(l->attn.b_Q, l->attn.b_K, file->heads * file->d_head);
            }
        }
        if (turn == 0) {
            try_it(self, "W_Q and W_K in each other's place");
        }
    }
}

static void try_tied(Causes *self)
{
    ModelFile *file = self->base->source->file;
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
    const ModelFileLayer *l = &file->layers[0];
    bool attention = l->attn.W_Q != NULL;
    const struct {
        const char *name;
        bool there, part;
    } kinds[] = {{"b_Q, b_K, b_V", l->attn.b_Q != NULL, attention},
                 {"b_O", l->attn.b_O != NULL, attention || l->attn.OV != NULL},
                 {"b_in, b_out", l->mlp.b_in != NULL, l->mlp.W_in != NULL},
                 {"b of the linear maps", l->linear.b != NULL, l->linear.W != NULL},
                 {"b of the norms", file->betas, l->ln1.w != NULL || l->ln2.w != NULL},
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

bool witness_causes(char *text, size_t size, const WitnessModel *model, const WitnessWorst *worst)
{
    Causes self = {.base = model,
                   .model = *model,
                   .window = {worst->window, worst->window + 1},
                   .allowed = worst->allowed,
                   .least = worst->difference * CLOSER,
                   .began = clock_seconds()};
    const ModelFile *file = model->source->file;
    char absent[160];
    try_transpositions(&self, true);
    try_said(&self);
    try_positions(&self);
    try_heads(&self);
    try_roles(&self);
    try_tied(&self);
    try_transpositions(&self, false);
    list_absent(absent, sizeof absent, file);
    if (self.found[0] != '\0') {
        snprintf(text, size, "what mends it: %s", self.found);
    } else if (self.closest[0] != '\0') {
        snprintf(text, size, "what comes closest, to %.2e: %s", self.least, self.closest);
    } else {
        snprintf(text, size,
                 "%s change of a square matrix, scale, activation, eps, mask, positions or heads "
                 "mends it: likeliest %s%s%s",
                 self.late ? "none that was tried in a minute: no" : "no one",
                 file->tied ? "an unembedding of its own, which the file lacks (it is tied)" : "",
                 file->tied && absent[0] != '\0' ? ", or " : "",
                 absent[0] != '\0' ? "biases that the file has none of ("
                 : file->tied      ? ""
                                   : "weights of another model");
        if (absent[0] != '\0') {
            size_t used = strlen(text);
            snprintf(text + used, size - used, "%s)", absent);
        }
    }
    return !self.short_of_memory;
}
