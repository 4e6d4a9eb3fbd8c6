/*
 * Heads: which rows of the stream they leave alone, and which they change alike in T_infinity and
 * in T'.  Layer norms: which entries they leave 0, and which are the same in T_infinity and in T'.
 */
#include "trace.h"

#include "../../memory/need.h"
#include "../evaluator/layer_norm.h"

#include <stdlib.h>
#include <string.h>

/* ---- Layer norms ----------------------------------------------------------------------------- */

/* Is gamma c / sqrt(s) 0 in column c, whatever the others hold: an only entry is its own mean, and
 * an RMSNorm leaves a 0 what it is? */
static bool quotient_zero(const LayerNorm *norm, const unsigned char *known, size_t c)
{
    bool rms = norm->kind == NORMALIZATION_RMSNORM;
    return norm->gamma[c] == 0 || (!rms && norm->columns.count == 1) ||
           (rms && (known[c] & PROVEN_ZERO) != 0);
}

static void norm_row(const Trace *trace, const LayerNorm *norm, size_t row, unsigned char *flags)
{
    bool token = row != layout_bias_row(&trace->model->layout);
    const unsigned char *known = trace->known + row * trace->columns + norm->columns.first;
    int all = trace_block(trace, row, 1, norm->columns);
    for (size_t c = 0; c < norm->columns.count; c++) {
        bool zero = (all & PROVEN_ZERO) != 0 || quotient_zero(norm, known, c);
        bool beta = token && norm->beta != NULL && norm->beta[c] != 0;
        flags[norm->columns.first + c] =
            (unsigned char)(zero && !beta
                                ? PROVEN_SAME | PROVEN_ZERO |
                                      ((known[c] & PROVEN_ZERO) != 0 ? known[c] & PROVEN_GIVEN : 0)
                            : zero ? PROVEN_SAME
                                   : all & PROVEN_SAME);
    }
}

/* flags [rows, columns]: those of norm(x), where x has trace->known; none of a row that is lost. */
static void trace_norm(const Trace *trace, const LayerNorm *norm, unsigned char *flags)
{
    memcpy(flags, trace->known, trace->rows * trace->columns);
    for (size_t row = 0; row < trace->rows; row++) {
        if ((!trace->lost[row] || trace->beside) && norm_acts(&trace->model->layout, norm, row)) {
            norm_row(trace, norm, row, flags + row * trace->columns);
        }
    }
}

/* ---- Heads ----------------------------------------------------------------------------------- */

/* The widest value, query or hidden layer that a sublayer has. */
static size_t widest(const Model *model)
{
    size_t most = layout_content(&model->layout) + 1;
    for (size_t s = 0; s < model->sublayer_count; s++) {
        size_t hidden = model->sublayers[s].direct.hidden;
        most = model->sublayers[s].bundle_count == 0 && hidden > most ? hidden : most;
    }
    return most;
}

void trace_open(Trace *trace, const Model *model, const double *x, const double *bias_row_content)
{
    const Layout *layout = &model->layout;
    size_t rows = layout_rows(layout), columns = layout_content(layout);
    *trace = (Trace){.model = model, .rows = rows, .columns = columns};
    trace->known = need_room(rows, 3 * columns);
    trace->next = trace->known + rows * columns;
    trace->normed = trace->next + rows * columns;
    trace->row = need_zeros(rows, 3);
    trace->lost = trace->row + rows;
    trace->zero = trace->lost + rows;
    trace->live = need_zeros(widest(model), 1);
    for (size_t i = 0; i < rows * columns; i++) {
        size_t row = i / columns, c = i % columns, bias = layout_bias_row(layout);
        size_t token = row - layout_token_row(layout, 0);
        double entry = row != bias                ? x[token * columns + c]
                       : bias_row_content != NULL ? bias_row_content[c]
                                                  : 0;
        trace->known[i] = entry == 0 ? PROVEN_ALL : PROVEN_ALL & ~PROVEN_ZERO;
    }
    memcpy(trace->next, trace->known, rows * columns);
}

void trace_clear(Trace *trace)
{
    free(trace->known);
    free(trace->row);
    free(trace->live);
}

/* Flags that some columns of a row share. */
static int row_flags(const unsigned char *row, Columns columns)
{
    int flags = columns.count > 0 ? PROVEN_ALL : 0;
    for (size_t c = columns.first; c < columns.first + columns.count; c++) {
        flags &= row[c];
    }
    return flags;
}

int trace_block(const Trace *trace, size_t first, size_t count, Columns columns)
{
    int flags = columns.count > 0 ? PROVEN_ALL : 0;
    for (size_t i = first; i < first + count && flags != 0; i++) {
        flags &= row_flags(trace->known + i * trace->columns, columns);
    }
    return flags;
}

void trace_keep(Trace *trace, size_t row, Columns columns, int kept)
{
    for (size_t c = columns.first; c < columns.first + columns.count; c++) {
        trace->next[row * trace->columns + c] &= (unsigned char)kept;
    }
    trace->lost[row] = trace->lost[row] || (kept == 0 && columns.count == trace->columns);
}

bool trace_any(const double *data, size_t count, size_t stride)
{
    size_t i = 0;
    while (i < count && data[i * stride] == 0) {
        i++;
    }
    return i < count;
}

/* Head h of a bundle. */
typedef struct {
    const Score *score;
    const Value *value;
    size_t h;
    Columns read, write; /* of its value */
    bool biased;         /* token rows have a value whatever their content */
    bool constant;       /* and so has the bias row */
    bool taken_back;     /* a neighbour writes the opposite into it, where it is alone */
} Head;

/* Has row r of V, and of the diagonal beside it, an entry that is not 0? */
static bool dense_row_lives(const Value *value, const double *row, size_t r)
{
    size_t own = value->read.first + r - value->write.first; /* beyond count: not written */
    if (row != NULL && value->diagonal != 0 && own < value->write.count) {
        double entry = row[own] + value->diagonal;
        return entry != 0 || trace_any(row, own, 1) ||
               trace_any(row + own + 1, value->write.count - own - 1, 1);
    }
    return value->diagonal != 0 || (row != NULL && trace_any(row, value->write.count, 1));
}

/* trace->live [read.count]: the columns read that the head's value depends on. */
static void find_live(Trace *trace, Head *head)
{
    const Value *value = head->value;
    const double *v = value->v.data, *o = value->o.data;
    v = v != NULL ? v + head->h * value->v.head_stride : NULL;
    head->biased = value_is_sign(value) || (head->h == 0 && value->bias != NULL &&
                                            trace_any(value->bias, value->write.count, 1));
    head->constant = value_is_sign(value) || (head->h == 0 && value->bias_row != 0);
    for (size_t r = 0; r < head->read.count; r++) {
        const double *row = v != NULL ? v + r * value->v.ld : NULL;
        trace->live[r] = value->unit != 0 || (value->d_head == 0 && dense_row_lives(value, row, r));
    }
    for (size_t k = 0; k < value->d_head; k++) {
        if (o != NULL && !trace_any(o + head->h * value->o.head_stride + k * value->o.ld,
                                    value->write.count, 1)) {
            continue;
        }
        head->biased = head->biased || (value->inner_bias != NULL &&
                                        value->inner_bias[head->h * value->d_head + k] != 0);
        for (size_t r = 0; v != NULL && r < head->read.count; r++) {
            trace->live[r] = trace->live[r] || v[r * value->v.ld + k] != 0;
        }
    }
}

/* Do all columns read that live have the flag in this row? */
static bool row_has(const Trace *trace, const Head *head, size_t row, int flag)
{
    const unsigned char *known = trace->read + row * trace->columns + head->read.first;
    if ((trace->row[row] & flag) != 0) {
        return true;
    }
    size_t r = 0;
    while (r < head->read.count && (!trace->live[r] || (known[r] & flag) != 0)) {
        r++;
    }
    return r == head->read.count;
}

/* trace->zero; returns whether every key's value is 0. */
static bool find_zeros(Trace *trace, const Head *head)
{
    size_t bias = layout_bias_row(&trace->model->layout);
    bool all = true;
    for (size_t j = 0; j < trace->rows; j++) {
        bool constant = j != bias ? head->biased : head->constant;
        trace->zero[j] = !constant && row_has(trace, head, j, PROVEN_ZERO);
        all = all && trace->zero[j];
    }
    return all;
}

/* Are the columns that scores read the same in T'? */
static bool scores_same(const Trace *trace, const Score *score, size_t row)
{
    const unsigned char *read = trace->read + row * trace->columns;
    return (trace->row[row] & PROVEN_SAME) != 0 ||
           (row_flags(read, score->read) & row_flags(read, score_query_columns(score)) &
            PROVEN_SAME) != 0;
}

/* The flags that survive in the row's columns written: all where it sees zeros alone; whether it
 * is the same in T' where every key that it sees has the largest coefficient of Omega, and
 * neither their values nor the scores differ. */
static int flags_kept(const Trace *trace, const Head *head, size_t row)
{
    const Layout *layout = &trace->model->layout;
    const Score *score = head->score;
    bool zeros = true, same = true, keys_same = true, by_key = score_by_key(score);
    size_t seen = 0;
    int common = 0;
    for (size_t j = 0; j < trace->rows && (zeros || same); j++) {
        if (!score_sees(layout, score, row, j)) {
            continue;
        }
        int coefficient = score_position(layout, score, head->h, row, j);
        common = seen++ == 0 ? coefficient : common;
        zeros = zeros && trace->zero[j];
        same = same && (coefficient == common) && row_has(trace, head, j, PROVEN_SAME);
        keys_same = keys_same && (!by_key || scores_same(trace, score, j));
    }
    if (head->taken_back && seen == 1 && row == layout_bias_row(layout)) {
        zeros = row_has(trace, head, row, PROVEN_ZERO);
    }
    bool scores = seen < 2 || !(by_key || score_by_gate(score)) ||
                  (keys_same && scores_same(trace, score, row));
    return zeros ? PROVEN_ALL : same && scores ? PROVEN_SAME : 0;
}

static void trace_head(Trace *trace, const Sublayer *sublayer, size_t b, size_t h)
{
    const Bundle *bundle = &sublayer->bundles[b];
    const Value *value = &bundle->value;
    bool more = value->diagonal != 0 || (h == 0 && value_has_bias(value));
    bool column = value->d_head > 0 && value->o.data == NULL;
    bool unit = value->unit != 0 && !more; /* one column of its own */
    Head head = {.score = &bundle->score,
                 .value = value,
                 .h = h,
                 .read = value->read,
                 .write = value->write,
                 .taken_back = bundle_is_taken_back(sublayer, b)};
    if (value_width(value) == 0 && value->diagonal == 0) {
        head.read.count = 0;
    } else if (unit) {
        head.read = (Columns){value->read.first + h, 1};
        head.write = (Columns){value->write.first + h, 1};
    }
    if (column) {
        head.write = (Columns){value->write.first + h, 1};
    }
    find_live(trace, &head);
    if (find_zeros(trace, &head)) {
        return;
    }
    for (size_t row = 0; row < trace->rows; row++) {
        if (trace->lost[row] ||
            (unit && trace->next[row * trace->columns + head.write.first] == 0)) {
            continue;
        }
        int kept = flags_kept(trace, &head, row);
        trace_keep(trace, row, head.write, kept);
        if (value->diagonal != 0) {
            trace_keep(trace, row, head.read, kept);
        }
    }
}

/* Is nothing known of any row any more? */
static bool all_lost(const Trace *trace)
{
    size_t row = 0;
    while (row < trace->rows && trace->lost[row]) {
        row++;
    }
    return row == trace->rows;
}

/* Sets the flags of the sublayer's input. */
static void trace_input(Trace *trace, const LayerNorm *norm)
{
    trace->read = trace->known;
    if (norm->kind != NORMALIZATION_NONE) {
        trace_norm(trace, norm, trace->normed);
        trace->read = trace->normed;
    }
    for (size_t i = 0; i < trace->rows; i++) {
        trace->row[i] = (unsigned char)row_flags(trace->read + i * trace->columns,
                                                 (Columns){0, trace->columns});
    }
}

/* The layer's sublayers, whose weights are there. */
static void trace_sublayers(Trace *trace, size_t layer)
{
    const Model *model = trace->model;
    size_t columns = trace->columns;
    for (; trace->sublayer < model->layer_end[layer - 1] && !all_lost(trace); trace->sublayer++) {
        const Sublayer *sublayer = &model->sublayers[trace->sublayer];
        trace->beside = sublayer->beside;
        trace_input(trace, &sublayer->norm);
        for (size_t b = 0; b < sublayer->bundle_count; b++) {
            for (size_t h = 0; h < sublayer->bundles[b].heads; h++) {
                trace_head(trace, sublayer, b, h);
            }
        }
        if (sublayer->bundle_count == 0) {
            trace_direct(trace, &sublayer->direct);
        }
        if (!model_goes_on(model, trace->sublayer) || all_lost(trace)) {
            memcpy(trace->known, trace->next, trace->rows * columns);
        }
    }
}

bool trace_layer(Trace *trace, size_t layer)
{
    const Model *model = trace->model;
    bool lost = all_lost(trace);
    if (!lost && !model_enter(model, layer - 1)) {
        return false;
    }
    if (!lost) {
        trace_sublayers(trace, layer);
        model_leave(model, layer - 1);
    }
    trace->sublayer = model->layer_end[layer - 1];
    return true;
}
