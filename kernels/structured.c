/*
 * A bundle at the original's cost: content scores, values, pattern times values, output, with
 * factors kept as factors and position columns never stored.
 */
#include "dense.h"

#include "bilinear.h"
#include "each.h"
#include "groups.h"

#include <string.h>

typedef struct {
    const Pass *pass;
    const Bundle *bundle;
    size_t n;
    size_t width; /* of one head's inner values */
    ConstRows x;  /* the stream */
    Rows sum;
    Rows gates;        /* x G [., heads], of gates with weights */
    Rows inner, mixed; /* [., width * heads]; dense values: one head's, mixed in sum */
    Bilinear bilinear;
    size_t head; /* the one being evaluated, or the first of those that are together */
} Task;

/* Is V a matrix that is no product of two? */
static bool is_dense(const Value *value)
{
    return value->v.data != NULL && value->d_head == 0;
}

/* Dense values are as wide as the output: one head at a time. */
static bool head_by_head(const Bundle *bundle)
{
    return is_dense(&bundle->value) || (score_by_key(&bundle->score) && bundle->score.d_head == 0);
}

/* Are gates and inner values one product, x G = x V, as a fused head's are? */
static bool value_is_gate(const Bundle *bundle)
{
    return bundle_gate_is_value(bundle) &&
           (bundle->value.inner_bias == NULL) == (bundle->score.gate_bias == NULL);
}

/* Takes the scratch of a bundle.  The mixed values, pattern times inner values, take the place of
 * the inner values where no row needs another row's. */
static void take_scratch(Task *task, Scratch *scratch, const Layout *layout, size_t threads)
{
    const Bundle *bundle = task->bundle;
    const Value *value = &bundle->value;
    double heads = (double)bundle->heads, inner = (double)task->width * heads;
    if (bundle->score.gate.data != NULL) {
        task->gates = rows_take(scratch, layout, heads);
    }
    if (value_is_gate(bundle)) {
        task->inner = task->gates;
    } else if (value->v.data != NULL) {
        task->inner = rows_take(scratch, layout, is_dense(value) ? (double)task->width : inner);
    } else if (value_is_sign(value)) {
        task->inner = rows_take(scratch, layout, 1);
    }
    task->mixed = task->inner;
    if (score_by_key(&bundle->score)) {
        task->bilinear = bilinear_take(scratch, layout, bundle, threads);
        if (value->d_head > 0) {
            task->mixed = rows_take(scratch, layout, inner);
        }
    }
}

double structured_scratch(const Layout *layout, const Bundle *bundle, size_t threads)
{
    Scratch scratch = {NULL, 0};
    Task task = {.bundle = bundle, .n = layout->n, .width = value_width(&bundle->value)};
    take_scratch(&task, &scratch, layout, threads);
    return scratch.taken;
}

static Task task_make(const Pass *pass, const Bundle *bundle)
{
    const Layout *layout = pass->layout;
    Scratch scratch = {pass->scratch, 0};
    Task task = {.pass = pass, .bundle = bundle, .n = layout->n};
    size_t first = layout_token_row(layout, 0) * pass->ld;
    task.width = value_width(&bundle->value);
    task.x = (ConstRows){pass->stream + first, NULL, pass->ld};
    task.sum = (Rows){pass->sum + first, NULL, pass->ld};
    if (layout->bias_row != BIAS_ROW_NONE) {
        task.x.bias = pass->stream + layout_bias_row(layout) * pass->ld;
        task.sum.bias = pass->sum + layout_bias_row(layout) * pass->ld;
    }
    take_scratch(&task, &scratch, layout, pass->threads);
    task.bilinear.pass = pass;
    task.bilinear.score = &bundle->score;
    task.bilinear.x = rows_const_from(task.x, bundle->score.read.first);
    task.bilinear.query = rows_const(task.bilinear.left);
    if (bundle->score.query.count > 0) {
        task.bilinear.query = rows_const_from(task.x, bundle->score.query.first);
    }
    return task;
}

/* The heads' scores as groups, their values in. */
static GroupHeads group_heads(const Task *task, Affine in, size_t heads, size_t width)
{
    const Score *score = &task->bundle->score;
    GroupHeads made = {.scores = group_scores(task->pass, score),
                       .first = task->head,
                       .scale = 1,
                       .in = in,
                       .heads = heads,
                       .width = width};
    if (score_by_gate(score)) {
        bool unit = score->gate.data == NULL;
        ConstRows gates =
            unit ? rows_const_from(task->x, score->read.first) : rows_const(task->gates);
        made.gates.from = rows_const_from(gates, task->head);
        made.gates.factor = unit ? (Scalar)score->gate_unit : 1;
        const Scalar *bias = weights_stored(task->pass->weights, score->gate_bias);
        made.gates.bias = bias == NULL ? NULL : bias + task->head;
        made.scale = (Scalar)score->gate_scale;
        const Scalar *shift = weights_stored(task->pass->weights, score->gate_shift);
        made.shift = shift == NULL ? NULL : shift + task->head;
    }
    return made;
}

/* The values of head task->head, of all heads where they are factored; inner biases too, except
 * where groups_attend adds them, and then rounds. */
static void fill_inner(const Task *task)
{
    const Value *value = &task->bundle->value;
    bool dense = is_dense(value);
    ConstRows x = rows_const_from(task->x, value->read.first);
    Weight all = weight_operand(task->pass, value->v);
    Weight weight = dense ? head_weight(all, task->head) : all;
    Extents size = {task->n, value->read.count, dense ? 1 : task->bundle->heads, task->width};
    Ending ending = {1, 0, NULL, task->pass->formats->operand};
    if (!dense && score_by_key(&task->bundle->score)) {
        ending.bias = weights_stored(task->pass->weights, value->inner_bias);
    } else if (!dense && value->inner_bias != NULL) {
        ending.format = SCALAR_FORMAT;
    }
    rows_multiply(task->inner, x, weight, size, ending, task->pass->threads);
}

/* 1 of every token, -1 of the bias row. */
static void fill_signs(const Task *task)
{
    for (size_t i = 0; i < rows_count(task->inner, task->n); i++) {
        *rows_row(task->inner, task->n, i) = i < task->n ? 1 : -1;
    }
}

/* x G; groups_weights adds a bias, and then rounds. */
static void fill_gates(const Task *task, ConstRows x)
{
    const Score *score = &task->bundle->score;
    const Pass *pass = task->pass;
    Extents size = {task->n, score->read.count, task->bundle->heads, 1};
    NumberFormat format = score->gate_bias == NULL ? pass->formats->operand : SCALAR_FORMAT;
    rows_multiply(task->gates, x, weight_operand(pass, score->gate), size,
                  (Ending){1, 0, NULL, format}, pass->threads);
}

/* Evaluates the products that all heads share. */
static void prepare(const Task *task)
{
    const Bundle *bundle = task->bundle;
    const Score *score = &bundle->score;
    if (score_by_key(score)) {
        bilinear_project(&task->bilinear, bundle->heads);
    } else if (task->gates.tokens != NULL) {
        fill_gates(task, rows_const_from(task->x, score->read.first));
    }
    if (value_is_sign(&bundle->value)) {
        fill_signs(task);
    } else if (bundle->value.d_head > 0 && !value_is_gate(bundle)) {
        fill_inner(task);
    }
}

/* A block of rows of one head with bilinear scores. */
static void attend_block(const void *context, size_t item, size_t thread)
{
    const Task *task = context;
    const Value *value = &task->bundle->value;
    size_t blocks = bilinear_blocks(task->pass->layout), head = task->head + item / blocks;
    PatternBlock block = bilinear_pattern(&task->bilinear, head, item % blocks, thread);
    Rows sum = rows_from(task->sum, value->write.first);
    ConstRows x = rows_const_from(task->x, value->read.first), inner = rows_const(task->inner);
    Ending added = {1, 1, NULL, task->pass->formats->operand};
    if (value->unit != 0) {
        added.alpha = (Scalar)(value->scale * value->unit);
        bilinear_attend(&block, rows_from(sum, head), rows_const_from(x, head), 1, added);
    } else if (is_dense(value)) {
        bilinear_attend(&block, sum, inner, task->width, added);
    } else if (value->d_head > 0) {
        size_t first = head * task->width, from = value_is_sign(value) ? 0 : first;
        bilinear_attend(&block, rows_from(task->mixed, first), rows_const_from(inner, from),
                        task->width, (Ending){1, 0, NULL, added.format});
    }
    if (value->diagonal != 0) {
        added.alpha = (Scalar)value->diagonal;
        bilinear_attend(&block, rows_from(task->sum, value->read.first), x, value->read.count,
                        added);
    }
}

/* Heads without bilinear scores: one, or all. */
static void attend_groups(const Task *task, size_t heads)
{
    const Value *value = &task->bundle->value;
    Rows sum = rows_from(task->sum, value->write.first);
    Affine x = {rows_const_from(task->x, value->read.first), (Scalar)value->unit, NULL};
    Affine inner = {rows_const(task->inner), 1,
                    weights_stored(task->pass->weights, value->inner_bias)};
    if (value->unit != 0) {
        GroupHeads units = group_heads(task, x, heads, 1);
        groups_attend(&units, sum, (Scalar)value->scale, true);
    } else if (value->v.data != NULL) {
        GroupHeads all = group_heads(task, inner, heads, task->width);
        bool dense = is_dense(value);
        groups_attend(&all, dense ? sum : task->mixed, 1.0, dense);
    }
    if (value->diagonal != 0) {
        x.factor = 1;
        GroupHeads one = group_heads(task, x, 1, value->read.count);
        groups_attend(&one, rows_from(task->sum, value->read.first), (Scalar)value->diagonal, true);
    }
}

/* Row i's weight on all tokens in head 0; *bias_key: on the bias row, without bilinear scores. */
static Scalar token_mass(const Task *task, const GroupHeads *first, size_t i, Scalar *bias_key)
{
    *bias_key = 0;
    if (score_by_key(&task->bundle->score)) {
        return task->bilinear.mass[i];
    }
    Groups weight = groups_weights(first, i, 0);
    *bias_key = weight.bias;
    return weight.self + (Scalar)groups_others(&first->scores, i) * weight.other;
}

/* Adds the values' biases, which are head 0's alone; its gates must still be there. */
static void add_bias(const Task *task)
{
    const Value *value = &task->bundle->value;
    Rows to = rows_from(task->sum, value->write.first);
    const Scalar *bias = weights_stored(task->pass->weights, value->bias);
    GroupHeads first = group_heads(task, (Affine){0}, 1, 1);
    for (size_t i = 0; i < rows_count(to, task->n); i++) {
        Scalar bias_key, mass = token_mass(task, &first, i, &bias_key);
        Scalar *row = rows_row(to, task->n, i);
        for (size_t c = 0; bias != NULL && c < value->write.count; c++) {
            row[c] += mass * bias[c];
        }
        for (size_t c = 0; value->bias_row != 0 && c < value->write.count; c++) {
            row[c] += bias_key * (Scalar)value->bias_row;
        }
    }
}

/* sum += scale * mixed [., heads], head h's into its own column. */
static void add_columns(const Task *task)
{
    const Value *value = &task->bundle->value;
    Scalar scale = (Scalar)value->scale;
    Rows to = rows_from(task->sum, value->write.first);
    for (size_t i = 0; i < rows_count(to, task->n); i++) {
        const Scalar *mixed = rows_row(task->mixed, task->n, i);
        Scalar *row = rows_row(to, task->n, i);
        for (size_t h = 0; h < task->bundle->heads; h++) {
            row[h] += scale * mixed[h];
        }
    }
}

/* sum += scale * mixed [., heads * d_head] times the heads' o, in one product when they lie one
 * above the other. */
static void add_factored(const Task *task)
{
    const Value *value = &task->bundle->value;
    size_t heads = task->bundle->heads, depth = value->d_head;
    bool stacked = heads == 1 || value->o.head_stride == depth * value->o.ld;
    size_t calls = stacked ? 1 : heads;
    Extents size = {task->n, stacked ? heads * depth : depth, 1, value->write.count};
    Weight o = weight_operand(task->pass, value->o);
    Ending added = {(Scalar)value->scale, 1, NULL, SCALAR_FORMAT};
    for (size_t h = 0; h < calls; h++) {
        rows_multiply(rows_from(task->sum, value->write.first),
                      rows_const(rows_from(task->mixed, h * depth)), head_weight(o, h), size, added,
                      task->pass->threads);
    }
}

void structured_bundle(const Pass *pass, const Bundle *bundle)
{
    Task task = task_make(pass, bundle);
    const Value *value = &bundle->value;
    const Score *score = &bundle->score;
    size_t step = head_by_head(bundle) ? 1 : bundle->heads;
    bool groups = !score_by_key(score), gates_are_lost = value_is_gate(bundle);
    prepare(&task);
    if (value_has_bias(value) && gates_are_lost) {
        add_bias(&task);
    }
    for (task.head = 0; task.head < bundle->heads; task.head += step) {
        if (is_dense(value)) {
            fill_inner(&task);
        }
        if (groups) {
            attend_groups(&task, step);
        } else {
            bilinear_project_head(&task.bilinear, task.head);
            each(step * bilinear_blocks(pass->layout), pass->threads, attend_block, &task);
        }
        if (value_has_bias(value) && task.head == 0 && !gates_are_lost) {
            add_bias(&task);
        }
    }
    if (value->o.data != NULL) {
        add_factored(&task);
    } else if (value->d_head > 0) {
        add_columns(&task);
    }
}

/* A row's weights in the stream's order, from its groups. */
static void expand_groups(Scalar *row, const GroupHeads *heads, size_t i, size_t head)
{
    const GroupScores *scores = &heads->scores;
    const Layout *layout = scores->layout;
    Groups weight = groups_weights(heads, i, head);
    size_t at = i < scores->n ? layout_token_row(layout, i) : layout_bias_row(layout);
    Scalar *tokens = row + layout_token_row(layout, 0);
    memset(row, 0, layout_rows(layout) * sizeof *row);
    for (size_t j = 0; j < scores->n; j++) {
        bool sees = score_sees(layout, scores->score, at, layout_token_row(layout, j));
        tokens[j] = !sees ? 0 : j == i ? weight.self : weight.other;
    }
    if (scores->bias_row) {
        row[layout_bias_row(layout)] = weight.bias;
    }
}

static void expand_block(Scalar *pattern, const PatternBlock *block, const Layout *layout)
{
    size_t rows = layout_rows(layout);
    for (size_t r = 0; r < block->count; r++) {
        size_t at =
            block->bias_row ? layout_bias_row(layout) : layout_token_row(layout, block->first + r);
        Scalar *row = pattern + at * rows;
        memset(row, 0, rows * sizeof *row);
        memcpy(row + layout_token_row(layout, 0), block->tokens + r * layout->n,
               block->visible * sizeof *row);
        if (layout->bias_row != BIAS_ROW_NONE) {
            row[layout_bias_row(layout)] = block->bias[r];
        }
    }
}

void structured_pattern(const Pass *pass, Scalar *pattern, const Bundle *bundle, size_t head)
{
    Task task = task_make(pass, bundle);
    const Layout *layout = pass->layout;
    prepare(&task);
    if (score_by_key(&bundle->score)) {
        bilinear_project_head(&task.bilinear, head);
        for (size_t b = 0; b < bilinear_blocks(layout); b++) {
            PatternBlock block = bilinear_pattern(&task.bilinear, head, b, 0);
            expand_block(pattern, &block, layout);
        }
        return;
    }
    GroupHeads heads = group_heads(&task, (Affine){0}, bundle->heads, 1);
    for (size_t i = 0; i < rows_count(task.sum, task.n); i++) {
        size_t r = i < task.n ? layout_token_row(layout, i) : layout_bias_row(layout);
        expand_groups(pattern + r * layout_rows(layout), &heads, i, head);
    }
}
