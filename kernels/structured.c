/*
 * A bundle at the original's cost: content scores, values, pattern times values, output, with
 * factors kept as factors and position columns never stored.
 */
#include "structured.h"

#include "blas.h"

#include "../cases/fault.h"

#include <string.h>

typedef struct {
    const Pass *pass;
    const Bundle *bundle;
    size_t n;
    size_t width; /* of one head's inner values */
    ConstRows x;  /* the stream */
    Rows sum;
    Rows gates;        /* [., heads] scores toward tokens, SCORE_GATE */
    Rows inner, mixed; /* [., width * heads], one head at a time for VALUE_DENSE */
    double *others;    /* [columns of mixed] */
    Bilinear bilinear;
} Task;

/* Dense values are as wide as the output: one head at a time. */
static bool head_by_head(const Value *value)
{
    return value->kind == VALUE_DENSE;
}

static size_t inner_width(const Value *value)
{
    switch (value->kind) {
    case VALUE_UNIT: return 1;
    case VALUE_DENSE: return value->write.count;
    case VALUE_FACTORED: return value->d_head;
    default: return 0;
    }
}

static void take_scratch(Task *task, Scratch *scratch, const Layout *layout)
{
    const Bundle *bundle = task->bundle;
    double heads = (double)bundle->heads;
    double inner = (double)task->width * (head_by_head(&bundle->value) ? 1 : heads);
    double mixed = fmax(inner, bundle->value.diagonal != 0 ? (double)bundle->value.read.count : 0);
    task->inner = rows_take(scratch, layout, inner);
    task->mixed = rows_take(scratch, layout, mixed);
    if (bundle->score.kind == SCORE_BILINEAR) {
        task->bilinear = bilinear_take(scratch, layout, bundle);
    } else {
        task->others = scratch_take(scratch, 1, mixed);
    }
    if (bundle->score.kind == SCORE_GATE) {
        task->gates = rows_take(scratch, layout, heads);
    }
}

double structured_scratch(const Layout *layout, const Bundle *bundle)
{
    Scratch scratch = {NULL, 0};
    Task task = {.bundle = bundle, .n = layout->n, .width = inner_width(&bundle->value)};
    take_scratch(&task, &scratch, layout);
    return scratch.taken;
}

static Task task_make(const Pass *pass, const Bundle *bundle)
{
    const Layout *layout = pass->layout;
    Scratch scratch = {pass->scratch, 0};
    Task task = {.pass = pass, .bundle = bundle, .n = layout->n};
    size_t first = layout_token_row(layout, 0) * pass->ld;
    task.width = inner_width(&bundle->value);
    task.x = (ConstRows){pass->stream + first, NULL, pass->ld};
    task.sum = (Rows){pass->sum + first, NULL, pass->ld};
    if (layout->bias_row != BIAS_ROW_NONE) {
        task.x.bias = pass->stream + layout_bias_row(layout) * pass->ld;
        task.sum.bias = pass->sum + layout_bias_row(layout) * pass->ld;
    }
    take_scratch(&task, &scratch, layout);
    return task;
}

/* A fused head gates by what it passes on: x G and X V are one product. */
static bool value_is_gate(const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    return score->kind == SCORE_GATE && score->gate.data != NULL && value->kind == VALUE_FACTORED &&
           value->d_head == 1 && value->v.data == score->gate.data &&
           value->v.ld == score->gate.ld && value->v.head_stride == score->gate.head_stride &&
           value->read.first == score->read.first && value->read.count == score->read.count;
}

static void fill_gates(const Task *task)
{
    const Score *score = &task->bundle->score;
    ConstRows x = rows_const_from(task->x, score->read.first);
    if (score->gate.data == NULL) {
        rows_scale(task->gates, x, score->gate_unit, task->n, task->bundle->heads);
    } else {
        rows_project(task->gates, x, score->gate, task->n, score->read.count, task->bundle->heads,
                     1);
    }
}

static void fill_inner(const Task *task, size_t head)
{
    const Value *value = &task->bundle->value;
    ConstRows x = rows_const_from(task->x, value->read.first);
    size_t heads = task->bundle->heads;
    if (value->kind == VALUE_UNIT) {
        rows_scale(task->inner, x, value->unit, task->n, heads);
    } else if (value->kind == VALUE_DENSE) {
        rows_project(task->inner, x, head_weight(value->v, head), task->n, value->read.count, 1,
                     task->width);
    } else if (value_is_gate(task->bundle)) {
        rows_scale(task->inner, rows_const(task->gates), 1.0, task->n, heads);
    } else if (value->kind == VALUE_FACTORED) {
        rows_project(task->inner, x, value->v, task->n, value->read.count, heads, task->width);
    }
}

/* out = pattern in for heads head, ..., on width columns each. */
static void attend(const Task *task, Rows out, ConstRows in, size_t head, size_t heads,
                   size_t width)
{
    const Score *score = &task->bundle->score;
    if (score->kind == SCORE_BILINEAR) {
        bilinear_attend(&task->bilinear, out, in, task->n, width);
        return;
    }
    GroupScores scores = group_scores(task->pass->layout, score, task->pass->omega);
    ConstRows gates = {NULL, NULL, 0};
    if (score->kind == SCORE_GATE) {
        gates = rows_const_from(rows_const(task->gates), head);
    }
    groups_attend(&scores, out, in, gates, task->others, head, heads, width);
}

/* Row i's weight on all tokens, for the head whose pattern is there (head 0). */
static double token_mass(const Task *task, size_t i)
{
    const Score *score = &task->bundle->score;
    if (score->kind == SCORE_BILINEAR) {
        return task->bilinear.mass[i];
    }
    GroupScores scores = group_scores(task->pass->layout, score, task->pass->omega);
    double content = score->kind == SCORE_GATE ? rows_row(task->gates, task->n, i)[0] : 0;
    if (i == task->n) {
        Groups weight = groups_of_bias_row(&scores, content, 0);
        return (double)groups_tokens_of_bias_row(&scores) * weight.other;
    }
    Groups weight = groups_of_token(&scores, content, 0, i);
    return weight.self + (double)groups_others(&scores, i) * weight.other;
}

static void add_bias(const Task *task)
{
    const Value *value = &task->bundle->value;
    Rows to = rows_from(task->sum, value->write.first);
    for (size_t i = 0; i < rows_count(to, task->n); i++) {
        double mass = token_mass(task, i);
        double *row = rows_row(to, task->n, i);
        for (size_t c = 0; c < value->write.count; c++) {
            row[c] += FAULT("bias-without-its-weight", 1, mass) * value->bias[c];
        }
    }
}

static void add_diagonal(const Task *task)
{
    const Value *value = &task->bundle->value;
    Rows to = rows_from(task->sum, value->read.first);
    ConstRows from = rows_const_from(task->x, value->read.first);
    attend(task, task->mixed, from, 0, 1, value->read.count);
    rows_add(to, rows_const(task->mixed), value->diagonal, task->n, value->read.count);
}

/* sum += scale * mixed [., heads * d_head] times the heads' o, in one dgemm when they lie one above
 * the other. */
static void add_factored(const Task *task)
{
    const Value *value = &task->bundle->value;
    size_t heads = task->bundle->heads, depth = value->d_head, width = value->write.count;
    bool stacked = heads == 1 || value->o.head_stride == depth * value->o.ld;
    size_t calls = stacked ? 1 : heads;
    Rows to = rows_from(task->sum, value->write.first);
    for (size_t h = 0; h < calls; h++) {
        HeadWeight o = head_weight(value->o, h);
        Rows from = rows_from(task->mixed, h * depth);
        size_t k = stacked ? heads * depth : depth;
        blas_gemm(to.tokens, to.ld, from.tokens, from.ld, o.data, o.ld, task->n, width, k,
                  FAULT("value-scale-dropped", 1.0, value->scale), 1.0);
        if (to.bias != NULL) {
            blas_gemm(to.bias, to.ld, from.bias, from.ld, o.data, o.ld, 1, width, k, value->scale,
                      1.0);
        }
    }
}

static void prepare(const Task *task)
{
    const Bundle *bundle = task->bundle;
    const Score *score = &bundle->score;
    ConstRows x = rows_const_from(task->x, score->read.first);
    if (score->kind == SCORE_BILINEAR) {
        bilinear_project(&task->bilinear, x, task->n, bundle);
    } else if (score->kind == SCORE_GATE) {
        fill_gates(task);
    }
    if (!head_by_head(&bundle->value)) {
        fill_inner(task, 0);
        rows_add_to_tokens(task->inner, bundle->value.inner_bias, task->n,
                           bundle->heads * task->width);
    }
    if (score->kind == SCORE_GATE) {
        rows_add_to_tokens(task->gates, score->gate_bias, task->n, bundle->heads);
        rows_scale(task->gates, rows_const(task->gates), score->gate_scale, task->n, bundle->heads);
    }
}

/* The heads head, ..., head + heads - 1, up to what all heads share. */
static void evaluate_heads(const Task *task, size_t head, size_t heads)
{
    const Bundle *bundle = task->bundle;
    const Value *value = &bundle->value;
    if (bundle->score.kind == SCORE_BILINEAR) {
        bilinear_pattern(&task->bilinear, rows_const_from(task->x, bundle->score.read.first),
                         task->pass, &bundle->score, head);
    }
    if (head_by_head(value)) {
        fill_inner(task, head);
        attend(task, task->mixed, rows_const(task->inner), head, 1, task->width);
        rows_add(rows_from(task->sum, value->write.first), rows_const(task->mixed), 1.0, task->n,
                 task->width);
    } else if (value->kind != VALUE_NONE) {
        size_t first = head * task->width;
        attend(task, rows_from(task->mixed, first), rows_const_from(rows_const(task->inner), first),
               head, heads, task->width);
    }
    if (value->diagonal != 0) {
        add_diagonal(task);
    }
    if (value->bias != NULL && head == 0) {
        add_bias(task);
    }
}

void structured_bundle(const Pass *pass, const Bundle *bundle)
{
    Task task = task_make(pass, bundle);
    const Value *value = &bundle->value;
    bool one = bundle->score.kind == SCORE_BILINEAR || head_by_head(value);
    size_t step = one ? 1 : bundle->heads;
    prepare(&task);
    for (size_t h = 0; h < bundle->heads; h += step) {
        evaluate_heads(&task, h, step);
    }
    if (value->kind == VALUE_FACTORED) {
        add_factored(&task);
    } else if (value->kind == VALUE_UNIT) {
        rows_add(rows_from(task.sum, value->write.first), rows_const(task.mixed), value->scale,
                 task.n, bundle->heads);
    }
}

/* A row's weights in the stream's order, from its groups. */
static void expand_groups(double *row, const GroupScores *scores, const Task *task, size_t i,
                          size_t head)
{
    const Layout *layout = task->pass->layout;
    bool gated = task->bundle->score.kind == SCORE_GATE, token = i < task->n;
    double content = gated ? rows_row(task->gates, task->n, i)[head] : 0;
    Groups weight = token ? groups_of_token(scores, content, head, i)
                          : groups_of_bias_row(scores, content, head);
    size_t at = token ? layout_token_row(layout, i) : layout_bias_row(layout);
    double *tokens = row + layout_token_row(layout, 0);
    memset(row, 0, layout_rows(layout) * sizeof *row);
    for (size_t j = 0; j < task->n; j++) {
        bool sees = score_sees(layout, scores->score, at, layout_token_row(layout, j));
        tokens[j] = !sees ? 0 : j == i ? weight.self : weight.other;
    }
    if (scores->bias_row) {
        row[layout_bias_row(layout)] = weight.bias;
    }
}

static void expand_bilinear(double *row, const Task *task, size_t i)
{
    const Layout *layout = task->pass->layout;
    const Bilinear *bilinear = &task->bilinear;
    size_t n = task->n;
    const double *tokens = i < n ? bilinear->tokens + i * n : bilinear->from_bias;
    memcpy(row + layout_token_row(layout, 0), tokens, n * sizeof *row);
    if (task->x.bias != NULL) {
        row[layout_bias_row(layout)] = i < n ? bilinear->to_bias[i] : bilinear->from_bias[n];
    }
}

void structured_pattern(const Pass *pass, double *pattern, const Bundle *bundle, size_t head)
{
    Task task = task_make(pass, bundle);
    const Layout *layout = pass->layout;
    const Score *score = &bundle->score;
    GroupScores scores = group_scores(layout, score, pass->omega);
    prepare(&task);
    if (score->kind == SCORE_BILINEAR) {
        bilinear_pattern(&task.bilinear, rows_const_from(task.x, score->read.first), pass, score,
                         head);
    }
    for (size_t i = 0; i < rows_count(task.sum, task.n); i++) {
        size_t r = i < task.n ? layout_token_row(layout, i) : layout_bias_row(layout);
        if (score->kind == SCORE_BILINEAR) {
            expand_bilinear(pattern + r * layout_rows(layout), &task, i);
        } else {
            expand_groups(pattern + r * layout_rows(layout), &scores, &task, i, head);
        }
    }
}
